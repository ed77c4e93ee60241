"""Counterfactuals found by a search: how often, how small, and how often minimal.

    flipped   |{i ∈ T : |S_i| ≤ w·|E_i|}| / n       higher is better
    size      the median |S_i| of these            lower is better
    minimal   |{i ∈ T : S_i is minimal}| / |T|     higher is better

S_i are the units that the counterfactual of explanation i deletes, T the explanations whose counterfactual flips the
prediction (verified when it was found), n the number of explanations. w = 1 counts every flip; a smaller w only those
within that share of the units. S is minimal if putting back any single unit undoes the flip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import median

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.metrics.explained_model import check_explanations


@dataclass(frozen=True)
class Counterfactuals:
    """Summary of counterfactuals; `size` is nan if none counts as flipped, `minimal` if none flips."""

    flipped: float  # ↑
    size: float  # ↓
    minimal: float  # ↑


@clear_arguments()
def counterfactuals(explanations: Sequence[Explanation], within: float = 1.0) -> Counterfactuals:
    """Summarise the counterfactuals of explanations.

    Args:
        explanations: Explanations with counterfactuals.
        within: w, the largest share of the units a counterfactual may delete to count as flipped.

    Raises:
        RCExplainerError: There are no explanations, one has no counterfactual, or `within` is no share.
    """
    check_explanations(explanations)
    if not explanations:
        raise RCExplainerError("counterfactuals needs at least one explanation")
    if not isinstance(within, Real) or not 0 <= within <= 1:
        raise RCExplainerError(f"within is a share of the units from 0 to 1, got {within}")
    missing = sum(one.counterfactual is None for one in explanations)
    if missing:
        raise RCExplainerError(
            f"{missing} of {len(explanations)} explanations have no counterfactual: explain with "
            'search="prefix" or "greedy"'
        )
    turned = flipping(explanations)
    sizes = [size for one in turned if (size := len(one.removed_units)) <= within * len(one.units)]
    return Counterfactuals(
        flipped=len(sizes) / len(explanations),
        size=float(median(sizes)) if sizes else float("nan"),
        minimal=len(minimal(turned)) / len(turned) if turned else float("nan"),
    )


def flipping(explanations: Sequence[Explanation]) -> list[Explanation]:
    """The explanations whose counterfactual flips the prediction."""
    return [one for one in explanations if one.counterfactual is not None and one.counterfactual.flipped]


def minimal(explanations: Sequence[Explanation]) -> list[Explanation]:
    """The explanations whose counterfactual is minimal."""
    return [one for one in explanations if one.counterfactual is not None and one.counterfactual.minimal]
