"""Hostile graphs: hypothesis strategies of graphs that are odd, malformed, or none at all.

A graph begins as a sound one of the kind that a network reads, of an odd shape, and gets up to three faults.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import torch
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

Fault = Callable[[Data, torch.Generator], None]


def _both(edges: Tensor) -> Tensor:
    return torch.cat([edges, edges.flip(0)], 1)


def _random_edges(nodes: int, generator: torch.Generator) -> Tensor:
    pairs = torch.triu_indices(nodes, nodes, 1)
    return pairs[:, torch.rand(pairs.size(1), generator=generator) < 0.5]


def _halves(nodes: int, generator: torch.Generator) -> Tensor:
    edges = _random_edges(nodes, generator)
    return _both(edges[:, (edges[0] < nodes // 2) == (edges[1] < nodes // 2)])


EDGES: dict[str, Callable[[int, torch.Generator], Tensor]] = {
    "undirected": lambda n, g: _both(_random_edges(n, g)),
    "none": lambda n, g: torch.empty(2, 0, dtype=torch.long),
    "directed": _random_edges,
    "self-loops alone": lambda n, g: torch.arange(n).repeat(2, 1),
    "self-loops too": lambda n, g: torch.cat([_both(_random_edges(n, g)), torch.arange(n).repeat(2, 1)], 1),
    "duplicates": lambda n, g: _both(_random_edges(n, g)).repeat(1, 3),
    "duplicates one way": lambda n, g: torch.cat([_both(e := _random_edges(n, g)), e[:, :2]], 1),
    "star": lambda n, g: _both(torch.stack([torch.zeros(n - 1, dtype=torch.long), torch.arange(1, n)])),
    "clique": lambda n, g: _both(torch.triu_indices(n, n, 1)),
    "path": lambda n, g: _both(torch.stack([torch.arange(n - 1), torch.arange(1, n)])),
    "two parts": _halves,
    "one edge": lambda n, g: torch.tensor([[0], [n - 1]]),
}


def sound_graph(nodes: int, edges: str, seed: int, features: int, edge_features: int = 0) -> Data:
    """A graph that a network can read, of an odd shape."""
    generator = torch.Generator().manual_seed(seed)
    found = EDGES[edges](nodes, generator)
    found = found[:, torch.randperm(found.size(1), generator=generator)]
    graph = Data(x=torch.randn(nodes, features, generator=generator), edge_index=found)
    if edge_features:
        graph.edge_attr = torch.randn(found.size(1), edge_features, generator=generator)
    return graph


def _set(name: str, make: Callable[[Data, torch.Generator], Any]) -> Fault:
    def fault(graph: Data, generator: torch.Generator) -> None:
        graph[name] = make(graph, generator)

    return fault


def _spoilt(name: str, value: float) -> Fault:
    """One number of an attribute is another one."""

    def fault(graph: Data, generator: torch.Generator) -> None:
        old = graph.get(name)
        if isinstance(old, Tensor) and old.numel():
            new = old.clone()
            new.view(-1)[int(torch.randint(old.numel(), (), generator=generator))] = value
            graph[name] = new

    return fault


def _transposed(graph: Data, generator: torch.Generator) -> Tensor:
    return graph.x.t().contiguous().t() if isinstance(graph.x, Tensor) else torch.ones(2, 2)


# What the graph is: odd, yet sound for a network that reads x and edge_index.
ODD: dict[str, Fault] = {
    "nothing": lambda graph, generator: None,
    "features far apart in memory": _set("x", _transposed),
    "features want gradients": _set("x", lambda g, r: g.x.clone().requires_grad_()),
    "huge features": _set("x", lambda g, r: g.x * 1e18),
    "tiny features": _set("x", lambda g, r: g.x * 1e-30),
    "zeros": _set("x", lambda g, r: torch.zeros_like(g.x)),
    "edges far apart in memory": _set("edge_index", lambda g, r: g.edge_index.t().contiguous().t()),
    "a text": _set("name", lambda g, r: "<script>"),
    "a list": _set("tags", lambda g, r: [1, "two", None]),
    "a label": _set("y", lambda g, r: torch.tensor([1])),
    "labels": _set("y", lambda g, r: torch.arange(3)),
    "a real label": _set("y", lambda g, r: torch.tensor([0.5])),
    "a label as text": _set("y", lambda g, r: "mutagen"),
    "positions": _set("pos", lambda g, r: torch.rand(len(g.x), 3, generator=r)),
    "a mask": _set("train_mask", lambda g, r: torch.ones(len(g.x), dtype=torch.bool)),
    "a matrix": _set("matrix", lambda g, r: torch.ones(3, 3)),
    "a batch vector": _set("batch", lambda g, r: torch.zeros(len(g.x), dtype=torch.long)),
    "weights": _set("edge_weight", lambda g, r: torch.rand(g.edge_index.size(-1), generator=r)),
    "attributes": _set("edge_attr", lambda g, r: torch.rand(g.edge_index.size(-1), 3, generator=r)),
    "types": _set("edge_type", lambda g, r: torch.zeros(g.edge_index.size(-1), dtype=torch.long)),
    "a number of nodes": _set("num_nodes", lambda g, r: len(g.x)),
    "a motif": _set("edge_motif", lambda g, r: torch.rand(g.edge_index.size(-1), generator=r) > 0.5),
}  # fmt: skip
# What no network can read.
FAULTS: dict[str, Fault] = {
    "NaN features": _spoilt("x", math.nan),
    "infinite features": _spoilt("x", math.inf),
    "wide features": _set("x", lambda g, r: torch.ones(len(g.x), 9)),
    "narrow features": _set("x", lambda g, r: g.x[:, :1]),
    "flat features": _set("x", lambda g, r: g.x[:, 0]),
    "deep features": _set("x", lambda g, r: g.x[None]),
    "no columns": _set("x", lambda g, r: g.x[:, :0]),
    "no features": _set("x", lambda g, r: None),
    "features as text": _set("x", lambda g, r: "abc"),
    "features as lists": _set("x", lambda g, r: g.x.tolist()),
    "a number for features": _set("x", lambda g, r: torch.tensor(1.0)),
    "whole features": _set("x", lambda g, r: g.x.long()),
    "double features": _set("x", lambda g, r: g.x.double()),
    "half features": _set("x", lambda g, r: g.x.half()),
    "boolean features": _set("x", lambda g, r: g.x > 0),
    "complex features": _set("x", lambda g, r: g.x.to(torch.complex64)),
    "sparse features": _set("x", lambda g, r: g.x.to_sparse()),
    "features elsewhere": _set("x", lambda g, r: g.x.to("meta")),
    "no nodes": _set("x", lambda g, r: g.x[:0]),
    "more rows": _set("x", lambda g, r: torch.cat([g.x, g.x])),
    "negative edges": _spoilt("edge_index", -1),
    "edges out of range": _spoilt("edge_index", 99),
    "edges far out of range": _spoilt("edge_index", 2**62),
    "real edges": _set("edge_index", lambda g, r: g.edge_index.float()),
    "short edges": _set("edge_index", lambda g, r: g.edge_index.int()),
    "boolean edges": _set("edge_index", lambda g, r: g.edge_index > 0),
    "edges in rows": _set("edge_index", lambda g, r: g.edge_index.t()),
    "three rows of edges": _set("edge_index", lambda g, r: torch.cat([g.edge_index, g.edge_index[:1]])),
    "flat edges": _set("edge_index", lambda g, r: g.edge_index.reshape(-1)),
    "a number for edges": _set("edge_index", lambda g, r: torch.tensor(1)),
    "no edge_index": _set("edge_index", lambda g, r: None),
    "edges as lists": _set("edge_index", lambda g, r: g.edge_index.tolist()),
    "edges as text": _set("edge_index", lambda g, r: "0 1"),
    "short attributes": _set("edge_attr", lambda g, r: torch.ones(1, 3)),
    "NaN attributes": _set("edge_attr", lambda g, r: torch.full((g.edge_index.size(-1), 3), math.nan)),
    "deep attributes": _set("edge_attr", lambda g, r: torch.ones(g.edge_index.size(-1), 2, 2)),
    "attributes as text": _set("edge_attr", lambda g, r: ["single"] * g.edge_index.size(-1)),
    "a number for attributes": _set("edge_attr", lambda g, r: torch.tensor(2.0)),
    "short weights": _set("edge_weight", lambda g, r: torch.ones(1)),
    "infinite weights": _set("edge_weight", lambda g, r: torch.full((g.edge_index.size(-1),), math.inf)),
    "wide weights": _set("edge_weight", lambda g, r: torch.ones(g.edge_index.size(-1), 2)),
    "whole weights": _set("edge_weight", lambda g, r: torch.ones(g.edge_index.size(-1), dtype=torch.long)),
    "too many nodes": _set("num_nodes", lambda g, r: 99),
    "too few nodes": _set("num_nodes", lambda g, r: 1),
    "nodes as text": _set("num_nodes", lambda g, r: "three"),
    "a negative number of nodes": _set("num_nodes", lambda g, r: -1),
    "odd positions": _set("pos", lambda g, r: torch.ones(1, 3)),
    "reserved names": _set("root_index", lambda g, r: torch.tensor([0])),
    "fixed edges": _set("edge_fixed", lambda g, r: torch.ones(2, dtype=torch.bool)),
    "a wrong motif": _set("edge_motif", lambda g, r: torch.ones(1)),
}  # fmt: skip


def _hetero() -> HeteroData:
    found = HeteroData()
    found["a"].x = torch.ones(2, 3)
    found["a", "to", "a"].edge_index = torch.tensor([[0], [1]])
    return found


FOREIGN: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "graph",
    "bytes": lambda: b"graph",
    "number": lambda: 7,
    "dict": lambda: {"x": 1, "edge_index": 2},
    "tensor": lambda: torch.ones(3, 3),
    "networkx": lambda: nx.path_graph(4),
    "heterogeneous": _hetero,
    "no graph": lambda: Data(),
    "empty list": list,
    "list of numbers": lambda: [1, 2],
    "object": object,
    "class": lambda: Data,
    "set": lambda: {1, 2},
    "pair": lambda: (torch.ones(2, 4), torch.tensor([[0], [1]])),
}


def _with_faults(graph: Data, names: list[str], seed: int) -> Data:
    generator = torch.Generator().manual_seed(seed)
    for name in names:
        try:
            (ODD.get(name) or FAULTS[name])(graph, generator)
        except (AttributeError, TypeError, IndexError, RuntimeError, NotImplementedError, ValueError):
            continue  # an earlier fault has left nothing to spoil
    return graph


@st.composite
def graphs(draw: st.DrawFn, features: int, edge_features: int = 0, faults: int = 2, nodes: int = 8) -> Data:
    """A graph with up to so many faults, and any oddities."""
    size = draw(st.integers(1, nodes))
    kind = draw(st.sampled_from(sorted(EDGES)))
    graph = sound_graph(size, kind, draw(st.integers(0, 999)), features, edge_features)
    odd = draw(st.lists(st.sampled_from(sorted(ODD)), max_size=2))
    wrong = draw(st.lists(st.sampled_from(sorted(FAULTS)), max_size=faults)) if draw(st.integers(0, 2)) == 2 else []
    return _with_faults(graph, [*odd, *wrong], draw(st.integers(0, 99)))


@dataclass(frozen=True)
class Given:
    """What a user hands over, and the graphs in it, which have to stay as they are."""

    value: Any
    members: list[Any]

    def __repr__(self) -> str:
        try:
            return f"Given({type(self.value).__name__} of {self.members})"
        except RuntimeError:  # PyG cannot print some graphs
            return f"Given({type(self.value).__name__} of {len(self.members)} that cannot be printed)"


@st.composite
def calls(draw: st.DrawFn, features: int, edge_features: int = 0, most: int = 4) -> Given:
    """A graph, several in any container, or something else."""
    if draw(st.integers(0, 9)) == 9:
        found = FOREIGN[draw(st.sampled_from(sorted(FOREIGN)))]()
        return Given(found, [])
    one = graphs(features, edge_features)
    if draw(st.booleans()):
        graph = draw(one)
        return Given(graph, [graph])
    some: list[Any] = draw(st.lists(one, max_size=most))
    others = [FOREIGN[draw(st.sampled_from(sorted(FOREIGN)))]()] if draw(st.integers(0, 7)) == 7 else []
    container = draw(st.sampled_from(["list", "tuple", "nested", "generator", "batch", "loader"]))
    return Given(contained([*some, *others], container), some)


def contained(some: list[Any], container: str) -> Any:
    """The graphs in a container; PyG itself refuses to batch some of them."""
    if container == "batch":
        try:
            return Batch.from_data_list(some)
        except Exception:  # noqa: BLE001  PyG's own complaints about malformed graphs
            return some
    if container == "loader":
        return DataLoader(some, batch_size=1) if all(isinstance(one, Data) for one in some) and some else some
    return {"tuple": tuple(some), "nested": [some, some[:1]], "generator": iter(some)}.get(container, some)
