"""From logits to masks, for training only: explanations never use a soft mask.

    sigmoid    M_u = σ(f_u / T)                                                   the paper's text, T = 1
    concrete   M_u = σ((f_u + log v_u − log(1 − v_u)) / T),  v_u ~ U(0, 1)        the authors' code, T from .5 to 4.99
    budget     M_u = σ((f_u − f_(k)) / T),  k = max(1, round(b·|units|)),  b ~ U(low, high) for each instance and step

A budget's threshold lies between an instance's k-th and (k+1)-th score, so that the whole ranking is trained instead of
one cut, and the mask can neither empty nor fill up.

f [units], ptr [n + 1], owner [units], temperature T  →  M [units]
"""

from typing import Protocol

import torch
from torch import Tensor

from rcexplainer.core.segments import ranks


class Gate(Protocol):
    def __call__(
        self, logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator
    ) -> Tensor: ...


def sigmoid(logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """The probability itself."""
    return (logits / temperature).sigmoid()


def concrete(logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Binary-concrete gates: one draw a unit."""
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
    """Masks at a random budget per instance and step."""
    counts = ptr.diff()
    share = low + (high - low) * uniform(len(counts), generator, logits)
    kept = (share * counts).round().clamp_min(1).long()
    return ((logits - cut(logits.detach(), ptr, owner, kept)[owner]) / temperature).sigmoid()


def cut(logits: Tensor, ptr: Tensor, owner: Tensor, kept: Tensor) -> Tensor:
    """[n] a threshold that exactly `kept` [n] units of each instance exceed: midway to the next, ties apart."""
    place = ranks(logits, owner, ptr)
    last, following = (
        logits.new_full((len(kept),), torch.nan).index_put((owner[here],), logits[here])
        for here in (place == kept[owner] - 1, place == kept[owner])
    )
    # Where all units are kept there is no next one: the threshold lies below the last.
    return torch.where(following.isnan(), last - 1, (last + following) / 2).nan_to_num(0.0)


def uniform(number: int, generator: torch.Generator, like: Tensor) -> Tensor:
    """U(0, 1) drawn where the generator lives, so that a seed means the same on every device."""
    return torch.rand(number, generator=generator, device=generator.device, dtype=like.dtype).to(like.device)


GATES: dict[str, Gate] = {"sigmoid": sigmoid, "concrete": concrete, "budget": budget}
