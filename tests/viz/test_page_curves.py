"""The predictions after deletions are the model's own, for graphs whose edges are really gone."""

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import delete_edges
from rcexplainer.testing.sample_graphs import whole_graph
from rcexplainer.testing.sample_networks import random_network
from rcexplainer.viz.page import curves
from rcexplainer.viz.page.curves import curve_lengths, deletion_curves
from tests.viz.page_case import page_case

pytest.importorskip("rdkit")


def test_curves_are_the_model_run_by_hand() -> None:
    case = page_case()
    found = deletion_curves(case.fitted.split, case.explanations[:6])
    for one, curve in zip(case.explanations, found, strict=False):
        assert curve.lengths == tuple(range(len(one.units) + 1))
        for length, row in zip(curve.lengths, curve.probabilities.tolist(), strict=True):
            assert row == pytest.approx(case.probabilities(delete_edges(one.graph, one.top(length))), abs=1e-6)


def test_single_deletions_are_the_model_run_by_hand() -> None:
    case = page_case()
    found = deletion_curves(case.fitted.split, case.explanations[:3])
    for one, curve in zip(case.explanations, found, strict=False):
        assert len(curve.singles) == len(one.units)
        for rank, row in enumerate(curve.singles.tolist()):
            alone = one.top(rank + 1) & ~one.top(rank)
            assert row == pytest.approx(case.probabilities(delete_edges(one.graph, alone)), abs=1e-6)


def test_nodes_lose_edges_of_their_computation_graph() -> None:
    model, graph = random_network("graphconv", "node"), whole_graph()
    fitted = rc.baselines.Occlusion(task="node").fit(model, graph)
    explanations = list(fitted.explain(graph, index=[0, 3, 7]))
    for one, curve in zip(explanations, deletion_curves(fitted.split, explanations), strict=True):
        assert isinstance(one, rc.Explanation)
        for length, row in zip(curve.lengths, curve.probabilities.tolist(), strict=True):
            left = delete_edges(graph, one.top(length))
            with torch.no_grad():
                wanted = model(left.x, left.edge_index)[one.index].softmax(0).tolist()
            assert row == pytest.approx(wanted, abs=1e-5)


def test_long_rankings_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert curve_lengths(0) == (0,)
    assert curve_lengths(100) == tuple(range(101))
    long = curve_lengths(5000)
    assert long[:101] == tuple(range(101))
    assert long[-1] == 5000
    assert len(long) < 140
    monkeypatch.setattr(curves, "DENSE_STEPS", 3)
    monkeypatch.setattr(curves, "MOST_SINGLES", 2)
    monkeypatch.setattr(curves, "MASK_SIZE", 30)  # several pieces
    case = page_case()
    whole = [one.top(len(one.units)) for one in case.explanations[:4]]
    found = deletion_curves(case.fitted.split, case.explanations[:4])
    for one, everything, curve in zip(case.explanations, whole, found, strict=False):
        assert len(curve.singles) == 2
        wanted = case.probabilities(delete_edges(one.graph, everything))
        assert curve.probabilities[-1].tolist() == pytest.approx(wanted, abs=1e-6)


def test_an_explainer_of_another_model_is_refused() -> None:
    case = page_case()
    other = rc.gnn.GNN(rc.gnn.GNNConfig(case.graphs[0].num_features, 2, width=8, layers=2)).eval()
    fitted = rc.baselines.Occlusion().fit(other, case.graphs)
    with pytest.raises(RCExplainerError, match="fitted is of another model than the explanations: its probabilities"):
        deletion_curves(fitted.split, case.explanations)
    narrow = rc.gnn.GNN(rc.gnn.GNNConfig(3, 2, width=8, layers=2)).eval()
    graphs = [narrowed(graph) for graph in case.graphs[:8]]
    with pytest.raises(RCExplainerError, match=r"cannot be run on the explained graphs \(RuntimeError: "):
        deletion_curves(rc.baselines.Occlusion().fit(narrow, graphs).split, case.explanations)


def narrowed(graph: Data) -> Data:
    """The graph with three features for each node."""
    other = graph.clone()
    other.x = graph.x[:, :3]
    return other
