"""What no trial of a model shows: graphs on the boundary, and models that mix few graphs, or large batches alone."""

import logging

import torch
from torch import Tensor, nn

import rcexplainer as rc
from tests.zoo import graph_models as zoo
from tests.zoo.claims import check


def test_a_graph_on_the_boundary_gets_the_class_it_has_alone(caplog) -> None:
    """Its class in a batch is a matter of rounding; that is no reason to run everything one by one."""
    graphs, model = (
        list(zoo.graphs()[:30]),
        zoo.balanced(zoo.built(zoo.EXPLAINED["mean subtraction, batch"]), zoo.graphs()),
    )
    fitted = rc.baselines.Random().fit(model, graphs)
    with caplog.at_level(logging.WARNING):
        for one in graphs[:12]:
            with torch.no_grad():
                logits = model(one.x, one.edge_index, torch.zeros(one.num_nodes, dtype=torch.long))[0]
                model.head.bias[0] -= logits[0] - logits[1] + 2e-7
            assert check(model, fitted.explain(graphs)).wrong == 0
    assert "one by one" not in caplog.text


class FewMix(nn.Module):
    """Nodes with an extreme first value see each other across graphs; all others are left alone."""

    def __init__(self, above: float) -> None:
        super().__init__()
        self.above = above

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        rare = x[:, :1] > self.above
        return torch.where(rare, x - 3 * (x * rare).sum(0) / rare.sum().clamp_min(1), x)


def test_a_model_that_mixes_few_graphs_is_found_out_while_explaining(caplog, monkeypatch) -> None:
    """4 of 100 graphs: neither the trial nor a sample of 16 need meet one."""
    graphs = zoo.graphs(100, 2)
    model = zoo.balanced(zoo.built(lambda: zoo.Net(FewMix(1.795)), 4), graphs)
    fitted = rc.baselines.Random().fit(model, list(graphs))
    with caplog.at_level(logging.WARNING):
        tally = check(model, fitted.explain(list(graphs)))
    assert tally.wrong == 0
    assert tally.flips >= 20
    assert "run one by one" in caplog.text
    monkeypatch.setattr("rcexplainer.method.results.check_company", lambda *_: None)
    assert check(model, fitted.explain(list(graphs))).wrong > 0  # without the second run they go unnoticed


class OnlyTheFirst(nn.Module):
    """Has an answer for the first 64 graphs of a batch alone."""

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return torch.where(torch.arange(len(x))[:, None] < 64, x, 0.0)


def test_a_model_that_answers_for_the_first_graphs_alone_makes_no_false_claim() -> None:
    """No trial has so many graphs."""
    graphs = zoo.graphs()[:40]
    model = zoo.balanced(zoo.built(lambda: zoo.Net(after=OnlyTheFirst())), graphs)
    tally = check(model, rc.baselines.Occlusion().fit(model, list(graphs)).explain(list(graphs)))
    assert tally.wrong == 0
    assert tally.flips >= 5


def test_a_model_that_mixes_few_graphs_is_found_out_on_one_of_them(caplog) -> None:
    """A graph explained by itself has no company but its own copies, which all share its rare value."""
    graphs = zoo.graphs(100, 2)
    model = zoo.balanced(zoo.built(lambda: zoo.Net(FewMix(1.795)), 4), graphs)
    fitted = rc.baselines.Random().fit(model, list(graphs))
    rare = [graph for graph in graphs if bool((graph.x[:, 0] > 1.0).any())]
    with caplog.at_level(logging.WARNING):
        tally = check(model, [fitted.explain(graph) for graph in rare])
    assert tally.wrong == 0
    assert tally.flips >= 10
