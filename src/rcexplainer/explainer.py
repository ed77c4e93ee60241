"""RCExplainer: the whole story on one screen.

fit      graphs → embeddings → boundaries → regions → search → mask network → calibrated scores
explain  one forward pass for the scores, then a verified counterfactual
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from rcexplainer.config import make_config
from rcexplainer.core.calibration import Calibration, calibrate
from rcexplainer.core.mask_net import EdgeMaskNet, FactorisedGate
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.core.search import greedy
from rcexplainer.core.segments import gather_ranges, owners, split_by_cost
from rcexplainer.core.teacher import effect_loss, order_loss
from rcexplainer.core.training import Epoch, train
from rcexplainer.core.units import Units
from rcexplainer.errors import RCExplainerError
from rcexplainer.fitted import FittedRCExplainer, MaskScores, unit_logits
from rcexplainer.gnn.calling import Forward
from rcexplainer.gnn.instances import Instances, node_inputs, single_effects
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.gnn.training import seeded
from rcexplainer.graphs import Graphs, Kind, as_graphs

log = logging.getLogger(__name__)

SEARCH_PAIRS = 1 << 20
PROBES = 4


class RCExplainer:
    """`RCExplainer(**settings).fit(model, graphs)`; settings are the fields of `RCConfig`."""

    def __init__(self, task: str = "graph", preset: str = "default", **settings: Any) -> None:
        if task != "graph":
            raise RCExplainerError(f"task {task!r} is not supported yet; graph classification is")
        self.config = make_config(preset, settings)

    def fit(
        self,
        model: nn.Module,
        graphs: Graphs,
        *,
        val: Graphs | None = None,
        head: str | nn.Module | None = None,
        forward: Forward | None = None,
        output: OutputKind | None = None,
        class_names: Sequence[str] | None = None,
        seed: int = 0,
        progress: bool = True,
    ) -> FittedRCExplainer:
        """Fit on graphs whose labels are not needed. Without `val`, a seeded tenth is held out for early stopping."""
        everything = as_graphs(graphs)
        split = split_model(model, everything, head, forward, "graph", output)
        generator = torch.Generator().manual_seed(seed)
        with split.scope:
            known = Known.of(split, everything)
            if val is None:
                ids, held_ids = hold_out(known.label, generator)
                training, held = known.some(ids), known.some(held_ids)
            else:
                training, held = known, Known.of(split, as_graphs(val))
            return self._fit(split, training, held, tuple(class_names or ()), generator, seed, progress)

    def _fit(
        self,
        split: SplitModel,
        known: "Known",
        held: "Known",
        class_names: tuple[str, ...],
        generator: torch.Generator,
        seed: int,
        progress: bool,
    ) -> FittedRCExplainer:
        config = self.config
        if len(known.label.unique()) < 2:
            raise RCExplainerError(
                f"the model predicts class {int(known.label[0])} for all {len(known.label)} graphs: there is no "
                "boundary to cross; fit on graphs of at least two predicted classes"
            )
        boundaries = sample_boundaries(
            lambda x: split.log_probs(split.head(x)),
            known.embedding,
            known.label,
            per_class=config.candidates_per_class,
            sampler=config.sampler,
            generator=generator,
        )
        regions = Regions.fit(boundaries, known.embedding, known.label, epsilon=config.epsilon)
        log.info("%s", regions)

        some = (
            torch.randperm(len(known.label), generator=generator)[: config.teacher_limit]
            .sort()
            .values.to(known.label.device)
        )
        taught = known.some(some)
        lesson = taught.teach(regions, config.teacher_depth, progress)
        held_lesson = held.teach(regions, config.teacher_depth, progress)

        with seeded(seed):
            batch, _ = taught.instances[taught.instances.everything[:512]]
            done = split.run(batch)
            nodes = node_inputs(done, batch, config.inputs)
            gate = FactorisedGate(nodes.size(1), split.embedding_dim, split.num_classes, config.hidden)
            net = EdgeMaskNet(gate, nodes.size(1), split.embedding_dim).to(nodes.device)
            net.standardise(nodes, known.embedding)

        def terms(part: Known, ids: Tensor, lesson: Lesson) -> dict[str, Tensor]:
            logits, units = part.logits(net, ids, config.inputs)
            rows, _ = gather_ranges(part.instances.units.ptr[ids], part.instances.units.ptr[ids + 1])
            order = order_loss(logits, units.ptr, units.owner, lesson.order[ids])
            effect = effect_loss(logits, units.owner, len(ids), lesson.effect[rows], config.effect_temperature)
            return {"order": order.mean(), "effect": config.weight_effect * effect.mean()}

        @torch.no_grad()
        def validate() -> float:
            return sum(float(term) for term in terms(held, held.instances.everything, held_lesson).values())

        epochs = train(
            net,
            lambda ids: terms(taught, ids, lesson),
            validate,
            taught.instances.everything,
            generator,
            epochs=config.epochs,
            lr=config.lr,
            batch_size=config.batch_size,
            patience=config.patience,
        )
        bar = tqdm(epochs, desc="mask network", total=config.epochs, unit="epoch", disable=not progress)
        history: list[Epoch] = []
        for epoch in bar:
            history.append(epoch)
            bar.set_postfix(**{name: f"{value:.3f}" for name, value in epoch.terms.items()}, val=f"{epoch.val:.3f}")
        calibration = held.calibrate(net, config.inputs)

        scores = MaskScores(net, calibration, config.inputs)
        graphs = taught.instances.graphs
        return FittedRCExplainer(
            split=split,
            scores=scores,
            kind=Kind.of(graphs[0]),
            class_names=class_names,
            classes=frozenset(known.label.tolist()),
            config=config,
            regions=regions,
            probes=tuple(sorted(graphs, key=lambda graph: (not graph.num_edges, graph.num_nodes))[:PROBES]),
            history=tuple(history),
        )


def hold_out(label: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Positions to train on and a tenth to validate on; of every predicted class at least one is trained on."""
    order = torch.randperm(len(label), generator=generator).to(label.device)
    first = torch.stack([(label[order] == value).nonzero()[0, 0] for value in label.unique()])
    free = torch.ones_like(order, dtype=torch.bool)
    free[first] = False
    held = order[free][: max(1, len(order) // 10)]
    if not len(held):
        return order, order  # nothing can be spared: the same graphs serve twice
    return order[~torch.isin(order, held)], held


@dataclass(frozen=True)
class Lesson:
    """What the search found out about some instances."""

    order: Tensor  # [n, K] positions within each instance in the order of deletion, −1 after the last one
    effect: Tensor  # [units] drop of the predicted class's probability when this unit alone is deleted


@dataclass(frozen=True, eq=False)
class Known:
    """Instances whose embeddings and predictions are known."""

    instances: Instances
    embedding: Tensor  # [n, d]
    label: Tensor  # [n]

    @classmethod
    def of(cls, split: SplitModel, graphs: list[Any]) -> "Known":
        instances = Instances(split, graphs)
        both = instances.passes(lambda done: torch.cat([done.embedding, split.log_probs(done.output)], 1))
        embedding, log_probs = both.split([split.embedding_dim, split.num_classes], 1)
        return cls(instances, embedding.contiguous(), log_probs.argmax(1))

    def some(self, ids: Tensor) -> "Known":
        return Known(self.instances.some(ids), self.embedding[ids], self.label[ids])

    def teach(self, regions: Regions, depth: float, progress: bool) -> "Lesson":
        """Search: the order in which greedy deletion leaves the region, and what each unit does on its own."""
        region = regions.assign(self.embedding, self.label)
        ptr = self.instances.units.ptr
        parts: list[Tensor] = []
        effects: list[Tensor] = []
        # All single deletions of a graph are asked at once: the square of its units is what it costs.
        pieces = split_by_cost(self.instances.everything, self.instances.units.counts**2, SEARCH_PAIRS)
        for ids in tqdm(pieces, desc="search", unit="batch", disable=not progress):
            part = self.instances.some(ids)

            def margin(copies: Tensor, removed: Tensor, ids: Tensor = ids, part: Instances = part) -> Tensor:
                inside = part.without(copies, removed, lambda done: done.embedding)
                return regions.margins(inside, region[ids[copies]]).amin(1)

            steps = (part.units.counts * depth).ceil().long()
            allowed = torch.ones(len(part.units), dtype=torch.bool, device=ptr.device)
            units = greedy(part.units.ptr, margin, allowed, steps).units
            parts.append(torch.where(units < 0, -1, units - part.units.ptr[:-1, None]))
            effects.append(single_effects(part, self.label[ids]))
        width = max(part.size(1) for part in parts)
        order = torch.cat([nn.functional.pad(part, (0, width - part.size(1)), value=-1) for part in parts])
        return Lesson(order, torch.cat(effects))

    def logits(self, net: EdgeMaskNet, ids: Tensor, inputs: str) -> tuple[Tensor, Units]:
        """f_θ of the units of these instances, from one forward pass of the GNN."""
        return unit_logits(net, self.instances, ids, self.label, inputs)

    @torch.no_grad()
    def calibrate(self, net: EdgeMaskNet, inputs: str) -> Calibration:
        """The map from logits to scores, by really deleting."""
        everything = self.instances.everything
        logits, units = self.logits(net, everything, inputs)
        rows = self.label[:, None]
        counts = units.counts.clamp_min(1)

        def probability(removed: Tensor) -> Tensor:
            return self.instances.log_probs(everything, removed).exp().gather(1, rows).squeeze(1)

        before = probability(torch.zeros_like(logits, dtype=torch.bool))

        def gain(removed: Tensor) -> Tensor:
            share = removed.new_zeros(len(counts), dtype=logits.dtype).index_add(
                0, owners(units.ptr), removed.to(logits.dtype)
            )
            return before - probability(removed) - share / counts

        return calibrate(logits, self.label, gain, self.instances.split.num_classes)
