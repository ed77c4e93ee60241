"""One method on the held-out nodes or links of one network: does it find the motif, by either of its readings?

    flipping    instances whose prediction changes when their own motif is deleted: there the motif is the truth
    everyone    all of them: a motif that the network does not need may still be what it looks at

Of each group: recovery of the motif by the scores and, where the method has it, by the relevance; fidelity and
counterfactuals of the scores, verified; and which share of the motif's edges supports or opposes the prediction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.dead import why_dead
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.method_outcome import CounterfactualShares, MethodOutcome, fit_or_reason, search_fields
from rcexplainer.benchmark.results import OURS
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel, delete_edges
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import (
    MotifDirection,
    MotifRecovery,
    fidelity,
    motif_direction,
    motif_recovery,
)
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.metrics.motif import motif_edges


@dataclass(frozen=True)
class GroupRecovery(CounterfactualShares):
    """One method on one group of instances."""

    instances: int
    scores: MotifRecovery
    relevance: MotifRecovery | None  # of methods that have this reading
    direction: MotifDirection  # of the motif's edges; the same for every method
    fidelity: tuple[float, ...]  # of the scores, at SPARSITIES, as the next one
    flips: tuple[float, ...]


@dataclass(frozen=True)
class Recovered(MethodOutcome):
    """Both groups."""

    flipping: GroupRecovery | None = None  # None where no instance flips without its motif
    everyone: GroupRecovery | None = None
    dead: str = ""  # why its rankings say nothing


def recover(case: Case, name: str, most: int | None = None, progress: bool = True) -> Recovered:
    """Fit one method and measure it.

    Args:
        case: The network and the instances, nodes or links of a set with known motifs.
        name: A method of `METHODS`.
        most: On how many instances; None: all of them.
        progress: Show a progress bar while fitting.

    Returns:
        The result; `skipped` says why a method cannot explain this network.

    Raises:
        MissingExtraError: The method needs a package that is not installed; with it there would be a result.
    """
    fitted = fit_or_reason(case, name, progress)
    if isinstance(fitted, str):
        return Recovered(name, case.seed, skipped=fitted)
    return recover_fitted(case, name, fitted, most)


def recover_fitted(case: Case, name: str, fitted: FittedExplainer, most: int | None = None) -> Recovered:
    """The same for a method that is fitted already."""
    if not case.count:
        return Recovered(name, case.seed, skipped="there is no held-out instance to explain")
    places = case.some(most)
    found = case.explained(fitted, places, "prefix")
    shown = list(found.values())
    if not shown:
        return Recovered(name, case.seed, failed=len(places), skipped="it could explain none of the instances")
    searched = case.explained(fitted, list(found), "greedy") if name == OURS else None
    turned = without_motif(case.split, shown).tolist()
    groups = {
        "flipping": [place for place, flips in zip(found, turned, strict=True) if flips],
        "everyone": list(found),
    }
    measured = {
        group: _group(
            case.split,
            [found[place] for place in own],
            None if searched is None else [searched[place] for place in own if place in searched],
        )
        for group, own in groups.items()
        if own
    }
    return Recovered(
        method=name,
        seed=case.seed,
        held_out=case.count,
        instances=len(shown),
        failed=len(places) - len(shown),
        places=tuple(found),
        dead=why_dead(case.split, name, shown, fidelity(case.split, shown, SPARSITIES), case.seed),
        flipping=measured.get("flipping"),
        everyone=measured["everyone"],
    )


def without_motif(split: SplitModel, ones: Sequence[Explanation]) -> Tensor:
    """Whether each prediction changes when the instance's own motif is really deleted, [n]."""
    after = predictions(split, [delete_edges(one.instance, motif_edges(one)) for one in ones])
    return after != torch.tensor([one.prediction for one in ones])


def second_reading(ones: Sequence[Explanation]) -> MotifRecovery | None:
    """How well the relevance finds the motif; None for a method that does not have this reading."""
    return motif_recovery(ones, "relevance") if all(one.relevance is not None for one in ones) else None


def _group(split: SplitModel, ones: list[Explanation], searched: list[Explanation] | None) -> GroupRecovery:
    without = fidelity(split, ones, SPARSITIES)
    return GroupRecovery(
        len(ones),
        motif_recovery(ones),
        second_reading(ones),
        motif_direction(split, ones),
        without.drop,
        without.flips,
        **search_fields(ones, searched),
    )
