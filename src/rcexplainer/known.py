"""What is known of instances before the mask network is trained, and what a search finds out about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer.config import RCConfig
from rcexplainer.core.regions import Regions
from rcexplainer.core.search import greedy, prefer
from rcexplainer.core.segments import ranks, split_by_cost
from rcexplainer.gnn.instances import Instances, single_effects
from rcexplainer.gnn.split import Pass, SplitModel

SEARCH_PAIRS = 1 << 20


@dataclass(frozen=True)
class Lesson:
    """What the search found out about some instances."""

    order: Tensor  # [n, K] positions within each instance in the order of deletion, −1 after the last one
    effect: Tensor  # [units] drop of the predicted class's probability when this unit alone is deleted


@dataclass(frozen=True, eq=False)
class Seen:
    """Embeddings and predictions of some instances: all that regions are made of."""

    embedding: Tensor  # [n, d]
    log_probs: Tensor  # [n, C]

    @classmethod
    def of(cls, split: SplitModel, run: Callable[[Callable[[Pass], Tensor]], Tensor]) -> "Seen":
        """`run(read)` runs the model over the instances and gives what `read` takes from it."""
        both = run(lambda done: torch.cat([done.embedding, split.log_probs(done.output)], 1))
        embedding, log_probs = both.split([split.embedding_dim, split.num_classes], 1)
        return cls(embedding.contiguous(), log_probs.contiguous())

    @cached_property
    def label(self) -> Tensor:
        """[n] the predicted class."""
        return self.log_probs.argmax(1)

    def __len__(self) -> int:
        return len(self.embedding)


@dataclass(frozen=True, eq=False)
class Known(Seen):
    """The same with the instances themselves."""

    instances: Instances

    @classmethod
    def about(cls, split: SplitModel, graphs: Sequence[Data]) -> "Known":
        instances = Instances(split, list(graphs))
        seen = Seen.of(split, instances.passes)
        return cls(seen.embedding, seen.log_probs, instances)

    def some(self, ids: Tensor) -> "Known":
        """These instances alone."""
        return Known(self.embedding[ids], self.log_probs[ids], self.instances.some(ids))

    def nothing(self) -> Lesson:
        """The lesson of a search that was not made."""
        units = self.instances.units
        return Lesson(units.owner.new_empty(len(self), 0), self.embedding.new_zeros(len(units)))

    def teach(self, regions: Regions, config: RCConfig, progress: bool) -> Lesson:
        """Search: the order in which greedy deletion leaves the region, and what each unit does on its own."""
        region = regions.assign(self.embedding, self.label)
        orders: list[Tensor] = []
        effects: list[Tensor] = []
        # All single deletions of a graph are asked at once: the square of its units is what it costs.
        pieces = split_by_cost(self.instances.everything, self.instances.units.counts**2, SEARCH_PAIRS)
        for ids in tqdm(pieces, desc="search", unit="batch", disable=not progress):
            part = self.instances.some(ids)
            ptr, owner = part.units.ptr, part.units.owner

            def distance(copies: Tensor, removed: Tensor, ids: Tensor = ids, part: Instances = part) -> Tensor:
                left = part.without(copies, removed, lambda done: done.embedding)
                return regions.distances(left, region[ids[copies]]).amin(1)

            effect = single_effects(part, self.label[ids])
            steps = (part.units.counts * config.teacher_depth).ceil().long().clamp_max(config.teacher_steps)
            allowed = ranks(effect, owner, ptr) < config.teacher_candidates
            found = greedy(ptr, distance, allowed, steps, choose=prefer(effect, config.teacher_tolerance)).units
            orders.append(torch.where(found < 0, -1, found - ptr[:-1, None]))
            effects.append(effect)
        width = max(order.size(1) for order in orders)
        padded = [nn.functional.pad(order, (0, width - order.size(1)), value=-1) for order in orders]
        return Lesson(torch.cat(padded), torch.cat(effects))


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
