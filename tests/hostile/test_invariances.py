"""Node and edge numbers, the order and the size of batches, and the number type change nothing but their names."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.method import inputs
from tests.hostile.pool import PAIRS, SPECS, Pooled, pooled
from tests.hostile.trust_tools import trust_tool

CLOSE = 1e-5
GRAPHS = [
    ("zoo", "plain", 0), ("zoo", "batch norm", 1), ("zoo", "layer norm, nodes", 2), ("own", "weighted", 3),
    ("own", "attributed", 4), ("own", "five classes", 4),
]  # fmt: skip
PARTS = [("node", "plain", 4), ("node", "gcn", 4), ("node", "layer norm, nodes", 0), ("link", "gcn", 0)]


def explainer(spec: tuple[str, str, int]) -> Pooled:
    found = pooled(SPECS.index(spec))
    assert found is not None
    return found


def renamed(graph: Data, seed: int) -> tuple[Data, torch.Tensor, torch.Tensor]:
    """The graph with its nodes and edges in another order: old node → new one, and the old columns in their order."""
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(graph.num_nodes, generator=random)
    columns = torch.randperm(graph.num_edges, generator=random)
    new = order.argsort()
    moved = Data(x=graph.x[order], edge_index=new[graph.edge_index][:, columns])
    for name in ("edge_attr", "edge_weight"):
        if graph.get(name) is not None:
            moved[name] = graph[name][columns]
    return moved, new, columns


def check_same(one: Explanation, other: Explanation, columns: torch.Tensor | None = None) -> None:
    """Two explanations of one instance; the columns of the other are these of the one."""
    order = torch.arange(one.graph.num_edges) if columns is None else columns
    torch.testing.assert_close(other.edge_scores, one.edge_scores[order], atol=CLOSE, rtol=0)
    assert other.prediction == one.prediction
    assert other.counterfactual.flipped == one.counterfactual.flipped
    gaps = one.unit_scores.sort().values.diff()
    if not bool((gaps < 2 * CLOSE).any()):  # the rule for ties goes by node numbers
        assert torch.equal(other.counterfactual.removed, one.counterfactual.removed[order])
        assert torch.equal(other.top(3), one.top(3)[order])


@pytest.mark.parametrize("spec", [spec for spec in GRAPHS if spec[2] != 1])  # Random follows the edges' order
def test_permuted_nodes_and_edges_of_graphs(spec) -> None:
    one = explainer(spec)
    known = one.fitted.explain(one.graphs[:6])
    for place, graph in enumerate(one.graphs[:6]):
        moved, _, columns = renamed(graph, place)
        check_same(known[place], one.fitted.explain(moved), columns)


@pytest.mark.parametrize("spec", PARTS)
def test_permuted_nodes_and_edges_of_a_whole_graph(spec) -> None:
    one = explainer(spec)
    graph = one.graphs[0]
    moved, new, columns = renamed(graph, 3)
    asked = PAIRS[:4] if one.task == "link" else [0, 3, 7, 11]
    index = [tuple(new[torch.tensor(pair)].tolist()) for pair in asked] if one.task == "link" else new[asked].tolist()
    for old, other in zip(one.fitted.explain(graph, index=asked), one.fitted.explain(moved, index=index), strict=True):
        check_same(old, other, columns)


@pytest.mark.parametrize("spec", GRAPHS)
def test_order_and_size_of_batches(spec, monkeypatch) -> None:
    one = explainer(spec)
    known = one.fitted.explain(one.graphs)
    backwards = one.fitted.explain(one.graphs[::-1])
    for size in (1, 5):
        monkeypatch.setattr(inputs, "CHUNK_GRAPHS", size)
        pieces = one.fitted.explain(one.graphs)
        for place in range(len(one.graphs)):
            check_same(known[place], pieces[place])
    for place in range(len(one.graphs)):
        check_same(known[place], backwards[len(one.graphs) - 1 - place])


@pytest.mark.parametrize("spec", PARTS)
def test_order_and_size_of_batches_of_nodes_and_links(spec, monkeypatch) -> None:
    one = explainer(spec)
    asked = list(PAIRS) if one.task == "link" else list(range(12))
    known = one.fitted.explain(one.graphs[0], index=asked)
    backwards = one.fitted.explain(one.graphs[0], index=asked[::-1])
    monkeypatch.setattr(inputs, "CHUNK_GRAPHS", 2)
    pieces = one.fitted.explain(one.graphs[0], index=asked)
    for place in range(len(asked)):
        check_same(known[place], pieces[place])
        check_same(known[place], backwards[len(asked) - 1 - place])


def test_float32_and_float64_agree_on_the_highest_scores() -> None:
    devices = trust_tool("devices")
    every = devices.settings(6, 0, trained_too=False)
    chosen = [one for one in every if one.name.startswith(("gcn", "gat"))]
    rows = [row for setting in chosen for row in devices.rows_of(setting, [devices.Place("cpu", torch.float32)])]
    assert {row.setting.split()[-1] for row in rows} == {"graphs", "nodes", "links"}
    assert sum(row.cuts for row in rows) > 200
    assert sum(row.wrong + row.predictions + row.flips for row in rows) == 0
    assert max(row.score_gap for row in rows) < devices.TIE
