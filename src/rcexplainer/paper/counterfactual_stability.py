"""Counterfactuals that hold: how many are found, how large they are, and how many survive noise.

Every predicted class of a graph set on its own, held-out test graphs, with and without a confidence. All methods have
the same search, the prefixes of their ranking; RCExplainer's own search, which goes on greedily, stands beside it.

    flipped, size   share of the graphs with a verified counterfactual; the median number of edges it deletes
    reached         median probability of the other class after it
    distance        median distance beyond the region of the graph, of explainers that have regions
    stability       share still flipped in noisy copies, beside the share of the originals that keep their class
                    (`metrics.flip_stability`)
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, get_args

from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.results import OURS
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Scores, Search
from rcexplainer.method.unit_readings import UnitReadings
from rcexplainer.metrics import counterfactuals, flip_stability
from rcexplainer.metrics.flip_stability import FlipNoise
from rcexplainer.metrics.flips import flipping
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.result_groups import NAN

STABILITY_DEPTH = 0.5  # greedy deletion orders as many edges as a counterfactual may delete
NO_CONFIDENCE = "none"


@dataclass(frozen=True)
class HeldFlips:
    """The counterfactuals of some graphs by one search at one confidence; nan where none flips."""

    flipped: float
    size: float
    minimal: float
    reached: float
    distance: float
    places: tuple[int, ...]  # the test graphs that flip
    stability: Mapping[str, Mapping[str, tuple[float, ...]]]  # noise → flipped and original → share at each level

    @classmethod
    def of(cls, case: Case, found: Mapping[int, Explanation], noise: Sequence[float], copies: int) -> "HeldFlips":
        """Measure the explanations of graphs, by place."""
        ones = list(found.values())
        cases = [one.counterfactual for one in flipping(ones) if one.counterfactual is not None]
        far = [one.distance for one in cases if one.distance is not None]
        counted = counterfactuals(ones)
        return cls(
            counted.flipped,
            counted.size,
            counted.minimal,
            median(one.reached for one in cases) if cases else NAN,
            median(far) if far else NAN,
            tuple(place for place, one in found.items() if flipping([one])),
            {kind: _shares(case, ones, kind, noise, copies) for kind in get_args(FlipNoise)},
        )


class KeptScores:
    """Scores that are computed once for the same graphs: some methods take minutes, and searches need them twice.

    Args:
        scores: The scores of a fitted method.
    """

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        # With their graphs: an id is that of one graph only as long as the graph is there.
        self._kept: dict[tuple[int, ...], tuple[Sequence[Data] | Batch, Tensor | UnitReadings]] = {}

    def __call__(self, instances: Instances, labels: Tensor, target: int | None) -> Tensor | UnitReadings:
        graphs = tuple(map(id, instances.graphs))
        if graphs not in self._kept:
            self._kept[graphs] = instances.graphs, self.scores(instances, labels, target)
        return self._kept[graphs][1]


def confidence_key(confidence: float | None) -> str:
    """A confidence as a name in results: "none", "0.8"."""
    return NO_CONFIDENCE if confidence is None else f"{confidence:g}"


def held_flips(
    case: Case, method: str, *, most: int | None, confidence: float, noise: Sequence[float], copies: int
) -> JobResult:
    """Fit a method and measure its counterfactuals, class by class.

    Args:
        case: A network, with the layout `every class`.
        method: A key of `METHODS`.
        most: Graphs of each predicted class, drawn with the seed; a smaller sample is part of a larger one. None: all.
        confidence: The confidence to measure, beside none.
        noise: Noise levels.
        copies: Noisy copies of each graph at each level.

    Returns:
        `classes`: predicted class → `instances`, `failed`, `held_out`, and `searches`: search → confidence → fields of
        `HeldFlips`; `skipped` says why a method cannot explain this network.

    Raises:
        MissingExtraError: The method needs a package that is not installed.
    """
    try:
        fitted = METHODS[method].fit(case, False)
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        return {"method": method, "seed": case.seed, "skipped": str(error), "classes": {}}
    if not isinstance(fitted, FittedRCExplainer):  # whose scores are a forward pass, and know its settings
        fitted = replace(fitted, scores=KeptScores(fitted.scores))
    order = case.first(None)
    label = predictions(case.split, [graph.cpu() for graph in case.graphs(order)]).tolist()
    searches: tuple[Search, ...] = ("prefix", "greedy") if method == OURS else ("prefix",)
    classes: dict[str, Any] = {}
    for number, name in enumerate(case.data.class_names):
        own = [place for place, found in zip(order, label, strict=True) if found == number]
        if not own:
            continue
        places, searched = sorted(own[:most]), dict[str, dict[str, Any]]()
        for search in searches:
            for sure in (None, confidence):
                ones = _explained(case, fitted, places, search, sure)
                measured = asdict(HeldFlips.of(case, ones, noise, copies)) if ones else {}
                searched.setdefault(search, {})[confidence_key(sure)] = measured
        counts = {"instances": len(ones), "failed": len(places) - len(ones), "held_out": len(own)}
        classes[name] = counts | {"searches": searched}
    return {"method": method, "seed": case.seed, "skipped": "", "classes": classes, "gnn_accuracy": case.accuracy}


def _explained(
    case: Case, fitted: FittedExplainer, places: list[int], search: Search, confidence: float | None
) -> dict[int, Explanation]:
    """The explanations by place; those that fail are left out."""
    found = fitted.explain(case.graphs(places), search=search, confidence=confidence, on_error="keep")
    return {place: one for place, one in zip(places, found, strict=True) if isinstance(one, Explanation)}


def _shares(
    case: Case, ones: Sequence[Explanation], kind: FlipNoise, noise: Sequence[float], copies: int
) -> dict[str, tuple[float, ...]]:
    """The shares that survive one kind of noise."""
    found = flip_stability(case.split, ones, noise, protocol=kind, copies=copies, seed=case.seed)
    return {"flipped": found.flipped, "original": found.original}
