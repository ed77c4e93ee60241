"""Searching by really deleting: many copies of many instances, each with other units gone, asked in one go.

    state [units]            which units of every instance are removed now
    evaluate(instances [v], removed [Σ units of these]) → [v, …]    the model on v such copies

Greedy deletion: step by step, the unit u whose deletion gives the smallest value goes,
    S ← S ∪ {argmin_u value(G without S ∪ {u})}
for all instances at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.segments import first_minimum, gather_ranges, owners

Evaluate = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Deletions:
    """For each instance the units in the order they were deleted, and the value after each deletion."""

    units: Tensor  # [n, steps], −1 after the last one
    values: Tensor  # [n, steps], nan after the last one


def toggle_each(ptr: Tensor, state: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """One copy for each of `units`: its instance as in `state`, with that unit removed (or put back, if it was)."""
    instance = torch.searchsorted(ptr, units, right=True) - 1
    index, copy = gather_ranges(ptr[instance], ptr[instance + 1])
    return instance, state[index] ^ (index == units[copy])


def greedy(ptr: Tensor, evaluate: Evaluate, allowed: Tensor, steps: Tensor, state: Tensor | None = None) -> Deletions:
    """Delete up to `steps` [n] of the `allowed` [units] units of each instance, starting from `state`."""
    owner = owners(ptr)
    state = torch.zeros_like(allowed) if state is None else state.clone()
    most = int(steps.max()) if len(steps) else 0
    units = torch.full((len(steps), most), -1, device=ptr.device)
    values = torch.full((len(steps), most), torch.nan, device=ptr.device)
    for step in range(most):
        options = (allowed & ~state & (steps > step)[owner]).nonzero().squeeze(1)
        if not len(options):
            break
        instance, removed = toggle_each(ptr, state, options)
        value = evaluate(instance, removed).to(values.dtype)
        best = first_minimum(value, instance, len(steps))
        found = best >= 0
        units[found, step] = options[best[found]]
        values[found, step] = value[best[found]]
        state[options[best[found]]] = True
    return Deletions(units, values)
