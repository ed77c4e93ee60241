"""Copies with hidden nodes, one by one."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.baselines.node_masks import cut_off, zero_filled
from rcexplainer.errors import GraphError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.instances import Instances
from tests.baselines.marked import LOLLIPOP, STAR, CountsMarks, marked_graph


@pytest.fixture
def instances() -> Instances:
    graphs = [marked_graph(LOLLIPOP, [0, 1]), marked_graph(STAR, [3])]
    return Instances(split_model(CountsMarks("graph", 0.5), graphs), graphs)


def copies(instances: Instances, hide) -> list[Data]:
    """The second graph without node 0, then the first without the nodes 1 and 8."""
    ids = torch.tensor([1, 0])
    hidden = torch.zeros(7 + 9, dtype=torch.bool)
    hidden[[0, 7 + 1, 7 + 8]] = True
    (batch,) = hide(instances, ids, hidden)
    return [batch.x, batch.edge_index, batch.ptr.tolist()]


def test_zero_filled_nodes_lose_their_features_and_keep_their_edges(instances: Instances) -> None:
    x, edges, ptr = copies(instances, zero_filled)
    assert ptr == [0, 7, 16]
    assert (x.abs().sum(1) == 0).nonzero().flatten().tolist() == [0, 7 + 1, 7 + 8]
    assert edges.size(1) == 2 * (len(STAR) + len(LOLLIPOP))
    assert torch.equal(instances.graphs[0].x[1], torch.tensor([1.0, 1.0]))  # the original is as it was


def test_cut_off_nodes_lose_their_edges_and_keep_their_features(instances: Instances) -> None:
    x, edges, _ = copies(instances, cut_off)
    left = {(min(pair), max(pair)) for pair in edges.T.tolist()}
    assert left == {(1, 2)} | {(one + 7, other + 7) for one, other in LOLLIPOP if not {1, 8} & {one, other}}
    assert (x[:, 1] == 1).all()


def test_there_must_be_features_to_hide() -> None:
    graph = marked_graph(STAR, [3])
    instances = Instances(split_model(CountsMarks("graph", 0.5), [graph]), [graph])
    bare = Instances(instances.split, [Data(edge_index=graph.edge_index, num_nodes=7)])
    with pytest.raises(GraphError, match="hides node features, and the graphs have none"):
        list(zero_filled(bare, torch.tensor([0]), torch.zeros(7, dtype=torch.bool)))
