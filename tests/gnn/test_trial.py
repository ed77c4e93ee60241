"""Trial runs: which models and graphs are refused before anything is computed, and the edges they are tried without."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.trial import random_pairs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import build, split_of


def test_refusals_in_one_clear_sentence():
    graphs = make_graphs(6)
    for graph in graphs:
        graph.y = torch.rand(1)
    with pytest.raises(GraphError, match=r"graph 0 has the non-integer label .*regression is not supported"):
        split_model(build(zoo.OneLogit), graphs)
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([number])
    with pytest.raises(SplitError, match=r"one number but the labels have 6 values: regression"):
        split_model(build(zoo.OneLogit), graphs)
    with pytest.raises(SplitError, match=r"several numbers between 0 and 1.*multi-label"):
        split_model(build(zoo.MultiLabel), graphs)
    for graph in graphs:
        graph.y = torch.ones(1, 4)
    with pytest.raises(GraphError, match=r"4 labels per instance: multi-label"):
        split_model(build(zoo.GCNLinear), graphs)
    with pytest.raises(GraphError, match="heterogeneous graphs are not supported"):
        split_model(build(zoo.GCNLinear), [HeteroData()])


def test_models_that_cannot_be_explained():
    graphs = make_graphs(6)
    with pytest.raises(SplitError, match="NoMessagePassing does no message passing"):
        split_model(build(zoo.NoMessagePassing), graphs)
    with pytest.raises(SplitError, match=r"needs 'adjacency', which the graphs do not have .*forward="):
        split_model(build(zoo.UnusualCall), graphs)
    with pytest.raises(SplitError, match=r"one row of class scores for each of 6 instances, but returned"):
        split_model(build(zoo.NodeClassifier), graphs, task="graph")
    with pytest.raises(SplitError, match="unknown task 'edge'"):
        split_model(build(zoo.GCNLinear), graphs, task="edge")
    with pytest.raises(SplitError, match="unknown output 'softmax'"):
        split_model(build(zoo.GCNLinear), graphs, output="softmax")


def test_bad_graphs():
    model = build(zoo.GCNLinear)
    with pytest.raises(GraphError, match="the dataset is empty"):
        split_model(model, [])
    without_edges = Data(x=torch.rand(3, 5), edge_index=torch.empty(2, 0).long())
    with pytest.raises(GraphError, match="none of the graphs has an edge"):
        split_model(model, [without_edges])
    with pytest.raises(GraphError, match=r"the model is on cpu, graph 0 on meta; move one of them"):
        split_model(model, [graph.to("meta") for graph in make_graphs(2)])
    with pytest.raises(GraphError, match="expected PyG Data objects, got int"):
        split_model(model, [3])


def test_more_models_and_their_messages():
    graphs = make_graphs(8)
    assert split_model(build(zoo.HandmadeSoftmax), graphs).output == "probs"
    assert split_model(build(zoo.OptionalEdgeAttr), graphs).head_name == "lin"
    assert split_model(build(zoo.NeedsEdges), graphs).exact_masking
    assert not split_model(build(zoo.TinyEffect), graphs).exact_masking
    with pytest.raises(SplitError, match=r"is random in evaluation mode.*training=self.training"):
        split_model(build(zoo.AlwaysDropout), graphs)
    with pytest.raises(SplitError, match=r"expected a torch.nn.Module, got NoneType"):
        split_model(None, graphs)
    with pytest.raises(SplitError, match=r"one value for each of \d+ edges, got \(1,\)"):
        split_of(zoo.GCNLinear).run(graphs, torch.ones(1))
    for graph in graphs:
        graph.y = torch.tensor([0, 1, 1])
    with pytest.raises(GraphError, match="graph 0 has 3 labels: multi-label"):
        split_model(build(zoo.GCNLinear), graphs)


@given(seed=st.integers(0, 100), share=st.floats(0, 1))
def test_random_pairs_take_both_directions_and_no_loops(seed, share):
    graph = make_graphs(1, self_loops=True, seed=seed)[0]
    chosen = random_pairs(graph.edge_index, graph.num_nodes, share, seed)
    pairs = [tuple(sorted(pair)) for pair in graph.edge_index.T.tolist()]
    taken = {pair for pair, yes in zip(pairs, chosen.tolist(), strict=True) if yes}
    assert all(yes == (pair in taken) for pair, yes in zip(pairs, chosen.tolist(), strict=True))
    assert all(u != v for u, v in taken)
