"""Nodes: what is explained of a node is true of the whole graph."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import APPNP, GCNConv, GraphConv
from torch_geometric.utils import k_hop_subgraph

import rcexplainer as rc
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn import TrainConfig, delete_edges, gnn_config, split_model, train_gnn
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.computation_graph import ComputationGraphs
from rcexplainer.tasks.index import node_errors, nodes_of
from tests.gnn import zoo


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("tree-cycles")
    graph = data.graphs[0]
    config = gnn_config("paper", data.num_features, data.num_classes, "node")
    settings = TrainConfig(epochs=200, lr=0.02)
    model = train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model
    nodes = (graph.node_motif_id >= 0).nonzero().flatten()
    fitted = RCExplainer(task="node", epochs=4).fit(model, graph, index=nodes[::2], progress=False)
    return SimpleNamespace(data=data, graph=graph, model=model, nodes=nodes, fitted=fitted)


def predict(model, graph: Data) -> Tensor:
    with torch.no_grad():
        return model(graph.x, graph.edge_index).softmax(1)


def test_predictions_are_those_of_the_whole_graph(case) -> None:
    assert case.fitted.hops == 3
    before = predict(case.model, case.graph)
    for one in case.fitted.explain(case.graph, index=case.nodes[:40], search="greedy"):
        torch.testing.assert_close(one.probabilities, before[one.index], atol=1e-5, rtol=0)
        found = one.counterfactual
        after = predict(case.model, found.graph)[one.index]
        torch.testing.assert_close(found.probabilities, after, atol=1e-5, rtol=0)
        assert found.flipped == (int(after.argmax()) != one.prediction)


def test_a_claimed_minimum_is_one_on_the_whole_graph(case) -> None:
    for one in case.fitted.explain(case.graph, index=case.nodes[:20], search="greedy"):
        found = one.counterfactual
        if not found.minimal:
            continue
        for unit in one.units.of_edge[found.removed].unique().tolist():
            back = found.removed & (one.units.of_edge != unit)
            after = predict(case.model, delete_edges(case.graph, back))[one.index]
            assert int(after.argmax()) == one.prediction


def test_one_index_gives_one_explanation_and_several_a_list(case) -> None:
    node = int(case.nodes[0])
    one = case.fitted.explain(case.graph, index=node)
    assert isinstance(one, Explanation)
    assert one.index == node
    mask = torch.zeros(case.graph.num_nodes, dtype=torch.bool)
    mask[node] = True
    for number in (np.int64(node), torch.tensor(node)):
        assert isinstance(case.fitted.explain(case.graph, index=number), Explanation)
    for index in ([node], torch.tensor([node]), mask):
        (same,) = case.fitted.explain(case.graph, index=index)
        assert torch.equal(same.edge_scores, one.edge_scores)
    streamed = list(case.fitted.explain_iter(case.graph, index=case.nodes[:5], search="none"))
    assert [explained.index for explained in streamed] == case.nodes[:5].tolist()


def test_scores_are_shown_on_the_whole_graph(case) -> None:
    one = case.fitted.explain(case.graph, index=int(case.nodes[3]), search="none")
    assert one.edge_scores.shape == (case.graph.num_edges,)
    inside = torch.zeros(case.graph.num_edges, dtype=torch.bool)
    inside[one.edge_ids] = True
    assert (one.edge_scores[~inside] == 0).all()
    assert torch.equal(one.at_sparsity(0.0), one.units.of_edge >= 0)
    assert not one.top(2)[~inside].any()


def test_edges_at_the_rim_cannot_matter_and_are_no_units(case) -> None:
    """Both ends as far away as the model looks: no message comes along them."""
    before, met = predict(case.model, case.graph), 0
    for one in case.fitted.explain(case.graph, index=case.nodes[::9], search="none"):
        inside = torch.zeros(case.graph.num_edges, dtype=torch.bool)
        inside[one.edge_ids] = True
        nodes, *_ = k_hop_subgraph(one.index, 2, case.graph.edge_index, num_nodes=case.graph.num_nodes)
        near = torch.isin(case.graph.edge_index, nodes).any(0)
        assert torch.equal(one.units.of_edge >= 0, inside & near)
        rim = inside & ~near
        met += int(rim.sum())
        assert not one.edge_scores[rim].any()
        after = predict(case.model, delete_edges(case.graph, rim))
        torch.testing.assert_close(after[one.index], before[one.index], atol=1e-6, rtol=0)
    assert met > 0


def test_only_candidates_are_deleted(case) -> None:
    node = int(case.nodes[0])
    removed = case.fitted.explain(case.graph, index=node, search="greedy").counterfactual.removed
    other = case.fitted.explain(case.graph, index=node, search="greedy", candidates=~removed).counterfactual
    assert not (other.removed & removed).any()


def test_saved_and_loaded(case, tmp_path) -> None:
    again = rc.load(case.fitted.save(tmp_path / "nodes.safetensors"), case.model)
    one, other = (some.explain(case.graph, index=7) for some in (case.fitted, again))
    assert again.hops == 3
    assert torch.equal(one.edge_scores, other.edge_scores)


def test_one_class_may_be_all_the_index_holds(case) -> None:
    same = case.nodes[predict(case.model, case.graph)[case.nodes].argmax(1) == 1][:30]
    fitted = RCExplainer(task="node", epochs=1).fit(case.model, case.graph, index=same, val=same[:5], progress=False)
    assert {region.label for region in fitted.regions.regions} == {0, 1}


def test_labels_are_not_needed(case) -> None:
    bare = Data(x=case.graph.x, edge_index=case.graph.edge_index)
    fitted = RCExplainer(task="node", epochs=1).fit(case.model, bare, index=case.nodes[:20], progress=False)
    assert fitted.explain(bare, index=int(case.nodes[0])).edge_scores.isfinite().all()


def test_an_isolated_node_has_an_empty_explanation(case) -> None:
    alone = Data(x=torch.cat([case.graph.x, case.graph.x[:1]]), edge_index=case.graph.edge_index)
    one = case.fitted.explain(alone, index=case.graph.num_nodes, search="greedy")
    assert len(one.units) == 0
    assert not one.counterfactual.flipped
    assert not one.edge_scores.any()


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (871, "there is no node 871: the graph has the nodes 0 to 870"),
        (-1, "there is no node -1"),
        ([], "the index is empty"),
        (torch.ones(5, dtype=torch.bool), r"one value for each of 871 nodes, got \(5,\)"),
        (torch.zeros(871, dtype=torch.bool), "the index is empty"),
        ([0.5], "whole numbers"),
        ("a", "an index holds node numbers, such as .*, got 'a'"),
        ([[1, 2], [3]], "an index holds node numbers"),
    ],
)
def test_impossible_indices(case, index, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        case.fitted.explain(case.graph, index=index)


def test_the_nodes_of_an_index() -> None:
    assert nodes_of(None, 3).tolist() == [0, 1, 2]
    assert nodes_of(torch.tensor([False, True, True]), 3).tolist() == [1, 2]
    assert nodes_of(5, 3).tolist() == [5]  # checked apart, so that one wrong node costs no other
    assert list(node_errors(torch.tensor([2, 5, -1]), 3)) == [1, 2]


def test_one_wrong_node_of_several_costs_none_of_the_others(case) -> None:
    with pytest.raises(ExplainError, match="instance 1 could not be explained: there is no node 9999") as caught:
        case.fitted.explain(case.graph, index=[3, 9999, -1, 5])
    assert [getattr(one, "index", None) for one in caught.value.results] == [3, 1, 2, 5]
    kept = case.fitted.explain(case.graph, index=[9999, 3], on_error="keep")
    assert isinstance(kept[0], Failure)
    assert kept[1].index == 3
    with pytest.raises(GraphError, match="there is no node 9999"):
        RCExplainer(task="node").fit(case.model, case.graph, index=[3, 9999], progress=False)


def test_questions_that_do_not_fit_the_task(case) -> None:
    with pytest.raises(GraphError, match="one graph at a time, got 2"):
        case.fitted.explain([case.graph, case.graph], index=3)
    with pytest.raises(RCExplainerError, match="unknown task 'edge'"):
        RCExplainer(task="edge")  # type: ignore[arg-type]


def test_pygs_own_explainer_asks_about_a_node(case) -> None:
    explainer = Explainer(
        case.model,
        rc.integrations.pyg.RCExplainerAlgorithm(case.fitted),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    node = int(case.nodes[0])
    shown = explainer(case.graph.x, case.graph.edge_index, index=node)
    assert torch.equal(shown.edge_mask, case.fitted.explain(case.graph, index=node, search="none").edge_scores)
    with pytest.raises(RCExplainerError, match="one node is explained at a time"):
        explainer(case.graph.x, case.graph.edge_index, index=torch.tensor([1, 2]))


def test_how_far_a_model_looks_is_measured(case) -> None:
    class Propagating(torch.nn.Module):
        def __init__(self, rounds: int) -> None:
            super().__init__()
            self.first, self.rounds, self.head = torch.nn.Linear(10, 8), APPNP(rounds, 0.1), torch.nn.Linear(8, 3)

        def forward(self, x, edge_index, edge_weight=None):
            return self.head(self.rounds(self.first(x).relu(), edge_index, edge_weight))

    class Normalised(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = GCNConv(10, 8), torch.nn.Linear(8, 3)

        def forward(self, x, edge_index, edge_weight=None):
            return self.head(self.conv(x, edge_index, edge_weight).relu())

    torch.manual_seed(0)
    for model, hops in ((Propagating(5).eval(), 6), (Normalised().eval(), 2)):
        # One more than the rounds: the normalisation reads the degrees of the nodes farthest out.
        split = split_model(model, [case.graph], task="node")
        assert TASKS["node"].hops(split, [case.graph]) == hops


def test_a_model_that_reads_the_whole_graph_is_refused() -> None:
    class Centred(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = GraphConv(10, 8), torch.nn.Linear(8, 3)

        def forward(self, x, edge_index, edge_weight=None):
            z = self.conv(x, edge_index, edge_weight)
            return self.head(z - z.mean(0))

    there = torch.stack([torch.arange(199), torch.arange(1, 200)])
    path = Data(x=torch.rand(200, 10), edge_index=torch.cat([there, there.flip(0)], 1))
    with pytest.raises(GraphError, match="it reads the whole graph"):
        RCExplainer(task="node").fit(Centred().eval(), path, index=[0], progress=False)


def test_the_model_itself_will_do_for_metrics(case) -> None:
    shown = case.fitted.explain(case.graph, index=case.nodes[:6], search="none")
    for metric in (rc.metrics.fidelity, rc.metrics.sufficiency):
        assert metric(case.model, shown, (0.9, 0.5)) == metric(case.fitted.split, shown, (0.9, 0.5))


def test_a_kept_explanation_keeps_nothing_of_the_others(case) -> None:
    one = case.fitted.explain(case.graph, index=case.nodes[:40], search="none")[7]
    for tensor in (one.scores, one.edge_ids, one.computation.x, one.computation.edge_index):
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def test_an_attribute_of_the_whole_graph_goes_along() -> None:
    class Shifted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.head = GraphConv(4, 8), torch.nn.Linear(8, 2)

        def forward(self, x, edge_index, u, batch):
            return self.head(self.conv(x + u[batch], edge_index).relu())

    torch.manual_seed(0)
    graph = Data(x=torch.randn(30, 4), edge_index=torch.randint(30, (2, 90)), u=torch.randn(1, 4))
    model = Shifted().eval()
    whole = torch.zeros(30, dtype=torch.long)
    with torch.no_grad():
        logits = model(graph.x, graph.edge_index, graph.u, whole)
        zoo.balance(model.head, logits)
        wanted = model(graph.x, graph.edge_index, graph.u, whole)[5].softmax(0)
    fitted = RCExplainer(task="node", epochs=1, restarts=1).fit(model, graph, progress=False)
    torch.testing.assert_close(fitted.explain(graph, index=5).probabilities, wanted)


def test_no_more_computation_graphs_are_made_than_are_learnt_from(case, caplog, monkeypatch) -> None:
    made: list[int] = []
    plain = ComputationGraphs.__call__
    monkeypatch.setattr(
        ComputationGraphs, "__call__", lambda self, roots: made.append(len(roots)) or plain(self, roots)
    )
    settings = {"task": "node", "epochs": 1, "restarts": 1, "teacher_limit": 36, "hops": 3}
    RCExplainer(**settings).fit(case.model, case.graph, index=case.nodes, progress=False)
    assert max(made) == 40  # a tenth of them is held out
    assert f"40 of {len(case.nodes)} nodes are used for training (teacher_limit)" in caplog.text


def test_robustness_is_of_graphs(case) -> None:
    with pytest.raises(RCExplainerError, match="robustness is defined for graphs, the explainer was fitted for nodes"):
        rc.metrics.robustness(case.fitted, case.graph)
