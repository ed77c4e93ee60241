"""Results as a read-only sequence of columns: an explanation is made when it is looked at, from one forward pass."""

import copy
import pickle
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_add_pool

import rcexplainer as rc
from rcexplainer.baselines import Random
from rcexplainer.errors import ArgumentError, ExplainError, GraphError, RCExplainerError
from rcexplainer.gnn import scope
from rcexplainer.method import explanations as columns
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import random_network
from tests.gnn.graphs import make_graphs


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GraphConv(5, 16), GraphConv(16, 16)
        self.lin = nn.Linear(16, 3)
        self.calls = 0

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        hidden = self.second(self.first(x, edge_index).relu(), edge_index).relu()
        return self.lin(global_add_pool(hidden, batch) / 10)


@pytest.fixture(scope="module")
def graphs() -> list[Data]:
    found = make_graphs(24, num_nodes=8)
    for graph in found:
        graph.x = graph.x[:, :5] if graph.x.size(1) >= 5 else torch.cat([graph.x, graph.x], 1)[:, :5]
    return found


@pytest.fixture(scope="module")
def fitted(graphs):
    return rc.RCExplainer(epochs=2, on_collapse="report").fit(Net(), graphs, progress=False)


def same(one, other) -> None:
    torch.testing.assert_close(one.edge_scores, other.edge_scores, atol=1e-5, rtol=0)
    torch.testing.assert_close(one.probabilities, other.probabilities, atol=1e-5, rtol=0)
    assert one.prediction == other.prediction
    if one.counterfactual is not None:
        assert torch.equal(one.counterfactual.removed, other.counterfactual.removed)
        assert one.counterfactual.flipped == other.counterfactual.flipped
        assert one.counterfactual.minimal == other.counterfactual.minimal


def test_the_sequence_is_read_only_and_keeps_what_was_looked_at(fitted, graphs) -> None:
    found = fitted.explain(graphs)
    assert isinstance(found, Sequence)
    assert isinstance(found, rc.Explanations)
    assert len(found) == len(graphs)
    assert found[-1].graph is graphs[-1]
    assert found[2] is found[2]
    assert [one.graph for one in found[4:9:2]] == graphs[4:9:2]
    assert isinstance(found[1:3], rc.Explanations)
    first = found[1]
    assert found[1:3][0] is first  # made already
    assert next(reversed(found)) is found[-1]
    assert not hasattr(found, "append")
    with pytest.raises(TypeError):
        found[0] = None
    with pytest.raises(IndexError):
        found[len(graphs)]
    assert "24 in all" in repr(found)


def test_nothing_is_made_before_it_is_looked_at(fitted, graphs, monkeypatch) -> None:
    made: list[Data] = []

    class Counted(rc.Explanation):
        def __init__(self, graph, *values) -> None:
            made.append(graph)
            super().__init__(graph, *values)

    monkeypatch.setattr(columns, "Explanation", Counted)
    found = fitted.explain(graphs, search="none")
    assert not made
    assert found[3].graph is made[0]
    assert len(made) == 1


def test_an_explanation_does_not_keep_the_tensors_of_its_batch(fitted, graphs) -> None:
    one = fitted.explain(graphs)[0]
    for tensor in (one.scores, one.probabilities, one.counterfactual.probabilities):
        assert tensor.untyped_storage().nbytes() == tensor.nbytes


def test_one_run_of_the_model_gives_prediction_and_scores(graphs) -> None:
    model = Net()
    fitted = rc.RCExplainer(epochs=1, on_collapse="report").fit(model, graphs, progress=False)
    calls: list[int] = []
    handle = model.register_forward_pre_hook(lambda *_: calls.append(1))
    fitted.explain(graphs[0], search="none")
    handle.remove()
    assert len(calls) == 1


def test_the_scope_is_opened_once_a_call(fitted, graphs, monkeypatch) -> None:
    made: list[nn.Module] = []
    plain = scope._Snapshot.__init__

    def counted(self, module: nn.Module) -> None:
        made.append(module)
        plain(self, module)

    monkeypatch.setattr(scope._Snapshot, "__init__", counted)
    fitted.explain(graphs, search="greedy")
    assert len(made) == len(list(fitted.split.model.modules()))


@pytest.mark.parametrize("search", ["none", "prefix", "greedy"])
def test_a_batch_gives_what_its_graphs_give(fitted, graphs, search) -> None:
    batch = Batch.from_data_list(graphs)
    before = copy.deepcopy(batch)
    for one, other in zip(fitted.explain(batch, search=search), fitted.explain(graphs, search=search), strict=True):
        same(one, other)
        assert torch.equal(one.graph.edge_index, other.graph.edge_index)
        assert torch.equal(one.graph.x, other.graph.x)
        assert one.graph.x.untyped_storage().nbytes() == one.graph.x.nbytes  # not a view of the batch
    assert torch.equal(before.x, batch.x)
    assert torch.equal(before.edge_index, batch.edge_index)


def test_a_batch_with_a_bad_graph_keeps_the_others(fitted, graphs) -> None:
    wrong = copy.copy(graphs[1])
    wrong.x = wrong.x.clone()
    wrong.x[0, 0] = torch.nan
    batch = Batch.from_data_list([graphs[0], wrong, graphs[2]])
    first, bad, last = fitted.explain(batch, on_error="keep")
    same(first, fitted.explain(graphs[0]))
    same(last, fitted.explain(graphs[2]))
    assert isinstance(bad, rc.Failure)
    assert isinstance(bad.error, GraphError)
    with pytest.raises(ExplainError, match="graph 1 has 1 NaN") as caught:
        fitted.explain(batch)
    assert isinstance(caught.value.results, rc.Explanations)


def test_graphs_of_several_kinds_and_sizes_are_told_apart(fitted, graphs) -> None:
    some = [graphs[0], copy.copy(graphs[1]), graphs[2]]
    some[1].name = "has a name"
    some[1].note = torch.ones(3)
    for one, other in zip(fitted.explain(some), fitted.explain(graphs[:3]), strict=True):
        same(one, other)


def test_a_budget_bounds_every_search(fitted, graphs) -> None:
    short = fitted.explain(graphs, search="greedy", budget=1)
    assert any(one.counterfactual.exhausted for one in short)
    for one in short:
        assert not (one.counterfactual.exhausted and one.counterfactual.minimal and len(one.removed_units) > 1)
        if one.counterfactual.exhausted:
            assert "(budget spent)" in repr(one)
    assert not any(one.counterfactual.exhausted for one in fitted.explain(graphs, budget=rc.Seconds(60)))
    assert not any(one.counterfactual.exhausted for one in fitted.explain_iter(graphs, budget=float("inf")))
    assert fitted.explain(graphs[0], budget=1).counterfactual is not None
    with pytest.raises(RCExplainerError, match="budget must be a whole number"):
        fitted.explain(graphs, budget=0)


def test_progress_is_shown_when_asked(fitted, graphs, capsys) -> None:
    fitted.explain(graphs)
    assert capsys.readouterr().err == ""
    fitted.explain(graphs, progress=True)
    assert "24/24" in capsys.readouterr().err
    list(fitted.explain_iter(graphs, progress=True))
    assert "24graph" in capsys.readouterr().err


def test_a_batch_takes_no_index_and_shows_progress(fitted, graphs, capsys) -> None:
    batch = Batch.from_data_list(graphs)
    with pytest.raises(RCExplainerError, match="index chooses nodes or links"):
        fitted.explain(batch, index=[0])
    fitted.explain(batch, progress=True)
    assert "24/24" in capsys.readouterr().err


def test_a_stream_is_a_generator_that_can_be_closed(fitted, graphs) -> None:
    stream = fitted.explain_iter(graphs, progress=True)
    assert isinstance(next(stream), rc.Explanation)
    stream.close()
    with pytest.raises(StopIteration):
        next(stream)


def test_a_pickled_slice_holds_its_own_graphs_alone(fitted, graphs) -> None:
    some = fitted.explain(graphs * 20)[:2]
    again = pickle.loads(pickle.dumps(some))
    assert isinstance(again, rc.Explanations)
    assert len(again) == 2
    same(again[1], some[1])
    assert len(pickle.dumps(some)) < 20_000


def test_an_index_out_of_range_says_how_many_there_are(fitted, graphs) -> None:
    with pytest.raises(IndexError, match="there are 24 explanations, numbered from 0: got 24"):
        fitted.explain(graphs)[24]


def test_an_index_that_is_no_number_is_named(fitted, graphs) -> None:
    found = fitted.explain(graphs[:2])
    with pytest.raises(ArgumentError, match="explanations are indexed by whole numbers and slices, got str"):
        found["a"]
    assert isinstance(found[torch.tensor(1)], rc.Explanation)


def test_its_text_shows_the_first_three_and_how_many_there_are(fitted, graphs) -> None:
    found = fitted.explain(graphs, search="none")
    three = ", ".join(repr(one) for one in found[:3])
    assert repr(found[:3]) == f"[{three}]"
    assert repr(found[:4]) == f"[{three}, … 4 in all]"
    assert repr(found[:0]) == "[]"


class Elsewhere:
    """A graph on a device that this machine need not have."""

    def __init__(self, graph: Data) -> None:
        self.graph = graph
        self.edge_index = SimpleNamespace(device=torch.device("cuda"))

    def cpu(self) -> Data:
        return copy.copy(self.graph)


def test_a_graph_on_another_device_is_moved_once_for_all_its_explanations(graphs) -> None:
    there, here = Elsewhere(graphs[0]), graphs[1]
    edges = graphs[0].num_edges
    found = columns.ExplanationColumns(
        [Instance(there, graphs[0]), Instance(there, graphs[0]), Instance(here, here)],
        [0, edges, 2 * edges, 2 * edges + here.num_edges],
        torch.rand(2 * edges + here.num_edges),
        torch.full((3, 2), 0.5),
        [0, 0, 0],
        (),
        None,
    )
    first, second, third = rc.Explanations(found)
    assert first.graph is second.graph
    assert torch.equal(first.graph.edge_index, graphs[0].edge_index)
    assert third.graph is here


def test_an_explanation_of_a_graph_is_of_the_graph_itself_and_one_of_a_node_of_its_computation_graph() -> None:
    one = Random().fit(random_network("graphconv"), sample_graphs()).explain(sample_graphs()[0])
    assert one.instance is one.graph
    assert one.computation is None
    assert one.edge_ids is None
    assert one.node_ids is None
    assert one.refined == 0
    path = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]).T
    graph = Data(x=sample_graphs()[0].x[:6], edge_index=torch.cat([path, path.flip(0)], 1))
    node = Random(task="node").fit(random_network("graphconv", "node"), graph).explain(graph, index=0)
    assert node.graph is graph
    assert node.instance is node.computation
    assert node.node_ids.tolist() == [0, 1, 2]  # two layers, two hops
    assert torch.equal(node.computation.x, graph.x[:3])
    assert {frozenset(edge) for edge in graph.edge_index[:, node.edge_ids].T.tolist()} == {
        frozenset({0, 1}),
        frozenset({1, 2}),
    }


def test_results_as_columns_leave_failures_out(fitted, graphs) -> None:
    wrong = copy.copy(graphs[1])
    wrong.x = torch.full_like(wrong.x, torch.nan)
    listed = fitted.explain([graphs[0], wrong, *graphs[2:5]], on_error="keep", search="none")
    whole = fitted.explain(Batch.from_data_list(graphs[:3]), search="none")
    for found, expected in ((listed, [0, 2, 3, 4]), (whole, [0, 1, 2])):
        seen = {}
        for part, places, rows in found.columns():
            seen |= {place: part[row] for place, row in zip(places, rows, strict=True)}
        assert sorted(seen) == expected
        for place, one in seen.items():
            same(one, found[place])
    assert [one.index for one in listed.failures] == [1]
    assert whole.failures == []
