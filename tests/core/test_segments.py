"""Ragged arrays against plain Python lists."""

import doctest

import hypothesis.strategies as st
import torch
from hypothesis import given, settings

from rcexplainer.core import segments
from rcexplainer.core.segments import first_minimum, gather_ranges, owners, ranks, split_by_cost

FEW = st.sampled_from([-1.5, 0.0, 0.5, 2.0, float("inf")])  # few values, so that there are ties
SIZES = st.lists(st.integers(0, 5), max_size=6)


def ptr_of(sizes: list[int]) -> torch.Tensor:
    return torch.tensor([0, *sizes]).cumsum(0)


def test_the_documented_example() -> None:
    assert doctest.testmod(segments, extraglobs={"torch": torch}).failed == 0


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6)), max_size=8))
@settings(deadline=None)
def test_ranges(cases: list[tuple[int, int]]) -> None:
    starts = torch.tensor([start for start, _ in cases], dtype=torch.long)
    ends = torch.tensor([start + size for start, size in cases], dtype=torch.long)
    index, owner = gather_ranges(starts, ends)
    assert index.tolist() == [number for start, size in cases for number in range(start, start + size)]
    assert owner.tolist() == [place for place, (_, size) in enumerate(cases) for _ in range(size)]


@given(SIZES)
@settings(deadline=None)
def test_owners(sizes: list[int]) -> None:
    assert owners(ptr_of(sizes)).tolist() == [place for place, size in enumerate(sizes) for _ in range(size)]


def test_of_several_minima_the_first_is_taken_and_an_empty_owner_has_none() -> None:
    values, owner = torch.tensor([3.0, 1.0, 1.0, torch.inf, 0.0]), torch.tensor([0, 0, 0, 2, 3])
    assert first_minimum(values, owner, 5).tolist() == [1, -1, 3, 4, -1]
    assert first_minimum(torch.empty(0), torch.empty(0, dtype=torch.long), 2).tolist() == [-1, -1]
    assert first_minimum(torch.empty(0), torch.empty(0, dtype=torch.long), 0).tolist() == []


@given(st.lists(st.tuples(FEW, st.integers(0, 4)), max_size=20))
@settings(deadline=None)
def test_first_minimum_for_owners_in_any_order(cases: list[tuple[float, int]]) -> None:
    values = torch.tensor([value for value, _ in cases])
    owner = torch.tensor([owner for _, owner in cases], dtype=torch.long)
    expected = []
    for number in range(5):
        own = [place for place, (_, owner) in enumerate(cases) if owner == number]
        expected.append(min(own, key=lambda place: cases[place][0], default=-1))
    assert first_minimum(values, owner, 5).tolist() == expected


def test_the_highest_score_has_rank_0_and_ties_go_by_position() -> None:
    scores, ptr = torch.tensor([0.1, 0.7, 0.1, 0.7, 5.0, 0.2]), torch.tensor([0, 4, 4, 6])
    assert ranks(scores, owners(ptr), ptr).tolist() == [2, 0, 3, 1, 0, 1]


@given(SIZES, st.data())
@settings(deadline=None)
def test_ranks(sizes: list[int], data: st.DataObject) -> None:
    parts = [data.draw(st.lists(FEW, min_size=size, max_size=size)) for size in sizes]
    expected: list[int] = []
    for part in parts:
        order = sorted(range(len(part)), key=lambda place: (-part[place], place))
        expected += [order.index(place) for place in range(len(part))]
    ptr = ptr_of(sizes)
    scores = torch.tensor([score for part in parts for score in part], dtype=torch.float)
    assert ranks(scores, owners(ptr), ptr).tolist() == expected


def test_pieces_of_about_the_same_cost() -> None:
    def pieces(cost: list[int], limit: float) -> list[list[int]]:
        return [piece.tolist() for piece in split_by_cost(torch.arange(len(cost)), torch.tensor(cost), limit)]

    assert pieces([5, 5, 5, 5], 10) == [[0, 1], [2, 3]]
    assert pieces([1, 50, 1, 1], 10) == [[0, 1], [2, 3]]
    assert pieces([], 10) == []


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 40))
@settings(deadline=None)
def test_a_piece_costs_less_than_the_limit_and_one_more(cost: list[int], limit: int) -> None:
    ids = torch.arange(len(cost))
    pieces = split_by_cost(ids, torch.tensor(cost), limit)
    assert torch.equal(torch.cat(pieces), ids)
    for piece in pieces:
        assert sum(cost[i] for i in piece.tolist()[:-1]) < limit
