"""A counterfactual: a graph with some edges deleted, and what the model says of exactly that graph."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.short_repr import ShortRepr
from rcexplainer.sources import AnyGraph, GraphSource


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(ShortRepr):
    """A graph with some edges deleted, and the model's prediction for exactly that graph.

    Prediction and `flipped` come from a final run of the model, after the search.

    Attributes:
        original: The graph with all its edges.
        columns: The deleted edges, as positions in the columns of `original.edge_index`.
        source: The class predicted for the original graph.
        probabilities: [C] the probabilities of all classes after the deletion.
        minimal: Whether every deleted unit is needed: the model was run with each single one put back, and none of
            these graphs is flipped. False also if the prediction did not flip.
        target: The class that was to be reached; None for any class other than `source`.
        disputed: Whether the search saw another answer than the final run. Then no flip is claimed.
        exhausted: Whether the search ended because its budget was spent: this is the best it had by then.
        confidence: The probability that another class (or `target`) had to reach for a flip; None: it had to be the
            predicted class. `minimal` then says that with any single unit put back it is not reached.
        distance: How far beyond the boundary of the original's decision region it lies: − min_i s_i B_i(x') / scale_i,
            positive outside (with scaled regions 2 is as far out as a typical member is in); None for methods without
            regions.
    """

    original: AnyGraph
    columns: Tensor
    source: int
    probabilities: Tensor
    minimal: bool = False
    target: int | None = None
    disputed: bool = False
    exhausted: bool = False
    confidence: float | None = None
    distance: float | None = None

    @property
    def prediction(self) -> int:
        """The class predicted after the deletion."""
        return int(self.probabilities.argmax())

    @property
    def flipped(self) -> bool:
        """Whether the deletion changes the prediction: to any other class, or to `target` if one was chosen; with a
        `confidence`, whether the model is that sure of it."""
        if self.disputed or bool(self.probabilities.isnan().any()):
            return False
        if self.confidence is not None and self.reached < self.confidence:
            return False
        return self.prediction != self.source if self.target is None else self.prediction == self.target

    @property
    def reached(self) -> float:
        """The probability of `target` after the deletion, or of the most probable class other than `source`."""
        others = self.probabilities.clone()
        others[self.source] = -1.0
        return float(others.max() if self.target is None else self.probabilities[self.target])

    @property
    def removed(self) -> Tensor:
        """The deleted edges as a boolean mask of the columns of `original.edge_index`, [num_edges]."""
        mask = torch.zeros(self.original.num_edges, dtype=torch.bool)
        mask[self.columns] = True
        return mask

    @property
    def graph(self) -> Data:
        """The graph after the deletion: the edges and all their attributes are really gone.

        Raises:
            GraphError: The original is on disk or in a store, and too large for a copy.
        """
        if isinstance(self.original, GraphSource):
            raise GraphError(
                f"a {type(self.original).__name__} is not copied: `columns` has the deleted edges, and "
                "explanation.counterfactual_instance the computation graph without them"
            )
        return delete_edges(self.original, self.removed)
