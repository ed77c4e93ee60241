"""Graphs as rows of an Arrow table, and rows as graphs, by a number of array operations that does not depend on rows.

    column        type                   what it holds
    edge_index    list<list<int>>        two lists of nodes, counted from 0: where edges start, and where they end
    x             list<list<float>>      the features of each node
    num_nodes     int                    only for graphs without x
    edge_attr     list<list<float>>      the features of each edge; list<float> for a single feature
    edge_weight   list<float>            the weight of each edge
    edge_type     list<int>              the type of each edge
    pos           list<list<float>>      the position of each node
    id            string or int          what the graph is called
    smiles        string                 its molecule

`edge_index` is needed, and `x` or `num_nodes`; all others may be left out. Whole numbers become int64, real ones
torch's default type: many programs write doubles. Fixed-size and large lists are read, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.data import Batch, Data

from rcexplainer.datasets.nested_column import NestedColumn
from rcexplainer.errors import DatasetError

if TYPE_CHECKING:
    import pyarrow as pa

NODE_COLUMNS = ("x", "pos")
EDGE_COLUMNS = ("edge_attr", "edge_weight", "edge_type")
NAME_COLUMNS = ("id", "smiles")
MOST_BARE_NODES = 4096  # of a graph without x: nodes that no edge can name, of which a row can claim any number
SCHEMA_HINT = (
    "a graph is a row with edge_index (list<list<int>>, where edges start and where they end) and x "
    "(list<list<float>>, the features of each node), as rc.datasets.to_parquet writes it"
)


@dataclass(frozen=True, eq=False)
class RowGraphs:
    """The graphs of consecutive rows.

    Attributes:
        count: Number of rows.
        groups: Graphs that can be batched: their places among the rows, and the graphs in that order.
        errors: Why a row has no graph, by its place.
        names: `id` and `smiles` of all rows, where they have them.
    """

    count: int
    groups: "tuple[tuple[list[int], Batch | list[Data]], ...]"
    errors: dict[int, str] = field(default_factory=dict)
    names: dict[str, list[str | None]] = field(default_factory=dict)

    def graphs(self) -> "list[Data | str]":
        """A graph for each row, or why there is none."""
        found: list[Data | str] = [self.errors.get(place, "") for place in range(self.count)]
        for places, group in self.groups:
            for place, graph in zip(places, group.to_data_list() if isinstance(group, Batch) else group, strict=True):
                for key, values in self.names.items():
                    if values[place] is not None:
                        graph[key] = values[place]
                found[place] = graph
        return found


def graphs_of_rows(table: "pa.Table") -> RowGraphs:
    """Read the graphs of a table.

    Args:
        table: Rows with the columns above; others are not looked at.

    Returns:
        The graphs, and an error for each row that is none.

    Raises:
        DatasetError: A column is missing or of another type.
    """
    check_columns(table.schema, "the table")
    count, names = table.num_rows, names_of_rows(table)
    places, errors = np.arange(count), dict[int, str]()
    for check in (_complete, _lengths, _ranges):  # each relies on the one before
        wrong = check(_Columns.of(table))
        if wrong:
            errors |= {int(places[row]): text for row, text in wrong.items()}
            left = np.setdiff1d(np.arange(len(places)), list(wrong))
            table, places = table.take(left), places[left]
    columns = _Columns.of(table)
    widths = np.stack([np.zeros(len(places), int), *map(_known_widths, columns.wide.values())], 1)
    kinds, kind = np.unique(widths, axis=0, return_inverse=True)
    groups = []
    for number in range(len(kinds)):
        rows = np.flatnonzero(kind.ravel() == number)
        own = columns if len(kinds) == 1 else _Columns.of(table.take(rows))
        groups.append((places[rows].tolist(), own.batch()))
    return RowGraphs(count, tuple(groups), errors, names)


def names_of_rows(table: "pa.Table") -> dict[str, list[str | None]]:
    """The texts of `id` and `smiles`, where a table has them."""
    found = {name: table.column(name).to_pylist() for name in NAME_COLUMNS if name in table.column_names}
    return {name: [None if value is None else str(value) for value in values] for name, values in found.items()}


def check_columns(schema: "pa.Schema", where: str) -> None:
    """Refuse a schema that has no graphs.

    Args:
        schema: The schema of a table.
        where: Its name, for the error message.

    Raises:
        DatasetError: A column is missing or of another type.
    """
    from pyarrow import types

    if "edge_index" not in schema.names or not {"x", "num_nodes"} & set(schema.names):
        missing = "edge_index" if "edge_index" not in schema.names else "x (or num_nodes)"
        raise DatasetError(f"{where} has no column {missing}; it has {', '.join(schema.names)}: {SCHEMA_HINT}")
    for name in schema.names:
        kind, depth = schema.field(name).type, 0
        while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            kind, depth = kind.value_type, depth + 1
        whole, real = types.is_integer(kind), types.is_floating(kind)
        wanted = {
            "edge_index": (whole and depth == 2, "list<list<int>>"),
            "num_nodes": (whole and depth == 0, "int"),
            "edge_type": (whole and depth == 1, "list<int>"),
            "edge_weight": (real and depth == 1, "list<float>"),
            "edge_attr": ((whole or real) and depth in (1, 2), "list<list<float>>"),
            "x": ((whole or real) and depth == 2, "list<list<float>>"),
            "pos": (real and depth == 2, "list<list<float>>"),
        }
        right, text = wanted.get(name, (True, ""))
        if not right:
            raise DatasetError(f"{where}: column {name} is {schema.field(name).type}, it must be {text}: {SCHEMA_HINT}")


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of a table of graphs."""

    index: NestedColumn
    wide: dict[str, NestedColumn]  # by name, of nodes and edges
    num_nodes: np.ndarray  # [rows], −1: missing

    @classmethod
    def of(cls, table: "pa.Table") -> "_Columns":
        known = [name for name in (*NODE_COLUMNS, *EDGE_COLUMNS) if name in table.column_names]
        wide = {name: NestedColumn.of(table.column(name)) for name in known}
        # Unsigned numbers have no −1; those beyond int64 come out negative, and count as missing.
        given = None if "x" in wide else table.column("num_nodes").cast("int64", safe=False).fill_null(-1)
        counts = wide["x"].lengths if given is None else given.to_numpy().astype(np.int64)
        return cls(NestedColumn.of(table.column("edge_index")), wide, counts)

    @property
    def num_edges(self) -> np.ndarray:
        """[rows]; both lists have as many."""
        assert self.index.inner is not None
        return self.index.inner[::2]

    def batch(self) -> Batch:
        """The graphs as PyG would batch them; they are sound, and of one width."""
        nodes, edges = _pointer(self.num_nodes), _pointer(self.num_edges)
        owner = np.repeat(np.arange(len(self.num_nodes)), self.num_edges)
        start = np.arange(edges[-1]) + edges[:-1][owner]  # the two lists of a graph follow each other
        ends = np.stack([self.index.values[start], self.index.values[start + self.num_edges[owner]]])
        levels = {"edge_index": edges, **{name: nodes if name in NODE_COLUMNS else edges for name in self.wide}}
        batch = Batch(
            edge_index=torch.from_numpy(ends.astype(np.int64) + nodes[:-1][owner]),
            batch=torch.from_numpy(np.repeat(np.arange(len(self.num_nodes)), self.num_nodes)),
            ptr=torch.from_numpy(nodes),
            **{name: _tensor(column.rectangle()) for name, column in self.wide.items()},
        )
        if "x" not in self.wide:
            batch.num_nodes, batch._store._num_nodes = int(nodes[-1]), self.num_nodes.tolist()
        shift, nothing = torch.from_numpy(nodes[:-1].copy()), torch.zeros(len(self.num_nodes), dtype=torch.long)
        batch._num_graphs = len(self.num_nodes)
        batch._slice_dict = {name: torch.from_numpy(ptr) for name, ptr in levels.items()}
        batch._inc_dict = {name: shift if name == "edge_index" else nothing for name in levels}
        return batch


def _tensor(values: np.ndarray) -> torch.Tensor:
    found = torch.from_numpy(values)
    return found.to(torch.get_default_dtype()) if found.is_floating_point() else found


def _known_widths(column: NestedColumn) -> np.ndarray:
    """[rows] numbers in an entry; a row without entries goes with any others."""
    found = column.widths()
    return np.where(found < 0, found.max(initial=0), found)


def _pointer(sizes: np.ndarray) -> np.ndarray:
    """[n] sizes → [n + 1] where each begins."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _complete(columns: _Columns) -> dict[int, str]:
    """Rows that lack something."""
    wrong: dict[int, str] = dict.fromkeys(np.flatnonzero(columns.num_nodes < 0).tolist(), "x or num_nodes is missing")
    for name, column in {"edge_index": columns.index, **columns.wide}.items():
        for row in np.flatnonzero(column.missing).tolist():
            wrong.setdefault(row, f"{name} is missing, or has missing numbers")
    for row in np.flatnonzero(columns.index.lengths != 2).tolist():
        found = columns.index.lengths[row]
        text = f"edge_index must hold two lists, where edges start and where they end; it holds {found}"
        wrong.setdefault(row, text)
    return wrong


def _lengths(columns: _Columns) -> dict[int, str]:
    """Rows whose columns do not belong together."""
    assert columns.index.inner is not None
    starts, ends, wrong = columns.index.inner[::2], columns.index.inner[1::2], dict[int, str]()
    if "x" not in columns.wide:
        for row in np.flatnonzero(columns.num_nodes > 2 * starts + MOST_BARE_NODES).tolist():
            wrong[row] = (
                f"num_nodes is {columns.num_nodes[row]} for {starts[row]} edges: without x, at most {MOST_BARE_NODES} "
                "nodes may have no edge"
            )
    for row in np.flatnonzero(starts != ends).tolist():
        wrong[row] = f"edge_index holds {starts[row]} nodes where edges start, but {ends[row]} where they end"
    for name, column in columns.wide.items():
        counts, what = (columns.num_nodes, "nodes") if name in NODE_COLUMNS else (starts, "edges")
        for row in np.flatnonzero(column.lengths != counts).tolist():
            wrong.setdefault(row, f"{name} has {column.lengths[row]} entries for {counts[row]} {what}")
        for row in np.flatnonzero(column.ragged()).tolist():
            wrong.setdefault(row, f"the entries of {name} are of different lengths")
    return wrong


def _ranges(columns: _Columns) -> dict[int, str]:
    """Rows with edges between nodes that do not exist."""
    owner = np.repeat(np.arange(len(columns.num_nodes)), 2 * columns.num_edges)
    values = columns.index.values
    outside = np.flatnonzero((values < 0) | (values >= columns.num_nodes[owner]))
    found = zip(owner[outside].tolist(), values[outside].tolist(), strict=True)
    return {row: f"edge_index names node {node}, but there are {columns.num_nodes[row]}" for row, node in found}


def rows_of_graphs(graphs: "Sequence[Data]", names: "Sequence[str]" = NAME_COLUMNS) -> "pa.Table":
    """Convert graphs to rows.

    Args:
        graphs: The graphs; all have the attributes of the first.
        names: Attributes that are texts or numbers, kept where all graphs have them.

    Returns:
        A table with the columns above.

    Raises:
        DatasetError: A graph has other attributes than the first.
    """
    import pyarrow as pa

    for place, graph in enumerate(graphs):
        _check_tensors(graph, place)
    present = [name for name in (*NODE_COLUMNS, *EDGE_COLUMNS) if graphs[0].get(name) is not None]
    arrays: dict[str, Any] = {"edge_index": _index_array(graphs)}
    for name in present:
        values = [graph.get(name) for graph in graphs]
        unlike = [i for i, value in enumerate(values) if value is None or value.shape[1:] != values[0].shape[1:]]
        if unlike:
            raise DatasetError(
                f"graph {unlike[0]} has no {name} like that of graph 0: all graphs of a file must have the same"
            )
        arrays[name] = _list_array(values)
    if "x" not in present:
        arrays["num_nodes"] = pa.array([int(graph.num_nodes or 0) for graph in graphs], pa.int64())
    for name in names:
        if all(graph.get(name) is not None for graph in graphs):
            arrays[name] = pa.array([str(graph[name]) for graph in graphs])
    return pa.table(arrays)


def _check_tensors(graph: object, place: int) -> None:
    """Refuse what is no graph, or has no tensors where a row needs them."""
    if not isinstance(graph, Data):
        raise DatasetError(f"graph {place} is no PyG Data, but {type(graph).__name__}")
    index = graph.get("edge_index")
    if not isinstance(index, torch.Tensor) or index.dim() != 2 or index.size(0) != 2 or index.dtype != torch.long:
        raise DatasetError(f"graph {place} needs edge_index of shape [2, num_edges] and type int64")
    for name in (*NODE_COLUMNS, *EDGE_COLUMNS):
        value = graph.get(name)
        if value is None:
            continue
        dense = isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta
        if not dense or value.dim() not in (1, 2):
            raise DatasetError(f"graph {place} needs {name} as a dense tensor of one or two dimensions")
        rows = index.size(1) if name in EDGE_COLUMNS else graph.num_nodes
        if value.size(0) != rows:
            raise DatasetError(f"graph {place} has {name} of {value.size(0)} rows, it needs {rows}")
        if value.size(0) and not value.numel():
            raise DatasetError(f"graph {place} has {name} of no columns: leave it out, or give it some")


def _index_array(graphs: "Sequence[Data]") -> "pa.Array":
    import pyarrow as pa

    flat = torch.cat([graph.edge_index.reshape(-1) for graph in graphs]).cpu().numpy()
    sizes = np.repeat([graph.edge_index.size(1) for graph in graphs], 2)
    inner = pa.ListArray.from_arrays(pa.array(_pointer(sizes), pa.int32()), pa.array(flat.astype(np.int64)))
    return pa.ListArray.from_arrays(pa.array(np.arange(len(graphs) + 1) * 2, pa.int32()), inner)


def _list_array(values: "Sequence[torch.Tensor]") -> "pa.Array":
    import pyarrow as pa

    joined, sizes = torch.cat(list(values)).detach().cpu(), [value.size(0) for value in values]
    flat: Any = pa.array(joined.reshape(-1).numpy())
    if joined.dim() > 1:
        flat = pa.FixedSizeListArray.from_arrays(flat, max(joined.size(1), 1))
    return pa.ListArray.from_arrays(pa.array(_pointer(np.array(sizes)), pa.int32()), flat)
