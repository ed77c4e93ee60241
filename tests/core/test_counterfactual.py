"""Counterfactuals on models that are tables: every prefix is tried, nothing is claimed that was not asked."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core import counterfactual, flip_query
from rcexplainer.core.budget import Meter
from rcexplainer.core.counterfactual import FlipQuery, Removal, by_rankings, greedy_search, prefix_search, prune, verify
from rcexplainer.core.segments import ranks
from tests.core.test_search import Removed, SetFunctions

ALL = frozenset[int]()


class Rule:
    """Two classes; class 0 with log-probability `value(removed)` of one instance with `size` units, 1 if above ½."""

    def __init__(self, size: int, value) -> None:
        self.size, self.value = size, value

    def __call__(self, instances: Tensor, removed: Tensor) -> Tensor:
        rows = removed.reshape(len(instances), self.size)
        p = torch.tensor([self.value(frozenset(row.nonzero().flatten().tolist())) for row in rows], dtype=torch.float)
        return torch.stack([p, 1 - p], 1).log()


def ask(size: int, value, search=prefix_search, *, allowed=None, **settings) -> tuple[Removed, bool, bool]:
    """Search in one instance whose ranking is 0, 1, 2, …: (removed, flipped, minimal)."""
    query = FlipQuery(torch.tensor([0, size]), Rule(size, value), torch.tensor([0]), **settings)
    usable = torch.ones(size, dtype=torch.bool) if allowed is None else torch.tensor(allowed)
    found = search(query, torch.linspace(1, 0, size), usable)
    final = verify(query, found)
    assert torch.equal(final.flipped, found.flipped)
    return removed_set(found.removed), bool(final.flipped[0]), bool(final.minimal[0])


def removed_set(mask: Tensor) -> Removed:
    return frozenset(mask.nonzero().flatten().tolist())


def flips_at(*lengths: int, otherwise: float = 0.9):
    """A prediction that depends on nothing but how many units are gone."""
    return lambda removed: 0.1 if len(removed) in lengths else otherwise


def test_the_shortest_flipping_prefix_where_flips_are_not_monotone() -> None:
    # Bisection over 1 … 8 would look at 4 and find nothing before it; a flip at 7 is there, too.
    assert ask(16, flips_at(2, 7)) == ({0, 1}, True, True)


def test_pruning_goes_on_below_the_shortest_prefix() -> None:
    needs_1_and_3 = ask(8, lambda removed: 0.2 if {1, 3} <= removed else 0.8)
    assert needs_1_and_3 == ({1, 3}, True, True)


def test_pruning_starts_with_the_lowest_score() -> None:
    either = ask(8, lambda removed: 0.2 if (removed & {0, 1} and 2 in removed) else 0.8)
    assert either == ({0, 2}, True, True)


def test_nothing_flips_and_the_largest_drop_is_returned() -> None:
    p = {1: 0.8, 2: 0.6, 3: 0.7, 4: 0.6}
    assert ask(8, lambda removed: p.get(len(removed), 0.9)) == ({0, 1}, False, False)


def test_only_so_many_units_may_go() -> None:
    late = flips_at(5)
    assert ask(8, late)[1:] == (False, False)
    assert ask(8, late, max_share=0.625) == ({0, 1, 2, 3, 4}, True, True)
    assert ask(8, late, greedy_search)[1:] == (False, False)
    assert ask(3, flips_at(2))[1:] == (False, False)  # half of three is one
    assert ask(8, flips_at(1), max_share=0.1) == ({0}, True, True)  # one may always go
    assert ask(1, flips_at(1)) == ({0}, True, True)
    assert ask(4, flips_at(4), max_share=1.0) == ({0, 1, 2, 3}, True, True)


def test_only_allowed_units_go() -> None:
    allowed = [False, True, False, True, True, True, False, True]
    either = lambda removed: 0.2 if removed & {0, 2, 4} else 0.8  # noqa: E731
    assert ask(8, either, allowed=allowed) == ({4}, True, True)
    assert ask(8, either, greedy_search, allowed=allowed) == ({4}, True, True)
    assert ask(8, lambda removed: 0.2 if 0 in removed else 0.8, greedy_search, allowed=allowed)[1] is False
    assert ask(8, either, allowed=[False] * 8) == (set(), False, False)
    assert ask(8, either, greedy_search, allowed=[False] * 8) == (set(), False, False)


def test_greedy_goes_on_where_no_prefix_flips() -> None:
    def value(removed: Removed) -> float:
        return 0.2 if {0, 9} <= removed else 0.9 - 0.1 * (0 in removed) - 0.05 * (9 in removed)

    assert ask(10, value, prefix_search) == ({0}, False, False)
    assert ask(10, value, greedy_search) == ({0, 9}, True, True)


def test_greedy_looks_for_fewer_units_than_a_prefix_needs() -> None:
    """The ranking needs its first two together; unit 5 alone would do."""

    def value(removed: Removed) -> float:
        return 0.2 if {0, 1} <= removed or 5 in removed else 0.9

    assert ask(8, value, prefix_search) == ({0, 1}, True, True)
    assert ask(8, value, greedy_search) == ({5}, True, True)


def test_greedy_takes_a_copy_that_flips_before_one_that_drops_more() -> None:
    """Three classes: p of the source can be low while it is still the largest, and higher where it is not."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        rows = []
        for gone in removed.reshape(len(instances), 4):
            case = removed_set(gone)
            rows.append([0.40, 0.45, 0.15] if 3 in case else [0.36, 0.32, 0.32] if 2 in case else [0.8, 0.1, 0.1])
        return torch.tensor(rows).log()

    query = FlipQuery(torch.tensor([0, 4]), log_probs, torch.tensor([0]))
    found = greedy_search(query, torch.tensor([0.9, 0.1, 0.1, 0.1]), torch.ones(4, dtype=torch.bool))
    assert removed_set(found.removed) == {3}
    assert found.flipped.item()
    assert verify(query, found).minimal.item()


def test_among_copies_that_flip_the_largest_drop_decides() -> None:
    """However small the difference is beside what sets flips apart."""

    def value(removed: Removed) -> float:
        return 0.9 if not removed & {1, 2, 3} else {1: 0.201, 2: 0.2, 3: 0.202}[min(removed & {1, 2, 3})]

    assert ask(6, value, greedy_search, max_share=0.0) == ({2}, True, True)


def test_greedy_without_a_flip_never_returns_less_than_the_best_prefix() -> None:
    def value(removed: Removed) -> float:
        return 0.6 if removed == {0} else 0.9

    assert ask(8, value, prefix_search) == ({0}, False, False)
    assert ask(8, value, greedy_search) == ({0}, False, False)


def test_towards_a_target_class() -> None:
    """Away from 0 is reached with one unit (class 1), class 2 with two."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        table = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
        return table[removed.reshape(len(instances), 6).sum(1).clamp_max(2)].log()

    everything = torch.ones(6, dtype=torch.bool)
    for target, expected in ((None, {0}), (1, {0}), (2, {0, 1})):
        query = FlipQuery(torch.tensor([0, 6]), log_probs, torch.tensor([0]), target=target)
        for search in (prefix_search, greedy_search):
            found = search(query, torch.linspace(1, 0, 6), everything)
            assert removed_set(found.removed) == expected
            assert (found.flipped.item(), verify(query, found).minimal.item()) == (True, True)


def test_the_target_may_be_what_is_predicted_already() -> None:
    assert ask(4, flips_at(), target=0) == (set(), True, True)


@pytest.mark.parametrize("search", [prefix_search, greedy_search])
def test_instances_without_units_have_an_empty_answer(search) -> None:
    ptr = torch.tensor([0, 0, 2, 2])
    two_ways = SetFunctions([0, 2, 0], seed=0, width=2)
    query = FlipQuery(ptr, two_ways, torch.tensor([0, 1, 0]))
    found = search(query, torch.tensor([0.5, 0.4]), torch.ones(2, dtype=torch.bool))
    minimal = verify(query, found).minimal
    assert found.flipped[[0, 2]].tolist() == minimal[[0, 2]].tolist() == [False, False]
    alone = FlipQuery(ptr[:2], SetFunctions([0], seed=0, width=2), torch.tensor([0]))
    found = search(alone, torch.empty(0), torch.empty(0, dtype=torch.bool))
    minimal = verify(alone, found).minimal
    assert (found.removed.tolist(), found.flipped.tolist(), minimal.tolist()) == ([], [False], [False])


@pytest.mark.parametrize("search", [prefix_search, greedy_search])
@pytest.mark.parametrize("source", [0, 1])
def test_a_model_that_returns_nan_without_some_edges_is_not_flipped(search, source: int) -> None:
    """NaN is the largest of all to argmax and the smallest of all to amin; it is no class, and no drop either."""

    def value(removed: Removed) -> float:
        p = 0.9 - 0.1 * len(removed)
        return float("nan") if removed == {0} else p if source == 0 else 1 - p

    query = FlipQuery(torch.tensor([0, 4]), Rule(4, value), torch.tensor([source]))
    found = search(query, torch.linspace(1, 0, 4), torch.ones(4, dtype=torch.bool))
    assert not found.flipped.item()
    assert removed_set(found.removed) == {0, 1}


# ---- the literal search


def far(row: list[float], source: int, target: int | None) -> float:
    return row[source] if target is None else row[source] - row[target]


def is_flip(row: list[float], source: int, target: int | None) -> bool:
    predicted = row.index(max(row))
    return predicted != source if target is None else predicted == target


def literal_prefix(row, ranking, most, source, target) -> tuple[set[int], bool]:
    best: set[int] = set()
    for length in range(min(most, len(ranking)) + 1):
        prefix = set(ranking[:length])
        if is_flip(row(prefix), source, target):
            return prefix, True
        if far(row(prefix), source, target) < far(row(best), source, target):
            best = prefix
    return best, False


def literal_greedy_on(row, state, ranking, most, source, target) -> tuple[set[int], bool]:
    """Go on from `state`; the first flip on the way, or the largest drop on it, the start included."""
    gone, best = set(state), set(state)
    for _ in range(most - len(state)):
        options = sorted(set(ranking) - gone)
        if not options:
            break

        def value(unit: int, gone: set[int] = gone) -> tuple[bool, float]:
            after = row(gone | {unit})
            return not is_flip(after, source, target), far(after, source, target)

        gone = gone | {min(options, key=value)}
        if is_flip(row(gone), source, target):
            return gone, True
        if far(row(gone), source, target) < far(row(best), source, target):
            best = gone
    return best, False


def literal_prune(row, state, scores, source, target) -> set[int]:
    state = set(state)
    while needless := [unit for unit in sorted(state) if is_flip(row(state - {unit}), source, target)]:
        state -= {min(needless, key=lambda unit: scores[unit])}
    return state


@st.composite
def cases(draw) -> tuple[SetFunctions, FlipQuery, list[float], list[bool]]:
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    classes = draw(st.integers(2, 3))
    model = SetFunctions(sizes, draw(st.integers(0, 2**16)), classes, levels=draw(st.sampled_from([3, 6, 2**10])))
    plain = model.at
    # Towards class 0, so that flips are rare enough, and never a tie between classes. Exact in float32.
    tilt = draw(st.sampled_from([0, 0.5, 2]))
    model.at = lambda i, s: [
        v / (1 if model.levels < 9 else 512) + (c == 0) * tilt + c / 16 for c, v in enumerate(plain(i, s))
    ]
    source = [max(range(classes), key=lambda c: model.at(i, ALL)[c]) for i in range(len(sizes))]
    query = FlipQuery(
        model.ptr,
        model,
        torch.tensor(source),
        draw(st.none() | st.integers(0, classes - 1)),
        draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
    )
    scores = draw(st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.9]), min_size=sum(sizes), max_size=sum(sizes)))
    allowed = draw(st.lists(st.booleans() | st.just(True), min_size=sum(sizes), max_size=sum(sizes)))
    return model, query, scores, allowed


def parts(case) -> list[tuple]:
    """For each instance: the model as a function of a set, the ranking of its allowed units, how many may go."""
    model, query, scores, allowed = case
    found = []
    for instance, source in enumerate(query.source.tolist()):
        units = model.units(instance)
        ranking = sorted((u for u in units if allowed[u]), key=lambda u: (-scores[u], u))
        row = lambda removed, instance=instance: model.at(instance, frozenset(removed))  # noqa: E731
        most = min(max(1, int(len(units) * query.max_share)), len(units))
        found.append((row, ranking, most, source))
    return found


def check(case, found: Removal, expected: list[tuple[set[int], bool]]) -> None:
    model, query, *_ = case
    final = verify(query, found)
    assert found.removed.shape == (int(model.ptr[-1]),)
    for instance, (removed, flipped) in enumerate(expected):
        units = model.units(instance)
        assert removed_set(found.removed) & set(units) == removed
        assert found.flipped[instance].item() == final.flipped[instance].item() == flipped
        assert final.minimal[instance].item() == flipped


@given(cases())
@settings(max_examples=200, deadline=None)
def test_prefix_search_is_the_literal_one(case) -> None:
    _, query, scores, allowed = case
    expected = []
    for row, ranking, most, source in parts(case):
        state, flipped = literal_prefix(row, ranking, most, source, query.target)
        expected.append((literal_prune(row, state, scores, source, query.target) if flipped else state, flipped))
    check(case, prefix_search(query, torch.tensor(scores), torch.tensor(allowed, dtype=torch.bool)), expected)


@given(cases())
@settings(max_examples=200, deadline=None)
def test_greedy_search_is_the_literal_one(case) -> None:
    _, query, scores, allowed = case
    expected = []
    for row, ranking, most, source in parts(case):
        state, flipped = literal_prefix(row, ranking, most, source, query.target)
        if not flipped:
            state, flipped = literal_greedy_on(row, state, ranking, most, source, query.target)
        state = literal_prune(row, state, scores, source, query.target) if flipped else state
        # Greedy deletion from the start may flip where that did not, or need fewer.
        other, flips = literal_greedy_on(row, set(), ranking, len(state) - 1 if flipped else most, source, query.target)
        if flips:
            other = literal_prune(row, other, scores, source, query.target)
            state, flipped = (other, True) if not flipped or len(other) < len(state) else (state, flipped)
        elif not flipped and far(row(other), source, query.target) < far(row(state), source, query.target):
            state = other
        expected.append((state, flipped))
    check(case, greedy_search(query, torch.tensor(scores), torch.tensor(allowed, dtype=torch.bool)), expected)


@given(cases())
@settings(max_examples=200, deadline=None)
def test_what_is_claimed_was_asked(case) -> None:
    """Flipped and minimal by brute force; and the very copy that is claimed to flip was given to the model."""
    model, query, scores, allowed = case
    for search in (prefix_search, greedy_search):
        model.asked.clear()
        found = search(query, torch.tensor(scores), torch.tensor(allowed, dtype=torch.bool))
        asked = set(model.asked)
        final = verify(query, found)
        for instance, (row, ranking, most, source) in enumerate(parts(case)):
            removed = removed_set(found.removed) & set(model.units(instance))
            assert len(removed) <= most
            assert removed <= set(ranking)
            if found.flipped[instance]:
                assert (instance, removed) in asked
                assert is_flip(row(removed), source, query.target)
            if final.minimal[instance]:
                assert final.flipped[instance]
                assert not any(is_flip(row(removed - {unit}), source, query.target) for unit in removed)


@given(cases())
@settings(max_examples=100, deadline=None)
def test_prune_leaves_alone_what_is_not_flipped(case) -> None:
    model, query, scores, allowed = case
    state = torch.tensor(allowed, dtype=torch.bool)
    owner = torch.arange(len(query.source)).repeat_interleave(query.ptr.diff())
    found = prune(query, torch.tensor(scores), state, torch.zeros(len(query.source), dtype=torch.bool))
    assert torch.equal(found.removed, state)
    assert not verify(query, found).minimal.any()
    flipped = torch.tensor(
        [
            is_flip(row(set(removed_set(state)) & set(model.units(i))), source, query.target)
            for i, (row, _, _, source) in enumerate(parts(case))
        ]
    )
    found = prune(query, torch.tensor(scores), state, flipped)
    assert not (found.removed & ~state).any()
    assert torch.equal(found.removed[~flipped[owner]], state[~flipped[owner]])


def test_prefixes_of_a_large_instance_are_tried_in_pieces(monkeypatch) -> None:
    seen: list[int] = []

    def log_probs(instance: Tensor, removed: Tensor) -> Tensor:
        seen.append(len(removed))
        gone = torch.zeros(len(instance)).index_add(
            0, torch.arange(len(instance)).repeat_interleave(ptr.diff()[instance]), removed.float()
        )
        return torch.stack([3.5 - gone, torch.zeros_like(gone)], 1).log_softmax(1)

    ptr = torch.tensor([0, 30, 40])
    scores = torch.rand(40, generator=torch.Generator().manual_seed(0))
    query = FlipQuery(ptr, log_probs, torch.tensor([0, 0]))
    whole = prefix_search(query, scores, torch.ones(40, dtype=torch.bool))
    largest = max(seen)
    seen.clear()
    monkeypatch.setattr(flip_query, "PIECE_UNITS", 64)
    pieces = prefix_search(query, scores, torch.ones(40, dtype=torch.bool))
    assert torch.equal(whole.removed, pieces.removed)
    assert whole.flipped.tolist() == [True, True]
    assert max(seen[:4]) < 64 + 30  # a piece, and one prefix more
    assert max(seen) < largest
    owner = torch.tensor([0] * 30 + [1] * 10)
    assert torch.equal(whole.removed, ranks(scores, owner, ptr) < 4)


def test_the_last_word_is_not_the_searchs() -> None:
    """A model that changes its mind after the search: the claim is what it said last."""
    answers = iter([0.1, 0.9, 0.9])  # flips in the search; then neither without the unit nor with it back

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        p = torch.tensor([next(answers) for _ in instances])
        return torch.stack([p, 1 - p], 1).log()

    found = Removal(torch.tensor([True, False]), torch.tensor([True]))
    query = FlipQuery(torch.tensor([0, 2]), log_probs, torch.tensor([0]))
    assert query.flips(log_probs(torch.tensor([0]), found.removed), torch.tensor([0])).item()
    final = verify(query, found)
    assert (final.flipped.tolist(), final.minimal.tolist()) == ([False], [False])


def test_a_unit_that_can_be_put_back_is_seen() -> None:
    query = FlipQuery(torch.tensor([0, 3]), Rule(3, lambda removed: 0.2 if 1 in removed else 0.8), torch.tensor([0]))
    for removed, minimal in (([True, True, False], False), ([False, True, False], True)):
        final = verify(query, Removal(torch.tensor(removed), torch.tensor([True])))
        assert (final.flipped.tolist(), final.minimal.tolist()) == ([True], [minimal])


def test_a_flip_comes_before_any_drop_even_of_a_class_without_probability() -> None:
    """Towards class 2: without unit 0 class 0 has probability 0, which is the largest drop of all, but no flip."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        table = {(True, False): [0.0, 0.9, 0.1], (False, True): [0.4, 0.1, 0.5]}
        rows = [table.get(tuple(row), [0.8, 0.1, 0.1]) for row in removed.reshape(-1, 2).tolist()]
        return torch.tensor(rows).log()

    query = FlipQuery(torch.tensor([0, 2]), log_probs, torch.tensor([0]), target=2)
    found = greedy_search(query, torch.tensor([0.9, 0.1]), torch.ones(2, dtype=torch.bool))
    assert removed_set(found.removed) == {1}
    assert found.flipped.item()


@pytest.mark.parametrize(("size", "found"), [(200, True), (300, False)])
def test_in_a_large_instance_greedy_deletion_considers_the_top_of_the_ranking(size: int, found: bool) -> None:
    at_100 = ask(size, lambda removed: 0.2 if 100 in removed else 0.8, greedy_search, max_share=0.0)
    assert at_100[1] is found
    assert ask(size, lambda removed: 0.2 if 63 in removed else 0.8, greedy_search, max_share=0.0) == ({63}, True, True)


def test_greedy_deletion_from_the_start_has_one_unit_less_than_was_found_before() -> None:
    """It would flip with units 3, 4, 5 and be pruned to 4, 5: but with three units it is not tried."""

    def value(removed: Removed) -> float:
        if {0, 1, 2} <= removed or {4, 5} <= removed:
            return 0.2
        return 0.9 - 0.2 * (3 in removed) - 0.1 * (4 in removed)

    assert ask(6, value, greedy_search) == ({0, 1, 2}, True, True)


@given(st.integers(8, 40), st.data())
@settings(max_examples=60, deadline=None)
def test_long_removals_are_pruned_to_what_is_needed(size: int, data: st.DataObject) -> None:
    """The prediction flips if certain units are gone, whatever else is: pruning must end with these alone."""
    needed = frozenset(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=size // 2)))
    rule = Rule(size, lambda removed: 0.2 if needed <= removed else 0.8)
    query = FlipQuery(torch.tensor([0, size]), rule, torch.tensor([0]), max_share=1.0)
    scores = torch.tensor(data.draw(st.permutations(range(size)))) / size
    found = prune(query, scores, torch.ones(size, dtype=torch.bool), torch.tensor([True]))
    assert removed_set(found.removed) == needed
    assert verify(query, found).minimal.item()


@pytest.mark.parametrize(("needed", "bound"), [({0}, 16), ({0, 1, 2}, 16), (set(range(20)), 32)])
def test_pruning_a_long_removal_costs_about_a_run_for_every_unit_that_stays(needed: set[int], bound: int) -> None:
    copies = 0

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        nonlocal copies
        copies += len(instances)
        return Rule(128, lambda gone: 0.2 if needed <= gone else 0.8)(instances, removed)

    query = FlipQuery(torch.tensor([0, 128]), log_probs, torch.tensor([0]))
    found = prune(query, torch.linspace(1, 0, 128), torch.ones(128, dtype=torch.bool), torch.tensor([True]))
    assert removed_set(found.removed) == needed
    assert copies < bound  # one by one it would be thousands


def test_what_the_search_calls_minimal_is_claimed_only_where_search_and_last_word_flip() -> None:
    """Four instances of one unit; the search found the third minimal, and the last word is that it does not flip."""
    flips = torch.tensor([True, True, False, True])

    def last_word(instances: Tensor, removed: Tensor) -> Tensor:
        p = torch.where(flips[instances], 0.2, 0.8)
        return torch.stack([p, 1 - p], 1).log()

    seen, minimal = torch.tensor([True, True, True, False]), torch.tensor([True, False, True, True])
    query = FlipQuery(torch.arange(5), last_word, torch.zeros(4, dtype=torch.long))
    final = verify(query, Removal(torch.ones(4, dtype=torch.bool), seen, minimal))
    assert torch.equal(final.flipped, flips)
    assert final.minimal.tolist() == [True, False, False, False]


def test_only_what_was_removed_is_put_back() -> None:
    """Without unit 1 alone the prediction is another one, and not without more: the unit is all it takes."""
    query = FlipQuery(torch.tensor([0, 3]), Rule(3, lambda gone: 0.2 if gone == {1} else 0.8), torch.tensor([0]))
    final = verify(query, Removal(torch.tensor([False, True, False]), torch.tensor([True])))
    assert (final.flipped.tolist(), final.minimal.tolist()) == ([True], [True])


def test_greedy_deletion_ends_with_its_first_flip() -> None:
    """6 alone does more than 5 alone, and both together do more still: a counterfactual has no more than it needs."""

    def value(removed: Removed) -> float:
        if removed & {5, 6}:
            return {5: 0.3, 6: 0.2, 11: 0.1}[sum(removed & {5, 6})]
        return 0.2 if {0, 1, 2} <= removed else 0.9

    assert ask(8, value, greedy_search) == ({6}, True, True)


@pytest.mark.parametrize(("size", "tried"), [(6, {1, 2, 3, 4, 5}), (7, {1, 2})])
def test_in_a_large_instance_greedy_deletion_tries_the_allowed_units_with_the_highest_scores(
    monkeypatch, size: int, tried: set[int]
) -> None:
    monkeypatch.setattr(counterfactual, "LARGE_INSTANCE", 6)
    monkeypatch.setattr(counterfactual, "GREEDY_CANDIDATES", 2)
    asked = set[Removed]()
    value = lambda removed: asked.add(removed) or 0.9  # noqa: E731
    ask(size, value, greedy_search, allowed=[False] + [True] * (size - 1))
    assert {unit for removed in asked if len(removed) == 1 for unit in removed} == tried


@pytest.mark.parametrize(("confidence", "considered"), [(None, {6}), (0.8, {5, 6})])
def test_later_steps_consider_the_units_that_did_most_alone(monkeypatch, confidence, considered: set[int]) -> None:
    """7 does most, then 6, then 5; two units are considered, or three for a sure flip, the first choice included."""
    monkeypatch.setattr(counterfactual, "BEAM", 2)
    monkeypatch.setattr(counterfactual, "SURE_BEAM", 3)
    asked, effects = set[Removed](), {7: 0.1, 6: 0.05, 5: 0.03}

    def value(removed: Removed) -> float:
        asked.add(removed)
        return 0.9 - sum(effects.get(unit, 0.0) for unit in removed)

    assert ask(8, value, greedy_search, confidence=confidence) == (considered | {7}, False, False)
    assert {unit for removed in asked if len(removed) == 2 and 7 in removed for unit in removed - {7}} == considered


def test_nothing_more_is_deleted_from_a_prefix_that_flips() -> None:
    """Three classes: without more than unit 0 the source has less probability, but it is the largest again."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        few = {frozenset[int](): [0.8, 0.1, 0.1], frozenset({0}): [0.40, 0.45, 0.15]}
        rows = [few.get(removed_set(gone), [0.36, 0.32, 0.32]) for gone in removed.reshape(len(instances), 6)]
        return torch.tensor(rows).log()

    ptr, source = torch.tensor([0, 6]), torch.tensor([0])
    for runs in range(1, 12):  # whether or not the budget lasts to put back what was deleted needlessly
        query = FlipQuery(ptr, log_probs, source, meter=Meter(1, runs, torch.device("cpu")))
        found = greedy_search(query, torch.linspace(1, 0, 6), torch.ones(6, dtype=torch.bool))
        assert (removed_set(found.removed), verify(query, found).flipped.tolist()) == ({0}, [True])


def test_where_one_ranking_finds_no_flip_the_next_is_tried() -> None:
    """Of six units three may go. The first ranking has 4 and 5 last, the second first."""
    asked: list[int] = []
    rule = Rule(6, lambda removed: 0.2 if {4, 5} <= removed else 0.8)

    def counted(instances: Tensor, removed: Tensor) -> Tensor:
        asked.append(len(instances))
        return rule(instances, removed)

    before = rule(torch.tensor([0]), torch.zeros(6, dtype=torch.bool))
    query = FlipQuery(torch.tensor([0, 6]), counted, torch.tensor([0]), before=before)
    down, up, usable = torch.linspace(1, 0, 6), torch.linspace(0, 1, 6), torch.ones(6, dtype=torch.bool)
    alone = by_rankings(prefix_search, query, [down], usable)
    assert not bool(alone.flipped[0])
    both = by_rankings(prefix_search, query, [down, up], usable)
    assert removed_set(both.removed) == {4, 5}
    assert (bool(both.flipped[0]), bool(both.minimal[0])) == (True, True)
    asked.clear()
    first = by_rankings(prefix_search, query, [up, down], usable)
    single = sum(asked)
    asked.clear()
    assert removed_set(by_rankings(prefix_search, query, [up], usable).removed) == removed_set(first.removed)
    assert sum(asked) == single  # a ranking that is not needed costs nothing


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_where_no_ranking_finds_a_flip_the_attempt_that_comes_closest_is_kept(confidence: float | None) -> None:
    """Only without units 4 and 5, the last of one ranking and the first of the other, does p fall; never far enough."""
    rule = Rule(6, lambda removed: 0.6 if {4, 5} <= removed else 0.7 if 0 in removed else 0.8)
    query = FlipQuery(torch.tensor([0, 6]), rule, torch.tensor([0]), confidence=confidence)
    down, up, usable = torch.linspace(1, 0, 6), torch.linspace(0, 1, 6), torch.ones(6, dtype=torch.bool)
    for rankings, removed in (([down], {0}), ([down, up], {4, 5}), ([up, down], {4, 5})):
        found = by_rankings(prefix_search, query, rankings, usable)
        assert removed_set(found.removed) == removed
        assert not found.flipped.any()
    usable[5] = False
    assert removed_set(by_rankings(prefix_search, query, [down, up], usable).removed) == {0}


def test_a_budget_that_is_spent_gives_no_answers() -> None:
    query = FlipQuery(
        torch.tensor([0, 3]), Rule(3, lambda removed: 0.8), torch.tensor([0]), meter=Meter(1, 1, torch.device("cpu"))
    )
    for asked in (1, 0):
        rows, log_probs = query.answers(torch.tensor([0]), lambda rows: torch.ones(3, dtype=torch.bool))
        assert len(rows) == len(log_probs) == asked


def test_a_flip_that_was_found_is_not_looked_for_again() -> None:
    """Two instances: the first flips by the first ranking, the second by the second alone."""

    def answers(instances: Tensor, removed: Tensor) -> Tensor:
        rows = removed.reshape(-1, 4)
        wanted = torch.where(instances == 0, 0, 3)
        p = torch.where(rows.gather(1, wanted[:, None]).squeeze(1), 0.2, 0.8)
        return torch.stack([p, 1 - p], 1).log()

    query = FlipQuery(torch.tensor([0, 4, 8]), answers, torch.tensor([0, 0]))
    down = torch.linspace(1, 0, 4).repeat(2)
    found = by_rankings(prefix_search, query, [down, 1 - down], torch.ones(8, dtype=torch.bool))
    assert removed_set(found.removed) == {0, 7}
    assert found.flipped.all()
