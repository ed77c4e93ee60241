"""The outcome of a search in words, and the bars beside it."""

from dataclasses import replace

import pytest
import torch

from rcexplainer.explanation import Explanation
from rcexplainer.viz.probability_bars import MOST_CLASSES, shown_classes
from rcexplainer.viz.search_outcome import outcome, shortened
from tests.viz.explained import hexagon


def changed(flipped: bool = True, **values) -> Explanation:
    one = hexagon([0, 7, 1, 8], flipped)
    return replace(one, counterfactual=replace(one.counterfactual, **values))


@pytest.mark.parametrize(
    ("one", "headline", "detail"),
    [
        (changed(), "✓ flipped", "safe (0.70) without 2 edges"),
        (changed(minimal=True), "✓ flipped", "safe (0.70) without 2 edges, all needed"),
        (changed(False), "✗ not flipped", "still toxic (0.80) without 2 edges"),
        (changed(False, exhausted=True), "✗ not flipped", "still toxic (0.80) without 2 edges, budget spent"),
        (changed(confidence=0.9), "✗ not flipped", "reaches 0.70 of 0.9 without 2 edges"),
        (changed(disputed=True), "✗ disputed", "the search and the final run disagree without 2 edges"),
        (hexagon([], flipped=False), "✗ not flipped", "no edge could be deleted"),
        (hexagon(), "no counterfactual", "none was searched for"),
    ],
)
def test_every_ending_has_its_words(one: Explanation, headline: str, detail: str) -> None:
    found = outcome(one)
    assert (found.headline, found.detail) == (headline, detail)
    assert found.found == headline.startswith("✓")


def test_another_class_than_the_one_aimed_at_is_named() -> None:
    one = hexagon([0, 7], names=("safe", "toxic", "odd"))
    case = replace(one.counterfactual, target=2, probabilities=torch.tensor([0.7, 0.2, 0.1]))
    found = outcome(replace(one, counterfactual=case))
    assert found.detail == "safe (0.70), not odd, without 1 edge"
    still = replace(case, probabilities=torch.tensor([0.1, 0.7, 0.2]))
    assert outcome(replace(one, counterfactual=still)).detail == "still toxic (0.70), not odd, without 1 edge"


def test_long_names_keep_their_ends() -> None:
    assert shortened("a class") == "a class"
    assert shortened("an exceedingly long name of class 7", 13) == "an exce…ass 7"
    assert len(shortened("x" * 99)) == 24


def test_of_many_classes_the_ones_in_question_are_shown() -> None:
    one = hexagon([0, 7])
    before, after = torch.full((40,), 0.01), torch.full((40,), 0.01)
    before[30], after[20] = 0.6, 0.6
    case = replace(one.counterfactual, probabilities=after, target=39)
    shown = shown_classes(replace(one, probabilities=before, prediction=30, counterfactual=case))
    assert len(shown) == MOST_CLASSES
    assert {20, 30, 39} < set(shown)
