"""Sequences of deletions against literal probabilities, and what a plan says after the last of them."""

from collections import Counter
from itertools import permutations

import pytest
import torch

from rcexplainer.core.course import Course, Sequences
from tests.core.test_deletion_plan import random_plan


def test_sequences_have_the_literal_probability() -> None:
    """Step by step: a softmax over what is left, of logits that know what is gone."""
    made = random_plan()
    for sequence in permutations(range(3)):
        literal = 0.0
        for step, unit in enumerate(sequence):
            logits = 2.0 * made.given(torch.tensor(sequence[:step], dtype=torch.long))
            left = [other for other in range(3) if other not in sequence[:step]]
            literal += float(logits[unit] - logits[left].logsumexp(0))
        drawn = Sequences(torch.tensor(sequence), torch.tensor([3]), torch.tensor([0]))
        assert float(Course.of(made, drawn).log_likelihood(2.0).sum()) == pytest.approx(literal, abs=1e-5)


def test_several_sequences_of_several_instances_do_not_mix() -> None:
    made = random_plan()
    both = Sequences(torch.tensor([1, 4, 3, 2, 0]), torch.tensor([1, 2, 0, 2]), torch.tensor([0, 1, 1, 0]))
    alone = [
        Sequences(torch.tensor([1]), torch.tensor([1]), torch.tensor([0])),
        Sequences(torch.tensor([4, 3]), torch.tensor([2]), torch.tensor([1])),
        Sequences(torch.tensor([2, 0]), torch.tensor([2]), torch.tensor([0])),
    ]
    expected = torch.cat([Course.of(made, one).log_likelihood(1.0) for one in alone])
    torch.testing.assert_close(Course.of(made, both).log_likelihood(1.0), expected)


def test_draws_follow_these_probabilities() -> None:
    many, made = 4000, random_plan(seed=1)
    walk = made.repeated(many).drawn(torch.tensor([2, 1]).repeat(many), 1.0, torch.Generator().manual_seed(0))
    first = Counter(tuple((row - 5 * copy).tolist()) for copy, row in enumerate(walk[::2]))
    for pair in permutations(range(3), 2):
        drawn = Sequences(torch.tensor(pair), torch.tensor([2]), torch.tensor([0]))
        assert first[pair] / many == pytest.approx(
            float(Course.of(made, drawn).log_likelihood(1.0).sum().exp()), abs=0.03
        ), pair
    assert (walk[1::2, 1] == -1).all()  # the second instance was asked for one unit


def test_after_the_last_deletion_are_the_logits_without_all_of_them() -> None:
    made = random_plan()
    drawn = Sequences(torch.tensor([1, 4, 3, 2, 0]), torch.tensor([1, 2, 0, 2]), torch.tensor([0, 1, 1, 0]))
    logits, gone = Course.of(made, drawn).after_last()
    expected = [made.given(torch.tensor(units, dtype=torch.long)) for units in ([1], [4, 3], [], [2, 0])]
    own = [slice(0, 3), slice(3, 5), slice(3, 5), slice(0, 3)]
    torch.testing.assert_close(logits, torch.cat([one[where] for one, where in zip(expected, own, strict=True)]))
    assert gone.tolist() == [False, True, False, True, True, False, False, True, False, True]


def test_sequences_without_a_deletion_end_where_they_begin() -> None:
    made, none = random_plan(), torch.empty(0, dtype=torch.long)
    course = Course.of(made, Sequences(none, torch.tensor([0, 0]), torch.tensor([1, 0])))
    logits, gone = course.after_last()
    assert torch.equal(logits, torch.cat([made.alone[3:], made.alone[:3]]))
    assert not gone.any()
    assert course.log_likelihood(1.0).tolist() == []


def test_values_are_summed_by_sequence() -> None:
    drawn = Sequences(torch.tensor([0, 1, 2]), torch.tensor([1, 0, 2]), torch.tensor([0, 0, 0]))
    assert drawn.summed(torch.tensor([1.0, 2.0, 3.0])).tolist() == [1.0, 0.0, 5.0]
