"""The paper's training diagram (appendix A), drawn from a real run instead of by hand.

    plane     x ↦ V (x − x̄),  V [2, d] the two directions in which most of the boundaries' normals w lie
    boundary  wᵀx + b = 0 meets the plane in the line (V w)ᵀ u + (wᵀx̄ + b) = 0
    kept      φ_gc(G weighed by M): is to stay in the region of G
    left      φ_gc(G weighed by 1 − M): is to leave it

The mask network is trained by the losses of the paper (Eq. 7) with the loop that `fit` uses, and looked at after every
epoch: where held-out graphs are with what it keeps, and without.

`three-motifs` is taken since three classes and a linear head have three boundaries whose normals lie in one plane: on
which side of a boundary a graph is, is seen there exactly. Of other heads it is not, so that inside and outside are
always decided in the whole space. With two classes there is one boundary, and nothing to be seen beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.results import short
from rcexplainer.config import RCConfig
from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.regions import Regions
from rcexplainer.core.training import Epoch
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import InstanceSet, Predictions
from rcexplainer.fit.objective import make_objective
from rcexplainer.fit.step import TrainingSet
from rcexplainer.fit.teacher import teach
from rcexplainer.fit.train import find_boundaries, find_regions, new_training
from rcexplainer.paper.figures import Drawn
from rcexplainer.paper.tables import Cell, Column, Found, Settings, Table
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.viz.training_page import training_page

POINTS = 150  # training graphs of each class that are drawn
DIGITS = 4
FLAT = 1e-4  # a direction that is so much shorter than the longest is none


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane through the mean of some embeddings in which most of the boundaries' normals lie."""

    mean: Tensor  # [d]
    axes: Tensor  # [2, d], orthonormal
    normals: float  # share of the normals (their squares) that lies in it; 1: every boundary is a line
    spread: float  # share of the embeddings' variance

    @classmethod
    def of(cls, x: Tensor, boundaries: LinearBoundaries) -> "Plane":
        mean = x.mean(0)
        centred, normals = x - mean, torch.nn.functional.normalize(boundaries.weight, dim=1)
        axes = _directions(normals)[:2]
        # One boundary has one normal; the other axis is where the embeddings spread most beside it.
        axes = torch.cat([axes, _directions(centred - centred @ axes.T @ axes)])[:2]
        axes = _directions(centred @ axes.T) @ axes  # turned: most of the spread goes across
        axes = axes * torch.where(axes.sum(1) < 0, -1.0, 1.0)[:, None]  # an axis could point either way
        return cls(mean, axes, _within(normals, axes), _within(centred, axes))

    def __call__(self, x: Tensor) -> Tensor:
        """[n, d] → [n, 2]."""
        return (x - self.mean) @ self.axes.T

    def lines(self, boundaries: LinearBoundaries) -> Tensor:
        """[m, 3]: (a, b, c) of a u + b v + c = 0 for every boundary, a u + b v + c > 0 where it is positive."""
        return torch.cat([boundaries.weight @ self.axes.T, boundaries(self.mean[None]).T], 1)


def _directions(rows: Tensor) -> Tensor:
    """[r, d] the orthonormal directions that rows [n, d] have, the largest first."""
    _, lengths, directions = torch.linalg.svd(rows, full_matrices=False)
    return directions[lengths > FLAT * lengths[0]]


def _within(rows: Tensor, axes: Tensor) -> float:
    """The share of the squares of rows [n, d] that lies along the axes."""
    return float(((rows @ axes.T) ** 2).sum() / (rows**2).sum().clamp_min(torch.finfo(rows.dtype).tiny))


@dataclass(frozen=True, eq=False)
class Look:
    """The network after some epochs, on all held-out graphs: their masks, and where they are with and without them."""

    epoch: int  # 0: before the first
    mask: Tensor  # [units]
    kept: Tensor  # [n, d]
    left: Tensor  # [n, d]


def look(net: EdgeMaskNet, held: TrainingSet, epoch: int) -> Look:
    mask = held.logits(net)[0].sigmoid()
    return Look(epoch, mask, weighed(held.data, mask), weighed(held.data, 1 - mask))


@torch.no_grad()
def weighed(known: InstanceSet, mask: Tensor) -> Tensor:
    """[n, d] the embeddings of the instances with a weight for every unit [units]."""
    instances, parts = known.instances, []
    for ids in instances.chunks(instances.everything):
        batch, units = instances[ids]
        start = int(instances.units.ptr[ids[0]])
        own = mask[start : start + len(units)]
        parts.append(instances.split.run(batch, units.to_edges(own, 1.0)).embedding)
    return torch.cat(parts)


def watched(
    training: TrainingSet, held: TrainingSet, watch: TrainingSet, generator: torch.Generator, seed: int
) -> Iterator[tuple[Look, Epoch | None]]:
    """Train a network as `fit` does, and look at it before, and after every epoch."""
    objective = make_objective(training.config)
    run = new_training(training, held, objective, generator, seed, keep_last=True)  # all epochs are looked at
    run.net.eval()
    yield look(run.net, watch, 0), None
    for epoch in run:
        yield look(run.net, watch, epoch.number + 1), epoch


def taught(known: InstanceSet, regions: Regions, config: RCConfig) -> TrainingSet:
    """As `fit` teaches them; the paper's losses need no search."""
    return TrainingSet.of(known, teach(known, regions, config, FitFile(None, {}), "search"), regions, config)


def training_run(case: Case, config: RCConfig, shown: Sequence[int]) -> dict[str, Any]:
    """Train as `fit` does; keep the masks at the epochs `shown` (0: before the first) and at the end."""
    if case.within:
        raise RCExplainerError(f"the training diagram is of a graph set: {case.data.name} is a {case.data.task} set")
    split, seed = case.split, case.seed
    with split.scope:
        seen, held, tested = (InstanceSet.of(split, case.data.subset(part)) for part in ("train", "val", "test"))
        regions = find_regions(find_boundaries(split, seen, config, seed), seen, config)
        generator = torch.Generator().manual_seed(seed)
        limit = torch.randperm(len(seen), generator=generator)[: config.teacher_limit].sort().values
        training, validation, watch = (taught(part, regions, config) for part in (seen.some(limit), held, tested))
        looks, epochs = zip(*watched(training, validation, watch, generator, seed), strict=True)
    examples = _first_of_each(tested)
    if not examples:
        raise RCExplainerError(f"none of {len(tested)} held-out graphs is rightly predicted: train the network longer")
    plane = Plane.of(seen.embedding, regions.boundaries)
    return {
        "classes": list(case.data.class_names),
        "accuracy": case.accuracy,
        "graphs": {"training": len(training.data), "held out": len(tested)},
        "plane": {"normals": plane.normals, "spread": plane.spread},
        "points": _points(plane, seen),
        "regions": [
            {
                "class": one.label,
                "covered": one.covered,
                "intruders": one.intruders,
                "lines": [
                    _rounded(line) for line in plane.lines(regions.boundaries.select(one.rows)) * one.signs[:, None]
                ],
            }
            for one in regions.regions
        ],
        "epochs": [_epoch_row(one, watch) | _terms(epoch) for one, epoch in zip(looks, epochs, strict=True)],
        "examples": [_example(place, looks, watch, plane, {*shown, len(looks) - 1}) for place in examples],
    }


def _first_of_each(known: InstanceSet) -> list[int]:
    """The first graph of every class that is rightly predicted: nobody has chosen it."""
    first: dict[int, int] = {}
    for place, (graph, label) in enumerate(zip(known.instances.graphs, known.label.tolist(), strict=True)):
        if int(graph.y) == label:
            first.setdefault(label, place)
    return [first[label] for label in sorted(first)]


def _points(plane: Plane, seen: Predictions) -> dict[str, Any]:
    """The first training graphs of every class."""
    places = torch.cat([(seen.label == label).nonzero().flatten()[:POINTS] for label in seen.label.unique()])
    return {"place": [_rounded(one) for one in plane(seen.embedding[places])], "class": seen.label[places].tolist()}


def _epoch_row(one: Look, held: TrainingSet) -> dict[str, Any]:
    """Of all held-out graphs: the shares on the right sides, the mean sum of a mask, the share that is undecided."""
    return {
        "epoch": one.epoch,
        "kept_inside": float(held.regions.contains(one.kept, held.region).float().mean()),
        "left_outside": float((~held.regions.contains(one.left, held.region)).float().mean()),
        "size": float(one.mask.sum() / len(held.data)),
        "undecided": float(((one.mask > 0.1) & (one.mask < 0.9)).float().mean()),
    }


def _terms(epoch: Epoch | None) -> dict[str, Any]:
    return {"terms": None, "val": None} if epoch is None else {"terms": epoch.terms, "val": epoch.val}


def _example(place: int, looks: Sequence[Look], held: TrainingSet, plane: Plane, shown: set[int]) -> dict[str, Any]:
    """One graph with its way through the plane, and its masks at some of the epochs."""
    graph, units = held.data.instances.graphs[place], held.data.instances.units
    batch, own = held.data.instances[torch.tensor([place])]
    rows = slice(int(units.ptr[place]), int(units.ptr[place + 1]))
    kind = torch.full((len(own),), -1)
    if "edge_motif_id" in graph:
        kind[own.of_edge[own.of_edge >= 0]] = batch.edge_motif_id[own.of_edge >= 0]
    region = held.region[place, None]

    def where(embedding: Tensor) -> dict[str, Any]:
        here = embedding[place, None]
        return {"place": _rounded(plane(here)[0]), "inside": bool(held.regions.contains(here, region))}

    return {
        "class": int(held.data.label[place]),
        "nodes": int(graph.num_nodes or 0),
        "edges": own.pair.t().tolist(),
        "motif": kind.tolist(),
        "whole": where(held.data.embedding),
        "kept": [where(one.kept) for one in looks],
        "left": [where(one.left) for one in looks],
        "masks": [{"epoch": one.epoch, "mask": _rounded(one.mask[rows])} for one in looks if one.epoch in shown],
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, DIGITS) for value in values.tolist()]


def training_table(settings: Settings, found: Found) -> list[Table]:
    return [
        Table(
            f"{tags['dataset']}, network {tags['model']} (accuracy {result['accuracy']:.3f}), trained on "
            f"{result['graphs']['training']} graphs; of {result['graphs']['held out']} held-out graphs: the share that "
            "stays in its region with what the mask keeps, and the share that leaves it with the remainder; the mean "
            "sum of a mask, and the share of its edges between .1 and .9; the terms of the loss on training graphs",
            (*COLUMNS, *(Column(name) for name in _names(result))),
            tuple(_row(row, _names(result)) for row in result["epochs"] if row["epoch"] in _shown(settings, result)),
        )
        for tags, result in found
        if not tags.get("network")
    ]


COLUMNS = (
    Column("epochs"),
    Column("kept inside", "higher"),
    Column("remainder outside", "higher"),
    Column("edges kept"),
    Column("undecided"),
)


def _names(result: dict[str, Any]) -> list[str]:
    """The terms of the loss; before the first epoch there is none."""
    return list(result["epochs"][-1]["terms"] or ())


def _shown(settings: Settings, result: dict[str, Any]) -> set[int]:
    return {*settings["shown"], len(result["epochs"]) - 1}


def _row(row: dict[str, Any], names: Sequence[str]) -> tuple[Cell, ...]:
    shares = (Cell(short(row[name]), row[name]) for name in ("kept_inside", "left_outside"))
    size, undecided = Cell(f"{row['size']:.1f}", row["size"]), Cell(short(row["undecided"]), row["undecided"])
    terms = ((row["terms"] or {}).get(name) for name in names)
    return (
        Cell(str(row["epoch"])),
        *shares,
        size,
        undecided,
        *(Cell("") if value is None else Cell(f"{value:.3f}", value) for value in terms),
    )


def training_figure(settings: Settings, found: Found) -> list[Drawn]:
    return [
        Drawn("training", _caption(tags["dataset"], **result["plane"]), training_page(result))
        for tags, result in found
        if not tags.get("network")
    ]


def _caption(dataset: str, normals: float, spread: float) -> str:
    return (
        f"Training on {dataset}: the plane holds {normals:.0%} of the boundaries' normals and {spread:.0%} of the "
        "embeddings' spread; every example is the first rightly predicted held-out graph of its class."
    )
