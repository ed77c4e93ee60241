"""What an explainer gives back: frozen results on the CPU that hold graphs and numbers, never a model."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.segments import ranks
from rcexplainer.core.units import Units, find_units
from rcexplainer.errors import RCExplainerError


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The graph without some edges, and what the model really predicts for it."""

    removed: Tensor  # boolean, one per column of the original `edge_index`
    graph: Data  # with the edges deleted
    prediction: int
    probabilities: Tensor  # [C]
    flipped: bool
    minimal: bool  # putting back any single removed unit undoes the flip: verified


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the model predicts `prediction` for `graph`: a score for every edge, and a counterfactual.

    A unit is an unordered pair of nodes with all edges between them; they share one score and are deleted together.
    Self-loops are never deleted; their score is 0.
    """

    graph: Data
    edge_scores: Tensor  # [num_edges] in [0, 1]
    prediction: int
    probabilities: Tensor  # [C]
    class_names: tuple[str, ...] = ()
    counterfactual: Counterfactual | None = None

    @cached_property
    def units(self) -> Units:
        """What can be deleted."""
        nodes = int(self.graph.num_nodes or 0)
        return find_units(self.graph.edge_index, nodes, torch.zeros(nodes, dtype=torch.long), 1)

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

    def __repr__(self) -> str:
        name = self.class_names[self.prediction] if self.class_names else str(self.prediction)
        parts = [f"{name} ({float(self.probabilities[self.prediction]):.2f})", f"{len(self.units)} edges"]
        if (found := self.counterfactual) is not None:
            other = self.class_names[found.prediction] if self.class_names else str(found.prediction)
            count = len(self.units.of_edge[found.removed].unique())
            changed = f"→ {other} without {count}" if found.flipped else f"still {other} without {count}"
            parts.append(changed + (" (minimal)" if found.minimal else ""))
        return f"Explanation({', '.join(parts)})"


@dataclass(frozen=True)
class Failure:
    """The slot of an instance that could not be explained."""

    index: int
    error: Exception
