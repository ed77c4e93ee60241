"""Dead runs: explanations whose ranking says nothing about the model.

    constant scores   nearly all instances have one score for all of their units
    random level      the fidelity, summed over the headline sparsities, is not above that of random orders of the units
                      of the same instances

The second compares means, without a test: a method above random order in its mean is never called dead.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import torch

from rcexplainer.benchmark.results import HEADLINE_SPARSITIES
from rcexplainer.core.collapse import COLLAPSED_SHARE
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel
from rcexplainer.metrics.fidelity import Fidelity, fidelity

SAME_SCORE = 1e-6  # scores of an instance that differ by less are the same
RANDOM_ORDERS = 3  # their fidelities are averaged
RANDOM_METHOD = "random"


def why_dead(split: SplitModel, method: str, ones: Sequence[Explanation], measured: Fidelity, seed: int = 0) -> str:
    """Say why a run is dead.

    Args:
        split: The model that the explanations are of.
        method: The method's name; random order itself is never dead.
        ones: Its explanations.
        measured: Their fidelity, at the headline sparsities at least.
        seed: Of the random orders.

    Returns:
        The reason in words; "" for a run that is alive.
    """
    if method == RANDOM_METHOD:
        return ""
    if constant_scores(ones):
        return "dead: all edges of an instance get the same score"
    own, floor = headline_sum(measured), random_sum(split, ones, seed)
    if own > floor:
        return ""
    return f"dead: fidelity {own:.2f}, summed over the sparsities, is not above random order's {floor:.2f}"


def constant_scores(ones: Sequence[Explanation]) -> bool:
    """Whether nearly all instances with at least two units have one score for all of them."""
    several = [one.unit_scores for one in ones if len(one.units) > 1]
    same = [float(scores.max() - scores.min()) < SAME_SCORE for scores in several]
    return bool(same) and fmean(same) >= COLLAPSED_SHARE


def headline_sum(measured: Fidelity) -> float:
    """The sum of the fidelity over the headline sparsities."""
    return sum(
        drop for share, drop in zip(measured.sparsity, measured.drop, strict=True) if share in HEADLINE_SPARSITIES
    )


def random_sum(split: SplitModel, ones: Sequence[Explanation], seed: int = 0) -> float:
    """The same for random orders of the units of the same instances, the mean of RANDOM_ORDERS."""
    generator = torch.Generator().manual_seed(seed)
    orders = ([_shuffled(one, generator) for one in ones] for _ in range(RANDOM_ORDERS))
    return fmean(headline_sum(fidelity(split, order, HEADLINE_SPARSITIES)) for order in orders)


def _shuffled(one: Explanation, generator: torch.Generator) -> Explanation:
    """The same instance with a random score for every unit, and no plan; that of edges of no unit, at −1, is unused."""
    draws = torch.rand(len(one.units) + 1, generator=generator)
    return replace(one, scores=draws[one.within(one.units.of_edge)], order=None)
