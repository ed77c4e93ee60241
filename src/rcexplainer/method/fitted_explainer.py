"""A method ready to explain: the arguments of `explain` are checked, and become a run over the instances asked for.

A method is a function from instances to one score per unit. Everything else an explainer does is the same for all:
`explain_stream` goes through the instances in chunks, `results` explains a chunk.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.arguments import clear_arguments, plain_number
from rcexplainer.core.budget import Budget, Deadline, checked_budget, checked_runs
from rcexplainer.core.flip_query import checked_confidence
from rcexplainer.core.region_distance import Distances
from rcexplainer.disclosure import Disclosure, checked_disclosure
from rcexplainer.errors import ExplainError, NotFittedError, RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.graph_checks import COMPUTATION_NAMES, GraphKind, Graphs, source_of, stream
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method import inputs
from rcexplainer.method.explain_stream import ExplainStream
from rcexplainer.method.explanations import BatchInstances, Explanations
from rcexplainer.method.no_search import refuse_for_predictions, refuse_without_search
from rcexplainer.method.results import SEARCHES, ExplainRun, Scores, Search
from rcexplainer.method.settings import checked_names
from rcexplainer.short_repr import short_repr
from rcexplainer.sources import AnyGraph, GraphSource
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.base import Check
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.tasks.index import Index, Pair

OnError = Literal["raise", "keep"]


@dataclass(frozen=True, eq=False, repr=False)
class FittedExplainer:
    """A method ready to explain one model."""

    split: SplitModel
    scores: Scores  # in [0, 1]
    kind: GraphKind
    class_names: tuple[str, ...] = ()
    classes: frozenset[int] | None = None  # predicted classes seen in fitting; None: any will do
    device: torch.device | None = None  # graphs are moved there first; None: they must be where the model is
    hops: int = 0  # how far computation graphs reach; 0 for graph tasks
    targets: tuple[int | None, ...] = (None,)  # classes it can lead to; None: any class other than the predicted one

    def __post_init__(self) -> None:
        checked_names(self.class_names, self.split.num_classes)

    if not TYPE_CHECKING:  # a type checker would take any name for known

        def __getattr__(self, name: str) -> Any:
            """Called for what a fitted explainer does not have: perhaps the method has it, or only a trained one."""
            if name == "fit":
                raise NotFittedError("this explainer is fitted already: fit belongs to the method, METHOD(…).fit(…)")
            if name == "save":
                raise NotFittedError("this method is not trained, there is nothing to save: fit it again, at no cost")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        far = f", {self.hops} hops" if self.hops else ""
        return f"{type(self).__name__}({type(self.split.model).__name__}, {self.split.task}s{far})"

    @overload
    def explain(
        self,
        graphs: Data,
        *,
        index: int | Pair | None = ...,
        search: Search = ...,
        candidates: Tensor | None = ...,
        target_class: int | None = ...,
        budget: Budget = ...,
        confidence: float | None = ...,
        refine: int | None = ...,
        disclose: Disclosure = ...,
    ) -> Explanation: ...
    @overload
    def explain(
        self,
        graphs: Data | Iterable[Data],
        *,
        index: Sequence[int] | Sequence[Pair] | Tensor | None = ...,
        search: Search = ...,
        candidates: inputs.Candidates = ...,
        target_class: int | None = ...,
        on_error: OnError = ...,
        budget: Budget = ...,
        refine: int | None = ...,
        progress: bool = ...,
        confidence: float | None = ...,
        disclose: Disclosure = ...,
    ) -> Explanations: ...

    @clear_arguments()
    def explain(
        self,
        graphs: Graphs,
        *,
        index: Index | None = None,
        search: Search = "prefix",
        candidates: inputs.Candidates = None,
        target_class: int | None = None,
        on_error: OnError = "raise",
        budget: Budget = None,
        refine: int | None = None,
        progress: bool = False,
        confidence: float | None = None,
        disclose: Disclosure = "scores",
    ) -> Explanation | Explanations:
        """Explain one instance, or several.

        Args:
            graphs: A `Data`, or a list, `Dataset`, `Batch` or `DataLoader` of them; for nodes and links one `Data`,
                `MappedGraph`, `StoreGraph` or (FeatureStore, GraphStore) pair.
            index: Which nodes or links of the graph; all nodes, or the pairs in `edge_label_index`, if None.
            search: "prefix": the shortest flipping prefix of the ranking (of the plan of deletions, if there is one;
                where none of that flips, of the scores). "greedy": greedy deletion goes on where no prefix flips, among
                the 64 best-ranked units of an instance with more than 256, and after its first step among the 24 (with
                a confidence 48) with the largest drops. "none": scores alone.
            candidates: A boolean mask of the edges that may be deleted, or one mask for each instance.
            target_class: The class that the counterfactual must have; scores lead there too if the explainer was
                fitted for that class, or for "each".
            on_error: "raise": explain all others first, then raise an error that carries the results. "keep": put a
                `Failure` in the slot.
            budget: What the search may cost for each instance: a number of model runs (None: a few thousand;
                `math.inf`: no bound), or `rc.Seconds(x)` for refinement and search together, with which results depend
                on the machine. A search that reaches it gives the best it has (`counterfactual.exhausted`). With
                search="none" only a time for `refine` is accepted.
            refine: Model runs that may be spent on the ranking of each instance, by really deleting edges among those
                ranked first (and in `candidates`): `edge_scores` and the search then follow the better ranking. None:
                the method's own scores.
            progress: Whether to show a progress bar.
            confidence: The probability that the model must give another class (or `target_class`) without the deleted
                edges, such as 0.8, so that the counterfactual does not stand on the boundary. None: it need only be the
                predicted class. It needs a search.
            disclose: What the explanations tell. "scores": everything. "counterfactual": the prediction and the
                counterfactual; the scores and relevance of edges are not in them. "prediction": the prediction alone;
                nothing is searched for. Reading what is withheld is a `WithheldError`.

        Returns:
            An `Explanation` for one `Data` or one node or pair; otherwise a read-only sequence, in the order of the
            input.

        Raises:
            ExplainError: Some instances could not be explained; `.results` holds the others.
            RCExplainerError: An argument is not valid.
            ExplainInterrupt: Ctrl-C; `.results` holds the explanations of the instances before.
        """
        if on_error not in get_args(OnError):
            raise RCExplainerError(f"on_error must be one of {', '.join(get_args(OnError))}, got {on_error!r}")
        single = TASKS[self.split.task].single(graphs, index)
        graphs = source_of(graphs) or graphs
        run = self._run(graphs, search, target_class, budget, confidence, refine, disclose)
        most = inputs.most_edges(self.split.device, isinstance(graphs, GraphSource))
        call = ExplainStream(run, most, inputs.candidate_masks(candidates), progress)
        whole = self._whole_batch(graphs) if index is None and candidates is None else None
        with self.split.scope:
            results = Explanations(call.collect(partial(self._instances, graphs, index), whole))
        failures = results.failures
        if failures and single:
            raise failures[0].error
        if failures and on_error == "raise":
            raise ExplainError(failures[0].index, failures[0].error, len(failures), results)
        return results[0] if single else results  # type: ignore[return-value]

    def _whole_batch(self, graphs: Graphs) -> BatchInstances | None:
        """A `Batch` that can be explained as it is, without taking it apart."""
        if not isinstance(graphs, Batch) or self.split.task != "graph" or COMPUTATION_NAMES & set(graphs.keys()):
            return None
        if not 0 < graphs.num_edges <= inputs.most_edges(self.split.device, False):
            return None
        return BatchInstances(graphs if self.device is None else copy(graphs).to(self.device))

    @clear_arguments()
    def explain_iter(
        self,
        graphs: Graphs,
        *,
        index: Index | None = None,
        search: Search = "prefix",
        candidates: inputs.Candidates = None,
        target_class: int | None = None,
        budget: Budget = None,
        refine: int | None = None,
        progress: bool = False,
        confidence: float | None = None,
        disclose: Disclosure = "scores",
    ) -> Iterator[Explanation | Failure]:
        """Stream explanations; memory is bounded by a chunk of instances.

        Args:
            graphs: As for `explain`; also a generator, which is read as far as needed.
            index: As for `explain`.
            search: As for `explain`.
            candidates: As for `explain`.
            target_class: As for `explain`.
            budget: As for `explain`.
            refine: As for `explain`.
            progress: As for `explain`.
            confidence: As for `explain`.
            disclose: As for `explain`.

        Yields:
            An `Explanation`, or a `Failure` for an instance that could not be explained, in the order of the input.
        """
        graphs = source_of(graphs) or graphs
        run = self._run(graphs, search, target_class, budget, confidence, refine, disclose)
        most = inputs.most_edges(self.split.device, isinstance(graphs, GraphSource))
        call = ExplainStream(run, most, inputs.candidate_masks(candidates), progress)
        return call.results(self._instances(graphs, index))

    def chosen(self, target_class: int | None) -> int | None:
        """The class to lead to: the one given, or the only one the explainer was made for.

        Raises:
            RCExplainerError: The model has no such class, or the explainer was made for another one.
        """
        classes, target_class = self.split.num_classes, plain_number(target_class)
        if target_class is not None:
            whole = isinstance(target_class, Integral) and not isinstance(target_class, bool)
            if not whole or not 0 <= target_class < classes:
                named = target_class in self.class_names if isinstance(target_class, str) else False
                hint = f"; {target_class} is class {self.class_names.index(target_class)}" if named else ""
                raise RCExplainerError(
                    f"there is no target_class {short_repr(target_class)}: the model has the classes 0 to "
                    f"{classes - 1}{hint}"
                )
            target_class = int(target_class)
        if None in self.targets:
            return target_class
        if target_class is not None and target_class not in self.targets:
            known = ", ".join(map(str, self.targets))
            raise RCExplainerError(
                f"the explainer was fitted for target_class {known}, not {target_class}: fit one for it"
            )
        return self.targets[0] if target_class is None else target_class

    @property
    def distances(self) -> Distances | None:
        """Measures how far counterfactuals lie beyond their decision regions; None for a method without regions."""
        return None

    def _run(
        self,
        graphs: Graphs,
        search: Search,
        target_class: int | None,
        budget: Budget,
        confidence: float | None,
        refine: int | None,
        disclose: Disclosure,
    ) -> ExplainRun:
        if search not in ("none", *SEARCHES):
            raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")
        if checked_disclosure(disclose) == "prediction":
            refuse_for_predictions(budget, confidence, refine)
            search = "none"
        if search == "none":
            refuse_without_search(budget, confidence, refine)
        late = budget.end if isinstance(budget, Deadline) else None
        return ExplainRun(
            split=self.split if late is None else replace(self.split, until=late),
            scores=self.scores,
            kind=self.kind,
            classes=self.classes,
            class_names=self.class_names,
            hops=self.hops,
            search=search,
            target=self.chosen(target_class),
            budget=checked_budget(budget),
            check=self._check if self.split.task == "graph" or isinstance(graphs, GraphSource) else None,
            confidence=checked_confidence(confidence, self.split.num_classes),
            distances=None if search == "none" else self.distances,
            refine=checked_runs(refine),
            disclose=disclose,
        )

    def _instances(self, graphs: Graphs, index: Index | None) -> Iterator[Instance | Exception]:
        """The instances, on the device of the model; one that cannot be made is an error in its place."""
        given: Iterable[AnyGraph | Exception] = (
            [graphs.on(self.split.device)] if isinstance(graphs, GraphSource) else stream(graphs, self.device)
        )
        return TASKS[self.split.task].instances(given, index, self.hops, self._check)

    @property
    def _check(self) -> Check:
        """Raises if a graph is not sound, or not like those of the fit."""
        return partial(self.split.check, kind=self.kind)
