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
from rcexplainer.tasks.questions import Asked, Index, NodeQuestions, node_index

Search = Literal["none", "prefix", "greedy"]
OnError = Literal["raise", "keep"]
Candidates = Tensor | Sequence[Tensor] | None
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
    hops: int = 0  # how far a node's computation graph reaches; of a graph task 0

    def __post_init__(self) -> None:
        if self.class_names and len(self.class_names) != self.split.num_classes:
            names, classes = len(self.class_names), self.split.num_classes
            raise RCExplainerError(f"{names} class_names were given for a model with {classes} classes")

    @overload
    def explain(
        self, graphs: Data, *, index: int | None = ..., search: Search = ..., candidates: Tensor | None = ...
    ) -> Explanation: ...
    @overload
    def explain(
        self,
        graphs: Data,
        *,
        index: Sequence[int] | Tensor,
        search: Search = ...,
        candidates: Candidates = ...,
        on_error: OnError = ...,
    ) -> list[Explanation | Failure]: ...
    @overload
    def explain(
        self, graphs: Iterable[Data], *, search: Search = ..., candidates: Candidates = ..., on_error: OnError = ...
    ) -> list[Explanation | Failure]: ...

    def explain(
        self,
        graphs: Graphs,
        *,
        index: Index | None = None,
        search: Search = "prefix",
        candidates: Candidates = None,
        on_error: OnError = "raise",
    ) -> Explanation | list[Explanation | Failure]:
        """One `Data` (for nodes: one int `index` in it) gives one `Explanation`, anything else a list, in order.

        `search`: "prefix", "greedy" or "none". `candidates`: a boolean mask of the edges that may be deleted (for a
        list, one mask a graph). With `on_error="raise"` all other instances are explained first and the error carries
        the results; "keep" puts a `Failure` in the slot.
        """
        if on_error not in get_args(OnError):
            raise RCExplainerError(f"on_error must be one of {', '.join(get_args(OnError))}, got {on_error!r}")
        single = isinstance(graphs, Data) and not isinstance(graphs, Batch)
        if self.split.task == "node":
            single = isinstance(index, int)
        results = list(self.explain_iter(graphs, index=index, search=search, candidates=candidates))
        failures = [result for result in results if isinstance(result, Failure)]
        if failures and single:
            raise failures[0].error
        if failures and on_error == "raise":
            raise ExplainError(failures[0].index, failures[0].error, len(failures), results)
        return results[0] if single and isinstance(results[0], Explanation) else results

    def explain_iter(
        self,
        graphs: Graphs,
        *,
        index: Index | None = None,
        search: Search = "prefix",
        candidates: Candidates = None,
    ) -> Iterator[Explanation | Failure]:
        """Stream the explanations; memory is bounded by a chunk of instances."""
        if search not in ("none", *SEARCHES):
            raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")
        start = 0
        for chunk in _chunks(self._asked(graphs, index)):
            masks = None if candidates is None else _masks(candidates, chunk, start)
            yield from self._explain_chunk(start, chunk, search, masks)
            start += len(chunk)
        if not start:
            raise GraphError("there is nothing to explain: at least one graph is needed")
        if isinstance(candidates, Sequence) and len(candidates) > start:
            raise RCExplainerError(f"candidates must hold one mask for each of {start} graphs, got {len(candidates)}")

    def _asked(self, graphs: Graphs, index: Index | None) -> Iterator[Asked]:
        """What is asked about, one after the other, where the model is."""
        found = iter_graphs(graphs)
        if self.device is not None:
            found = (copy(graph).to(self.device) for graph in found)
        if self.split.task == "graph":
            if index is not None:
                raise RCExplainerError("index chooses nodes; of a graph task choose the graphs themselves")
            yield from (Asked(graph, graph) for graph in found)
            return
        whole = list(found)
        if len(whole) != 1:
            raise GraphError(f"nodes are explained in one graph at a time, got {len(whole)} graphs")
        self._check(whole[0], "the graph")
        yield from NodeQuestions(whole[0], self.hops)(node_index(index, int(whole[0].num_nodes or 0)))

    def _explain_chunk(
        self, start: int, asked: list[Asked], search: Search, candidates: list[Tensor] | None
    ) -> list[Explanation | Failure]:
        """All instances together; where that fails, each for itself, so that one bad graph loses no other."""
        try:
            for place, one in enumerate(asked):
                if one.index is None:  # else the whole graph was checked
                    self._check(one.graph, f"graph {start + place}")
                if candidates is not None:
                    _check_candidates(candidates[place], one.graph, f"graph {start + place}")
            return list(self._explain_sound(asked, search, candidates))
        except Exception as error:  # noqa: BLE001  a model may raise anything; it is kept in the slot
            if len(asked) == 1:
                return [Failure(start, error)]
        return [
            self._explain_chunk(start + place, [one], search, None if candidates is None else [candidates[place]])[0]
            for place, one in enumerate(asked)
        ]

    def _check(self, graph: Data, where: str) -> None:
        check_devices(self.split.model, [graph])
        check_graph(graph, where)
        self.kind.check(graph, where, "the explainer was fitted on")

    @torch.no_grad()
    def _explain_sound(self, asked: list[Asked], search: Search, candidates: list[Tensor] | None) -> list[Explanation]:
        instances = Instances(self.split, [one.instance for one in asked])
        units = instances.units
        log_probs = instances.passes(lambda done: self.split.log_probs(done.output))
        if bool(log_probs.isnan().any()):
            raise GraphError("the model returns NaN for this graph")
        labels = log_probs.argmax(1)
        if self.classes is not None and (unseen := set(labels.tolist()) - self.classes):
            raise GraphError(f"class {min(unseen)} is predicted, which was never predicted in fitting")
        scores = self.scores(instances, labels)
        found = None
        if search != "none":
            allowed = torch.ones(len(units), dtype=torch.bool, device=scores.device)
            if candidates is not None:
                inside = [
                    mask if one.edge_ids is None else mask[one.edge_ids]
                    for one, mask in zip(asked, candidates, strict=True)
                ]
                mask = torch.cat(inside).to(scores.device)
                allowed[units.of_edge[~mask & (units.of_edge >= 0)]] = False  # a unit may go if all its edges may
            found = SEARCHES[search](Question(units.ptr, instances.log_probs, labels), scores, allowed)
        return self._pack(asked, instances, log_probs, scores, found)

    def _pack(
        self, asked: list[Asked], instances: Instances, log_probs: Tensor, scores: Tensor, found: Found | None
    ) -> list[Explanation]:
        """Detached results on the CPU, one per instance."""
        units = instances.units
        sizes = [one.instance.num_edges for one in asked]
        scores_of = units.to_edges(scores, 0.0).cpu().split(sizes)
        probabilities = log_probs.exp().cpu()
        on_cpu = _OnCpu()
        cases: Sequence[Counterfactual | None] = [None] * len(asked)
        if found is not None:
            after = instances.log_probs(instances.everything, found.removed).exp().cpu()
            removed = [mask.nonzero().flatten() for mask in units.to_edges(found.removed, False).cpu().split(sizes)]
            flipped, minimal = found.flipped.tolist(), found.minimal.tolist()
            cases = [
                Counterfactual(
                    on_cpu(one.graph),
                    removed[i] if one.edge_ids is None else one.edge_ids[removed[i]],
                    int(after[i].argmax()),
                    after[i],
                    flipped[i],
                    minimal[i],
                )
                for i, one in enumerate(asked)
            ]
        return [
            Explanation(
                on_cpu(one.graph),
                scores_of[i],
                int(probabilities[i].argmax()),
                probabilities[i],
                self.class_names,
                cases[i],
                one.index,
                None if one.edge_ids is None else on_cpu(one.instance),
                one.edge_ids,
            )
            for i, one in enumerate(asked)
        ]


class _OnCpu:
    """Graphs on the CPU, each moved once: many instances may share one."""

    def __init__(self) -> None:
        self.moved: dict[int, Data] = {}

    def __call__(self, graph: Data) -> Data:
        if graph.edge_index.device.type == "cpu":
            return graph
        return self.moved.setdefault(id(graph), copy(graph).cpu())


def _masks(candidates: Tensor | Sequence[Tensor], chunk: list[Asked], start: int) -> list[Tensor]:
    """The candidates of these instances: one mask for all of them, or one for each."""
    if isinstance(candidates, Tensor):
        return [candidates] * len(chunk)
    masks = list(candidates[start : start + len(chunk)])
    if len(masks) < len(chunk):
        raise RCExplainerError(f"candidates must hold one mask for each graph, got {start + len(masks)}")
    return masks


def _check_candidates(mask: Tensor, graph: Data, where: str) -> None:
    if mask.dtype != torch.bool or mask.shape != (graph.num_edges,):
        raise GraphError(f"the candidates of {where} must be a boolean mask of its {graph.num_edges} edges")


def _chunks(asked: Iterator[Asked]) -> Iterator[list[Asked]]:
    """Instances that can be batched: with the same attributes, and not too many of them."""
    chunk: list[Asked] = []
    pairs = 0
    for one in asked:
        cost = one.instance.num_edges**2
        pairs += cost
        full = len(chunk) == CHUNK_GRAPHS or pairs > CHUNK_PAIRS
        if chunk and (full or attributes(one.instance) != attributes(chunk[0].instance)):
            yield chunk
            chunk, pairs = [], cost
        chunk.append(one)
    if chunk:
        yield chunk
