"""A model whose reasons are known: class 1 if enough marks are seen.

node task    number of marked neighbours of the node > threshold
graph task   the same, summed over all nodes
link task    the same, summed over both ends
"""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_add_pool


class CountsMarks(nn.Module):
    def __init__(self, task: str, threshold: float) -> None:
        super().__init__()
        self.task = task
        self.conv, self.lin = GraphConv(2, 1, bias=False), nn.Linear(1, 2)
        with torch.no_grad():
            self.conv.lin_root.weight.zero_()
            self.conv.lin_rel.weight.copy_(torch.tensor([[1.0, 0.0]]))
            self.lin.weight.copy_(torch.tensor([[-4.0], [4.0]]))
            self.lin.bias.copy_(torch.tensor([4.0, -4.0]) * threshold)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_label_index: Tensor | None = None
    ) -> Tensor:
        seen = self.conv(x, edge_index)
        if self.task == "graph":
            seen = global_add_pool(seen, batch)
        elif self.task == "link":
            seen = seen[edge_label_index].sum(0)
        return self.lin(seen)


def marked_graph(pairs: list[tuple[int, int]], marked: list[int]) -> Data:
    """Undirected; the features of a node are its mark, and a 1."""
    edges = torch.tensor(pairs).t()
    x = torch.tensor([[0.0, 1.0]]).repeat(int(edges.max()) + 1, 1)
    x[marked, 0] = 1
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1))


# A triangle 0-1-2 with a long tail and a twig.
LOLLIPOP = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (4, 8)]
# Node 0 and its six neighbours; 1 and 2 are joined too.
STAR = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (1, 2)]


def score_of(explanation, one: int, other: int) -> float:
    """The score of the edge between two nodes."""
    edges = explanation.graph.edge_index
    (column,) = ((edges[0] == one) & (edges[1] == other)).nonzero().flatten().tolist()
    return float(explanation.edge_scores[column])


def check_marked_neighbours_of_a_link(make) -> None:
    """Each end of the link has one marked neighbour: both are needed, and get the scores."""
    graph = marked_graph([*STAR, (6, 7), (7, 8)], [1, 8])
    fitted = make(task="link", hops=1).fit(CountsMarks("link", 1.5), graph, index=[(0, 7), (0, 3)])
    found = fitted.explain(graph, index=(0, 7))
    assert found.prediction == 1
    reasons = min(score_of(found, 0, 1), score_of(found, 7, 8))
    assert reasons > max(score_of(found, one, other) for one, other in [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2)])
    assert found.counterfactual.flipped
