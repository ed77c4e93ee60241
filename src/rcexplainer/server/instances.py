"""The instances that a server knows: those it was started with, and the latest uploads."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from torch_geometric.data import Data

from rcexplainer.server.uploads import RequestError
from rcexplainer.tasks.index import Pair

MOST_UPLOADS = 64  # uploads that are remembered; an older one must be sent again


@dataclass(frozen=True, eq=False)
class AskedInstance:
    """A graph, or a node or pair of nodes in one.

    Attributes:
        graph: The graph.
        index: The node or pair; None for a whole graph.
    """

    graph: Data
    index: int | Pair | None = None


class KnownInstances:
    """Instances by their number.

    Args:
        given: Those the server was started with; uploads are counted on from there.
    """

    def __init__(self, given: Sequence[AskedInstance]) -> None:
        self.given = tuple(given)
        self._uploads: OrderedDict[int, AskedInstance] = OrderedDict()
        self._next = len(self.given)

    def __getitem__(self, number: object) -> AskedInstance:
        if type(number) is not int:
            raise RequestError("instance must be a whole number")
        if 0 <= number < len(self.given):
            return self.given[number]
        if number in self._uploads:
            return self._uploads[number]
        raise RequestError(
            f"there is no instance {number}: this server has 0 to {len(self.given) - 1} and recent uploads", 404
        )

    def add(self, one: AskedInstance) -> int:
        """Remember an upload, and forget the oldest one beyond `MOST_UPLOADS`.

        Args:
            one: The uploaded instance.

        Returns:
            Its number.
        """
        number, self._next = self._next, self._next + 1
        self._uploads[number] = one
        if len(self._uploads) > MOST_UPLOADS:
            self._uploads.popitem(last=False)
        return number
