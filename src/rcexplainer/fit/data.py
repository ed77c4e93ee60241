"""What is known of instances before the mask network is trained, and what a search finds out about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    effect: Tensor  # [units] what deleting this unit alone does

    @classmethod
    def joined(cls, parts: Sequence["Lesson"]) -> "Lesson":
        width = max(part.order.size(1) for part in parts)
        orders = [nn.functional.pad(part.order, (0, width - part.order.size(1)), value=-1) for part in parts]
        return cls(torch.cat(orders), torch.cat([part.effect for part in parts]))


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
    """The same with the instances themselves, and which other class is asked about."""

    instances: Instances
    target: Tensor  # [n] the class to get to; the predicted class itself stands for any other

    @classmethod
    def about(cls, split: SplitModel, graphs: Sequence[Data]) -> "Known":
        instances = Instances(split, list(graphs))
        seen = Seen.of(split, instances.passes)
        return cls(seen.embedding, seen.log_probs, instances, seen.label)

    def some(self, ids: Tensor) -> "Known":
        """These instances alone."""
        return Known(self.embedding[ids], self.log_probs[ids], self.instances.some(ids), self.target[ids])

    def towards(self, target: int) -> "Known":
        """The instances that are not predicted so already, asked how to get there."""
        others = self.some((self.label != target).nonzero().flatten())
        return replace(others, target=torch.full_like(others.label, target))

    def reached(self, probabilities: Tensor, ids: Tensor) -> Tensor:
        """[k] of instances `ids` [k] with these probabilities [k, C]: how far the model has gone where it is asked to
        go, away from the predicted class or to the one that is asked about."""
        own, other = (probabilities.gather(1, asked[ids, None]).squeeze(1) for asked in (self.label, self.target))
        return torch.where(self.target[ids] == self.label[ids], 1 - own, other)

    @classmethod
    def joined(cls, parts: Sequence["Known"]) -> "Known":
        """All of them, one part after the other."""
        graphs = [graph for part in parts for graph in part.instances.graphs]
        columns = ([getattr(part, name) for part in parts] for name in ("embedding", "log_probs", "target"))
        embedding, log_probs, target = (torch.cat(column) for column in columns)
        return cls(embedding, log_probs, Instances(parts[0].instances.split, graphs), target)

    def nothing(self) -> Lesson:
        """The lesson of a search that was not made."""
        units = self.instances.units
        return Lesson(units.owner.new_empty(len(self), 0), self.embedding.new_zeros(len(units)))

    def teach(self, regions: Regions, config: RCConfig, progress: bool) -> Lesson:
        """Search: the order in which greedy deletion reaches its goal, and what each unit does on its own."""
        goal = GOALS[config.teacher](self, regions)
        lessons: list[Lesson] = []
        # All single deletions of a graph are asked at once: the square of its units is what it costs.
        pieces = split_by_cost(self.instances.everything, self.instances.units.counts**2, SEARCH_PAIRS)
        for ids in tqdm(pieces, desc="search", unit="batch", disable=not progress):
            part = self.instances.some(ids)
            ptr, owner = part.units.ptr, part.units.owner

            def distance(copies: Tensor, removed: Tensor, ids: Tensor = ids, part: Instances = part) -> Tensor:
                return goal.distance(part.without(copies, removed, goal.read), ids[copies])

            effect = single_effects(part, self.label[ids], self.target[ids])
            steps = (part.units.counts * config.teacher_depth).ceil().long().clamp_max(config.teacher_steps)
            allowed = ranks(effect, owner, ptr) < config.teacher_candidates
            found = greedy(ptr, distance, allowed, steps, choose=prefer(effect, config.teacher_tolerance)).units
            lessons.append(Lesson(torch.where(found < 0, -1, found - ptr[:-1, None]), effect))
        return Lesson.joined(lessons)


@dataclass(frozen=True)
class Goal:
    """Where a search leads: `distance(what `read` takes from the model, positions of the instances)` is how far an
    instance is from there, [n], negative beyond."""

    read: Callable[[Pass], Tensor]
    distance: Callable[[Tensor, Tensor], Tensor]


def out_of_region(known: Known, regions: Regions) -> Goal:
    """Across the nearest boundary of its region."""
    region = regions.assign(known.embedding, known.label)
    return Goal(lambda done: done.embedding, lambda left, ids: regions.distances(left, region[ids]).amin(1))


def out_of_class(known: Known, regions: Regions) -> Goal:
    """To where another class, or the one that is asked about, has the larger logit; boundaries have no part in it."""
    split = known.instances.split
    return Goal(
        lambda done: split.log_probs(done.output),
        lambda left, ids: margin(left, known.label[ids], known.target[ids]),
    )


def margin(log_probs: Tensor, label: Tensor, target: Tensor) -> Tensor:
    """[n] by how much the logit of the label is above the target's; a target that is the label stands for any other.

    Logits differ as log-probabilities [n, C] do.
    """
    own = log_probs.gather(1, label[:, None]).squeeze(1)
    best = log_probs.scatter(1, label[:, None], -torch.inf).amax(1)
    asked = log_probs.gather(1, target[:, None]).squeeze(1)
    return own - torch.where(target == label, best, asked)


GOALS: dict[str, Callable[[Known, Regions], Goal]] = {"region": out_of_region, "margin": out_of_class}


def question(label: Tensor, target: Tensor, num_classes: int, conditioned: bool) -> Tensor:
    """[n] the number of the question "why this class and not that one?"; the class itself stands for any other.

    A network that is only asked about any other class is told the class alone.
    """
    return label * num_classes + target if conditioned else label


def questions(num_classes: int, conditioned: bool) -> int:
    """How many there are."""
    return num_classes**2 if conditioned else num_classes


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
