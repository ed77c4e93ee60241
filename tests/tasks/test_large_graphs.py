"""Nodes and links of graphs on disk and in stores: the same results as in memory, from little of the graph."""

import json
import logging
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv

import rcexplainer as rc
from rcexplainer.cli.explanation_record import explanation_record
from rcexplainer.errors import ExplainError, GraphError, HubError, RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.sources import MappedGraph, StoreGraph, map_graph
from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.tasks import background_sample, excerpt, link, node, wide_neighbourhood
from rcexplainer.tasks.computation_graph import ComputationGraphs
from rcexplainer.testing.sample_networks import centre
from tests.sources.stores import random_graph, stores


class Nodes(nn.Module):
    """Two layers that read edge weights."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convs = nn.ModuleList([GraphConv(8, 8) for _ in range(layers)])
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        for conv in self.convs:
            x = conv(x, edge_index, edge_weight).tanh()
        return self.head(x)


class Links(nn.Module):
    """The same for pairs of nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes, self.lin = Nodes(), nn.Linear(3, 2)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor, edge_weight: Tensor | None = None):
        z = self.nodes(x, edge_index, edge_weight)
        return self.lin(z[edge_label_index[0]] * z[edge_label_index[1]])


NODES = torch.arange(0, 200, 3)
PAIRS = torch.stack([torch.arange(0, 60), torch.arange(100, 160)], 1)


def make_case(task: str) -> SimpleNamespace:
    graph = random_graph()
    del graph.y  # random labels say nothing about the output
    model = (Nodes() if task == "node" else Links()).eval()
    index = NODES if task == "node" else PAIRS
    with torch.no_grad():
        if task == "node":
            centre(model.head, model(graph.x, graph.edge_index, graph.edge_weight))
        else:
            centre(model.lin, model(graph.x, graph.edge_index, PAIRS.t(), graph.edge_weight))
    explainer = rc.RCExplainer(task=task, epochs=2)
    fitted = explainer.fit(model, graph, index=index[:40], progress=False)
    return SimpleNamespace(graph=graph, model=model, index=index, fitted=fitted, explainer=explainer)


@pytest.fixture(scope="module", autouse=True)
def few_pairs():
    """Behind the regions of links."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link, "BACKGROUND_PAIRS", 200)
        yield


@pytest.fixture(scope="module")
def cases(few_pairs) -> dict[str, SimpleNamespace]:
    return {task: make_case(task) for task in ("node", "link")}


@pytest.fixture
def case(cases) -> SimpleNamespace:
    return cases["node"]


@pytest.fixture
def mapped(case, tmp_path) -> MappedGraph:
    return map_graph(case.graph, tmp_path / "graph")


def same(one: Explanation, other: Explanation) -> None:
    """Scores to 1e-5, everything else exactly."""
    assert (one.index, one.prediction, one.class_names) == (other.index, other.prediction, other.class_names)
    for name in ("scores", "edge_scores", "unit_scores", "node_scores", "probabilities", "relevance"):
        torch.testing.assert_close(getattr(one, name), getattr(other, name), atol=1e-5, rtol=0)
    for name in ("edge_ids", "node_ids", "removed_units"):
        assert torch.equal(getattr(one, name), getattr(other, name))
    assert torch.equal(one.units.pair, other.units.pair)
    assert torch.equal(one.units.of_edge, other.units.of_edge)
    assert torch.equal(one.top(3), other.top(3))
    assert torch.equal(one.edges, other.edges)
    ours, theirs = one.counterfactual, other.counterfactual
    assert torch.equal(ours.removed, theirs.removed)
    assert (ours.flipped, ours.minimal, ours.exhausted) == (theirs.flipped, theirs.minimal, theirs.exhausted)
    torch.testing.assert_close(ours.probabilities, theirs.probabilities, atol=1e-5, rtol=0)


@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_results_are_those_of_the_graph_in_memory(cases, task: str, search: str, tmp_path) -> None:
    case = cases[task]
    expected = case.fitted.explain(case.graph, index=case.index, search=search)
    flips = sum(one.counterfactual.flipped for one in expected)
    assert flips > 5
    mapped = map_graph(case.graph, tmp_path / "graph")
    for graph in (mapped, stores(case.graph), StoreGraph(*stores(case.graph))):
        for one, other in zip(case.fitted.explain(graph, index=case.index, search=search), expected, strict=True):
            same(one, other)
            assert one.checked is not None
            assert other.checked is None
    streamed = list(case.fitted.explain_iter(mapped, index=case.index, search=search))
    for one, other in zip(streamed, expected, strict=True):
        same(one, other)


@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_fit_on_disk(cases, task: str, whole: bool, tmp_path, monkeypatch) -> None:
    """The excerpt of a small graph is the whole of it, and the fit the same; of a large one it is enough."""
    case = cases[task]
    if not whole:
        monkeypatch.setattr(excerpt, "EXCERPT_EDGES", 100)
        monkeypatch.setattr(excerpt, "FRONTIER", 8)
        monkeypatch.setattr(excerpt, "DEPTH", 5)
    mapped = map_graph(case.graph, tmp_path / "graph")
    shown = rc.baselines.Occlusion(task=task).fit(case.model, mapped, index=case.index[:40])
    assert shown.hops == case.fitted.hops
    fitted = case.explainer.fit(case.model, mapped, index=case.index[:40], progress=False)
    assert (fitted.hops, fitted.split.head_name) == (case.fitted.hops, case.fitted.split.head_name)
    assert fitted.split.output == case.fitted.split.output
    assert len(fitted.regions) == len(case.fitted.regions) if task == "node" else True
    one, other = (some.explain(mapped, index=case.index[:9]) for some in (fitted, case.fitted))
    if task == "node":  # the same nodes; of links random ones are part of the background
        for ours, theirs in zip(one, other, strict=True):
            same(ours, theirs)
    assert all(isinstance(explained, Explanation) for explained in one)


def test_regions_come_from_a_seeded_sample_which_is_said(case, mapped, monkeypatch, caplog) -> None:
    monkeypatch.setattr(node, "BACKGROUND_NODES", 30)
    seen: list[list[int]] = []
    plain = background_sample.BackgroundSample.__init__

    def kept(self, source, roots, total, hops) -> None:
        seen.append(roots.tolist())
        plain(self, source, roots, total, hops)

    monkeypatch.setattr(background_sample.BackgroundSample, "__init__", kept)
    with caplog.at_level(logging.WARNING):
        for seed in (0, 0, 1):
            case.explainer.fit(case.model, mapped, index=NODES[:20], progress=False, seed=seed)
    assert seen[0] == seen[1] != seen[2]
    assert len(set(seen[0])) == 30
    assert "boundaries and regions come from a random 30 of 200 nodes" in caplog.text


def test_another_graph_as_background_and_no_index(case, mapped, tmp_path) -> None:
    other = map_graph(random_graph(150, 500, seed=1), tmp_path / "other")
    explainer = rc.RCExplainer(task="node", epochs=1, teacher_limit=20)
    checkpoint = tmp_path / "fit.safetensors"
    first = explainer.fit(case.model, mapped, background=other, val=[1, 2, 3], progress=False, checkpoint=checkpoint)
    again = explainer.fit(case.model, mapped, background=other, val=[1, 2, 3], progress=False, checkpoint=checkpoint)
    one, two = (some.explain(mapped, index=7, search="none") for some in (first, again))
    assert torch.equal(one.scores, two.scores)
    wide = random_graph()
    wide.x = torch.cat([wide.x, wide.x], 1)
    with pytest.raises(GraphError, match="background graph 0 has node features of width 16"):
        explainer.fit(case.model, mapped, background=map_graph(wide, tmp_path / "wide"), progress=False)


class Reads:
    """Counts the edges that are read from an adjacency."""

    def __init__(self, monkeypatch) -> None:
        self.edges, plain = 0, Adjacency.into

        def into(adjacency: Adjacency, nodes: Tensor):
            found = plain(adjacency, nodes)
            self.edges += len(found.columns)
            return found

        monkeypatch.setattr(Adjacency, "into", into)


def test_what_is_read_does_not_grow_with_the_graph(cases, tmp_path, monkeypatch) -> None:
    """The same neighbourhoods in a graph a hundred times as large."""
    case = cases["node"]
    small, far = case.graph, 100 * 200
    more = torch.randint(200, far, (2, 70_000), generator=torch.Generator().manual_seed(3))
    large = Data(
        x=torch.cat([small.x, torch.zeros(far - 200, 8)]),
        edge_index=torch.cat([small.edge_index, more], 1),
        edge_weight=torch.cat([small.edge_weight, torch.ones(70_000)]),
    )
    counted = []
    for name, graph in (("small", small), ("large", large)):
        features, edges = stores(graph)
        held = StoreGraph(features, edges)
        _ = held.adjacency
        with monkeypatch.context() as patch:
            reads = Reads(patch)
            found = case.fitted.explain(held, index=NODES)
            counted.append((reads.edges, features.rows["x"], features.rows["edge_weight"]))
        inside = sum(one.instance.num_nodes for one in found)
        assert inside <= features.rows["x"] <= inside + 30 * 200, name  # and a sample in wider neighbourhoods
        for one, other in zip(found, case.fitted.explain(small, index=NODES), strict=True):
            torch.testing.assert_close(one.scores, other.scores, atol=1e-5, rtol=0)
            assert torch.equal(one.counterfactual.columns, other.counterfactual.columns)
    assert counted[0] == counted[1]


def test_a_hub_is_an_error_in_its_place_before_its_edges_are_read(case, tmp_path, monkeypatch, caplog) -> None:
    graph = random_graph()
    hub = torch.stack([torch.randint(200, (5000,)), torch.full((5000,), 7)])
    graph.edge_index = torch.cat([graph.edge_index, hub], 1)
    graph.edge_weight = torch.cat([graph.edge_weight, torch.ones(5000)])
    mapped = MappedGraph(map_graph(graph, tmp_path / "hub").path, max_edges=1000)
    _ = mapped.adjacency
    reads = Reads(monkeypatch)
    said = r"node 7: more than 1000 edges would have to be read for its 2-hop computation graph"
    with pytest.raises(HubError, match=said):
        case.fitted.explain(mapped, index=7)
    assert not reads.edges
    results = case.fitted.explain(mapped, index=NODES, on_error="keep")
    expected = case.fitted.explain(graph, index=NODES)
    near = [place for place, one in enumerate(results) if isinstance(one, Failure)]
    assert 0 < len(near) < len(NODES)
    for place, one in enumerate(results):
        if place not in near:
            same(one, expected[place])
            assert one.checked.max_edges == 1000
    with caplog.at_level(logging.WARNING):
        case.explainer.fit(case.model, mapped, index=NODES, progress=False)
    assert f"{len(near)} of {len(NODES)} nodes are left out: more than 1000 edges" in caplog.text
    with pytest.raises(GraphError, match="none of 1 nodes has a computation graph within 1000 edges"):
        case.explainer.fit(case.model, mapped, index=[7], progress=False)


def test_many_roots_are_read_in_pieces(case, mapped, monkeypatch) -> None:
    from rcexplainer.tasks import neighbourhoods

    whole = [one.edge_ids for one in ComputationGraphs(mapped, 2)(torch.arange(200))]
    monkeypatch.setattr(neighbourhoods, "MOST_READ", 200)
    largest, plain = [], Adjacency.into
    monkeypatch.setattr(Adjacency, "into", lambda self, nodes: largest.append(len(nodes)) or plain(self, nodes))
    pieces = [one.edge_ids for one in ComputationGraphs(mapped, 2)(torch.arange(200))]
    assert all(torch.equal(one, other) for one, other in zip(whole, pieces, strict=True))
    assert max(largest) <= 200


def test_the_whole_graph_is_never_run(case, mapped, monkeypatch) -> None:
    """A sample of nodes is compared with neighbourhoods at twice the hops."""
    sizes: list[int] = []
    plain = Nodes.forward

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        sizes.append(x.size(0))
        return plain(self, x, edge_index, edge_weight)

    graph = random_graph(4000, 4000)  # sparse: neighbourhoods stay small
    mapped = map_graph(graph, mapped.path.parent / "sparse")
    monkeypatch.setattr(Nodes, "forward", forward)
    found = case.fitted.explain(mapped, index=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    assert max(sizes) < 1000
    check = found[0].checked
    assert (check.hops, check.compared, check.instances, check.wider) == (2, 8, 10, (4,))
    assert str(check) == (
        "2-hop computation graphs of at most 1048576 edges read; 8 of 10 instances of the batch answer the same in "
        "their 4-hop neighbourhoods"
    )


def test_a_wider_neighbourhood_is_as_wide_as_the_bound_allows(case, mapped, monkeypatch) -> None:
    (one,) = ComputationGraphs(mapped, 2)(torch.tensor([3]))
    for bound, reach in ((10**6, 4), (1, 2)):
        monkeypatch.setattr(wide_neighbourhood, "WIDE_EDGES", bound)
        assert wide_neighbourhood.wide_neighbourhood(one, mapped, 2)[1] == reach
    path = Data(x=torch.zeros(20, 8), edge_index=torch.stack([torch.arange(1, 20), torch.arange(19)]))
    chain = map_graph(path, mapped.path.parent / "chain")
    (short,) = ComputationGraphs(chain, 2)(torch.tensor([0]))
    for bound, reach in ((5, 4), (4, 3), (3, 2)):  # a node at each distance, with one edge into it
        monkeypatch.setattr(wide_neighbourhood, "WIDE_EDGES", bound)
        assert wide_neighbourhood.wide_neighbourhood(short, chain, 2)[1] == reach
    found = case.fitted.explain(mapped, index=[3, 6])
    assert (found[0].checked.compared, found[0].checked.wider) == (0, ())
    assert "no wider neighbourhood is within the bound" in str(found[0].checked)


def test_a_receptive_field_larger_than_the_one_fitted_for_is_found(mapped) -> None:
    torch.manual_seed(1)
    deep = Nodes(layers=3).eval()
    lone = Data(x=torch.randn(6, 8), edge_index=torch.tensor([[0, 1], [1, 0]]), edge_weight=torch.ones(2))
    fitted = rc.baselines.Occlusion(task="node").fit(deep, lone)
    assert fitted.hops < 3  # in this graph nobody is farther away
    said = r"than in a wider neighbourhood .*fit on this graph, or with hops=2 or more"
    with pytest.raises(ExplainError, match=said) as caught:
        fitted.explain(mapped, index=NODES)
    assert len(caught.value.results.failures) == len(NODES)  # a sample was looked at: nothing is claimed of the others


def test_values_are_checked_as_they_are_read(case, mapped) -> None:
    values = np.load(mapped.path / "node" / "x.npy")
    values[3, 0] = np.nan
    np.save(mapped.path / "node" / "x.npy", values)
    found = case.fitted.explain(MappedGraph(mapped.path), index=NODES, on_error="keep")
    wrong = [one for one in found if isinstance(one, Failure)]
    assert 0 < len(wrong) < len(NODES)
    assert all("1 NaN or infinite values in x" in str(one.error) for one in wrong)
    assert "node 3" in str(found[1].error)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (200, "there is no node 200: the graph has the nodes 0 to 199"),
        (-1, "there is no node -1"),
        ([], "the index is empty"),
        (torch.zeros(7, dtype=torch.bool), "a boolean index has one value for each of 200 nodes"),
    ],
)
def test_an_index_out_of_range(case, mapped, index, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        case.fitted.explain(mapped, index=index)
    with pytest.raises(GraphError, match=said):
        case.explainer.fit(case.model, mapped, index=index, progress=False)


def test_graphs_of_another_kind(case, cases, tmp_path) -> None:
    graph = random_graph()
    del graph.edge_weight
    with pytest.raises(GraphError, match="the graph has no edge_weight, the explainer was fitted on graphs with it"):
        case.fitted.explain(map_graph(graph, tmp_path / "bare"), index=3)
    graph = random_graph()
    features, edges = stores(graph)
    features.remove_tensor(group_name="item", attr_name="x", index=None)
    del features.groups["x"]
    with pytest.raises(GraphError, match=r"the graph has no node features \(x\), the explainer was fitted on"):
        case.fitted.explain((features, edges), index=3)
    mapped = map_graph(random_graph(), tmp_path / "graph")
    with pytest.raises(GraphError, match="index must name the pairs"):
        cases["link"].fitted.explain(mapped)
    for method in (rc.RCExplainer(), rc.baselines.Occlusion()):
        with pytest.raises(GraphError, match=r"got a MappedGraph: .* is for nodes and links"):
            method.fit(case.model, mapped)


def test_candidates(case, mapped) -> None:
    allowed = torch.zeros(700, dtype=torch.bool)
    allowed[::2] = True
    for one in case.fitted.explain(mapped, index=NODES[:9], candidates=allowed):
        assert not (one.counterfactual.removed & ~allowed).any()
    with pytest.raises(GraphError, match="must be a boolean mask of its 700 edges"):
        case.fitted.explain(mapped, index=3, candidates=allowed[:5])


def test_an_explanation_holds_its_computation_graph_alone(case, mapped) -> None:
    one = next(one for one in case.fitted.explain(mapped, index=NODES) if one.counterfactual.flipped)
    assert isinstance(one.graph, MappedGraph)
    assert one.counterfactual.original is one.graph
    _ = one.edge_scores, one.units, one.top(2), one.removed_units, repr(one), one.counterfactual.removed
    kept = [value for value in vars(one).values() if isinstance(value, Tensor)]
    assert max(value.numel() for value in kept) < 200
    assert torch.equal(one.unit_scores, one.local.unit_scores)
    whole = case.fitted.explain(case.graph, index=one.index)
    with pytest.raises(GraphError, match="is not copied: `columns` has the deleted edges"):
        _ = one.counterfactual.graph
    left = one.counterfactual_instance
    assert torch.equal(left.edge_index, whole.counterfactual_instance.edge_index)
    assert left.num_edges == one.instance.num_edges - len(one.counterfactual.columns)
    with pytest.raises(RCExplainerError, match="there is no counterfactual"):
        _ = case.fitted.explain(mapped, index=3, search="none").counterfactual_instance
    again = pickle.loads(pickle.dumps(one))
    same(again, one)


@pytest.mark.parametrize("task", ["node", "link"])
def test_the_record_is_that_of_the_graph_in_memory(cases, task: str, tmp_path) -> None:
    case = cases[task]
    mapped = map_graph(case.graph, tmp_path / "graph")
    index = 3 if task == "node" else (0, 100)
    data = SimpleNamespace(class_names=("a", "b", "c")[: 3 if task == "node" else 2], node_names=())
    one, other = (explanation_record(case.fitted.explain(graph, index=index), data) for graph in (mapped, case.graph))
    checked = one.pop("checked")
    assert checked["hops"] == 2
    assert about(json.loads(json.dumps(one))) == about(other)


def about(value: object) -> object:
    """JSON values whose numbers compare to 1e-5."""
    if isinstance(value, dict):
        return {key: about(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [about(entry) for entry in value]
    return pytest.approx(value, abs=1e-5) if isinstance(value, float) else value


def test_it_is_drawn_with_the_ids_of_the_whole_graph(case, mapped, tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra figures)")
    one = case.fitted.explain(mapped, index=42)
    assert one.draw(tmp_path / "node.svg").stat().st_size > 1000
    assert one.local.graph.node_names[one.local.index] == "42"
    whole = case.fitted.explain(case.graph, index=42)
    assert whole.local is whole
