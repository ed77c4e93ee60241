"""Which share of each predicted class keeps its prediction without any edge, and what follows for training masks.

    share(c) = mean over instances predicted as c of [argmax f(G without its deletable edges) = c]

Near 0, the mask of all ones is nearly optimal for losses of masks: with it the graph is whole and in its class, and the
graph without the masked edges has none left and is out of it. Near 1, an instance that has left its class returns to it
when more edges are deleted. The edges are really deleted; self-loops and fixed edges stay.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.config import RCConfig
from rcexplainer.fit.data import InstanceSet
from rcexplainer.gnn.instances import Instances

log = logging.getLogger(__name__)

MOST_INSTANCES = 1024  # of a class; more would hardly change its share
LEFT, KEPT = 0.1, 0.9  # up to this share of its instances a class counts as left, from this share on as kept


@dataclass(frozen=True)
class ClassShare:
    """One predicted class without edges.

    Attributes:
        label: The class.
        instances: Number of instances predicted as the class.
        tried: Number of them that were run without edges.
        share: Share of these that keep their prediction.
    """

    label: int
    instances: int
    tried: int
    share: float


@dataclass(frozen=True)
class EdgelessShares:
    """The predicted classes without edges, in the order of their numbers."""

    classes: tuple[ClassShare, ...]

    @property
    def left(self) -> tuple[int, ...]:
        """The classes that hardly any instance stays in: all-ones masks are nearly optimal for losses of masks."""
        return tuple(one.label for one in self.classes if one.share <= LEFT)

    def warnings(self, class_names: Sequence[str] = ()) -> tuple[str, ...]:
        """Say what follows for each class that nearly all instances leave, or stay in.

        Args:
            class_names: Names of the classes; their numbers are used without.

        Returns:
            A sentence for each such class.
        """
        return tuple(
            f"{_name(one, class_names)}: {_consequence(one)}"
            for one in self.classes
            if one.share <= LEFT or one.share >= KEPT
        )

    def __str__(self) -> str:
        shares = "; ".join(f"class {one.label}: {one.share:.0%} of {one.tried}" for one in self.classes)
        return f"keep their prediction without any edge: {shares}"


def edgeless_shares(data: InstanceSet, *, most: int = MOST_INSTANCES, seed: int = 0) -> EdgelessShares:
    """Measure which share of each predicted class keeps its prediction when all deletable edges are deleted.

    Args:
        data: Instances with their predictions.
        most: Number of instances of a class that are run, drawn with the seed.
        seed: Random seed of that choice.

    Returns:
        The share of every class that is predicted at all.
    """
    generator = torch.Generator().manual_seed(seed)
    found: list[ClassShare] = []
    for label in sorted(set(data.label.tolist())):
        own = (data.label == label).nonzero().flatten()
        chosen = torch.randperm(len(own), generator=generator)[:most].sort().values
        ids = own[chosen.to(own.device)]
        kept = stays(data.instances, data.label, ids)
        found.append(ClassShare(label, len(own), len(ids), float(kept.double().mean())))
    return EdgelessShares(tuple(found))


def logged_shares(data: InstanceSet, config: RCConfig, class_names: Sequence[str] = ()) -> EdgelessShares | None:
    """Measure and log the shares; what follows is a warning where masks are trained towards no size.

    Args:
        data: The training instances.
        config: The settings of the training.
        class_names: Names of the classes.

    Returns:
        The shares; None for a model that cannot run a graph without edges, which need not stop a fit.
    """
    try:
        shares = edgeless_shares(data)
    except Exception as error:  # noqa: BLE001  it is the user's model, and anything may be raised there
        log.info("the model cannot run a graph without edges (%s: %s)", type(error).__name__, error)
        return None
    log.info("%s", shares)
    masks = bool(config.weight_regions) and config.gate != "budget" and not config.target_size
    for line in shares.warnings(class_names):
        log.log(logging.WARNING if masks else logging.INFO, "%s", line)
    return shares


def stays(instances: Instances, label: Tensor, ids: Tensor) -> Tensor:
    """Test whether instances are still predicted as a class when all their deletable edges are deleted.

    Args:
        instances: The instances.
        label: [n] the class of each.
        ids: [k] the instances to run.

    Returns:
        [k] bool.
    """
    units = int(instances.units.counts[ids].sum())
    removed = torch.ones(units, dtype=torch.bool, device=ids.device)
    return instances.log_probs(ids, removed).argmax(1) == label[ids]


@torch.no_grad()
def stays_thinned(instances: Instances, label: Tensor, ids: Tensor, weight: float) -> Tensor:
    """Test whether instances are still predicted as a class when all their deletable edges have one weight below 1.

    Args:
        instances: The instances, of a model that soft masks reach.
        label: [n] the class of each.
        ids: [k] the instances to run.
        weight: The weight.

    Returns:
        [k] bool.
    """
    found: list[Tensor] = []
    for some in instances.chunks(ids):
        batch, units = instances[some]
        run = instances.split.run(batch, units.to_edges(torch.full((len(units),), weight, device=ids.device), 1.0))
        found.append(instances.split.log_probs(run.output).argmax(1) == label[some])
    return torch.cat(found)


def _name(one: ClassShare, class_names: Sequence[str]) -> str:
    """The class for a reader."""
    return f"class {one.label}" + (f" ({class_names[one.label]})" if class_names else "")


def _consequence(one: ClassShare) -> str:
    """What follows from a share near 0 or 1."""
    kept = f"{one.share:.0%} of {one.tried} instances keep their prediction without any edge"
    if one.share <= LEFT:
        return (
            f"{kept}, so masks that select every edge are nearly optimal for losses of masks; only a size penalty of "
            "some weight, budget gates or a ranking loss prevent them"
        )
    return (
        f"{kept}, so an instance that has left the class can return when more edges are deleted: fidelity need not "
        "grow with the number of deleted edges"
    )
