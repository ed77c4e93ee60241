"""Answers of a batch against those alone: the sample, the tolerance, and what counts as different."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from rcexplainer.core.counterfactual import Removal, Verified
from rcexplainer.core.verification import (
    LATER_SAMPLE,
    SAMPLE,
    SCORES_SAMPLE,
    Answers,
    Interference,
    check_alone,
    check_company,
    check_minimal,
    gaps,
    sample,
)

PTR = torch.tensor([0, 2, 4])
REMOVED = torch.tensor([True, False, False, True])
BEFORE = torch.tensor([[0.9, 0.1], [0.8, 0.2]]).log()
AFTER = torch.tensor([[0.3, 0.7], [0.6, 0.4]]).log()


def answers(searched: bool = True) -> Answers:
    flags = torch.tensor([True, False])
    found, final = Removal(REMOVED, flags), Verified(AFTER, flags, flags)
    return Answers(PTR, BEFORE, found, final) if searched else Answers(PTR, BEFORE)


def alone(shift: float, copy: int = 3):
    """The same answers as in the batch, but for one of the four copies."""

    def evaluate(ids: Tensor, removed: Tensor) -> Tensor:
        assert ids.tolist() == [0, 1, 0, 1]
        assert removed.tolist() == [False] * 4 + REMOVED.tolist()
        return torch.cat([BEFORE, AFTER]) + torch.zeros(4, 1).index_fill(0, torch.tensor([copy]), shift)

    return evaluate


@pytest.mark.parametrize("copy", range(4))
def test_graphs_are_compared_as_they_are_and_without_the_removed_units(copy: int) -> None:
    check_alone(answers(), alone(0.9e-4, copy), 16, seed=0)
    with pytest.raises(Interference, match=r"1 of 4 answers differ in a batch, log p by up to 0\.0002") as caught:
        check_alone(answers(), alone(2e-4, copy), 16, seed=0)
    assert (caught.value.different, caught.value.checked) == (1, 4)


def test_without_a_search_the_graphs_themselves_are_compared() -> None:
    def evaluate(ids: Tensor, removed: Tensor) -> Tensor:
        assert (ids.tolist(), removed.tolist()) == ([0, 1], [False] * 4)
        return BEFORE

    check_alone(answers(searched=False), evaluate, 16, seed=0)


def test_nan_in_one_of_two_answers_is_a_difference() -> None:
    with pytest.raises(Interference, match="1 of 4 answers"):
        check_alone(answers(), alone(math.nan), 16, seed=0)


def test_another_class_is_a_difference_however_close_the_probabilities_are() -> None:
    batched, single = torch.tensor([[0.50001, 0.49999]]).log(), torch.tensor([[0.49999, 0.50001]]).log()
    assert float(gaps(batched, single)) < 1e-4
    with pytest.raises(Interference, match="1 of 1"):
        check_alone(Answers(torch.tensor([0, 0]), batched), lambda *_: single, 16, seed=0)


def test_a_sample_of_the_given_size_that_the_seed_decides() -> None:
    asked: list[list[int]] = []

    def evaluate(ids: Tensor, removed: Tensor) -> Tensor:
        asked.append(ids.tolist())
        return torch.zeros(len(ids), 2)

    for seed in (0, 0, 1):
        check_alone(Answers(torch.zeros(101, dtype=torch.long), torch.zeros(100, 2)), evaluate, 8, seed)
    assert [len(set(ids)) for ids in asked] == [8, 8, 8]
    assert asked[0] == sorted(asked[0]) == asked[1] != asked[2]


def test_the_gap_of_equal_infinities_and_of_two_nans_is_0() -> None:
    one = torch.tensor([[0.0, -math.inf], [math.nan, 1.0], [0.0, -math.inf], [1.0, 2.0]])
    other = torch.tensor([[0.5, -math.inf], [math.nan, 1.0], [0.0, -5.0], [1.0, 2.25]])
    assert gaps(one, other).tolist() == [0.5, 0.0, math.inf, 0.25]


def company(shift: float, copy: int):
    """All instances and the claimed flip, in reverse order, with one answer shifted."""

    def evaluate(ids: Tensor, removed: Tensor) -> Tensor:
        assert ids.tolist() == [1, 0, 0]
        assert removed.tolist() == [False] * 4 + REMOVED[:2].tolist()
        return torch.stack([BEFORE[1], BEFORE[0], AFTER[0]]) + torch.eye(3)[copy][:, None] * shift

    return evaluate


@pytest.mark.parametrize("copy", range(3))
def test_every_instance_and_claimed_flip_is_run_in_other_company(copy: int) -> None:
    check_company(answers(), company(0.9e-4, copy))
    with pytest.raises(Interference, match="1 of 3 answers differ"):
        check_company(answers(), company(2e-4, copy))


def test_without_a_search_there_is_nothing_to_claim() -> None:
    def never(ids: Tensor, removed: Tensor) -> Tensor:
        raise AssertionError("nothing is to be run")

    check_company(answers(searched=False), never)


def test_a_dispute_is_a_flip_that_the_final_run_does_not_confirm_or_only_it_sees() -> None:
    seen, said = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    ptr, rows = torch.zeros(5, dtype=torch.long), torch.zeros(4, 2)
    found, final = Removal(torch.zeros(0, dtype=torch.bool), seen), Verified(rows, said, said)
    assert Answers(ptr, rows, found, final).disputed.tolist() == [False, True, True, False]
    assert Answers(ptr, rows).disputed.tolist() == [False] * 4


def minimal(claimed: list[bool]) -> Answers:
    """Three flipped instances with three units each, of which two, one and two are removed."""
    removed = torch.tensor([True, True, False, False, True, False, True, False, True])
    flipped, before = torch.tensor([True] * 3), torch.tensor([[0.9, 0.1]] * 3).log()
    found, final = Removal(removed, flipped), Verified(before.flip(1), flipped, torch.tensor(claimed))
    return Answers(torch.tensor([0, 3, 6, 9]), before, found, final)


def put_back(still_flipped: list[bool]):
    """A model that gives these answers, and the copies it was asked for."""
    asked: list[tuple[int, list[bool]]] = []

    def alone(ids: Tensor, removed: Tensor) -> Tensor:
        asked.extend(zip(ids.tolist(), removed.view(-1, 3).tolist(), strict=True))
        rest = torch.tensor([0.2 if flipped else 0.7 for flipped in still_flipped])
        return torch.stack([rest, 1 - rest], 1).log()

    return alone, asked


def test_a_minimal_result_is_looked_at_with_each_removed_unit_put_back() -> None:
    """The first alone: the second has one unit, without which it is the instance itself; the third makes no claim."""
    alone, asked = put_back([False, False])
    check_minimal(minimal([True, True, False]), alone, 3, seed=0)
    assert asked == [(0, [False, True, False]), (0, [True, False, False])]
    with pytest.raises(Interference, match=r"1 of 2 answers differ in a batch$"):
        check_minimal(minimal([True, True, False]), put_back([False, True])[0], 3, seed=0)


def test_as_many_minimal_results_are_looked_at_as_the_sample_has() -> None:
    for size, copies in ((3, 4), (0, 0)):
        alone, asked = put_back([False] * copies)
        check_minimal(minimal([True, True, True]), alone, size, seed=0)
        assert [one for one, _ in asked] == [0, 0, 2, 2][:copies]
    few, asked = put_back([False] * 2)
    everyone = [sample(minimal([True] * 3), 1, seed).item() for seed in range(8)]
    assert set(everyone) == {0, 1, 2}
    check_minimal(minimal([True] * 3), few, 1, seed=everyone.index(2))
    assert asked == [(2, [False, False, True]), (2, [True, False, False])]


def test_without_a_search_nothing_is_minimal() -> None:
    def never(ids: Tensor, removed: Tensor) -> Tensor:
        raise AssertionError("nothing is to be run")

    check_minimal(answers(searched=False), never, 16, seed=0)
    check_minimal(minimal([False] * 3), never, 16, seed=0)


def test_the_samples_have_the_sizes_that_the_documentation_gives() -> None:
    page = Path(__file__).parents[2] / "docs" / "your-model.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert f"In every call a seeded sample of {SAMPLE} instances (of the first chunk of a search; " in text
    assert f"; {LATER_SAMPLE} of each later one, {SCORES_SAMPLE} where nothing is searched)" in text
