"""Hubs with a known answer: a node with many neighbours, whose class depends on how many of them are marked.

    class 1  ⇔  marked neighbours ≥ threshold,      so that  marked − threshold + 1  edges must be deleted to flip it

The network counts them exactly: two GraphConv layers whose first channel carries the mark, and the sum of the marks.
The other channels hold random numbers that the head ignores; they are there for their cost.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv

WIDTH = 20
HUB = 0


class MarkCounter(nn.Module):
    """Logits [nodes, 2] by the number of marked neighbours; `runs` counts calls and edges of all calls."""

    def __init__(self, threshold: int, runs: dict[str, int]) -> None:
        super().__init__()
        self.first, self.second = GraphConv(2, WIDTH, aggr="add"), GraphConv(WIDTH, WIDTH, aggr="add")
        self.head = nn.Linear(WIDTH, 2)
        self._count = runs.__setitem__, runs.__getitem__  # outside of the module's state, which explainers restore
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(0.01 * torch.randn(parameter.shape, generator=generator))
            for conv in (self.first, self.second):  # channel 0 depends on channel 0 alone
                for linear in (conv.lin_rel, conv.lin_root):
                    linear.weight[0] = 0
                conv.lin_rel.bias[0] = 0
            self.first.lin_root.weight[0, 1] = 1  # the mark of the node itself
            self.second.lin_rel.weight[0, 0] = 1  # the sum over its neighbours
            self.head.weight.zero_()
            self.head.weight[1, 0] = 1
            self.head.bias.copy_(torch.tensor([0.0, 0.5 - threshold]))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Logits of all nodes."""
        put, get = self._count
        put("calls", get("calls") + 1)
        put("edges", get("edges") + edge_index.size(1))
        x = self.first(x, edge_index, edge_weight).relu()
        return self.head(self.second(x, edge_index, edge_weight).relu())


@dataclass(frozen=True, eq=False)
class Hub:
    """A hub and how it is ranked: which places of the ranking hold the marked edges.

    Attributes:
        name: What is hard about it.
        edges: Edges of the computation graph.
        answer: Edges that must be deleted.
        marked: Marked neighbours.
        first: Place of the first marked edge in the ranking.
        step: Places from one marked edge to the next.
    """

    name: str
    edges: int
    answer: int
    marked: int
    first: int
    step: int

    @property
    def threshold(self) -> int:
        """Marked neighbours that class 1 needs."""
        return self.marked - self.answer + 1

    def graph(self, device: torch.device) -> Data:
        """The hub, its neighbours, all of them marked, and 64 nodes without neighbours."""
        neighbours = torch.arange(1, self.edges + 1)
        edge_index = torch.stack([neighbours, torch.full_like(neighbours, HUB)])
        x = torch.tensor([[1.0, 0.0]]).repeat(self.edges + 65, 1)
        x[neighbours, 1] = 1.0
        return Data(x=x, edge_index=edge_index).to(device)

    def mark(self, graph: Data, scores: Tensor) -> None:
        """Mark only the neighbours at the chosen places of a ranking of the edges."""
        order = scores.argsort(descending=True, stable=True)
        columns = order[self.first + self.step * torch.arange(self.marked)].to(graph.x.device)
        graph.x[:, 1] = 0.0
        graph.x[graph.edge_index[0, columns], 1] = 1.0


HUBS = (
    # The second of two edges is far down: every shorter prefix keeps the class, and all between must be put back.
    Hub("late", edges=1151, answer=2, marked=2, first=99, step=400),
    # The ranking is good: every second edge at the top is marked.
    Hub("large", edges=25_588, answer=115, marked=300, first=0, step=2),
)
