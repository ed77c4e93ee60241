"""Linear decision boundaries of a head, and the regions they bound, from predictions."""

import logging

import torch

from rcexplainer.config import RCConfig
from rcexplainer.core.boundaries import Head, LinearBoundaries
from rcexplainer.core.nearest_boundary import nearest_regions
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import Predictions
from rcexplainer.gnn.split import SplitModel

log = logging.getLogger(__name__)


def class_margins(split: SplitModel) -> Head:
    """The head as log-probabilities: only differences between classes matter to boundaries."""
    return lambda x: split.log_probs(split.head(x))


def find_boundaries(
    split: SplitModel, seen: Predictions, config: RCConfig, seed: int, target: int | None = None
) -> LinearBoundaries:
    """Linear decision boundaries of the head (Eq. 2, 3); with a target only those between it and others (Eq. 12, 13).

    Raises:
        RCExplainerError: The model predicts one class for everything.
    """
    if len(seen.label.unique()) < 2:
        given = f"all {len(seen)} {split.task}s" if len(seen) > 1 else f"the one {split.task} given"
        raise RCExplainerError(
            f"the model predicts class {int(seen.label[0])} for {given}: there is no boundary to "
            f"cross; fit on {split.task}s of at least two predicted classes"
        )
    return sample_boundaries(
        class_margins(split),
        seen.embedding,
        seen.label,
        per_class=config.candidates_per_class,
        sampler=config.sampler,
        generator=torch.Generator().manual_seed(seed),
        target=target,
    )


def find_regions(boundaries: LinearBoundaries, seen: Predictions, config: RCConfig) -> Regions:
    """The decision regions they bound (Eq. 1, 4, 5); or each instance's nearest boundary alone."""
    if config.leave == "nearest":
        regions = nearest_regions(boundaries, seen.embedding, seen.label, scaled=config.scaled)
    else:
        regions = Regions.fit(
            boundaries, seen.embedding, seen.label, epsilon=config.epsilon, scaled=config.scaled, tight=config.tight
        )
    log.info("%s", regions)
    return regions
