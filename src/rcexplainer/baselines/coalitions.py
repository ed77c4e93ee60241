"""The values v(C) of coalitions of nodes; the model runs each coalition once and its value is remembered.

Subsets that differ in one node share their samples, and so most of their coalitions: a search asks for the same ones
again and again.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

MOST_KNOWN = 1 << 20  # coalitions whose value is remembered: about a quarter of a gigabyte
Coalition = tuple[int, bytes]  # an instance, and which of its nodes take part, a bit for each
RunCoalitions = Callable[[Tensor, Tensor], Tensor]  # instances [v], which of their nodes take part [Σ nodes] → v(C) [v]


class CoalitionValues:
    """v(C) of the coalitions of some instances.

    Args:
        run: Runs the model on coalitions.
    """

    def __init__(self, run: RunCoalitions) -> None:
        self._run = run
        self._known: dict[Coalition, float] = {}

    def __call__(self, asked: Sequence[tuple[int, Tensor]]) -> list[list[float]]:
        """The value of every coalition.

        Args:
            asked: Instances and coalitions of their nodes, boolean [k, n].

        Returns:
            For each, the k values.
        """
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        named = [_named(place, present) for place, present in asked]
        new: dict[Coalition, Tensor] = {}
        for names, (_, present) in zip(named, asked, strict=True):
            new |= {name: row for name, row in zip(names, present, strict=True) if name not in self._known}
        if new:
            values = self._run(torch.tensor([place for place, _ in new]), torch.cat(list(new.values())))
            self._known.update(zip(new, values.tolist(), strict=True))
        return [[self._known[name] for name in names] for names in named]


def _named(place: int, present: Tensor) -> list[Coalition]:
    return [(place, row.tobytes()) for row in np.packbits(present.numpy(), axis=1)]
