"""Real predictions after deletions, by batched runs of the model.

    curve     p(· | G without the first ℓ units in the order of deletion), for ℓ = 0, 1, 2, …
    singles   p(· | G without one unit), for each of the first units

Rankings of up to `DENSE_STEPS` units get every length. Longer ones go on in steps that grow by `STEP_GROWTH`, up to the
whole ranking, and single deletions end after `MOST_SINGLES` units.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor

from rcexplainer.core.segments import gather_ranges, split_by_cost
from rcexplainer.errors import RCExplainerError, TimeUpError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel

DENSE_STEPS = 100
STEP_GROWTH = 1.15
MOST_SINGLES = 200
MASK_SIZE = 1 << 24  # entries of the deletion masks that are made at a time
SAME_MODEL = 1e-3  # difference in probability that rounding cannot explain


@dataclass(frozen=True, eq=False)
class DeletionCurve:
    """What the model answers after deletions from one instance.

    Attributes:
        lengths: Numbers of deleted units, from 0.
        probabilities: [lengths, C] without that many of the first units.
        singles: [k, C] without the first, second, … unit of the ranking alone.
    """

    lengths: tuple[int, ...]
    probabilities: Tensor
    singles: Tensor


def curve_lengths(units: int) -> tuple[int, ...]:
    """Choose the lengths of a curve.

    Args:
        units: Number of units of the instance.

    Returns:
        Ascending lengths from 0 to `units`.
    """
    lengths = list(range(min(units, DENSE_STEPS) + 1))
    while lengths[-1] < units:
        lengths.append(min(units, ceil(lengths[-1] * STEP_GROWTH)))
    return tuple(lengths)


@torch.no_grad()
def deletion_curves(split: SplitModel, explanations: Sequence[Explanation]) -> list[DeletionCurve]:
    """Run the model on the instances without the first units in their order of deletion.

    Args:
        split: The model.
        explanations: Explanations of its predictions.

    Returns:
        One curve for each.

    Raises:
        RCExplainerError: The model does not give the predictions that were explained.
    """
    if not explanations:
        return []
    with split.scope:
        instances = Instances(split, [one.instance for one in explanations])
        wanted = torch.stack([one.probabilities for one in explanations])
        nothing = torch.zeros(len(instances.units), dtype=torch.bool, device=instances.units.owner.device)
        try:
            gap = _distance(instances, nothing, wanted)
        except TimeUpError:
            raise
        except (IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            said = " ".join(str(error).split())
            raise RCExplainerError(
                f"the model of fitted cannot be run on the explained graphs ({type(error).__name__}: {said}); give the "
                "explainer that made the explanations, or none for a page without deletion curves"
            ) from error
        if gap > SAME_MODEL:
            instances = instances.alone()  # a model that mixes the graphs of a batch was explained one by one
        if (gap := _distance(instances, nothing, wanted)) > SAME_MODEL:
            raise RCExplainerError(
                f"fitted is of another model than the explanations: its probabilities differ by up to {gap:.3f}; give "
                "the explainer that made them, or none for a page without deletion curves"
            )
        place = _places(instances, explanations)
        sizes = instances.units.counts.tolist()
        lengths = [curve_lengths(size) for size in sizes]
        prefixes = _answers(instances, place, lengths, torch.lt)
        alone = _answers(instances, place, [range(min(size, MOST_SINGLES)) for size in sizes], torch.eq)
    return [DeletionCurve(*one) for one in zip(lengths, prefixes, alone, strict=True)]


def _distance(instances: Instances, nothing: Tensor, wanted: Tensor) -> float:
    """The largest difference between the probabilities of the whole instances and these."""
    found = instances.log_probs(instances.everything, nothing).exp().cpu()
    return float((found - wanted).abs().max()) if found.shape == wanted.shape else float("inf")


def _places(instances: Instances, explanations: Sequence[Explanation]) -> Tensor:
    """[units of the instances] the place of each unit in the order of deletion."""
    columns = [one.within(one.units.to_edges(one.unit_order, -1)) for one in explanations]
    of_edge = instances.units.of_edge.cpu()
    place = torch.zeros(len(instances.units), dtype=torch.long)
    place[of_edge[of_edge >= 0]] = torch.cat(columns)[of_edge >= 0]
    return place.to(instances.units.owner.device)


def _answers(
    instances: Instances,
    place: Tensor,
    numbers: Sequence[Sequence[int]],
    removes: Callable[[Tensor, Tensor], Tensor],
) -> list[Tensor]:
    """Probabilities [numbers, C] of each instance without the units for which removes(rank, number) holds."""
    ptr, device = instances.units.ptr, place.device
    count = torch.tensor([len(own) for own in numbers], device=device)
    ids = torch.arange(len(numbers), device=device).repeat_interleave(count)
    number = torch.tensor([value for own in numbers for value in own], dtype=torch.long, device=device)
    rows = []
    cost = instances.units.counts[ids].clamp_min(1)
    for piece in split_by_cost(torch.arange(len(ids), device=device), cost, MASK_SIZE):
        own = ids[piece]
        index, copy = gather_ranges(ptr[own], ptr[own + 1])
        rows.append(instances.log_probs(own, removes(place[index], number[piece][copy])).exp().cpu())
    if not rows:
        return [torch.empty(0, 0) for _ in numbers]
    return list(torch.cat(rows).split(count.tolist()))
