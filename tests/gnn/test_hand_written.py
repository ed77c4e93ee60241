"""Models whose layers are written by hand: soft masks do not reach them, deletion does."""

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

import rcexplainer as rc
from rcexplainer.errors import SplitError
from rcexplainer.gnn import split_model
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.zoo import graph_models, node_models
from tests.zoo.claims import check

NO_MASKS = r"needs soft edge masks, which do not reach (IndexAdd|Dense|ByHand): .*forward=.*only deletes edges"


def by_hand(name: str) -> tuple[nn.Module, list]:
    graphs = graph_models.graphs()[:40]
    return graph_models.balanced(graph_models.built(graph_models.EXPLAINED[name]), graphs), list(graphs)


@pytest.mark.parametrize(("name", "layers"), [("index_add", 4), ("dense adjacency", 0)])
def test_they_are_split_without_soft_masks(name: str, layers: int) -> None:
    model, graphs = by_hand(name)
    split = split_model(model, graphs)
    assert split.masking is None
    assert split.mask_error == float("inf")
    assert not split.exact_masking
    assert "no soft masks" in repr(split)
    assert split.head_name == "head"
    assert len(split.run(graphs).layers) == layers
    with pytest.raises(SplitError, match=r"a soft mask " + NO_MASKS):
        split.run(graphs[0], torch.ones(graphs[0].num_edges))


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_presets_that_need_soft_masks_refuse_them_at_once(preset: str) -> None:
    model, graphs = by_hand("dense adjacency")
    with pytest.raises(SplitError, match=r"RCExplainer with weight_regions=15 " + NO_MASKS):
        rc.RCExplainer(preset=preset).fit(model, graphs, progress=False)
    with pytest.raises(SplitError, match=r"NoLDB with weight_regions=1 " + NO_MASKS):
        rc.baselines.NoLDB().fit(model, graphs, progress=False)


@pytest.mark.parametrize(
    "method", ["GNNExplainer", "PGExplainer", "CF2", "CFGNNExplainer", "Gradient", "IntegratedGradients", "GradCAM"]
)
def test_baselines_that_need_soft_masks_refuse_them_when_fitted(method: str) -> None:
    model, graphs = by_hand("index_add")
    with pytest.raises(SplitError, match=f"{method} {NO_MASKS}"):
        getattr(rc.baselines, method)().fit(model, graphs)


@pytest.mark.parametrize("method", ["Occlusion", "GreedyDeletion", "Random", "SubgraphX", "PGMExplainer"])
@pytest.mark.parametrize("name", ["index_add", "dense adjacency"])
def test_baselines_that_delete_explain_them(method: str, name: str) -> None:
    model, graphs = by_hand(name)
    assert check(model, getattr(rc.baselines, method)().fit(model, graphs).explain(graphs[:4])).wrong == 0


@pytest.mark.parametrize("inputs", ["all", "layers", "last"])
def test_the_mask_network_reads_features_where_no_module_has_a_row_per_node(inputs: str, tmp_path) -> None:
    model, graphs = by_hand("dense adjacency")
    fitted = rc.RCExplainer(epochs=1, inputs=inputs).fit(model, graphs, progress=False)
    shown = fitted.explain(graphs[:3], search="none")
    again = rc.load(fitted.save(tmp_path / "kept.safetensors"), model)
    for one, other in zip(shown, again.explain(graphs[:3], search="none"), strict=True):
        assert torch.equal(one.edge_scores, other.edge_scores)


def test_a_model_without_features_at_all() -> None:
    class Degrees(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(4, 2)

        def forward(self, edge_index: Tensor, batch: Tensor) -> Tensor:
            degree = torch.zeros(len(batch)).index_add(0, edge_index[1], torch.ones(edge_index.size(1)))
            return self.head(global_add_pool(degree[:, None] ** torch.arange(4) / 10, batch))

    torch.manual_seed(0)
    model, graphs = Degrees(), [graph.clone() for graph in graph_models.graphs()[:30]]
    for graph in graphs:
        graph.num_nodes, graph.x = graph.num_nodes, None
    split = split_model(model, graphs)
    with torch.no_grad():
        zoo.balance(model.head, split.run(graphs).output)
    fitted = rc.RCExplainer(epochs=1).fit(model, graphs, progress=False)
    assert len(fitted.explain(graphs[:3])) == 3


def test_nodes_need_soft_masks_unless_the_settings_do_not() -> None:
    graph = node_models.graph(40)
    model = node_models.balanced(graph_models.built(node_models.ByHand), graph)
    with pytest.raises(SplitError, match=r"RCExplainer with weight_regions=1 " + NO_MASKS):
        rc.RCExplainer(task="node").fit(model, graph, progress=False)
    settings = {"weight_regions": 0.0, "weight_order": 1.0, "epochs": 1, "restarts": 1}
    fitted = rc.RCExplainer(task="node", **settings).fit(model, graph, progress=False)
    assert check(model, fitted.explain(graph, index=[0, 1, 2])).wrong == 0


def test_a_model_with_edge_weight_but_no_layers_has_soft_masks() -> None:
    split = split_model(zoo.ByHand(), make_graphs(6))
    assert split.masking == "edge_weight"
