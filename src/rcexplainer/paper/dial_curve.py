"""Fidelity against model runs: the points of a panel, their ratios to greedy deletion, and the worst seed of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rcexplainer.benchmark.results import mean
from rcexplainer.paper.dial import BY_SCORES, GREEDYS_RUNS, Dial
from rcexplainer.paper.figure_style import GREEDY
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.result_groups import NAN, SUMMED_SPARSITIES, MethodResults, done

LITTLE_FIDELITY = 0.10  # greedy deletion's mean fidelity below which a ratio says little


@dataclass(frozen=True)
class SeedRatio:
    """One seed and predicted class.

    Attributes:
        seed: The seed.
        name: The predicted class.
        ratio: To greedy deletion; nan where it cannot be taken.
        greedy: Greedy deletion's mean fidelity there, on all its graphs.
    """

    seed: int
    name: str
    ratio: float
    greedy: float


@dataclass(frozen=True)
class DialPoint:
    """One method with one number of runs, on one network architecture and dataset.

    Attributes:
        method: The method.
        refine: Runs for a refinement; 0: its own order.
        single: The ratio of every seed and predicted class.
        runs: Predicted class → model runs for each graph, one for each seed.
        graphs: All graphs that it explained.
    """

    method: str
    refine: Dial
    single: tuple[SeedRatio, ...]
    runs: dict[str, list[float]]
    graphs: int

    @property
    def name(self) -> str:
        """The method, and how its ranking was refined."""
        if self.refine == BY_SCORES:
            return f"{self.method}, in the order of its scores"
        many = "greedy deletion's runs" if self.refine == GREEDYS_RUNS else self.refine
        return f"{self.method}, refine = {many}" if self.refine else self.method

    @property
    def ratio(self) -> dict[str, list[float]]:
        """Predicted class → ratio to greedy deletion, one for each seed."""
        found: dict[str, list[float]] = {}
        for one in self.single:
            found.setdefault(one.name, []).append(one.ratio)
        return found

    @property
    def worst(self) -> SeedRatio | None:
        """The seed and class with the lowest ratio; None where no ratio can be taken."""
        return lowest_ratio(self.single)

    @property
    def mean_runs(self) -> float:
        """The mean over classes and seeds."""
        return mean([value for values in self.runs.values() for value in values])


def dial_curve(methods: MethodResults) -> list[DialPoint]:
    """The points of a panel; ratios are nan for a seed that greedy deletion has not.

    Args:
        methods: Method → its results, one for each seed.

    Returns:
        A point for each method and number of runs.
    """
    greedy = {one["seed"]: one["points"][0]["classes"] for one in done(methods).get(GREEDY, ())}
    made: list[DialPoint] = []
    for method, results in done(methods).items():
        for at, point in enumerate(results[0]["points"]):
            own = {one["seed"]: one["points"][at]["classes"] for one in results}
            classes = list(dict.fromkeys(name for found in own.values() for name in found))
            single = tuple(
                _seed_ratio(seed, name, found, greedy.get(seed, {})) for name in classes for seed, found in own.items()
            )
            runs = {name: [found[name]["runs"] for found in own.values() if name in found] for name in classes}
            graphs = sum(len(cost["places"]) for found in own.values() for cost in found.values())
            made.append(DialPoint(method, point["refine"], single, runs, graphs))
    return made


def lowest_ratio(ratios: Sequence[SeedRatio]) -> SeedRatio | None:
    """The one with the lowest ratio; None where no ratio can be taken."""
    return min((one for one in ratios if one.ratio == one.ratio), key=lambda one: one.ratio, default=None)


def greedys_fidelity(cost: JobResult) -> float:
    """Mean over graphs and sparsities of what greedy deletion lost of p(class).

    Args:
        cost: Its `ClassCost`, as it is stored.
    """
    return mean(cost["drops"]) / len(SUMMED_SPARSITIES)


def _seed_ratio(seed: int, name: str, found: Mapping[str, JobResult], greedy: Mapping[str, JobResult]) -> SeedRatio:
    """One method and greedy deletion on the graphs of a class."""
    own, reference = found.get(name), greedy.get(name)
    return SeedRatio(seed, name, _ratio(own, reference), greedys_fidelity(reference) if reference else NAN)


def _ratio(own: JobResult | None, greedy: JobResult | None) -> float:
    """Σ of the drops ÷ Σ of greedy deletion's, on the graphs that both explained."""
    if not own or not greedy:
        return NAN
    theirs = dict(zip(greedy["places"], greedy["drops"], strict=True))
    shared = [(drop, theirs[at]) for at, drop in zip(own["places"], own["drops"], strict=True) if at in theirs]
    below = sum(other for _, other in shared)
    return sum(drop for drop, _ in shared) / below if below > 0 else NAN
