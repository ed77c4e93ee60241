"""Several trainings from other starts, and which of them are kept.

Some starts end with other edges than the rest, or with all of them. So they are not all alike: every second one is
pressed towards few edges at first, and every second pair of them may keep more edges. With few a network shows which it
cannot do without; with more, which others belong to them. What all of them agree on comes first in their mean.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from rcexplainer.config import RCConfig
from rcexplainer.fit.train import Trained


def starts(config: RCConfig, units: float) -> list[RCConfig]:
    """The settings of every start; `units` is the mean number of an instance: a target beyond it would ask nothing."""
    wide = config.target_size * config.widen
    return [
        replace(
            config,
            press=config.press if number % 2 else 1.0,
            target_size=wide if number // 2 % 2 and wide < units else config.target_size,
        )
        for number in range(config.restarts)
    ]


def kept(runs: Sequence[tuple[RCConfig, Trained]], most: int) -> list[Trained]:
    """The best, best first. Losses are compared where as many edges are allowed: of each target size as many are kept.
    One that collapsed is kept only if all have."""
    sound = [run for run in runs if run[1].collapse is None]
    if not sound:
        return [min((trained for _, trained in runs), key=lambda trained: trained.loss)]
    ranked = [
        sorted((trained for config, trained in sound if config.target_size == size), key=lambda trained: trained.loss)
        for size in sorted({config.target_size for config, _ in sound})
    ]
    return [trained for place in zip_longest(*ranked) for trained in place if trained is not None][:most]
