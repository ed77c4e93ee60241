"""How `rcexplainer explain` explains: the search, what it may cost, and for which instances."""

from dataclasses import dataclass
from typing import get_args

from rcexplainer.core.budget import Budget, Seconds, checked_budget
from rcexplainer.disclosure import checked_disclosure
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.results import Search


@dataclass(frozen=True)
class ExplainSettings:
    """How instances are explained.

    Attributes:
        limit: At most this number of instances; None: all.
        predicted: Only instances predicted as this class, by name or number.
        search: none, prefix or greedy.
        budget: What the search may cost for each instance, as for `FittedExplainer.explain`.
        confidence: The probability that another class must reach, as for `FittedExplainer.explain`.
        refine: Model runs to spend on the ranking of each instance's edges; None: none.
        progress: Whether to show a progress bar.
        disclose: What explanations tell: scores, counterfactual or prediction.
        target_class: The class that counterfactuals must have, by name or number; None: any other.
    """

    limit: int | None = None
    predicted: str | None = None
    search: str = "prefix"
    budget: Budget = None
    confidence: float | None = None
    refine: int | None = None
    progress: bool = False
    disclose: str = "scores"
    target_class: str | None = None

    def __post_init__(self) -> None:
        if self.search not in get_args(Search):
            raise RCExplainerError(f"search must be none, prefix or greedy, got {self.search!r}")
        checked_disclosure(self.disclose)


def parse_budget(text: str | None) -> Budget:
    """Read the value of `--budget`.

    Args:
        text: A number of model runs, a number of seconds with an `s`, or None.

    Returns:
        The budget; None for the default.

    Raises:
        RCExplainerError: It is neither.
    """
    if text is None:
        return None
    try:
        return Seconds(float(text[:-1])) if text.endswith("s") else checked_budget(int(text))
    except ValueError:
        raise RCExplainerError(
            f"--budget takes a number of model runs, such as 500, or seconds, such as 2.5s, got {text!r}"
        ) from None
