"""Networks on which methods are checked: small random ones, and trained ones that really use a planted motif."""

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Literal

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.utils import degree, one_hot

from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, GNNConfig, TrainConfig, delete_edges, train_gnn
from rcexplainer.gnn.forward import TaskName
from rcexplainer.testing.sample_graphs import FEATURES, sample_graphs, whole_graph

LayerName = Literal["graphconv", "gcn", "gin", "gat", "sage"]  # as in `rc.gnn.GNNConfig`


def random_network(conv: LayerName, task: TaskName = "graph", num_classes: int = 2, seed: int = 3) -> GNN:
    """A small network with random weights, which predicts more than one class on the sample graphs.

    Args:
        conv: Its layers.
        task: "graph" or "node".
        num_classes: Number of classes.
        seed: Random seed of the weights.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = GNN(GNNConfig(FEATURES, num_classes, task=task, conv=conv, width=8, layers=2)).eval()
    batch = Batch.from_data_list(sample_graphs() if task == "graph" else [whole_graph()])
    centre(model.head, model(batch.x, batch.edge_index, batch.batch))
    return model


def three_class_network(conv: LayerName) -> GNN:
    """A small network with three classes; deletions can lead to each class."""
    return random_network(conv, num_classes=3, seed=5)


@torch.no_grad()
def centre(head: nn.Module, logits: Tensor) -> None:
    """Shift the bias of a head so that these logits, [n, C], average 0: few deletions then change a prediction."""
    *_, last = (layer for layer in head.modules() if isinstance(layer, nn.Linear))
    last.bias.sub_(logits.mean(0))


class LinkNetwork(nn.Module):
    """A link predictor with random weights: a Linear on the product of the two nodes' embeddings."""

    def __init__(self, conv: LayerName, pairs: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self.gnn = random_network(conv, "node")
        graph = whole_graph()
        centre(self.gnn.head, self(graph.x, graph.edge_index, torch.tensor(pairs).t()))

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        """Logits, [pairs, 2]."""
        one, other = self.gnn.embed(x, edge_index)[edge_label_index]
        return self.gnn.head(one * other)


@cache
def motif_network(conv: LayerName) -> tuple[GNN, list[Data], list[Data]]:
    """A network that tells houses from cycles by their edges.

    Args:
        conv: Its layers.

    Returns:
        The network, its training graphs, and graphs with houses that it was not trained on.

    Raises:
        RCExplainerError: A network with these layers does not learn to use the motif.
    """
    # Layers that average see nothing in the constant features of BA-2motifs: they are given degrees.
    averages = conv != "graphconv"
    layers, epochs, seed = (2, 60, 3) if averages else (3, 120, 2)  # other seeds may learn the class without the motif
    data = load("ba-2motifs", seed=seed, num_graphs=200)
    everything = [with_degrees(graph) for graph in data.graphs] if averages else list(data.graphs)
    config = GNNConfig(everything[0].num_features, 2, conv=conv, width=20, layers=layers, pool="max")
    settings = TrainConfig(epochs=epochs, lr=0.01, patience=epochs, batch_size=64)
    model = train_gnn(config, everything, data.split, settings=settings, seed=seed, progress=False).model.eval()
    unseen = [everything[place] for place in torch.cat([data.split.val, data.split.test]).tolist()]
    houses = [graph for graph in unseen if int(graph.y) == 1]
    right = float(predictions(model, houses).double().mean())
    left = float(predictions(model, [delete_edges(graph, graph.edge_motif) for graph in houses]).double().mean())
    if right < 0.95 or left > 0.2:
        raise RCExplainerError(
            f"a network of {conv} layers does not use the motif: {right:.0%} of the houses are recognised, and "
            f"{left:.0%} without their house; choose another conv"
        )
    return model, [everything[place] for place in data.split.train.tolist()], houses


def with_degrees(graph: Data) -> Data:
    """A copy with one-hot degrees as features."""
    changed = copy(graph)
    changed.x = one_hot(degree(graph.edge_index[0], graph.num_nodes).long().clamp_max(9), 10).float()
    return changed


def predictions(model: nn.Module, graphs: list[Data]) -> Tensor:
    """The predicted classes, [n]."""
    batch = Batch.from_data_list(graphs)
    with torch.no_grad():
        return model(batch.x, batch.edge_index, batch.batch).argmax(1)
