"""One method on the held-out instances of one network, edges really deleted.

Fidelity, flips and sufficiency at sparsities, the scores against the known motif, verified counterfactuals from the
ranking, and robustness to two kinds of noise. A method that cannot explain this model is left out, with the reason. A
slow method is measured on fewer instances (`Caps`), and the result says on which ones. The instances are drawn in one
order for all methods: a smaller sample is contained in a larger one, and its noisy copies are the same.

    counterfactuals  by the same search for all methods, the prefixes of the ranking; RCExplainer's own search, which
                     goes on where no prefix flips, stands beside it (search_…)
    robust, strict   the same top edges in noisy copies of the same graphs, by the paper's noise and by strict noise
    jaccard          overlap of the counterfactuals of graphs and of their copies at 10 % noise, by the same search
    labelled         test graphs labelled as the class (the paper's text; its code takes those predicted as the class)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.dead import why_dead
from rcexplainer.benchmark.layout import EXPLAINED
from rcexplainer.benchmark.measures import NAN, ROBUST_K, ROBUST_NOISE, keeps_without_edges, motif_flips
from rcexplainer.benchmark.method_outcome import CounterfactualShares, MethodOutcome, fit_or_reason, search_fields
from rcexplainer.benchmark.methods import METHODS, USUAL, Caps
from rcexplainer.benchmark.networks import on_device, sample
from rcexplainer.benchmark.noise_measures import compared_auc, overlap, rounded, under_noise
from rcexplainer.benchmark.records import LATER
from rcexplainer.benchmark.results import OURS
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import Robustness, fidelity, motif_accuracy, motif_auc, sufficiency
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.metrics.region_agreement import RegionAgreement, region_agreement


@dataclass(frozen=True)
class Measured(MethodOutcome, CounterfactualShares):
    """Everything but times."""

    fidelity: tuple[float, ...] = ()  # at SPARSITIES, as the next four
    flips: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()  # share predicted the same from the explanation alone
    kept_drop: tuple[float, ...] = ()  # drop of p then
    labelled: tuple[float, ...] = ()  # fidelity on the graphs labelled, not predicted, as the class
    labelled_graphs: int = 0
    auc: float = NAN  # of the scores against the motif's edges
    accuracy: float = NAN  # the motif's nodes among those of the top edges; node and link sets only
    robust: Robustness | None = None  # under the paper's noise; graph sets only
    strict: Robustness | None = None  # the same graphs under strict noise
    jaccard: float = NAN  # overlap of counterfactuals at 10 % noise, the paper's
    jaccard_copies: int = 0  # copies that have one, as their graph has
    strict_jaccard: float = NAN  # the same two under strict noise
    strict_jaccard_copies: int = 0
    drops: tuple[tuple[float, ...], ...] = ()  # [sparsity][instance]: fidelity is their mean
    robust_places: tuple[int, ...] = ()  # the graphs whose noisy copies were explained
    edgeless: float = field(default=NAN, metadata=LATER)  # share that keeps its prediction without any edge
    region_agreement: RegionAgreement | None = field(default=None, metadata=LATER)  # of explainers that have regions
    dead: str = field(default="", metadata=LATER)  # why its rankings say nothing

    @property
    def robustness(self) -> float:
        """AUC at 10 % noise, k = 8, the paper's protocol."""
        return compared_auc(self.robust)

    @property
    def strict_robustness(self) -> float:
        """The same under strict noise."""
        return compared_auc(self.strict)


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
        noise: Noise levels at which robustness is measured, by both protocols; none: it is not.
        k: Numbers of top edges that must survive the noise.
        caps: On how many instances each thing is measured.
        progress: Show a progress bar while fitting.

    Returns:
        Everything but times; `skipped` says why a method cannot explain this network.

    Raises:
        MissingExtraError: The method needs a package that is not installed; with it there would be a result.
    """
    fitted = fit_or_reason(case, name, progress)
    if isinstance(fitted, str):
        return Measured(name, case.seed, skipped=fitted)
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
    searched = case.explain(fitted, places, "greedy") if name == OURS else None
    labelled = _labelled(case, fitted, caps.labelled)
    noised = [] if case.within or not noise else case.first(caps.noisy)
    compared = [] if case.within or not noise else case.first(caps.overlaps)
    overlaps = overlap(case, fitted, found, compared, "paper")
    strict_overlaps = overlap(case, fitted, found, compared, "strict")
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
        **search_fields(shown, searched),
        robust=under_noise(case, fitted, found, noised, noise, k, "paper"),
        strict=under_noise(case, fitted, found, noised, noise, k, "strict"),
        jaccard=overlaps[0],
        jaccard_copies=overlaps[1],
        strict_jaccard=strict_overlaps[0],
        strict_jaccard_copies=strict_overlaps[1],
        edgeless=keeps_without_edges(case.split, shown),
        region_agreement=_region_agreement(case, fitted, shown),
        places=tuple(found),
        drops=rounded(without.each),
        robust_places=tuple(noised),
        dead=why_dead(case.split, name, shown, without, case.seed),
    )


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


def _region_agreement(case: Case, fitted: FittedExplainer, shown: list[Explanation]) -> RegionAgreement | None:
    """Of RCExplainer and its variants: the others have no regions."""
    return region_agreement(fitted, shown, seed=case.seed) if isinstance(fitted, FittedRCExplainer) else None


def uses_motif(case: Case) -> float:
    """The share of the held-out instances that flip when their motif is deleted; nan where motifs are not known."""
    if not case.data.has_ground_truth:
        return NAN
    fitted = METHODS["random"].fit(case, False)
    return motif_flips(case.split, case.explain(fitted, case.some(None), "none"))
