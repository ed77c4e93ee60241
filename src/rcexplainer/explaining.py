"""From scores to explanations, the same for every method: check, batch, score, search, pack.

A method is a function from instances to one score per unit. Everything else an explainer does is here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal, get_args, overload

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.counterfactual import Found, Question, greedy_search, prefix_search
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError
from rcexplainer.explanation import Counterfactual, Explanation, Failure
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel, check_devices
from rcexplainer.graphs import Graphs, Kind, attributes, check_graph, iter_graphs

Search = Literal["none", "prefix", "greedy"]
OnError = Literal["raise", "keep"]
SEARCHES: dict[str, Callable[[Question, Tensor, Tensor], Found]] = {"prefix": prefix_search, "greedy": greedy_search}
# Prefixes and single deletions are asked all at once, so a chunk of graphs is bounded by the sum of their squares.
CHUNK_GRAPHS, CHUNK_PAIRS = 512, 1 << 24


@dataclass(frozen=True, eq=False)
class FittedExplainer:
    """A method ready to explain. `scores(instances, labels)` gives one score in [0, 1] per unit."""

    split: SplitModel
    scores: Callable[[Instances, Tensor], Tensor]
    kind: Kind
    class_names: tuple[str, ...] = ()
    classes: frozenset[int] | None = None  # the predicted classes the method was fitted on; None: any will do
    device: torch.device | None = None  # graphs are moved there first; None: they must be where the model is

    def __post_init__(self) -> None:
        if self.class_names and len(self.class_names) != self.split.num_classes:
            names, classes = len(self.class_names), self.split.num_classes
            raise RCExplainerError(f"{names} class_names were given for a model with {classes} classes")

    @overload
    def explain(self, graphs: Data, *, search: Search = ..., candidates: Tensor | None = ...) -> Explanation: ...
    @overload
    def explain(
        self,
        graphs: Iterable[Data],
        *,
        search: Search = ...,
        candidates: Sequence[Tensor] | None = ...,
        on_error: OnError = ...,
    ) -> list[Explanation | Failure]: ...

    def explain(
        self,
        graphs: Graphs,
        *,
        search: Search = "prefix",
        candidates: Tensor | Sequence[Tensor] | None = None,
        on_error: OnError = "raise",
    ) -> Explanation | list[Explanation | Failure]:
        """One `Data` gives one `Explanation`, anything else a list, in order.

        `search`: "prefix", "greedy" or "none". `candidates`: a boolean mask of the edges that may be deleted (for a
        list, one mask a graph). With `on_error="raise"` all other graphs are explained first and the error carries
        the results; "keep" puts a `Failure` in the slot.
        """
        if on_error not in get_args(OnError):
            raise RCExplainerError(f"on_error must be one of {', '.join(get_args(OnError))}, got {on_error!r}")
        single = isinstance(graphs, Data) and not isinstance(graphs, Batch)
        masks = [candidates] if isinstance(candidates, Tensor) else candidates
        results = list(self.explain_iter(graphs, search=search, candidates=masks))
        failures = [result for result in results if isinstance(result, Failure)]
        if failures and single:
            raise failures[0].error
        if failures and on_error == "raise":
            raise ExplainError(failures[0].index, failures[0].error, len(failures), results)
        return results[0] if single and isinstance(results[0], Explanation) else results

    def explain_iter(
        self, graphs: Graphs, *, search: Search = "prefix", candidates: Sequence[Tensor] | None = None
    ) -> Iterator[Explanation | Failure]:
        """Stream the explanations; memory is bounded by a chunk of graphs."""
        if search not in ("none", *SEARCHES):
            raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")
        start = 0
        found = iter_graphs(graphs)
        for chunk in _chunks(found if self.device is None else (copy(graph).to(self.device) for graph in found)):
            masks = None if candidates is None else candidates[start : start + len(chunk)]
            if masks is not None and len(masks) < len(chunk):
                raise RCExplainerError(f"candidates must hold one mask for each graph, got {start + len(masks)}")
            yield from self._explain_chunk(start, chunk, search, masks)
            start += len(chunk)
        if not start:
            raise GraphError("there is nothing to explain: at least one graph is needed")
        if candidates is not None and len(candidates) > start:
            raise RCExplainerError(f"candidates must hold one mask for each of {start} graphs, got {len(candidates)}")

    def _explain_chunk(
        self, start: int, graphs: list[Data], search: Search, candidates: Sequence[Tensor] | None
    ) -> list[Explanation | Failure]:
        """All graphs together; where that fails, each for itself, so that one bad graph loses no other."""
        masks = [None] * len(graphs) if candidates is None else list(candidates)
        try:
            for place, graph in enumerate(graphs):
                self._check(graph, start + place, masks[place])
            return list(self._explain_sound(graphs, search, candidates))
        except Exception as error:  # noqa: BLE001  a model may raise anything; it is kept in the slot
            if len(graphs) == 1:
                return [Failure(start, error)]
        return [
            self._explain_chunk(start + place, [graph], search, None if candidates is None else [candidates[place]])[0]
            for place, graph in enumerate(graphs)
        ]

    def _check(self, graph: Data, position: int, candidates: Tensor | None) -> None:
        where = f"graph {position}"
        check_devices(self.split.model, [graph])
        check_graph(graph, where)
        self.kind.check(graph, where, "the explainer was fitted on")
        if candidates is not None and (candidates.dtype != torch.bool or candidates.shape != (graph.num_edges,)):
            raise GraphError(f"the candidates of {where} must be a boolean mask of its {graph.num_edges} edges")

    @torch.no_grad()
    def _explain_sound(
        self, graphs: list[Data], search: Search, candidates: Sequence[Tensor] | None
    ) -> list[Explanation]:
        instances = Instances(self.split, graphs)
        units = instances.units
        log_probs = instances.passes(lambda done: self.split.log_probs(done.output))
        if bool(log_probs.isnan().any()):
            raise GraphError("the model returns NaN for this graph")
        labels = log_probs.argmax(1)
        if self.classes is not None and (unseen := set(labels.tolist()) - self.classes):
            raise GraphError(f"the graph is predicted as class {min(unseen)}, which no graph was in fitting")
        scores = self.scores(instances, labels)
        found = None
        if search != "none":
            allowed = torch.ones(len(units), dtype=torch.bool, device=scores.device)
            if candidates is not None:
                mask = torch.cat(list(candidates)).to(scores.device)
                allowed[units.of_edge[~mask & (units.of_edge >= 0)]] = False  # a unit may go if all its edges may
            found = SEARCHES[search](Question(units.ptr, instances.log_probs, labels), scores, allowed)
        return self._pack(graphs, instances, log_probs, scores, found)

    def _pack(
        self, graphs: list[Data], instances: Instances, log_probs: Tensor, scores: Tensor, found: Found | None
    ) -> list[Explanation]:
        """Detached results on the CPU, one per graph."""
        units = instances.units
        sizes = [graph.num_edges for graph in graphs]
        scores_of = units.to_edges(scores, 0.0).cpu().split(sizes)
        probabilities = log_probs.exp().cpu()
        shown = [graph if graph.edge_index.device.type == "cpu" else copy(graph).cpu() for graph in graphs]
        cases: Sequence[Counterfactual | None] = [None] * len(graphs)
        if found is not None:
            after = instances.log_probs(instances.everything, found.removed).exp().cpu()
            removed = units.to_edges(found.removed, False).cpu().split(sizes)
            flipped, minimal = found.flipped.tolist(), found.minimal.tolist()
            cases = [
                Counterfactual(
                    graph, removed[i].nonzero().flatten(), int(after[i].argmax()), after[i], flipped[i], minimal[i]
                )
                for i, graph in enumerate(shown)
            ]
        labels = probabilities.argmax(1).tolist()
        return [
            Explanation(graph, scores_of[i], labels[i], probabilities[i], self.class_names, cases[i])
            for i, graph in enumerate(shown)
        ]


def _chunks(graphs: Iterator[Data]) -> Iterator[list[Data]]:
    """Graphs that can be batched: with the same attributes, and not too many of them."""
    chunk: list[Data] = []
    pairs = 0
    for graph in graphs:
        pairs += graph.num_edges**2
        full = len(chunk) == CHUNK_GRAPHS or pairs > CHUNK_PAIRS
        if chunk and (full or attributes(graph) != attributes(chunk[0])):
            yield chunk
            chunk, pairs = [], graph.num_edges**2
        chunk.append(graph)
    if chunk:
        yield chunk
