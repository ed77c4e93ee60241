"""From scores to explanations, the same for every method: check, batch, score, search, pack.

A method is a function from instances to one score per unit. Everything else an explainer does is here.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, get_args, overload

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.counterfactual import FlipQuery, Removal, greedy_search, prefix_search, verify
from rcexplainer.core.verification import FIRST_SAMPLE, LATER_SAMPLE, Answers, Interference, check_alone
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.graph_checks import Graphs, Kind, check_graph
from rcexplainer.gnn.instances import ALONE, Instances
from rcexplainer.gnn.split import SplitModel, check_devices
from rcexplainer.gnn.trial import SAME
from rcexplainer.method.candidates import Candidates, Given, allowed, as_masks, check_count, check_mask, masks_of
from rcexplainer.method.inputs import chunks, each
from rcexplainer.method.results import pack
from rcexplainer.tasks.computation_graph import Asked, Index, Pair
from rcexplainer.tasks.receptive_field import apart
from rcexplainer.tasks.registry import SUBJECTS

log = logging.getLogger(__name__)

Search = Literal["none", "prefix", "greedy"]
OnError = Literal["raise", "keep"]
Overall = Callable[[list[Asked]], Tensor]  # what the model says of instances in their whole graph
SEARCHES: dict[str, Callable[[FlipQuery, Tensor, Tensor], Removal]] = {"prefix": prefix_search, "greedy": greedy_search}


@dataclass(frozen=True, eq=False, repr=False)
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
    ) -> Explanation: ...
    @overload
    def explain(
        self,
        graphs: Data,
        *,
        index: Sequence[int] | Sequence[Pair] | Tensor,
        search: Search = ...,
        candidates: Candidates = ...,
        target_class: int | None = ...,
        on_error: OnError = ...,
    ) -> list[Explanation | Failure]: ...
    @overload
    def explain(
        self,
        graphs: Iterable[Data],
        *,
        search: Search = ...,
        candidates: Candidates = ...,
        target_class: int | None = ...,
        on_error: OnError = ...,
    ) -> list[Explanation | Failure]: ...

    def explain(
        self,
        graphs: Graphs,
        *,
        index: Index | None = None,
        search: Search = "prefix",
        candidates: Candidates = None,
        target_class: int | None = None,
        on_error: OnError = "raise",
    ) -> Explanation | list[Explanation | Failure]:
        """One `Data` gives one `Explanation`, anything else a list, in order. Of nodes and links, `index` says which
        in one graph: a node or a pair of nodes gives one `Explanation`, several of them a list.

        `search`: "prefix", "greedy" or "none". `candidates`: a boolean mask of the edges that may be deleted (for a
        list, one mask a graph). `target_class`: what makes this the predicted class and not that one? A counterfactual
        then has to be predicted so; scores lead there too where the explainer was fitted for it, or for "each" class.
        With `on_error="raise"` all other instances are explained first and the error carries the results; "keep" puts
        a `Failure` in the slot.
        """
        if on_error not in get_args(OnError):
            raise RCExplainerError(f"on_error must be one of {', '.join(get_args(OnError))}, got {on_error!r}")
        single = SUBJECTS[self.split.task].single(graphs, index)
        _check_search(search)
        asked, masks, target = list(self._asked(graphs, index)), as_masks(candidates), self.chosen(target_class)
        try:
            results = list(self._explain_all(iter(asked), search, masks, target))
        except Interference as found:
            self._say(found, "this call is")
            results = list(self._explain_all(iter(asked), search, masks, target, one_by_one=True))
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
        target_class: int | None = None,
    ) -> Iterator[Explanation | Failure]:
        """Stream the explanations; memory is bounded by a chunk of instances."""
        _check_search(search)
        return self._explain_all(
            self._asked(graphs, index), search, as_masks(candidates), self.chosen(target_class), streaming=True
        )

    def _explain_all(
        self,
        asked: Iterator[Asked | Exception],
        search: Search,
        masks: Given,
        target: int | None,
        one_by_one: bool = False,
        streaming: bool = False,
    ) -> Iterator[Explanation | Failure]:
        """Chunk after chunk. Where the model turns out to mix the graphs of a batch a stream goes on one by one, from
        the chunk in which that was found; anything else is raised."""
        start = 0
        overall: Overall | None = None
        for chunk in chunks(asked):
            own = masks_of(masks, start, len(chunk))
            first = next((one for one in chunk if isinstance(one, Asked)), None)
            if overall is None and first is not None:
                overall = SUBJECTS[self.split.task].overall(self.split, first.graph)
            try:
                found = self._explain_chunk(start, chunk, search, own, target, overall, one_by_one)
            except Interference as mixed:
                if not streaming:
                    raise
                self._say(mixed, f"instances from {start} on are")
                one_by_one = True
                found = self._explain_chunk(start, chunk, search, own, target, overall, one_by_one)
            yield from found
            start += len(chunk)
        if not start:
            raise GraphError("there is nothing to explain: at least one graph is needed")
        check_count(masks, start)

    def chosen(self, target_class: int | None) -> int | None:
        """The other class that is asked about, if it is one of the model's."""
        classes = self.split.num_classes
        if target_class is None:
            return None
        whole = isinstance(target_class, Integral) and not isinstance(target_class, bool)
        if not whole or not 0 <= target_class < classes:
            raise RCExplainerError(
                f"there is no target_class {target_class!r}: the model has the classes 0 to {classes - 1}"
            )
        return int(target_class)

    def scored(self, instances: Instances, labels: Tensor, target: int | None) -> Tensor:
        """The scores, where it makes a difference towards the target class."""
        return self.scores(instances, labels)

    def _asked(self, graphs: Graphs, index: Index | None) -> Iterator[Asked | Exception]:
        """What is asked about, one after the other, where the model is; what cannot be asked about is an error."""
        there = map(self._there, each(graphs))
        return SUBJECTS[self.split.task].asked(there, index, self.hops, self._check)

    def _there(self, graph: Any) -> Any:
        """A copy on the explainer's device, if it has one of its own."""
        return graph if self.device is None or isinstance(graph, Exception) else copy(graph).to(self.device)

    def _explain_chunk(
        self,
        start: int,
        asked: list[Asked | Exception],
        search: Search,
        candidates: list[Tensor] | None,
        target: int | None,
        overall: Overall | None,
        one_by_one: bool,
    ) -> list[Explanation | Failure]:
        """All sound instances together; each of the others is a failure in its own slot."""
        slots: dict[int, Explanation | Failure] = {}
        sound: list[int] = []
        for place, one in enumerate(asked):
            try:
                if isinstance(one, Exception):
                    raise one
                if one.index is None:  # else the whole graph was checked
                    self._check(one.graph, f"graph {start + place}")
                if candidates is not None:
                    where = "graph" if one.index is None else self.split.task
                    named = start + place if one.index is None else one.index
                    check_mask(candidates[place], one.graph, f"{where} {named}")
                sound.append(place)
            except Exception as error:  # noqa: BLE001  whatever it is, it is kept in the slot
                slots[place] = Failure(start + place, error)
        pending = [sound] if sound else []
        while pending:
            places = pending.pop()
            masks = None if candidates is None else [candidates[place] for place in places]
            try:
                some: list[Asked] = [asked[place] for place in places]  # type: ignore[misc]
                found = self._explain_sound(some, search, masks, target, overall, one_by_one, start)
                slots |= dict(zip(places, found, strict=True))
            except _Unsound as unsound:
                slots |= {places[i]: Failure(start + places[i], error) for i, error in unsound.errors.items()}
                rest = [place for i, place in enumerate(places) if i not in unsound.errors]
                pending += [rest] if rest else []
            except Interference:
                raise
            except Exception as error:  # noqa: BLE001  a model may raise anything: halves, until it is found who makes it
                if len(places) == 1:
                    slots[places[0]] = Failure(start + places[0], error)
                else:
                    middle = len(places) // 2
                    pending += [places[:middle], places[middle:]]
        return [slots[place] for place in range(len(asked))]

    def _check(self, graph: Data, where: str) -> None:
        check_devices(self.split.model, [graph], where)
        check_graph(graph, where)
        self.kind.check(graph, where, "the explainer was fitted on")

    @torch.no_grad()
    def _explain_sound(
        self,
        asked: list[Asked],
        search: Search,
        candidates: list[Tensor] | None,
        target: int | None,
        overall: Overall | None,
        one_by_one: bool,
        start: int,
    ) -> list[Explanation]:
        graphs = [one.instance for one in asked]
        instances = Instances(self.split, graphs, ALONE) if one_by_one else Instances(self.split, graphs)
        units = instances.units
        alone = SUBJECTS[self.split.task].alone(asked, instances)
        output = instances.passes(lambda done: done.output)
        log_probs = self.split.log_probs(output)
        labels = log_probs.argmax(1)
        if errors := self._unsound(log_probs, labels, target):
            raise _Unsound(errors)
        if overall is not None and (errors := self._elsewhere(asked, instances, output, overall)):
            raise _Unsound(errors)
        scores = self.scored(instances, labels, target)
        answers, disputed = Answers(units.ptr, log_probs), None
        if search != "none":
            question = FlipQuery(units.ptr, instances.log_probs, labels, target)
            found = SEARCHES[search](question, scores, allowed(candidates, asked, units))
            final = verify(replace(question, log_probs=alone) if one_by_one else question, found)
            answers = Answers(units.ptr, log_probs, found.removed, final)
            disputed = found.flipped != final.flipped
        batched = len(asked) > 1 or self.split.task != "graph" or search != "none"
        if batched and not one_by_one:
            check_alone(answers, alone, FIRST_SAMPLE if not start else LATER_SAMPLE, seed=start)
        self._say_disputed(asked, disputed, start)
        return pack(asked, instances, answers, scores, disputed, target, self.class_names)

    def _say(self, found: Interference, what: str) -> None:
        log.warning("%s mixes the graphs of a batch (%s): %s run one by one", self.model_name, found, what)

    def _say_disputed(self, asked: list[Asked], disputed: Tensor | None, start: int) -> None:
        places = [] if disputed is None else disputed.nonzero().flatten().tolist()
        if places:
            names = ", ".join(
                str(start + place if asked[place].index is None else asked[place].index) for place in places
            )
            log.warning(
                "%s says something else in the final run than in the search of %s: no flip is claimed there",
                self.model_name,
                names,
            )

    @property
    def model_name(self) -> str:
        return type(self.split.model).__name__

    def _unsound(self, log_probs: Tensor, labels: Tensor, target: int | None) -> dict[int, Exception]:
        """The instances for which there is no explanation, and why."""
        numbers = log_probs.isnan().any(1).tolist()
        errors: dict[int, Exception] = {}
        for place, (label, broken) in enumerate(zip(labels.tolist(), numbers, strict=True)):
            if broken:
                errors[place] = GraphError("the model returns NaN for this graph")
            elif self.classes is not None and label not in self.classes:
                errors[place] = GraphError(f"class {label} is predicted, which was never predicted in fitting")
            elif label == target:
                errors[place] = GraphError(f"class {target} is what is predicted already: choose another target_class")
        return errors

    def _elsewhere(
        self, asked: list[Asked], instances: Instances, output: Tensor, overall: Overall
    ) -> dict[int, Exception]:
        """The instances that are not what they are in the whole graph: whatever is found of them may be false."""
        off = apart(output, overall(asked))
        places = (off > SAME).nonzero().flatten()
        if len(places) and instances.max_edges != ALONE:
            alone = instances.some(places).alone().passes(lambda done: done.output)
            mixed = apart(alone, overall([asked[place] for place in places.tolist()])) <= SAME
            if bool(mixed.any()):
                raise Interference(int(mixed.sum()), len(asked), float(off.max()))
        return {
            place: GraphError(
                f"{self.split.task} {asked[place].index}: in its {self.hops}-hop computation graph the model says "
                f"something else than in the whole graph (off by {off[place]:.2g}): it looks farther than it was "
                f"measured to where it was fitted; fit on this graph, or with hops={self.hops + 1} or more"
            )
            for place in places.tolist()
        }


def _check_search(search: str) -> None:
    if search not in ("none", *SEARCHES):
        raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")


class _Unsound(Exception):  # noqa: N818  never leaves this file
    """Some of the instances cannot be explained, by their places."""

    def __init__(self, errors: dict[int, Exception]) -> None:
        self.errors = errors
