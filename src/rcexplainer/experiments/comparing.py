"""All methods beside each other: the same network, the same held-out instances, edges really deleted.

For each method: fidelity and flips at sparsities, the scores against the known motif, verified counterfactuals from the
ranking, robustness to noise, and seconds. A slow method takes a sample, which is stated; one that cannot explain
this model is left out, with its reason.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tqdm.auto import tqdm

from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments.accuracy import versions
from rcexplainer.experiments.cases import Case
from rcexplainer.experiments.measuring import NAN, motif_flips
from rcexplainer.experiments.methods import METHODS
from rcexplainer.experiments.results import OURS, Rows, column, mean, seeds_text, short, std
from rcexplainer.experiments.running import each_seed, sample
from rcexplainer.metrics import Robustness, fidelity, motif_accuracy, motif_auc, robustness
from rcexplainer.metrics.fidelity import SPARSITIES

TIMED = 10  # instances that are explained one by one, with a clock
NOISE, K, NOISY = 0.1, 8, 100  # noise at which methods are compared, of the top k edges, on so many graphs


@dataclass(frozen=True)
class Measured:
    """One method on the held-out instances of one network."""

    method: str
    seed: int
    instances: int = 0
    failed: int = 0
    fidelity: tuple[float, ...] = ()  # at SPARSITIES
    flips: tuple[float, ...] = ()
    auc: float = NAN  # of the motif
    accuracy: float = NAN  # of nodes and links: of the motif's nodes
    flipped: float = NAN  # share with a verified counterfactual
    size: float = NAN  # median units in these
    robust: Robustness | None = None  # of graphs, the paper's protocol
    seconds: float = NAN  # one instance alone, median
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
        for field in ("auc", "accuracy", "flipped", "size", "robustness", "seconds", "batched", "fit")
    }
    for place, share in enumerate(SPARSITIES):
        numbers[column(share)] = [one.fidelity[place] if one.fidelity else NAN for one in ones]
        numbers[f"flips {column(share)}"] = [one.flips[place] if one.flips else NAN for one in ones]
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
    started = time.perf_counter()
    try:
        fitted = entry.fit(case, progress)
    except (RCExplainerError, ImportError) as error:
        return Measured(name, case.seed, skipped=str(error))
    fit = time.perf_counter() - started
    if not case.count:
        return Measured(name, case.seed, fit=fit, skipped="there is no held-out instance to explain")
    limits = [limit for limit in (entry.most, most) if limit is not None]
    places = case.some(min(limits) if limits else None)
    singles = [_seconds(lambda place=place: case.explain(fitted, [place], "none")) for place in places[: TIMED + 1]]
    started = time.perf_counter()
    shown = case.explain(fitted, places, "none")
    batched = (time.perf_counter() - started) / len(places)
    if not shown:
        return Measured(name, case.seed, failed=len(places), fit=fit, skipped="it could explain none of the instances")
    searched = case.explain(fitted, places, "greedy" if name == OURS else "prefix")
    drops = fidelity(case.split, shown, SPARSITIES)
    sizes = [len(one.removed_units) for one in searched if (c := one.counterfactual) is not None and c.flipped]
    known = case.data.has_ground_truth
    noisy = None
    if noise and not case.within:
        few = [places[place] for place in sample(len(places), NOISY, case.seed)]
        noisy = robustness(fitted, case.graphs(few), noise, k, seed=case.seed)
    return Measured(
        method=name,
        seed=case.seed,
        instances=len(shown),
        failed=len(places) - len(shown),
        fidelity=drops.drop,
        flips=drops.flips,
        auc=motif_auc(shown) if known else NAN,
        accuracy=motif_accuracy(shown) if known and case.within else NAN,
        flipped=len(sizes) / len(searched) if searched else NAN,
        size=float(median(sizes)) if sizes else NAN,
        robust=noisy,
        seconds=median(singles[1:] or singles),
        batched=batched,
        fit=fit,
    )


def uses_motif(case: Case) -> float:
    """The share of the held-out instances that flip without their motif: does the network use it?"""
    if not case.data.has_ground_truth:
        return NAN
    fitted = METHODS["random"].fit(case, False)
    return motif_flips(case.split, case.explain(fitted, case.some(None), "none"))


def _seconds(run: Any) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
