"""The settings of baselines, chosen on **validation** instances (`benchmark.validation`), dataset by dataset.

The rule: of a small grid of settings, the published ones and the defaults among them, those with the largest fidelity,
summed over the headline sparsities, edges really deleted. It never looks at motifs, which users do not have. In a tie
the first of the grid wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.dead import random_sum, why_dead
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.results import HEADLINE_SPARSITIES
from rcexplainer.benchmark.validation import ValidationCase
from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics import fidelity
from rcexplainer.paper.job import JobResult
from rcexplainer.saving.fingerprint import weights_digest


def tuning_scores(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    grid: Sequence[Mapping[str, Any]],
    graphs: int,
    most: int,
    settings: Mapping[str, Any] | None = None,
    keep: Path | None = None,
) -> JobResult:
    """Fit a baseline with each of some settings, and measure it on validation instances.

    Args:
        dataset: A set of graphs or nodes.
        model: The architecture of the network.
        seed: Draws split and weights, training graphs, and the method's random numbers.
        method: A key of `METHODS`.
        grid: Settings on top of the method's defaults.
        graphs: Training graphs to fit on, at most.
        most: Validation instances to explain, at most.
        settings: Of RCExplainer, for its ablation NoLDB.
        keep: The folder of trained networks.

    Returns:
        `points`: for every member of the grid its `settings`, its `fidelity` at the headline sparsities, and why it is
        `dead`, or why it was `skipped`; `instances`; `random`: the sum that random orders of these instances reach;
        `weights`: the hash of the network's.
    """
    case = ValidationCase.of(dataset, model, seed, settings=settings, keep=keep, progress=False)
    case = replace(case, training_graphs=graphs)
    places = case.some(most)
    floor = METHODS["random"].fit(case, False)
    shown = case.explain(floor, places, "none")
    if not shown:
        raise RCExplainerError(f"{dataset} has no validation instance that could be explained")
    return {
        "instances": len(shown),
        "random": random_sum(case.split, shown, seed),
        "weights": weights_digest(case.model),
        "points": [{"settings": dict(point), **_judged(case, method, point, places)} for point in grid],
    }


def _judged(case: ValidationCase, method: str, point: Mapping[str, Any], places: list[int]) -> JobResult:
    try:
        fitted = METHODS[method].fit(case.made_with(point), False)
    except RCExplainerError as error:
        return {"skipped": str(error)}
    shown = case.explain(fitted, places, "none")
    if not shown:
        return {"skipped": "it could explain none of the instances"}
    found = fidelity(case.split, shown, HEADLINE_SPARSITIES)
    return {"fidelity": list(found.drop), "dead": why_dead(case.split, method, shown, found, case.seed)}
