"""The results of an evaluation: every seed's, their means ± standard deviations, and tables for a terminal."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any, Literal

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.benchmark.measures import NAN, Counterfactuals, EdgeSet
from rcexplainer.benchmark.reliance import LITTLE, Reliance
from rcexplainer.metrics import Fidelity

SPARSITIES = (0.95, 0.90, 0.85, 0.80, 0.75)
BELOW = 1  # from this place in SPARSITIES on, scores are to be above occlusion's
OURS = "rcexplainer"

FIRST = (
    "first: the shares that greedy deletion, and deleting the motif, can flip; motif alone: share with the same "
    f"prediction when nothing else is left; idle edges: share of the motif's that change p by less than {LITTLE} when "
    "deleted alone; other edges: share of all others that change it by more; two flip: of some small "
    "graphs, the share that flips without some one or two edges, by trying every pair"
)

Group = Literal["predicted", "labelled"]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Flippable:
    """What deleting edges can do to the test graphs of one class at all, for one seed."""

    seed: int
    group: Group
    label: str  # the class
    graphs: int
    greedy: float  # share that greedy deletion flips within 30 % of the edges
    motif: float  # share that flips when its motif is deleted, of the graphs with a known motif
    reliance: Reliance | None  # of the network on the motif, where it is known

    def numbers(self) -> dict[str, float]:
        """Everything that has a mean over the seeds."""
        return {"greedy": self.greedy, "motif": self.motif, **asdict(self.reliance or Reliance(NAN, NAN, NAN, NAN))}


@dataclass(frozen=True)
class Result:
    """One method on the test graphs of one class, for one seed."""

    seed: int
    group: Group
    label: str
    graphs: int
    method: str
    fidelity: Fidelity
    ratio: float  # Σ fidelity ÷ Σ greedy deletion's, over the sparsities; nan where greedy's mean is under .10
    difference: float  # mean fidelity − greedy deletion's
    above_occlusion: tuple[bool, ...]  # at each sparsity from .90 down
    motif_auc: float
    robustness: float  # AUC at 10 % noise, the paper's protocol, k = 8; of graphs predicted so only
    counterfactuals: Counterfactuals
    edges: EdgeSet | None  # of RCExplainer, whose scores are calibrated

    def numbers(self) -> dict[str, float]:
        """Everything that has a mean over the seeds, by the names of its columns."""
        edges = self.edges or EdgeSet(NAN, NAN)
        return {
            **{column(share): drop for share, drop in zip(SPARSITIES, self.fidelity.drop, strict=True)},
            "ratio": self.ratio,
            "difference": self.difference,
            "AUC": self.motif_auc,
            "robustness": self.robustness,
            **asdict(self.counterfactuals),
            "edges_sparsity": edges.sparsity,
            "edges_flips": edges.flips,
        }


@dataclass(frozen=True)
class Cost:
    """What one method costs, for one seed."""

    seed: int
    method: str
    fit: float  # seconds
    explain: float  # median seconds for the scores of one graph alone
    failed: int  # test graphs that it could not explain; they are left out for all methods


@dataclass(frozen=True)
class Evaluation:
    dataset: str
    model: str
    preset: str
    settings: dict[str, Any]
    seeds: tuple[int, ...]
    accuracy: tuple[float, ...]  # of each seed's GNN, test
    flippable: tuple[Flippable, ...]
    results: tuple[Result, ...]
    costs: tuple[Cost, ...]

    def first(self) -> Rows:
        """Before anything else: what can be flipped at all; means over the seeds."""
        groups: dict[tuple[str, str], list[Flippable]] = {}
        for one in self.flippable:
            groups.setdefault((one.group, one.label), []).append(one)
        return [
            {
                "group": group,
                "class": label,
                "graphs": mean([one.graphs for one in ones]),
                **summary([one.numbers() for one in ones]),
            }
            for (group, label), ones in groups.items()
        ]

    def rows(self) -> Rows:
        """Means over the seeds, a line for each group, class and method; `std` holds the standard deviations."""
        groups: dict[tuple[str, str, str], list[Result]] = {}
        for one in self.results:
            groups.setdefault((one.group, one.label, one.method), []).append(one)
        rows = {
            key: dict(zip(("group", "class", "method"), key, strict=True))
            | {"graphs": mean([one.graphs for one in ones])}
            | summary([one.numbers() for one in ones])
            for key, ones in groups.items()
        }
        for (group, label, _), row in rows.items():
            other = rows[group, label, "occlusion"]
            row["above_occlusion"] = [row[column(share)] > other[column(share)] for share in SPARSITIES[BELOW:]]
        return list(rows.values())

    def cost_rows(self) -> Rows:
        """Means over the seeds, a line for each method."""
        groups: dict[str, list[Cost]] = {}
        for one in self.costs:
            groups.setdefault(one.method, []).append(one)
        return [
            {
                "method": method,
                **summary([{"fit_seconds": one.fit, "seconds_each": one.explain} for one in ones]),
                "failed": sum(one.failed for one in ones),
            }
            for method, ones in groups.items()
        ]

    def to_json(self) -> dict[str, Any]:
        means = {"first": self.first(), "means": self.rows(), "mean_costs": self.cost_rows()}
        return {"protocol": "held-out", **means, **asdict(self), "versions": versions()}

    def tables(self) -> list[tuple[Rows, str]]:
        """The same, short enough for a terminal, each table with its caption."""
        return [
            (_first_table(self.first()), FIRST),
            (
                _headline(self.rows(), len(self.seeds)),
                f"test graphs predicted as the class, {seeds_text(len(self.seeds))}: fidelity at each sparsity; ratio "
                "to greedy (Δ: the difference, where greedy's mean is under .10); above: at how many sparsities from "
                ".90 down the fidelity is above occlusion's; AUC of the motif; robust: AUC at 10 % noise; flipped and "
                "size of counterfactuals within 30 % of the edges",
            ),
            (
                _own_table(self.rows(), len(self.seeds)),
                "rcexplainer on graphs predicted and labelled so; edges: sparsity of {score > ½} → share that flips "
                "without it; minimal: share of the counterfactuals, share of a sample confirmed by asking again",
            ),
            (_cost_table(self.cost_rows()), "seconds to fit; median for the scores of one graph alone"),
        ]


def _first_table(rows: Rows) -> Rows:
    return [
        {
            "class": row["class"],
            "graphs": f"{row['graphs']:.0f} {row['group']}",
            "greedy flips": short(row["greedy"]),
            "motif flips": short(row["motif"]),
            "motif alone": short(row["enough"]),
            "idle edges": short(row["idle"]),
            "other edges": short(row["foreign"]),
            "two flip": short(row["two"]),
        }
        for row in rows
    ]


def _headline(rows: Rows, seeds: int) -> Rows:
    return [
        {
            "class": row["class"],
            "method": row["method"],
            **{column(share): short(row[column(share)]) for share in SPARSITIES},
            "ratio": _ratio(row, seeds),
            "above": "–" if row["method"] == "occlusion" else _count(row["above_occlusion"]),
            "AUC": short(row["AUC"]),
            "robust": short(row["robustness"]),
            "flipped": short(row["flipped"]),
            "size": short(row["size"]),
        }
        for row in rows
        if row["group"] == "predicted"
    ]


def _own_table(rows: Rows, seeds: int) -> Rows:
    return [
        {
            "class": row["class"],
            "graphs": f"{row['graphs']:.0f} {row['group']}",
            ".90": short(row[".90"]),
            ".80": short(row[".80"]),
            "ratio": _ratio(row, seeds),
            "flipped": short(row["flipped"]),
            "size": short(row["size"]),
            "edges": f"{short(row['edges_sparsity'])} → {short(row['edges_flips'])}",
            "minimal": f"{short(row['minimal'])}, {short(row['verified'])}",
        }
        for row in rows
        if row["method"] == OURS
    ]


def _cost_table(rows: Rows) -> Rows:
    return [
        {
            "method": row["method"],
            "fit s": f"{row['fit_seconds']:.1f}",
            "one graph ms": f"{1000 * row['seconds_each']:.2f}",
            "failed": row["failed"],
        }
        for row in rows
    ]


def _ratio(row: dict[str, Any], seeds: int) -> str:
    if row["ratio"] != row["ratio"]:
        return f"Δ {short(row['difference'])}"
    return short(row["ratio"]) + (f" ± {short(row['std']['ratio'])}" if seeds > 1 else "")


def _count(values: Sequence[bool]) -> str:
    return f"{sum(values)}/{len(values)}"


def summary(numbers: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The mean of every number, and under `std` its standard deviation."""
    columns = {name: [one[name] for one in numbers] for name in numbers[0]}
    means = {name: mean(values) for name, values in columns.items()}
    return {**means, "std": {name: std(values) for name, values in columns.items()}}


def mean(values: Sequence[float]) -> float:
    """Of the seeds for which there is a value; nan where there is none."""
    known = [value for value in values if value == value]
    return fmean(known) if known else NAN


def std(values: Sequence[float]) -> float:
    """Over the seeds, of a sample; 0 for a single one."""
    known = [value for value in values if value == value]
    return stdev(known) if len(known) > 1 else 0.0 if known else NAN


def column(share: float) -> str:
    """A sparsity as the name of a column: .90, .837."""
    digits = 2 if round(100 * share) == round(100 * share, 6) else 3
    return f"{share:.{digits}f}".removeprefix("0")


def short(value: float) -> str:
    """Two digits, without a leading zero; – for what could not be measured."""
    if value != value:
        return "–"
    text = f"{round(value, 2) + 0.0:.2f}"  # + 0.0: there is no −0
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0") else text


def seeds_text(count: int) -> str:
    return "one seed" if count == 1 else f"means of {count} seeds"
