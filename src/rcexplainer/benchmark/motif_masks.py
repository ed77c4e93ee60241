"""The `edge_motif` of a user's own graphs: as masks of edges, and what is wrong where it is none."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.benchmark.motif_directions import MOTIF_NUMBERS
from rcexplainer.datasets import GraphDataset


@dataclass(frozen=True)
class MotifMasks:
    """What the held-out graphs have by the name `edge_motif`.

    Attributes:
        graphs: Number of graphs.
        marked: Number of those whose mask is true for some edge.
        wrong: Number of those that have something else than a mask.
        first: What the first of these has.
    """

    graphs: int
    marked: int
    wrong: int
    first: str | None

    @classmethod
    def of(cls, data: GraphDataset, places: Sequence[int]) -> "MotifMasks":
        """Look at graphs; nodes and links need to know which motif is their own, too.

        Args:
            data: The dataset, whose masks are bools.
            places: Positions of the graphs.
        """
        within = data.task != "graph"
        found = [("the graph" if within else f"graph {place}", data.graphs[place]) for place in places]
        problems = [f"{name} has {problem}" for name, graph in found if (problem := _problem(graph, within))]
        marked = [graph for _, graph in found if _problem(graph, within) is None and _marks_some(graph)]
        return cls(len(found), len(marked), len(problems), problems[0] if problems else None)

    def left_out(self) -> str:
        """Of how many graphs shares are, and which were not looked at; nothing if they are of all."""
        text = f", in {self.marked} of {self.graphs} graphs held out" if self.marked < self.graphs else ""
        return text + (f" ({self.wrong} left out: {self.first})" if self.wrong else "")

    def reason(self) -> str:
        """Why there are no shares at all."""
        if self.first is not None:
            return self.first
        return "no instance held out has an edge of a motif" if self.marked else "it is false for every edge there"


def with_bool_masks(data: GraphDataset) -> GraphDataset:
    """The dataset with zeros and ones of any type, by the name `edge_motif`, as bools.

    Args:
        data: Graphs, which are left as they were.
    """
    if not any(_zeros_and_ones(graph.get("edge_motif")) for graph in data.graphs):
        return data
    return replace(data, graphs=tuple(_with_bools(graph) for graph in data.graphs))


def _with_bools(graph: Data) -> Data:
    found = graph.get("edge_motif")
    if not _zeros_and_ones(found):
        return graph
    other = copy(graph)
    other.edge_motif = found.bool()
    return other


def _zeros_and_ones(value: object) -> bool:
    """Whether this is a tensor of another type than bool whose values could be bools."""
    if not isinstance(value, Tensor) or value.layout != torch.strided or value.dtype == torch.bool:
        return False
    return bool(((value == 0) | (value == 1)).all())


def _problem(graph: Data, within: bool) -> str | None:
    """What a graph has in place of a mask; None for a mask, and for a graph without anything of that name."""
    found = graph.get("edge_motif")
    if found is None:
        return None
    if not isinstance(found, Tensor):
        return f"a {type(found).__name__}"
    if found.shape != (graph.num_edges,):
        return f"a tensor of shape {tuple(found.shape)} for {graph.num_edges} edges"
    if found.dtype != torch.bool:
        return f"{str(found.dtype).removeprefix('torch.')} with other values than 0 and 1"
    missing = [name for name in MOTIF_NUMBERS if within and name not in graph]
    return f"no {' and no '.join(missing)}" if missing else None


def _marks_some(graph: Data) -> bool:
    found = graph.get("edge_motif")
    return isinstance(found, Tensor) and bool(found.any())
