"""Claims that hold: what is said of a counterfactual is what the model said last, of exactly that graph, alone.

A search runs many copies side by side, which is allowed only if the model gives the same answer for a graph in a batch
as for that graph alone. This is measured when a model is split, and in every call on a seeded sample of its instances,
as they are and without the units found:

    |log p(batch) − log p(alone)| ≤ 1e-4 and the same predicted class

Every instance and every claimed flip is also run a second time beside other copies. One difference, and the whole call
is run again one by one.
"""

from dataclasses import dataclass
from math import isnan

import torch
from torch import Tensor

from rcexplainer.core.counterfactual import Removal, Verified
from rcexplainer.core.flip_query import turned
from rcexplainer.core.search import Evaluate, toggle_each
from rcexplainer.core.segments import gather_ranges, owners

# Instances that are run alone too: in the first chunk of a search, in its other chunks, and where there is no search.
SAMPLE, LATER_SAMPLE, SCORES_SAMPLE = 8, 2, 1
BATCH_TOLERANCE = 1e-4  # on log p


@dataclass(frozen=True, eq=False)
class Answers:
    """What the model says of some instances: as they are, and without the units a search has found."""

    ptr: Tensor  # [n + 1] the units of each instance
    before: Tensor  # log p [n, C]
    found: Removal | None = None  # None: no search was made
    final: Verified | None = None
    target: int | None = None  # the class to lead to; None: any other
    exhausted: Tensor | None = None  # [n] whether the budget of the search was spent
    confidence: float | None = None  # the probability that this class must have at least; None: any will do
    distance: Tensor | None = None  # [n] how far beyond its region each lies; None: the method has no regions

    @property
    def disputed(self) -> Tensor:
        """[n] whether search and final run disagree about the flip."""
        if self.found is None or self.final is None:
            return torch.zeros(len(self.before), dtype=torch.bool, device=self.before.device)
        return self.found.flipped != self.final.flipped


class Interference(Exception):  # noqa: N818  caught where a call is run again
    """The model gives other answers in a batch than alone."""

    def __init__(self, different: int, checked: int, off: float) -> None:
        self.different, self.checked, self.off = different, checked, off
        far = "" if isnan(off) else f", log p by up to {off:.2g}"
        super().__init__(f"{different} of {checked} answers differ in a batch{far}")


def check_alone(answers: Answers, alone: Evaluate, size: int, seed: int) -> None:
    """Compare a sample of the answers with runs of one instance at a time.

    Args:
        answers: What the model said in batches.
        alone: log p of copies with units removed, each in a run of its own.
        size: How many instances are compared.
        seed: Draws the sample.

    Raises:
        Interference: An answer differs.
    """
    ids = sample(answers, size, seed)
    units, _ = gather_ranges(answers.ptr[ids], answers.ptr[ids + 1])
    copies, expected, removed = [ids], [answers.before[ids]], [torch.zeros_like(units, dtype=torch.bool)]
    if answers.found is not None and answers.final is not None:
        copies.append(ids)
        expected.append(answers.final.log_probs[ids])
        removed.append(answers.found.removed[units])
    batched, single = torch.cat(expected), alone(torch.cat(copies), torch.cat(removed))
    off = gaps(batched, single)
    different = ~(off <= BATCH_TOLERANCE) | (batched.argmax(1) != single.argmax(1))
    if bool(different.any()):
        raise Interference(int(different.sum()), len(different), float(off.max()))


def sample(answers: Answers, size: int, seed: int) -> Tensor:
    """[k] the instances that are looked at alone."""
    order = torch.randperm(len(answers.before), generator=torch.Generator().manual_seed(seed))
    return order[:size].sort().values.to(answers.ptr.device)


def check_minimal(answers: Answers, alone: Evaluate, size: int, seed: int) -> None:
    """Put back each removed unit of a sample of the minimal results, one copy at a time.

    Putting back the only unit gives the instance as it was, which is looked at elsewhere.

    Args:
        answers: What the model said in batches, with the result of a search.
        alone: log p of copies with units removed, each in a run of its own.
        size: How many instances are looked at.
        seed: Draws the sample.

    Raises:
        Interference: A copy is still flipped: the result is not minimal.
    """
    if answers.found is None or answers.final is None:
        return
    looked, removed = torch.zeros_like(answers.final.minimal), answers.found.removed
    looked[sample(answers, size, seed)] = True
    owner = owners(answers.ptr)
    several = torch.zeros_like(answers.ptr[1:]).index_add(0, owner, removed.long()) > 1
    units = (removed & (looked & answers.final.minimal & several)[owner]).nonzero().squeeze(1)
    if not len(units):
        return
    instance, put_back = toggle_each(answers.ptr, removed, units)
    source = answers.before.argmax(1)[instance]
    flips = turned(alone(instance, put_back), source, answers.target, answers.confidence)
    if bool(flips.any()):
        raise Interference(int(flips.sum()), len(flips), float("nan"))


def check_company(answers: Answers, batched: Evaluate) -> None:
    """Run every instance, and every claimed flip, again beside other copies: in one run, in reverse order.

    A sample misses a model that mixes few of its graphs (those with a rare value, say). Such a graph has other company
    here than it had before, so its answers differ.

    Args:
        answers: What the model said in batches, with the result of a search.
        batched: log p of copies with units removed, in batches.

    Raises:
        Interference: An answer differs.
    """
    if answers.found is None or answers.final is None:
        return
    flipped = answers.final.flipped.nonzero().squeeze(1).flip(0)
    ids = torch.arange(len(answers.before), device=flipped.device).flip(0)
    units, _ = gather_ranges(answers.ptr[flipped], answers.ptr[flipped + 1])
    removed = torch.cat([torch.zeros_like(answers.found.removed), answers.found.removed[units]])
    expected = torch.cat([answers.before[ids], answers.final.log_probs[flipped]])
    off = gaps(expected, batched(torch.cat([ids, flipped]), removed))
    different = ~(off <= BATCH_TOLERANCE)
    if bool(different.any()):
        raise Interference(int(different.sum()), len(different), float(off.max()))


def gaps(one: Tensor, other: Tensor) -> Tensor:
    """[n] the largest difference of each row; 0 where both are −∞, or both NaN."""
    same = (one == other) | (one.isnan() & other.isnan())
    return (one - other).abs().masked_fill(same, 0.0).amax(1)
