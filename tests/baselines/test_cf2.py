"""CF² on a model whose reasons are known: what is enough and what is necessary; its loss by hand."""

from math import exp

import pytest
import torch

from rcexplainer.baselines import CF2
from rcexplainer.baselines.cf2 import lead
from rcexplainer.baselines.soft_masks import SoftBatch
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, GNNConfig, split_model
from rcexplainer.gnn.instances import Instances
from tests.baselines.marked import LOLLIPOP, STAR, CountsMarks, marked_graph, score_of
from tests.gnn.graphs import make_graphs
from tests.gnn.zoo import FEATURES


def soft_batch(classes: int = 3) -> SoftBatch:
    torch.manual_seed(5)
    graphs = make_graphs(4)
    model = GNN(GNNConfig(FEATURES, classes, conv="graphconv", width=8, layers=2)).eval()
    instances = Instances(split_model(model, graphs), graphs)
    labels = instances.passes(lambda done: done.output).argmax(1)
    return SoftBatch(instances.split, *instances[instances.everything], labels)


def test_the_loss_of_both_sides_is_that_of_the_formula() -> None:
    soft, method = soft_batch(), CF2(alpha=0.3, gamma=0.4)
    mask = torch.linspace(0.05, 0.95, len(soft.units))
    with torch.no_grad():
        hinges = method.hinges(lead(soft, mask), lead(soft, 1 - mask))
        outputs = [soft.run(m).output.tolist() for m in (mask, 1 - mask)]
    for row, label in enumerate(soft.labels.tolist()):
        sides = []
        for output in outputs:
            total = sum(exp(value) for value in output[row])
            p = [exp(value) / total for value in output[row]]
            sides.append((p[label], max(p[k] for k in range(3) if k != label)))
        (s_f, runner_f), (p_c, runner_c) = sides
        s_c = -p_c
        expected = 0.3 * max(0.0, 0.4 + runner_f - s_f) + 0.7 * max(0.0, 0.4 - runner_c - s_c)
        assert hinges[row].item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 1.0], ids=["counterfactual", "factual"])
def test_each_side_moves_the_mask(alpha: float) -> None:
    soft, method = soft_batch(), CF2(alpha=alpha, gamma=1.0)
    p = soft.per_unit(1.0).requires_grad_()
    (slope,) = torch.autograd.grad(method.hinges(lead(soft, p.sigmoid()), lead(soft, 1 - p.sigmoid())).sum(), p)
    assert (slope != 0).all()


def test_descent_lowers_the_loss_of_every_instance() -> None:
    soft, method = soft_batch(), CF2(steps=50)

    def losses(p: torch.Tensor) -> torch.Tensor:
        mask = p.sigmoid()
        size = torch.zeros(len(soft.labels)).index_add(0, soft.units.owner, mask)
        return size + method.weight * method.hinges(lead(soft, mask), lead(soft, 1 - mask))

    found = method.optimise(soft)
    with torch.no_grad():
        assert (losses(found) < losses(soft.per_unit(1.0))).all()


@pytest.mark.parametrize("task", ["graph", "node"])
def test_the_edge_that_decides_is_all_that_is_kept(task: str) -> None:
    pairs, marked, edge = (LOLLIPOP, 7, (6, 7)) if task == "graph" else (STAR, 3, (0, 3))
    graph = marked_graph(pairs, [marked])
    how = {"index": 0} if task == "node" else {}
    found = CF2(task=task, steps=80, lr=0.2).fit(CountsMarks(task, 0.5), graph).explain(graph, **how, search="none")
    assert score_of(found, *edge) > 0.5
    assert int((found.unit_scores > 0.5).sum()) == 1


@pytest.mark.parametrize(
    ("threshold", "small", "large"),
    [(0.5, 1.0, 0.0), (3.5, 0.0, 1.0)],
    ids=["one is enough, all are necessary", "all are needed, without one it is lost"],
)
def test_enough_and_necessary_are_two_things(threshold: float, small: float, large: float) -> None:
    """With four marked neighbours one is enough, or all are needed: one side keeps more than the other, and both
    together keep as much as that side."""
    graph = marked_graph(STAR, [3, 4, 5, 6])

    def kept(alpha: float) -> float:
        fitted = CF2(task="node", alpha=alpha, steps=80, lr=0.2).fit(CountsMarks("node", threshold), graph)
        return float(fitted.explain(graph, index=0, search="none").unit_scores.sum())

    most = kept(large)
    assert most > kept(small) + 1
    assert kept(0.5) == pytest.approx(most, abs=0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": 1.5}, "alpha must be a share from 0 to 1, got 1.5"),
        ({"weight": 0.0}, "weight must be a finite number > 0, got 0.0"),
        ({"gamma": -1.0}, "gamma must be a finite number ≥ 0, got -1.0"),
        ({"steps": 0}, "steps must be a whole number ≥ 1, got 0"),
        ({"lr": float("nan")}, "lr must be a finite number > 0, got nan"),
        ({"alfa": 0.5}, "unknown setting 'alfa'; did you mean alpha?"),
    ],
)
def test_impossible_settings(wrong, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        CF2(**wrong)
