"""All methods beside each other: the same network, the same held-out instances, edges really deleted.

For each method: fidelity, flips and sufficiency at sparsities, the scores against the known motif, verified
counterfactuals from the ranking, robustness to noise, and seconds. One that cannot explain this model is left out, with
its reason. A slow method costs no more than its share, and the result says on how many instances each number stands:

    instances   at most `most` of METHODS, a sample that depends on the seed alone
    seconds     one by one at least TIMED, and on while that takes less than TIMING seconds, up to OFTEN
    robust      at most NOISY graphs, and no more than ROBUST seconds allow by its own time in a batch, but FEW
    jaccard     counterfactuals of at most OVERLAPS graphs and their copies at 10 % noise, by the same search for all
                methods ("prefix"), where that takes less than OVERLAP seconds
    labelled    all test graphs labelled as the class (the paper's text; its code takes those predicted so), where
                they take less than LABELLED seconds; of graphs only
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from tqdm.auto import tqdm

from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments.accuracy import versions
from rcexplainer.experiments.cases import EXPLAINED, Case
from rcexplainer.experiments.measuring import NAN, motif_flips
from rcexplainer.experiments.methods import METHODS
from rcexplainer.experiments.results import OURS, Rows, column, mean, seeds_text, short, std
from rcexplainer.experiments.running import each_seed, sample
from rcexplainer.explaining import FittedExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import Robustness, fidelity, motif_accuracy, motif_auc, robustness, sufficiency
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.metrics.timing import summary

T = TypeVar("T")

TIMED, OFTEN, TIMING = 5, 50, 5.0
NOISE, K = 0.1, 8  # at which methods are compared
NOISY, FEW, ROBUST = 100, 5, 20.0
OVERLAPS, OVERLAP = 30, 30.0
LABELLED = 30.0


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
    robust: Robustness | None = None  # of graphs, the paper's protocol
    jaccard: float = NAN  # overlap of counterfactuals at 10 % noise
    jaccard_copies: int = 0  # that have one, as their graph has
    timed: int = 0  # instances explained alone, the first of them cold
    cold: float = NAN
    seconds: float = NAN  # one instance alone, median
    seconds_mean: float = NAN
    seconds_std: float = NAN
    seconds_p95: float = NAN
    batched: float = NAN  # each, all together
    fit: float = NAN
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

    def rows(self) -> Rows:
        """Means over the seeds, and under `std` standard deviations; a line for each method."""
        groups: dict[str, list[Measured]] = {}
        for one in self.results:
            groups.setdefault(one.method, []).append(one)
        return [_row(name, ones) for name, ones in groups.items()]

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
            "with a verified counterfactual, size ↓: its median edges; robust ↑: AUC at 10 % noise; milliseconds ↓ for "
            "one instance alone and in a batch"
        )
        skipped = "".join(f"\n{row['method']} is left out: {row['skipped']}" for row in rows if row["skipped"])
        return [(table, caption + skipped)]


def _row(name: str, ones: list[Measured]) -> dict[str, Any]:
    numbers = {
        field: [float(getattr(one, field)) for one in ones]
        for field in (
            "auc",
            "accuracy",
            "flipped",
            "minimal",
            "size",
            "jaccard",
            "robustness",
            "seconds",
            "batched",
            "fit",
        )
    }
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
    for seed in each_seed(seeds, dataset, progress):
        case = Case.of(dataset, model, seed, preset=preset, settings=settings, root=root, progress=progress)
        accuracy.append(case.accuracy)
        bar = tqdm(methods, desc="methods", unit="method", disable=not progress)
        noise = (NOISE,) if robust else ()
        results += [measure(case, name, noise=noise, most=most, progress=progress) for name in bar]
        flips.append(uses_motif(case))
    return Comparison(
        dataset, model, preset, dict(settings or {}), tuple(seeds), tuple(accuracy), tuple(flips), tuple(results)
    )


def measure(
    case: Case,
    name: str,
    *,
    noise: Sequence[float] = (NOISE,),
    k: Sequence[int] = (K,),
    most: int | None = None,
    progress: bool = True,
) -> Measured:
    """Fit one method and measure it; what it cannot do is said in the result, and costs the others nothing."""
    entry = METHODS[name]
    try:
        fitted, fit = _timed(lambda: entry.fit(case, progress))
    except (RCExplainerError, ImportError) as error:
        return Measured(name, case.seed, skipped=str(error))
    if not case.count:
        return Measured(name, case.seed, fit=fit, skipped="there is no held-out instance to explain")
    places = case.some(_least(entry.most, most))
    singles = _alone(case, fitted, places)
    shown, seconds = _timed(lambda: case.explain(fitted, places, "none"))
    batched = seconds / len(places)
    if not shown:
        return Measured(name, case.seed, failed=len(places), fit=fit, skipped="it could explain none of the instances")
    searched = case.explain(fitted, places, "greedy" if name == OURS else "prefix")
    turned = [one for one in searched if (found := one.counterfactual) is not None and found.flipped]
    minimal = [one for one in turned if (found := one.counterfactual) is not None and found.minimal]
    without, alone = fidelity(case.split, shown, SPARSITIES), sufficiency(case.split, shown, SPARSITIES)
    labelled = _labelled(case, fitted, batched, most)
    times = summary(singles, batched)
    overlap, copies = _overlap(case, fitted, places, batched) if noise else (NAN, 0)
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
        flipped=len(turned) / len(searched) if searched else NAN,
        minimal=len(minimal) / len(turned) if turned else NAN,
        size=float(median(len(one.removed_units) for one in turned)) if turned else NAN,
        robust=_robust(case, fitted, places, batched, noise, k),
        jaccard=overlap,
        jaccard_copies=copies,
        timed=times.graphs,
        cold=times.cold,
        seconds=times.median if times.graphs > 1 else times.cold,
        seconds_mean=times.mean,
        seconds_std=times.std,
        seconds_p95=times.p95,
        batched=times.batched,
        fit=fit,
    )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _alone(case: Case, fitted: FittedExplainer, places: Sequence[int]) -> list[float]:
    """Seconds for each of some instances by itself; the first warms up."""
    singles: list[float] = []
    for place in places[: OFTEN + 1]:
        if len(singles) > TIMED and sum(singles) > TIMING:
            break
        singles.append(_timed(partial(case.explain, fitted, [place], "none"))[1])
    return singles


def _robust(
    case: Case, fitted: FittedExplainer, places: Sequence[int], batched: float, noise: Sequence[float], k: Sequence[int]
) -> Robustness | None:
    """On as many graphs as there is time for; of nodes and links there is none."""
    if case.within or not noise:
        return None
    affordable = max(FEW, min(NOISY, int(ROBUST / (batched * (1 + len(noise))))))
    few = [places[place] for place in sample(len(places), affordable, case.seed)]
    return robustness(fitted, case.graphs(few), noise, k, seed=case.seed)


def _overlap(case: Case, fitted: FittedExplainer, places: Sequence[int], batched: float) -> tuple[float, int]:
    """Jaccard overlap of counterfactuals at 10 % noise, and of how many copies it is the mean."""
    if case.within or batched * 2 * OVERLAPS > OVERLAP:
        return NAN, 0
    few = [places[place] for place in sample(len(places), OVERLAPS, case.seed)]
    found = robustness(fitted, case.graphs(few), (NOISE,), K, seed=case.seed, search="prefix")
    assert found.jaccard is not None  # a search was asked for
    assert found.flipped is not None
    return found.jaccard[0], found.flipped[0]


def _labelled(case: Case, fitted: FittedExplainer, batched: float, most: int | None) -> list[Explanation]:
    """Of the test graphs that are labelled as the class, whatever they are predicted; none where all are explained."""
    wanted = EXPLAINED.get(case.data.name)
    if wanted is None or case.within:
        return []
    graphs = [graph for graph in case.data.subset("test") if int(graph.y) == wanted]
    chosen = [graphs[place] for place in sample(len(graphs), len(graphs) if most is None else most, case.seed)]
    if not chosen or batched * len(chosen) > LABELLED:
        return []
    return [one for one in fitted.explain(chosen, search="none", on_error="keep") if isinstance(one, Explanation)]


def uses_motif(case: Case) -> float:
    """The share of the held-out instances that flip without their motif: does the network use it?"""
    if not case.data.has_ground_truth:
        return NAN
    fitted = METHODS["random"].fit(case, False)
    return motif_flips(case.split, case.explain(fitted, case.some(None), "none"))


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    return run(), time.perf_counter() - started
