"""One method on the held-out instances of one network, edges really deleted.

Fidelity, flips and sufficiency at sparsities, the scores against the known motif, verified counterfactuals from the
ranking, and robustness to noise. One that cannot explain this model is left out, with its reason. A slow method is
measured on fewer instances (`Caps`), and the result says on which. The instances are drawn in one order for all
methods, so that the fewer are among the more, and noise does the same to them:

    counterfactuals  by the same search for all methods, the prefixes of the ranking; RCExplainer's own search, which
                     goes on where no prefix flips, stands beside it (search_…)
    jaccard          counterfactuals of graphs and of their copies at 10 % noise, by the same search for all methods
    labelled         test graphs labelled as the class (the paper's text; its code takes those predicted so); of graphs
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rcexplainer.benchmark.case import EXPLAINED, Case
from rcexplainer.benchmark.measures import NAN, motif_flips
from rcexplainer.benchmark.methods import METHODS, USUAL, Caps
from rcexplainer.benchmark.networks import sample
from rcexplainer.benchmark.results import OURS
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import Robustness, fidelity, motif_accuracy, motif_auc, robustness, sufficiency
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.metrics.flips import counterfactuals

NOISE, K = 0.1, 8  # at which methods are compared
DIGITS = 5  # of the numbers of each instance


@dataclass(frozen=True)
class Measured:
    """One method on the held-out instances of one network."""

    method: str
    seed: int
    held_out: int = 0  # instances that there are to explain
    instances: int = 0  # that were explained
    failed: int = 0
    fidelity: tuple[float, ...] = ()  # at SPARSITIES, as the next four
    flips: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()  # share predicted the same from the explanation alone
    kept_drop: tuple[float, ...] = ()  # what p loses then
    labelled: tuple[float, ...] = ()  # fidelity on the graphs labelled, not predicted, as the class
    labelled_graphs: int = 0
    auc: float = NAN  # of the motif
    accuracy: float = NAN  # of nodes and links: of the motif's nodes
    flipped: float = NAN  # share with a verified counterfactual
    minimal: float = NAN  # share of these that are verified to be minimal
    size: float = NAN  # median units in these
    search_flipped: float = NAN  # the same three by RCExplainer's own search
    search_minimal: float = NAN
    search_size: float = NAN
    robust: Robustness | None = None  # of graphs, the paper's protocol
    jaccard: float = NAN  # overlap of counterfactuals at 10 % noise
    jaccard_copies: int = 0  # that have one, as their graph has
    places: tuple[int, ...] = ()  # which of the held-out instances were explained
    drops: tuple[tuple[float, ...], ...] = ()  # [sparsity][instance]: what fidelity is the mean of
    robust_places: tuple[int, ...] = ()  # which were noised
    skipped: str = ""  # why there is nothing

    @property
    def robustness(self) -> float:
        """AUC at 10 % noise, k = 8."""
        if self.robust is None or NOISE not in self.robust.noise or K not in self.robust.k:
            return NAN
        return self.robust.auc[self.robust.noise.index(NOISE)][self.robust.k.index(K)]


def measure(
    case: Case,
    name: str,
    *,
    noise: Sequence[float] = (NOISE,),
    k: Sequence[int] = (K,),
    caps: Caps = USUAL,
    progress: bool = True,
) -> Measured:
    """Fit one method and measure it; a model that it cannot explain is said in the result. A missing extra raises: it
    may be there the next time."""
    try:
        fitted = METHODS[name].fit(case, progress)
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        return Measured(name, case.seed, skipped=str(error))
    return measured(case, name, fitted, noise=noise, k=k, caps=caps)


def measured(
    case: Case,
    name: str,
    fitted: FittedExplainer,
    *,
    noise: Sequence[float] = (NOISE,),
    k: Sequence[int] = (K,),
    caps: Caps = USUAL,
) -> Measured:
    """Everything but its times."""
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
    )


def _overlap(case: Case, fitted: FittedExplainer, most: int | None) -> tuple[float, int]:
    """Jaccard overlap of counterfactuals at 10 % noise, and of how many copies it is the mean."""
    graphs = case.graphs(case.first(most))
    if not graphs:
        return NAN, 0
    found = robustness(fitted, graphs, (NOISE,), K, seed=case.seed, search="prefix")
    assert found.jaccard is not None  # a search was asked for
    assert found.flipped is not None
    return found.jaccard[0], found.flipped[0]


def _labelled(case: Case, fitted: FittedExplainer, most: int | None) -> list[Explanation]:
    """Of the test graphs that are labelled as the class, whatever they are predicted; none where all are explained."""
    wanted = EXPLAINED.get(case.data.name)
    if wanted is None or case.within or most == 0:
        return []
    graphs = [graph for graph in case.data.subset("test") if int(graph.y) == wanted]
    chosen = [graphs[place] for place in sample(len(graphs), len(graphs) if most is None else most, case.seed)]
    if not chosen:
        return []
    return [one for one in fitted.explain(chosen, search="none", on_error="keep") if isinstance(one, Explanation)]


def _rounded(values: Any) -> Any:
    """Nested numbers with few digits: there are many of them."""
    if isinstance(values, tuple):
        return tuple(_rounded(value) for value in values)
    return None if values is None else round(values, DIGITS)


def uses_motif(case: Case) -> float:
    """The share of the held-out instances that flip without their motif: does the network use it?"""
    if not case.data.has_ground_truth:
        return NAN
    fitted = METHODS["random"].fit(case, False)
    return motif_flips(case.split, case.explain(fitted, case.some(None), "none"))
