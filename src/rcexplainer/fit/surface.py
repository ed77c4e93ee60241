"""What masks should lead out of: a surface that says how far inside an instance, and any masked copy of it, is.

RegionSurface   B_i of the instance's decision region, [n, P]                    the paper
ClassSurface    the logit of the predicted class minus the best other's, [n, 1]   no boundary is chosen
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rcexplainer.config import RCConfig
from rcexplainer.core.nearest_boundary import assign_nearest
from rcexplainer.core.regions import Regions
from rcexplainer.fit.data import InstanceSet, margin
from rcexplainer.gnn.split import Pass


class Surface(Protocol):
    """Where instances are."""

    @property
    def clean(self) -> Tensor:
        """[n, P] the margins of the instances themselves, positive inside."""

    def margins(self, done: Pass, ids: Tensor) -> Tensor:
        """Margins of copies.

        Args:
            done: A run of the model on copies of instances.
            ids: [b] the instances.

        Returns:
            [b, P].
        """


@dataclass(frozen=True, eq=False)
class RegionSurface:
    """The boundaries of each instance's region."""

    data: InstanceSet
    regions: Regions
    region: Tensor  # [n] of every instance

    @property
    def clean(self) -> Tensor:
        """[n, P] the margins of the instances themselves."""
        return self.regions.margins(self.data.embedding, self.region)

    def margins(self, done: Pass, ids: Tensor) -> Tensor:
        """Margins of copies; see `Surface`."""
        return self.regions.margins(done.embedding, self.region[ids])


@dataclass(frozen=True, eq=False)
class ClassSurface:
    """The margin of the predicted class, divided as boundaries are: by half its median in the class."""

    data: InstanceSet
    scale: Tensor  # [n]

    @classmethod
    def of(cls, data: InstanceSet, scaled: bool) -> "ClassSurface":
        """The surface of these instances."""
        scale = torch.ones_like(data.log_probs[:, 0])
        for label in data.label.unique() if scaled else ():
            own = data.label == label
            scale[own] = margin(data.log_probs[own], data.label[own], data.target[own]).median() / 2
        return cls(data, scale.clamp_min(torch.finfo(scale.dtype).eps))

    @property
    def clean(self) -> Tensor:
        """[n, 1] the margins of the instances themselves."""
        return (margin(self.data.log_probs, self.data.label, self.data.target) / self.scale)[:, None]

    def margins(self, done: Pass, ids: Tensor) -> Tensor:
        """Margins of copies; see `Surface`."""
        log_probs = self.data.instances.split.log_probs(done.output)
        return (margin(log_probs, self.data.label[ids], self.data.target[ids]) / self.scale[ids])[:, None]


Assign = Callable[[Regions, Tensor, Tensor], Tensor]  # regions, embeddings, predictions → [n] the region of each


def assign_of(config: RCConfig) -> Assign:
    """How instances find their region."""
    return assign_nearest if config.leave == "nearest" else Regions.assign


def surface_of(data: InstanceSet, regions: Regions, region: Tensor, config: RCConfig) -> Surface:
    """What these instances should be led out of; losses on probabilities need none, and have the class."""
    if config.leave in ("region", "nearest"):
        return RegionSurface(data, regions, region)
    return ClassSurface.of(data, config.scaled)
