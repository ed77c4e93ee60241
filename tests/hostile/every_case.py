"""Any case, in fixed shares of all kinds."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.hostile import actions, figure_actions, network_actions
from tests.hostile.actions import Case

# How many of 100 cases are of each kind; fits are counted apart.
SHARES_OF_CASES: tuple[tuple[int, Callable[[], Any]], ...] = (
    (45, actions.explain_graphs), (14, actions.explain_parts), (7, actions.explanation_methods), (8, actions.metrics),
    (1, actions.drawings), (6, actions.constructors), (4, actions.data), (2, actions.files),
    (5, network_actions.splits), (2, network_actions.trainings), (1, network_actions.network_files),
    (1, network_actions.deletions), (1, network_actions.of_pyg), (1, figure_actions.graph_drawings),
    (1, figure_actions.grids), (1, figure_actions.figure_parts),
)  # fmt: skip


@st.composite
def cases(draw: st.DrawFn, fit: bool = False) -> Case:
    """Any case."""
    if fit:
        return draw(actions.fits())
    place, number = 0, draw(st.integers(0, 99))
    for share, kind in SHARES_OF_CASES:
        place += share
        if number < place:
            return draw(kind())
    raise AssertionError("shares sum to 100")
