"""Attention: PyG's coefficients, matched by nodes; a clear refusal where there are none."""

import pytest
import torch
import torch_geometric.explain as pyg
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import AGNNConv, GATConv, GATv2Conv, TransformerConv, global_mean_pool

from rcexplainer.baselines import Attention
from rcexplainer.errors import RCExplainerError
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of

LAYERS = {
    "gat": lambda width: GATConv(width, 8, heads=2),
    "gatv2": lambda width: GATv2Conv(width, 8, heads=2),
    "transformer": lambda width: TransformerConv(width, 8, heads=2),
}


class Attending(nn.Module):
    def __init__(self, layer) -> None:
        super().__init__()
        self.conv1, self.conv2, self.lin = layer(zoo.FEATURES), layer(16), nn.Linear(16, 2)

    def forward(self, x, edge_index, batch):
        return self.lin(global_mean_pool(self.conv2(self.conv1(x, edge_index).relu(), edge_index).relu(), batch))


def make_model(name: str) -> nn.Module:
    torch.manual_seed(0)
    return Attending(LAYERS[name]).eval()


@pytest.mark.parametrize("name", LAYERS)
def test_without_self_loops_it_is_pygs(name: str) -> None:
    model, graphs = make_model(name), make_graphs(3)
    for graph, one in zip(graphs, Attention().fit(model, graphs).explain(graphs, search="none"), strict=True):
        explainer = pyg.Explainer(
            model=model,
            algorithm=pyg.AttentionExplainer(reduce="mean"),
            explanation_type="model",
            edge_mask_type="object",
            model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
        )
        theirs = explainer(graph.x, graph.edge_index, batch=Batch.from_data_list([graph]).batch).edge_mask
        both = torch.stack([theirs[one.units.of_edge == unit].mean() for unit in range(len(one.units))])
        torch.testing.assert_close(one.unit_scores, both, atol=1e-6, rtol=0)


def test_self_loops_among_the_edges_change_nothing() -> None:
    """GATConv drops them and adds its own: the first coefficients are then not those of the first edges."""
    graph = make_graphs(1)[0]
    loops = torch.arange(4).repeat(2, 1)
    looped = Data(x=graph.x, edge_index=torch.cat([loops, graph.edge_index], 1))
    plain = Data(x=graph.x, edge_index=graph.edge_index)
    fitted = Attention().fit(make_model("gat"), [plain])
    one, other = (fitted.explain(some, search="none").edge_scores for some in (plain, looped))
    assert other[:4].tolist() == [0, 0, 0, 0]
    torch.testing.assert_close(other[4:], one)


def test_coefficients_by_hand() -> None:
    """Where all nodes are alike a GAT attends evenly: 1 / (neighbours + itself)."""
    star = torch.tensor([[0, 0, 0], [1, 2, 3]])
    graph = Data(x=torch.ones(4, zoo.FEATURES), edge_index=torch.cat([star, star.flip(0)], 1))
    others = make_graphs(2)  # on which the model can be tried out
    for other in others:
        del other.edge_attr
    one = Attention().fit(make_model("gat"), others).explain(graph, search="none")
    torch.testing.assert_close(one.unit_scores, torch.full((3,), (1 / 4 + 1 / 2) / 2))


def test_edge_features_and_the_model_left_alone() -> None:
    torch.manual_seed(0)
    model, graphs = zoo.GATEdgeAttr().train(), make_graphs(2)
    before = state_of(model)
    found = Attention().fit(model, graphs).explain(graphs, search="none")
    assert state_of(model) == before
    assert all(len(one.unit_scores.unique()) > 1 for one in found)


class Agnn(nn.Module):
    """It does attend, but its coefficients never leave the layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.lin = AGNNConv(), nn.Linear(zoo.FEATURES, 2)

    def forward(self, x, edge_index, batch):
        return self.lin(global_mean_pool(self.conv(x, edge_index), batch))


@pytest.mark.parametrize(
    ("make", "layers"), [(zoo.GCNLinear, "GCNConv"), (zoo.SAGE, "SAGEConv"), (Agnn, "AGNNConv"), (zoo.ByHand, "Linear")]
)
def test_models_without_attention_are_refused(make, layers: str) -> None:
    message = f"{make.__name__} has no attention to read: its layers are {layers}. Attention needs"
    with pytest.raises(RCExplainerError, match=message):
        Attention().fit(make(), make_graphs(2))
