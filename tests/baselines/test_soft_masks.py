"""Soft masks over batches: log-odds, the price of a mask, and what is added up per instance."""

import math

import pytest
import torch

from rcexplainer.baselines.soft_masks import SoftBatch, edges_of, in_batches, size_and_entropy, squash
from rcexplainer.core.units import find_units
from rcexplainer.gnn import split_model
from rcexplainer.gnn.instances import Instances
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of


@pytest.fixture
def instances():
    torch.manual_seed(0)
    graphs = make_graphs(3)
    return Instances(split_model(zoo.Weighted().eval(), graphs), graphs)


def batch_of(instances: Instances, label: int = 1) -> SoftBatch:
    labels = torch.full((len(instances),), label)
    return SoftBatch(instances.split, *instances[instances.everything], labels)


def test_log_odds_of_three_classes(instances):
    soft = batch_of(instances)
    done = soft.run(soft.per_unit(1.0))
    p = done.output.softmax(1)[:, 1]
    torch.testing.assert_close(soft.log_odds(done), (p / (1 - p)).log())
    torch.testing.assert_close(soft.log_prob(done), p.log())


def test_a_mask_of_ones_is_the_model_itself(instances):
    soft = batch_of(instances)
    torch.testing.assert_close(soft.run(soft.per_unit(1.0)).output, soft.split.run(soft.batch).output)


def test_masks_are_as_exact_as_the_model():
    graphs = make_graphs(2)
    for graph in graphs:
        graph.x, graph.edge_attr = graph.x.double(), graph.edge_attr.double()
    torch.manual_seed(0)
    soft = batch_of(Instances(split_model(zoo.Weighted().double().eval(), graphs), graphs))
    assert soft.per_unit(0.5).dtype == torch.double


def test_price_of_a_mask_by_hand():
    # Two graphs: a pair in both directions and one edge more; and one edge alone.
    edges = torch.tensor([[0, 1, 1, 3], [1, 0, 2, 4]])
    units = find_units(edges, 5, torch.tensor([0, 0, 0, 1, 1]), 2)
    assert edges_of(units).tolist() == [2, 1, 1]
    mask = torch.tensor([0.5, 0.9, 0.2], dtype=torch.double)

    def entropy(m: float) -> float:
        return -m * math.log(m) - (1 - m) * math.log(1 - m)

    price = size_and_entropy(mask.logit(), edges_of(units), units, 0.1, 3.0)
    first = 0.1 * (2 * 0.5 + 0.9) + 3 * (2 * entropy(0.5) + entropy(0.9)) / 3
    assert price.tolist() == pytest.approx([first, 0.1 * 0.2 + 3 * entropy(0.2)])
    assert size_and_entropy(mask.logit(), torch.zeros(3).long(), units, 0.1, 3.0).tolist() == [0, 0]


def test_certain_masks_have_a_finite_gradient():
    units = find_units(torch.tensor([[0, 1], [1, 2]]), 3, torch.zeros(3).long(), 1)
    logits = torch.tensor([200.0, -200.0], requires_grad=True)
    size_and_entropy(logits, edges_of(units), units, 1.0, 1.0).sum().backward()
    assert logits.grad.tolist() == [0, 0]


def test_squash_keeps_order_and_sign_where_a_sigmoid_saturates():
    values = torch.tensor([-1000.0, -30.0, -20.0, 0.0, 20.0, 30.0, 1000.0])
    scores = squash(values)
    assert (scores.diff() > 0).all()
    assert float(scores[3]) == 0.5
    assert 0 < float(scores[0]) < float(scores[-1]) < 1


def test_batches_come_in_order_with_gradients_and_leave_no_trace(instances):
    model = instances.split.model.train()
    before = state_of(model)

    def score(soft: SoftBatch) -> torch.Tensor:
        mask = soft.per_unit(1.0).requires_grad_()
        return torch.autograd.grad(soft.log_prob(soft.run(mask)).sum(), mask)[0]

    labels = torch.tensor([0, 1, 2])
    with torch.no_grad():
        together = in_batches(instances, labels, score)
    assert state_of(model) == before
    alone = [in_batches(instances.some(torch.tensor([k])), labels[k : k + 1], score) for k in range(3)]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-6, rtol=0)
    with pytest.raises(RuntimeError, match="out of luck"):
        in_batches(instances, labels, raising)
    assert state_of(model) == before


def raising(soft: SoftBatch) -> torch.Tensor:
    soft.split.model.left_behind = True
    raise RuntimeError("out of luck")
