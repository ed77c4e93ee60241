"""Agreement of two explanations, by hand."""

import math

import pytest
import torch

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.explanation import Explanation
from rcexplainer.metrics.agreement import edge_auc, jaccard, node_accuracy
from tests.metrics.paths import undirected


def explained(pairs: list[tuple[int, int]], scores: list[float], nodes: int, removed: list[int] | None = None):
    """These node pairs with these scores, and a counterfactual without the pairs at the positions `removed`."""
    graph = undirected(pairs, nodes)
    probabilities = torch.tensor([0.2, 0.8])
    found = None
    if removed is not None:
        gone = torch.zeros(len(pairs), dtype=torch.bool)
        gone[removed] = True
        after = probabilities.flip(0) if removed else probabilities
        found = Counterfactual(graph, gone.repeat(2).nonzero().flatten(), 1, after, bool(removed))
    return Explanation(graph, torch.tensor(scores * 2), 1, probabilities, (), found)


# Four nodes, a square and its diagonal; T_2 = {01, 12}.
CLEAN = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
CLEAN_SCORES = [0.9, 0.8, 0.3, 0.2, 0.1]


def test_edge_auc_by_hand():
    """01 is gone and 13 is new: 12 is the one positive, above 23 and 03, level with 02, below 13."""
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    noisy = explained([(1, 2), (2, 3), (0, 3), (0, 2), (1, 3)], [0.5, 0.2, 0.1, 0.5, 0.7], 4)
    assert edge_auc(clean, noisy, 2) == 2.5 / 4
    assert edge_auc(clean, noisy, 5) == pytest.approx((0 + 0 + 0 + 0) / 4)  # 13 alone is negative, above all others
    assert edge_auc(clean, clean, 2) == 1.0


def test_edge_auc_does_not_depend_on_the_order_of_edges():
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    turned = explained([(b, a) for a, b in CLEAN[::-1]], CLEAN_SCORES[::-1], 4)
    assert edge_auc(clean, turned, 2) == edge_auc(turned, clean, 2) == 1.0


def test_edge_auc_is_undefined_with_one_kind_of_pairs():
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    assert math.isnan(edge_auc(clean, clean, 5))  # all are positive
    assert math.isnan(edge_auc(clean, clean, 8))
    assert math.isnan(edge_auc(clean, explained(CLEAN[2:], [0.3, 0.2, 0.1], 4), 2))  # none is left
    assert math.isnan(edge_auc(clean, explained([], [], 4), 2))


def test_node_accuracy_by_hand():
    """a = (.9, .9, .8, .3) and (.5, .7, .5, .7): the top two are 01 and 13, the top three 012 and 013."""
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    noisy = explained([(1, 2), (2, 3), (0, 3), (0, 2), (1, 3)], [0.5, 0.2, 0.1, 0.5, 0.7], 4)
    assert node_accuracy(clean, noisy, 2) == 1 / 2
    assert node_accuracy(clean, noisy, 3) == pytest.approx(2 / 3)
    assert node_accuracy(clean, noisy, 8) == 1.0
    assert node_accuracy(clean, clean, 2) == 1.0


def test_jaccard_by_hand():
    """{01, 12} and {12, 13}: one of three."""
    clean = explained(CLEAN, CLEAN_SCORES, 4, removed=[0, 1])
    noisy = explained([(1, 2), (2, 3), (1, 3)], [0.5, 0.2, 0.7], 4, removed=[0, 2])
    assert jaccard(clean, noisy) == pytest.approx(1 / 3)
    assert jaccard(clean, clean) == 1.0
    assert math.isnan(jaccard(clean, explained(CLEAN, CLEAN_SCORES, 4, removed=[])))  # that one does not flip
    assert math.isnan(jaccard(explained(CLEAN, CLEAN_SCORES, 4), clean))
