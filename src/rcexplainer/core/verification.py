"""Claims that hold: what is said of a counterfactual is what the model said last, of exactly that graph, alone.

A search runs many copies side by side, and may do so only with a model that says the same of a graph in a batch as
alone. That is measured when a model is taken apart, and in every call on a seeded sample of its instances, as they are
and without the units found:

    |log p(batch) − log p(alone)| ≤ 1e-4 and the same predicted class

Where one differs, nothing of the call can be believed: it is run again, one by one.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.counterfactual import Verified
from rcexplainer.core.search import Evaluate
from rcexplainer.core.segments import gather_ranges

SAMPLE, LATER = 16, 2  # instances of the first chunk of a call that are run alone too, and of every later chunk
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class Answers:
    """What the model says of some instances: as they are, and without the units that a search has found."""

    ptr: Tensor  # [n + 1] the units of each instance
    before: Tensor  # log p [n, C]
    removed: Tensor | None = None  # [units]; None: no search was made
    after: Verified | None = None


class Interference(Exception):  # noqa: N818  caught where a call is run again
    """Instances of which the model says something else in a batch than alone."""

    def __init__(self, different: int, checked: int, off: float) -> None:
        self.different, self.checked, self.off = different, checked, off
        super().__init__(f"{different} of {checked} answers differ in a batch, log p by up to {off:.2g}")


def check_alone(answers: Answers, alone: Evaluate, size: int, seed: int) -> None:
    """Raise `Interference` if the model says something else of one of `size` instances when it is run alone."""
    count = len(answers.before)
    ids = torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:size].sort().values
    ids = ids.to(answers.ptr.device)
    units, _ = gather_ranges(answers.ptr[ids], answers.ptr[ids + 1])
    copies, expected, removed = [ids], [answers.before[ids]], [torch.zeros_like(units, dtype=torch.bool)]
    if answers.after is not None and answers.removed is not None:
        copies.append(ids)
        expected.append(answers.after.log_probs[ids])
        removed.append(answers.removed[units])
    batched, single = torch.cat(expected), alone(torch.cat(copies), torch.cat(removed))
    off = gaps(batched, single)
    different = ~(off <= TOLERANCE) | (batched.argmax(1) != single.argmax(1))
    if bool(different.any()):
        raise Interference(int(different.sum()), len(different), float(off.max()))


def gaps(one: Tensor, other: Tensor) -> Tensor:
    """[n] the largest difference of each row; 0 where both are −∞, or both no number."""
    same = (one == other) | (one.isnan() & other.isnan())
    return (one - other).abs().masked_fill(same, 0.0).amax(1)
