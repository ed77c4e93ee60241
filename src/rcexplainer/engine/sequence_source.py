"""A user's graphs as rows: whatever their function returns, in every process that works on them."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.row_graphs import NAME_COLUMNS, RowGraphs

SAMPLED = 64  # graphs that a hash is made of


class SequenceSource:
    """Graphs that a function returns.

    Args:
        name: What users call it.
        load: Returns a list of graphs or a PyG dataset; can be pickled, and is called once in each process.
    """

    def __init__(self, name: str, load: Callable[[], Sequence[Data]]) -> None:
        self.name, self.load = name, load

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "load": self.load}

    @cached_property
    def graphs(self) -> Sequence[Data]:
        """The graphs."""
        return self.load()

    def __len__(self) -> int:
        return len(self.graphs)

    def _sample(self) -> list[Data]:
        step = max(len(self) // SAMPLED, 1)
        return [self.graphs[place] for place in range(0, len(self), step)]

    @cached_property
    def digest(self) -> str:
        """A hash of the number of graphs and of some of them, evenly spread."""
        found = hashlib.sha256(f"{self.name} {len(self)}".encode())
        for graph in self._sample():
            for key, value in sorted(graph.to_dict().items()):
                content = (
                    value.detach().cpu().contiguous().numpy().tobytes()
                    if isinstance(value, Tensor)
                    else repr(value).encode()
                )
                found.update(f"{key} ".encode() + content)
        return found.hexdigest()

    @cached_property
    def bytes_per_row(self) -> float:
        """What a graph takes in memory, roughly."""
        sample = self._sample()
        sizes = [value.nbytes for graph in sample for value in graph.to_dict().values() if isinstance(value, Tensor)]
        return sum(sizes) / max(len(sample), 1)

    def read(self, start: int, stop: int) -> RowGraphs:
        """The graphs of rows.

        Args:
            start: The first one.
            stop: One beyond the last.
        """
        graphs = [self.graphs[place] for place in range(start, min(stop, len(self)))]
        names = {key: [graph.get(key) for graph in graphs] for key in NAME_COLUMNS}
        texts = {key: [None if one is None else str(one) for one in ones] for key, ones in names.items()}
        return RowGraphs(len(graphs), ((list(range(len(graphs))), graphs),) if graphs else (), {}, texts)
