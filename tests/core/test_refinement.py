"""A ranking improved by real deletions, on models that are tables: what comes first, what it costs, what stays."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core import budget
from rcexplainer.core.budget import Deadline, Meter, Seconds
from rcexplainer.core.flip_query import FlipQuery
from rcexplainer.core.refinement import MOST_PATHS, SPREAD, RefinedRanking, _path_first, refined
from rcexplainer.core.search import greedy
from rcexplainer.core.segments import owners, ranks
from tests.core.test_counterfactual import Rule
from tests.core.test_search import Removed, SetFunctions


def improved(size: int, value, runs: int, *, allowed=None, scores=None, propose=None) -> tuple[list[int], int]:
    """The new ranking of one instance whose ranking is 0, 1, 2, …, and the runs it took."""
    asked: list[Tensor] = []
    rule = Rule(size, value)

    def counted(instances: Tensor, removed: Tensor) -> Tensor:
        asked.append(instances)
        return rule(instances, removed)

    before = rule(torch.tensor([0]), torch.zeros(size, dtype=torch.bool))
    query = FlipQuery(torch.tensor([0, size]), counted, torch.tensor([0]), before=before)
    usable = torch.ones(size, dtype=torch.bool) if allowed is None else torch.tensor(allowed)
    old = torch.linspace(1, 0, size) if scores is None else torch.tensor(scores)
    found = refined(query, old, usable, runs, propose)
    assert 0 <= float(found.scores.min()) <= float(found.scores.max()) <= 1
    assert int(found.runs[0]) == sum(map(len, asked)) <= runs
    return found.scores.argsort(descending=True, stable=True).tolist(), int(found.runs[0])


def additive(drops: dict[int, float]):
    """Every unit has an effect of its own."""
    return lambda removed: 0.95 - sum(drops.get(unit, 0.0) for unit in removed)


def test_a_wrong_ranking_is_put_right() -> None:
    """Eight units, so the path has two: 3 and 5 count, the ranking has them behind three others."""
    value = additive({3: 0.5, 5: 0.3})
    assert improved(8, value, 12) == ([3, 5, 0, 1, 2, 4, 6, 7], 12)  # six for the first step, six for the second


def test_what_was_tried_before_is_tried_again_and_new_units_too() -> None:
    """Four runs a step: 0 to 3 first; then the best of these, and units of which nothing is known."""
    value = additive({2: 0.4, 3: 0.2, 5: 0.3})
    assert improved(8, value, 8)[0] == [2, 5, 0, 1, 3, 4, 6, 7]  # the second step tries 4, 3, 5 and 0 or 1


def test_units_that_are_proposed_for_a_path_are_tried_first() -> None:
    """Two runs a step would not come to 6 and 7; a plan that knows what is gone proposes them one after the other."""
    value = additive({6: 0.3, 7: 0.3})

    def propose(instance: Tensor, removed: Tensor) -> Tensor:
        assert len(instance) == 1
        wanted = 7 if bool(removed[6]) else 6
        return (torch.arange(8) == wanted).double()

    assert improved(8, value, 6)[0][:2] != [6, 7]
    assert improved(8, value, 6, propose=propose)[0] == [6, 7, 0, 1, 2, 3, 4, 5]


def test_two_units_that_only_count_together_need_a_second_path() -> None:
    """Deleting 0 is the best first step and leads nowhere; 1 and 2 together flip."""

    def value(removed: Removed) -> float:
        if {1, 2} <= removed:
            return 0.05
        return 0.8 if 0 in removed else 0.9

    greedy_first, _ = improved(8, value, 14)
    assert greedy_first[0] == 0
    assert improved(8, value, 60)[0][:2] in ([1, 2], [2, 1])


def test_runs_without_end_are_not_spent() -> None:
    """Twenty units, a path of five: there are 21,699 sets of up to five; 64 paths try at most 20 units a step each."""
    value = additive({unit: 0.01 * (unit % 7) for unit in range(20)})
    order, runs = improved(20, value, 10**12)
    assert set(order[:2]) == {6, 13}  # the largest effects
    assert runs <= 20 + 4 * MOST_PATHS * 19


def test_only_allowed_units_are_moved() -> None:
    allowed = [True, False, True, True, False, True, True, True]
    value = additive({1: 0.6, 4: 0.3, 6: 0.2, 7: 0.1})
    order, _ = improved(8, value, 40, allowed=allowed)
    assert order == [6, 7, 0, 1, 2, 3, 4, 5]
    assert improved(8, value, 40, allowed=[False] * 8) == (list(range(8)), 0)


def test_a_sure_model_is_no_obstacle() -> None:
    """p rounds to 1 for every single deletion; the log-odds still tell which one counts."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        logit = 25.0 - 3 * removed.reshape(len(instances), 8)[:, 5].float()
        return torch.nn.functional.logsigmoid(torch.stack([logit, -logit], 1))

    query = FlipQuery(torch.tensor([0, 8]), log_probs, torch.tensor([0]))
    found = refined(query, torch.linspace(1, 0, 8), torch.ones(8, dtype=torch.bool), 16)
    assert int(found.path[0, 0]) == 5


def test_scores_above_a_threshold_stay_as_many() -> None:
    old = [0.9, 0.7, 0.4, 0.4, 0.2, 0.0, 0.0, 0.0]
    query = FlipQuery(torch.tensor([0, 8]), Rule(8, additive({6: 0.5, 7: 0.4})), torch.tensor([0]))
    found = refined(query, torch.tensor(old), torch.ones(8, dtype=torch.bool), 32).scores
    assert (found > 0.5).sum() == 2
    assert found.argsort(descending=True, stable=True).tolist() == [6, 7, 0, 1, 2, 3, 4, 5]
    torch.testing.assert_close(found[[6, 7]], torch.tensor([0.9, 0.7]), atol=2e-3, rtol=0)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_scores_are_dealt_out_anew(data: st.DataObject) -> None:
    """Whatever the path: it comes first, the others keep their order and their ties, and no more are above anything."""
    sizes = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=4))
    score = st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.5000001, 0.9, 1.0]) | st.floats(0, 1, width=32)
    old = [data.draw(st.lists(score, min_size=size, max_size=size)) for size in sizes]
    paths = [data.draw(st.permutations(range(size)))[: data.draw(st.integers(0, size))] for size in sizes]
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    path = torch.full((len(sizes), max(map(len, paths))), -1)
    for row, (start, units) in enumerate(zip(ptr.tolist(), paths, strict=False)):
        path[row, : len(units)] = torch.tensor(units, dtype=torch.long) + start
    found = _path_first(ptr, torch.tensor([value for values in old for value in values]), path)
    for before, units, new in zip(old, paths, found.split(sizes), strict=True):
        rest = [unit for unit in range(len(before)) if unit not in units]
        chosen = [new[unit].item() for unit in units]
        assert chosen == sorted(set(chosen), reverse=True)
        assert not units or not rest or chosen[-1] > max(new[unit].item() for unit in rest)
        for one in rest:
            assert before[one] > 0 or new[one] == 0
            for other in rest:
                assert (before[one] == before[other]) <= (new[one] == new[other])
                assert (before[one] < before[other]) <= (new[one] <= new[other])
        for threshold in (*before, 0.5, SPREAD):
            assert (new > threshold).sum() <= sum(value > threshold for value in before) or threshold < SPREAD
        if not units:
            assert new.tolist() == torch.tensor(before).tolist()


def test_ties_and_zeros_do_not_hide_the_path() -> None:
    order, _ = improved(8, additive({6: 0.5, 7: 0.4}), 32, scores=[0.0] * 8)
    assert order == [6, 7, 0, 1, 2, 3, 4, 5]


def test_a_target_class_is_led_to() -> None:
    """Three classes: 0 loses most without unit 1, but to class 2; class 1 gains without unit 3."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        gone = removed.reshape(len(instances), 4)
        rows = torch.tensor([0.8, 0.1, 0.1]).repeat(len(gone), 1)
        rows[gone[:, 3]] = torch.tensor([0.6, 0.35, 0.05])
        rows[gone[:, 1]] = torch.tensor([0.1, 0.1, 0.8])
        return rows.log()

    query = FlipQuery(torch.tensor([0, 4]), log_probs, torch.tensor([0]))
    old, allowed = torch.linspace(1, 0, 4), torch.ones(4, dtype=torch.bool)
    assert refined(query, old, allowed, 4).path.tolist() == [[1]]
    towards = FlipQuery(torch.tensor([0, 4]), log_probs, torch.tensor([0]), target=1)
    assert refined(towards, old, allowed, 4).path.tolist() == [[3]]


def test_a_copy_the_model_fails_on_is_never_chosen() -> None:
    def value(removed: Removed) -> float:
        return float("nan") if 0 in removed else 0.9 - 0.3 * (2 in removed)

    assert improved(4, value, 4)[0] == [2, 0, 1, 3]


def arbitrary(functions: SetFunctions):
    """Two classes from set functions without any shape."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        p = 0.05 + 0.9 * functions(instances, removed) / (functions.levels / 4)
        return torch.stack([p, 1 - p], 1).log()

    return log_probs


def of(sizes: list[int], seed: int, runs: int, only: int | None = None) -> tuple[RefinedRanking, Tensor, SetFunctions]:
    functions = SetFunctions(sizes, seed, levels=50)
    old = torch.rand(sum(sizes), generator=torch.Generator().manual_seed(seed))
    query = FlipQuery(functions.ptr, arbitrary(functions), torch.zeros(len(sizes), dtype=torch.long))
    allowed = torch.ones(sum(sizes), dtype=torch.bool)
    if only is not None:
        allowed &= owners(functions.ptr) == only
    start = query.start()
    functions.asked.clear()
    query = FlipQuery(query.ptr, query.log_probs, query.source, before=start)
    return refined(query, old, allowed, runs), old, functions


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=5), st.integers(0, 10_000), st.integers(1, 90))
def test_the_runs_are_counted_and_never_more_than_allowed(sizes: list[int], seed: int, runs: int) -> None:
    found, old, functions = of(sizes, seed, runs)
    spent = [sum(instance == one for one, _ in functions.asked) for instance in range(len(sizes))]
    assert found.runs.tolist() == spent
    assert max(spent) <= runs
    assert len(set(functions.asked)) == len(functions.asked), "no copy is run twice"
    # The path comes first; the others follow in their old order.
    owner, ptr = owners(functions.ptr), functions.ptr
    place, before = ranks(found.scores, owner, ptr), ranks(old, owner, ptr)
    on = torch.zeros_like(owner, dtype=torch.bool)
    for row in found.path.tolist():
        units = [unit for unit in row if unit >= 0]
        assert place[units].tolist() == list(range(len(units)))
        on[units] = True
    for instance in range(len(sizes)):
        rest = (~on & (owner == instance)).nonzero().flatten()
        assert rest[place[rest].argsort()].tolist() == rest[before[rest].argsort()].tolist()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 10), min_size=2, max_size=4), st.integers(0, 10_000), st.integers(1, 90))
def test_instances_do_not_see_each_other(sizes: list[int], seed: int, runs: int) -> None:
    together, _, functions = of(sizes, seed, runs)
    for one in range(len(sizes)):
        alone, _, _ = of(sizes, seed, runs, only=one)
        mine = owners(functions.ptr) == one
        torch.testing.assert_close(alone.scores[mine], together.scores[mine], rtol=0, atol=0)
        assert alone.runs[one] == together.runs[one]


@pytest.mark.parametrize("seed", range(8))
def test_with_enough_runs_it_is_no_worse_than_greedy_deletion(seed: int) -> None:
    functions = SetFunctions([12], seed, levels=1000)
    value = arbitrary(functions)
    query = FlipQuery(functions.ptr, value, torch.tensor([0]))
    allowed = torch.ones(12, dtype=torch.bool)
    path = refined(query, torch.linspace(1, 0, 12), allowed, 1000).path[0]
    literal = greedy(functions.ptr, lambda one, gone: value(one, gone)[:, 0].exp(), allowed, torch.tensor([3]))

    def total(units: list[int]) -> float:
        gone = torch.zeros(3, 12, dtype=torch.bool)
        for step in range(3):
            gone[step, units[: step + 1]] = True
        return float(value(torch.zeros(3, dtype=torch.long), gone.flatten())[:, 0].exp().sum())

    assert total(path.tolist()) <= total(literal.units[0].tolist()) + 1e-2


def test_the_meter_of_the_query_is_left_alone() -> None:
    meter = Meter(1, 5, torch.device("cpu"))
    query = FlipQuery(torch.tensor([0, 8]), Rule(8, additive({3: 0.5})), torch.tensor([0]), meter=meter)
    assert int(refined(query, torch.linspace(1, 0, 8), torch.ones(8, dtype=torch.bool), 20).runs[0]) > 5
    assert int(meter.spent[0]) == 0


@pytest.mark.parametrize("bound", [Deadline(103.5), Seconds(3.5)])
def test_what_was_found_before_the_time_is_up_is_kept(monkeypatch, bound) -> None:
    """16 units, so the path has four; a run takes half a second, and a step tries four units."""
    now, rule = [100.0], Rule(16, additive({9: 0.3, 3: 0.2, 5: 0.1}))
    monkeypatch.setattr(budget.time, "monotonic", lambda: now[0])

    def slow(instances: Tensor, removed: Tensor) -> Tensor:
        now[0] += 0.5 * len(instances)
        return rule(instances, removed)

    ptr, everything = torch.tensor([0, 16]), torch.ones(16, dtype=torch.bool)
    before = rule(torch.tensor([0]), ~everything)
    scores = torch.tensor([0.0] * 16)
    scores[[9, 3, 5, 0]] = torch.tensor([0.6, 0.7, 0.8, 0.9])

    def ranking(meter: Meter | None) -> tuple[list[int], int]:
        now[0] = 100.0
        query = FlipQuery(ptr, slow, torch.tensor([0]), before=before, meter=meter)
        found = refined(query, scores, everything, 16)
        return found.path[0].tolist(), int(found.runs[0])

    unbounded, runs = ranking(None)
    assert (unbounded[:3], runs) == ([9, 3, 5], 16)
    now[0] = 100.0
    meter = Meter(1, bound, scores.device)
    path, runs = ranking(meter)
    assert path == [9, 3, -1, -1]  # two steps of two seconds; the second began in time
    assert runs == 8
    assert meter.late.all()
    assert ranking(Meter(1, Deadline(99.0), scores.device)) == ([-1] * 4, 0)


def by_sets(table: dict[Removed, float]):
    """A model that knows these sets; without any other it is as sure as before."""
    return lambda removed: table.get(removed, 0.9)


def test_probabilities_are_added_not_log_odds() -> None:
    """.25 + .24 is less than .5 + .01, though the log-odds of the latter are far lower."""
    table = {frozenset({0}): 0.5, frozenset({0, 1}): 0.01, frozenset({2}): 0.25, frozenset({2, 3}): 0.24}
    assert improved(8, by_sets(table), 60)[0][:2] == [2, 3]


def test_at_the_end_the_path_with_the_smallest_sum_is_taken_not_the_one_that_ends_lowest() -> None:
    """Two paths are kept: .1 + .5 is less than .6 + .05 and .6 + .07."""
    table = {frozenset({7}): 0.1, frozenset({0}): 0.6, frozenset({0, 1}): 0.05, frozenset({0, 2}): 0.07}
    table |= {frozenset({7, other}): 0.5 for other in range(7)}
    assert improved(8, by_sets(table), 23)[0][:2] == [7, 0]


def test_on_the_way_a_path_that_is_lower_now_is_kept_before_one_with_a_smaller_sum() -> None:
    """Twelve units, three steps, two paths. After two steps .2 + .63 and .2 + .64 are less than .5 + .35.

    But this is lower, and the step to come costs about as much as the last one: .36, where the others pay .6.
    """
    table = {frozenset({0}): 0.2, frozenset({1}): 0.5, frozenset({1, 2}): 0.35}
    table |= {frozenset({0, other}): 0.6 + 0.01 * other for other in range(3, 12)}
    table |= {frozenset({0, 3, other}): 0.6 for other in range(4, 12)}
    table |= {frozenset({1, 2, other}): 0.36 for other in range(3, 12)}
    assert set(improved(12, by_sets(table), 45)[0][:2]) == {1, 2}


def test_an_odd_number_of_runs_has_one_more_for_new_units() -> None:
    """Five runs a step: of the second three go to 5, 6 and 7, of which nothing is known."""
    assert improved(8, additive({0: 0.4, 7: 0.3}), 10)[0][:2] == [0, 7]


def test_an_even_number_of_runs_is_shared_evenly_whatever_the_order_of_the_units() -> None:
    """Ranking 7, 6, …; four runs a step. Units 7 and 6 do the same, so with 7 gone it is 5 that counts.

    The second step tries 3 and 2, of which nothing is known, and the two that dropped most, 6 and 5.
    """

    def value(removed: Removed) -> float:
        return 0.95 - (0.4 if 7 in removed else 0.2 if 6 in removed else 0.0) - 0.1 * (5 in removed)

    found, _ = improved(8, value, 8, scores=[place / 8 for place in range(8)])
    assert found[:2] == [7, 5]


@pytest.mark.parametrize("score", [1e-8, 0.1, 0.5, 0.9, 1.0])
def test_a_path_comes_first_among_equal_scores_and_the_others_get_no_more_than_they_had(score: float) -> None:
    query = FlipQuery(torch.tensor([0, 8]), Rule(8, additive({6: 0.5, 7: 0.4})), torch.tensor([0]))
    old = torch.full((8,), score, dtype=torch.double)
    found = refined(query, old, torch.ones(8, dtype=torch.bool), 32).scores
    assert found.argsort(descending=True, stable=True).tolist() == [6, 7, 0, 1, 2, 3, 4, 5]
    assert bool((found[:6] <= old[:6]).all())
    assert bool((found[:6] > 0.99 * score).all())  # and hardly less


@pytest.mark.parametrize(("size", "steps"), [(1, 1), (2, 1), (4, 1), (8, 2), (12, 3), (40, 10)])
def test_the_path_has_a_quarter_of_the_units(size: int, steps: int) -> None:
    query = FlipQuery(torch.tensor([0, size]), Rule(size, additive({})), torch.tensor([0]))
    found = refined(query, torch.linspace(1, 0, size), torch.ones(size, dtype=torch.bool), 1000)
    assert found.path.shape == (1, steps)
    assert bool((found.path >= 0).all())


@pytest.mark.parametrize("runs", [1, 2, 6, 15])
def test_where_runs_are_few_the_path_is_shorter_so_that_each_step_has_a_choice(runs: int) -> None:
    """40 units: the path would have ten. A single run is a step all the same."""
    query = FlipQuery(torch.tensor([0, 40]), Rule(40, additive({1: 0.3})), torch.tensor([0]))
    found = refined(query, torch.linspace(1, 0, 40), torch.ones(40, dtype=torch.bool), runs)
    length = int((found.path >= 0).sum())
    assert 1 <= length <= max(1, runs // 2)


def test_what_a_batch_adds_by_rounding_does_not_decide() -> None:
    """Without 5 the log-odds are 2e-5 lower than without 2: the ranking decides, which has 2 first."""

    def log_probs(instances: Tensor, removed: Tensor) -> Tensor:
        gone = removed.reshape(len(instances), 8).double()
        logit = 3.0 - gone[:, 2] - (1 + 2e-5) * gone[:, 5]
        return torch.nn.functional.logsigmoid(torch.stack([logit, -logit], 1))

    query = FlipQuery(torch.tensor([0, 8]), log_probs, torch.tensor([0]))
    assert refined(query, torch.linspace(1, 0, 8), torch.ones(8, dtype=torch.bool), 16).path.tolist() == [[2, 5]]


@pytest.mark.parametrize("runs", [15, 20, 60])
def test_a_complete_path_is_not_prolonged_while_others_are_searched_for(runs: int) -> None:
    """8 and 12 units: two steps and three."""
    found, _, _ = of([8, 12], 0, runs)
    assert (found.path >= 0).sum(1).tolist() == [2, 3]


def test_where_nothing_may_be_deleted_the_scores_stay_as_they_are() -> None:
    """The second of two instances; its highest score is 1."""
    scores = torch.tensor([1.0, 0.5, 0.4, 0.1, 0.3, 1.0, 0.2, 0.9])
    both = Rule(4, additive({2: 0.5}))
    query = FlipQuery(torch.tensor([0, 4, 8]), both, torch.tensor([0, 0]))
    found = refined(query, scores, torch.tensor([True] * 4 + [False] * 4), 8)
    assert found.path.tolist() == [[2], [-1]]
    assert found.scores[4:].tolist() == scores[4:].tolist()
    assert found.scores[:4].argmax() == 2


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 10_000))
def test_the_highest_scores_of_each_instance_go_to_the_path_and_the_next_one_to_the_best_of_the_others(
    sizes: list[int], seed: int
) -> None:
    """But for the thousandth that tells equal ones apart. No other unit gets more than it had."""
    found, old, functions = of(sizes, seed, 40)
    others = torch.ones_like(old, dtype=torch.bool)
    others[found.path[found.path >= 0]] = False
    assert bool((found.scores <= old)[others].all())
    for instance, path in enumerate(found.path):
        units = functions.units(instance)
        after, before = (found.scores[units].sort(descending=True).values, old[units].sort(descending=True).values)
        first = int((path >= 0).sum()) + 1
        torch.testing.assert_close(after[:first], before[:first], atol=2e-3, rtol=0)
