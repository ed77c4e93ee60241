"""Gradients against differences, integrals against their ends, Grad-CAM by hand."""

import pytest
import torch
from torch_geometric.data import Batch

from rcexplainer.baselines import GradCAM, Gradient, IntegratedGradients
from rcexplainer.errors import RCExplainerError
from tests.baselines.marked import LOLLIPOP, CountsMarks, marked_graph, score_of
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs


@pytest.fixture
def model():
    torch.manual_seed(1)
    return zoo.Weighted().double().eval()


@pytest.fixture
def graphs():
    found = make_graphs(3)
    for graph in found:
        graph.x, graph.edge_attr = graph.x.double(), graph.edge_attr.double()
    return found


def log_odds(model, graph, label: int, weight) -> float:
    batch = Batch.from_data_list([graph])
    with torch.no_grad():
        p = model(batch.x, batch.edge_index, batch.batch, weight).softmax(1)[0, label]
    return float(p.log() - (1 - p).log())


def unsquashed(scores: torch.Tensor) -> torch.Tensor:
    """g from (1 + g / (1 + |g|)) / 2."""
    signed = 2 * scores - 1
    return signed / (1 - signed.abs())


def test_the_gradient_is_the_slope_of_the_log_odds(model, graphs) -> None:
    step = 1e-5
    for graph, one in zip(graphs, Gradient().fit(model, graphs).explain(graphs, search="none"), strict=True):
        slopes = []
        for unit in range(len(one.units)):
            own = step * (one.units.of_edge == unit).double()  # both directions together
            up, down = (log_odds(model, graph, one.prediction, 1 + sign * own) for sign in (1, -1))
            slopes.append((up - down) / (2 * step))
        found = unsquashed(one.unit_scores)
        assert float(found.abs().max()) > 1e-3
        torch.testing.assert_close(found, torch.tensor(slopes, dtype=found.dtype), atol=1e-6, rtol=1e-4)


def test_the_integral_is_complete(model, graphs) -> None:
    """What the edges contribute adds up to what all of them together do."""
    for graph, one in zip(graphs, IntegratedGradients().fit(model, graphs).explain(graphs, search="none"), strict=True):
        ends = [log_odds(model, graph, one.prediction, torch.full((graph.num_edges,), w).double()) for w in (1.0, 0.0)]
        assert float(unsquashed(one.unit_scores).sum()) == pytest.approx(ends[0] - ends[1], abs=2e-3)


def test_of_a_linear_model_integral_and_gradient_are_the_same() -> None:
    graph = marked_graph(LOLLIPOP, [0, 1])
    model = CountsMarks("graph", 2.5)
    one, other = (
        method.fit(model, [graph]).explain(graph, search="none").edge_scores
        for method in (Gradient(), IntegratedGradients(steps=3))
    )
    torch.testing.assert_close(one, other)


def test_grad_cam_by_hand() -> None:
    """Two classes, mean pool, one Linear: every node's gradient is (w_c − w_o) / n."""
    torch.manual_seed(2)
    model, graphs = zoo.GCNLinear(classes=2).eval(), make_graphs(3, num_classes=2)
    for graph, one in zip(graphs, GradCAM().fit(model, graphs).explain(graphs, search="none"), strict=True):
        with torch.no_grad():
            h = model.conv2(model.conv1(graph.x, graph.edge_index).relu(), graph.edge_index)
            w = model.lin.weight[one.prediction] - model.lin.weight[1 - one.prediction]
            alive = (h > 0).float().mean(0)  # the mean over the nodes of the gradient past the ReLU, times n
            s = h @ (w * alive / graph.num_nodes)
        wanted = s[one.units.pair].mean(0)
        torch.testing.assert_close(unsquashed(one.unit_scores), wanted, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("method", [Gradient(), IntegratedGradients()])
@pytest.mark.parametrize(("threshold", "predicted"), [(2.5, 1), (8.5, 0)])
def test_what_speaks_for_the_class_is_above_a_half(method, threshold: float, predicted: int) -> None:
    """A marked neighbour speaks for class 1, whichever class is predicted; no mark says nothing."""
    graph = marked_graph(LOLLIPOP, [0, 1])
    one = method.fit(CountsMarks("graph", threshold), [graph]).explain(graph, search="none")
    assert one.prediction == predicted
    assert (score_of(one, 0, 1) > 0.5) == (predicted == 1)
    assert abs(score_of(one, 0, 1) - 0.5) > abs(score_of(one, 0, 2) - 0.5) > 0
    assert score_of(one, 5, 6) == 0.5


def test_no_steps() -> None:
    with pytest.raises(RCExplainerError, match="steps must be a whole number ≥ 1, got 0"):
        IntegratedGradients(steps=0)


@pytest.mark.parametrize("method", [Gradient(), IntegratedGradients(), GradCAM()])
def test_relevance_is_the_size_of_the_evidence_for_or_against(model, graphs, method) -> None:
    for one in method.fit(model, graphs).explain(graphs, search="none"):
        size = unsquashed(one.unit_scores).abs()
        torch.testing.assert_close(one.unit_relevance, size / (1 + size), atol=1e-6, rtol=0)
