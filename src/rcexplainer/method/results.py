"""From a batch of instances to results: check, predict, score, refine, search, verify."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import torch
from torch import Tensor

from rcexplainer.core.budget import Deadline, Meter, Seconds
from rcexplainer.core.counterfactual import FlipQuery, Removal, by_rankings, greedy_search, prefix_search, verify
from rcexplainer.core.near_ties import nothing_removed, settle, settled
from rcexplainer.core.refinement import refined
from rcexplainer.core.region_distance import Distances
from rcexplainer.core.search import Evaluate
from rcexplainer.core.units import Units
from rcexplainer.core.verification import (
    LATER_SAMPLE,
    SAMPLE,
    SCORES_SAMPLE,
    Answers,
    Interference,
    check_alone,
    check_company,
    check_minimal,
)
from rcexplainer.disclosure import Disclosure
from rcexplainer.errors import GraphError, TargetError, TimeUpError
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.graph_store import GraphStore
from rcexplainer.gnn.instances import ALONE, Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.store_checks import all_sound
from rcexplainer.method.explanations import BatchInstances, CounterfactualColumns, ExplanationColumns
from rcexplainer.method.inputs import Unsound
from rcexplainer.method.unit_readings import UnitReadings, as_readings
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.base import Check, WholeGraph
from rcexplainer.tasks.computation_graph import Instance

log = logging.getLogger(__name__)

Search = Literal["none", "prefix", "greedy"]
# (instances, predicted classes, target) → [units] in [0, 1]
Scores = Callable[[Instances, Tensor, int | None], Tensor | UnitReadings]
REFINEMENT_SHARE = 0.5  # of the time, where it is bounded: the rest is for the search
SEARCHES: dict[str, Callable[[FlipQuery, Tensor, Tensor], Removal]] = {
    "prefix": prefix_search,
    "greedy": greedy_search,
}


@dataclass(frozen=True, eq=False)
class ExplainRun:
    """One call of `explain`, as a function from a batch of instances to their results."""

    split: SplitModel
    scores: Scores
    kind: GraphKind
    classes: frozenset[int] | None  # predicted classes seen in fitting; None: any will do
    class_names: tuple[str, ...]
    hops: int
    search: Search
    target: int | None  # the class to lead to; None: any other
    budget: float | Seconds | Deadline
    check: Check | None  # names what is wrong with the graph of an instance; None: the whole graph was checked before
    max_edges: int | None = None  # in one run of the model; ALONE: one graph at a time
    whole: WholeGraph | None = None  # answers in the whole graph, for nodes and links
    start: int = 0  # position of the first instance of the chunk in the call
    confidence: float | None = None  # the probability of the other class that makes a flip; None: the largest
    distances: Distances | None = None  # measures how far counterfactuals lie beyond their regions, if there are any
    refine: int | None = None  # model runs that the ranking of an instance may cost
    disclose: Disclosure = "scores"  # what results tell; the rest is not in them

    @torch.no_grad()
    def __call__(self, asked: Sequence[Instance], candidates: list[Tensor] | None) -> ExplanationColumns:
        """Explain a batch.

        Raises:
            Unsound: Some instances cannot be explained.
            Interference: The model gives other answers in a batch than alone.
        """
        task = TASKS[self.split.task]
        instances = self._instances(asked)
        alone, one_by_one = task.alone(asked, instances, self.hops), self.max_edges == ALONE
        output = instances.outputs()
        log_probs = self.split.log_probs(output)
        if errors := refusals(log_probs, self.classes, self.target, self.class_names):
            raise Unsound(errors)
        whole = None if self.whole is None else self.whole(asked)
        if whole is not None and (errors := task.beyond_field(asked, instances, output, whole, self.hops)):
            raise Unsound(errors)
        ptr = instances.units.ptr
        if len(asked) > 1 or self.whole is not None:
            log_probs = settle(log_probs, *nothing_removed(ptr), ptr, alone)
        labels = log_probs.argmax(1)
        readings = self._readings(instances, labels)
        if errors := unscored(readings, instances.units.owner):
            raise Unsound(errors)
        runs_spent: Tensor | None = None
        meter = Meter(len(asked), self.budget, labels.device)
        if self.refine is not None:
            query = FlipQuery(ptr, instances.log_probs, labels, self.target, before=log_probs, meter=meter)
            with meter.share(1.0 if self.search == "none" else REFINEMENT_SHARE):
                allowed, plan = deletable(candidates, asked, instances.units), readings.plan
                propose = None if plan is None else plan.copies
                better = refined(query, readings.scores, allowed, self.refine, propose)
            readings, runs_spent = replace(readings, scores=better.scores, path=better.path), better.runs
        answers = Answers(ptr, log_probs, target=self.target, confidence=self.confidence)
        single = one_by_one or len(asked) == 1  # the last word is then a run of one graph where it really is
        if self.search != "none":
            sure = self.confidence
            runs = instances.log_probs if one_by_one else settled(instances.log_probs, ptr, alone, sure)
            query = FlipQuery(ptr, runs, labels, self.target, before=log_probs, meter=meter, confidence=sure)
            allowed = deletable(candidates, asked, instances.units)
            found = by_rankings(SEARCHES[self.search], query, readings.rankings, allowed)
            if one_by_one:  # what the search saw of computation graphs counts for nothing
                query, found = replace(query, log_probs=alone), replace(found, minimal=None)
            final = verify(query, found, alone if single else None)
            distance = self._distance(instances, labels, found.removed)
            answers = replace(answers, found=found, final=final, exhausted=meter.exhausted, distance=distance)
        size = SCORES_SAMPLE if self.search == "none" else LATER_SAMPLE if self.start else SAMPLE
        if single and not one_by_one and bool(answers.disputed.any()):
            raise Interference(1, 1, nan)
        if not single:
            check_alone(answers, alone, size, seed=self.start)
            check_company(answers, instances.log_probs)
        if not one_by_one:  # of a single instance every claim then comes from a run alone
            answers = self._minimal(answers, alone, size)
        self._report_disputes(asked, answers.disputed)
        results = columns(asked, instances, answers, readings, self.class_names)
        results = replace(results, checked=None if whole is None else whole.check)
        if self.disclose != "scores":
            results = replace(
                results, scores=results.scores.new_zeros(0), relevance=None, order=None, disclosed=self.disclose
            )
        return results if runs_spent is None else replace(results, refined=runs_spent.tolist())

    def _readings(self, instances: Instances, labels: Tensor) -> UnitReadings:
        """The scores of the method, which predictions alone do not need."""
        if self.disclose == "prediction":
            return UnitReadings(instances.units.owner.new_zeros(len(instances.units), dtype=torch.float))
        return as_readings(self.scores(instances, labels, self.target))

    def _minimal(self, answers: Answers, alone: Evaluate, size: int) -> Answers:
        """The answers after a sample of those called minimal was looked at alone; without that, none is called so."""
        try:
            check_minimal(answers, alone, size, seed=self.start)
        except TimeUpError:
            assert answers.final is not None  # without a result nothing was looked at
            assert answers.exhausted is not None
            minimal = answers.final.minimal
            final = replace(answers.final, minimal=torch.zeros_like(minimal))
            return replace(answers, final=final, exhausted=answers.exhausted | minimal)
        return answers

    def _distance(self, instances: Instances, labels: Tensor, removed: Tensor) -> Tensor | None:
        """How far the instances without these units lie beyond their regions; one more run of each."""
        if self.distances is None:
            return None
        before = torch.cat([one.done.embedding for one in instances.observed()])
        after = instances.without(instances.everything, removed, lambda done: done.embedding)
        return self.distances(before, labels, after)

    def _instances(self, asked: Sequence[Instance]) -> Instances:
        """The instances as tensors, checked all at once; only if something is wrong, one by one."""
        graphs = asked.batch if isinstance(asked, BatchInstances) else [one.computation for one in asked]
        if self.check is None:
            return Instances(self.split, graphs, self.max_edges)
        try:
            store = GraphStore(graphs, self.split.device)
            sound = all_sound(store, self.kind, self.split.device)
        except Exception:
            sound = False
            if not (errors := self._errors(asked)):
                raise
        else:
            errors = {} if sound else self._errors(asked)
        if errors:
            raise Unsound(errors)
        return Instances(self.split, graphs, self.max_edges, store)

    def _errors(self, asked: Sequence[Instance]) -> dict[int, Exception]:
        """What is wrong with single graphs, by position."""
        errors: dict[int, Exception] = {}
        for place, one in enumerate(asked):
            try:
                assert self.check is not None
                noun = f"graph {self.start + place}" if one.index is None else f"{self.split.task} {one.index}"
                self.check(one.computation, noun)
            except Exception as error:  # noqa: BLE001  whatever it is, it is kept in the slot
                errors[place] = error
        return errors

    def _report_disputes(self, asked: Sequence[Instance], disputed: Tensor) -> None:
        places = disputed.nonzero().flatten().tolist() if self.search != "none" else []
        if places:
            names = (asked[place].index for place in places)
            log.warning(
                "%s answers differently in the final run than in the search for %s: no flip is claimed there",
                type(self.split.model).__name__,
                ", ".join(
                    str(self.start + place if name is None else name) for place, name in zip(places, names, strict=True)
                ),
            )


def deletable(masks: list[Tensor] | None, asked: Sequence[Instance], units: Units) -> Tensor:
    """[units] which units may be deleted."""
    found = torch.ones(len(units), dtype=torch.bool, device=units.owner.device)
    if masks is not None:
        inside = [mask if one.edge_ids is None else mask[one.edge_ids] for one, mask in zip(asked, masks, strict=True)]
        mask = torch.cat(inside).to(found.device)
        found[units.of_edge[~mask & (units.of_edge >= 0)]] = False
    return found


def refusals(
    log_probs: Tensor, classes: frozenset[int] | None, target: int | None, names: Sequence[str] = ()
) -> dict[int, Exception]:
    """The instances, by position, for which there is no explanation, and why.

    Args:
        log_probs: What the model says of the instances, [n, C].
        classes: The predicted classes seen in fitting; None if any will do.
        target: The class to lead to, if one was chosen.
        names: Names of the classes, or none.
    """
    broken = log_probs.isnan().any(1).tolist()
    errors: dict[int, Exception] = {}
    for place, label in enumerate(log_probs.argmax(1).tolist()):
        if broken[place]:
            errors[place] = GraphError("the model returns NaN for this graph")
        elif classes is not None and label not in classes:
            errors[place] = GraphError(f"class {label} is predicted, which was never predicted in fitting")
        elif label == target:
            named = names[label] if names else f"class {label}"
            errors[place] = TargetError(f"{named} is predicted already: choose another class to lead to")
    return errors


def unscored(readings: UnitReadings, owner: Tensor) -> dict[int, Exception]:
    """The instances, by position, whose scores are no numbers, and why.

    Args:
        readings: One score per unit, and its relevance if the method has that reading.
        owner: [units] the instance of each.
    """
    broken = ~readings.scores.isfinite()
    if readings.relevance is not None:
        broken |= ~readings.relevance.isfinite()
    return {
        place: GraphError(
            "its scores are NaN: the model's numbers for it are too large; scale its features as in fitting"
        )
        for place in owner[broken].unique().tolist()
    }


def columns(
    asked: Sequence[Instance],
    instances: Instances,
    answers: Answers,
    readings: UnitReadings,
    class_names: tuple[str, ...],
) -> ExplanationColumns:
    """Results for a batch, moved to the CPU once.

    Args:
        asked: The instances as they were given.
        instances: The same as tensors, with their units.
        answers: What the model said of them, before and after the search.
        readings: One score per unit, and its relevance if the method has that reading.
        class_names: Names of the classes, or none.
    """
    units, probabilities = instances.units, answers.before.exp().cpu()
    return ExplanationColumns(
        asked,
        instances.store.edge_ptr.tolist(),
        units.to_edges(readings.scores, 0.0).cpu(),
        probabilities,
        probabilities.argmax(1).tolist(),
        class_names,
        None if answers.found is None else _found(instances, answers, answers.found),
        None if readings.relevance is None else units.to_edges(readings.relevance, 0.0).cpu(),
        None if readings.order is None else units.to_edges(readings.order.int(), -1).cpu(),
    )


def _found(instances: Instances, answers: Answers, found: Removal) -> CounterfactualColumns:
    assert answers.final is not None
    assert answers.exhausted is not None
    minimal, disputed, exhausted = torch.stack([answers.final.minimal, answers.disputed, answers.exhausted]).tolist()
    return CounterfactualColumns(
        removed=instances.units.to_edges(found.removed, False).cpu(),
        probabilities=answers.final.log_probs.exp().cpu(),
        minimal=minimal,
        disputed=disputed,
        exhausted=exhausted,
        target=answers.target,
        confidence=answers.confidence,
        distance=None if answers.distance is None else answers.distance.tolist(),
    )
