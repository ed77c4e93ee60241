"""A uniform sample of a stream whose length is not known, in one pass and bounded memory.

Every item gets an independent random key, and those with the `size` smallest keys are kept: each subset of that size
is equally likely. Reservoirs that share the keys are nested: a larger one holds everything that a smaller one holds.
"""

from heapq import heappush, heapreplace
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """The items with the smallest keys so far.

    Args:
        size: Number of items to keep.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._heap: list[tuple[float, int, Item]] = []  # the largest key first: (−key, −place, item)

    def wants(self, key: float) -> bool:
        """Whether an item with this key would be kept."""
        return len(self._heap) < self.size or (bool(self._heap) and key < -self._heap[0][0])

    def add(self, key: float, place: int, item: Item) -> None:
        """Keep an item that `wants` has accepted; a full reservoir loses the one with the largest key.

        Args:
            key: Its random key in [0, 1).
            place: Its position in the stream, which no other item has.
            item: The item.
        """
        entry = -key, -place, item
        if len(self._heap) < self.size:
            heappush(self._heap, entry)
        else:
            heapreplace(self._heap, entry)

    def by_key(self) -> dict[int, Item]:
        """Return the items by their position in the stream, in the order of their keys."""
        return {-place: item for _, place, item in sorted(self._heap, key=lambda entry: -entry[0])}
