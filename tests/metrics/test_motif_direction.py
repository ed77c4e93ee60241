"""Which way the prediction moves when an edge of the motif goes, on a model whose log-odds can be worked out."""

import math

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing, global_add_pool

from rcexplainer.baselines import Occlusion
from rcexplainer.metrics import motif_direction

#        +1      −1      0       +1
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4)]
WEIGHTS = [1.0, -1.0, 0.0, 1.0]


class WeighedEdges(MessagePassing):
    """Each node has half the sum of its edges' weights, which depend on the two ends' features."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_i: Tensor, x_j: Tensor) -> Tensor:
        low = torch.minimum(x_i, x_j).long().squeeze(1)
        return torch.tensor(WEIGHTS)[low][:, None] / 2


class SumOfWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = WeighedEdges(), nn.Linear(1, 2)
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[0.0], [40.0]]))  # sure enough for p to be 1 in single precision
            self.head.bias.zero_()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_add_pool(self.conv(x, edge_index), batch))


def graph(motif: list[bool]) -> Data:
    there = torch.tensor(PAIRS).T
    edges = torch.cat([there, there.flip(0)], 1)
    return Data(x=torch.arange(5.0)[:, None], edge_index=edges, edge_motif=torch.tensor(motif * 2))


def test_shares_by_hand() -> None:
    model = SumOfWeights().eval()
    some, more = graph([True, True, True, False]), graph([False, False, False, True])
    shown = Occlusion().fit(model, [some, more]).explain([some, more], search="none")
    assert [one.prediction for one in shown] == [1, 1]
    found = motif_direction(model, list(shown))
    assert (found.supports, found.opposes, found.neither) == (0.5, 0.25, 0.25)
    alone = motif_direction(model, [shown[1]])
    assert (alone.supports, alone.opposes, alone.neither) == (1.0, 0.0, 0.0)


def test_without_a_motif_there_is_nothing_to_say() -> None:
    model, bare = SumOfWeights().eval(), graph([False] * 4)
    one = Occlusion().fit(model, [bare]).explain(bare, search="none")
    assert math.isnan(motif_direction(model, [one]).supports)
