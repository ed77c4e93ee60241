"""The tables of an evaluation on graph sets."""

from collections.abc import Sequence
from typing import Any

from rcexplainer.benchmark.cost_tables import cost_table
from rcexplainer.benchmark.graph_summary import LEAST_GREEDY, flippable_rows, method_rows
from rcexplainer.benchmark.measures import ROBUST_CAPTION
from rcexplainer.benchmark.motif_directions import direction_text
from rcexplainer.benchmark.plan import Evaluation
from rcexplainer.benchmark.reliance import NEGLIGIBLE
from rcexplainer.benchmark.results import HEADLINE_SPARSITIES, OURS, Rows, Tables, column, seeds_text, short
from rcexplainer.metrics import MotifDirection
from rcexplainer.metrics.region_agreement import ONE_REGION

FIRST = (
    "first, what can be flipped at all: the shares that flip by greedy deletion, and when the motif is deleted; motif "
    f"alone: share with the same prediction when nothing else is left; idle edges: share of the motif's edges that "
    f"change p by less than {NEGLIGIBLE} when deleted alone; other edges: share of all others that change it by more; "
    "two flip: share of small graphs that flip without some one or two edges, by trying every pair; edgeless: share "
    "that keeps its prediction without any edge"
)


def graph_tables(evaluation: Evaluation) -> Tables:
    """What can be flipped at all, all methods, RCExplainer in more detail, costs."""
    first, rows, seeds = flippable_rows(evaluation), method_rows(evaluation), len(evaluation.seeds)
    return [
        (_first_table(first), "; ".join([FIRST, *_direction_texts(first)])),
        (
            _headline(rows, seeds),
            f"test graphs predicted as the class, {seeds_text(seeds)}: fidelity at each sparsity; ratio to greedy "
            f"(Δ: the difference, where greedy's mean is below {short(LEAST_GREEDY)}); above: number of sparsities "
            "from .90 down at which the fidelity is above occlusion's; AUC of the motif; "
            f"{ROBUST_CAPTION}; flipped and size of counterfactuals within 30 % of the edges",
        ),
        (
            _own_table(rows, seeds),
            "rcexplainer on the graphs predicted and labelled as the class; edges: sparsity of {score > ½} → share "
            "that flips when it is deleted; minimal: share of the counterfactuals, share of a sample that the model "
            f"confirms; {_regions_text(evaluation)}",
        ),
        cost_table(evaluation.results),
    ]


def _regions_text(evaluation: Evaluation) -> str:
    """What the columns of regions say, or why they are empty."""
    found = [group.region_agreement for one in evaluation.results for group in one.groups if one.method == OURS]
    notes = {one.note for one in found if one is not None}
    if notes == {ONE_REGION}:
        return f"regions: nothing to compare, there is {ONE_REGION}"
    return (
        "regions: how much more alike the kinds of the top 8 edges are within a decision region than across regions of "
        "the class (in brackets random edges of the same graphs), p by permutation; – where its graphs share a region"
    )


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
            "edgeless": short(row["edgeless"]),
        }
        for row in rows
    ]


def _direction_texts(rows: Rows) -> list[str]:
    """Which way the motif's edges push the graphs predicted as each class; nothing where no motif is known."""
    return [
        f"in graphs predicted as {row['class']}, "
        + direction_text(MotifDirection(row["supports"], row["opposes"], row["neither"]))
        for row in rows
        if row["group"] == "predicted" and row["supports"] == row["supports"]
    ]


def _headline(rows: Rows, seeds: int) -> Rows:
    return [
        {
            "class": row["class"],
            "method": row["method"],
            **{column(share): short(row[column(share)]) for share in HEADLINE_SPARSITIES},
            "ratio": _ratio(row, seeds),
            "above": "–" if row["method"] == "occlusion" else _count(row["above_occlusion"]),
            "AUC": short(row["AUC"]),
            "robust": short(row["robustness"]),
            "robust, strict": short(row["strict_robustness"]),
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
            "regions": f"{short(row['region_difference'])} ({short(row['region_chance'])})",
            "p": short(row["region_p"]),
        }
        for row in rows
        if row["method"] == OURS
    ]


def _ratio(row: dict[str, Any], seeds: int) -> str:
    """The ratio, or the difference where there is none."""
    if row["ratio"] != row["ratio"]:
        return f"Δ {short(row['difference'])}"
    return short(row["ratio"]) + (f" ± {short(row['std']['ratio'])}" if seeds > 1 else "")


def _count(values: Sequence[bool]) -> str:
    return f"{sum(values)}/{len(values)}"
