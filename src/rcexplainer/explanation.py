"""The results of an explainer: frozen, on the CPU, made of graphs and numbers; they never hold a model."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.segments import ranks
from rcexplainer.core.units import Units, find_units
from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.disclosure import WITHHELD, Disclosure, refuse_withheld, withheld
from rcexplainer.errors import RCExplainerError
from rcexplainer.field_check import FieldCheck
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.short_repr import ShortRepr
from rcexplainer.sources import AnyGraph, GraphSource

EdgeReading = Literal["scores", "relevance"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the model predicts a class for one graph, node or link: a score for every edge, and a counterfactual.

    Edges are deleted in units. A unit is two nodes and all edges between them, whatever their direction: in an
    undirected graph, whose edges are stored as (i, j) and (j, i), a unit is simply an edge. The edges of a unit share
    one score and are deleted together. Self-loops belong to no unit: they are never deleted, and their score is 0.

    A node or link is explained within its computation graph, the part of the graph that its prediction depends on;
    masks and scores are given for the whole graph. Edges outside it, edges over which no message can reach the
    explained node, and the explained link itself belong to no unit and have score 0.

    Attributes:
        graph: The explained graph, or the whole graph that the explained node or link belongs to; a `MappedGraph` or
            `StoreGraph` if it is not in memory.
        scores: The scores of the edges of `instance`, in [0, 1]; `edge_scores` gives them for the whole graph.
        prediction: The predicted class.
        probabilities: [C] the probabilities of all classes.
        class_names: The names of the classes; empty if none were given.
        counterfactual: The graph with as few edges deleted as the search found to be enough for another prediction,
            or its best attempt (`counterfactual.flipped` says which); None with `search="none"`.
        index: The explained node, or the explained pair of nodes; None for a graph.
        computation: The computation graph of that node or pair; None for a graph.
        edge_ids: The edges of `computation`, as positions in the columns of `graph.edge_index`; None for a graph.
        relevance: The relevance of the edges of `instance`, in [0, 1]; `edge_relevance` gives it for the whole graph.
            None if the method has no such reading.
        refined: Model runs spent on the ranking by really deleting edges; 0: the scores are the method's own.
        node_ids: The nodes of `computation`, as nodes of `graph`; None for a graph.
        checked: For a graph on disk or in a store: how the answers of computation graphs were compared with the graph
            around them, and the bound on their edges. None: with the whole graph, which every answer is compared with.
        disclosed: What the explanation tells. "counterfactual": it has no scores and no relevance; "prediction": nor a
            counterfactual. Reading these, or anything made from them, is a `WithheldError`.
        order: The place of each edge of `instance` in the order of deletion, −1 for edges that are never deleted; None:
            the higher the score, the earlier.
    """

    graph: AnyGraph
    scores: Tensor
    prediction: int
    probabilities: Tensor
    class_names: tuple[str, ...] = ()
    # No defaults of the class: an attribute that is withheld must not be found there.
    counterfactual: Counterfactual | None = field(default_factory=lambda: None)
    index: int | tuple[int, int] | None = None
    computation: Data | None = None
    edge_ids: Tensor | None = None
    relevance: Tensor | None = field(default_factory=lambda: None)
    refined: int = 0
    node_ids: Tensor | None = None
    checked: FieldCheck | None = None
    disclosed: Disclosure = "scores"
    order: Tensor | None = None

    def __post_init__(self) -> None:
        for name in WITHHELD[self.disclosed]:
            object.__delattr__(self, name)

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Called for what is not there: withheld, or never was."""
            if name in WITHHELD[self.disclosed]:
                raise withheld(name, self.disclosed)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @property
    def instance(self) -> Data:
        """The graph the model is run on: the computation graph of a node or link, otherwise the graph itself."""
        if self.computation is not None:
            return self.computation
        assert isinstance(self.graph, Data)  # only nodes and links are explained in other graphs
        return self.graph

    @property
    def counterfactual_instance(self) -> Data:
        """`instance` without the edges that the counterfactual deletes.

        Raises:
            RCExplainerError: There is no counterfactual: it was made with `search="none"`.
        """
        if self.counterfactual is None:
            raise RCExplainerError('there is no counterfactual: the explanation was made with search="none"')
        gone = torch.zeros(self.instance.num_edges, dtype=torch.bool)
        gone[self._inside(self.counterfactual.columns)] = True
        return delete_edges(self.instance, gone)

    def within(self, mask: Tensor) -> Tensor:
        """Restrict a mask to the computation graph.

        Args:
            mask: One value per edge of `graph`, [num_edges].

        Returns:
            One value per edge of `instance`.
        """
        return mask if self.edge_ids is None else mask[self.edge_ids]

    @property
    def edge_scores(self) -> Tensor:
        """How much each edge counts for the prediction, in [0, 1], one per column of `edge_index`: [num_edges].

        The counterfactual reading: does losing the edge change the answer? An edge whose loss would make the prediction
        surer ranks low. RCExplainer gives edges that are alike the same score; `top` says which to delete together.
        """
        return self._in_whole_graph(self.scores)

    @property
    def edge_relevance(self) -> Tensor:
        """How much each edge matters at all, either way, in [0, 1], one per column of `edge_index`: [num_edges].

        Edges that support the prediction and edges that oppose it both rank high; use it to find what the model looks
        at, and `edge_scores` for what to lose for another answer.

        Raises:
            RCExplainerError: The method has the counterfactual reading alone.
        """
        return self._in_whole_graph(self.reading("relevance"))

    def reading(self, name: EdgeReading) -> Tensor:
        """One of the two readings of the edges of `instance`, [edges].

        Args:
            name: "scores" or "relevance".

        Raises:
            RCExplainerError: There is no such reading, or the method does not have it.
        """
        if name not in get_args(EdgeReading):
            raise RCExplainerError(f"reading must be one of {', '.join(get_args(EdgeReading))}, got {name!r}")
        if name == "scores":
            return self.scores
        if self.relevance is None:
            raise RCExplainerError(
                "this explanation has no edge_relevance: its method reads edge_scores alone; use edge_scores, or a "
                "method with both readings, such as Occlusion"
            )
        return self.relevance

    def _in_whole_graph(self, values: Tensor) -> Tensor:
        """Values of the edges of `instance` as values of all edges of the graph; 0 outside."""
        if self.edge_ids is None:
            return values
        return values.new_zeros(self.graph.num_edges).index_copy(0, self.edge_ids, values)

    @property
    def units(self) -> Units:
        """Everything that can be deleted.

        `units.pair` [2, units] has the two nodes of each unit, `units.of_edge` [num_edges] the unit of each edge: −1
        for edges that belong to none.
        """
        if self.edge_ids is None:
            return self.inner_units
        outside = torch.full((self.graph.num_edges,), -1)
        return replace(self.inner_units, of_edge=outside.index_copy(0, self.edge_ids, self.inner_units.of_edge))

    @cached_property
    def inner_units(self) -> Units:
        """The same units, with `of_edge` for the edges of `instance` alone: nothing is as long as the whole graph."""
        inside = self.instance
        local, nodes = inside.edge_index, int(inside.num_nodes or 0)
        found = find_units(local, nodes, torch.zeros(nodes, dtype=torch.long), 1, inside.get("edge_fixed"))
        if self.edge_ids is None:
            return found
        return replace(found, pair=self._node_ids[found.pair])

    @property
    def _node_ids(self) -> Tensor:
        """[nodes of `instance`] as nodes of `graph`."""
        if self.node_ids is not None:
            return self.node_ids
        assert isinstance(self.graph, Data)
        ids = torch.arange(int(self.instance.num_nodes or 0))
        ids[self.instance.edge_index.flatten()] = self.graph.edge_index[:, self.edge_ids].flatten()
        return ids

    def _inside(self, columns: Tensor) -> Tensor:
        """Columns of `graph` as columns of `instance`."""
        return columns if self.edge_ids is None else torch.searchsorted(self.edge_ids, columns)

    @cached_property
    def unit_scores(self) -> Tensor:
        """The score of each unit, [units]."""
        return self._per_unit(self.scores)

    @cached_property
    def unit_relevance(self) -> Tensor:
        """The relevance of each unit, [units]; raises as `edge_relevance` does."""
        return self._per_unit(self.reading("relevance"))

    @cached_property
    def unit_order(self) -> Tensor:
        """The place of each unit in the order in which `top` takes them, 0 for the first, [units]."""
        units = self.inner_units
        return (
            ranks(self.unit_scores, units.owner, units.ptr) if self.order is None else self._per_unit(self.order).long()
        )

    def _per_unit(self, values: Tensor) -> Tensor:
        """Values of the edges of `instance`, the same for all edges of a unit, as values of the units."""
        units = self.inner_units
        found = values.new_zeros(len(units))
        proper = units.of_edge >= 0
        found[units.of_edge[proper]] = values[proper]
        return found

    @property
    def node_scores(self) -> Tensor:
        """The highest score among the edges of each node, a_i = max_j M_ij, [num_nodes]; 0 for a node without edges."""
        scores = self.scores.new_zeros(int(self.graph.num_nodes or 0))
        return scores.scatter_reduce(0, self.inner_units.pair.reshape(-1), self.unit_scores.repeat(2), "amax")

    @property
    def edges(self) -> Tensor:
        """The explanation as a set of edges: a boolean mask, [num_edges].

        Those with a score above 0.5; where there is none, those that the counterfactual deletes, if it flips. Without
        a search (`search="none"`) there is no counterfactual to take them from, and the set can be empty.
        """
        found = self.edge_scores > 0.5
        if bool(found.any()) or self.counterfactual is None or not self.counterfactual.flipped:
            return found
        return self.counterfactual.removed

    def top(self, k: int) -> Tensor:
        """The k units that come first in the order of deletion.

        RCExplainer plans deletions of graphs one after the other, each knowing which are gone: of two edges that could
        replace each other, or that are alike, the plan may take one and leave the other. Where a method has no plan,
        these are the units with the highest scores. Ties go to the pair of nodes with the lower ids.

        Args:
            k: Number of units; all of them if there are fewer.

        Returns:
            A boolean mask, [num_edges].

        Raises:
            RCExplainerError: k is negative, or no number.
        """
        if not isinstance(k, Integral) or k < 0:
            raise RCExplainerError(f"top(k) takes k ≥ 0, a number of edges, got {k!r}")
        return self.units.to_edges(self.unit_order < min(int(k), torch.iinfo(torch.long).max), False)

    def at_sparsity(self, sparsity: float) -> Tensor:
        """The explanation at a given sparsity: the first max(1, round((1 − sparsity)·units)) units (`top`).

        Args:
            sparsity: The share of units that are not part of the explanation, from 0 to 1.

        Returns:
            A boolean mask of edges, [num_edges].

        Raises:
            RCExplainerError: The sparsity is not a share.
        """
        if not isinstance(sparsity, Real) or not 0 <= sparsity <= 1:
            raise RCExplainerError(f"a sparsity is a share from 0 to 1, such as 0.9, got {sparsity!r}")
        return self.top(max(1, round((1 - sparsity) * len(self.inner_units))))

    @property
    def removed_units(self) -> Tensor:
        """The units that the counterfactual deletes, as positions in `units`; empty without a counterfactual."""
        if self.counterfactual is None:
            return torch.empty(0, dtype=torch.long)
        return self.inner_units.of_edge[self._inside(self.counterfactual.columns)].unique()

    @property
    def local(self) -> "Explanation":
        """The same with the computation graph in the place of a graph on disk or in a store, whose node ids become
        `node_names`; an explanation of a graph in memory as it is."""
        if not isinstance(self.graph, GraphSource) or self.computation is None:
            return self
        part, ids, found = copy(self.computation), self._node_ids, self.counterfactual
        part["node_names"] = [str(node) for node in ids.tolist()]
        if found is not None:
            found = replace(found, original=part, columns=self._inside(found.columns))
        index = torch.searchsorted(ids, torch.tensor(self.index)).tolist()
        return replace(
            self,
            graph=part,
            computation=part,
            counterfactual=found,
            index=index if isinstance(index, int) else tuple(index),
            edge_ids=torch.arange(part.num_edges),
            node_ids=torch.arange(len(ids)),
        )

    def draw(
        self,
        path: str | Path | None = None,
        *,
        reading: EdgeReading = "scores",
        style: Literal["auto", "graph", "molecule"] = "auto",
        node_names: Sequence[str] = (),
        edge_names: Sequence[str] = (),
        numbers: bool | None = None,
    ) -> Any:
        """Draw the instance, its counterfactual in the same layout, and the probabilities (extra `figures`).

        Args:
            path: A file that ends in .svg, .png or .pdf; None: nothing is written.
            reading: "scores", or "relevance" for methods that have it.
            style: "molecule" (extra `chem`), "graph", or "auto": a molecule where the graph can be read as one.
            node_names: What each one-hot node feature means, such as `dataset.node_names`.
            edge_names: What each one-hot entry of `edge_attr` means.
            numbers: Whether nodes have their numbers; None: all of them in drawings of up to 40 nodes, in larger ones
                the explained nodes and the ends of deleted edges.

        Returns:
            matplotlib's figure, or the path of the file.

        Raises:
            RCExplainerError: The suffix, reading or style is unknown, or scores are withheld.
            MissingExtraError: A package that draws is not installed.
        """
        refuse_withheld("a drawing", reading, self.disclosed)
        named = {"node_names": node_names, "edge_names": edge_names, "numbers": numbers}
        return _drawings().draw(self.local, path, reading=reading, style=style, **named)

    def _repr_svg_(self) -> str | None:
        """The drawing that a notebook shows; None without matplotlib or scores: it shows the text."""
        return _drawings().notebook_svg(self.local) if self.disclosed == "scores" else None

    def __repr__(self) -> str:
        parts = [f"{self._class(self.prediction)} ({float(self.probabilities[self.prediction]):.2f})"]
        if self.disclosed == "scores":
            size = len(self.inner_units)
            parts.append(f"{size} edge{'s' * (size != 1)}")
        if self.refined:
            parts.append(f"refined with {self.refined} model run{'s' * (self.refined > 1)}")
        if self.disclosed != "prediction" and (found := self.counterfactual) is not None:
            notes = {"minimal": found.minimal, "disputed": found.disputed, "budget spent": found.exhausted}
            parts.append(self._change(found) + "".join(f" ({note})" for note, holds in notes.items() if holds))
        if self.disclosed != "scores":
            parts.append(f"{' and '.join(WITHHELD[self.disclosed])} withheld")
        return f"Explanation({', '.join(parts)})"

    def _class(self, label: int) -> str:
        """A class by its name, or its number."""
        return self.class_names[label] if self.class_names else f"class {label}"

    def _change(self, found: Counterfactual) -> str:
        """What the counterfactual does to the prediction, in words."""
        count, other = len(self.removed_units), self._class(found.prediction)
        without = f"without {count} edge{'s' * (count != 1)}"
        if found.flipped:
            return f"→ {other} {without}"
        wanted = "" if found.target is None else f" to {self._class(found.target)}"
        if not count:
            return f"no flip{wanted} found"
        if found.confidence is not None:
            aim = "" if found.target is None else f" for {self._class(found.target)}"
            return f"reaches {found.reached:.2f} of {found.confidence:g}{aim} {without}"
        still = "still " * (found.prediction == self.prediction)  # it may be a third class
        return f"no flip{wanted} found, {still}{other} {without}"


@dataclass(frozen=True, repr=False)
class Failure(ShortRepr):
    """Stands in a list of results for an instance that could not be explained.

    Attributes:
        index: The position of the instance in the call.
        error: What went wrong.
    """

    index: int
    error: Exception


def _drawings() -> Any:
    """The package of drawings, which stands on a higher floor: the one import upwards, made when it is needed."""
    from rcexplainer import viz

    return viz
