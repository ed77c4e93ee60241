"""Claims that hold: a counterfactual is reported with the model's last answer for exactly that graph, run alone.

A search runs many copies in one batch, which is valid only if the model's answer for a graph does not depend on the
rest of the batch. This is measured when the model is split, and in every call on a seeded sample of its instances,
unchanged and without the removed units:

    |log p(batch) − log p(alone)| ≤ 1e-4 and the same predicted class

If any answer differs, no result of the call can be trusted, and all instances are run again one by one.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.counterfactual import Verified
from rcexplainer.core.search import Evaluate
from rcexplainer.core.segments import gather_ranges

FIRST_SAMPLE, LATER_SAMPLE = 16, 2  # instances run alone as a check, in the first chunk of a call and in later ones
BATCH_TOLERANCE = 1e-4  # on log p


@dataclass(frozen=True, eq=False)
class Answers:
    """The model's answers for some instances, before and after the removal that a search has found.

    Attributes:
        ptr: [n + 1] where the units of each instance begin.
        before: log p [n, C] of the instances themselves.
        removed: [units] bool; None if there was no search.
        after: The verified answers without these units; None if there was no search.
    """

    ptr: Tensor
    before: Tensor
    removed: Tensor | None = None
    after: Verified | None = None


class Interference(Exception):  # noqa: N818  caught where a call is run again
    """The model's answers depend on what else is in the batch.

    Attributes:
        different: Number of answers that differ.
        checked: Number of answers compared.
        off: Largest difference of log p.
    """

    def __init__(self, different: int, checked: int, off: float) -> None:
        self.different, self.checked, self.off = different, checked, off
        super().__init__(f"{different} of {checked} answers differ in a batch, log p by up to {off:.2g}")


def check_alone(answers: Answers, alone: Evaluate, size: int, seed: int) -> None:
    """Compare a sample of answers with those of the model on each graph alone.

    Args:
        answers: The answers of the batched run.
        alone: Runs copies one by one.
        size: Number of instances to sample.
        seed: Random seed of the sample.

    Raises:
        Interference: If an answer differs.
    """
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
    different = ~(off <= BATCH_TOLERANCE) | (batched.argmax(1) != single.argmax(1))
    if bool(different.any()):
        raise Interference(int(different.sum()), len(different), float(off.max()))


def gaps(one: Tensor, other: Tensor) -> Tensor:
    """Compare rows.

    Args:
        one: [n, C].
        other: [n, C].

    Returns:
        [n] the largest absolute difference in each row; entries that are equal, or NaN in both, count as 0.
    """
    same = (one == other) | (one.isnan() & other.isnan())
    return (one - other).abs().masked_fill(same, 0.0).amax(1)
