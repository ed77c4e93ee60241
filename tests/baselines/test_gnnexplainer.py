"""GNNExplainer: PyG's own where the two can be compared, and what is different where they cannot."""

import pytest
import torch
import torch_geometric.explain as pyg
from torch_geometric.data import Batch

from rcexplainer.baselines import GNNExplainer
from rcexplainer.baselines.gnnexplainer import PYG_GNNEXPLAINER
from rcexplainer.baselines.soft_masks import SoftBatch, edges_of, size_and_entropy
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, GNNConfig, split_model
from rcexplainer.gnn.instances import Instances
from tests.baselines.marked import LOLLIPOP, CountsMarks, marked_graph, score_of
from tests.gnn.graphs import make_graphs
from tests.gnn.zoo import FEATURES


def network() -> GNN:
    torch.manual_seed(5)
    return GNN(GNNConfig(FEATURES, 3, conv="graphconv", width=8, layers=2)).eval()


def batch_of(model, graphs) -> SoftBatch:
    instances = Instances(split_model(model, graphs), graphs)
    labels = instances.passes(lambda done: done.output).argmax(1)
    return SoftBatch(instances.split, *instances[instances.everything], labels)


def test_its_settings_for_pyg_are_pygs() -> None:
    ours, theirs = GNNExplainer(**PYG_GNNEXPLAINER), pyg.GNNExplainer()
    assert (ours.epochs, ours.lr, ours.start) == (theirs.epochs, theirs.lr, 0)
    assert (ours.edge_size, ours.edge_ent) == (theirs.coeffs["edge_size"], theirs.coeffs["edge_ent"])


def test_of_a_directed_graph_it_is_pygs(monkeypatch) -> None:
    """There every unit is one edge; given the same first mask, the two take the same steps."""
    model, graphs = network(), make_graphs(3, directed=True)
    method = GNNExplainer(**PYG_GNNEXPLAINER, epochs=40)
    fitted = method.fit(model, graphs)
    for graph in graphs:
        soft = batch_of(model, [graph])
        first = soft.units.to_edges(method.first(soft), 0.0)

        def start(self, x, edge_index, first=first):
            self.node_mask, self.edge_mask = None, torch.nn.Parameter(first.clone())

        monkeypatch.setattr(pyg.GNNExplainer, "_initialize_masks", start)
        explainer = pyg.Explainer(
            model=model,
            algorithm=pyg.GNNExplainer(epochs=40),
            explanation_type="model",
            edge_mask_type="object",
            model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
        )
        theirs = explainer(graph.x, graph.edge_index, batch=Batch.from_data_list([graph]).batch).edge_mask
        torch.testing.assert_close(fitted.explain(graph, search="none").edge_scores, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("settings", [{}, PYG_GNNEXPLAINER], ids=["default", "PyG's"])
def test_the_objective_moves_the_mask(settings) -> None:
    soft = batch_of(network(), make_graphs(4))
    method = GNNExplainer(**settings)

    def loss(mask: torch.Tensor) -> torch.Tensor:
        price = size_and_entropy(mask.logit(), edges_of(soft.units), soft.units, method.edge_size, method.edge_ent)
        return price - soft.log_prob(soft.run(mask))

    first = method.first(soft).requires_grad_()
    (slope,) = torch.autograd.grad(-soft.log_prob(soft.run(first.sigmoid())).sum(), first)
    assert (slope != 0).all()
    with torch.no_grad(), soft.split.scope:
        before = loss(first.sigmoid())
    with torch.enable_grad():
        mask = method.optimise(soft)
    assert (loss(mask) < before).all()


def test_an_edge_that_cannot_matter_scores_0() -> None:
    """The model counts marked neighbours: nothing is seen along an edge between two nodes without a mark."""
    graph = marked_graph(LOLLIPOP, [0, 1])
    found = GNNExplainer().fit(CountsMarks("graph", 2.5), [graph]).explain(graph, search="none")
    assert found.prediction == 1
    assert score_of(found, 0, 1) > 0
    assert score_of(found, 5, 6) == score_of(found, 6, 5) == 0


def test_the_mask_is_as_large_as_the_prediction_needs() -> None:
    """Four marks are seen in the graph; where four are needed more of their edges stay than where one will do."""
    graph, method = marked_graph(LOLLIPOP, [0, 1]), GNNExplainer(edge_size=0.1, edge_ent=0.0, epochs=200)
    four, one = (
        method.fit(CountsMarks("graph", threshold), [graph]).explain(graph, search="none") for threshold in (3.5, 0.5)
    )
    assert four.prediction == one.prediction == 1
    assert float(four.unit_scores.sum()) > float(one.unit_scores.sum()) + 0.5


def test_another_seed_is_another_first_mask() -> None:
    model, graphs = network(), make_graphs(2)
    one, other = (GNNExplainer(seed=seed, epochs=5).fit(model, graphs).explain(graphs[0]) for seed in (0, 1))
    assert not torch.equal(one.edge_scores, other.edge_scores)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number ≥ 1, got 0"),
        ({"epochs": 2.5}, "epochs must be a whole number ≥ 1, got 2.5"),
        ({"lr": 0.0}, "lr must be a finite number > 0, got 0.0"),
        ({"edge_size": -1.0}, "edge_size must be a finite number ≥ 0, got -1.0"),
        ({"edge_ent": float("nan")}, "edge_ent must be a finite number ≥ 0, got nan"),
        ({"start": float("inf")}, "start must be a finite number, got inf"),
        ({"edge_sise": 1.0}, "unknown setting 'edge_sise'; did you mean edge_size?"),
    ],
)
def test_impossible_settings(wrong, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        GNNExplainer(**wrong)
