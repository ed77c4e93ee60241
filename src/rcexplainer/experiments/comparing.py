"""All methods beside each other: the same network, the same held-out instances, edges really deleted.

For each method: fidelity, flips and sufficiency at sparsities, the scores against the known motif, verified
counterfactuals from the ranking, robustness to noise, and seconds. One that cannot explain this model is left out, with
its reason. A slow method is measured on fewer instances (`Caps`), and the result says on which. The instances are drawn
in one order for all methods, so that the fewer are among the more, and noise does the same to them:

    counterfactuals  by the same search for all methods, the prefixes of the ranking; RCExplainer's own search, which
                     goes on where no prefix flips, stands beside it (search_…)
    jaccard          counterfactuals of graphs and of their copies at 10 % noise, by the same search for all methods
    labelled         test graphs labelled as the class (the paper's text; its code takes those predicted so); of graphs
    seconds          see `clocking`
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.experiments.accuracy import versions
from rcexplainer.experiments.cases import EXPLAINED, Case
from rcexplainer.experiments.clocking import Timed, clocked, timed
from rcexplainer.experiments.measuring import NAN, motif_flips
from rcexplainer.experiments.methods import METHODS, USUAL, Caps
from rcexplainer.experiments.results import OURS, Rows, column, mean, seeds_text, short, std
from rcexplainer.experiments.running import each_seed, sample
from rcexplainer.explaining import FittedExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import Robustness, fidelity, motif_accuracy, motif_auc, robustness, sufficiency
from rcexplainer.metrics.counterfactual import counterfactuals
from rcexplainer.metrics.fidelity import SPARSITIES

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


@dataclass(frozen=True)
class Comparison:
    dataset: str
    model: str
    preset: str
    settings: dict[str, Any]
    seeds: tuple[int, ...]
    gnn_accuracy: tuple[float, ...]
    motif_flips: tuple[float, ...]  # share of the instances that flip when their motif is deleted, by seed
    results: tuple[Measured, ...]
    times: tuple[Timed, ...]

    def rows(self) -> Rows:
        """Means over the seeds, and under `std` standard deviations; a line for each method."""
        groups: dict[str, list[tuple[Measured, Timed]]] = {}
        for one, took in zip(self.results, self.times, strict=True):
            groups.setdefault(one.method, []).append((one, took))
        return [_row(name, [one for one, _ in both], [took for _, took in both]) for name, both in groups.items()]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "sparsities": SPARSITIES, "means": self.rows(), "versions": versions()}

    def tables(self) -> list[tuple[Rows, str]]:
        rows = self.rows()
        shares = [".95", ".90", ".80", ".70"]
        best = {name: max((row[name] for row in rows if row[name] == row[name]), default=NAN) for name in shares}
        table = [
            {
                "method": row["method"],
                "instances": row["instances"],
                **{name: short(row[name]) + ("*" if row[name] == best[name] else "") for name in shares},
                "AUC": short(row["auc"]),
                "accuracy": short(row["accuracy"]),
                "flipped": short(row["flipped"]),
                "size": short(row["size"]),
                "searched": short(row["search_flipped"]),
                "robust": short(row["robustness"]),
                "one ms": _milliseconds(row["seconds"]),
                "batch ms": _milliseconds(row["batched"]),
                "fit s": "–" if row["fit"] != row["fit"] else f"{row['fit']:.1f}",
            }
            for row in rows
            if not row["skipped"]
        ]
        flips = ", ".join(short(share) for share in self.motif_flips)
        caption = (
            f"{self.dataset}, {self.model}, held-out instances, {seeds_text(len(self.seeds))}: fidelity at each "
            f"sparsity (↑, * best); AUC ↑ and accuracy ↑ of the motif (deleting it flips {flips}); flipped ↑: share "
            "with a verified counterfactual among the prefixes of the ranking, size ↓: its median edges; searched: "
            "flipped where RCExplainer searches on; robust ↑: AUC at 10 % noise; milliseconds ↓ for one instance alone "
            "and in a batch, one thread"
        )
        skipped = "".join(f"\n{row['method']} is left out: {row['skipped']}" for row in rows if row["skipped"])
        return [(table, caption + skipped)]


AVERAGED = ("auc", "accuracy", "flipped", "minimal", "size", "search_flipped", "search_size", "jaccard", "robustness")


def _row(name: str, ones: list[Measured], times: list[Timed]) -> dict[str, Any]:
    numbers = {field: [float(getattr(one, field)) for one in ones] for field in AVERAGED}
    numbers |= {field: [float(getattr(one, field)) for one in times] for field in ("seconds", "batched", "fit")}
    for place, share in enumerate(SPARSITIES):
        numbers[column(share)] = [one.fidelity[place] if one.fidelity else NAN for one in ones]
        numbers[f"flips {column(share)}"] = [one.flips[place] if one.flips else NAN for one in ones]
        numbers[f"kept {column(share)}"] = [one.kept[place] if one.kept else NAN for one in ones]
    return {
        "method": name,
        "instances": sum(one.instances for one in ones),
        "failed": sum(one.failed for one in ones),
        "skipped": next((one.skipped for one in ones if one.skipped), ""),
        **{key: mean(values) for key, values in numbers.items()},
        "std": {key: std(values) for key, values in numbers.items()},
    }


def _milliseconds(seconds: float) -> str:
    return "–" if seconds != seconds else f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def compare(
    dataset: str,
    model: str,
    seeds: Sequence[int],
    methods: Sequence[str],
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    root: Path | None = None,
    robust: bool = True,
    most: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Train, fit, explain and measure every method, once for each seed; `most` instances at most."""
    accuracy: list[float] = []
    flips: list[float] = []
    results: list[Measured] = []
    times: list[Timed] = []
    for seed in each_seed(seeds, dataset, progress):
        case = Case.of(dataset, model, seed, preset=preset, settings=settings, root=root, progress=progress)
        accuracy.append(case.accuracy)
        for name in tqdm(methods, desc="methods", unit="method", disable=not progress):
            caps = METHODS[name].caps.within(most)
            try:
                fitted, fit = clocked(partial(METHODS[name].fit, case, progress))
            except (RCExplainerError, ImportError) as error:
                results.append(Measured(name, seed, skipped=str(error)))
                times.append(Timed(name, seed, skipped=str(error)))
            else:
                results.append(measured(case, name, fitted, noise=(NOISE,) if robust else (), caps=caps))
                times.append(timed(case, name, fitted, fit, caps.most))
        flips.append(uses_motif(case))
    return Comparison(
        dataset,
        model,
        preset,
        dict(settings or {}),
        tuple(seeds),
        tuple(accuracy),
        tuple(flips),
        tuple(results),
        tuple(times),
    )


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
