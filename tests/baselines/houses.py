"""A small network that recognises houses by their edges, and graphs that it takes for houses."""

from functools import cache

import torch
from torch import nn
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.gnn import TrainConfig, delete_edges, gnn_config, train_gnn


@cache
def trained() -> tuple[nn.Module, list[Data]]:
    data = rc.datasets.load("ba-2motifs", num_graphs=200)
    config = gnn_config("paper", data.num_features, data.num_classes)
    settings = TrainConfig(epochs=150, lr=0.05, patience=150)
    model = train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model.eval()
    graphs = [graph for graph in data.graphs if int(graph.y) == 1][:8]
    whole = Batch.from_data_list(graphs)
    with torch.no_grad():
        for batch, label in ((whole, 1), (delete_edges(whole, whole.edge_motif), 0)):  # it really uses the motif
            assert (model(batch.x, batch.edge_index, batch.batch).argmax(1) == label).all()
    return model, graphs


def houses() -> tuple[nn.Module, list[Data]]:
    model, graphs = trained()
    return model.eval(), graphs
