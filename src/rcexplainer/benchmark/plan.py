"""A plan says what an evaluation does with each network; an evaluation is a plan with the results of every seed."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.benchmark.case import GREEDY_DEPTH, Case
from rcexplainer.benchmark.groups import MethodResult, NetworkResult
from rcexplainer.benchmark.layout import Explains
from rcexplainer.benchmark.methods import REFERENCES
from rcexplainer.benchmark.results import OURS, Tables
from rcexplainer.method.fitted_explainer import FittedExplainer


@dataclass(frozen=True)
class Plan:
    """What is explained, what is measured of it, and how it is shown.

    Attributes:
        measure: (case, method, fitted method, seconds to fit) → its result on this network.
        network: What is measured of the network itself.
        summary: What `Evaluation.to_json` says beside the results of each seed: means.
        tables: The tables for a terminal.
        methods: Names of `METHODS`, in the order of the tables.
        explains: Which graphs of a graph set are explained.
        greedy_depth: The share of the units that greedy deletion orders.
        skips: A method that cannot explain a network is left out, with its reason, instead of being an error.
    """

    measure: Callable[[Case, str, FittedExplainer, float], MethodResult]
    network: Callable[[Case], NetworkResult]
    summary: Callable[["Evaluation"], dict[str, Any]]
    tables: Callable[["Evaluation"], Tables]
    methods: tuple[str, ...] = (OURS, *REFERENCES)
    explains: Explains = "every class"
    greedy_depth: float = GREEDY_DEPTH
    skips: bool = False


@dataclass(frozen=True)
class Evaluation:
    """The results of every seed and method."""

    dataset: str
    arch: str
    protocol: str
    preset: str
    settings: dict[str, Any]
    seeds: tuple[int, ...]
    networks: tuple[NetworkResult, ...]  # one for each seed
    results: tuple[MethodResult, ...]  # seed after seed, each in the order of the methods
    plan: Plan = field(repr=False)
    recipe: str = "ours"  # how the networks were trained

    def tables(self) -> Tables:
        """Tables for a terminal, each with its caption."""
        return self.plan.tables(self)

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it: means first, then the results of each seed."""
        return {
            "protocol": self.protocol,
            **self.plan.summary(self),
            "dataset": self.dataset,
            "arch": self.arch,
            "recipe": self.recipe,
            "preset": self.preset,
            "settings": self.settings,
            "seeds": self.seeds,
            "accuracy": [one.accuracy for one in self.networks],
            "networks": [asdict(one) for one in self.networks],
            "results": [asdict(one) for one in self.results],
            "versions": versions(),
        }
