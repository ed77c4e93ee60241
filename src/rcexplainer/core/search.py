"""Search by real deletion: many copies of many instances, each lacking other units, evaluated in one call.

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

from rcexplainer.core.segments import first_minimum, gather_ranges, owners, split_by_cost

TOGGLED_UNITS = 1 << 23  # units of the copies that are made at a time; all of a hub's copies would be its units squared

Evaluate = Callable[[Tensor, Tensor], Tensor]
# (value, unit and instance of every option, number of instances) → the position of each instance's choice, −1 for none
Choose = Callable[[Tensor, Tensor, Tensor, int], Tensor]


@dataclass(frozen=True, eq=False)
class Deletions:
    """The path of a greedy deletion.

    Attributes:
        units: [n, steps] the units of each instance in the order of deletion, −1 after the last one.
        values: [n, steps], or [n, steps, columns]; the value after each deletion, NaN after the last one.
    """

    units: Tensor
    values: Tensor


def toggle_each(ptr: Tensor, state: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """Make one copy for each unit: its instance in the given state, with that unit removed, or put back if it was.

    Args:
        ptr: [n + 1] where the units of each instance begin.
        state: [all units] bool; the units removed now.
        units: [v] the unit to toggle in each copy.

    Returns:
        The instance of each copy [v], and the units removed in the copies, one copy after the other.
    """
    instance = torch.searchsorted(ptr, units, right=True) - 1
    index, copy = gather_ranges(ptr[instance], ptr[instance + 1])
    return instance, state[index] ^ (index == units[copy])


def run_toggled(evaluate: Evaluate, ptr: Tensor, state: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """Evaluate one copy for each unit, as `toggle_each` makes them, in pieces that fit into memory.

    Args:
        evaluate: The values of copies.
        ptr: [n + 1] where the units of each instance begin.
        state: [all units] bool; the units removed now.
        units: [v] the unit to toggle in each copy.

    Returns:
        The instance of each copy [v], and the values [v, …].
    """
    instance = torch.searchsorted(ptr, units, right=True) - 1
    pieces = split_by_cost(units, ptr.diff()[instance], TOGGLED_UNITS) or [units]
    return instance, torch.cat([evaluate(*toggle_each(ptr, state, piece)) for piece in pieces])


def smallest(value: Tensor, units: Tensor, instance: Tensor, num_instances: int) -> Tensor:
    """Choose the option with the smallest value, the first of several.

    Args:
        value: [v] the value of every option.
        units: [v] the unit of every option.
        instance: [v] its instance.
        num_instances: n.

    Returns:
        [n] the position of each instance's choice, −1 for none.
    """
    return first_minimum(value, instance, num_instances)


def prefer(effect: Tensor, tolerance: float) -> Choose:
    """Choose like `smallest`, but outside the region (value < 0) break near-ties by the units' own effects.

    Values are log-odds, compared as probabilities: where nothing is left to gain, the next deletion is arbitrary to the
    search, and its order would teach nothing.

    Args:
        effect: [units] what each unit does on its own.
        tolerance: Difference in probability up to which options count as tied.

    Returns:
        A rule for `greedy`.
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
    columns: int | None = None,
) -> Deletions:
    """Delete units one after the other, in all instances at once.

    Args:
        ptr: [n + 1] where the units of each instance begin.
        evaluate: The values of copies, [v], or [v, columns] for a rule that compares by several keys.
        allowed: [units] bool; which units may go.
        steps: [n] how many units of each instance may go.
        state: [units] bool; units removed before the first step. It is not changed.
        choose: Picks each instance's next unit.
        columns: Number of values per copy; None for one value without a dimension of its own.

    Returns:
        The units in the order of deletion, with their values.
    """
    owner = owners(ptr)
    state = torch.zeros_like(allowed) if state is None else state.clone()
    most = int(steps.max()) if len(steps) else 0
    shape = (len(steps), most) if columns is None else (len(steps), most, columns)
    units = torch.full(shape[:2], -1, device=ptr.device)
    values = torch.full(shape, torch.nan, dtype=torch.double, device=ptr.device)
    for step in range(most):
        options = (allowed & ~state & (steps > step)[owner]).nonzero().squeeze(1)
        if not len(options):
            break
        instance, value = run_toggled(evaluate, ptr, state, options)
        value = value.to(values.dtype)
        best = choose(value, options, instance, len(steps))
        found = best >= 0
        units[found, step] = options[best[found]]
        values[found, step] = value[best[found]]
        state[options[best[found]]] = True
    return Deletions(units, values)
