"""The four definitions of ground truth on a node set, by hand: own motif or every motif, AUC or accuracy.

Two triangles, 0–1–2 and 4–5–6, joined by the path 2–3–4. Node 0 is explained within its three hops: 4 is met, and the
edges 4–5 and 4–6 are not.
"""

import math

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import MotifRecovery, motif_accuracy, motif_auc, motif_recovery
from rcexplainer.metrics.motif import auc, motif_aucs
from tests.metrics.test_fidelity import path

PAIRS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)]


def whole() -> Data:
    there = torch.tensor(PAIRS).T
    motif = torch.tensor([0, 0, 0, -1, -1, 1, 1, 1])
    return Data(
        x=torch.ones(7, 1),
        edge_index=torch.cat([there, there.flip(0)], 1),
        edge_motif=(motif >= 0).repeat(2),
        edge_motif_id=motif.repeat(2),
        node_motif_id=torch.tensor([0, 0, 0, -1, 1, 1, 1]),
    )


def explained(
    node: int, inside: list[int], scores: list[float], relevance: list[float] | None = None, fixed: tuple[int, ...] = ()
) -> Explanation:
    """A node whose computation graph has the pairs at these places, with these scores; no message on `fixed` ones."""
    graph = whole()
    ids = torch.tensor(inside + [place + len(PAIRS) for place in inside])
    dead = torch.tensor([place in fixed for place in inside] * 2)
    part = Data(x=graph.x, edge_index=graph.edge_index[:, ids], edge_fixed=dead)
    probabilities = torch.tensor([0.1, 0.9])
    second = None if relevance is None else torch.tensor(relevance * 2)
    return Explanation(graph, torch.tensor(scores * 2), 1, probabilities, (), None, node, part, ids, second)


def test_auc_counts_pairs_of_edges() -> None:
    # own: 0–1, 0–2, 1–2 against 2–3, 3–4, 4–5: of nine pairs the motif wins all but 1–2 (.3) against 4–5 (.5)
    one = explained(0, [0, 1, 2, 3, 4, 5], [0.9, 0.8, 0.3, 0.2, 0.1, 0.5])
    assert motif_auc([one]) == pytest.approx(8 / 9)
    # every: 4–5 is a motif's edge too, so that the two of the path lose everywhere
    assert motif_auc([one], "every") == 1.0


def test_auc_is_pooled_over_the_instances() -> None:
    good = explained(0, [0, 3], [0.9, 0.8])
    low = explained(1, [0, 3], [0.4, 0.1])
    assert motif_auc([good]) == motif_auc([low]) == 1.0
    assert motif_auc([good, low]) == pytest.approx(3 / 4)  # .4 is below the other instance's .8


def test_accuracy_walks_the_edges_until_as_many_nodes_are_met_as_the_motif_has() -> None:
    right = explained(0, [0, 1, 2, 3, 4], [0.9, 0.8, 0.3, 0.2, 0.1])
    assert motif_accuracy([right]) == 1.0  # 0–1, then 2
    wrong = explained(0, [0, 1, 2, 3, 4], [0.2, 0.3, 0.1, 0.8, 0.9])
    assert motif_accuracy([wrong]) == pytest.approx(1 / 3)  # 3–4, then 2: only 2 is in the triangle
    assert motif_accuracy([wrong], "every") == pytest.approx(1 / 3)  # 4–5 and 4–6 are not in this computation graph
    both = explained(0, [0, 1, 2, 3, 4, 5], [0.2, 0.3, 0.1, 0.8, 0.7, 0.9])
    assert motif_accuracy([both]) == pytest.approx(1 / 3)  # 4–5, then 2–3 of which one place is left for 2
    assert motif_accuracy([both], "every") == 1.0
    assert motif_accuracy([right, wrong]) == pytest.approx((1 + 1 / 3) / 2)


def test_of_a_graph_the_marked_edges_are_meant() -> None:
    graph = whole()
    scores = torch.tensor([0.9, 0.9, 0.9, 0.1, 0.2, 0.8, 0.8, 0.8] * 2)
    one = Explanation(graph, scores, 1, torch.tensor([0.1, 0.9]))
    assert motif_auc([one]) == motif_accuracy([one]) == 1.0


def test_what_has_no_motif_is_left_out() -> None:
    outside = explained(3, [3, 4], [0.5, 0.6])
    assert math.isnan(motif_accuracy([outside]))
    inside = explained(0, [0, 1, 2], [0.5, 0.6, 0.7])
    assert motif_accuracy([outside, inside]) == 1.0


def test_what_is_missing_is_named() -> None:
    graph = whole()
    del graph.node_motif_id
    one = Explanation(graph, torch.zeros(16), 1, torch.tensor([0.1, 0.9]), (), None, 0, graph, torch.arange(16))
    with pytest.raises(RCExplainerError, match="`node_motif_id`"):
        motif_auc([one])
    assert 0 <= motif_auc([one], "every") <= 1
    with pytest.raises(RCExplainerError, match="own, every, got 'mine'"):
        motif_accuracy([one], "mine")  # type: ignore[arg-type]


def test_auc_by_hand():
    positive = torch.tensor([True, True, False, False])
    assert auc(torch.tensor([4.0, 3.0, 2.0, 1.0]), positive) == 1.0
    assert auc(torch.tensor([1.0, 2.0, 3.0, 4.0]), positive) == 0.0
    assert auc(torch.tensor([4.0, 2.0, 3.0, 1.0]), positive) == 0.75
    assert auc(torch.ones(4), positive) == 0.5
    assert auc(torch.tensor([2.0, 1.0, 1.0, 0.0]), positive) == 0.875
    assert math.isnan(auc(torch.ones(4), torch.ones(4, dtype=torch.bool)))


def test_motif_auc_pools_the_edges_of_all_graphs():
    one, two = path(2, [0.9, 0.2]), path(2, [0.3, 0.1])
    one.graph.edge_motif = torch.tensor([True, False] * 2)
    two.graph.edge_motif = torch.tensor([True, False] * 2)
    assert motif_auc([one, two]) == 1.0
    two.graph.edge_motif = torch.tensor([False, True] * 2)
    assert motif_auc([one, two]) == 0.5
    with pytest.raises(RCExplainerError, match="carry `edge_motif`"):
        motif_auc([path(2, [0.1, 0.2])])


def test_live_edges_are_those_that_can_matter() -> None:
    """4–5 is at the rim: everybody scores it 0, so that it adds easy wins to the AUC over all edges."""
    one = explained(0, [0, 1, 2, 3, 4, 5], [0.9, 0.8, 0.3, 0.4, 0.1, 0.0], fixed=(5,))
    assert motif_auc([one]) == pytest.approx(8 / 9)
    assert motif_auc([one], live=True) == pytest.approx(5 / 6)
    assert motif_recovery([one]).live_auc == motif_auc([one], live=True)


def test_an_auc_of_its_own_for_every_instance() -> None:
    good, low, same = explained(0, [0, 3], [0.9, 0.8]), explained(1, [0, 3], [0.4, 0.1]), explained(0, [0, 1], [1, 0])
    assert motif_auc([good, low]) == pytest.approx(3 / 4)
    assert motif_auc([good, low, same], pooled=False) == 1.0  # the last has nothing outside its motif
    assert math.isnan(motif_auc([same], pooled=False))
    first, second, none = motif_aucs([good, low, same])
    assert first == second == 1.0
    assert math.isnan(none)


def test_both_readings_are_compared_with_the_motif() -> None:
    one = explained(0, [0, 1, 2, 3, 4], [0.2, 0.3, 0.1, 0.8, 0.9], [0.9, 0.8, 0.7, 0.2, 0.1])
    assert motif_auc([one]) == 0.0
    assert motif_auc([one], reading="relevance") == motif_accuracy([one], reading="relevance") == 1.0
    assert motif_recovery([one], "relevance") == MotifRecovery(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(RCExplainerError, match="no edge_relevance"):
        motif_auc([explained(0, [0, 3], [0.9, 0.8])], reading="relevance")
