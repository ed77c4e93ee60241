"""How far a model looks: measured, checked where it is given, and never believed where it is not enough."""

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import ChebConv, MixHopConv, SAGEConv, SGConv, TAGConv
from torch_geometric.utils import to_undirected

from rcexplainer.errors import GraphError
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn import split_model
from rcexplainer.tasks import TASKS
from tests.gnn import zoo


class Layers(nn.Module):
    def __init__(self, *layers: nn.Module, width: int = 8) -> None:
        super().__init__()
        self.layers, self.head = nn.ModuleList(layers), nn.Linear(width, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        return self.head(x)


class Linked(Layers):
    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        left, right = x[edge_label_index]
        return (left * right).sum(1)


def ring(size: int, features: int = 4) -> Data:
    """A cycle with random features."""
    edges = torch.stack([torch.arange(size), (torch.arange(size) + 1) % size])
    return Data(x=torch.randn(size, features), edge_index=to_undirected(edges))


def cliques(number: int, size: int = 4, features: int = 4) -> Data:
    """Every node next to all it could ever hear of."""
    one = torch.combinations(torch.arange(size)).t()
    edges = torch.cat([one + size * place for place in range(number)], 1)
    return Data(x=torch.randn(number * size, features), edge_index=to_undirected(edges))


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(
    ("layers", "width", "hops"),
    [
        ([TAGConv(4, 8, K=3, normalize=False)], 8, 3),
        ([SGConv(4, 8, K=2, add_self_loops=False)], 8, 3),  # and the degrees of the nodes farthest out
        ([MixHopConv(4, 8, powers=[0, 1, 2], add_self_loops=False)], 24, 3),
        ([ChebConv(4, 8, K=3)], 8, 3),
        ([SAGEConv(4, 8), SAGEConv(8, 8)], 8, 2),
    ],
)
def test_layers_that_pass_messages_several_times_are_measured(layers, width: int, hops: int) -> None:
    graph = ring(30)
    split = split_model(Layers(*layers, width=width).eval(), [graph], task="node")
    assert TASKS["node"].hops(split, [graph]) == hops


def test_too_few_hops_are_refused_and_enough_are_taken() -> None:
    graph, model = ring(30), Layers(SAGEConv(4, 8), SAGEConv(8, 8)).eval()
    with pytest.raises(GraphError, match=r"in a 1-hop computation graph .* give more hops, or none"):
        RCExplainer(task="node", hops=1).fit(model, graph, progress=False)
    fitted = RCExplainer(task="node", hops=3, epochs=1, restarts=1).fit(model, graph, progress=False)
    assert fitted.hops == 3


def test_a_graph_that_is_deeper_than_the_one_fitted_on_is_no_false_answer() -> None:
    model, shallow = Layers(SAGEConv(4, 8), SAGEConv(8, 8)).eval(), cliques(12)
    with torch.no_grad():  # half of the nodes on either side
        logits = model(shallow.x, shallow.edge_index)
        zoo.balance(model.head, logits)
    fitted = RCExplainer(task="node", epochs=1, restarts=1).fit(model, shallow, progress=False)
    assert fitted.hops == 1  # farther away there is nothing
    deep = cliques(3)
    deep.edge_index = torch.cat([deep.edge_index, torch.tensor([[0, 4], [4, 0]])], 1)  # a bridge between two of them
    found = fitted.explain(deep, index=[0, 1, 9], on_error="keep")
    assert [type(one) for one in found] == [Failure, Failure, Explanation]
    assert str(found[1].error).startswith("node 1: the model answers differently in the 1-hop computation graph")
    assert "hops=2" in str(found[1].error)
    with torch.no_grad():
        torch.testing.assert_close(found[2].probabilities, model(deep.x, deep.edge_index)[9].softmax(0))


def test_links_are_measured_beyond_the_pairs_that_are_named() -> None:
    """All pairs to fit on lie in a clique, where one hop is all there is; the rest of the graph is a long ring."""
    small, long = cliques(6), ring(40)
    edges = torch.cat([small.edge_index, long.edge_index + 24], 1)
    graph = Data(x=torch.cat([small.x, long.x]), edge_index=edges)
    pairs = [(4 * place, 4 * place + 1) for place in range(6)] + [
        (4 * place, (4 * place + 6) % 24) for place in range(6)
    ]
    model = Linked(SAGEConv(4, 8), SAGEConv(8, 8)).eval()
    shown = TASKS["link"].trial_graphs([graph], pairs)
    assert TASKS["link"].hops(split_model(model, shown, task="link"), shown) == 2


def test_a_table_of_nodes_does_not_fit_a_part_of_the_graph() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.conv, self.head = nn.Embedding(30, 8), SAGEConv(8, 8), nn.Linear(8, 2)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.head(self.conv(x + self.table.weight, edge_index).relu())

    with pytest.raises(GraphError, match=r"not on a part of it: .* n_id=torch.arange\(num_nodes\)"):
        RCExplainer(task="node").fit(Table().eval(), ring(30, 8), progress=False)


def test_a_table_that_is_looked_up_by_an_attribute_does() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.conv, self.head = nn.Embedding(30, 8), SAGEConv(8, 8), nn.Linear(8, 2)

        def forward(self, x: Tensor, edge_index: Tensor, n_id: Tensor) -> Tensor:
            return self.head(self.conv(x + self.table(n_id), edge_index).relu())

    graph = ring(30, 8)
    graph.n_id = torch.arange(30)
    model = Table().eval()
    fitted = RCExplainer(task="node", epochs=1, restarts=1).fit(model, graph, progress=False)
    one = fitted.explain(graph, index=3)
    with torch.no_grad():
        torch.testing.assert_close(one.probabilities, model(graph.x, graph.edge_index, graph.n_id)[3].softmax(0))
