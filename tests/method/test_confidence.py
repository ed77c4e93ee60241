"""Counterfactuals that hold: every claim is asked again, alone, for all tasks and for methods with and without regions.

Networks are random and nearly undecided; their last layer is made steeper, so that deletions can make them sure.
"""

import logging

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import delete_edges, split_model
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, random_network, three_class_network
from tests.method.test_verification import FromSize, asked_alone, fitted_then_mixing

SURE = 0.8
PAIRS = [(0, 5), (3, 9), (1, 7), (2, 8), (4, 11)]


@torch.no_grad()
def steep(model: nn.Module, times: float = 8.0) -> nn.Module:
    """The same classes with higher probabilities."""
    *_, last = (layer for layer in model.modules() if isinstance(layer, nn.Linear))
    last.weight *= times
    last.bias *= times
    return model


def graph_answers(model: nn.Module):
    @torch.no_grad()
    def answer(graph: Data, index: None) -> Tensor:
        return model(graph.x, graph.edge_index, torch.zeros(graph.num_nodes, dtype=torch.long))[0].softmax(0)

    return answer


def sure_claims(found, answer, confidence: float = SURE, target: int | None = None) -> int:
    """How many flips are claimed; each, and each unit put back, is asked again alone."""
    claimed = 0
    for one in found:
        case = one.counterfactual
        assert case.confidence == confidence

        def reached(graph: Data, one: Explanation = one) -> float:
            p = answer(graph, one.index)
            own = p if target is None else p[[target]]
            rivals = torch.arange(len(p)) != one.prediction if target is None else slice(None)
            return float(own[rivals].max())

        assert case.reached == pytest.approx(reached(case.graph), abs=1e-5)
        assert case.flipped == (reached(case.graph) >= confidence)
        if case.minimal:
            for unit in one.removed_units.tolist():
                back = delete_edges(one.graph, case.removed & (one.units.of_edge != unit))
                assert reached(back) < confidence
        assert not case.minimal or case.flipped
        claimed += case.flipped
    return claimed


@pytest.fixture(scope="module")
def model() -> nn.Module:
    return steep(random_network("graphconv"))


@pytest.fixture(scope="module")
def fitted(model):
    return rc.RCExplainer(epochs=2, on_collapse="report").fit(model, sample_graphs(12), progress=False)


@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_of_graphs_every_claim_holds_alone(fitted, model, search) -> None:
    graphs = sample_graphs(12)
    together = fitted.explain(graphs, search=search, confidence=SURE)
    assert sure_claims(together, graph_answers(model)) >= 2
    assert sure_claims(
        [fitted.explain(graph, search=search, confidence=SURE) for graph in graphs[:4]], graph_answers(model)
    )
    usual = fitted.explain(graphs, search=search)
    for sure, plain in zip(together, usual, strict=True):
        assert torch.equal(sure.edge_scores, plain.edge_scores)
        assert not sure.counterfactual.flipped or plain.counterfactual.flipped
    assert any(0.5 < one.counterfactual.reached < SURE for one in usual if one.counterfactual.flipped)


def test_without_a_confidence_nothing_changes(fitted) -> None:
    graphs = sample_graphs(12)
    for plain, none in zip(fitted.explain(graphs), fitted.explain(graphs, confidence=None), strict=True):
        assert none.counterfactual.confidence is None
        assert torch.equal(plain.counterfactual.probabilities, none.counterfactual.probabilities)
        assert torch.equal(plain.counterfactual.columns, none.counterfactual.columns)


def test_batches_and_streams_say_the_same(fitted) -> None:
    graphs = sample_graphs(12)
    listed = fitted.explain(graphs, confidence=SURE)
    for others in (
        fitted.explain(Batch.from_data_list(graphs), confidence=SURE),
        list(fitted.explain_iter(iter(graphs), confidence=SURE)),
    ):
        for one, other in zip(listed, others, strict=True):
            assert torch.equal(one.counterfactual.columns, other.counterfactual.columns)
            assert one.counterfactual.flipped == other.counterfactual.flipped
            assert one.counterfactual.distance == pytest.approx(other.counterfactual.distance, abs=1e-4)


@pytest.mark.parametrize("search", ["prefix", "greedy"])
@pytest.mark.parametrize("make", [rc.baselines.Occlusion, rc.baselines.GreedyDeletion, rc.baselines.Random])
def test_baselines_are_asked_for_it_too_and_have_no_distance(model, make, search) -> None:
    found = make().fit(model, sample_graphs(12)).explain(sample_graphs(12), search=search, confidence=SURE)
    sure_claims(found, graph_answers(model))
    assert all(one.counterfactual.distance is None for one in found)


@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_a_target_class_must_be_sure(search) -> None:
    model = steep(three_class_network("graphconv"))
    fitted = rc.baselines.Occlusion().fit(model, sample_graphs(12))
    claimed = 0
    for target in range(3):
        found = fitted.explain(sample_graphs(12), search=search, target_class=target, confidence=0.6, on_error="keep")
        sound = [one for one in found if isinstance(one, Explanation)]
        claimed += sure_claims(sound, graph_answers(model), 0.6, target)
    assert claimed >= 2


@pytest.mark.parametrize("make", [rc.baselines.Occlusion, rc.RCExplainer])
def test_of_nodes_every_claim_holds_in_the_whole_graph(make) -> None:
    model, graph = steep(random_network("graphconv", "node")), whole_graph()
    settings = {"epochs": 2, "on_collapse": "report"} if make is rc.RCExplainer else {}
    fitted = make(task="node", **settings).fit(model, graph, progress=False)

    @torch.no_grad()
    def answer(whole: Data, node: int) -> Tensor:
        return model(whole.x, whole.edge_index)[node].softmax(0)

    assert sure_claims(fitted.explain(graph, search="greedy", confidence=SURE), answer) >= 2


def test_of_links_every_claim_holds_in_the_whole_graph() -> None:
    model, graph = steep(LinkNetwork("graphconv", PAIRS)), whole_graph()
    fitted = rc.baselines.Occlusion(task="link").fit(model, graph, index=PAIRS)

    @torch.no_grad()
    def answer(whole: Data, pair: tuple[int, int]) -> Tensor:
        return model(whole.x, whole.edge_index, torch.tensor([pair]).t())[0].softmax(0)

    sure_claims(fitted.explain(graph, index=PAIRS, search="greedy", confidence=SURE), answer)


def test_only_candidates_go(fitted, model) -> None:
    graphs = sample_graphs(12)[:6]
    masks = [graph.edge_index.sum(0) % 3 > 0 for graph in graphs]
    found = fitted.explain(graphs, candidates=masks, search="greedy", confidence=SURE)
    sure_claims(found, graph_answers(model))
    for one, mask in zip(found, masks, strict=True):
        assert not (one.counterfactual.removed & ~mask).any()


def test_a_model_that_mixes_the_graphs_of_a_batch_is_asked_one_by_one(caplog) -> None:
    model, graphs, fitted = fitted_then_mixing(FromSize(1))
    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graphs[:12], search="greedy", confidence=0.55)
    assert "mixes the graphs of a batch" in caplog.text
    assert sure_claims(found, asked_alone(model), 0.55) >= 1


def test_the_distance_is_that_of_the_region_of_the_graph_itself(fitted, model) -> None:
    graphs = sample_graphs(12)
    split = split_model(model, graphs)
    for one in fitted.explain(graphs, confidence=SURE):
        before, after = (split.embed(graph) for graph in (one.graph, one.counterfactual.graph))
        region = fitted.assign(fitted.regions, before, torch.tensor([one.prediction]))
        margin = float(fitted.regions.margins(after, region).min())
        assert one.counterfactual.distance == pytest.approx(-margin, abs=1e-4)
    assert fitted.explain(graphs[0], search="none").counterfactual is None


def test_what_is_no_confidence(fitted) -> None:
    for wrong in (0.5, 1, 1.2, "0.8"):
        with pytest.raises(RCExplainerError, match=r"confidence must be a probability above 0\.5"):
            fitted.explain(sample_graphs(12), confidence=wrong)
        with pytest.raises(RCExplainerError, match=r"confidence must be a probability above 0\.5"):
            fitted.explain_iter(sample_graphs(12), confidence=wrong)
