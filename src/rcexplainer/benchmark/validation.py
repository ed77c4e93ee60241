"""A case whose held-out instances are validation instances: settings are chosen on these, never on test instances.

    graphs   methods are fitted to training graphs, and judged on the validation graphs predicted as the explained class
    nodes    the motifs that methods may learn from are divided again: a third of them is held out

Baselines have the settings they are given on top of their defaults: the tuned ones are what is being looked for.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.layout import LAYOUTS, PARTITIONS, Layout
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.networks import sample
from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import RCExplainerError

HELD_OUT_MOTIFS = 3  # every third motif to learn from is held out


@dataclass(frozen=True, eq=False)
class ValidationCase(Case):
    """A network, training instances, and validation instances in the place of the held-out ones.

    Attributes:
        training_graphs: Training graphs to fit on, at most; None: all of them.
    """

    training_graphs: int | None = None

    def tuned(self, method: str) -> Mapping[str, Any]:
        """None: every setting is one that was asked for, or a default."""
        return {}

    def made_with(self, settings: Mapping[str, Any]) -> "ValidationCase":
        """The same case with other settings of the baseline; what was computed does not depend on them, and is kept."""
        other = copy(self)
        object.__setattr__(other, "baseline_settings", dict(settings))
        return other

    @cached_property
    def _layout(self) -> Layout:
        found = LAYOUTS[self.explains](as_if_tested(self.data), partial(predictions, self.split))
        if self.training_graphs is None:
            return found
        chosen = sample(len(found.training), self.training_graphs, self.seed)
        return Layout([found.training[place] for place in chosen], found.explained, found.validation)

    @cached_property
    def _parts(self) -> tuple[Tensor, Tensor] | None:
        if not self.within:
            return None
        if self.data.task != "node":
            raise RCExplainerError(
                f"{self.data.name} is a {self.data.task} set: settings are tuned on graphs and nodes"
            )
        seen, _ = PARTITIONS["node"](self.data, self.model, self.seed)
        motif = self.data.graph.node_motif_id[seen]
        motifs = motif.unique()
        order = motifs[torch.randperm(len(motifs), generator=torch.Generator().manual_seed(self.seed))]
        held_out = torch.isin(motif, order[::HELD_OUT_MOTIFS])
        return seen[~held_out], seen[held_out]


def as_if_tested(data: GraphDataset) -> GraphDataset:
    """The dataset with its validation part as test part."""
    return replace(data, split=replace(data.split, test=data.split.val))
