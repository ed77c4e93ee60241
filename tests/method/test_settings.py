"""Settings at the ends of what they may be."""

import pytest

from rcexplainer.errors import RCExplainerError
from rcexplainer.method.settings import inner_share, non_negative, positive, share, whole

TINY = 1e-12


@pytest.mark.parametrize(
    ("check", "allowed", "refused"),
    [
        (positive, [TINY, 3], [0, -TINY]),
        (non_negative, [0, TINY], [-TINY]),
        (share, [0, 0.5, 1], [-TINY, 1 + TINY]),
        (inner_share, [TINY, 1 - TINY], [0, 1]),
        (whole, [1, 7], [0, 1.5]),
    ],
)
def test_ends(check, allowed, refused) -> None:
    assert [check("it", value) for value in allowed] == allowed
    for wrong in [*refused, float("nan"), float("inf"), "1", None]:
        with pytest.raises(RCExplainerError, match="it must be"):
            check("it", wrong)
