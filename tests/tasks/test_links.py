"""Links: which existing edges, deleted, make a predicted link disappear? True of the whole graph, and never itself."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCNConv, GraphConv

import rcexplainer as rc
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn import delete_edges, split_model
from rcexplainer.tasks import TASKS

NODES = 60


class DotProduct(nn.Module):
    """encode and decode, as in most of PyG's link examples: one logit a pair."""

    def __init__(self, conv=GraphConv) -> None:
        super().__init__()
        self.conv1, self.conv2 = conv(8, 16), conv(16, 16)

    def encode(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        return self.conv2(self.conv1(x, edge_index, edge_weight).relu(), edge_index, edge_weight)

    def decode(self, z: Tensor, edge_label_index: Tensor) -> Tensor:
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(1)


class Hadamard(DotProduct):
    """The same with an MLP on the product of the two embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def decode(self, z: Tensor, edge_label_index: Tensor) -> Tensor:
        return self.mlp(z[edge_label_index[0]] * z[edge_label_index[1]])


class Forward(nn.Module):
    """As PyG's `Explainer` calls a model of edges: probabilities, from the two embeddings side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.lin = GCNConv(8, 16), nn.Linear(32, 1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        z = self.conv(x, edge_index).relu()
        return self.lin(torch.cat([z[edge_label_index[0]], z[edge_label_index[1]]], 1)).sigmoid().squeeze(1)


def make_graph(seed: int = 0) -> Data:
    random = torch.Generator().manual_seed(seed)
    half = torch.randint(NODES, (2, 55), generator=random)
    half = half[:, half[0] != half[1]]
    edges = torch.cat([half, half.flip(0)], 1).unique(dim=1)
    return Data(x=torch.randn(NODES, 8, generator=random), edge_index=edges)


def make_pairs(count: int = 40) -> Tensor:
    pairs = torch.randint(NODES, (count, 2), generator=torch.Generator().manual_seed(1))
    return pairs[pairs[:, 0] != pairs[:, 1]]


def centred(model: nn.Module, graph: Data) -> nn.Module:
    """So that about half of the pairs are predicted as links."""
    if isinstance(model, DotProduct) and not isinstance(model, Hadamard):
        return model.eval()
    last = [module for module in model.modules() if isinstance(module, nn.Linear)][-1]
    with torch.no_grad():
        scores = predict(model.eval(), graph, make_pairs())
        last.bias -= scores.logit().median() + 0.01
    return model


@torch.no_grad()
def predict(model: nn.Module, graph: Data, pairs: Tensor) -> Tensor:
    """p(link)."""
    if isinstance(model, Forward):
        return model(graph.x, graph.edge_index, pairs.t())
    return model.decode(model.encode(graph.x, graph.edge_index), pairs.t()).reshape(-1).sigmoid()


def make_case(kind: type[nn.Module]) -> SimpleNamespace:
    torch.manual_seed(0)
    graph = make_graph()
    model = centred(kind(), graph)
    pairs = make_pairs()
    fitted = RCExplainer(task="link", epochs=3).fit(model, graph, index=pairs[:30], progress=False)
    return SimpleNamespace(graph=graph, model=model, pairs=pairs, fitted=fitted)


@pytest.fixture(scope="module", params=[DotProduct, Hadamard, Forward])
def case(request) -> SimpleNamespace:
    return make_case(request.param)


def test_predictions_are_those_of_the_whole_graph(case) -> None:
    before = predict(case.model, case.graph, case.pairs)
    flips = 0
    for one, p in zip(case.fitted.explain(case.graph, index=case.pairs, search="greedy"), before, strict=True):
        torch.testing.assert_close(one.probabilities, torch.stack([1 - p, p]), atol=1e-4, rtol=0)
        found = one.counterfactual
        after = predict(case.model, found.graph, torch.tensor([one.index]))[0]
        assert float(found.probabilities[1]) == pytest.approx(float(after), abs=1e-4)
        assert found.flipped == ((after > 0.5) != (p > 0.5))
        flips += found.flipped
    assert flips > 5


def test_how_far_the_model_looks(case) -> None:
    # GCN's normalisation reads the degrees of the nodes farthest out.
    assert case.fitted.hops == 2


def test_the_head_is_the_scorer_where_it_is_a_module(case) -> None:
    expected = {DotProduct: "output", Hadamard: "mlp", Forward: "lin"}[type(case.model)]
    assert case.fitted.split.head_name == expected


def test_the_edge_in_question_is_never_part_of_the_answer(case) -> None:
    linked = case.graph.edge_index.t()[::9]
    for one in case.fitted.explain(case.graph, index=linked, search="greedy"):
        own = (case.graph.edge_index.sort(0).values == torch.tensor(sorted(one.index))[:, None]).all(0)
        assert own.any()
        assert not one.edge_scores[own].any()
        assert not one.counterfactual.removed[own].any()
        assert not one.at_sparsity(0.0)[own].any()
        assert (one.units.of_edge[own] == -1).all()


def test_one_pair_gives_one_explanation_and_several_a_list(case) -> None:
    pair = tuple(case.pairs[0].tolist())
    one = case.fitted.explain(case.graph, index=pair)
    assert isinstance(one, Explanation)
    assert one.index == pair
    asking = Data(x=case.graph.x, edge_index=case.graph.edge_index, edge_label_index=torch.tensor([pair]).t())
    for graph, index in ((case.graph, [pair]), (case.graph, torch.tensor([pair])), (asking, None)):
        (same,) = case.fitted.explain(graph, index=index)
        torch.testing.assert_close(same.edge_scores, one.edge_scores)


def test_saved_and_loaded(case, tmp_path) -> None:
    again = rc.load(case.fitted.save(tmp_path / "links.safetensors"), case.model)
    pair = tuple(case.pairs[3].tolist())
    one, other = (some.explain(case.graph, index=pair) for some in (case.fitted, again))
    torch.testing.assert_close(one.edge_scores, other.edge_scores)


def test_other_methods_explain_links_too(case) -> None:
    for method in (rc.baselines.Occlusion(task="link"), rc.baselines.GreedyDeletion(task="link")):
        found = method.fit(case.model, case.graph).explain(case.graph, index=case.pairs[:5])
        before = predict(case.model, case.graph, case.pairs[:5])
        assert [one.prediction for one in found] == (before > 0.5).long().tolist()


def test_pygs_own_explainer_asks_about_an_edge() -> None:
    """It calls `forward`, so that is the model to ask."""
    case = make_case(Forward)
    explainer = Explainer(
        case.model,
        rc.integrations.pyg.RCExplainerAlgorithm(case.fitted),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "binary_classification", "task_level": "edge", "return_type": "probs"},
    )
    label_index = case.pairs[:4].t()
    found = explainer(case.graph.x, case.graph.edge_index, edge_label_index=label_index, index=2)
    own = case.fitted.explain(case.graph, index=tuple(case.pairs[2].tolist()), search="none")
    torch.testing.assert_close(found.edge_mask, own.edge_scores)
    with pytest.raises(RCExplainerError, match="one link is explained at a time here, got no index"):
        explainer(case.graph.x, case.graph.edge_index, edge_label_index=label_index)
    algorithm = explainer.algorithm
    for wrong in (-1, 4, torch.tensor([9])):
        with pytest.raises(RCExplainerError, match=r"there is no pair -?\d: the pairs are 0 to 3"):
            algorithm(
                case.model,
                case.graph.x,
                case.graph.edge_index,
                target=torch.zeros(4).long(),
                index=wrong,
                edge_label_index=label_index,
            )


def test_the_model_itself_will_do_for_metrics(case) -> None:
    shown = case.fitted.explain(case.graph, index=case.pairs[:6], search="none")
    assert rc.metrics.fidelity(case.model, shown, (0.9, 0.5)) == rc.metrics.fidelity(
        case.fitted.split, shown, (0.9, 0.5)
    )


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ((3, 3), r"two different nodes, got the pair \(3, 3\)"),
        ((0, NODES), f"there is no node {NODES}"),
        ((-1, 2), "there is no node -1"),
        ([], "the index is empty"),
        (5, "pair of nodes per row"),
        ([1, 2, 3], "pair of nodes per row"),
        (torch.zeros(2, 7, dtype=torch.long), "pass its transpose"),
        (torch.zeros(3, 2), "pair of nodes per row"),
        (None, "must name the pairs of nodes"),
    ],
)
def test_impossible_pairs(case, index, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        case.fitted.explain(case.graph, index=index)
    if index is not None:
        with pytest.raises(GraphError, match=said):
            TASKS["link"].trial_graphs([case.graph], index)


def test_one_wrong_pair_of_several_costs_none_of_the_others(case) -> None:
    pairs = [(5, 5), (0, 1), (0, NODES)]
    with pytest.raises(ExplainError, match=r"two different nodes, got the pair \(5, 5\).*1 more failed") as caught:
        case.fitted.explain(case.graph, index=pairs)
    assert [type(one) for one in caught.value.results] == [Failure, Explanation, Failure]
    assert f"no node {NODES}" in str(caught.value.results[2].error)
    with pytest.raises(GraphError, match="two different nodes"):
        TASKS["link"].trial_graphs([case.graph], pairs)


def test_a_pair_without_edges_around_it_has_an_empty_explanation(case) -> None:
    apart = Data(x=torch.cat([case.graph.x, case.graph.x[:2]]), edge_index=case.graph.edge_index)
    one = case.fitted.explain(apart, index=(NODES, NODES + 1), search="greedy")
    assert len(one.units) == 0
    assert not one.counterfactual.flipped
    only = torch.cat([case.graph.edge_index, torch.tensor([[NODES, NODES + 1], [NODES + 1, NODES]])], 1)
    one = case.fitted.explain(Data(x=apart.x, edge_index=only), index=(NODES, NODES + 1), search="greedy")
    assert len(one.units) == 0


def test_a_split_needs_pairs_to_ask_about() -> None:
    with pytest.raises(GraphError, match="edge_label_index"):
        split_model(DotProduct(), make_graph(), task="link")


def test_labelled_pairs_are_no_edges() -> None:
    """As many labelled pairs as edges: deleting edges leaves them alone."""
    graph = make_graph()
    graph.edge_label_index = graph.edge_index.flip(1)
    graph.edge_label = torch.ones(graph.num_edges)
    left = delete_edges(graph, torch.arange(graph.num_edges) < 5)
    assert left.num_edges == graph.num_edges - 5
    assert left.edge_label_index.shape == graph.edge_label_index.shape
    assert left.edge_label.shape == graph.edge_label.shape
