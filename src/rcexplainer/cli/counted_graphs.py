"""Files of graphs that count what they give: how many of their rows can be read is known when all have gone by."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch_geometric.data import Data

from rcexplainer.datasets.graph_table import GraphTable


@dataclass(eq=False)
class CountedGraphs:
    """The graphs of a table.

    Attributes:
        table: The table.
        count: How many graphs it gave when it was last gone through; 0 before.
    """

    table: GraphTable
    count: int = 0

    def __len__(self) -> int:
        return len(self.table)  # its rows: for progress bars

    def __iter__(self) -> Iterator[Data]:
        self.count = 0
        for graph in self.table:
            self.count += 1
            yield graph
