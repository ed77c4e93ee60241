"""From a batch of instances to results: predict, score, search, verify, then one detached `Explanation` for each."""

import logging
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.counterfactual import FlipQuery, Removal, greedy_search, prefix_search, verify
from rcexplainer.core.near_ties import nothing_removed, settle, settled
from rcexplainer.core.units import Units
from rcexplainer.core.verification import LATER_SAMPLE, SAMPLE, Answers, check_alone, check_company
from rcexplainer.errors import GraphError
from rcexplainer.explanation import Counterfactual, Explanation
from rcexplainer.gnn.instances import ALONE, MAX_EDGES, Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.inputs import Unsound
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.base import WholeGraph
from rcexplainer.tasks.computation_graph import Instance

log = logging.getLogger(__name__)

Search = Literal["none", "prefix", "greedy"]
Scores = Callable[[Instances, Tensor, int | None], Tensor]  # (instances, predicted classes, target) → [units] in [0, 1]
SEARCHES: dict[str, Callable[[FlipQuery, Tensor, Tensor], Removal]] = {
    "prefix": prefix_search,
    "greedy": greedy_search,
}


@dataclass(frozen=True, eq=False)
class ExplainRun:
    """One call of `explain`, as a function from a batch of instances to their explanations."""

    split: SplitModel
    scores: Scores
    classes: frozenset[int] | None  # predicted classes seen in fitting; None: any will do
    class_names: tuple[str, ...]
    hops: int
    search: Search
    target: int | None  # the class to lead to; None: any other
    max_edges: int = MAX_EDGES  # in one run of the model; ALONE: one graph at a time
    whole: WholeGraph | None = None  # answers in the whole graph, for nodes and links
    start: int = 0  # position of the first instance of the chunk in the call

    @torch.no_grad()
    def __call__(self, asked: list[Instance], candidates: list[Tensor] | None) -> list[Explanation]:
        """Explain a batch.

        Raises:
            Unsound: Some instances cannot be explained.
            Interference: The model gives other answers in a batch than alone.
        """
        task = TASKS[self.split.task]
        instances = Instances(self.split, [one.computation for one in asked], self.max_edges)
        alone, one_by_one = task.alone(asked, instances), self.max_edges == ALONE
        output = instances.outputs()
        log_probs = self.split.log_probs(output)
        if errors := refusals(log_probs, self.classes, self.target):
            raise Unsound(errors)
        if self.whole is not None and (errors := task.beyond_field(asked, instances, output, self.whole, self.hops)):
            raise Unsound(errors)
        ptr = instances.units.ptr
        if not one_by_one:
            log_probs = settle(log_probs, *nothing_removed(ptr), ptr, alone)
        labels = log_probs.argmax(1)
        scores = self.scores(instances, labels, self.target)
        answers = Answers(instances.units.ptr, log_probs, target=self.target)
        if self.search != "none":
            query = FlipQuery(instances.units.ptr, instances.log_probs, labels, self.target)
            found = SEARCHES[self.search](query, scores, deletable(candidates, asked, instances.units))
            last_word = alone if one_by_one else settled(instances.log_probs, ptr, alone)
            final = verify(replace(query, log_probs=last_word), found)
            answers = replace(answers, found=found, final=final)
        if not one_by_one and (len(asked) > 1 or self.split.task != "graph" or self.search != "none"):
            check_alone(answers, alone, LATER_SAMPLE if self.start else SAMPLE, seed=self.start)
            check_company(answers, instances.log_probs)
        self._report_disputes(asked, answers.disputed)
        return explanations(asked, instances, answers, scores, self.class_names)

    def _report_disputes(self, asked: list[Instance], disputed: Tensor) -> None:
        places = disputed.nonzero().flatten().tolist()
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


def refusals(log_probs: Tensor, classes: frozenset[int] | None, target: int | None) -> dict[int, Exception]:
    """The instances, by position, for which there is no explanation, and why.

    Args:
        log_probs: What the model says of the instances, [n, C].
        classes: The predicted classes seen in fitting; None if any will do.
        target: The class to lead to, if one was chosen.
    """
    broken = log_probs.isnan().any(1).tolist()
    errors: dict[int, Exception] = {}
    for place, label in enumerate(log_probs.argmax(1).tolist()):
        if broken[place]:
            errors[place] = GraphError("the model returns NaN for this graph")
        elif classes is not None and label not in classes:
            errors[place] = GraphError(f"class {label} is predicted, which was never predicted in fitting")
        elif label == target:
            errors[place] = GraphError(f"class {target} is predicted already: choose another target_class")
    return errors


def explanations(
    asked: Sequence[Instance], instances: Instances, answers: Answers, scores: Tensor, class_names: tuple[str, ...]
) -> list[Explanation]:
    """Results for a batch.

    Args:
        asked: The instances as they were given.
        instances: The same as tensors, with their units.
        answers: What the model said of them, before and after the search.
        scores: One score per unit.
        class_names: Names of the classes, or none.
    """
    sizes = [one.computation.num_edges for one in asked]
    # Copies, not views: an explanation that is kept must not keep the tensors of the whole batch.
    scores_of = [part.clone() for part in instances.units.to_edges(scores, 0.0).cpu().split(sizes)]
    probabilities = answers.before.exp().cpu()
    predictions = probabilities.argmax(1).tolist()
    cases = _counterfactuals(asked, instances, answers, predictions, sizes)
    on_cpu = _OnCpu()
    return [
        Explanation(
            on_cpu(one.graph),
            scores_of[i],
            predictions[i],
            probabilities[i],
            class_names,
            cases[i],
            one.index,
            None if one.edge_ids is None else on_cpu(one.computation).clone(),
            None if one.edge_ids is None else one.edge_ids.clone(),
        )
        for i, one in enumerate(asked)
    ]


def _counterfactuals(
    asked: Sequence[Instance], instances: Instances, answers: Answers, predictions: list[int], sizes: list[int]
) -> Sequence[Counterfactual | None]:
    if answers.found is None or answers.final is None:
        return [None] * len(asked)
    columns = instances.units.to_edges(answers.found.removed, False).cpu().split(sizes)
    removed = [mask.nonzero().flatten() for mask in columns]
    after = answers.final.log_probs.exp().cpu()
    minimal, disputed = (torch.stack([answers.final.minimal, answers.disputed])).tolist()
    on_cpu = _OnCpu()
    return [
        Counterfactual(
            on_cpu(one.graph),
            removed[i] if one.edge_ids is None else one.edge_ids[removed[i]],
            predictions[i],
            after[i],
            minimal[i],
            answers.target,
            disputed[i],
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
