"""What an explainer gives back: frozen results on the CPU that hold graphs and numbers, never a model."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.segments import ranks
from rcexplainer.core.units import Units, find_units
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.graph_store import delete_edges


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The graph without some edges, and what the model said last of exactly that graph."""

    original: Data
    columns: Tensor  # of its `edge_index` that are deleted
    source: int  # the class predicted with these edges
    probabilities: Tensor  # [C]
    minimal: bool = False  # putting back any single removed unit undoes the flip: verified
    target: int | None = None  # the class asked for; None: any other
    disputed: bool = False  # the search saw another answer than the final run: nothing is claimed

    @property
    def prediction(self) -> int:
        """The class predicted without these edges."""
        return int(self.probabilities.argmax())

    @property
    def flipped(self) -> bool:
        """Whether the prediction is another one (the class asked for, if one was)."""
        if self.disputed or bool(self.probabilities.isnan().any()):
            return False
        return self.prediction != self.source if self.target is None else self.prediction == self.target

    @property
    def removed(self) -> Tensor:
        """Boolean, one per column of the original `edge_index`."""
        mask = torch.zeros(self.original.num_edges, dtype=torch.bool)
        mask[self.columns] = True
        return mask

    @property
    def graph(self) -> Data:
        """The graph with the edges deleted."""
        return delete_edges(self.original, self.removed)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the model predicts `prediction`: a score for every edge, and a counterfactual.

    A unit is an unordered pair of nodes with all edges between them; they share one score and are deleted together.
    Self-loops are never deleted; their score is 0. What is explained of a node or a link (`index`) lies within its
    computation graph: only that is held, and everything is shown on the whole graph when it is asked for. Edges of it
    that cannot matter, between two nodes at its rim, are no units and have score 0; nor is the link in question one.
    """

    graph: Data
    scores: Tensor  # in [0, 1], one per column of the computation graph
    prediction: int
    probabilities: Tensor  # [C]
    class_names: tuple[str, ...] = ()
    counterfactual: Counterfactual | None = None
    index: int | tuple[int, int] | None = None  # the node, or the pair of nodes
    computation: Data | None = None  # its computation graph; None: the whole graph
    edge_ids: Tensor | None = None  # the columns of the whole graph that are in it

    @property
    def instance(self) -> Data:
        """The graph on which the model is asked: the computation graph, or the whole graph."""
        return self.graph if self.computation is None else self.computation

    def within(self, mask: Tensor) -> Tensor:
        """A mask of the whole graph's edges as one of the computation graph's."""
        return mask if self.edge_ids is None else mask[self.edge_ids]

    @cached_property
    def edge_scores(self) -> Tensor:
        """[num_edges] in [0, 1]; 0 outside the computation graph."""
        if self.edge_ids is None:
            return self.scores
        return self.scores.new_zeros(self.graph.num_edges).index_copy(0, self.edge_ids, self.scores)

    @cached_property
    def units(self) -> Units:
        """What can be deleted: the units of the computation graph."""
        nodes = int(self.graph.num_nodes or 0)
        columns = self.graph.edge_index if self.edge_ids is None else self.graph.edge_index[:, self.edge_ids]
        found = find_units(columns, nodes, torch.zeros(nodes, dtype=torch.long), 1, self.instance.get("edge_fixed"))
        if self.edge_ids is None:
            return found
        outside = torch.full((self.graph.num_edges,), -1)
        return replace(found, of_edge=outside.index_copy(0, self.edge_ids, found.of_edge))

    @cached_property
    def unit_scores(self) -> Tensor:
        """One score per unit, [units]."""
        scores = self.edge_scores.new_zeros(len(self.units))
        proper = self.units.of_edge >= 0
        scores[self.units.of_edge[proper]] = self.edge_scores[proper]
        return scores

    @property
    def node_scores(self) -> Tensor:
        """a_i = max_j M_ij, [num_nodes]; 0 for a node without edges."""
        index = self.graph.edge_index.reshape(-1)
        scores = self.edge_scores.new_zeros(int(self.graph.num_nodes or 0))
        return scores.scatter_reduce(0, index, self.edge_scores.repeat(2), "amax")

    @property
    def edges(self) -> Tensor:
        """The explanation as a set: edges with a score above ½, a boolean mask."""
        return self.edge_scores > 0.5

    def top(self, k: int) -> Tensor:
        """The k units with the highest scores (all, if there are fewer), as a boolean mask of edges."""
        if k < 0:
            raise RCExplainerError(f"top(k) takes k ≥ 0, got {k}")
        place = ranks(self.unit_scores, self.units.owner, self.units.ptr)
        return self.units.to_edges(place < k, False)

    def at_sparsity(self, sparsity: float) -> Tensor:
        """The top max(1, round((1 − s) · units)) units: what is left when a share s of the units stays."""
        if not 0 <= sparsity <= 1:
            raise RCExplainerError(f"a sparsity is a share from 0 to 1, got {sparsity}")
        return self.top(max(1, round((1 - sparsity) * len(self.units))))

    @property
    def removed_units(self) -> Tensor:
        """The units that the counterfactual takes away; none without one."""
        if self.counterfactual is None:
            return torch.empty(0, dtype=torch.long)
        return self.units.of_edge[self.counterfactual.columns].unique()

    def __repr__(self) -> str:
        name = self.class_names[self.prediction] if self.class_names else str(self.prediction)
        parts = [f"{name} ({float(self.probabilities[self.prediction]):.2f})", f"{len(self.units)} edges"]
        if (found := self.counterfactual) is not None:
            other = self.class_names[found.prediction] if self.class_names else str(found.prediction)
            count = len(self.removed_units)
            changed = f"→ {other} without {count}" if found.flipped else f"still {other} without {count}"
            note = " (minimal)" if found.minimal else " (disputed)" if found.disputed else ""
            parts.append(changed + note)
        return f"Explanation({', '.join(parts)})"


@dataclass(frozen=True)
class Failure:
    """The slot of an instance that could not be explained."""

    index: int
    error: Exception
