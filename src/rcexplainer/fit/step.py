"""Instances with what is known and taught about them: what the network is trained on, judged by, calibrated on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration, calibrate
from rcexplainer.core.collapse import mask_collapse, ranking_collapse
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.objectives import Objective, Step
from rcexplainer.core.regions import Regions
from rcexplainer.core.segments import gather_ranges, owners
from rcexplainer.core.stability import NoisyCopy, same_units
from rcexplainer.core.units import Units, find_units
from rcexplainer.fit.data import Known, Lesson, question, questions
from rcexplainer.fit.fitted_ import shown_logits, unit_logits
from rcexplainer.gnn.masking import delete_edges
from rcexplainer.gnn.noise import noisy

Read = Callable[[Data, Units, torch.Generator], Data]  # the copy of a batch that the network reads


def as_it_is(batch: Data, units: Units, generator: torch.Generator) -> Data:
    """The graphs themselves."""
    return batch


@dataclass(frozen=True, eq=False)
class Taught:
    """Instances with what is known and taught about them: what the objective is computed on."""

    known: Known
    lesson: Lesson
    regions: Regions
    region: Tensor  # [n] of every instance
    config: RCConfig
    conditioned: bool = False  # whether the network is told which other class is asked about

    @classmethod
    def of(cls, known: Known, lesson: Lesson, regions: Regions, config: RCConfig) -> "Taught":
        return cls(known, lesson, regions, regions.assign(known.embedding, known.label), config)

    @classmethod
    def joined(cls, parts: Sequence["Taught"]) -> "Taught":
        """The same instances asked about several classes are several instances, each with regions of its own."""
        starts = torch.tensor([0, *(len(part.regions) for part in parts)]).cumsum(0).tolist()
        region = [part.region + start for part, start in zip(parts, starts, strict=False)]
        known, lesson = Known.joined([part.known for part in parts]), Lesson.joined([part.lesson for part in parts])
        regions = Regions.joined([part.regions for part in parts])
        return cls(known, lesson, regions, torch.cat(region), parts[0].config, conditioned=True)

    @cached_property
    def question(self) -> Tensor:
        """[n] which question is asked of every instance, as the network numbers them."""
        num_classes = self.known.instances.split.num_classes
        return question(self.known.label, self.known.target, num_classes, self.conditioned)

    @property
    def questions(self) -> int:
        """How many different ones the network can be asked."""
        return questions(self.known.instances.split.num_classes, self.conditioned)

    @cached_property
    def rows(self) -> Tensor:
        """The different feature rows of all nodes."""
        batch, _ = self.known.instances[self.known.instances.everything]
        return batch.x.unique(dim=0) if isinstance(batch.x, Tensor) else self.known.embedding[:0]

    @cached_property
    def copies(self) -> Read:
        """Noisy copies, where the settings ask for them."""
        return noisy(self.config.noise, self.rows) if self.config.noise else as_it_is

    @property
    def reading(self) -> Read:
        """What all but `keep_top` is learnt from: the copies too, unless that is there for them."""
        return as_it_is if self.config.weight_stable else self.copies

    @cached_property
    def clean(self) -> Tensor:
        """[n, P] B(φ_gc(G)) of every instance, towards the inside of its region."""
        return self.regions.margins(self.known.embedding, self.region)

    def step(self, net: EdgeMaskNet, ids: Tensor, progress: float, generator: torch.Generator, read: Read) -> Step:
        """A mini-batch: the network reads some copy of the graphs, and answers for the graphs themselves."""
        known, split = self.known, self.known.instances.split
        batch, units = known.instances[ids]
        copies = read(batch, units, generator)
        logits = unit_logits(net, split.run(copies), copies, units, self.question[ids], self.config)

        def copied() -> NoisyCopy:
            other = self.copies(batch, units, generator)
            nodes = int(other.num_nodes or 0)
            own = find_units(other.edge_index, nodes, batch.batch, len(ids), other.get("edge_fixed"))
            heard = unit_logits(net, split.run(other), other, own, self.question[ids], self.config)
            return NoisyCopy(heard, own.owner, same_units(units.pair, own.pair, nodes))

        def inside(mask: Tensor) -> Tensor:
            return self.regions.margins(split.run(batch, units.to_edges(mask, 1.0)).embedding, self.region[ids])

        def log_p(mask: Tensor) -> Tensor:
            sure = split.log_probs(split.run(batch, units.to_edges(mask, 1.0)).output)
            return sure.gather(1, known.label[ids, None]).squeeze(1)

        @torch.no_grad()
        def outcome(removed: Tensor) -> Tensor:
            left = split.log_probs(split.run(delete_edges(batch, units.to_edges(removed, False))).output).exp()
            return known.reached(left, ids)

        rows, _ = gather_ranges(known.instances.units.ptr[ids], known.instances.units.ptr[ids + 1])
        order, effect = self.lesson.order[ids], self.lesson.effect[rows]
        return Step(
            logits=logits,
            ptr=units.ptr,
            owner=units.owner,
            clean=self.clean[ids],
            inside=inside,
            log_p=log_p,
            outcome=outcome,
            copied=copied,
            order=order,
            effect=effect,
            progress=progress,
            generator=generator,
        )

    @torch.no_grad()
    def loss(self, net: EdgeMaskNet, objective: Objective) -> float:
        """The mean loss of all instances, with the same random numbers every time."""
        generator, total = torch.Generator().manual_seed(0), 0.0
        for ids in self.known.instances.chunks(self.known.instances.everything):
            terms = objective(self.step(net, ids, 1.0, generator, as_it_is))
            total += len(ids) * sum(float(term) for term in terms.values())
        return total / len(self.known)

    @torch.no_grad()
    def collapsed(self, net: EdgeMaskNet) -> str | None:
        """Whether the network gives these instances masks that explain nothing, in words."""
        logits, owner = self.logits(net)
        test = mask_collapse if self.config.score == "mask" else ranking_collapse
        return test(logits, owner, len(self.known))

    @torch.no_grad()
    def logits(self, net: EdgeMaskNet) -> tuple[Tensor, Tensor]:
        """f_θ and the owner of every unit."""
        instances, parts = self.known.instances, []
        for ids in instances.chunks(instances.everything):
            batch, units = instances[ids]
            parts.append(shown_logits(net, instances.split.run(batch), batch, units, self.question[ids], self.config))
        return torch.cat(parts), owners(instances.units.ptr)

    @torch.no_grad()
    def calibrate(self, net: EdgeMaskNet) -> Calibration:
        """The map from logits to scores, by really deleting; where masks are probabilities the cut at ½ is theirs."""
        instances = self.known.instances
        logits, owner = self.logits(net)
        if self.config.score == "mask":
            return Calibration(logits.new_zeros(self.questions), logits.new_ones(()))
        counts = instances.units.counts.clamp_min(1)
        before = self.known.reached(self.known.log_probs.exp(), instances.everything)

        def gain(removed: Tensor) -> Tensor:
            after = self.known.reached(instances.log_probs(instances.everything, removed).exp(), instances.everything)
            gone = logits.new_zeros(len(counts)).index_add(0, owner, removed.to(logits.dtype))
            return after - before - gone / counts

        return calibrate(logits, self.question, gain, self.questions)
