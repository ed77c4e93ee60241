"""A scoring function may return two readings of a unit; the second travels with the first, and changes nothing else."""

import pickle

import torch
from torch_geometric.data import Batch
from torch_geometric.explain import Explainer

import rcexplainer as rc
from rcexplainer.baselines import Random
from rcexplainer.cli.explanation_record import explanation_record
from rcexplainer.method.unit_readings import UnitReadings, as_readings
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network


class Both(Random):
    def scores(self, instances, labels):
        found = super().scores(instances, labels)
        return UnitReadings(found, 1 - found)


def test_a_plain_tensor_is_the_first_reading_alone() -> None:
    scores = torch.rand(3)
    assert as_readings(scores).scores is scores
    assert as_readings(scores).relevance is None
    both = UnitReadings(scores, 1 - scores)
    assert as_readings(both) is both


def test_a_plan_ranks_first_what_it_deletes_first_and_the_scores_come_second() -> None:
    class Planned:
        def order(self, path: object) -> torch.Tensor:
            return torch.tensor([1, 2, 0])

    scores = torch.tensor([0.1, 0.9, 0.5])
    planned, second = UnitReadings(scores, plan=Planned()).rankings  # type: ignore[arg-type]
    assert planned.argsort(descending=True).tolist() == [2, 0, 1]
    assert second is scores


def test_both_readings_reach_the_explanation_and_nothing_else_changes() -> None:
    graphs, model = sample_graphs(), random_network("graphconv")
    both, plain = Both().fit(model, graphs), Random().fit(model, graphs)
    for asked in (graphs, Batch.from_data_list(graphs)):
        for one, other in zip(both.explain(asked), plain.explain(asked), strict=True):
            assert torch.equal(one.edge_scores, other.edge_scores)
            assert torch.equal(one.counterfactual.removed, other.counterfactual.removed)
            assert torch.equal(one.unit_relevance, 1 - one.unit_scores)
            assert one.relevance.untyped_storage().nbytes() == one.relevance.nbytes  # not the tensors of its batch
            assert other.relevance is None


def test_edges_outside_the_computation_graph_have_no_relevance() -> None:
    graph = whole_graph()
    one = Both(task="node").fit(random_network("graphconv", "node"), graph).explain(graph, index=0)
    inside = torch.zeros(graph.num_edges, dtype=torch.bool)
    inside[one.edge_ids] = True
    assert not one.edge_relevance[~inside].any()
    assert torch.equal(one.unit_relevance, 1 - one.unit_scores)


def test_it_is_pickled_recorded_and_handed_to_pyg() -> None:
    data = rc.datasets.load("ba-2motifs", num_graphs=4)
    model = rc.gnn.GNN(rc.gnn.GNNConfig(data.graphs[0].num_features, 2))
    one = Both().fit(model, data.graphs).explain(data.graphs[0])
    assert torch.equal(pickle.loads(pickle.dumps(one)).edge_relevance, one.edge_relevance)
    for edge in explanation_record(one, data)["top"]:
        assert abs(edge["score"] + edge["relevance"] - 1) < 1e-6
    plain = Random().fit(model, data.graphs)
    assert "relevance" not in explanation_record(plain.explain(data.graphs[0]), data)["top"][0]
    for fitted, found in ((Both().fit(model, data.graphs), True), (plain, False)):
        explainer = Explainer(
            model,
            rc.integrations.pyg.RCExplainerAlgorithm(fitted),
            explanation_type="model",
            edge_mask_type="object",
            model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
        )
        graph = data.graphs[0]
        shown = explainer(graph.x, graph.edge_index, batch=torch.zeros(graph.num_nodes, dtype=torch.long))
        assert ("edge_relevance" in shown) == found
