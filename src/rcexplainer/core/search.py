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
# (value, unit and instance of every option, number of instances) → the place of each instance's choice, −1 for none
Choose = Callable[[Tensor, Tensor, Tensor, int], Tensor]


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


def smallest(value: Tensor, units: Tensor, instance: Tensor, num_instances: int) -> Tensor:
    """The option with the smallest value, the first of several."""
    return first_minimum(value, instance, num_instances)


def prefer(effect: Tensor, tolerance: float) -> Choose:
    """Once outside (value < 0), units that lead equally far go by what they do on their own, `effect` [units].

    Values are log-odds, compared as probabilities: where nothing is left to gain, whatever goes next is arbitrary to
    the search, and its order would teach nothing.
    """

    def choose(value: Tensor, units: Tensor, instance: Tensor, num_instances: int) -> Tensor:
        best = value.new_full((num_instances,), torch.inf).scatter_reduce(0, instance, value, "amin")[instance]
        near = (value.sigmoid() <= best.sigmoid() + tolerance) & (best < 0)
        return first_minimum(torch.where(near | (value == best), -effect[units], torch.inf), instance, num_instances)

    return choose


def greedy(
    ptr: Tensor,
    evaluate: Evaluate,
    allowed: Tensor,
    steps: Tensor,
    state: Tensor | None = None,
    choose: Choose = smallest,
) -> Deletions:
    """Delete up to `steps` [n] of the `allowed` [units] units of each instance, starting from `state`."""
    owner = owners(ptr)
    state = torch.zeros_like(allowed) if state is None else state.clone()
    most = int(steps.max()) if len(steps) else 0
    units = torch.full((len(steps), most), -1, device=ptr.device)
    values = torch.full((len(steps), most), torch.nan, dtype=torch.double, device=ptr.device)
    for step in range(most):
        options = (allowed & ~state & (steps > step)[owner]).nonzero().squeeze(1)
        if not len(options):
            break
        instance, removed = toggle_each(ptr, state, options)
        value = evaluate(instance, removed).to(values.dtype)
        best = choose(value, options, instance, len(steps))
        found = best >= 0
        units[found, step] = options[best[found]]
        values[found, step] = value[best[found]]
        state[options[best[found]]] = True
    return Deletions(units, values)
