"""No claim without the model's last word on exactly that graph, alone: models that mix what is run side by side."""

import logging

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, GraphNorm, InstanceNorm, PairNorm, SAGEConv, global_add_pool

import rcexplainer as rc
from rcexplainer.core.counterfactual import Removal, Verified
from rcexplainer.core.verification import Answers, Interference, check_alone
from rcexplainer.errors import SplitError
from rcexplainer.gnn import delete_edges, split_model
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs


class NodeNet(nn.Module):
    """A layer, what may look at all nodes at once, a layer, a head."""

    def __init__(self, between: nn.Module) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.between, self.second = SAGEConv(4, 16), between, SAGEConv(16, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.second(self.between(self.first(x, edge_index)).relu(), edge_index).relu())


class LinkNet(nn.Module):
    def __init__(self, between: nn.Module) -> None:
        super().__init__()
        self.nodes = NodeNet(between)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        inside = self.nodes.second(self.nodes.between(self.nodes.first(x, edge_index)).relu(), edge_index)
        one, other = inside[edge_label_index]
        return self.nodes.head(one * other)


class FromSize(nn.Module):
    """Takes the mean away once more nodes are there than in any trial: nobody notices before."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.nodes = nodes

    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean(0) if len(x) > self.nodes else x


def whole_graph(seed: int = 0) -> Data:
    (graph,) = make_graphs(1, num_nodes=24, seed=seed, num_classes=2)
    graph.x = graph.x[:, :4] if graph.x.size(1) >= 4 else graph.x
    graph.y = None
    return graph


NORMS = [GraphNorm(16), PairNorm(), InstanceNorm(16)]


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
def test_node_models_that_normalise_over_all_nodes_are_refused(norm) -> None:
    graph = whole_graph()
    with pytest.raises(SplitError, match=r"NodeNet (mixes the graphs of a batch|reads the whole graph): "):
        rc.RCExplainer(task="node", epochs=1).fit(NodeNet(norm), graph, progress=False)
    with pytest.raises(SplitError, match=r"NodeNet (mixes the graphs of a batch|reads the whole graph): "):
        rc.baselines.Occlusion(task="node").fit(NodeNet(norm), graph)


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
def test_link_models_that_normalise_over_all_nodes_are_refused(norm) -> None:
    graph = whole_graph()
    with pytest.raises(SplitError, match=r"LinkNet (mixes the graphs of a batch|reads the whole graph): "):
        rc.baselines.Occlusion(task="link").fit(LinkNet(norm), graph, index=[(0, 5), (3, 9)])


def test_plain_node_models_are_accepted() -> None:
    assert rc.baselines.Occlusion(task="node").fit(NodeNet(nn.Identity()), whole_graph()).hops == 2


def true_claims(found, answer) -> int:
    """How many flips are claimed; every one is asked again, alone, and so is every unit put back."""
    claimed = 0
    for one in found:
        case = one.counterfactual
        p = answer(one.graph, one.index)
        assert int(p.argmax()) == one.prediction
        after = answer(case.graph, one.index)
        torch.testing.assert_close(after, case.probabilities, atol=1e-4, rtol=0)
        assert case.flipped == (int(after.argmax()) != one.prediction)
        if case.minimal:
            for unit in one.removed_units.tolist():
                back = delete_edges(one.graph, case.removed & (one.units.of_edge != unit))
                assert int(answer(back, one.index).argmax()) == one.prediction
        claimed += case.flipped
    return claimed


@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_a_node_model_that_mixes_only_large_batches_is_run_one_by_one(search, caplog) -> None:
    graph = whole_graph()
    model = NodeNet(nn.Identity()).eval()
    with torch.no_grad():
        zoo.balance(model.head, model(graph.x, graph.edge_index))
    fitted = rc.baselines.Occlusion(task="node").fit(model, graph)
    model.between = FromSize(24)  # the whole graph and each computation graph have no more
    nodes = {"prefix": list(range(8)), "greedy": [0, 3, 5]}

    @torch.no_grad()
    def answer(graph: Data, node: int) -> Tensor:
        return model(graph.x, graph.edge_index)[node].softmax(0)

    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graph, index=nodes[search], search=search)
    assert "NodeNet mixes the graphs of a batch" in caplog.text
    assert "this call is run one by one" in caplog.text
    assert true_claims(found, answer) >= {"prefix": 3, "greedy": 1}[search]


class GraphNet(nn.Module):
    """`keeper` sees the embeddings of all graphs of a batch."""

    def __init__(self, keeper: nn.Module) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.conv, self.keeper, self.head = GraphConv(4, 8), keeper, nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(self.keeper(global_add_pool(self.conv(x, edge_index).relu(), batch)))


def few_graphs(count: int) -> list[Data]:
    graphs = make_graphs(count, num_nodes=7, num_classes=2)
    for graph in graphs:
        graph.x, graph.y = graph.x[:, :4], None
    return graphs


def fitted_then_mixing(keeper: nn.Module) -> tuple[GraphNet, list[Data], rc.baselines.Method]:
    graphs = few_graphs(40)
    model = GraphNet(nn.Identity()).eval()
    with torch.no_grad():
        zoo.balance(model.head, split_model(model, graphs).run(graphs).output)
    fitted = rc.baselines.Occlusion().fit(model, graphs)
    model.keeper = keeper
    return model, graphs, fitted


def asked_alone(model: GraphNet):
    @torch.no_grad()
    def answer(graph: Data, index: None) -> Tensor:
        return model(graph.x, graph.edge_index, torch.zeros(graph.num_nodes, dtype=torch.long))[0].softmax(0)

    return answer


@pytest.mark.parametrize("search", ["none", "prefix", "greedy"])
def test_a_graph_model_that_mixes_only_large_batches_is_run_one_by_one(search, caplog) -> None:
    model, graphs, fitted = fitted_then_mixing(FromSize(1))
    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graphs[:12], search=search)
    assert "GraphNet mixes the graphs of a batch" in caplog.text
    for one in found:
        torch.testing.assert_close(one.probabilities, asked_alone(model)(one.graph, None), atol=1e-5, rtol=0)
    if search != "none":
        assert true_claims(found, asked_alone(model)) >= 3


def test_a_single_graph_is_checked_too(caplog) -> None:
    """Its copies are run side by side: what they say of each other is not taken for what they are."""
    model, graphs, fitted = fitted_then_mixing(FromSize(1))
    with caplog.at_level(logging.WARNING):
        found = [fitted.explain(graph) for graph in graphs[:4]]
    true_claims(found, asked_alone(model))


def test_a_stream_goes_on_one_by_one(caplog, monkeypatch) -> None:
    monkeypatch.setattr("rcexplainer.method.inputs.CHUNK_GRAPHS", 5)
    model, graphs, fitted = fitted_then_mixing(FromSize(1))
    with caplog.at_level(logging.WARNING):
        found = list(fitted.explain_iter(iter(graphs[:12])))
    assert caplog.text.count("run one by one") == 1
    assert "instances from 0 on are run one by one" in caplog.text
    assert true_claims(found, asked_alone(model)) >= 3


class Moody(nn.Module):
    """One layer on a ring; once `moody`, it says the opposite in the whole graph as soon as an edge is gone."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.moody = GraphConv(2, 8), nn.Linear(8, 2), False

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits = self.head(self.conv(x, edge_index).relu())
        return -logits if self.moody and len(x) == 40 and edge_index.size(1) < 80 else logits


def test_where_search_and_final_run_disagree_nothing_is_claimed(caplog) -> None:
    """What a search sees in computation graphs is not what the model says of the whole graph without the edges."""
    first = torch.arange(40)
    ring = torch.stack([first, (first + 1) % 40])
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    graph = Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], 1))
    model = Moody().eval()
    with torch.no_grad():
        zoo.balance(model.head, model(graph.x, graph.edge_index))
    fitted = rc.baselines.Occlusion(task="node").fit(model, graph)
    honest = sum(one.counterfactual.flipped for one in fitted.explain(graph, index=list(range(40))))
    model.moody = True
    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graph, index=list(range(40)))
    cases = [one.counterfactual for one in found]
    assert sum(case.disputed for case in cases) >= honest > 3
    assert not any(case.flipped or case.minimal for case in cases if case.disputed)
    assert "no flip is claimed there" in caplog.text
    for one in found:
        left = one.counterfactual.graph
        with torch.no_grad():
            said = model(left.x, left.edge_index)[one.index].softmax(0)
        torch.testing.assert_close(one.counterfactual.probabilities, said)


class Hasty(nn.Module):
    """One layer; once it knows its answers for the whole graph, it says the opposite when any edge of that is gone."""

    def __init__(self, graph: Data) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.edges = GraphConv(2, 8), nn.Linear(8, 2), graph.num_edges
        self.whole: Tensor | None = None

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.whole is not None and len(x) == len(self.whole) and edge_index.size(1) < self.edges:
            return -self.whole
        return self.head(self.conv(x, edge_index).relu())


def test_minimal_is_what_the_whole_graph_says() -> None:
    """Where a search in computation graphs needs two edges, one of them would do in the whole graph."""
    first = torch.arange(40)
    near = torch.cat([torch.stack([first, (first + far) % 40]) for far in (1, 2, 3)], 1)
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    graph = Data(x=x, edge_index=torch.cat([near, near.flip(0)], 1))
    model = Hasty(graph).eval()
    with torch.no_grad():
        zoo.balance(model.head, model(graph.x, graph.edge_index))
    fitted = rc.baselines.Occlusion(task="node").fit(model, graph)

    @torch.no_grad()
    def answer(graph: Data, node: int) -> Tensor:
        return model(graph.x, graph.edge_index)[node].softmax(0)

    with torch.no_grad():
        model.whole = model(graph.x, graph.edge_index)
    found = [one for one in fitted.explain(graph, index=list(range(40))) if not one.counterfactual.disputed]
    assert true_claims(found, answer) >= 3
    assert any(one.counterfactual.flipped and len(one.removed_units) > 1 for one in found)


def test_a_model_that_raises_on_a_graph_alone_is_refused() -> None:
    class NeedsTwo(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if len(x) < 2:
                raise ValueError("more than one graph is needed")
            return x

    with pytest.raises(SplitError, match=r"GraphNet raised on a graph alone: ValueError: more than one graph"):
        split_model(GraphNet(NeedsTwo()), few_graphs(6))


def test_a_model_that_answers_differently_twice_is_refused() -> None:
    class Remembers(nn.Module):
        """The mean of what it was asked so far is part of the answer, if few graphs are asked about."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(8))

        def forward(self, x: Tensor) -> Tensor:
            if len(x) > 4:
                return x
            self.seen += x.mean(0)
            return x + self.seen

    with pytest.raises(SplitError, match=r"GraphNet gives two different answers for the same graph"):
        split_model(GraphNet(Remembers()), few_graphs(20))


def test_the_sample_is_compared_as_it_is_and_without_the_units_found() -> None:
    ptr, before = torch.tensor([0, 2, 4]), torch.tensor([[0.9, 0.1], [0.8, 0.2]]).log()
    after = Verified(
        torch.tensor([[0.3, 0.7], [0.6, 0.4]]).log(), torch.tensor([True, False]), torch.tensor([True, False])
    )
    found = Removal(torch.tensor([True, False, False, True]), torch.tensor([True, False]))
    answers = Answers(ptr, before, found, after)
    assert not answers.disputed.any()

    def alone(shift: float):
        def evaluate(ids: Tensor, removed: Tensor) -> Tensor:
            assert ids.tolist() == [0, 1, 0, 1]
            assert removed.tolist() == [False] * 4 + [True, False, False, True]
            return torch.cat([before, after.log_probs]) + torch.tensor([0, 0, 0, shift])[:, None]

        return evaluate

    check_alone(answers, alone(0.9e-4), 16, seed=0)
    with pytest.raises(Interference, match=r"1 of 4 answers differ in a batch, log p by up to 0\.0002"):
        check_alone(answers, alone(2e-4), 16, seed=0)
