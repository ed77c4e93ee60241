"""What every drawing of an instance can be asked for, whether it is drawn as a graph or as a molecule."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rcexplainer.explanation import EdgeReading

MOST_NUMBERED = 40  # nodes drawn up to which all of them have their numbers
MOST_MARKED = 24  # ends of deleted edges that have their numbers in a larger drawing


@dataclass(frozen=True)
class DrawingOptions:
    """What is written and shown at nodes and edges.

    Attributes:
        reading: Which reading of the edges is drawn.
        node_names: What each one-hot node feature means, such as an element.
        edge_names: What each one-hot entry of `edge_attr` means, such as a kind of bond.
        numbers: Whether nodes have their numbers. None: all of them up to `MOST_NUMBERED` nodes, else the explained
            ones and the ends of deleted edges.
    """

    reading: EdgeReading = "scores"
    node_names: Sequence[str] = ()
    edge_names: Sequence[str] = ()
    numbers: bool | None = None

    def numbered(self, drawn: Collection[int], roots: Collection[int], ends: Collection[int]) -> set[int]:
        """Choose the nodes whose numbers are written.

        Args:
            drawn: The nodes drawn.
            roots: The explained nodes.
            ends: The ends of deleted edges.

        Returns:
            Some of the nodes drawn.
        """
        if self.numbers is False:
            return set()
        if self.numbers or len(drawn) <= MOST_NUMBERED:
            return set(drawn)
        return {*roots, *(ends if len(ends) <= MOST_MARKED else ())} & set(drawn)


DEFAULT_OPTIONS = DrawingOptions()
