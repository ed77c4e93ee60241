"""What every method keeps to, as checks that run on any of them:

    @pytest.mark.parametrize("check", CHECKS)
    def test_my_method(check):
        check(Case(MyMethod))

A check takes a `Case`: how the method is made, and on which layers and by which measure it is judged.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.utils import degree, one_hot

from rcexplainer.baselines import Method, Random
from rcexplainer.datasets import load
from rcexplainer.errors import ExplainError, GraphError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn import GNN, GNNConfig, TrainConfig, delete_edges, train_gnn
from rcexplainer.metrics import fidelity, motif_auc
from tests.gnn.graphs import make_graphs, state_of
from tests.gnn.zoo import FEATURES

Judge = Callable[[nn.Module, list[Explanation]], float]


def motif(model: nn.Module, explanations: list[Explanation]) -> float:
    """Is the motif what gets the scores?"""
    return motif_auc(explanations)


def dropped(model: nn.Module, explanations: list[Explanation]) -> float:
    """How far does p(c) fall without the best tenth of the edges?"""
    return fidelity(model, explanations, sparsity=[0.9]).drop[0]


@dataclass(frozen=True)
class Case:
    """A method, judged by what it is after, on networks of layers it can explain."""

    make: Callable[[], Method]
    judge: Judge = dropped
    conv: str = "graphconv"


# --- networks -------------------------------------------------------------------------------------------------------


def untrained(case: Case, task: str = "graph", seed: int = 3) -> GNN:
    """A small network with random weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return GNN(GNNConfig(FEATURES, 2, task=task, conv=case.conv, width=8, layers=2)).eval()


def graphs(count: int = 4) -> list[Data]:
    return make_graphs(count, num_nodes=7, self_loops=True, num_classes=2)


@cache
def trained(conv: str) -> tuple[GNN, list[Data], list[Data]]:
    """A network that tells houses from cycles by their edges, what it was trained on, and other graphs: houses."""
    # Layers that average see nothing in the constant features of BA-2motifs: they are given degrees.
    averages = conv != "graphconv"
    layers, epochs, seed = (2, 60, 3) if averages else (3, 120, 2)  # other seeds may learn the class without the motif
    data = load("ba-2motifs", seed=seed, num_graphs=200)
    everything = [with_degrees(graph) for graph in data.graphs] if averages else list(data.graphs)
    config = GNNConfig(everything[0].num_features, 2, conv=conv, width=20, layers=layers, pool="max")
    settings = TrainConfig(epochs=epochs, lr=0.01, patience=epochs, batch_size=64)
    model = train_gnn(config, everything, data.split, settings=settings, seed=seed, progress=False).model.eval()
    unseen = [everything[place] for place in torch.cat([data.split.val, data.split.test]).tolist()]
    houses = [graph for graph in unseen if int(graph.y) == 1]
    assert predictions(model, houses).float().mean() >= 0.95
    gone = predictions(model, [delete_edges(graph, graph.edge_motif) for graph in houses])
    assert gone.float().mean() <= 0.2, "the network does not go by the motif"
    return model, [everything[place] for place in data.split.train.tolist()], houses


def with_degrees(graph: Data) -> Data:
    changed = copy(graph)
    changed.x = one_hot(degree(graph.edge_index[0], graph.num_nodes).long().clamp_max(9), 10).float()
    return changed


def predictions(model: nn.Module, some: list[Data]) -> Tensor:
    batch = Batch.from_data_list(some)
    with torch.no_grad():
        return model(batch.x, batch.edge_index, batch.batch).argmax(1)


def edge_scores(case: Case, model: nn.Module, some: list[Data], **fit: object) -> Tensor:
    found = case.make().fit(model, some, progress=False, **fit).explain(some, search="none")
    return torch.cat([one.edge_scores for one in found])


# --- checks ---------------------------------------------------------------------------------------------------------


def scores_are_numbers_from_0_to_1(case: Case) -> None:
    for one in case.make().fit(untrained(case), graphs(), progress=False).explain(graphs()):
        assert one.edge_scores.shape == (one.graph.num_edges,)
        assert float(one.edge_scores.min()) >= 0
        assert float(one.edge_scores.max()) <= 1
        assert len(one.unit_scores.unique()) > 1, "all edges of a graph have the same score"
        forth, back = one.graph.edge_index, one.graph.edge_index.flip(0)
        score = {tuple(pair): float(value) for pair, value in zip(forth.t().tolist(), one.edge_scores, strict=True)}
        assert all(score[tuple(pair)] == score[tuple(pair[::-1])] for pair in back.t().tolist())
        assert one.counterfactual is not None


def alone_as_in_a_batch(case: Case) -> None:
    fitted = case.make().fit(untrained(case), graphs(), progress=False)
    for graph, one in zip(graphs(), fitted.explain(graphs(), search="none"), strict=True):
        alone = fitted.explain(graph, search="none")
        torch.testing.assert_close(alone.edge_scores, one.edge_scores, atol=1e-5, rtol=0)


def same_seed_same_scores(case: Case) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        one = edge_scores(case, untrained(case), graphs(), seed=7)
        torch.manual_seed(2)  # whatever the caller's own random numbers are
        before = torch.random.get_rng_state()
        other = edge_scores(case, untrained(case), graphs(), seed=7)
        assert torch.equal(torch.random.get_rng_state(), before), "the caller's random numbers were used"
    assert torch.equal(one, other)


def the_model_is_left_as_it_was(case: Case) -> None:
    model = untrained(case).train()
    before = state_of(model)
    fitted = case.make().fit(model, graphs(), progress=False)
    assert state_of(model) == before
    fitted.explain(graphs())
    assert state_of(model) == before


def also_when_it_raises(case: Case) -> None:
    model = untrained(case).train()
    fitted = case.make().fit(model, graphs(), progress=False)
    model.convs[1].register_forward_pre_hook(_fail)
    before = state_of(model)
    found = fitted.explain(graphs(), on_error="keep")
    assert [type(one) for one in found] == [Failure] * len(found)
    assert state_of(model) == before


def _fail(module: nn.Module, inputs: object) -> None:
    raise RuntimeError("out of luck")


def scores_follow_the_model(case: Case) -> None:
    """What is explained is this model: another one gets other scores."""
    one, other = (edge_scores(case, untrained(case, seed=seed), graphs()) for seed in (3, 4))
    assert not torch.allclose(one, other, atol=1e-3)


def nodes_are_explained(case: Case) -> None:
    (graph,) = make_graphs(1, num_nodes=14, num_classes=2)
    graph.y = None
    model, nodes = untrained(case, "node"), [0, 3, 5, 9]
    fitted = case.make().fit(model, graph, task="node", index=nodes, progress=False)
    with torch.no_grad():
        predicted = model(graph.x, graph.edge_index).argmax(1)
    for node, one in zip(nodes, fitted.explain(graph, index=nodes), strict=True):
        assert one.index == node
        assert one.prediction == int(predicted[node])
        assert len(one.unit_scores.unique()) > 1
        outside = torch.ones(graph.num_edges, dtype=torch.bool).index_fill(0, one.edge_ids, False)
        assert not one.edge_scores[outside].any()


class Linked(nn.Module):
    """A pair of nodes is linked if a Linear says so of the product of their embeddings."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.gnn = untrained(case, "node")

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        one, other = self.gnn.embed(x, edge_index)[edge_label_index]
        return self.gnn.head(one * other)


def links_are_explained(case: Case) -> None:
    (graph,) = make_graphs(1, num_nodes=14, num_classes=2)
    graph.y = None
    pairs = [(0, 5), (3, 9), (2, 11)]
    fitted = case.make().fit(Linked(case).eval(), graph, task="link", index=pairs, progress=False)
    for pair, one in zip(pairs, fitted.explain(graph, index=pairs), strict=True):
        assert one.index == pair
        assert len(one.unit_scores.unique()) > 1


def better_than_random(case: Case) -> None:
    model, training, houses = trained(case.conv)
    found = case.make().fit(model, training, progress=False).explain(houses, search="none")
    chance = Random().fit(model, training).explain(houses, search="none")
    assert case.judge(model, found) >= case.judge(model, chance) + 0.1


def a_graph_without_edges_has_no_scores(case: Case) -> None:
    fitted = case.make().fit(untrained(case), graphs(), progress=False)
    bare = Data(x=torch.ones(3, FEATURES), edge_index=torch.empty(2, 0, dtype=torch.long))
    assert fitted.explain(bare).edge_scores.shape == (0,)
    loops = Data(x=torch.ones(2, FEATURES), edge_index=torch.tensor([[0, 1], [0, 1]]))
    assert fitted.explain(loops).edge_scores.tolist() == [0, 0]


def bad_graphs_are_refused_and_the_others_explained(case: Case) -> None:
    fitted = case.make().fit(untrained(case), graphs(), progress=False)
    good = graphs(2)
    narrow, broken = copy(good[0]), copy(good[0])
    narrow.x = good[0].x[:, :2]
    broken.x = good[0].x.clone().fill_(torch.nan)
    some = [good[0], narrow, broken, good[1]]
    found = fitted.explain(some, search="none", on_error="keep")
    assert [type(one) for one in found] == [Explanation, Failure, Failure, Explanation]
    assert all(isinstance(found[place].error, GraphError) for place in (1, 2))
    assert f"width 2, the explainer was fitted on {FEATURES}" in str(found[1].error)
    assert "NaN" in str(found[2].error)
    torch.testing.assert_close(found[3].edge_scores, fitted.explain(good[1], search="none").edge_scores)
    with pytest.raises(ExplainError, match="instance 1 could not be explained") as raised:
        fitted.explain(some, search="none")
    assert isinstance(raised.value.results[3], Explanation)


CHECKS: list[Callable[[Case], None]] = [
    scores_are_numbers_from_0_to_1,
    alone_as_in_a_batch,
    same_seed_same_scores,
    the_model_is_left_as_it_was,
    also_when_it_raises,
    scores_follow_the_model,
    nodes_are_explained,
    links_are_explained,
    better_than_random,
    a_graph_without_edges_has_no_scores,
    bad_graphs_are_refused_and_the_others_explained,
]
