"""Computation graphs against PyG's own k-hop subgraphs, one root at a time."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch_geometric.utils import k_hop_subgraph

from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.tasks.neighbourhoods import Sweep


def literal(root: int, hops: int, edge_index: torch.Tensor, num_nodes: int) -> tuple[list[int], list[int]]:
    nodes, _, _, mask = k_hop_subgraph(root, hops, edge_index, num_nodes=num_nodes)
    return sorted(nodes.tolist()), mask.nonzero().flatten().tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 12), st.integers(0, 40), st.integers(0, 4), st.integers(0, 10_000))
def test_they_are_the_k_hop_subgraphs(num_nodes: int, num_edges: int, hops: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(num_nodes, (2, num_edges), generator=random)  # directed, loops, duplicates
    roots = torch.randint(num_nodes, (5,), generator=random)
    found, _ = Sweep(Adjacency.of(edge_index, num_nodes)).around(roots[:, None], hops)
    for place, root in enumerate(roots.tolist()):
        own = slice(found.node_ptr[place], found.node_ptr[place + 1])
        columns = slice(found.edge_ptr[place], found.edge_ptr[place + 1])
        nodes, edges = literal(root, hops, edge_index, num_nodes)
        assert found.nodes[own].tolist() == nodes
        assert found.edges[columns].tolist() == edges
        assert found.nodes[own][found.roots[place, 0]] == root
        ends = found.nodes[own][found.ends[:, columns]]
        assert torch.equal(ends, edge_index[:, edges])


def test_hop_distances_are_counted_against_the_messages() -> None:
    path = torch.tensor([[1, 2, 3, 0], [0, 1, 2, 4]])  # 3 → 2 → 1 → 0 → 4
    found, _ = Sweep(Adjacency.of(path, 5)).around(torch.tensor([[0], [4]]), 2)
    assert found.nodes.tolist() == [0, 1, 2, 0, 1, 4]
    assert found.hops.flatten().tolist() == [0, 1, 2, 1, 2, 0]


def test_of_a_pair_both_neighbourhoods_with_both_distances() -> None:
    path = torch.tensor([[1, 2, 3, 4, 5], [0, 1, 2, 3, 4]])  # 5 → 4 → 3 → 2 → 1 → 0
    found, _ = Sweep(Adjacency.of(path, 6)).around(torch.tensor([[0, 3], [4, 5]]), 1)
    assert found.nodes.tolist() == [0, 1, 3, 4, 4, 5]
    assert found.hops.tolist() == [[0, 2], [1, 2], [2, 0], [2, 1], [0, 2], [1, 0]]  # 2 = out of reach
    assert found.roots.tolist() == [[0, 2], [0, 1]]
    assert found.edges.tolist() == [0, 3, 4]  # 2 → 1 and 3 → 2 lie in neither


@pytest.mark.parametrize("max_edges", [1, 50, 10**6])
def test_in_pieces_they_are_the_same(max_edges: int) -> None:
    random = torch.Generator().manual_seed(0)
    edge_index = torch.randint(60, (2, 150), generator=random)
    sweep, roots = Sweep(Adjacency.of(edge_index, 60)), torch.arange(60)
    pieces = list(sweep.batches(roots[:, None], 2, max_edges))
    assert torch.cat([piece for piece, _, _ in pieces]).flatten().tolist() == roots.tolist()
    whole, _ = sweep.around(roots[:, None], 2)
    assert torch.equal(torch.cat([found.edges for _, found, _ in pieces]), whole.edges)
    assert torch.equal(torch.cat([found.nodes for _, found, _ in pieces]), whole.nodes)


def test_a_node_without_edges_is_alone() -> None:
    found, _ = Sweep(Adjacency.of(torch.tensor([[0], [1]]), 3)).around(torch.tensor([[2]]), 3)
    assert found.nodes.tolist() == [2]
    assert found.edges.tolist() == []
