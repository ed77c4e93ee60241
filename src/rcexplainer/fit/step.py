"""Training sets: instances with their lessons and regions, and the mini-batches that objectives are computed on."""

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
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.network import class_pair, connected_logits, learns_ranking, num_class_pairs, unit_logits
from rcexplainer.fit.teacher import Lessons, teach
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.noise import noisy
from rcexplainer.saving.checkpoint import FitFile

Copies = Callable[[Data, Units, torch.Generator], Data]  # the copy of a batch that the network reads


def unchanged(batch: Data, units: Units, generator: torch.Generator) -> Data:
    """The graphs themselves."""
    return batch


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Instances with what a search taught about them and the regions they lie in."""

    data: InstanceSet
    lessons: Lessons
    regions: Regions
    region: Tensor  # [n] of every instance
    config: RCConfig
    conditioned: bool = False  # whether the network has an output row for each pair of predicted and target class

    @classmethod
    def of(cls, data: InstanceSet, lessons: Lessons, regions: Regions, config: RCConfig) -> "TrainingSet":
        """Every instance in the region of its predicted class that fits it best."""
        return cls(data, lessons, regions, regions.assign(data.embedding, data.label), config)

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
    def features(self) -> Tensor:
        """The distinct feature rows of all nodes."""
        batch, _ = self.data.instances[self.data.instances.everything]
        return batch.x.unique(dim=0) if isinstance(batch.x, Tensor) else self.data.embedding[:0]

    @cached_property
    def noisy_copies(self) -> Copies:
        """Noisy copies, if the settings have noise."""
        return noisy(self.config.noise, self.features) if self.config.noise else unchanged

    @property
    def reading(self) -> Copies:
        """The copies that all losses but stability are trained on; noisy ones only where there is no stability loss."""
        return unchanged if self.config.weight_stable else self.noisy_copies

    @cached_property
    def clean(self) -> Tensor:
        """[n, P] B(φ_gc(G)) of every instance, towards the inside of its region."""
        return self.regions.margins(self.data.embedding, self.region)

    def step(self, net: EdgeMaskNet, ids: Tensor, progress: float, generator: torch.Generator, read: Copies) -> Step:
        """A mini-batch for an objective: the network reads a copy of the graphs, and answers for the graphs themselves.

        Args:
            net: The mask network.
            ids: The instances, [b].
            progress: The share of the training that is done.
            generator: Random numbers.
            read: Makes the copy.
        """
        data, split = self.data, self.data.instances.split
        batch, units = data.instances[ids]
        copies = read(batch, units, generator)
        logits = unit_logits(net, split.run(copies), copies, units, self.row[ids], self.config)

        def copied() -> NoisyCopy:
            other = self.noisy_copies(batch, units, generator)
            nodes = int(other.num_nodes or 0)
            own = find_units(other.edge_index, nodes, batch.batch, len(ids), other.get("edge_fixed"))
            heard = unit_logits(net, split.run(other), other, own, self.row[ids], self.config)
            return NoisyCopy(heard, own.owner, same_units(units.pair, own.pair, nodes))

        def inside(mask: Tensor) -> Tensor:
            return self.regions.margins(split.run(batch, units.to_edges(mask, 1.0)).embedding, self.region[ids])

        def log_p(mask: Tensor) -> Tensor:
            sure = split.log_probs(split.run(batch, units.to_edges(mask, 1.0)).output)
            return sure.gather(1, data.label[ids, None]).squeeze(1)

        @torch.no_grad()
        def outcome(removed: Tensor) -> Tensor:
            left = split.log_probs(split.run(delete_edges(batch, units.to_edges(removed, False))).output).exp()
            return data.reached(left, ids)

        rows, _ = gather_ranges(data.instances.units.ptr[ids], data.instances.units.ptr[ids + 1])
        return Step(
            logits=logits,
            ptr=units.ptr,
            owner=units.owner,
            clean=self.clean[ids],
            inside=inside,
            log_p=log_p,
            outcome=outcome,
            copied=copied,
            order=self.lessons.order[ids],
            effect=self.lessons.effect[rows],
            progress=progress,
            generator=generator,
        )

    @torch.no_grad()
    def loss(self, net: EdgeMaskNet, objective: Objective) -> float:
        """The mean loss of all instances, with the same random numbers every time."""
        generator, total = torch.Generator().manual_seed(0), 0.0
        for ids in self.data.instances.chunks(self.data.instances.everything):
            terms = objective(self.step(net, ids, 1.0, generator, unchanged))
            total += len(ids) * sum(float(term) for term in terms.values())
        return total / len(self.data)

    @torch.no_grad()
    def logits(self, net: EdgeMaskNet) -> tuple[Tensor, Tensor]:
        """f_θ and the owner of every unit."""
        instances, parts = self.data.instances, []
        for ids in instances.chunks(instances.everything):
            batch, units = instances[ids]
            parts.append(connected_logits(net, instances.split.run(batch), batch, units, self.row[ids], self.config))
        return torch.cat(parts), owners(instances.units.ptr)

    @torch.no_grad()
    def collapse(self, net: EdgeMaskNet) -> str | None:
        """How the network's masks have collapsed, in words; None if they have not."""
        logits, owner = self.logits(net)
        test = ranking_collapse if learns_ranking(self.config) else mask_collapse
        return test(logits, owner, len(self.data))

    @torch.no_grad()
    def calibration(self, net: EdgeMaskNet) -> Calibration:
        """The map from logits to scores, by really deleting; masks that are probabilities keep their cut at ½."""
        instances = self.data.instances
        logits, owner = self.logits(net)
        if not learns_ranking(self.config):
            return Calibration(logits.new_zeros(self.rows), logits.new_ones(()))
        counts = instances.units.counts.clamp_min(1)
        before = self.data.reached(self.data.log_probs.exp(), instances.everything)

        def gain(removed: Tensor) -> Tensor:
            after = self.data.reached(instances.log_probs(instances.everything, removed).exp(), instances.everything)
            gone = logits.new_zeros(len(counts)).index_add(0, owner, removed.to(logits.dtype))
            return after - before - gone / counts

        return calibrate(logits, self.row, gain, self.rows)


def with_lessons(
    data: InstanceSet,
    regions: dict[int | None, Regions],
    config: RCConfig,
    file: FitFile,
    name: str,
    progress: bool = False,
) -> TrainingSet:
    """A training set with the teacher's lessons, for every target class that some of the instances can be led to.

    Args:
        data: The instances.
        regions: Regions by target class; None: any class other than the predicted one.
        config: The settings.
        file: The checkpoint of the fit.
        name: Under which lessons are kept there.
        progress: Whether to show progress bars.

    Raises:
        RCExplainerError: All instances are predicted as the target class already.
    """
    parts: list[TrainingSet] = []
    for target, own in regions.items():
        if target is not None and bool((data.label == target).all()):
            continue  # predicted so already, all of them
        some = data if target is None else data.towards(target)
        lessons = teach(some, own, config, file, name if target is None else f"{name} {target}", progress)
        parts.append(TrainingSet.of(some, lessons, own, config))
    if not parts:
        raise RCExplainerError(
            f"all {len(data)} instances of the {name} are predicted as target_class {next(iter(regions))} already: "
            "give others too"
        )
    return parts[0] if list(regions) == [None] else TrainingSet.joined(parts)
