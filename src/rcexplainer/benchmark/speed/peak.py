"""Peak memory of tensors during a run, on the CPU."""

import os
from collections.abc import Callable
from itertools import accumulate

import torch


def peak_bytes(run: Callable[[], object]) -> int:
    """Peak bytes of tensors allocated during a run."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler logs every start and stop
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    return max(accumulate(event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())))
