"""The random seed of a computation that uses torch's global random numbers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


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
