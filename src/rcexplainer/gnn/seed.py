"""Random seeds: which ones there are, and a computation that uses torch's global random numbers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

import torch

from rcexplainer.errors import RCExplainerError
from rcexplainer.short_repr import short_repr

SEEDS = 2**63  # torch knows twice as many: restarts may count on from the last one


def check_seed(seed: object) -> None:
    """Refuse what torch's and numpy's generators do not take.

    Args:
        seed: As it was given.

    Raises:
        RCExplainerError: It is no whole number, negative or too large.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) < SEEDS:
        raise RCExplainerError(f"seed must be a whole number from 0 to 2⁶³−1, got {short_repr(seed)}")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside this context torch's random numbers follow from `seed`, and GPU sums are taken in a fixed order.

    The caller's random state and settings are put back at the end.

    Args:
        seed: The random seed.
    """
    # cuBLAS is deterministic only with a workspace of its own, and reads this variable when it is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    fixed, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(fixed, warn_only=warned)
