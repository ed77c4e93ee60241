"""A batch of instances: predicted, scored and searched together, with the last word of each where it really is."""

import logging
from collections.abc import Callable
from dataclasses import replace

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_add_pool

from rcexplainer.baselines import Occlusion, Random
from rcexplainer.core import budget
from rcexplainer.core.budget import Seconds
from rcexplainer.core.units import find_units
from rcexplainer.core.verification import LATER_SAMPLE, SAMPLE, SCORES_SAMPLE
from rcexplainer.errors import GraphError, TargetError
from rcexplainer.method.results import REFINEMENT_SHARE, deletable, refusals
from rcexplainer.method.unit_readings import UnitReadings
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.testing.sample_graphs import FEATURES, sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network


class Net(nn.Module):
    """A graph or node classifier; `keeper` sees the embeddings of everything that is run together."""

    def __init__(self, nodes: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.keeper, self.head, self.nodes = GraphConv(FEATURES, 8), nn.Identity(), nn.Linear(8, 2), nodes

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        inside = self.conv(x, edge_index).relu()
        return self.head(self.keeper(inside if self.nodes else global_add_pool(inside, batch)))


def watch(model: Net, see: Callable[[Tensor, int], None]) -> None:
    """Show the features and the number of graphs of every run from now on."""

    def before(_: nn.Module, given: tuple, named: dict) -> None:
        x, _, batch = (*given, *named.values())
        see(x, int(batch.max()) + 1)

    model.register_forward_pre_hook(before, with_kwargs=True)


# ---- ties


class Rounding(nn.Module):
    """Replaces the embedding by +1 where `size` rows are there, and by −1 elsewhere."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, rows: Tensor) -> Tensor:
        return torch.full_like(rows, 1.0 if len(rows) == self.size else -1.0)


def tied(model: Net, size: int) -> None:
    """Make two classes as good as tied: by less than rounding, the first is ahead only in a run of this size."""
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[1e-6], [-1e-6]]).expand(2, 8))
        model.head.bias.fill_(1.0)
    model.keeper = Rounding(size)


@pytest.mark.parametrize("search", ["none", "prefix"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_tie_is_decided_by_a_run_alone(search, count: int, caplog) -> None:
    """In a batch the other class seems to be ahead, which is rounding: no flip, and no reason to warn."""
    graphs, model = sample_graphs(), Net()
    fitted = Random().fit(model, graphs)
    tied(model, 1)
    with caplog.at_level(logging.WARNING):
        for asked in (graphs[:count], Batch.from_data_list(graphs[:count])):
            found = fitted.explain(asked, search=search)
            assert [one.prediction for one in found] == [0] * count
            assert search == "none" or not any(one.counterfactual.flipped for one in found)
        assert fitted.explain(graphs[0], search=search).prediction == 0
    assert not caplog.records


@pytest.mark.parametrize("index", [3, [3], [3, 5, 8]])
def test_a_tie_of_a_node_is_decided_in_the_whole_graph(index, caplog) -> None:
    graph, model = whole_graph(30), Net(nodes=True)
    fitted = Random(task="node").fit(model, graph)
    tied(model, 30)
    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graph, index=index, search="none")
    assert {one.prediction for one in (found if isinstance(index, list) else [found])} == {0}
    assert not caplog.records


# ---- models that mix what is run together


class Loud(nn.Module):
    """As `Rounding`, but in a run of more rows than `size` every embedding is far off."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, rows: Tensor) -> Tensor:
        return torch.full_like(rows, 1.0 if len(rows) == self.size else 3e3 if len(rows) > self.size else -1.0)


@pytest.mark.parametrize("search", ["none", "prefix"])
def test_a_tie_of_a_node_is_decided_in_the_whole_graph_also_one_by_one(search, caplog) -> None:
    """The model mixes the nodes of a batch, so that each is run alone: what it is, the whole graph says."""
    graph, model = whole_graph(30), Net(nodes=True)
    fitted = Random(task="node").fit(model, graph)
    tied(model, 30)
    model.keeper = Loud(30)
    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graph, index=[3, 5, 8, 9, 10], search=search)
    assert [one.prediction for one in found] == [0] * 5
    assert search == "none" or not any(one.counterfactual.flipped for one in found)
    disputed = "answers differently in the final run than in the search for 3, 5, 8, 9, 10: no flip is claimed there"
    assert (disputed in caplog.text) == (search != "none")


def test_answers_that_the_whole_graph_does_not_give_are_refused() -> None:
    graph = whole_graph()
    fitted = replace(Random(task="node").fit(random_network("graphconv", "node"), graph), hops=1)
    with pytest.raises(GraphError, match="node 3: the model answers differently in the 1-hop computation graph"):
        fitted.explain(graph, index=3, search="none")


class Centred(nn.Module):
    """Takes the mean of a batch away, so that a graph has no embedding of its own."""

    def forward(self, rows: Tensor) -> Tensor:
        return rows - rows.mean(0) if len(rows) > 1 else rows


@pytest.mark.parametrize("search", ["none", "prefix"])
@pytest.mark.parametrize("count", [2, 3])
def test_of_few_graphs_too_it_is_noticed_that_a_model_mixes_them(search, count: int, caplog) -> None:
    graphs, model = sample_graphs(), Net()
    fitted = Random().fit(model, graphs)
    model.keeper = Centred()
    with caplog.at_level(logging.WARNING):
        found = fitted.explain(graphs[:count], search=search)
    assert "Net mixes the graphs of a batch" in caplog.text
    for one in found:
        graph = one.graph
        with torch.no_grad():
            alone = model(graph.x, graph.edge_index, torch.zeros(graph.num_nodes, dtype=torch.long))[0]
        torch.testing.assert_close(one.probabilities, alone.softmax(0))


def test_a_single_graph_whose_copies_are_mixed_is_searched_one_by_one(caplog) -> None:
    """A flip that a search sees in a batch of copies, and a run alone does not, is looked for again."""
    graphs, model = sample_graphs(12), Net()
    fitted = Random().fit(model, graphs)
    model.keeper = Centred()
    together = fitted.explain(graphs)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        single = [fitted.explain(graph) for graph in graphs]
    assert "this call is run one by one" in caplog.text
    for one, other in zip(single, together, strict=True):
        assert not one.counterfactual.disputed
        assert one.counterfactual.flipped == other.counterfactual.flipped
    assert any(one.counterfactual.flipped for one in single)


@pytest.mark.parametrize("search", ["none", "prefix", "greedy"])
def test_an_honest_model_is_not_warned_of(search, caplog) -> None:
    graphs = sample_graphs()
    fitted = Occlusion().fit(random_network("graphconv"), graphs)
    nodes = Occlusion(task="node").fit(random_network("graphconv", "node"), whole_graph())
    with caplog.at_level(logging.WARNING):
        for asked in (graphs[0], graphs, Batch.from_data_list(graphs)):
            fitted.explain(asked, search=search)
        list(fitted.explain_iter(graphs, search=search))
        for index in (0, [0, 1, 2]):
            nodes.explain(whole_graph(), index=index, search=search)
    assert not caplog.records


def test_how_many_instances_are_looked_at_alone(monkeypatch) -> None:
    """More in the first chunk of a search than in later ones, and fewest without a search."""
    monkeypatch.setattr("rcexplainer.method.inputs.CHUNK_GRAPHS", 12)
    model, alone = Net(), list[float]()
    fitted = Random().fit(model, sample_graphs())
    watch(model, lambda x, copies: alone.append(float(x[0, 0])) if copies == 1 else None)
    loops = torch.arange(3).repeat(2, 1)  # nothing to delete: no search runs copies of its own
    graphs = [
        Data(x=torch.full((3, FEATURES), float(number)), edge_index=loops, edge_attr=torch.zeros(3, 3))
        for number in range(24)
    ]

    def looked_at(asked, search: str) -> tuple[int, int]:
        alone.clear()
        fitted.explain(asked, search=search)
        seen = set(alone)
        return sum(number < 12 for number in seen), sum(number >= 12 for number in seen)

    assert SCORES_SAMPLE < LATER_SAMPLE < SAMPLE < 12
    assert looked_at(graphs, "prefix") == (SAMPLE, LATER_SAMPLE)
    assert looked_at(graphs, "none") == (SCORES_SAMPLE, SCORES_SAMPLE)
    assert looked_at(Batch.from_data_list(graphs[:12]), "prefix") == (SAMPLE, 0)


# ---- time


def test_refinement_leaves_a_part_of_the_time_to_the_search(monkeypatch) -> None:
    """Each run of the model takes a second, and there is more to refine than there is time for."""
    model, runs = Net(), list[int]()
    fitted = Random().fit(model, sample_graphs())
    watch(model, lambda _, copies: runs.append(copies))
    monkeypatch.setattr(budget.time, "monotonic", lambda: float(len(runs)))

    def refined(search: str, seconds: float) -> int:
        return fitted.explain(whole_graph(20), search=search, refine=100, budget=Seconds(seconds)).refined

    spent = [refined("none", seconds) for seconds in (2.5, 5, 7.5, 10)]
    assert spent == sorted(set(spent))  # the more time, the more runs
    assert 0 < REFINEMENT_SHARE < 1
    for seconds in (10.0, 5.0):
        assert refined("prefix", seconds) == refined("none", REFINEMENT_SHARE * seconds)


# ---- parts


@settings(max_examples=30)
@given(data=st.data())
def test_a_unit_may_be_deleted_if_all_its_edges_may(data) -> None:
    nodes = data.draw(st.integers(1, 5))
    node = st.integers(0, nodes - 1)
    graphs = data.draw(st.lists(st.lists(st.tuples(node, node), max_size=8), min_size=1, max_size=3))
    masks = [torch.tensor([data.draw(st.booleans()) for _ in edges], dtype=torch.bool) for edges in graphs]
    columns = [
        (place * nodes + one, place * nodes + other) for place, edges in enumerate(graphs) for one, other in edges
    ]
    index = torch.tensor(columns, dtype=torch.long).reshape(-1, 2).T
    units = find_units(index, nodes * len(graphs), torch.arange(nodes * len(graphs)) // nodes, len(graphs))
    forbidden = {frozenset(column) for column, may in zip(columns, torch.cat(masks).tolist(), strict=True) if not may}
    asked = [Instance(Data(), Data()) for _ in graphs]
    expected = [frozenset(pair) not in forbidden for pair in units.pair.T.tolist()]
    assert deletable(masks, asked, units).tolist() == expected
    assert deletable(None, asked, units).all()


def test_a_mask_of_the_whole_graph_is_read_where_the_computation_graph_is() -> None:
    units = find_units(torch.tensor([[0, 1], [1, 2]]), 3, torch.zeros(3, dtype=torch.long), 1)
    asked = [Instance(Data(), Data(), index=0, edge_ids=torch.tensor([4, 1]))]
    mask = torch.tensor([True, False, True, True, True])
    assert deletable([mask], asked, units).tolist() == [True, False]


class Both(Random):
    def scores(self, instances, labels):
        found = torch.full((len(instances.units),), 0.75)
        return UnitReadings(found, found)


def test_self_loops_have_no_scores_and_are_never_deleted() -> None:
    graphs = sample_graphs()
    loops = [graph.edge_index[0] == graph.edge_index[1] for graph in graphs]
    assert all(loop.any() for loop in loops)
    for one, loop in zip(Both().fit(random_network("graphconv"), graphs).explain(graphs), loops, strict=True):
        for reading in (one.edge_scores, one.edge_relevance):
            assert not reading[loop].any()
            assert (reading[~loop] == 0.75).all()
        assert not one.counterfactual.removed[loop].any()


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_what_is_not_disclosed_is_not_in_the_columns(disclose) -> None:
    graphs = sample_graphs()
    ((columns, places, rows),) = (
        Both().fit(random_network("graphconv"), graphs).explain(graphs, disclose=disclose).columns()
    )
    assert places == rows == [0, 1, 2, 3]
    assert columns.scores.numel() == 0
    assert columns.relevance is None
    assert (columns.found is None) == (disclose == "prediction")


def test_instances_without_an_explanation_say_why() -> None:
    log_probs = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.0, 0.1, 0.9], [torch.nan, 0.0, 0.0]]).log()
    assert refusals(log_probs[:3], None, None) == {}
    found = refusals(log_probs, frozenset({0, 1}), 1)
    assert {place: str(error) for place, error in found.items()} == {
        1: "class 1 is predicted already: choose another class to lead to",
        2: "class 2 is predicted, which was never predicted in fitting",
        3: "the model returns NaN for this graph",
    }
    named = refusals(log_probs, None, 1, ("low", "middle", "high"))[1]
    assert isinstance(named, TargetError)
    assert str(named) == "middle is predicted already: choose another class to lead to"
