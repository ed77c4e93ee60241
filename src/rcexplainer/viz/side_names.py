"""Long names of nodes in a matplotlib drawing: they stand beside the dots of their nodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcexplainer.viz.excerpt import Numbers
from rcexplainer.viz.label_places import CHARACTER_WIDTH, LONG_NAME, label_places
from rcexplainer.viz.layout import Places

NAME_SIZE = 6.5  # points
LEAST_PANEL = 165.0  # points across a drawing in the smallest panel, without its margins
ROOT_RING = 6.5  # points, the radius of the ring around an explained node


def are_long(names: Sequence[str]) -> bool:
    """Whether names would hide the lines at their nodes.

    Args:
        names: The names.
    """
    return any(len(name) > LONG_NAME for name in names)


@dataclass(frozen=True, eq=False)
class SideNames:
    """Names and where they stand.

    Attributes:
        places: [n, 2] the nodes.
        names: The name of each; empty: it is not written.
        aside: [n, 2] from each node to the middle of its name, in points.
        scale: Points in a unit of `places`, in the smallest panel, where names have the least room.
    """

    places: Places
    names: Sequence[str]
    aside: Places
    scale: float

    @classmethod
    def of(cls, places: Places, names: Sequence[str], ends: Numbers, roots: Sequence[int]) -> "SideNames":
        """Find room for names.

        Args:
            places: [n, 2] the nodes.
            names: The name of each.
            ends: [2, m] the nodes of every line.
            roots: The explained nodes, which have rings.
        """
        scale = LEAST_PANEL / max(float((places.max(0) - places.min(0)).max()), 0.5)
        found = label_places(places * scale, names, ends, NAME_SIZE, roots, ROOT_RING)
        return cls(places, names, found - places * scale, scale)

    def draw(self, axes: Any, colour: str) -> None:
        """Write the names, and make room for them.

        Args:
            axes: matplotlib axes.
            colour: Of the text.
        """
        style = {"ha": "center", "va": "center", "fontsize": NAME_SIZE, "color": colour, "parse_math": False}
        for here, aside, text in zip(self.places, self.aside, self.names, strict=True):
            if not text:
                continue
            axes.annotate(text, here, xytext=aside, textcoords="offset points", zorder=6, **style)
        middle = self.places + self.aside / self.scale
        half = 0.5 * NAME_SIZE / self.scale * np.array([[CHARACTER_WIDTH * len(name), 1.0] for name in self.names])
        axes.update_datalim(np.concatenate([middle - half, middle + half]))
