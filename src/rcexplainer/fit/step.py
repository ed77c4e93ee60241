"""Training sets: instances with their lessons and regions, and the mini-batches that objectives are computed on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration, calibrate, relative_shares
from rcexplainer.core.collapse import mask_collapse, ranking_collapse
from rcexplainer.core.drawn_masks import PairLogits
from rcexplainer.core.mask_gates import mean_mask_logit
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.objectives import Objective, Step
from rcexplainer.core.regions import Regions
from rcexplainer.core.segments import gather_ranges, owners
from rcexplainer.core.stability import NoisyCopy
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.masked_runs import MaskedRuns, MiniBatch
from rcexplainer.fit.network import (
    AS_THEY_ARE,
    class_pair,
    connected_units,
    learns_ranking,
    logits_of,
    num_class_pairs,
    repeated_owner,
)
from rcexplainer.fit.pair_sample import padded_node, pair_logits
from rcexplainer.fit.readings import POOL, CleanReadings, NoisyReading, NoisyReadings, Reading
from rcexplainer.fit.surface import Surface, surface_of
from rcexplainer.fit.teacher import Lessons
from rcexplainer.gnn.noise import distinct_features, noisy

Read = Callable[[MiniBatch, torch.Generator], Reading]  # what the network reads of a mini-batch


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Instances with what a search taught about them and the regions they lie in."""

    data: InstanceSet
    lessons: Lessons
    regions: Regions
    region: Tensor  # [n] of every instance
    config: RCConfig
    conditioned: bool = False  # whether the network has an output row for each pair of predicted and target class
    _pools: dict[tuple[int, int], NoisyReadings] = field(default_factory=dict, repr=False)
    _batches: dict[tuple[int, int], MiniBatch] = field(default_factory=dict, repr=False)
    _readings: dict[int, Reading] = field(default_factory=dict, repr=False)

    @classmethod
    def joined(cls, parts: Sequence["TrainingSet"]) -> "TrainingSet":
        """The same instances with several target classes are several instances, each with regions of its own."""
        starts = torch.tensor([0, *(len(part.regions) for part in parts)]).cumsum(0).tolist()
        region = [part.region + start for part, start in zip(parts, starts, strict=False)]
        data = InstanceSet.joined([part.data for part in parts])
        lessons = Lessons.joined([part.lessons for part in parts])
        regions = Regions.joined([part.regions for part in parts])
        return cls(data, lessons, regions, torch.cat(region), parts[0].config, conditioned=True)

    @cached_property
    def row(self) -> Tensor:
        """[n] the output row of the network for every instance."""
        num_classes = self.data.instances.split.num_classes
        return class_pair(self.data.label, self.data.target, num_classes, self.conditioned)

    @property
    def rows(self) -> int:
        """How many output rows the network has."""
        return num_class_pairs(self.data.instances.split.num_classes, self.conditioned)

    @cached_property
    def everything(self) -> Tensor:
        """[n] all instances; as one batch they are made once."""
        return self.data.instances.everything

    @cached_property
    def pieces(self) -> list[Tensor]:
        """All instances, cut into pieces for one run of the model each; these batches are made once, too."""
        pieces = self.data.instances.chunks(self.everything)
        return [self.everything] if len(pieces) == 1 else pieces

    @property
    def copied_edges(self) -> float:
        """Edges of the two copies of an instance that a step runs, on average."""
        return 2 * max(1, self.data.instances.units.of_edge.numel()) / len(self.data)

    @cached_property
    def features(self) -> Tensor:
        """The distinct feature rows of all nodes."""
        batch, _ = self.data.instances[self.data.instances.everything]
        return distinct_features(batch)

    @cached_property
    def clean_readings(self) -> CleanReadings:
        """What the network reads of the instances themselves."""
        return CleanReadings(self.data.instances, self.config.inputs)

    def noisy_readings(self, copies: int, seed: int) -> NoisyReadings:
        """What the network reads of noisy copies; made when it is first needed.

        Args:
            copies: Copies of each instance.
            seed: Draws them.
        """
        key = copies, seed
        if key not in self._pools:
            generator = torch.Generator(self.data.label.device).manual_seed(seed)
            make = noisy(self.config.noise, self.features)
            self._pools[key] = NoisyReadings(self.data.instances, self.config.inputs, make, copies, generator)
        return self._pools[key]

    def unchanged(self, some: MiniBatch, generator: torch.Generator | None = None) -> Reading:
        """The network reads the graphs themselves; of batches that are made once it does so once."""
        if not self._lasting(some.ids):
            return self.clean_readings(some.ids, some.batch)
        if id(some.ids) not in self._readings:
            self._readings[id(some.ids)] = self.clean_readings(some.ids, some.batch)
        return self._readings[id(some.ids)]

    def noised(self, some: MiniBatch, generator: torch.Generator, copies: int = POOL) -> NoisyReading:
        """The network reads a noisy copy of each graph, drawn from a pool of `copies`."""
        readings = self.noisy_readings(copies, generator.initial_seed())
        return readings(some.ids, some.batch, some.units, generator)

    @property
    def reading(self) -> Read:
        """What all losses but stability are trained on; noisy copies only where there is no stability loss."""
        return self.noised if self.config.noise and not self.config.weight_stable else self.unchanged

    def mini_batch(self, ids: Tensor, copies: int = 1) -> MiniBatch:
        """These instances, repeated `copies` times one after the other.

        Args:
            ids: [b].
            copies: How many times.
        """
        key = id(ids), copies
        if key in self._batches:
            return self._batches[key]
        wide = ids if copies == 1 else ids.repeat(copies)
        rows, _ = gather_ranges(self.data.instances.units.ptr[wide], self.data.instances.units.ptr[wide + 1])
        made = MiniBatch(wide, *self.data.instances[wide], rows)
        if self._lasting(ids):
            self._batches[key] = made
        return made

    def _lasting(self, ids: Tensor) -> bool:
        """Whether these very instances come again."""
        return ids is self.everything or any(ids is piece for piece in self.pieces)

    @cached_property
    def surface(self) -> Surface:
        """What the instances should be led out of."""
        return surface_of(self.data, self.regions, self.region, self.config)

    @cached_property
    def clean(self) -> Tensor:
        """[n, P] how far inside every instance is."""
        return self.surface.clean

    @cached_property
    def padding(self) -> tuple[Tensor, int] | None:
        """What the network reads of a padded node, and N; for nodes and links None: their matrices are not padded."""
        instances = self.data.instances
        if instances.split.task != "graph":
            return None
        batch, _ = instances[instances.everything]
        return padded_node(instances, self.config.inputs), int(batch.ptr.diff().max())

    def step(
        self,
        net: EdgeMaskNet,
        ids: Tensor,
        progress: float,
        generator: torch.Generator,
        read: Read,
        copies: int = POOL,
    ) -> Step:
        """A mini-batch for an objective: the network reads the graphs or copies, and answers for the graphs themselves.

        Args:
            net: The mask network, or a stack of them.
            ids: The instances, [b].
            progress: The share of the training that is done.
            generator: Random numbers.
            read: What the network reads.
            copies: Noisy copies of each instance that there are to choose from.
        """
        some, number = self.mini_batch(ids), len(ids)
        units, row = some.units, self.row[ids]

        def heard(reading: Reading, pair: Tensor, owner: Tensor) -> Tensor:
            return logits_of(net, reading.nodes, reading.embedding, row, pair, owner, self.config)

        reading = read(some, generator)
        pairs = self._pairs(net, some, reading, row, generator)
        logits = heard(reading, units.pair, units.owner) if pairs is None else mean_mask_logit(pairs.ways, 0)
        members = len(logits) // len(units) if len(units) else 1 if pairs is None else len(pairs.entries) // number
        numbers = torch.arange(members, device=ids.device)[:, None]

        def copied() -> NoisyCopy:
            other = self.noised(some, generator, copies)
            unit = torch.where(other.unit < 0, -1, other.unit + len(units) * numbers)
            owner = repeated_owner(other.owner, number, members)
            return NoisyCopy(heard(other, other.pair, other.owner), owner, unit.flatten())

        runs = MaskedRuns(self.data, self.surface, some, lambda times: self.mini_batch(ids, times), members)
        taught = self.lessons.taught
        return Step(
            logits=logits,
            ptr=torch.cat([units.ptr[:1], (units.ptr[1:] + len(units) * numbers).flatten()]),
            owner=repeated_owner(units.owner, number, members),
            clean=self.clean[ids].repeat(members, 1),
            inside=runs.inside,
            log_p=runs.log_p,
            outcome=runs.outcome,
            copied=copied,
            pairs=pairs,
            order=self.lessons.order[ids].repeat(members, 1),
            effect=self.lessons.effect[some.rows].repeat(members),
            progress=progress,
            generator=generator,
            taught=None if taught is None else taught[ids].repeat(members),
            members=members,
        )

    def _pairs(
        self, net: EdgeMaskNet, some: MiniBatch, reading: Reading, row: Tensor, generator: torch.Generator
    ) -> PairLogits | None:
        """f_θ of ordered pairs of nodes, where size and entropy are taken over matrices; else None."""
        if self.config.network != "directed":
            return None

        def ordered(nodes: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
            return net.ordered(nodes, row, pair, owner)

        return pair_logits(some, reading.nodes, ordered, self.padding, generator)

    @torch.no_grad()
    def loss(self, net: EdgeMaskNet, objective: Objective) -> Tensor:
        """The mean loss of all instances for each network, [R], with the same random numbers every time."""
        generator = torch.Generator(self.data.label.device).manual_seed(0)
        parts: list[Tensor] = []
        for ids in self.pieces:
            terms = objective(self.step(net, ids, 1.0, generator, self.unchanged, copies=1))
            parts.append(len(ids) * torch.stack(list(terms.values())).sum(0))
        return torch.stack(parts).sum(0) / len(self.data)

    @torch.no_grad()
    def logits(self, net: EdgeMaskNet) -> tuple[Tensor, Tensor]:
        """f_θ and the owner of every unit."""
        parts: list[Tensor] = []
        for ids in self.pieces:
            some = self.mini_batch(ids)
            read, units = self.unchanged(some), some.units
            found = logits_of(net, read.nodes, read.embedding, self.row[ids], units.pair, units.owner, self.config)
            parts.append(connected_units(found, some.batch, units, self.config))
        return torch.cat(parts), owners(self.data.instances.units.ptr)

    @torch.no_grad()
    def outcome_of(self, place: Tensor, shares: Sequence[float]) -> float:
        """How far the model has gone on average when shares of the units are really deleted.

        Args:
            place: [units] of all instances, 0 for the first to delete.
            shares: Of the units of an instance; at least one unit is deleted.
        """
        instances = self.data.instances
        owner, counts = instances.units.owner, instances.units.counts
        total = 0.0
        for share in shares:
            removed = place < (share * counts).round().clamp_min(1).long()[owner]
            after = instances.log_probs(instances.everything, removed).exp()
            total += float(self.data.reached(after, instances.everything).mean())
        return total / len(shares)

    @torch.no_grad()
    def collapse(self, net: EdgeMaskNet) -> str | None:
        """How the network's masks have collapsed, in words; None if they have not.

        Where each class has a network of its own, a single one of them can collapse.
        """
        logits, owner = self.logits(net)
        test = ranking_collapse if learns_ranking(self.config) else mask_collapse
        everywhere = test(logits, owner, len(self.data))
        if everywhere or self.config.network not in AS_THEY_ARE:
            return everywhere
        for label in torch.unique(self.data.label).tolist():
            own = self.data.label == label
            here, place = own[owner], own.long().cumsum(0) - 1
            if found := test(logits[here], place[owner[here]], int(own.sum())):
                return f"{found} (class {label})"
        return None

    @torch.no_grad()
    def calibration(self, net: EdgeMaskNet) -> Calibration:
        """The map from logits to scores, by really deleting; masks that are probabilities keep their cut at ½."""
        instances = self.data.instances
        logits, owner = self.logits(net)
        if not learns_ranking(self.config):
            return Calibration(logits.new_zeros(self.rows), logits.new_ones(()))
        counts = instances.units.counts.clamp_min(1)
        logits = relative_shares(logits, counts, owner)
        before = self.data.reached(self.data.log_probs.exp(), instances.everything)

        def gain(removed: Tensor) -> Tensor:
            after = self.data.reached(instances.log_probs(instances.everything, removed).exp(), instances.everything)
            gone = logits.new_zeros(len(counts)).index_add(0, owner, removed.to(logits.dtype))
            return after - before - gone / counts

        return replace(calibrate(logits, self.row, gain, self.rows), relative=True)
