"""The whole story on a small set: fit, explain, and everything the contract promises of the results."""

import copy
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg_nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

import rcexplainer as rc
from rcexplainer.config import RCConfig, make_config
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError, SplitError
from rcexplainer.explainer import FittedRCExplainer, RCExplainer
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn import GNN, TrainConfig, delete_edges, gnn_config, split_model, train_gnn
from rcexplainer.method import inputs as streaming
from rcexplainer.method import results
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of

SEARCHES = ("none", "prefix", "greedy")


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("ba-2motifs", num_graphs=64)
    config = gnn_config("paper", data.num_features, data.num_classes)
    settings = TrainConfig(epochs=40, lr=0.01)
    model = train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model
    fitted = RCExplainer(epochs=5).fit(model, data.subset("train"), class_names=data.class_names, progress=False)
    return SimpleNamespace(data=data, model=model, fitted=fitted, test=data.subset("test"))


def predict(model: nn.Module, graph: Data) -> torch.Tensor:
    """The user's own call, on this graph alone."""
    with torch.no_grad():
        vector = torch.zeros(graph.num_nodes, dtype=torch.long)
        return model(graph.x, graph.edge_index, vector).softmax(1)[0]


def bare(num_nodes: int, edges: list[tuple[int, int]], width: int = 10) -> Data:
    columns = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    return Data(x=torch.full((num_nodes, width), 0.1), edge_index=columns)


# ---- what comes back


def test_one_graph_gives_one_explanation_and_a_list_a_sequence_in_order(case) -> None:
    one = case.fitted.explain(case.test[0])
    assert isinstance(one, Explanation)
    many = case.fitted.explain(case.test)
    assert [explanation.graph for explanation in many] == case.test
    several = case.fitted.explain(case.test[:1])
    assert isinstance(several, Sequence)
    assert not hasattr(several, "append")  # read-only
    for graphs in (Batch.from_data_list(case.test), DataLoader(case.test, batch_size=5), tuple(case.test)):
        again = case.fitted.explain(graphs, search="none")
        assert len(again) == len(case.test)
        for a, b in zip(again, many, strict=True):
            torch.testing.assert_close(a.edge_scores, b.edge_scores, atol=1e-5, rtol=0)
    streamed = list(case.fitted.explain_iter(case.test))
    assert [str(explanation) for explanation in streamed] == [str(explanation) for explanation in many]


def test_what_an_explanation_holds(case) -> None:
    assert isinstance(case.fitted, FittedRCExplainer)
    assert len(case.fitted.history) == 5
    for graph, shown in zip(case.test, case.fitted.explain(case.test), strict=True):
        probabilities = predict(case.model, graph)
        torch.testing.assert_close(shown.probabilities, probabilities, atol=1e-5, rtol=0)
        assert shown.prediction == int(probabilities.argmax())
        assert shown.class_names == case.data.class_names
        assert shown.edge_scores.shape == (graph.num_edges,)
        assert ((shown.edge_scores > 0) & (shown.edge_scores < 1)).all()
        pairs = map(tuple, graph.edge_index.T.tolist())
        where = dict(zip(pairs, shown.edge_scores.tolist(), strict=True))
        assert all(where[i, j] == where[j, i] for i, j in where)


def test_results_are_detached_tensors_on_the_cpu(case) -> None:
    for shown in case.fitted.explain(case.test[:4], search="greedy"):
        after = shown.counterfactual
        tensors = [shown.edge_scores, shown.probabilities, shown.node_scores, after.removed, after.probabilities]
        tensors += [after.graph.edge_index, after.graph.x]
        assert all(tensor.device.type == "cpu" and not tensor.requires_grad for tensor in tensors)
        assert type(shown.prediction) is type(after.prediction) is int
        assert type(after.flipped) is type(after.minimal) is bool


# ---- the scores


def test_a_graph_has_the_same_scores_alone_and_in_any_batch(case) -> None:
    many = case.fitted.explain(case.test, search="none")
    backwards = case.fitted.explain([*case.test[::-1], *case.data.subset("val")], search="none")
    for place, graph in enumerate(case.test):
        alone = case.fitted.explain(graph, search="none").edge_scores
        for other in (many[place], backwards[len(case.test) - 1 - place]):
            torch.testing.assert_close(other.edge_scores, alone, atol=1e-5, rtol=0)


def test_permuting_nodes_permutes_the_scores(case) -> None:
    random = torch.Generator().manual_seed(0)
    for graph in case.test[:5]:
        order = torch.randperm(graph.num_nodes, generator=random)
        columns = torch.randperm(graph.num_edges, generator=random)
        moved = Data(x=graph.x[order], edge_index=order.argsort()[graph.edge_index][:, columns])
        before = case.fitted.explain(graph, search="none").edge_scores
        after = case.fitted.explain(moved, search="none").edge_scores
        torch.testing.assert_close(after, before[columns], atol=1e-5, rtol=0)


def test_the_scores_say_something(case) -> None:
    """They are not all the same, and they are more than chance: what the network is trained on got better."""
    for shown in case.fitted.explain(case.test, search="none"):
        assert len(shown.unit_scores.unique()) > len(shown.units) / 2
    losses = [sum(epoch.terms.values()) for epoch in case.fitted.history]
    assert losses[-1] < losses[0]


def test_same_seed_same_answer(case) -> None:
    training, graph = case.data.subset("train")[:40], case.test[0]
    before = torch.random.get_rng_state()
    one, same, other = (
        RCExplainer(epochs=2).fit(case.model, training, seed=seed, progress=False) for seed in (3, 3, 4)
    )
    assert torch.equal(torch.random.get_rng_state(), before), "the caller's random numbers are his"
    scores = [fitted.explain(graph).edge_scores for fitted in (one, same, other)]
    assert torch.equal(scores[0], scores[1])
    assert not torch.equal(scores[0], scores[2])
    assert one.explain(graph).counterfactual.removed.equal(same.explain(graph).counterfactual.removed)


def test_the_search_never_changes_the_scores(case) -> None:
    none, prefix, greedy = (case.fitted.explain(case.test, search=search) for search in SEARCHES)
    for a, b, c in zip(none, prefix, greedy, strict=True):
        assert torch.equal(a.edge_scores, b.edge_scores)
        assert torch.equal(a.edge_scores, c.edge_scores)
        assert a.counterfactual is None
    with pytest.raises(RCExplainerError, match="search must be none, prefix or greedy, got 'best'"):
        case.fitted.explain(case.test, search="best")


# ---- the counterfactuals


@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_counterfactuals_are_true(case, search) -> None:
    flipped = 0
    for graph, shown in zip(case.test, case.fitted.explain(case.test, search=search), strict=True):
        found = shown.counterfactual
        kept = ~found.removed
        assert torch.equal(found.graph.edge_index, graph.edge_index[:, kept])
        assert torch.equal(found.graph.edge_motif, graph.edge_motif[kept])
        assert graph.num_edges == len(found.removed)
        after = predict(case.model, found.graph)
        torch.testing.assert_close(found.probabilities, after, atol=1e-5, rtol=0)
        assert found.prediction == int(after.argmax())
        assert found.flipped == (found.prediction != shown.prediction)
        assert not found.minimal or found.flipped
        removed = shown.units.of_edge[found.removed].unique()
        assert len(removed) <= len(shown.units) // 2
        assert torch.equal(torch.isin(shown.units.of_edge, removed), found.removed), "both directions go together"
        if found.minimal:
            for unit in removed:
                back = delete_edges(graph, found.removed & (shown.units.of_edge != unit))
                assert int(predict(case.model, back).argmax()) == shown.prediction
        flipped += found.flipped
    assert flipped >= 3


def test_the_prefix_is_the_shortest_that_flips(case) -> None:
    """Of the plan's order, or where none of its prefixes flips of the scores'."""
    by_scores = case.fitted.by_scores.explain(case.test)
    for graph, shown, other in zip(case.test, case.fitted.explain(case.test), by_scores, strict=True):
        flips = [
            top
            for ranking in (shown, other)
            for top in map(ranking.top, range(1, len(shown.units) // 2 + 1))
            if int(predict(case.model, delete_edges(graph, top)).argmax()) != shown.prediction
        ]
        assert shown.counterfactual.flipped == bool(flips)
        if flips:
            assert not (shown.counterfactual.removed & ~flips[0]).any()


def test_greedy_flips_whatever_a_prefix_flips_and_never_drops_less(case) -> None:
    prefix, greedy = (case.fitted.explain(case.test, search=search) for search in ("prefix", "greedy"))
    for a, b in zip(prefix, greedy, strict=True):
        assert b.counterfactual.flipped >= a.counterfactual.flipped
        if a.counterfactual.flipped:
            assert torch.equal(a.counterfactual.removed, b.counterfactual.removed)
        elif not b.counterfactual.flipped:
            before, after = (float(each.counterfactual.probabilities[a.prediction]) for each in (a, b))
            assert after <= before + 1e-6


@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_only_candidates_are_deleted(case, search) -> None:
    masks = [~graph.edge_motif for graph in case.test]
    plain = case.fitted.explain(case.test, search=search)
    for mask, shown, free in zip(
        masks, case.fitted.explain(case.test, search=search, candidates=masks), plain, strict=True
    ):
        assert not (shown.counterfactual.removed & ~mask).any()
        assert torch.equal(shown.edge_scores, free.edge_scores)
    one = case.fitted.explain(case.test[0], search=search, candidates=masks[0])
    assert not (one.counterfactual.removed & ~masks[0]).any()
    nothing = case.fitted.explain(case.test[0], search=search, candidates=torch.zeros_like(masks[0])).counterfactual
    assert not nothing.removed.any()
    assert not nothing.flipped
    half = torch.zeros_like(masks[0])
    half[graph_direction(case.test[0])] = True  # one direction of every pair: no unit may go as a whole
    assert not case.fitted.explain(case.test[0], search=search, candidates=half).counterfactual.removed.any()


def graph_direction(graph: Data) -> torch.Tensor:
    return graph.edge_index[0] < graph.edge_index[1]


def test_candidates_that_do_not_fit(case) -> None:
    graph = case.test[0]
    for wrong in (torch.ones(3, dtype=torch.bool), torch.ones(graph.num_edges)):
        with pytest.raises(GraphError, match=f"must be a boolean mask of its {graph.num_edges} edges"):
            case.fitted.explain(graph, candidates=wrong)
    with pytest.raises(RCExplainerError, match="one mask for each instance, got 1"):
        case.fitted.explain(case.test[:2], candidates=[torch.ones(graph.num_edges, dtype=torch.bool)])


# ---- odd graphs


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "graph",
    [bare(4, []), bare(1, []), bare(1, [(0, 0)]), bare(3, [(0, 0), (1, 1), (2, 2)])],
    ids=["no edges", "single node", "single node with a loop", "self-loops"],
)
def test_a_graph_with_nothing_to_delete_has_a_stated_empty_explanation(case, graph, search) -> None:
    for shown in (
        case.fitted.explain(graph, search=search),
        case.fitted.explain([case.test[0], graph], search=search)[1],
    ):
        assert shown.edge_scores.tolist() == [0.0] * graph.num_edges
        assert shown.node_scores.tolist() == [0.0] * graph.num_nodes
        torch.testing.assert_close(shown.probabilities, predict(case.model, graph), atol=1e-5, rtol=0)
        assert "0 edges" in repr(shown)
        if search != "none":
            found = shown.counterfactual
            assert (found.flipped, found.minimal, found.prediction) == (False, False, shown.prediction)
            assert found.removed.tolist() == [False] * graph.num_edges


def test_a_single_edge(case) -> None:
    shown = case.fitted.explain(bare(2, [(0, 1)]), search="greedy")
    assert shown.edge_scores.shape == (1,)
    assert shown.top(1).tolist() == [True]


def test_duplicate_edges_self_loops_and_isolated_nodes(case) -> None:
    graph = case.test[0]
    n = graph.num_nodes
    odd = Data(
        x=torch.cat([graph.x, torch.full((2, 10), 0.1)]),
        edge_index=torch.cat([graph.edge_index, graph.edge_index[:, :4], torch.tensor([[n, 0], [n, 0]])], 1),
    )
    shown = case.fitted.explain(odd)
    assert torch.equal(shown.edge_scores[graph.num_edges : graph.num_edges + 4], shown.edge_scores[:4])
    assert shown.edge_scores[-2:].tolist() == [0.0, 0.0]
    assert shown.node_scores[n:].tolist() == [0.0, 0.0]
    assert len(shown.units) == graph.num_edges // 2
    found = shown.counterfactual
    assert not found.removed[-2:].any()
    torch.testing.assert_close(found.probabilities, predict(case.model, found.graph), atol=1e-5, rtol=0)


def test_a_directed_graph(case) -> None:
    graph = case.test[0]
    one_way = Data(x=graph.x, edge_index=graph.edge_index[:, graph_direction(graph)])
    shown = case.fitted.explain(one_way, search="greedy")
    assert len(shown.units) == one_way.num_edges
    torch.testing.assert_close(
        shown.counterfactual.probabilities, predict(case.model, shown.counterfactual.graph), atol=1e-5, rtol=0
    )


def test_a_weighted_graph_is_explained_by_its_weights(case) -> None:
    graph = case.test[0]
    weighted = Data(x=graph.x, edge_index=graph.edge_index, edge_weight=torch.linspace(0.2, 2, graph.num_edges))
    shown = case.fitted.explain(weighted)
    assert not torch.allclose(shown.probabilities, case.fitted.explain(graph).probabilities, atol=1e-3)
    found = shown.counterfactual
    assert torch.equal(found.graph.edge_weight, weighted.edge_weight[~found.removed])
    with torch.no_grad():
        after = case.model(found.graph.x, found.graph.edge_index, None, found.graph.edge_weight).softmax(1)[0]
    torch.testing.assert_close(found.probabilities, after, atol=1e-5, rtol=0)


def test_a_graph_with_weights_beside_one_without(case) -> None:
    """Either both are explained as if alone, or one of them is an error: never without its weights."""
    graph = case.test[0]
    weighted = Data(x=graph.x, edge_index=graph.edge_index, edge_weight=torch.linspace(0.2, 2, graph.num_edges))
    alone = case.fitted.explain(weighted)
    beside, plain = case.fitted.explain([weighted, graph], on_error="keep")
    if isinstance(beside, Explanation):
        torch.testing.assert_close(beside.edge_scores, alone.edge_scores, atol=1e-5, rtol=0)
        torch.testing.assert_close(beside.probabilities, alone.probabilities, atol=1e-5, rtol=0)
    assert isinstance(beside, Explanation) or isinstance(plain, Explanation)


# ---- errors


def broken_graphs(graph: Data) -> dict[str, tuple[Data, str]]:
    wide, nan, outside = (copy.copy(graph) for _ in range(3))
    wide.x = torch.ones(graph.num_nodes, 7)
    nan.x = graph.x.clone()
    nan.x[2, 3] = float("nan")
    outside.edge_index = graph.edge_index + 5
    return {
        "width": (wide, "node features of width 7, the explainer was fitted on 10"),
        "nan": (nan, "1 NaN or infinite values in x"),
        "outside": (outside, "has an edge to node"),
    }


@pytest.mark.parametrize("kind", ["width", "nan", "outside"])
def test_a_broken_graph_is_a_clear_error(case, kind) -> None:
    graph, message = broken_graphs(case.test[0])[kind]
    with pytest.raises(GraphError, match=message):
        case.fitted.explain(graph)


@pytest.mark.parametrize("kind", ["width", "nan", "outside"])
def test_the_others_are_explained_all_the_same(case, kind) -> None:
    graph, message = broken_graphs(case.test[0])[kind]
    graphs = [case.test[0], graph, case.test[1], graph]
    with pytest.raises(ExplainError, match=message) as caught:
        case.fitted.explain(graphs)
    error = caught.value
    assert "instance 1 could not be explained" in str(error)
    assert "1 more failed too" in str(error)
    assert error.index == 1
    kept = case.fitted.explain(graphs, on_error="keep")
    for found in (error.results, kept):
        assert [type(result) for result in found] == [Explanation, Failure, Explanation, Failure]
        assert [found[place].index for place in (1, 3)] == [1, 3]
        assert isinstance(found[1].error, GraphError)
        expected = case.fitted.explain(case.test[1]).edge_scores
        torch.testing.assert_close(found[2].edge_scores, expected, atol=1e-5, rtol=0)
    streamed = list(case.fitted.explain_iter(graphs))
    assert [type(result) for result in streamed] == [type(result) for result in kept]


def test_a_graph_of_another_type_does_not_lose_the_others(case) -> None:
    double = copy.copy(case.test[0])
    double.x = double.x.double()
    with pytest.raises(RCExplainerError, match=r"float64|double|dtype"):
        case.fitted.explain(double)
    results = case.fitted.explain([case.test[0], double], on_error="keep")
    assert isinstance(results[0], Explanation)


def test_a_graph_for_which_the_model_returns_nan_does_not_lose_the_others() -> None:
    """Finite features can still be too much for a model."""
    model = centred_model()
    graphs = make_graphs(30)
    fitted = RCExplainer(epochs=1).fit(model, graphs, progress=False)
    huge = copy.copy(graphs[0])
    huge.x = torch.full_like(huge.x, 3e38) * torch.tensor([1, -1, 1, -1, 1])
    assert not predict(model.eval(), huge).isfinite().all()
    with pytest.raises(RCExplainerError, match="NaN"):
        fitted.explain(huge)
    results = fitted.explain([graphs[1], huge], on_error="keep")
    assert [type(result) for result in results] == [Explanation, Failure]


def test_an_unknown_way_with_errors_is_an_error(case) -> None:
    with pytest.raises(RCExplainerError, match="on_error"):
        case.fitted.explain(case.test[:1], on_error="ignore")


def test_all_graphs_broken_and_none_given(case) -> None:
    graph, _ = broken_graphs(case.test[0])["nan"]
    results = case.fitted.explain([graph, graph], on_error="keep")
    assert [type(result) for result in results] == [Failure, Failure]
    with pytest.raises(GraphError, match="at least one graph is needed"):
        case.fitted.explain([])
    with pytest.raises(ExplainError, match="expected PyG Data objects, got int"):
        case.fitted.explain([3])


def test_streaming_reads_no_further_than_it_must(case, monkeypatch) -> None:
    monkeypatch.setattr(streaming, "CHUNK_GRAPHS", 2)
    read = 0

    def graphs():
        nonlocal read
        for graph in (case.test * 2)[:8]:
            read += 1
            yield graph

    stream = case.fitted.explain_iter(graphs(), search="none")
    next(stream)
    assert read <= 3
    assert len(list(stream)) == 7


# ---- settings


def test_settings_are_checked_at_once() -> None:
    assert RCExplainer(epochs=7).config == RCConfig(epochs=7)
    assert RCExplainer().config == make_config("default", {})
    with pytest.raises(RCExplainerError, match="unknown setting 'epoch'; did you mean epochs"):
        RCExplainer(epoch=3)
    with pytest.raises(RCExplainerError, match="unknown setting 'zzz'; known: "):
        RCExplainer(zzz=3)
    with pytest.raises(RCExplainerError, match="unknown preset 'best'; known: default"):
        RCExplainer(preset="best")
    with pytest.raises(RCExplainerError, match="task 'edge'"):
        RCExplainer(task="edge")


@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 0},
        {"epochs": 2.5},
        {"batch_size": -1},
        {"batch_size": "64"},
        {"lr": 0.0},
        {"lr": float("nan")},
        {"epsilon": -1.0},
        {"noise": 1.5},
        {"temperature": 0.5},
        {"temperature": (0.0, 1.0)},
        {"patience": 0},
        {"leave": "everything"},
        {"inputs": "first"},
    ],
)
def test_impossible_values(settings) -> None:
    (name,) = settings
    with pytest.raises(RCExplainerError, match=name):
        RCExplainer(**settings)


@pytest.mark.parametrize("settings", [{"lr": "fast"}, {"lr": float("inf")}, {"weight_same": "deep"}, {"epochs": True}])
def test_values_of_the_wrong_kind(settings) -> None:
    (name,) = settings
    with pytest.raises(RCExplainerError, match=name):
        RCExplainer(**settings)


@pytest.mark.parametrize(
    "settings", [{"inputs": "last"}, {"leave": "nearest"}, {"teacher": "margin"}, {"patience": None}]
)
def test_other_settings_work(case, settings) -> None:
    fitted = RCExplainer(epochs=1, **settings).fit(case.model, case.data.subset("train")[:30], progress=False)
    assert fitted.explain(case.test[0]).edge_scores.isfinite().all()


# ---- fitting


def centred_model(model_class: type[nn.Module] = zoo.GCNLinear, classes: int = 2) -> nn.Module:
    """A random model that predicts all its classes: the mean logits of `make_graphs` are taken off."""
    torch.manual_seed(1)
    model = model_class(classes) if model_class is zoo.GCNLinear else model_class()
    with torch.no_grad():
        last = list(model.children())[-1]
        model.eval()
        logits = split_model(model, make_graphs(30)).run(make_graphs(30)).output
        last.bias -= logits.mean(0)
    return model.train()


def predictions(model: nn.Module, graphs: list[Data]) -> list[int]:
    was = model.training
    model.eval()
    found = [int(predict(model, graph).argmax()) for graph in graphs]
    model.train(was)
    return found


def constant(model: nn.Module, winner: int = 1) -> nn.Module:
    with torch.no_grad():
        list(model.children())[-1].bias[winner] += 1e3
    return model


@pytest.mark.parametrize(
    ("model_class", "preset"),
    [
        (zoo.GCNLinear, "default"),
        (zoo.GCNLinear, "released"),
        (zoo.GINDeepHead, "default"),
        (zoo.GINDeepHead, "released"),
    ],
)
def test_a_model_that_predicts_one_class_only_is_a_clear_error(model_class, preset) -> None:
    model = constant(centred_model(model_class))
    graphs = make_graphs(20, num_classes=2)
    assert set(predictions(model, graphs)) == {1}
    with pytest.raises(RCExplainerError, match=r"predicts class 1 for all \d+ graphs"):
        RCExplainer(preset=preset, epochs=1).fit(model, graphs, progress=False)


def test_a_class_with_one_training_graph(case) -> None:
    train, val = case.data.subset("train"), case.data.subset("val")
    labels = predictions(case.model, train)
    zeros, ones = ([graph for graph, label in zip(train, labels, strict=True) if label == c] for c in (0, 1))
    fitted = RCExplainer(epochs=1).fit(case.model, [*zeros[:15], ones[0]], val=val, progress=False)
    for shown in fitted.explain([*zeros[:3], *ones[:3]]):
        assert shown.edge_scores.isfinite().all()


def test_the_only_graph_of_a_class_is_not_held_out(case) -> None:
    train = case.data.subset("train")
    labels = predictions(case.model, train)
    zeros, ones = ([graph for graph, label in zip(train, labels, strict=True) if label == c] for c in (0, 1))
    for seed in range(8):
        fitted = RCExplainer(epochs=1).fit(case.model, [*zeros[:4], ones[0]], seed=seed, progress=False)
        assert set(fitted.regions.labels.tolist()) == {0, 1}


def test_a_class_never_seen_in_training_is_not_explained() -> None:
    """Its weights in the mask network are random numbers."""
    model = centred_model(classes=3)
    graphs = make_graphs(60, seed=5)
    labels = predictions(model, graphs)
    assert set(labels) == {0, 1, 2}
    known = [graph for graph, label in zip(graphs, labels, strict=True) if label != 2]
    fitted = RCExplainer(epochs=1).fit(model, known, progress=False)
    with pytest.raises(RCExplainerError, match="class 2"):
        fitted.explain(graphs[labels.index(2)])


def test_training_graphs_without_edges_are_no_obstacle(case) -> None:
    train = case.data.subset("train")[:20]
    empty = bare(3, [])
    empty.y = torch.tensor([0])
    empty.edge_motif, empty.edge_motif_id = torch.zeros(0, dtype=torch.bool), torch.zeros(0, dtype=torch.long)
    fitted = RCExplainer(epochs=1, batch_size=1).fit(case.model, [*train, empty], val=train[:3], progress=False)
    assert fitted.explain(train[0]).edge_scores.isfinite().all()


def test_validation_graphs_without_edges_are_no_obstacle(case) -> None:
    train = case.data.subset("train")[:20]
    single = bare(2, [(0, 1), (1, 0)])
    for val in (bare(3, []), single):
        fitted = RCExplainer(epochs=1).fit(case.model, train, val=[val], progress=False)
        scores = fitted.explain(train[0]).edge_scores
        assert scores.isfinite().all()
        assert len(scores.unique()) > 5


def test_a_feature_that_no_training_graph_has_does_not_drown_the_rest() -> None:
    """Scores that tie at 1 are no ranking."""
    model, graphs = centred_model(), make_graphs(30)
    for graph in graphs:
        graph.x[:, 2] = 0.0
    fitted = RCExplainer(epochs=2).fit(model, graphs, progress=False)
    new = make_graphs(1, seed=7)[0]
    new.x[:, 2] = 1.0
    scores = fitted.explain(new, search="none").unit_scores
    assert ((scores > 0.001) & (scores < 0.999)).all()


def test_few_graphs(case) -> None:
    train = case.data.subset("train")
    labels = predictions(case.model, train)
    two = [train[labels.index(0)], train[labels.index(1)]]
    fitted = RCExplainer(epochs=1).fit(case.model, two, val=two, progress=False)
    assert fitted.explain(case.test[0]).edge_scores.isfinite().all()


def test_class_names_must_be_as_many_as_classes(case) -> None:
    with pytest.raises(RCExplainerError, match="class_names"):
        RCExplainer(epochs=1).fit(case.model, case.data.subset("train")[:20], class_names=["one"], progress=False)


def test_fit_errors_are_clear(case) -> None:
    train = case.data.subset("train")[:10]
    with pytest.raises(GraphError, match="empty"):
        RCExplainer().fit(case.model, [], progress=False)
    nan = [*train, broken_graphs(train[0])["nan"][0]]
    with pytest.raises(GraphError, match="graph 10 has 1 NaN"):
        RCExplainer().fit(case.model, nan, progress=False)
    with pytest.raises(SplitError):
        RCExplainer().fit(case.model, train, head="nowhere", progress=False)
    broken = copy.deepcopy(case.model)
    with torch.no_grad():
        next(broken.parameters()).fill_(float("nan"))
    with pytest.raises(RCExplainerError, match="NaN"):
        RCExplainer().fit(broken, train, progress=False)


# ---- the model


def test_the_model_is_left_as_it_was_found(case) -> None:
    torch.manual_seed(0)
    model = GNN(gnn_config("gin", 10, 2)).train()  # dropout, batch norm, in training mode, with gradients
    model.convs[0].register_forward_hook(lambda *_: None)
    with torch.no_grad():
        logits = model.eval()(case.test[0].x, case.test[0].edge_index)
        last = list(model.head.children())[-1]
        last.bias -= logits[0]
    model.train()
    train = case.data.subset("train")[:30]
    before = state_of(model)
    fitted = RCExplainer(epochs=1).fit(model, train, progress=False)
    assert state_of(model) == before
    fitted.explain(train[:3], search="greedy")
    assert state_of(model) == before
    stream = fitted.explain_iter(train[:3])
    next(stream)
    assert state_of(model) == before


def test_also_when_it_raises_in_the_middle(case, monkeypatch) -> None:
    model = copy.deepcopy(case.model).train()
    before = state_of(model)
    calls = 0

    def fails(*args: object, **kwargs: object) -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("in the middle")

    monkeypatch.setattr("rcexplainer.core.objectives.order_loss", fails)
    with pytest.raises(RuntimeError, match="in the middle"):
        RCExplainer(epochs=1).fit(model, case.data.subset("train")[:30], progress=False)
    assert calls
    assert state_of(model) == before


def test_graphs_are_left_as_they_were(case) -> None:
    graphs = [copy.deepcopy(graph) for graph in case.test[:3]]
    case.fitted.explain(graphs, search="greedy")
    for graph, original in zip(graphs, case.test, strict=False):
        assert graph.keys() == original.keys()
        assert all(torch.equal(graph[key], original[key]) for key in graph.keys())  # noqa: SIM118


# ---- what a fresh pair of eyes found


def test_what_is_no_graph_keeps_its_slot(case) -> None:
    shown = case.fitted.explain([case.test[0], None, case.test[1]], on_error="keep")
    assert [type(one) for one in shown] == [Explanation, Failure, Explanation]
    assert shown[1].index == 1
    assert "got NoneType" in str(shown[1].error)


def test_one_bad_graph_costs_no_other_its_batch(case, monkeypatch) -> None:
    calls = 0
    plain = results.Instances

    def counted(*args: object) -> object:
        nonlocal calls
        calls += 1
        return plain(*args)

    monkeypatch.setattr(results, "Instances", counted)
    broken = case.test[1].clone()
    broken.x[0, 0] = torch.nan
    graphs = [*case.test[:1], broken, *case.test[2:]]
    shown = case.fitted.explain(graphs, search="none", on_error="keep")
    assert [isinstance(one, Failure) for one in shown] == [one is broken for one in graphs]
    assert calls == 1


def test_an_only_edge_can_be_the_counterfactual() -> None:
    class Count(nn.Module):
        """Class 1 if there is an edge."""

        def __init__(self) -> None:
            super().__init__()
            self.conv, self.lin = pyg_nn.SimpleConv(), nn.Linear(1, 2)
            with torch.no_grad():
                self.lin.weight.copy_(torch.tensor([[0.0], [4.0]]))
                self.lin.bias.copy_(torch.tensor([0.0, -2.0]))

        def forward(self, x, edge_index, batch):
            return self.lin(pyg_nn.global_max_pool(self.conv(x, edge_index), batch))

    graphs = [bare(2, [(0, 1), (1, 0)], 1), bare(3, [(0, 1), (1, 0), (1, 2), (2, 1)], 1), bare(2, [(0, 0)], 1)]
    for graph in graphs:
        graph.x = torch.ones_like(graph.x)
    model = Count().eval()
    fitted = rc.baselines.Occlusion().fit(model, graphs)
    found = fitted.explain(graphs[0]).counterfactual
    assert (int(found.removed.sum()), found.flipped, found.minimal) == (2, True, True)


def test_double_precision(case) -> None:
    model = copy.deepcopy(case.model).double()
    graphs = []
    for graph in case.data.subset("train"):
        other = graph.clone()
        other.x = other.x.double()
        graphs.append(other)
    fitted = RCExplainer(epochs=2).fit(model, graphs, progress=False)
    assert fitted.explain(graphs[0]).edge_scores.isfinite().all()


def test_validation_and_background_graphs_are_checked_too(case) -> None:
    train = case.data.subset("train")
    narrow, broken = bare(3, [(0, 1), (1, 0)], 7), bare(3, [(0, 1), (1, 0)])
    broken.x[0] = torch.nan
    for name in ("val", "background"):
        with pytest.raises(GraphError, match=f"{name} graph 0 has node features of width 7"):
            RCExplainer(epochs=1).fit(case.model, train, **{name: [narrow]}, progress=False)
        with pytest.raises(GraphError, match=f"{name} graph 0 has 10 NaN"):
            RCExplainer(epochs=1).fit(case.model, train, **{name: [broken]}, progress=False)


def test_a_generator_of_graphs_is_read_once(case) -> None:
    fitted = RCExplainer(epochs=1).fit(case.model, (graph for graph in case.data.subset("train")), progress=False)
    assert fitted.explain(case.test[0], search="none").edge_scores.isfinite().all()


def test_class_names_are_counted_before_the_work(case, monkeypatch) -> None:
    monkeypatch.setattr("rcexplainer.explainer.train_ensemble", None)
    with pytest.raises(RCExplainerError, match="3 class_names were given for a model with 2 classes"):
        RCExplainer().fit(case.model, case.data.subset("train"), class_names=("a", "b", "c"), progress=False)


def test_fitting_works_where_gradients_are_switched_off(case) -> None:
    with torch.no_grad():
        fitted = RCExplainer(epochs=2).fit(case.model, case.data.subset("train"), progress=False)
    assert len(fitted.history) == 2


def test_directed_and_weighted_graphs_are_fitted_and_explained() -> None:
    graphs = make_graphs(40, directed=True, edge_weight=True, num_classes=2)
    for graph in graphs:
        graph.y = (graph.x[:, 0].mean() > 0).long().reshape(1)
    config = gnn_config("paper", graphs[0].num_features, 2)
    parts = SimpleNamespace(train=torch.arange(30), val=torch.arange(30, 35), test=torch.arange(35, 40))
    model = train_gnn(config, graphs, parts, settings=TrainConfig(epochs=60, lr=0.01), progress=False).model
    fitted = RCExplainer(epochs=3).fit(model, graphs, progress=False)
    for graph, shown in zip(graphs, fitted.explain(graphs, search="greedy"), strict=True):
        assert shown.edge_scores.shape == (graph.num_edges,)
        after = shown.counterfactual
        assert len(after.graph.edge_weight) == after.graph.num_edges


def test_a_search_that_finds_nothing_better_takes_nothing_away() -> None:
    from rcexplainer.core.counterfactual import FlipQuery, greedy_search, prefix_search

    def worse(instances: torch.Tensor, removed: torch.Tensor) -> torch.Tensor:
        gone = removed.reshape(len(instances), 4).sum(1) / 10
        return torch.stack([0.6 + gone, 0.4 - gone], 1).log()

    question = FlipQuery(torch.tensor([0, 4]), worse, torch.tensor([0]))
    for search in (prefix_search, greedy_search):
        found = search(question, torch.linspace(1, 0, 4), torch.ones(4, dtype=torch.bool))
        assert not found.removed.any()
        assert not found.flipped.any()
