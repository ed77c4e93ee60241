"""The link set: what makes a link is planted, and nothing else tells it."""

import re
import zlib

import pytest
import torch
from torch_geometric.utils import degree

from rcexplainer.datasets import load
from rcexplainer.errors import DatasetError


def neighbours(graph, node: int) -> set[int]:
    return set(graph.edge_index[1, graph.edge_index[0] == node].tolist())


@pytest.fixture(scope="module")
def graph():
    return load("shared-neighbours", num_pairs=90).graph


def test_links_share_four_neighbours_and_the_others_none(graph) -> None:
    for (u, v), label in zip(graph.edge_label_index.t().tolist(), graph.edge_label.tolist(), strict=True):
        shared = neighbours(graph, u) & neighbours(graph, v)
        assert len(shared) >= 4 if label else len(shared) < 4
        assert v not in neighbours(graph, u)


def test_the_pattern_of_a_link_is_its_ground_truth(graph) -> None:
    links = graph.edge_label_index.t()[graph.edge_label == 1].tolist()
    for u, v in links:
        own = int(graph.node_motif_id[u])
        assert own == int(graph.node_motif_id[v]) >= 0
        edges = graph.edge_index[:, graph.edge_motif_id == own]
        assert edges.size(1) == 16
        between = set(edges.flatten().tolist()) - {u, v}
        assert len(between) == 4
        assert between <= neighbours(graph, u) & neighbours(graph, v)
    assert int(graph.edge_motif.sum()) == 16 * len(links)


def test_degrees_do_not_tell_a_link(graph) -> None:
    """The new neighbours of links and decoys have two neighbours each."""
    fresh = (graph.x != 0).any(1).nonzero().flatten()
    assert (degree(graph.edge_index[0], graph.num_nodes)[fresh] == 2).all()


def test_same_data_on_every_machine(graph) -> None:
    """A change here changes every number measured on this set: it must be meant."""
    numbers = [*graph.edge_index.flatten().tolist(), *graph.edge_label_index.flatten().tolist()]
    assert zlib.crc32(" ".join(map(str, numbers)).encode()) == 966620293
    assert torch.equal(graph.edge_label_index, load("shared-neighbours", num_pairs=90).graph.edge_label_index)


def test_too_few_pairs() -> None:
    with pytest.raises(DatasetError, match=re.escape("whole number of at least 30, got 3")):
        load("shared-neighbours", num_pairs=3)
