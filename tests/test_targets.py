"""What makes this one class and not that one? (appendix C, Eq. 12, 13)"""

import math
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import to_undirected

import rcexplainer as rc
from rcexplainer.core.regions import Regions
from rcexplainer.errors import ExplainError, GraphError, RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("three-motifs", num_graphs=84)
    config = gnn_config("paper", data.num_features, data.num_classes)
    settings = TrainConfig(epochs=60, lr=0.02, patience=60)
    model = train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model
    train = data.subset("train")
    each = RCExplainer(target_class="each", epochs=3).fit(model, train, progress=False)
    return SimpleNamespace(data=data, model=model, train=train, test=data.subset("test"), each=each)


def predicted(case, label: int) -> list:
    shown = case.each.explain([*case.test, *case.train], search="none")
    found = [one.graph for one in shown if one.prediction == label]
    assert found
    return found


def test_towards_a_class_only_boundaries_with_it_count(case) -> None:
    fitted = RCExplainer(target_class=1, epochs=2).fit(case.model, case.train, progress=False)
    assert (fitted.regions.boundaries.classes == 1).any(1).all()
    assert fitted.targets == (1,)


def test_the_counterfactual_has_to_be_the_class_that_was_asked_for(case) -> None:
    for label in range(3):
        graphs = predicted(case, label)[:6]
        for target in {0, 1, 2} - {label}:
            for one in case.each.explain(graphs, target_class=target, search="greedy"):
                found = one.counterfactual
                assert found.flipped == (found.prediction == target)


def test_one_network_answers_for_every_other_class_differently(case) -> None:
    graph = predicted(case, 0)[0]
    scores = [case.each.explain(graph, search="none", target_class=target).edge_scores for target in (None, 1, 2)]
    assert not torch.allclose(scores[1], scores[2])
    assert not torch.allclose(scores[0], scores[1])


def test_an_explainer_of_one_target_is_always_asked_about_it(case) -> None:
    fitted = RCExplainer(target_class=2, epochs=2).fit(case.model, case.train, progress=False)
    graph = predicted(case, 0)[0]
    assert torch.equal(fitted.explain(graph).edge_scores, fitted.explain(graph, target_class=2).edge_scores)
    with pytest.raises(RCExplainerError, match="fitted for target_class 2, not 1"):
        fitted.explain(graph, target_class=1)


def test_without_training_for_it_the_scores_stay_and_the_search_goes_there(case) -> None:
    fitted = RCExplainer(epochs=2).fit(case.model, case.train, progress=False)
    graph = predicted(case, 0)[0]
    plain, asked = fitted.explain(graph), fitted.explain(graph, target_class=1)
    assert torch.equal(plain.edge_scores, asked.edge_scores)
    assert asked.counterfactual.flipped == (asked.counterfactual.prediction == 1)


def test_saved_and_loaded_it_answers_the_same(case, tmp_path) -> None:
    path = case.each.save(tmp_path / "each.safetensors")
    again = rc.load(path, case.model)
    graph = predicted(case, 0)[0]
    for target in (None, 1, 2):
        one, other = (some.explain(graph, target_class=target).edge_scores for some in (case.each, again))
        assert torch.equal(one, other)


def test_impossible_targets(case) -> None:
    graphs = predicted(case, 0)
    with pytest.raises(GraphError, match="class 0 is predicted already"):
        case.each.explain(graphs[0], target_class=0)
    with pytest.raises(RCExplainerError, match="no target_class 3: the model has the classes 0 to 2"):
        case.each.explain(graphs[0], target_class=3)
    with pytest.raises(RCExplainerError, match="no target_class 7"):
        RCExplainer(target_class=7, epochs=1).fit(case.model, case.train, progress=False)
    with pytest.raises(RCExplainerError, match="got 'all'"):
        RCExplainer(target_class="all")  # type: ignore[arg-type]
    with pytest.raises(ExplainError) as caught:
        case.each.explain([graphs[0], predicted(case, 1)[0]], target_class=1)
    assert caught.value.results[0].prediction == 0


def test_joined_regions_keep_their_boundaries(case) -> None:
    parts = [RCExplainer(target_class=t, epochs=1).fit(case.model, case.train, progress=False).regions for t in (0, 1)]
    both = Regions.joined(parts)
    x = torch.randn(5, parts[0].boundaries.weight.size(1), generator=torch.Generator().manual_seed(0))
    second = torch.zeros(5, dtype=torch.long)
    expected = parts[1].margins(x, second)
    found = both.margins(x, second + len(parts[0]))[:, : expected.size(1)]
    torch.testing.assert_close(found, expected)


def test_a_class_that_all_are_predicted_as_is_left_out_of_the_targets(case) -> None:
    """Held out are graphs of one class only: nothing can be led to it, but to the others."""
    same = predicted(case, 0)
    fitted = RCExplainer(target_class="each", epochs=1).fit(case.model, case.train, val=same[:4], progress=False)
    assert fitted.explain(same[0], target_class=1).edge_scores.isfinite().all()
    with pytest.raises(
        RCExplainerError, match="all 4 instances of the validation search are predicted as target_class 0 already"
    ):
        RCExplainer(target_class=0, epochs=1).fit(case.model, case.train, val=same[:4], progress=False)


@pytest.mark.parametrize("target", ["x", 1.0, True, 7])
def test_a_target_is_one_of_the_models_classes(case, target) -> None:
    with pytest.raises(RCExplainerError, match="there is no target_class"):
        case.each.explain(case.test[0], target_class=target)


def test_a_deep_head_leads_to_a_class_that_is_never_the_second_largest() -> None:
    """Classes on a line: from the first to the last there is no common boundary at any sample, and yet a way."""

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = SAGEConv(2, 8)
            self.head = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))

        def forward(self, x, edge_index):
            return self.head(self.conv(x, edge_index).relu())

    torch.manual_seed(0)
    label = torch.arange(80) % 4
    graph = Data(x=torch.randn(80, 2) * 0.2, edge_index=to_undirected(torch.randint(80, (2, 200))), y=label)
    graph.x[:, 0] += label
    model = Line()
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(150):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(graph.x, graph.edge_index), label).backward()
        optimiser.step()
    settings = {"task": "node", "target_class": 3, "restarts": 1}
    short, long = (RCExplainer(**settings, epochs=epochs).fit(model, graph, progress=False) for epochs in (1, 15))
    assert all(len(region.rows) for region in long.regions.regions)
    assert all(math.isfinite(epoch.val) for epoch in long.history)
    far = int((model(graph.x, graph.edge_index).argmax(1) == 0).nonzero()[0])
    scores = [fitted.explain(graph, index=far, search="none").edge_scores for fitted in (short, long)]
    assert not torch.equal(*scores)


def test_a_smooth_head_is_said_once_whatever_is_asked(caplog) -> None:
    class Smooth(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = SAGEConv(2, 8)
            self.head = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))

        def forward(self, x, edge_index):
            return self.head(self.conv(x, edge_index).relu()) * 5

    torch.manual_seed(1)
    graph = Data(x=3 * torch.randn(60, 2), edge_index=to_undirected(torch.randint(60, (2, 120))))
    settings = {"task": "node", "target_class": "each", "restarts": 1, "epochs": 1}
    model = Smooth()
    with torch.no_grad():
        model.head[2].bias -= model(graph.x, graph.edge_index).mean(0) / 5  # some nodes of every class
        RCExplainer(**settings, on_collapse="report").fit(model, graph, progress=False)
    assert sum("not piecewise linear" in record.message for record in caplog.records) == 1
