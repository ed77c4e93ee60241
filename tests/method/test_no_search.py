"""What would be ignored is refused: a search's arguments without a search, all of them for predictions alone."""

from math import inf

import pytest

from rcexplainer.core.budget import Deadline, Seconds
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.no_search import refuse_for_predictions, refuse_without_search


@pytest.mark.parametrize(
    ("budget", "refine"),
    [(None, None), (None, 20), (Deadline(5.0), None), (Deadline(5.0), 20), (Seconds(2), 20)],
)
def test_what_bounds_something_is_accepted_without_a_search(budget, refine) -> None:
    refuse_without_search(budget, None, refine)
    with pytest.raises(RCExplainerError, match=r"confidence=0\.8 is for counterfactuals"):
        refuse_without_search(budget, 0.8, refine)


@pytest.mark.parametrize(("budget", "refine"), [(500, None), (500, 20), (inf, None), (inf, 20), (Seconds(2), None)])
def test_what_bounds_nothing_is_refused_without_a_search(budget, refine) -> None:
    with pytest.raises(RCExplainerError, match="bounds the search, and there is none"):
        refuse_without_search(budget, None, refine)


def test_predictions_alone_can_only_have_a_deadline() -> None:
    refuse_for_predictions(None, None, None)
    refuse_for_predictions(Deadline(5.0), None, None)
    for budget, confidence, refine, name in (
        (500, None, None, "budget=500"),
        (Seconds(2), None, None, "budget=Seconds"),
        (None, 0.8, None, r"confidence=0\.8"),
        (Deadline(5.0), None, 20, "refine=20"),
    ):
        with pytest.raises(RCExplainerError, match=f"{name}.* is for edge scores and counterfactuals"):
            refuse_for_predictions(budget, confidence, refine)
