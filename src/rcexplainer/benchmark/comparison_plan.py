"""Many methods beside each other: the same networks, the same sample of held-out instances, edges really deleted.

For each method what `measurement` measures of it, and its times (`cost`). A slow method is measured on fewer instances,
and one that cannot explain a network is left out, with the reason.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost import Timed, clock_fitted, milliseconds
from rcexplainer.benchmark.groups import MethodResult, MotifUse, NetworkResult, explained_at_random
from rcexplainer.benchmark.measurement import Measured, measure_fitted
from rcexplainer.benchmark.measures import NAN, ROBUST_CAPTION, ROBUST_NOISE, motif_flips
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.motif_directions import direction_text, known_direction, mean_direction
from rcexplainer.benchmark.plan import Evaluation, Plan
from rcexplainer.benchmark.recovery import recover_fitted
from rcexplainer.benchmark.results import Rows, Tables, column, mean, seeds_text, short, std
from rcexplainer.explanation import EdgeReading
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import MotifRecovery, RegionAgreement
from rcexplainer.metrics.fidelity import SPARSITIES

AVERAGED = (
    "auc", "accuracy", "flipped", "minimal", "size", "search_flipped", "search_size", "jaccard", "strict_jaccard",
    "robustness", "strict_robustness",
)  # fmt: skip
RECOVERY_GROUPS = {"flipping": "flip without their motif", "everyone": "all"}
SHOWN_SPARSITIES = (".95", ".90", ".80", ".70")


def comparison_plan(methods: Sequence[str], robust: bool = True) -> Plan:
    """The plan for comparing many methods.

    Args:
        methods: Names of `METHODS`.
        robust: Measure robustness to noise, the paper's and strict.
    """

    def measure(case: Case, name: str, fitted: FittedExplainer, seconds: float) -> MethodResult:
        caps = METHODS[name].caps.within(None)
        found = measure_fitted(case, name, fitted, noise=(ROBUST_NOISE,) if robust else (), caps=caps)
        time = clock_fitted(case, name, fitted, seconds, caps.most)
        known = case.within and case.data.has_ground_truth
        recovered = recover_fitted(case, name, fitted, caps.most) if known else None
        return MethodResult(name, case.seed, time, found.failed, held_out=found, recovered=recovered)

    return Plan(measure, _network, _summary, _tables, tuple(methods), explains="one class", skips=True)


def skipped(name: str, seed: int, reason: str) -> MethodResult:
    """A method that cannot explain a network."""
    return MethodResult(name, seed, Timed(name, seed, skipped=reason), held_out=Measured(name, seed, skipped=reason))


def _network(case: Case) -> NetworkResult:
    """Whether the network uses the motif; which way the edges push nodes and links is measured with their recovery."""
    known = case.data.has_ground_truth
    ones = list(explained_at_random(case, case.some(None)).values()) if known else []
    direction = None if case.within else known_direction(case.split, ones)
    use = MotifUse("held-out", "", case.count, motif_flips(case.split, ones), direction=direction)
    return NetworkResult(case.seed, case.accuracy, (use,))


def _rows(evaluation: Evaluation) -> Rows:
    """Means over the seeds, and under `std` standard deviations; a line for each method."""
    groups: dict[str, list[tuple[Measured, Timed]]] = {}
    for one in evaluation.results:
        assert one.held_out is not None  # this plan measures it
        groups.setdefault(one.method, []).append((one.held_out, one.time))
    return [_row(name, [one for one, _ in both], [time for _, time in both]) for name, both in groups.items()]


def _row(name: str, ones: list[Measured], times: list[Timed]) -> dict[str, Any]:
    numbers = {field: [float(getattr(one, field)) for one in ones] for field in AVERAGED}
    numbers |= {field: [float(getattr(one, field)) for one in times] for field in ("seconds", "batched", "fit")}
    numbers["edgeless"] = [one.edgeless for one in ones]
    numbers["region_difference"] = [(one.region_agreement or RegionAgreement()).difference for one in ones]
    for place, share in enumerate(SPARSITIES):
        numbers[column(share)] = [one.fidelity[place] if one.fidelity else NAN for one in ones]
        numbers[f"flips {column(share)}"] = [one.flips[place] if one.flips else NAN for one in ones]
        numbers[f"kept {column(share)}"] = [one.kept[place] if one.kept else NAN for one in ones]
    return {
        "method": name,
        "instances": sum(one.instances for one in ones),
        "failed": sum(one.failed for one in ones),
        "skipped": next((one.skipped for one in ones if one.skipped), ""),
        "dead": next((one.dead for one in ones if one.dead), ""),
        **{key: mean(values) for key, values in numbers.items()},
        "std": {key: std(values) for key, values in numbers.items()},
    }


def _motif_flips(evaluation: Evaluation) -> list[float]:
    return [use.flips for network in evaluation.networks for use in network.motif_use]


def _summary(evaluation: Evaluation) -> dict[str, Any]:
    recovered = _recovery_rows(evaluation)
    return {
        "means": _rows(evaluation),
        "sparsities": SPARSITIES,
        "motif_flips": _motif_flips(evaluation),
        **({"recovery": recovered} if recovered else {}),
    }


def _recovery_rows(evaluation: Evaluation) -> Rows:
    """How well each reading of each method finds the motif: means over the seeds; node and link sets only."""
    rows: Rows = []
    for method in dict.fromkeys(one.method for one in evaluation.results):
        own = [one.recovered for one in evaluation.results if one.method == method and one.recovered is not None]
        for group, title in RECOVERY_GROUPS.items():
            found = [made for one in own if (made := getattr(one, group)) is not None]
            for reading in get_args(EdgeReading):
                ones = [known for one in found if (known := getattr(one, reading)) is not None]
                if ones:
                    names = [field.name for field in fields(MotifRecovery)]
                    numbers = {name: mean([getattr(one, name) for one in ones]) for name in names}
                    rows.append({"method": method, "instances": title, "reading": reading, **numbers})
    return rows


def _recovery_table(evaluation: Evaluation) -> Tables:
    """The same as a table; none for graph sets."""
    rows = _recovery_rows(evaluation)
    shown = [{key: f"{one:.3f}" if isinstance(one, float) else one for key, one in row.items()} for row in rows]
    ways = [one.recovered.everyone.direction for one in evaluation.results if one.recovered and one.recovered.everyone]
    caption = (
        f"{evaluation.dataset}, {evaluation.arch}, networks {evaluation.recipe}: recovery of the motif by each "
        "reading, ↑; live_auc: over edges that can matter, auc: over all edges of the computation graphs, node_auc: "
        f"mean of the instances' own over live edges; {direction_text(mean_direction(ways))}"
    )
    return [(shown, caption)] if shown else []


def _tables(evaluation: Evaluation) -> Tables:
    rows = _rows(evaluation)
    best = {name: max((row[name] for row in rows if row[name] == row[name]), default=NAN) for name in SHOWN_SPARSITIES}
    table = [
        {
            "method": row["method"],
            "instances": row["instances"],
            **{name: short(row[name]) + ("*" if row[name] == best[name] else "") for name in SHOWN_SPARSITIES},
            "AUC": short(row["auc"]),
            "accuracy": short(row["accuracy"]),
            "flipped": short(row["flipped"]),
            "size": short(row["size"]),
            "searched": short(row["search_flipped"]),
            "robust": short(row["robustness"]),
            "robust, strict": short(row["strict_robustness"]),
            "one ms": milliseconds(row["seconds"]),
            "batch ms": milliseconds(row["batched"]),
            "fit s": "–" if row["fit"] != row["fit"] else f"{row['fit']:.1f}",
            "regions": short(row["region_difference"]),
            "edgeless": short(row["edgeless"]),
        }
        for row in rows
        if not row["skipped"]
    ]
    flips = ", ".join(short(share) for share in _motif_flips(evaluation))
    caption = (
        f"{evaluation.dataset}, {evaluation.arch}, held-out instances, {seeds_text(len(evaluation.seeds))}: fidelity "
        f"at each sparsity (↑, * best); AUC ↑ and accuracy ↑ of the motif (deleting it flips {flips}); flipped ↑: "
        "share with a verified counterfactual among the prefixes of the ranking, size ↓: its median edges; searched: "
        f"flipped where RCExplainer searches on; {ROBUST_CAPTION}, ↑; milliseconds ↓ for one instance alone and in a "
        "batch, one thread"
    )
    caption += (
        "; regions: how much more alike the kinds of the top 8 edges are within a decision region than across regions "
        "of the class (– with one region per class); edgeless: share that keeps its prediction without any edge"
    )
    ways = [use.direction for network in evaluation.networks for use in network.motif_use if use.direction is not None]
    if ways:  # of graph sets; the table of recovery says it of nodes and links
        caption += f"; {direction_text(mean_direction(ways))}"
    left_out = "".join(f"\n{row['method']} is left out: {row['skipped']}" for row in rows if row["skipped"])
    dead = "".join(f"\n{row['method']} is {row['dead']}" for row in rows if row["dead"])
    return [(table, caption + left_out + dead), *_recovery_table(evaluation)]
