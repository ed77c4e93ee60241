"""Graphs as rows of a table: there and back, and every way in which a row can be wrong."""

import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from rcexplainer.datasets.nested_column import NestedColumn
from rcexplainer.datasets.row_graphs import graphs_of_rows, rows_of_graphs
from rcexplainer.errors import DatasetError

PAIR = {"edge_index": [[0, 1], [1, 0]], "x": [[1.0, 0.0], [0.0, 1.0]]}


def graph(nodes: int, edges: list[tuple[int, int]], width: int = 3, **further) -> Data:
    index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    return Data(x=torch.arange(nodes * width).float().reshape(nodes, width), edge_index=index, **further)


def same(one: Data, other: Data) -> bool:
    keys = {key for key in one.keys() if isinstance(one[key], torch.Tensor)}  # noqa: SIM118
    return keys == {key for key in other.keys() if isinstance(other[key], torch.Tensor)} and all(  # noqa: SIM118
        torch.equal(one[key], other[key]) for key in keys
    )


@st.composite
def graphs(draw):
    found = []
    for _ in range(draw(st.integers(1, 6))):
        nodes = draw(st.integers(1, 5))
        ends = st.integers(0, nodes - 1)
        found.append(graph(nodes, draw(st.lists(st.tuples(ends, ends), max_size=8))))
    return found


@given(graphs())
def test_graphs_come_back_as_they_were(given_graphs) -> None:
    found = graphs_of_rows(rows_of_graphs(given_graphs))
    assert found.errors == {}
    assert all(same(one, other) for one, other in zip(given_graphs, found.graphs(), strict=True))


@given(graphs())
def test_a_batch_of_rows_is_the_batch_that_pyg_makes(given_graphs) -> None:
    ((places, batch),) = graphs_of_rows(rows_of_graphs(given_graphs)).groups
    other = Batch.from_data_list(given_graphs)
    assert places == list(range(len(given_graphs)))
    for key in ("x", "edge_index", "batch", "ptr"):
        assert torch.equal(batch[key], other[key])


def test_every_attribute_is_kept() -> None:
    one = graph(
        2,
        [(0, 1), (1, 0)],
        edge_attr=torch.rand(2, 4),
        edge_weight=torch.rand(2),
        edge_type=torch.tensor([3, 1]),
        pos=torch.rand(2, 3),
        id="first",
        smiles="CC",
    )
    (back,) = graphs_of_rows(rows_of_graphs([one])).graphs()
    assert same(one, back)
    assert (back.id, back.smiles) == ("first", "CC")


def test_doubles_become_the_default_type_and_whole_numbers_stay_whole() -> None:
    table = pa.Table.from_pylist([PAIR | {"x": [[1], [2]], "edge_attr": [0.5, 0.25]}])
    assert str(table.schema.field("edge_attr").type.value_type) == "double"
    (back,) = graphs_of_rows(table).graphs()
    assert (back.edge_attr.dtype, back.x.dtype) == (torch.float32, torch.int64)


def test_graphs_without_features_have_a_number_of_nodes() -> None:
    (back,) = graphs_of_rows(rows_of_graphs([Data(edge_index=torch.tensor([[0], [2]]), num_nodes=5)])).graphs()
    assert (back.num_nodes, back.x) == (5, None)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"edge_index": None}, "edge_index is missing"),
        ({"x": None}, "x or num_nodes is missing, or"),
        ({"edge_index": [[0, 1]]}, "must hold two lists, where edges start and where they end; it holds 1"),
        ({"edge_index": [[0, 1], [1]]}, "holds 2 nodes where edges start, but 1 where they end"),
        ({"edge_index": [[0, 2], [1, 0]]}, "names node 2, but there are 2"),
        ({"edge_index": [[0, -1], [1, 0]]}, "names node -1, but there are 2"),
        ({"edge_index": [[0, None], [1, 0]]}, "edge_index is missing, or has missing numbers"),
        ({"x": [[1.0, 0.0], [0.0]]}, "the entries of x are of different lengths"),
        ({"x": [[1.0, None], [0.0, 1.0]]}, "x is missing, or has missing numbers"),
        ({"x": [[1.0, 0.0], None]}, "x is missing, or has missing numbers"),
        ({"edge_attr": [[1.0]]}, "edge_attr has 1 entries for 2 edges"),
        ({"pos": [[1.0]]}, "pos has 1 entries for 2 nodes"),
    ],
)
def test_a_row_that_is_no_graph_keeps_its_place(change, error) -> None:
    further = {"edge_attr": [[1.0], [2.0]], "pos": [[1.0], [2.0]]}
    found = graphs_of_rows(pa.Table.from_pylist([PAIR | further, PAIR | further | change, PAIR | further]))
    if change == {"x": None}:
        error = "x is missing"
    assert list(found.errors) == [1]
    assert error in found.errors[1]
    assert [place for places, _ in found.groups for place in places] == [0, 2]
    assert isinstance(found.graphs()[1], str)


def test_graphs_of_other_widths_are_groups_of_their_own() -> None:
    rows = [PAIR, {"edge_index": [[], []], "x": [[1.0]]}, PAIR]
    groups = graphs_of_rows(pa.Table.from_pylist(rows)).groups
    assert sorted((places, batch.x.size(1)) for places, batch in groups) == [([0, 2], 2), ([1], 1)]


def test_a_graph_without_edges_is_batched_with_the_others() -> None:
    rows = [PAIR | {"edge_attr": [[1.0, 2.0]] * 2}, {"edge_index": [[], []], "x": [[1.0, 1.0]], "edge_attr": []}]
    ((places, batch),) = graphs_of_rows(pa.Table.from_pylist(rows)).groups
    assert places == [0, 1]
    assert batch.edge_attr.shape == (2, 2)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([{"x": [[1.0]]}], "has no column edge_index; it has x: a graph is a row with edge_index"),
        ([{"edge_index": [[0], [0]]}], "has no column x (or num_nodes)"),
        ([{"edge_index": [0, 1], "x": [[1.0]]}], "column edge_index is list<"),
        ([PAIR | {"x": ["a", "b"]}], "column x is list<"),
        ([PAIR | {"edge_weight": [1, 2]}], "column edge_weight is list<"),
    ],
)
def test_a_table_without_graphs_is_refused(rows, error) -> None:
    with pytest.raises(DatasetError) as found:
        graphs_of_rows(pa.Table.from_pylist(rows))
    assert error in str(found.value)


@pytest.mark.parametrize("kind", [pa.list_(pa.list_(pa.int32())), pa.large_list(pa.list_(pa.int64(), 2))])
def test_other_kinds_of_lists_are_read(kind) -> None:
    column = NestedColumn.of(pa.chunked_array([pa.array([[[0, 1], [1, 0]], [[2, 3], [4, 5]]], kind)]))
    assert column.lengths.tolist() == [2, 2]
    assert column.rectangle().tolist() == [[0, 1], [1, 0], [2, 3], [4, 5]]


def test_a_slice_of_a_table_knows_where_it_begins() -> None:
    table = rows_of_graphs([graph(number, [(0, number - 1)]) for number in range(1, 6)])
    assert [one.num_nodes for one in graphs_of_rows(table.slice(2, 2)).graphs()] == [3, 4]


def test_graphs_with_other_attributes_are_refused() -> None:
    with pytest.raises(DatasetError, match="graph 1 has no edge_weight like that of graph 0"):
        rows_of_graphs([graph(2, [(0, 1)], edge_weight=torch.ones(1)), graph(2, [(0, 1)])])
