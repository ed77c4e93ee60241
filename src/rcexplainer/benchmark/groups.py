"""One method on groups of instances: they are explained once, and each group is measured.

    groups(case, method, explanations)          which instances belong together: a class, unseen motifs, …
    measures[name](one method on one group)     → the field `name` of GroupResult

An instance that a method cannot explain is left out for that method and counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost import Timed, clock_fitted
from rcexplainer.benchmark.measurement import Measured
from rcexplainer.benchmark.measures import NAN, EdgeSet, VerifiedCounterfactuals, motif_flips
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.records import LATER
from rcexplainer.benchmark.recovery import Recovered
from rcexplainer.benchmark.reliance import Reliance
from rcexplainer.benchmark.results import OURS
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics import Fidelity, MotifDirection, MotifRecovery, RegionAgreement


class Group(NamedTuple):
    """Instances that are measured together, and the class they are of, if they are of one."""

    name: str
    label: str
    places: list[int]


@dataclass(frozen=True)
class GroupResult:
    """One method on one group of instances. What a plan does not measure is None or nan."""

    group: str
    label: str
    places: tuple[int, ...]  # the instances of the group that were explained
    fidelity: Fidelity | None = None
    auc: float = NAN  # of the scores against the edges of the own motif, pooled
    accuracy: float = NAN  # nodes of the own motif among those of the top edges
    auc_every: float = NAN  # the same for every motif of the computation graph
    accuracy_every: float = NAN
    robustness: float = NAN  # AUC at 10 % noise, the paper's protocol, k = 8
    strict_robustness: float = NAN  # the same under strict noise
    counterfactuals: VerifiedCounterfactuals | None = None
    edges: EdgeSet | None = None  # RCExplainer only, whose scores are calibrated
    recovery: MotifRecovery | None = field(default=None, metadata=LATER)  # of the own motif, by the scores
    relevance: MotifRecovery | None = field(default=None, metadata=LATER)  # the same by the relevance, if it has it
    edgeless: float = field(default=NAN, metadata=LATER)  # share that keeps its prediction without any edge
    region_agreement: RegionAgreement | None = field(default=None, metadata=LATER)  # RCExplainer only, it has regions


@dataclass(frozen=True)
class MethodResult:
    """One method on one network: measured by group, or, where many methods are compared, on one sample."""

    method: str
    seed: int
    time: Timed
    failed: int = 0  # instances that it could not explain
    groups: tuple[GroupResult, ...] = ()
    held_out: Measured | None = None
    recovered: Recovered | None = field(default=None, metadata=LATER)  # of nodes and links with known motifs


@dataclass(frozen=True)
class MotifUse:
    """Whether a network uses the motif, on one group of instances."""

    group: str
    label: str
    instances: int
    flips: float  # share that flips when the motif is deleted; nan where motifs are not known
    reliance: Reliance | None = None
    direction: MotifDirection | None = field(default=None, metadata=LATER)  # do its edges support the prediction?


@dataclass(frozen=True)
class NetworkResult:
    """One trained network."""

    seed: int
    accuracy: float  # on test instances
    motif_use: tuple[MotifUse, ...] = ()


@dataclass(frozen=True, eq=False)
class GroupExplanations:
    """One method's explanations of one group, and what measuring them needs."""

    case: Case
    method: str
    fitted: FittedExplainer
    group: str
    ones: list[Explanation]


Measure = Callable[[GroupExplanations], Any]
Grouping = Callable[[Case, str, Mapping[int, Explanation]], list[Group]]


@dataclass(frozen=True)
class GroupMeasurement:
    """How one method is measured on one network.

    Attributes:
        groups: (case, method, explanations by place) → the groups.
        measures: A function for each measured field of `GroupResult`.
        search: How counterfactuals are searched for, by method.
        places: (case, method) → the instances it explains.
        timed: Instances on which its times are taken.
    """

    groups: Grouping
    measures: Mapping[str, Measure]
    search: Callable[[str], Search]
    places: Callable[[Case, str], list[int]]
    timed: int

    def __call__(self, case: Case, name: str, fitted: FittedExplainer, seconds: float) -> MethodResult:
        """Explain and measure.

        Args:
            case: The network and the instances.
            name: The name of the method.
            fitted: The method.
            seconds: What fitting took.

        Raises:
            RCExplainerError: None of the instances could be explained.
        """
        places = self.places(case, name)
        shown = case.explained(fitted, places, self.search(name))
        if not shown:
            raise RCExplainerError(f"{name} could explain none of {len(places)} instances of {case.data.name}")
        results: list[GroupResult] = []
        for group in self.groups(case, name, shown):
            own = GroupExplanations(case, name, fitted, group.name, [shown[place] for place in group.places])
            values = {field: measure(own) for field, measure in self.measures.items()}
            results.append(GroupResult(group.name, group.label, tuple(group.places), **values))
        time = clock_fitted(case, name, fitted, seconds, self.timed)
        return MethodResult(name, case.seed, time, len(places) - len(shown), tuple(results))


def usual_search(method: str) -> Search:
    """RCExplainer searches on where no prefix of its ranking flips; the others are their rankings."""
    return "greedy" if method == OURS else "prefix"


def explained_at_random(case: Case, places: list[int]) -> dict[int, Explanation]:
    """Explanations with random scores, by place: for what depends on the instances and their predictions alone."""
    return case.explained(METHODS["random"].fit(case, False), places, "none")


def motif_use(
    case: Case,
    group: Group,
    ones: list[Explanation],
    relied: Reliance | None,
    direction: MotifDirection | None = None,
) -> MotifUse:
    """Whether the network uses the motif of these instances."""
    return MotifUse(group.name, group.label, len(ones), motif_flips(case.split, ones), relied, direction)
