"""The paper's training diagram (appendix A), made from a real run instead of by hand.

    kept   φ_gc(G weighted by M): should stay in the region of G
    left   φ_gc(G weighted by 1 − M): should leave it

The mask network is trained with the losses of the paper (Eq. 7) by the loop that `fit` uses. After every epoch,
held-out graphs are embedded with the edges that it keeps, and with the remainder.

`three-motifs` was chosen because three classes and a linear head have three boundaries whose normals lie in one plane
(`boundary_plane`): the drawing shows exactly on which side of a boundary a graph is. For other heads it does not, so
that inside and outside are always decided in the whole space. Two classes have one boundary, and little to look at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rcexplainer.benchmark.case import Case
from rcexplainer.config import RCConfig
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.training import Epoch
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.curriculum import with_lessons
from rcexplainer.fit.data import InstanceSet, Predictions
from rcexplainer.fit.objective import make_objective
from rcexplainer.fit.partition import find_boundaries, find_regions
from rcexplainer.fit.step import TrainingSet
from rcexplainer.fit.train import new_training
from rcexplainer.paper.boundary_plane import Plane
from rcexplainer.paper.job import JobResult
from rcexplainer.saving.checkpoint import FitFile

POINTS = 150  # training graphs of each class that are drawn
KEPT_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All held-out graphs after some epochs.

    Attributes:
        epoch: How many epochs; 0: before the first.
        mask: [units] their masks.
        kept: [n, d] their embeddings with the edges that the masks keep.
        left: [n, d] their embeddings with the remainder.
    """

    epoch: int
    mask: Tensor
    kept: Tensor
    left: Tensor


def snapshot(net: EdgeMaskNet, held: TrainingSet, epoch: int) -> Snapshot:
    """The held-out graphs as a mask network sees them now.

    Args:
        net: The mask network.
        held: The held-out graphs.
        epoch: How many epochs it was trained.

    Returns:
        Their masks and embeddings.
    """
    mask = held.logits(net)[0].sigmoid()
    return Snapshot(epoch, mask, weighed(held.data, mask), weighed(held.data, 1 - mask))


@torch.no_grad()
def weighed(known: InstanceSet, mask: Tensor) -> Tensor:
    """Embed instances with a weight for every unit.

    Args:
        known: The instances.
        mask: [units] the weights.

    Returns:
        [n, d] embeddings.
    """
    instances, parts = known.instances, []
    for ids in instances.chunks(instances.everything):
        batch, units = instances[ids]
        start = int(instances.units.ptr[ids[0]])
        own = mask[start : start + len(units)]
        parts.append(instances.split.run(batch, units.to_edges(own, 1.0)).embedding)
    return torch.cat(parts)


def watched(
    training: TrainingSet, held: TrainingSet, watch: TrainingSet, generator: torch.Generator, seed: int
) -> Iterator[tuple[Snapshot, Epoch | None]]:
    """Train a mask network as `fit` does, and watch it.

    Args:
        training: What it is trained on.
        held: Its validation instances.
        watch: What snapshots are taken of.
        generator: Draws batches.
        seed: Draws weights.

    Yields:
        A snapshot before the first epoch and after every epoch, with what the epoch reports.
    """
    objective = make_objective(training.config)
    run = new_training(training, held, objective, generator, [seed], keep_last=True)  # every epoch is shown
    run.net.eval()
    yield snapshot(run.net, watch, 0), None
    for epoch in run:
        yield snapshot(run.net, watch, epoch.number + 1), epoch


def training_run(case: Case, config: RCConfig, shown: Sequence[int]) -> JobResult:
    """Train as `fit` does, and keep what is drawn.

    Args:
        case: A network on a set of graphs.
        config: RCExplainer's settings.
        shown: Epochs whose masks are kept (0: before the first); those of the last always are.

    Returns:
        JSON values: the plane, points and regions in it, numbers of every epoch, an example of every class.

    Raises:
        RCExplainerError: It is no set of graphs, or no held-out graph is correctly predicted.
    """
    if case.within:
        raise RCExplainerError(f"the training diagram needs a graph set: {case.data.name} is a {case.data.task} set")
    split, seed = case.split, case.seed
    with split.scope:
        seen, held, tested = (InstanceSet.of(split, case.data.subset(part)) for part in ("train", "val", "test"))
        regions = find_regions(find_boundaries(split, seen, config, seed), seen, config)
        generator = torch.Generator().manual_seed(seed)
        limit = torch.randperm(len(seen), generator=generator)[: config.teacher_limit].sort().values
        training, validation, watch = (
            with_lessons(part, {None: regions}, config, FitFile(None, {}), "search")
            for part in (seen.some(limit), held, tested)
        )
        snapshots, epochs = zip(*watched(training, validation, watch, generator, seed), strict=True)
    examples = _first_of_each(tested)
    if not examples:
        raise RCExplainerError(
            f"none of {len(tested)} held-out graphs is correctly predicted: train the network longer"
        )
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
        "epochs": [_epoch_row(one, watch) | _terms(epoch) for one, epoch in zip(snapshots, epochs, strict=True)],
        "examples": [_example(place, snapshots, watch, plane, {*shown, len(snapshots) - 1}) for place in examples],
    }


def _first_of_each(known: InstanceSet) -> list[int]:
    """The first correctly predicted graph of every class: none is hand-picked."""
    first: dict[int, int] = {}
    for place, (graph, label) in enumerate(zip(known.instances.graphs, known.label.tolist(), strict=True)):
        if int(graph.y) == label:
            first.setdefault(label, place)
    return [first[label] for label in sorted(first)]


def _points(plane: Plane, seen: Predictions) -> dict[str, Any]:
    """The first training graphs of every class."""
    places = torch.cat([(seen.label == label).nonzero().flatten()[:POINTS] for label in seen.label.unique()])
    return {"place": [_rounded(one) for one in plane(seen.embedding[places])], "class": seen.label[places].tolist()}


def _epoch_row(one: Snapshot, held: TrainingSet) -> dict[str, Any]:
    """Shares of the held-out graphs on the right sides, mean sum of a mask, share of undecided edges."""
    return {
        "epoch": one.epoch,
        "kept_inside": float(held.regions.contains(one.kept, held.region).float().mean()),
        "left_outside": float((~held.regions.contains(one.left, held.region)).float().mean()),
        "size": float(one.mask.sum() / len(held.data)),
        "undecided": float(((one.mask > 0.1) & (one.mask < 0.9)).float().mean()),
    }


def _terms(epoch: Epoch | None) -> dict[str, Any]:
    return {"terms": None, "val": None} if epoch is None else {"terms": epoch.terms, "val": epoch.val}


def _example(
    place: int, snapshots: Sequence[Snapshot], held: TrainingSet, plane: Plane, shown: set[int]
) -> dict[str, Any]:
    """One graph with its path through the plane, and its masks at some of the epochs."""
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
        "kept": [where(one.kept) for one in snapshots],
        "left": [where(one.left) for one in snapshots],
        "masks": [{"epoch": one.epoch, "mask": _rounded(one.mask[rows])} for one in snapshots if one.epoch in shown],
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, KEPT_DIGITS) for value in values.tolist()]
