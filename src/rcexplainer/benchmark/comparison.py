"""All methods beside each other: the same network, the same held-out instances, edges really deleted.

For each method what `measured` says of it, and seconds (`clocking`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost import Timed, clocked, timed
from rcexplainer.benchmark.measurement import NOISE, Measured, measured, uses_motif
from rcexplainer.benchmark.measures import NAN
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.networks import each_seed
from rcexplainer.benchmark.results import Rows, column, mean, seeds_text, short, std
from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics.fidelity import SPARSITIES


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
