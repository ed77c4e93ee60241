"""Runs of the model on masked, or really cut, copies of a mini-batch; several networks have copies side by side."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.units import Units
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.surface import Surface
from rcexplainer.gnn.graph_store import delete_edges


@dataclass(frozen=True, eq=False)
class MiniBatch:
    """Some instances, with their batch and its units."""

    ids: Tensor  # [b]
    batch: Data
    units: Units
    rows: Tensor  # [units] of the batch, their positions among the units of all instances


@dataclass(frozen=True, eq=False)
class MaskedRuns:
    """What objectives ask of the model, for k values [k, R·units] of the units of b instances in R networks.

    Attributes:
        data: All instances.
        surface: What they should be led out of.
        some: The mini-batch.
        copies: Gives it repeated a number of times.
        members: R.
    """

    data: InstanceSet
    surface: Surface
    some: MiniBatch
    copies: Callable[[int], MiniBatch]
    members: int

    def inside(self, masks: Tensor) -> Tensor:
        """[k, R·b, P] margins of the copies weighted by masks."""
        split = self.data.instances.split

        def margins(wide: MiniBatch, mask: Tensor) -> Tensor:
            return self.surface.margins(split.run(wide.batch, wide.units.to_edges(mask, 1.0)), wide.ids)

        return self._runs(masks, margins)

    def log_p(self, masks: Tensor) -> Tensor:
        """[k, R·b] log-probabilities of the predicted class, of the copies weighted by masks."""
        split = self.data.instances.split

        def own(wide: MiniBatch, mask: Tensor) -> Tensor:
            sure = split.log_probs(split.run(wide.batch, wide.units.to_edges(mask, 1.0)).output)
            return sure.gather(1, self.data.label[wide.ids, None]).squeeze(1)

        return self._runs(masks, own)

    @torch.no_grad()
    def outcome(self, removed: Tensor) -> Tensor:
        """[k, R·b] how far the model has gone without these units, which are really deleted."""
        split = self.data.instances.split

        def reached(wide: MiniBatch, gone: Tensor) -> Tensor:
            left = split.run(delete_edges(wide.batch, wide.units.to_edges(gone, False)))
            return self.data.reached(split.log_probs(left.output).exp(), wide.ids)

        return self._runs(removed, reached)

    def _runs(self, values: Tensor, run: Callable[[MiniBatch, Tensor], Tensor]) -> Tensor:
        """The rows [k, R·b, …] that `run` takes from the model, as many copies at a time as it can take."""
        most = max(1, self.data.instances.max_edges // max(1, self.some.batch.num_edges))
        parts = values.view(len(values) * self.members, len(self.some.units)).split(most)
        found = torch.cat([run(self.copies(len(part)), part.flatten()) for part in parts])
        return found.view(len(values), -1, *found.shape[1:])
