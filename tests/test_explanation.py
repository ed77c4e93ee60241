"""Results by hand: a triangle with a tail, a self-loop, a doubled edge and a node apart."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation

#        0–1   1–0   1–2   2–1   2–0   0–0   2→3   0–1 again
EDGES = [[0, 1, 1, 2, 2, 0, 2, 0], [1, 0, 2, 1, 0, 0, 3, 1]]
SCORES = [0.9, 0.9, 0.3, 0.3, 0.6, 0.0, 0.3, 0.9]


def graph() -> Data:
    return Data(x=torch.ones(5, 2), edge_index=torch.tensor(EDGES))


def explanation(**changes) -> Explanation:
    settings = {
        "graph": graph(),
        "scores": torch.tensor(SCORES),
        "prediction": 1,
        "probabilities": torch.tensor([0.2, 0.8]),
        **changes,
    }
    return Explanation(**settings)


def ones(mask: torch.Tensor) -> list[int]:
    assert mask.dtype == torch.bool
    return mask.nonzero().flatten().tolist()


def test_units_and_their_scores() -> None:
    shown = explanation()
    assert shown.units.pair.T.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
    torch.testing.assert_close(shown.unit_scores, torch.tensor([0.9, 0.6, 0.3, 0.3]))


def test_top() -> None:
    shown = explanation()
    assert ones(shown.top(0)) == []
    assert ones(shown.top(1)) == [0, 1, 7]  # both directions, and the duplicate
    assert ones(shown.top(2)) == [0, 1, 4, 7]
    assert ones(shown.top(3)) == [0, 1, 2, 3, 4, 7]  # a tie: the first pair of nodes
    assert ones(shown.top(4)) == ones(shown.top(99)) == [0, 1, 2, 3, 4, 6, 7]  # never the self-loop
    with pytest.raises(RCExplainerError, match="k ≥ 0, a number of edges, got -1"):
        shown.top(-1)


@pytest.mark.parametrize(
    ("sparsity", "units"), [(0.0, 4), (0.2, 3), (0.3, 3), (0.4, 2), (0.5, 2), (0.75, 1), (0.95, 1), (1.0, 1)]
)
def test_at_sparsity(sparsity: float, units: int) -> None:
    shown = explanation()
    assert units == max(1, round((1 - sparsity) * 4))
    assert torch.equal(shown.at_sparsity(sparsity), shown.top(units))


@pytest.mark.parametrize("sparsity", [-0.1, 1.1, float("nan")])
def test_a_sparsity_is_a_share(sparsity: float) -> None:
    with pytest.raises(RCExplainerError, match=r"a sparsity is a share from 0 to 1, such as 0.9, got"):
        explanation().at_sparsity(sparsity)


def test_edges_are_above_one_half() -> None:
    assert ones(explanation().edges) == [0, 1, 4, 7]
    assert ones(explanation(scores=torch.full((8,), 0.5)).edges) == []


def test_edges_are_those_of_a_counterfactual_where_no_score_is_above_one_half() -> None:
    low, source = torch.full((8,), 0.4), 1
    flip = Counterfactual(graph(), torch.tensor([2, 3]), source, torch.tensor([0.7, 0.3]))
    failed = Counterfactual(graph(), torch.tensor([2, 3]), source, torch.tensor([0.4, 0.6]))
    assert ones(explanation(scores=low, counterfactual=flip).edges) == [2, 3]
    assert ones(explanation(scores=low, counterfactual=failed).edges) == []
    assert ones(explanation(counterfactual=flip).edges) == [0, 1, 4, 7]


def test_the_score_of_a_node_is_that_of_its_best_edge() -> None:
    assert explanation().node_scores.tolist() == pytest.approx([0.9, 0.9, 0.6, 0.3, 0.0])


def test_nothing_to_explain() -> None:
    for columns, num_nodes in (([[], []], 3), ([[0, 1], [0, 1]], 2), ([[], []], 1)):
        edge_index = torch.tensor(columns, dtype=torch.long)
        count = edge_index.size(1)
        shown = explanation(graph=Data(x=torch.ones(num_nodes, 2), edge_index=edge_index), scores=torch.zeros(count))
        assert len(shown.units) == 0
        assert shown.node_scores.tolist() == [0.0] * num_nodes
        for mask in (shown.top(3), shown.at_sparsity(0.5), shown.edges):
            assert mask.tolist() == [False] * count
        assert "0 edges" in repr(shown)


def test_as_text() -> None:
    assert repr(explanation()) == "Explanation(class 1 (0.80), 4 edges)"
    removed = torch.tensor([0, 1, 4, 7])
    probabilities = torch.tensor([0.7, 0.3])
    flipped = Counterfactual(graph(), removed, 1, probabilities, minimal=True)
    named = explanation(counterfactual=flipped, class_names=("dull", "toxic"))
    assert repr(named) == "Explanation(toxic (0.80), 4 edges, → dull without 2 edges (minimal))"
    still = Counterfactual(graph(), removed, 1, probabilities.flip(0))
    said = "Explanation(class 1 (0.80), 4 edges, no flip found, still class 1 without 2 edges)"
    assert repr(explanation(counterfactual=still)) == said
    disputed = Counterfactual(graph(), removed, 1, probabilities, disputed=True)
    assert repr(explanation(counterfactual=disputed)).endswith("no flip found, class 0 without 2 edges (disputed))")
    nothing = Counterfactual(graph(), torch.tensor([], dtype=torch.long), 1, probabilities.flip(0), exhausted=True)
    assert repr(explanation(counterfactual=nothing)).endswith("4 edges, no flip found (budget spent))")
    for confidence in (None, 0.8):
        aimed = replace(still, target=0, confidence=confidence)
        words = "no flip to dull found, still toxic" if confidence is None else "reaches 0.30 of 0.8 for dull"
        shown = explanation(counterfactual=aimed, class_names=("dull", "toxic"))
        assert repr(shown).endswith(f"4 edges, {words} without 2 edges)")
        none = replace(nothing, target=0, confidence=confidence, exhausted=False)
        assert repr(explanation(counterfactual=none)).endswith("4 edges, no flip to class 0 found)")


def test_whether_it_flipped_follows_from_what_the_model_said() -> None:
    said = torch.tensor([0.1, 0.7, 0.2])
    for source, target, flipped in ((0, None, True), (1, None, False), (0, 1, True), (0, 2, False)):
        found = Counterfactual(graph(), torch.tensor([0]), source, said, target=target)
        assert (found.prediction, found.flipped) == (1, flipped)
    assert not Counterfactual(graph(), torch.tensor([0]), 0, said, disputed=True).flipped
    assert not Counterfactual(graph(), torch.tensor([0]), 0, torch.tensor([0.1, torch.nan, 0.2])).flipped


def test_with_a_confidence_a_flip_must_be_that_sure() -> None:
    said = torch.tensor([0.1, 0.7, 0.2])
    for source, target, confidence, reached, flipped in (
        (0, None, 0.7, 0.7, False),  # .7 in single precision is less
        (0, None, 0.69, 0.7, True),
        (0, None, 0.8, 0.7, False),
        (1, None, 0.4, 0.2, False),
        (0, 1, 0.6, 0.7, True),
        (0, 2, 0.6, 0.2, False),
    ):
        found = Counterfactual(graph(), torch.tensor([0]), source, said, target=target, confidence=confidence)
        assert found.reached == pytest.approx(reached)
        assert found.flipped is flipped
    unsure = Counterfactual(graph(), torch.tensor([0, 1]), 0, said, confidence=0.8)
    assert repr(explanation(counterfactual=unsure)).endswith("4 edges, reaches 0.70 of 0.8 without 1 edge)")
    sure = Counterfactual(graph(), torch.tensor([0, 1]), 0, said, minimal=True, confidence=0.6)
    assert repr(explanation(counterfactual=sure)).endswith("→ class 1 without 1 edge (minimal))")


def test_a_counterfactual_shows_what_is_left() -> None:
    found = Counterfactual(graph(), torch.tensor([0, 1, 7]), 1, torch.tensor([0.7, 0.3]), minimal=True)
    assert ones(found.removed) == [0, 1, 7]
    assert found.graph.edge_index.T.tolist() == [[1, 2], [2, 1], [2, 0], [0, 0], [2, 3]]


def test_what_is_known_of_a_computation_graph_is_shown_on_the_whole_graph() -> None:
    inside = torch.tensor([2, 3, 6])  # 1–2 in both directions, 2→3
    whole = graph()
    part = Data(x=whole.x, edge_index=whole.edge_index[:, inside])
    shown = explanation(scores=torch.tensor([0.7, 0.7, 0.2]), index=1, computation=part, edge_ids=inside)
    torch.testing.assert_close(shown.edge_scores, torch.tensor([0.0, 0.0, 0.7, 0.7, 0.0, 0.0, 0.2, 0.0]))
    assert shown.units.pair.T.tolist() == [[1, 2], [2, 3]]
    assert ones(shown.top(1)) == [2, 3]
    assert ones(shown.at_sparsity(0.0)) == [2, 3, 6]  # sparsity counts the units inside
    assert shown.instance is part
    assert ones(shown.within(shown.top(1))) == [0, 1]


def test_frozen() -> None:
    with pytest.raises(AttributeError):
        explanation().prediction = 0  # type: ignore[misc]


def test_relevance_is_a_second_reading_of_the_same_edges() -> None:
    inside = torch.tensor([2, 3, 6])
    whole = graph()
    part = Data(x=whole.x, edge_index=whole.edge_index[:, inside])
    both = {"scores": torch.tensor([0.7, 0.7, 0.2]), "relevance": torch.tensor([0.1, 0.1, 0.8])}
    shown = explanation(index=1, computation=part, edge_ids=inside, **both)
    torch.testing.assert_close(shown.edge_relevance, torch.tensor([0.0, 0.0, 0.1, 0.1, 0.0, 0.0, 0.8, 0.0]))
    torch.testing.assert_close(shown.unit_relevance, torch.tensor([0.1, 0.8]))
    assert ones(shown.top(1)) == [2, 3]  # rankings and sets are those of the scores
    assert torch.equal(shown.reading("scores"), both["scores"])
    assert torch.equal(shown.reading("relevance"), both["relevance"])


def test_a_method_without_relevance_says_so() -> None:
    with pytest.raises(RCExplainerError, match="has no edge_relevance: its method reads edge_scores alone"):
        _ = explanation().edge_relevance
    with pytest.raises(RCExplainerError, match="reading must be one of scores, relevance, got 'score'"):
        explanation().reading("score")
