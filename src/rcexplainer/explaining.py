"""From scores to explanations, the same for every method: check, batch, score, search, pack.

A method is a function from instances to one score per unit. Everything else an explainer does is here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, overload

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.counterfactual import Found, Question, greedy_search, prefix_search
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError
from rcexplainer.explanation import Counterfactual, Explanation, Failure
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.masking import delete_edges
from rcexplainer.gnn.split import SplitModel, check_devices
from rcexplainer.graphs import Graphs, check_graph, list_graphs

Search = Literal["none", "prefix", "greedy"]
OnError = Literal["raise", "keep"]
SEARCHES: dict[str, Callable[[Question, Tensor, Tensor], Found]] = {"prefix": prefix_search, "greedy": greedy_search}
CHUNK = 512  # graphs explained together


@dataclass(frozen=True, eq=False)
class FittedExplainer:
    """A method ready to explain. `scores(instances, labels)` gives one score in [0, 1] per unit."""

    split: SplitModel
    scores: Callable[[Instances, Tensor], Tensor]
    num_features: int | None
    class_names: tuple[str, ...] = ()

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
        single = isinstance(graphs, Data) and not hasattr(graphs, "_slice_dict")
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
        """Stream the explanations; memory is bounded by a few hundred graphs."""
        if search not in ("none", *SEARCHES):
            raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")
        found = list_graphs(graphs)
        if candidates is not None and len(candidates) != len(found):
            raise RCExplainerError(
                f"candidates must hold one mask for each of {len(found)} graphs, got {len(candidates)}"
            )
        for start in range(0, len(found), CHUNK):
            masks = None if candidates is None else candidates[start : start + CHUNK]
            yield from self._explain_chunk(start, found[start : start + CHUNK], search, masks)

    def _explain_chunk(
        self, start: int, graphs: list[Data], search: Search, candidates: Sequence[Tensor] | None
    ) -> list[Explanation | Failure]:
        slots: list[Explanation | Failure | None] = [None] * len(graphs)
        for place, graph in enumerate(graphs):
            try:
                self._check(graph, start + place, None if candidates is None else candidates[place])
            except RCExplainerError as error:
                slots[place] = Failure(start + place, error)
        sound = [place for place, slot in enumerate(slots) if slot is None]
        if sound:
            masks = None if candidates is None else [candidates[place] for place in sound]
            for place, explanation in zip(
                sound, self._explain_sound([graphs[p] for p in sound], search, masks), strict=True
            ):
                slots[place] = explanation
        return [slot for slot in slots if slot is not None]

    def _check(self, graph: Data, position: int, candidates: Tensor | None) -> None:
        where = f"graph {position}"
        check_devices(self.split.model, [graph])
        check_graph(graph, where)
        if self.num_features is not None and graph.num_node_features != self.num_features:
            width = graph.num_node_features
            raise GraphError(
                f"{where} has node features of width {width}, the explainer was fitted on {self.num_features}"
            )
        if candidates is not None and (candidates.dtype != torch.bool or candidates.shape != (graph.num_edges,)):
            raise GraphError(f"the candidates of {where} must be a boolean mask of its {graph.num_edges} edges")

    @torch.no_grad()
    def _explain_sound(
        self, graphs: list[Data], search: Search, candidates: Sequence[Tensor] | None
    ) -> list[Explanation]:
        instances = Instances(self.split, graphs)
        units = instances.units
        log_probs = instances.passes(lambda done: self.split.log_probs(done.output))
        if not bool(log_probs.isfinite().any(1).all()):
            raise GraphError("the model returns NaN for at least one of these graphs")
        labels = log_probs.argmax(1)
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
        edge_scores = units.to_edges(scores, 0.0).cpu().split(sizes)
        probabilities = log_probs.exp().cpu()
        cases: Sequence[Counterfactual | None] = [None] * len(graphs)
        if found is not None:
            after = instances.log_probs(instances.everything, found.removed).exp().cpu()
            removed = units.to_edges(found.removed, False).split(sizes)
            cases = [
                Counterfactual(
                    removed[i].cpu(),
                    delete_edges(graph, removed[i]).cpu(),
                    int(after[i].argmax()),
                    after[i],
                    bool(found.flipped[i]),
                    bool(found.minimal[i]),
                )
                for i, graph in enumerate(graphs)
            ]
        return [
            Explanation(
                graph.cpu() if graph.edge_index.device.type != "cpu" else graph,
                edge_scores[i],
                int(probabilities[i].argmax()),
                probabilities[i],
                self.class_names,
                cases[i],
            )
            for i, graph in enumerate(graphs)
        ]
