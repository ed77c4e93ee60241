"""What every measurement of a method says: on which held-out instances, why not, and what its searches found."""

from dataclasses import dataclass
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import NAN
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics.flips import counterfactuals


@dataclass(frozen=True)
class MethodOutcome:
    """One method on the held-out instances of one network."""

    method: str
    seed: int
    held_out: int = 0  # held-out instances of the case
    instances: int = 0  # explained
    failed: int = 0
    places: tuple[int, ...] = ()  # the held-out instances that were explained
    skipped: str = ""  # why nothing was measured


@dataclass(frozen=True, kw_only=True)
class CounterfactualShares:
    """Counterfactuals by the search that all methods share, and by RCExplainer's own."""

    flipped: float = NAN  # share with a verified counterfactual
    minimal: float = NAN  # share of these that are verified to be minimal
    size: float = NAN  # median number of units they delete
    search_flipped: float = NAN  # the same three by RCExplainer's own search
    search_minimal: float = NAN
    search_size: float = NAN


def search_fields(ones: list[Explanation], searched: list[Explanation] | None) -> dict[str, Any]:
    """Measure counterfactuals.

    Args:
        ones: Explanations searched by prefixes of the ranking.
        searched: The same instances by RCExplainer's own search; None or none: they were not searched so.

    Returns:
        The fields of `CounterfactualShares`.
    """
    found = counterfactuals(ones)
    fields: dict[str, Any] = {"flipped": found.flipped, "minimal": found.minimal, "size": found.size}
    if not searched:
        return fields
    own = counterfactuals(searched)
    return fields | {"search_flipped": own.flipped, "search_minimal": own.minimal, "search_size": own.size}


def fit_or_reason(case: Case, name: str, progress: bool) -> FittedExplainer | str:
    """Fit a method.

    Args:
        case: The network and the instances.
        name: A method of `METHODS`.
        progress: Show a progress bar.

    Returns:
        The fitted method, or the reason why it cannot explain this network.

    Raises:
        MissingExtraError: The method needs a package that is not installed; with it there would be a result.
    """
    try:
        return METHODS[name].fit(case, progress)
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        return str(error)
