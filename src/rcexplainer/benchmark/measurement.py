"""One method on the held-out instances of one network, edges really deleted.

Fidelity, flips and sufficiency at sparsities, the scores against the known motif, verified counterfactuals from the
ranking, and robustness to noise. A method that cannot explain this model is left out, with the reason. A slow method is
measured on fewer instances (`Caps`), and the result says on which ones. The instances are drawn in one order for all
methods: a smaller sample is contained in a larger one, and its noisy copies are the same.

    counterfactuals  by the same search for all methods, the prefixes of the ranking; RCExplainer's own search, which
                     goes on where no prefix flips, stands beside it (search_…)
    jaccard          overlap of the counterfactuals of graphs and of their copies at 10 % noise, by the same search
    labelled         test graphs labelled as the class (the paper's text; its code takes those predicted as the class)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.dead import why_dead
from rcexplainer.benchmark.layout import EXPLAINED
from rcexplainer.benchmark.measures import NAN, ROBUST_K, ROBUST_NOISE, motif_flips
from rcexplainer.benchmark.methods import METHODS, USUAL, Caps
from rcexplainer.benchmark.networks import on_device, sample
from rcexplainer.benchmark.results import OURS
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import Robustness, fidelity, motif_accuracy, motif_auc, robustness, sufficiency
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.metrics.flips import counterfactuals

DIGITS = 5  # of the numbers kept for each instance


@dataclass(frozen=True)
class Measured:
    """One method on the held-out instances of one network."""

    method: str
    seed: int
    held_out: int = 0  # held-out instances of the case
    instances: int = 0  # explained
    failed: int = 0
    fidelity: tuple[float, ...] = ()  # at SPARSITIES, as the next four
    flips: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()  # share predicted the same from the explanation alone
    kept_drop: tuple[float, ...] = ()  # drop of p then
    labelled: tuple[float, ...] = ()  # fidelity on the graphs labelled, not predicted, as the class
    labelled_graphs: int = 0
    auc: float = NAN  # of the scores against the motif's edges
    accuracy: float = NAN  # the motif's nodes among those of the top edges; node and link sets only
    flipped: float = NAN  # share with a verified counterfactual
    minimal: float = NAN  # share of these that are verified to be minimal
    size: float = NAN  # median number of units they delete
    search_flipped: float = NAN  # the same three by RCExplainer's own search
    search_minimal: float = NAN
    search_size: float = NAN
    robust: Robustness | None = None  # the paper's protocol; graph sets only
    jaccard: float = NAN  # overlap of counterfactuals at 10 % noise
    jaccard_copies: int = 0  # copies that have one, as their graph has
    places: tuple[int, ...] = ()  # the held-out instances that were explained
    drops: tuple[tuple[float, ...], ...] = ()  # [sparsity][instance]: fidelity is their mean
    robust_places: tuple[int, ...] = ()  # the graphs whose noisy copies were explained
    skipped: str = ""  # why nothing was measured
    dead: str = ""  # why its rankings say nothing

    @property
    def robustness(self) -> float:
        """AUC at 10 % noise, k = 8."""
        if self.robust is None or ROBUST_NOISE not in self.robust.noise or ROBUST_K not in self.robust.k:
            return NAN
        return self.robust.auc[self.robust.noise.index(ROBUST_NOISE)][self.robust.k.index(ROBUST_K)]


def measure(
    case: Case,
    name: str,
    *,
    noise: Sequence[float] = (ROBUST_NOISE,),
    k: Sequence[int] = (ROBUST_K,),
    caps: Caps = USUAL,
    progress: bool = True,
) -> Measured:
    """Fit one method and measure it.

    Args:
        case: The network and the instances.
        name: A method of `METHODS`.
        noise: Noise levels at which robustness is measured; none: it is not.
        k: Numbers of top edges that must survive the noise.
        caps: On how many instances each thing is measured.
        progress: Show a progress bar while fitting.

    Returns:
        Everything but times; `skipped` says why a method cannot explain this network.

    Raises:
        MissingExtraError: The method needs a package that is not installed; with it there would be a result.
    """
    try:
        fitted = METHODS[name].fit(case, progress)
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        return Measured(name, case.seed, skipped=str(error))
    return measure_fitted(case, name, fitted, noise=noise, k=k, caps=caps)


def measure_fitted(
    case: Case,
    name: str,
    fitted: FittedExplainer,
    *,
    noise: Sequence[float] = (ROBUST_NOISE,),
    k: Sequence[int] = (ROBUST_K,),
    caps: Caps = USUAL,
) -> Measured:
    """The same for a method that is fitted already."""
    if not case.count:
        return Measured(name, case.seed, skipped="there is no held-out instance to explain")
    caps = caps.within(None)
    places = case.some(caps.most)
    found = case.explained(fitted, places, "prefix")
    shown = list(found.values())
    if not shown:
        return Measured(name, case.seed, failed=len(places), skipped="it could explain none of the instances")
    without, alone = fidelity(case.split, shown, SPARSITIES), sufficiency(case.split, shown, SPARSITIES)
    prefixes = counterfactuals(shown)
    searched = counterfactuals(case.explain(fitted, places, "greedy")) if name == OURS else None
    labelled = _labelled(case, fitted, caps.labelled)
    noised = [] if case.within or not noise else case.first(caps.noisy)
    robust = robustness(fitted, case.graphs(noised), noise, k, seed=case.seed) if noised else None
    overlap, copies = _overlap(case, fitted, caps.overlaps) if noise else (NAN, 0)
    known = case.data.has_ground_truth
    return Measured(
        method=name,
        seed=case.seed,
        held_out=case.count,
        instances=len(shown),
        failed=len(places) - len(shown),
        fidelity=without.drop,
        flips=without.flips,
        kept=alone.kept,
        kept_drop=alone.drop,
        labelled=fidelity(case.split, labelled, SPARSITIES).drop if labelled else (),
        labelled_graphs=len(labelled),
        auc=motif_auc(shown) if known else NAN,
        accuracy=motif_accuracy(shown) if known and case.within else NAN,
        flipped=prefixes.flipped,
        minimal=prefixes.minimal,
        size=prefixes.size,
        search_flipped=NAN if searched is None else searched.flipped,
        search_minimal=NAN if searched is None else searched.minimal,
        search_size=NAN if searched is None else searched.size,
        robust=None if robust is None else replace(robust, each=_rounded(robust.each)),
        jaccard=overlap,
        jaccard_copies=copies,
        places=tuple(found),
        drops=_rounded(without.each),
        robust_places=tuple(noised),
        dead=why_dead(case.split, name, shown, without, case.seed),
    )


def _overlap(case: Case, fitted: FittedExplainer, most: int | None) -> tuple[float, int]:
    """Jaccard overlap of counterfactuals at 10 % noise, and the number of copies it is the mean of."""
    graphs = case.graphs(case.first(most))
    if not graphs:
        return NAN, 0
    found = robustness(fitted, graphs, (ROBUST_NOISE,), ROBUST_K, seed=case.seed, search="prefix")
    assert found.jaccard is not None  # there is a search
    assert found.flipped is not None
    return found.jaccard[0], found.flipped[0]


def _labelled(case: Case, fitted: FittedExplainer, most: int | None) -> list[Explanation]:
    """Explanations of test graphs labelled as the explained class, whatever their prediction; none if all classes are
    explained."""
    wanted = EXPLAINED.get(case.data.name)
    if wanted is None or case.within or most == 0:
        return []
    graphs = [graph for graph in case.data.subset("test") if int(graph.y) == wanted]
    chosen = [graphs[place] for place in sample(len(graphs), len(graphs) if most is None else most, case.seed)]
    if not chosen:
        return []
    found = fitted.explain(on_device(chosen, case.device), search="none", on_error="keep")
    return [one for one in found if isinstance(one, Explanation)]


def _rounded(values: Any) -> Any:
    """Nested numbers with few digits, as there are many of them."""
    if isinstance(values, tuple):
        return tuple(_rounded(value) for value in values)
    return None if values is None else round(values, DIGITS)


def uses_motif(case: Case) -> float:
    """The share of the held-out instances that flip when their motif is deleted; nan where motifs are not known."""
    if not case.data.has_ground_truth:
        return NAN
    fitted = METHODS["random"].fit(case, False)
    return motif_flips(case.split, case.explain(fitted, case.some(None), "none"))
