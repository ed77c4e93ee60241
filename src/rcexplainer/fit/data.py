"""Embeddings, predictions and target classes of the training instances."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel

PIECE_EDGES = 1 << 19  # edges of graphs that are made as they are read, in memory at a time


@dataclass(frozen=True, eq=False)
class Predictions:
    """Embeddings and predictions of some instances: all that boundaries and regions are made of."""

    embedding: Tensor  # φ_gc(G) [n, d]
    log_probs: Tensor  # log p [n, C]

    @classmethod
    def of(cls, split: SplitModel, graphs: Iterable[Data]) -> "Predictions":
        """One forward pass over the graphs, some at a time; in a node or link graph every row counts."""
        parts = [cls.read(Instances(split, some)) for some in _pieces(graphs)]
        return Predictions(torch.cat([one.embedding for one in parts]), torch.cat([one.log_probs for one in parts]))

    @classmethod
    def read(cls, instances: Instances) -> "Predictions":
        """One forward pass over the instances."""
        split = instances.split
        both = instances.passes(lambda done: torch.cat([done.embedding, split.log_probs(done.output)], 1))
        embedding, log_probs = both.split([split.embedding_dim, split.num_classes], 1)
        return Predictions(embedding.contiguous(), log_probs.contiguous())

    @cached_property
    def label(self) -> Tensor:
        """[n] the predicted class."""
        return self.log_probs.argmax(1)

    def __len__(self) -> int:
        return len(self.embedding)


@dataclass(frozen=True, eq=False)
class InstanceSet(Predictions):
    """Instances with their predictions and target classes."""

    instances: Instances
    target: Tensor  # [n] the class to reach; the predicted class itself stands for any other

    @classmethod
    def of(cls, split: SplitModel, graphs: Iterable[Data]) -> "InstanceSet":
        """The instances of these graphs; the target is any other class."""
        instances = Instances(split, list(graphs))
        seen = Predictions.read(instances)
        return cls(seen.embedding, seen.log_probs, instances, seen.label)

    @classmethod
    def joined(cls, parts: Sequence["InstanceSet"]) -> "InstanceSet":
        """All sets, one after the other."""
        graphs = [graph for part in parts for graph in part.instances.graphs]
        columns = ([getattr(part, name) for part in parts] for name in ("embedding", "log_probs", "target"))
        embedding, log_probs, target = (torch.cat(column) for column in columns)
        return cls(embedding, log_probs, Instances(parts[0].instances.split, graphs), target)

    def some(self, ids: Tensor) -> "InstanceSet":
        """The instances at these positions."""
        return InstanceSet(self.embedding[ids], self.log_probs[ids], self.instances.some(ids), self.target[ids])

    def sample(self, limit: int, generator: torch.Generator) -> "InstanceSet":
        """At most `limit` instances, drawn at random, in their order."""
        places = torch.randperm(len(self), generator=generator)[:limit]
        return self.some(places.sort().values.to(self.label.device))

    def towards(self, target: int) -> "InstanceSet":
        """The instances not predicted as `target`, with that target class."""
        others = self.some((self.label != target).nonzero().flatten())
        return replace(others, target=torch.full_like(others.label, target))

    def reached(self, probabilities: Tensor, ids: Tensor) -> Tensor:
        """[k] how far the model has gone: 1 − p(predicted class), or p(target).

        Args:
            probabilities: What the model says of changed copies, [k, C].
            ids: The instances these are copies of, [k].
        """
        own, other = (probabilities.gather(1, asked[ids, None]).squeeze(1) for asked in (self.label, self.target))
        return torch.where(self.target[ids] == self.label[ids], 1 - own, other)


def _pieces(graphs: Iterable[Data]) -> Iterator[list[Data]]:
    """Graphs that are in memory at a time where they are made as they are read; a list is in memory anyway."""
    if isinstance(graphs, list):
        yield graphs
        return
    piece, edges = list[Data](), 0
    for graph in graphs:
        piece.append(graph)
        edges += int(graph.num_edges)
        if edges >= PIECE_EDGES:
            yield piece
            piece, edges = [], 0
    if piece:
        yield piece


def hold_out(label: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Positions to train on, and a tenth to validate on; of every predicted class at least one is trained on."""
    order = torch.randperm(len(label), generator=generator).to(label.device)
    first = torch.stack([(label[order] == value).nonzero()[0, 0] for value in label.unique()])
    free = torch.ones_like(order, dtype=torch.bool)
    free[first] = False
    held = order[free][: max(1, len(order) // 10)]
    if not len(held):
        return order, order  # nothing can be spared: the same instances serve twice
    return order[~torch.isin(order, held)], held


def margin(log_probs: Tensor, label: Tensor, target: Tensor) -> Tensor:
    """[n] the logit of the label minus the target's; a target equal to the label stands for the best other class.

    Logits differ as log-probabilities [n, C] do.
    """
    own = log_probs.gather(1, label[:, None]).squeeze(1)
    best = log_probs.scatter(1, label[:, None], -torch.inf).amax(1)
    asked = log_probs.gather(1, target[:, None]).squeeze(1)
    return own - torch.where(target == label, best, asked)
