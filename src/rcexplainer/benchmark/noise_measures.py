"""A method under noise: the explanations of noisy copies beside those of their graphs, which are made only once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import NAN, ROBUST_K, ROBUST_NOISE
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics import Robustness, robustness
from rcexplainer.metrics.perturbation import NoiseProtocol

DIGITS = 5  # of the numbers kept for each instance


def under_noise(
    case: Case,
    fitted: FittedExplainer,
    found: Mapping[int, Explanation],
    places: list[int],
    noise: Sequence[float],
    k: int | Sequence[int],
    protocol: NoiseProtocol,
    search: Search = "none",
) -> Robustness | None:
    """Robustness of some graphs, beside explanations they have already.

    Args:
        case: The network and the graphs.
        fitted: The method.
        found: Place → explanation. A graph without one keeps its position, on which its noise depends.
        places: The graphs that are noised.
        noise: Noise levels.
        k: Top edges that must survive noise.
        protocol: The paper's noise, or strict noise.
        search: Compare counterfactuals too.

    Returns:
        What was measured; None if none of the graphs has an explanation.
    """
    if not any(place in found for place in places):
        return None
    lost = RCExplainerError("it could not be explained without noise")
    clean = [found.get(place, Failure(position, lost)) for position, place in enumerate(places)]
    made = robustness(
        fitted,
        case.graphs(places),
        noise,
        k,
        protocol=protocol,
        seed=case.seed,
        search=search,
        explanations=clean,
    )
    return replace(made, each=rounded(made.each))


def overlap(
    case: Case,
    fitted: FittedExplainer,
    found: Mapping[int, Explanation],
    places: list[int],
    protocol: NoiseProtocol,
) -> tuple[float, int]:
    """Jaccard overlap of counterfactuals at 10 % noise, and the number of copies it is the mean of.

    Args:
        case: The network and the graphs.
        fitted: The method.
        found: Place → explanation with a counterfactual.
        places: The graphs that are noised; none: nan, and 0.
        protocol: The paper's noise, or strict noise.
    """
    made = under_noise(case, fitted, found, places, (ROBUST_NOISE,), ROBUST_K, protocol, "prefix")
    if made is None:
        return NAN, 0
    assert made.jaccard is not None  # there is a search
    assert made.flipped is not None
    return made.jaccard[0], made.flipped[0]


def compared_auc(found: Robustness | None) -> float:
    """The AUC by which methods are compared; nan where it was not measured."""
    if found is None or ROBUST_NOISE not in found.noise or ROBUST_K not in found.k:
        return NAN
    return found.auc[found.noise.index(ROBUST_NOISE)][found.k.index(ROBUST_K)]


def rounded(values: Any) -> Any:
    """Nested numbers with few digits, as there are many of them."""
    if isinstance(values, tuple):
        return tuple(rounded(value) for value in values)
    return None if values is None else round(values, DIGITS)
