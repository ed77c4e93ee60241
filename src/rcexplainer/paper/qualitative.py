"""Explanations to look at (the paper's last table): one instance of each dataset, as every method explains it.

The instance is the first held-out one that the network predicts rightly and that has a marked motif: nobody has chosen
it, and it is the same for all methods. Of a method's scores the top k edges count, k being the size of the motif:

    found   the share of the motif's edges among them
    flips   whether the prediction is another one once these k edges are really deleted

A large computation graph is not kept whole, only the part around the motif and the chosen edges.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.results import short
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import delete_edges
from rcexplainer.metrics.motif import motif_edges
from rcexplainer.paper.figures import Drawn
from rcexplainer.paper.tables import Cell, Column, Found, Settings, Table
from rcexplainer.viz.method_grid import Shown, explanation_grid

WHOLE = 60  # nodes of an instance that is drawn whole
PART = 24  # nodes of what is drawn of a larger one, if the motif and the chosen edges do not need more
DIGITS = 4


def explain_one(case: Case, method: str) -> dict[str, Any]:
    """What the method says about the instance, and what is left without the edges it names; `skipped` says why not."""
    place = chosen_place(case)
    try:
        fitted = METHODS[method].fit(case, False)
    except MissingExtraError:
        raise  # it may be there the next time: nothing to keep
    except RCExplainerError as error:
        return {"skipped": str(error)}
    found = case.explain(fitted, [place], "none")
    if not found:
        return {"skipped": "it could not explain the instance"}
    return described(case, place, found[0])


def chosen_place(case: Case) -> int:
    """The first held-out instance, in the order of the dataset, that is rightly predicted and has a motif."""
    if not case.data.has_ground_truth:
        raise RCExplainerError(f"{case.data.name} has no known motifs to compare explanations with: name another set")
    fitted = METHODS["random"].fit(case, False)
    right = marked = 0
    for place in range(case.count):
        for one in case.explain(fitted, [place], "none"):
            known, said = bool(motif_edges(one).any()), one.prediction == _label(one)
            if known and said:
                return place
            right, marked = right + said, marked + known
    raise RCExplainerError(
        f"none of {case.count} held-out instances of {case.data.name} is rightly predicted ({right} are) and has "
        f"a motif ({marked} have): train the network longer, or name another set"
    )


def described(case: Case, place: int, one: Explanation) -> dict[str, Any]:
    """An explanation as JSON, of which all that is drawn."""
    units = one.units
    own = units_of(one, motif_edges(one))
    top = units_of(one, one.within(one.top(int(own.sum()))))
    left = [delete_edges(one.instance, one.within(units.to_edges(gone, False))) for gone in (top, own)]
    after, without_motif = predictions(case.split, left).tolist()
    roots = [] if one.index is None else [one.index] if isinstance(one.index, int) else list(one.index)
    everything = len(units.pair.unique())
    most = everything if everything <= WHOLE else PART
    nodes = near(units.pair, [*roots, *units.pair[:, own | top].flatten().tolist()], most)
    inside = torch.isin(units.pair, torch.tensor(nodes)).all(0)
    return {
        "place": place,
        "class": case.data.class_names[one.prediction],
        "after": case.data.class_names[after],
        "k": int(own.sum()),
        "found": int((own & top).sum()),
        "flips": after != one.prediction,
        "motif_flips": without_motif != one.prediction,
        "roots": roots,
        "nodes": nodes,
        "labels": _names(case, one, nodes),
        "of": {"nodes": everything, "edges": len(units)},
        "edges": units.pair[:, inside].t().tolist(),
        "motif": own[inside].tolist(),
        "chosen": top[inside].tolist(),
        "scores": [round(score, DIGITS) for score in one.unit_scores[inside].tolist()],
    }


def units_of(one: Explanation, mask: Tensor) -> Tensor:
    """[units] from a mask of the instance's edges: a unit is in it if one of its edges is."""
    of_edge = one.units.of_edge if one.edge_ids is None else one.units.of_edge[one.edge_ids]
    inside = torch.zeros(len(one.units), dtype=torch.bool)
    inside[of_edge[mask & (of_edge >= 0)]] = True
    return inside


def near(pairs: Tensor, wanted: Sequence[int], most: int) -> list[int]:
    """The wanted nodes and the ways from the first of them to the others, filled up to `most` nodes from nearby.

    `pairs` [2, m] are the edges. Nodes come in the order in which a walk by breadth from all wanted nodes meets them.
    """
    neighbours: dict[int, list[int]] = {}
    for one, other in pairs.t().tolist():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    before = _walk(neighbours, wanted[:1])
    kept: dict[int, None] = dict.fromkeys(wanted)
    for node in wanted:
        at: int | None = node
        while at is not None:
            kept[at] = None
            at = before.get(at)
    for node in _walk(neighbours, list(kept)):
        if len(kept) >= most:
            break
        kept[node] = None
    return sorted(kept)


def _walk(neighbours: dict[int, list[int]], starts: Iterable[int]) -> dict[int, int | None]:
    """Every node that can be reached, in the order of its distance, with the node before it."""
    before: dict[int, int | None] = dict.fromkeys(starts)
    queue = list(before)
    for node in queue:
        for other in neighbours.get(node, ()):
            if other not in before:
                before[other] = node
                queue.append(other)
    return before


def _label(one: Explanation) -> int:
    """The true class. All pairs that are explained are links."""
    if one.index is None:
        return int(one.graph.y)
    return int(one.graph.y[one.index]) if isinstance(one.index, int) else 1


def _names(case: Case, one: Explanation, nodes: Sequence[int]) -> list[str] | None:
    """What the features of the nodes stand for, where they stand for something, such as elements."""
    if not case.data.node_names:
        return None
    return [case.data.node_names[int(one.graph.x[node].argmax())] for node in nodes]


# Tables and the figure


COLUMNS = (
    Column("dataset"),
    Column("method"),
    Column("motif edges"),
    Column("of them found", "higher"),
    Column("deleting them"),
    Column("deleting the motif"),
)
CAPTION = (
    "The first held-out instance of each dataset that is rightly predicted and has a motif of k edges: how many of "
    "them are among a method's top k, and whether the prediction changes when these, or the motif, are deleted"
)


def qualitative_table(settings: Settings, found: Found) -> list[Table]:
    """A row for every dataset and method, as the figure; one that was left out has a note, or where all are, a row."""
    shown = [(tags, result) for tags, result in _explained(found) if not result.get("skipped")]
    gone = [(tags, result["skipped"]) for tags, result in _explained(found) if result.get("skipped")]
    if shown:
        notes = tuple(f"{tags['dataset']}, {tags['variant']} is left out: {reason}" for tags, reason in gone)
        return [Table(CAPTION, COLUMNS, tuple(_row(tags, result) for tags, result in shown), notes)]
    rows = tuple((Cell(tags["dataset"]), Cell(tags["variant"]), Cell(reason)) for tags, reason in gone)
    return [Table("Nothing could be explained", (*COLUMNS[:2], Column("left out")), rows)] if rows else []


def _row(tags: dict[str, Any], result: dict[str, Any]) -> tuple[Cell, ...]:
    share = result["found"] / result["k"]
    return (
        Cell(tags["dataset"]),
        Cell(tags["variant"]),
        Cell(str(result["k"])),
        Cell(f"{result['found']} ({short(share)})", share),
        Cell(_outcome(result["flips"]), float(result["flips"])),
        Cell(_outcome(result["motif_flips"]), float(result["motif_flips"])),
    )


def qualitative_figure(settings: Settings, found: Found) -> list[Drawn]:
    cells = {
        (tags["dataset"], tags["variant"]): Shown.of(result)
        for tags, result in _explained(found)
        if not result.get("skipped")
    }
    if not cells:
        return []
    caption = (
        "Explanations of one instance of each dataset, the first held-out one that is rightly predicted and has a "
        "motif. Black: a method's top k edges, k being the size of the motif as far as it lies in the computation "
        "graph; the motif has a blue band. Of large computation graphs the part around both is drawn."
    )
    return [Drawn("qualitative", caption, explanation_grid(cells))]


def _explained(found: Found) -> Found:
    return [(tags, result) for tags, result in found if not tags.get("network")]


def _outcome(flips: bool) -> str:
    return "flips" if flips else "does not flip"
