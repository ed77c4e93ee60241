"""What the ε of Eq. 5 is for; the cover itself is compared with the literal one in `test_regions.py`."""

import torch

from rcexplainer.core.cover import peel


def test_no_member_is_given_up_that_need_not_be() -> None:
    """Each of five rows excludes one intruder and no member; the sixth excludes all five, and one of three members."""
    members = torch.ones(3, 6, dtype=torch.bool)
    members[2, 5] = False
    intruders = ~torch.eye(5, 6, dtype=torch.bool)
    intruders[:, 5] = False
    (only,) = peel(members, intruders)
    assert only.index.tolist() == [0, 1, 2]
    assert sorted(only.rows.tolist()) == [0, 1, 2, 3, 4]
    # With a large ε excluding many at once is worth a member, which then needs a region of its own.
    first, second = peel(members, intruders, epsilon=1.0)
    assert (first.index.tolist(), first.rows.tolist()) == ([0, 1], [5])
    assert second.index.tolist() == [2]
