"""Gates: from logits to soft masks, for training only; explanations never use a soft mask.

    sigmoid    M_u = σ(f_u / T)                                                   the paper's text, T = 1
    concrete   M_u = σ((f_u + log v_u − log(1 − v_u)) / T),  v_u ~ U(0, 1)        the authors' code, T from .5 to 4.99
    budget     M_u = σ((f_u − f_(k)) / T),  k = max(1, round(b·|units|)),  b ~ U(low, high) for each instance and step

The threshold of `budget` lies between an instance's k-th and (k+1)-th score, so training reaches the whole ranking
instead of one cut, and a mask can become neither empty nor full.

f [units], ptr [n + 1], owner [units], temperature T  →  M [units]
"""

from typing import Protocol

import torch
from torch import Tensor

from rcexplainer.core.segments import ranks


class Gate(Protocol):
    """A function from logits f [units] to masks M [units] in [0, 1]."""

    def __call__(
        self, logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator
    ) -> Tensor:
        """Make masks.

        Args:
            logits: f [units].
            ptr: [n + 1] where the units of each instance begin.
            owner: [units] the instance of each unit.
            temperature: T; the smaller, the closer masks are to 0 and 1.
            generator: Source of random numbers, for gates that draw some.

        Returns:
            M [units].
        """
        ...


def sigmoid(logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """σ(f / T); see `Gate`."""
    return (logits / temperature).sigmoid()


def concrete(logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Binary-concrete gates, one draw per unit; see `Gate`."""
    draw = uniform(len(logits), generator, logits).clamp(1e-6, 1 - 1e-6)
    return ((logits + draw.logit()) / temperature).sigmoid()


def budget(
    logits: Tensor,
    ptr: Tensor,
    owner: Tensor,
    temperature: float,
    generator: torch.Generator,
    low: float = 0.02,
    high: float = 0.5,
) -> Tensor:
    """Masks at a random budget for each instance; see `Gate`.

    Args:
        logits: f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        temperature: T.
        generator: Source of the budgets.
        low: Smallest share of the units that is kept.
        high: Largest share.

    Returns:
        M [units].
    """
    counts = ptr.diff()
    share = low + (high - low) * uniform(len(counts), generator, logits)
    kept = (share * counts).round().clamp_min(1).long()
    return ((logits - cut(logits.detach(), ptr, owner, kept)[owner]) / temperature).sigmoid()


def cut(logits: Tensor, ptr: Tensor, owner: Tensor, kept: Tensor) -> Tensor:
    """Find the thresholds that exactly `kept` units of each instance exceed, except at ties.

    Args:
        logits: f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        kept: [n] how many units to keep.

    Returns:
        [n] midway between the last unit kept and the first that is not.
    """
    place = ranks(logits, owner, ptr)
    last, following = (
        logits.new_full((len(kept),), torch.nan).index_put((owner[here],), logits[here])
        for here in (place == kept[owner] - 1, place == kept[owner])
    )
    # Where all units are kept there is no next one: the threshold lies below the last.
    return torch.where(following.isnan(), last - 1, (last + following) / 2).nan_to_num(0.0)


def uniform(number: int, generator: torch.Generator, like: Tensor) -> Tensor:
    """Draw from U(0, 1) on the generator's device, so that a seed means the same on every device.

    Args:
        number: How many.
        generator: Source of random numbers.
        like: A tensor with the dtype and device of the result.

    Returns:
        [number].
    """
    return torch.rand(number, generator=generator, device=generator.device, dtype=like.dtype).to(like.device)


GATES: dict[str, Gate] = {"sigmoid": sigmoid, "concrete": concrete, "budget": budget}
