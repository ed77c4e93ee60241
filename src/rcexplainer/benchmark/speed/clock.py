"""Times of functions: medians, taken in turns so that other load on the machine affects all alike."""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import torch

TURN = 0.05  # seconds that a function gets in each turn, at least one run
WARM_UP = 1  # turns that are not counted


def seconds(run: Callable[[], Any], device: torch.device) -> float:
    """Seconds of one run, until the device has finished."""
    _finish(device)
    start = time.perf_counter()
    run()
    _finish(device)
    return time.perf_counter() - start


def in_turns(runs: Mapping[str, Callable[[], Any]], device: torch.device, repeats: int) -> dict[str, float]:
    """Median seconds of each function.

    Args:
        runs: The functions by name.
        device: Where they compute.
        repeats: Turns of each; a short function runs several times in a turn.

    Returns:
        Median seconds by name.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(WARM_UP + repeats):
        for name, run in runs.items():
            taken: list[float] = []
            while not taken or sum(taken) < TURN:
                taken.append(seconds(run, device))
            if turn >= WARM_UP:
                times[name] += taken
    return {name: median(taken) for name, taken in times.items()}


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
