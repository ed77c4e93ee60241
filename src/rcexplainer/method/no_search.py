"""Explanations without a search: what only a search uses is refused, instead of ignored."""

from rcexplainer.core.budget import Budget, Deadline, Seconds
from rcexplainer.errors import RCExplainerError


def refuse_without_search(budget: Budget, confidence: float | None, refine: int | None) -> None:
    """Refuse what only a search uses; a deadline bounds scores too, and a time the refinement of the ranking.

    Args:
        budget: As given to `explain`, with `search="none"`.
        confidence: As given.
        refine: As given.

    Raises:
        RCExplainerError: One of them would be ignored.
    """
    if confidence is not None:
        raise RCExplainerError(
            f'confidence={confidence!r} is for counterfactuals, and search="none" looks for none: leave confidence '
            'out, or give search="prefix" or "greedy"'
        )
    if budget is None or isinstance(budget, Deadline) or (isinstance(budget, Seconds) and refine is not None):
        return
    raise RCExplainerError(
        f'budget={budget!r} bounds the search, and there is none with search="none": leave budget out, or give '
        'search="prefix" or "greedy" (refine is bounded by its own number of model runs, or by budget=rc.Seconds(x))'
    )


def refuse_for_predictions(budget: Budget, confidence: float | None, refine: int | None) -> None:
    """Refuse what predictions alone do not use.

    Args:
        budget: As given to `explain`, with `disclose="prediction"`.
        confidence: As given.
        refine: As given.

    Raises:
        RCExplainerError: One of them would be ignored.
    """
    given = {"budget": None if isinstance(budget, Deadline) else budget, "confidence": confidence, "refine": refine}
    for name, value in given.items():
        if value is not None:
            raise RCExplainerError(
                f'{name}={value!r} is for edge scores and counterfactuals, and disclose="prediction" has neither: '
                f"leave {name} out, or give another disclose"
            )
