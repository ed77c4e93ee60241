"""Flips that must be sure: what counts, where searches go, what is put back, on models that are tables."""

from math import log, nan

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core.budget import Meter
from rcexplainer.core.counterfactual import FlipQuery, greedy_search, prefix_search, prune, verify
from rcexplainer.core.flip_query import checked_confidence, turned
from rcexplainer.core.near_ties import settle, settled
from rcexplainer.core.verification import Answers, Interference, check_minimal
from rcexplainer.errors import RCExplainerError
from tests.core.test_counterfactual import Rule, ask, removed_set
from tests.core.test_search import Removed, SetFunctions


def by_length(*probabilities: float):
    """p of the predicted class with 0, 1, 2, … units gone; the last one for more."""
    return lambda removed: probabilities[min(len(removed), len(probabilities) - 1)]


@pytest.mark.parametrize("search", [prefix_search, greedy_search])
def test_a_search_goes_on_beyond_the_first_flip(search) -> None:
    falls = by_length(0.9, 0.45, 0.3, 0.15)  # the other class has .55, .7, .85
    assert ask(8, falls, search) == ({0}, True, True)
    assert ask(8, falls, search, confidence=0.6) == ({0, 1}, True, True)
    assert ask(8, falls, search, confidence=0.8) == ({0, 1, 2}, True, True)


@pytest.mark.parametrize("search", [prefix_search, greedy_search])
def test_where_nothing_is_sure_enough_the_surest_is_returned_and_no_flip_is_claimed(search) -> None:
    assert ask(8, by_length(0.9, 0.45, 0.3, 0.4), search, confidence=0.8) == ({0, 1}, False, False)


def test_exactly_the_confidence_is_enough() -> None:
    """In single precision .7 is less than .7, and the number itself decides: 1 − .3 is not enough, .75 is."""
    assert ask(4, by_length(0.9, 0.25), confidence=0.75)[1]
    assert not ask(4, by_length(0.9, 0.3), confidence=0.7)[1]


def test_pruning_puts_back_only_what_leaves_the_model_sure() -> None:
    def value(removed: Removed) -> float:
        return 0.1 if {1, 3, 5} <= removed else 0.3 if {1, 3} <= removed else 0.8

    assert ask(12, value) == ({1, 3}, True, True)
    assert ask(12, value, confidence=0.8) == ({1, 3, 5}, True, True)


def test_pruning_puts_back_what_leaves_the_model_surest() -> None:
    """Either 0 or 3 can go back. 3 has the lowest score; with 0 back the model is surer."""

    def value(removed: Removed) -> float:
        if {1, 2} <= removed and removed & {0, 3}:
            return 0.1 if 3 in removed else 0.2
        return 0.8

    scores, state, flipped = torch.linspace(1, 0, 4), torch.ones(4, dtype=torch.bool), torch.tensor([True])
    for confidence, left in ((None, {0, 1, 2}), (0.6, {1, 2, 3})):
        query = FlipQuery(torch.tensor([0, 4]), Rule(4, value), torch.tensor([0]), confidence=confidence)
        assert removed_set(prune(query, scores, state, flipped).removed) == left


def test_scores_need_not_have_the_precision_of_the_model() -> None:
    """Random numbers are single precision whatever the model; pruning compares them with what a double model says."""
    rule = Rule(4, by_length(0.9, 0.45, 0.3, 0.15))
    query = FlipQuery(
        torch.tensor([0, 4]), lambda *copies: rule(*copies).double(), torch.tensor([0]), max_share=1.0, confidence=0.6
    )
    for search in (prefix_search, greedy_search):
        found = search(query, torch.linspace(1, 0, 4), torch.ones(4, dtype=torch.bool))
        assert (removed_set(found.removed), found.flipped.tolist()) == ({0, 1}, [True])


def test_of_as_many_units_greedy_takes_those_that_leave_the_model_surer() -> None:
    """The ranking has 0 and 1; 4 and 5 are as many, and surer."""

    def value(removed: Removed) -> float:
        if {4, 5} <= removed:
            return 0.05
        if {0, 1} <= removed:
            return 0.15
        return 0.5 if 4 in removed else 0.7 if removed else 0.9

    assert ask(12, value, greedy_search, confidence=0.8) == ({4, 5}, True, True)
    assert ask(12, value, greedy_search)[0] == {0, 1}


def choice(*, ranked: float, greedy: float, first: float = 0.5):
    """p without units 0 and 1, which the ranking has first; without 4 and 5, which greedy deletion finds; without 4."""

    def value(removed: Removed) -> float:
        if {4, 5} <= removed:
            return greedy
        if 4 in removed:
            return first
        return ranked if {0, 1} <= removed else 0.7 if removed else 0.9

    return value


def test_of_as_many_units_those_of_the_ranking_stay_unless_others_are_surer() -> None:
    for ranked, found in ((0.05, {0, 1}), (0.15, {0, 1}), (0.16, {4, 5})):
        assert ask(12, choice(ranked=ranked, greedy=0.15), greedy_search, confidence=0.8) == (found, True, True)


def test_fewer_units_are_better_than_surer_ones() -> None:
    one = choice(ranked=0.05, greedy=0.15, first=0.15)
    assert ask(12, one, greedy_search, confidence=0.8) == ({4}, True, True)


def test_where_neither_is_sure_enough_what_the_ranking_led_to_stays() -> None:
    """Greedy deletion begins with 4, after which nothing helps; the ranking got further."""
    assert ask(12, choice(ranked=0.3, greedy=0.5), greedy_search, confidence=0.8) == ({0, 1}, False, False)


def test_greedy_search_for_a_sure_flip_considers_more_units() -> None:
    """From {0, 1} on, 41 does a little, and 40 nothing, as most others; together they are what is missing."""

    def value(removed: Removed) -> float:
        if {0, 1} <= removed:
            return 0.1 if {40, 41} <= removed else 0.55 if 41 in removed else 0.6
        return 0.7 if 0 in removed else 0.9

    assert ask(60, value, greedy_search, confidence=0.8) == ({0, 1, 40, 41}, True, True)
    assert ask(60, value, greedy_search)[1] is False


def test_where_many_could_go_back_only_what_was_tried_together_does() -> None:
    """Each of twelve units can go back alone, two can together; unit 0 does the least, and is the surest to go."""

    def value(removed: Removed) -> float:
        back = frozenset(range(12)) - removed
        return 0.1 + 0.045 * (len(back) - 0.5 * (0 in back))

    query = FlipQuery(torch.tensor([0, 12]), Rule(12, value), torch.tensor([0]), confidence=0.8)
    found = prune(query, torch.linspace(1, 0, 12), torch.ones(12, dtype=torch.bool), torch.tensor([True]))
    final = verify(query, found)
    assert removed_set(found.removed) == set(range(2, 12))
    assert (final.flipped.item(), final.minimal.item()) == (True, True)


def three(instances: Tensor, removed: Tensor) -> Tensor:
    """Without unit 0 class 1 is the largest with .5; without 0 and 1 class 2 has .8, and so on."""
    rows = {
        frozenset(): [0.7, 0.2, 0.1],
        frozenset({0}): [0.3, 0.5, 0.2],
        frozenset({0, 1}): [0.1, 0.1, 0.8],
        frozenset({0, 1, 2}): [0.02, 0.9, 0.08],
    }
    found = [rows.get(removed_set(gone), [0.6, 0.2, 0.2]) for gone in removed.reshape(len(instances), 6)]
    return torch.tensor(found).log()


def asked_three(search=prefix_search, **settings):
    query = FlipQuery(torch.tensor([0, 6]), three, torch.tensor([0]), **settings)
    found = search(query, torch.linspace(1, 0, 6), torch.ones(6, dtype=torch.bool))
    final = verify(query, found)
    return removed_set(found.removed), bool(final.flipped)


def test_one_other_class_must_be_sure_not_all_others_together() -> None:
    assert asked_three() == ({0}, True)
    assert asked_three(confidence=0.6) == ({0, 1}, True)  # with {0} the others have .7 together, none of them .6
    assert asked_three(confidence=0.85) == ({0, 1, 2}, True)


def test_with_a_target_that_class_must_be_sure() -> None:
    assert asked_three(target=1) == ({0}, True)
    assert asked_three(target=1, confidence=0.6) == ({0, 1, 2}, True)
    assert asked_three(target=2, confidence=0.75) == ({0, 1}, True)
    assert asked_three(target=2, confidence=0.85) == ({0, 1}, False)


def test_the_drop_goes_towards_the_confidence() -> None:
    rows = torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [nan, nan, nan]]).log()
    ids = torch.tensor([0, 0, 0])

    def drop(**settings) -> list[float]:
        return FlipQuery(torch.tensor([0, 1]), three, torch.tensor([0]), **settings).drop(rows, ids).tolist()

    assert drop(confidence=0.8)[:2] == pytest.approx([-log(0.3), -log(0.7)])
    assert drop(confidence=0.8, target=1)[:2] == pytest.approx([-log(0.3), -log(0.2)])
    assert drop()[:2] == pytest.approx([log(0.6), log(0.1)])
    assert drop(confidence=0.8)[2] == drop()[2] == torch.inf


def test_a_class_without_probability_is_as_far_as_it_can_be() -> None:
    """From its own class that is the largest drop there is; to the class that must be sure, the smallest."""
    rows, ids = torch.tensor([[0.0, 0.9, 0.1], [1.0, 0.0, 0.0]]).log(), torch.tensor([0, 0])
    query = FlipQuery(torch.tensor([0, 1]), three, torch.tensor([0]))
    assert query.drop(rows, ids).tolist() == [-torch.inf, 0]
    sure = FlipQuery(torch.tensor([0, 1]), three, torch.tensor([0]), confidence=0.8)
    assert sure.drop(rows, ids).tolist() == [pytest.approx(-log(0.9)), torch.inf]


@pytest.mark.parametrize("settings", [{}, {"target": 2}, {"confidence": 0.8}, {"target": 0, "confidence": 0.8}])
def test_where_nothing_is_granted_there_are_no_answers(settings) -> None:
    meter = Meter(1, 1, torch.device("cpu"))
    query = FlipQuery(torch.tensor([0, 6]), three, torch.tensor([0]), meter=meter, **settings)
    nothing_removed = lambda rows: torch.zeros(6 * len(rows), dtype=torch.bool)  # noqa: E731
    for granted in (1, 0):
        rows, log_probs = query.answers(torch.zeros(2, dtype=torch.long), nothing_removed)
        assert len(rows) == len(log_probs) == granted
        assert query.flips(log_probs, rows).shape == query.drop(log_probs, rows).shape == (granted,)


def test_what_is_no_flip() -> None:
    rows = torch.tensor([[0.35, 0.4, 0.25], [0.45, 0.4, 0.15], [nan, 0.9, 0.1]]).log()
    source = torch.tensor([0, 0, 0])
    assert turned(rows, source, None, 0.4).tolist() == [True, False, False]  # another class must be the largest, too
    assert turned(rows, source, None, 0.45).tolist() == [False, False, False]
    assert turned(rows, source, None, None).tolist() == [True, False, False]


def test_answers_within_rounding_of_the_confidence_are_decided_alone() -> None:
    ptr, ids = torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 2])
    batched = torch.tensor([[0.2, 0.8], [0.19995, 0.80005], [0.1, 0.9]]).log()
    single = torch.tensor([[0.21, 0.79], [0.22, 0.78], [0.5, 0.5]]).log()
    asked: list[int] = []

    def alone(which: Tensor, removed: Tensor) -> Tensor:
        asked.extend(which.tolist())
        return single[which]

    removed = torch.ones(3, dtype=torch.bool)
    assert torch.equal(settle(batched, ids, removed, ptr, alone), batched)
    assert asked == []
    found = settled(lambda *_: batched, ptr, alone, 0.8)(ids, removed)
    assert asked == [0, 1]
    assert torch.equal(found, torch.cat([single[:2], batched[2:]]))


def test_a_copy_that_is_still_sure_alone_is_not_minimal() -> None:
    ptr, removed = torch.tensor([0, 3]), torch.tensor([True, True, False])
    query = FlipQuery(ptr, Rule(3, by_length(0.9, 0.3, 0.1)), torch.tensor([0]), confidence=0.8)
    everyone = torch.tensor([0])
    before = query.log_probs(everyone, torch.zeros(3, dtype=torch.bool))
    found = prefix_search(FlipQuery(**{**vars(query), "max_share": 1.0}), torch.tensor([0.9, 0.8, 0.1]), removed | True)
    answers = Answers(ptr, before, found, verify(query, found), confidence=0.8)
    check_minimal(answers, query.log_probs, 1, seed=0)  # with one unit put back the other class has .7: not sure
    with pytest.raises(Interference):
        check_minimal(answers, Rule(3, by_length(0.9, 0.15, 0.1)), 1, seed=0)


@pytest.mark.parametrize("confidence", [0, 1, 0.5, -0.1, 1.5, nan, True, "0.8", 80])
def test_impossible_confidences(confidence) -> None:
    with pytest.raises(RCExplainerError, match=r"confidence must be a probability above 0\.5 \(what the most probable"):
        checked_confidence(confidence, 2)


def test_with_more_classes_less_can_be_asked_for() -> None:
    assert checked_confidence(None, 2) is None
    assert checked_confidence(0.51, 2) == 0.51
    assert checked_confidence(0.4, 4) == 0.4
    with pytest.raises(RCExplainerError, match=r"above 0\.25 .*4 classes always has\) and below 1.* got 0\.2"):
        checked_confidence(0.2, 4)


@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=4),
    classes=st.integers(2, 3),
    target=st.none() | st.integers(0, 1),
    confidence=st.sampled_from([0.55, 0.7, 0.9]),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=150, deadline=None)
def test_what_is_claimed_of_arbitrary_models_is_true(sizes, classes, target, confidence, seed) -> None:
    """Flipped and minimal by brute force; what a prefix reaches is found, and greedy search finds no less."""
    table = SetFunctions(sizes, seed, classes, levels=24)

    def probabilities(instance: int, removed) -> list[float]:
        return torch.tensor(table.at(instance, frozenset(removed))).softmax(0).tolist()

    def sure(instance: int, removed, source: int) -> bool:
        p = probabilities(instance, removed)
        best = max(range(classes), key=lambda label: p[label])
        return p[best] >= confidence and (best != source if target is None else best == target)

    source = [max(range(classes), key=lambda label: table.at(i, frozenset())[label]) for i in range(len(sizes))]
    query = FlipQuery(
        table.ptr,
        lambda ids, removed: table(ids, removed).log_softmax(1),
        torch.tensor(source),
        target,
        confidence=confidence,
    )
    scores = torch.linspace(1, 0, sum(sizes))
    for search in (prefix_search, greedy_search):
        found = search(query, scores, torch.ones(sum(sizes), dtype=torch.bool))
        final = verify(query, found)
        assert torch.equal(found.flipped, final.flipped)
        for instance, own in enumerate(source):
            units = table.units(instance)
            removed = removed_set(found.removed) & set(units)
            flipped = bool(final.flipped[instance])
            assert flipped == sure(instance, removed, own)
            assert bool(final.minimal[instance]) == (
                flipped and not any(sure(instance, removed - {unit}, own) for unit in removed)
            )
            lengths = range(max(1, len(units) // 2) + 1) if units else range(1)
            assert flipped or not any(sure(instance, set(units[:length]), own) for length in lengths)
