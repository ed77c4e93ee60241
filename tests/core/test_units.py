"""Units against sets of node pairs: both directions and duplicates are one, self-loops are none."""

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core.units import Units, find_units


def single(edges: list[tuple[int, int]], num_nodes: int) -> Units:
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    return find_units(edge_index, num_nodes, torch.zeros(num_nodes, dtype=torch.long), 1)


def test_both_directions_and_duplicates_are_one_unit_and_self_loops_none() -> None:
    units = single([(2, 0), (0, 1), (0, 2), (1, 1), (2, 0), (3, 2)], num_nodes=5)
    assert units.of_edge.tolist() == [1, 0, 1, -1, 1, 2]
    assert units.pair.T.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert units.owner.tolist() == [0, 0, 0]
    assert units.ptr.tolist() == [0, 3]
    assert units.counts.tolist() == [3]
    assert len(units) == 3


def test_nothing_to_delete() -> None:
    for edges, num_nodes in (([], 3), ([], 1), ([], 0), ([(0, 0), (1, 1), (0, 0)], 2)):
        units = single(edges, num_nodes)
        assert len(units) == 0
        assert units.pair.shape == (2, 0)
        assert units.of_edge.tolist() == [-1] * len(edges)
        assert units.ptr.tolist() == [0, 0]
        assert units.to_edges(torch.empty(0), 0.5).tolist() == [0.5] * len(edges)


def test_several_graphs_some_without_units() -> None:
    edge_index = torch.tensor([[0, 1, 4, 5, 5], [1, 0, 3, 4, 5]])
    graph_of_node = torch.tensor([0, 0, 1, 2, 2, 2])
    units = find_units(edge_index, 6, graph_of_node, 4)
    assert units.of_edge.tolist() == [0, 0, 1, 2, -1]
    assert units.owner.tolist() == [0, 2, 2]
    assert units.ptr.tolist() == [0, 1, 1, 3, 3]
    assert units.counts.tolist() == [1, 0, 2, 0]


def test_values_of_units_become_values_of_edges() -> None:
    units = single([(2, 0), (0, 1), (0, 2), (1, 1)], num_nodes=3)
    assert units.to_edges(torch.tensor([0.25, 0.75]), 0.0).tolist() == [0.75, 0.25, 0.75, 0.0]
    assert units.to_edges(torch.tensor([True, False]), False).tolist() == [False, True, False, False]
    assert units.to_edges(torch.tensor([False, False]), True).tolist() == [False, False, False, True]


@st.composite
def batches(draw) -> tuple[Tensor, Tensor, int]:
    """Columns of a few graphs, in any order: (edge_index, graph_of_node, num_graphs)."""
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    columns: list[tuple[int, int]] = []
    first = 0
    for size in sizes:
        if size:
            node = st.integers(first, first + size - 1)
            columns += draw(st.lists(st.tuples(node, node), max_size=10))
        first += size
    columns = draw(st.permutations(columns))
    edge_index = torch.tensor(columns, dtype=torch.long).reshape(-1, 2).T
    return edge_index, torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes)), len(sizes)


@given(batches())
@settings(max_examples=200, deadline=None)
def test_units_are_the_sets_of_two_nodes(case: tuple[Tensor, Tensor, int]) -> None:
    edge_index, graph_of_node, num_graphs = case
    units = find_units(edge_index, len(graph_of_node), graph_of_node, num_graphs)
    columns = [frozenset(column) for column in edge_index.T.tolist()]
    expected = sorted({tuple(sorted(column)) for column in columns if len(column) == 2})
    assert [tuple(pair) for pair in units.pair.T.tolist()] == expected
    for column, unit in zip(columns, units.of_edge.tolist(), strict=True):
        assert unit == (expected.index(tuple(sorted(column))) if len(column) == 2 else -1)
    assert units.owner.tolist() == [int(graph_of_node[low]) for low, _ in expected]
    for graph in range(num_graphs):
        low, high = units.ptr[graph : graph + 2].tolist()
        assert units.owner[low:high].tolist() == [graph] * int((units.owner == graph).sum())


def test_a_pair_is_a_unit_unless_all_its_columns_are_fixed() -> None:
    """0 – 1 may go, though one of its directions is fixed; 1 – 2 is fixed in both."""
    edge_index = torch.tensor([[0, 1, 1, 2, 0], [1, 0, 2, 1, 2]])
    fixed = torch.tensor([True, False, True, True, False])
    units = find_units(edge_index, 3, torch.zeros(3, dtype=torch.long), 1, fixed)
    assert units.pair.t().tolist() == [[0, 1], [0, 2]]
    assert units.of_edge.tolist() == [0, 0, -1, -1, 1]
