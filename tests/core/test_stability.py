"""Staying put under noise, against its formula; and which unit of a copy is which."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from rcexplainer.core.stability import NoisyCopy, same_units, stability_loss
from rcexplainer.metrics.motif import auc


def softplus(value: float) -> float:
    return math.log1p(math.exp(value))


def literal(clean: list[int], heard: list[float], unit: list[int], k: int) -> float:
    """The formula, for one instance."""
    first = sorted(range(len(clean)), key=lambda u: -clean[u])[:k]
    tops = [f for f, u in zip(heard, unit, strict=True) if u in first]
    others = [f for f, u in zip(heard, unit, strict=True) if u not in first]
    terms = [softplus(other - top) for top in tops for other in others]
    return sum(terms) / len(terms) if terms else 0.0


def test_two_instances_by_hand() -> None:
    # First: units 0 and 1, the copy has both and a new edge. Second: units 2, 3, 4, of which the copy lost unit 3.
    logits, ptr, owner = torch.tensor([2.0, 1.0, 0.0, 3.0, 1.0]), torch.tensor([0, 2, 5]), torch.tensor([0, 0, 1, 1, 1])
    heard = torch.tensor([0.5, -0.5, 1.0, 0.2, 0.7])
    copied = NoisyCopy(heard, torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 1, -1, 2, 4]))
    one = stability_loss(logits, ptr, owner, copied, 1)
    # Top of the first: unit 0 (.5) against −.5 and the new edge's 1; of the second: unit 3, which the copy has not.
    assert one.tolist() == pytest.approx([(softplus(-1.0) + softplus(0.5)) / 2, 0.0])
    two = stability_loss(logits, ptr, owner, copied, 2)
    assert two[0].item() == pytest.approx((softplus(0.5) + softplus(1.5)) / 2)
    assert two[1].item() == pytest.approx(softplus(0.2 - 0.7))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9, unique=True), st.integers(1, 10), st.randoms())
def test_one_instance_against_the_formula_and_as_a_bound(clean: list[int], k: int, random: object) -> None:
    gone = {u for u in range(len(clean)) if random.random() < 0.2}  # type: ignore[attr-defined]
    unit = [u for u in range(len(clean)) if u not in gone] + [-1, -1]
    heard = [round(random.uniform(-3, 3), 3) for _ in unit]  # type: ignore[attr-defined]
    owner = torch.zeros(len(clean), dtype=torch.long)
    copied = NoisyCopy(torch.tensor(heard).double(), torch.zeros(len(unit), dtype=torch.long), torch.tensor(unit))
    found = stability_loss(torch.tensor(clean).double(), torch.tensor([0, len(clean)]), owner, copied, k).item()
    assert found == pytest.approx(literal(clean, heard, unit, k), rel=1e-6)
    first = set(sorted(range(len(clean)), key=lambda u: -clean[u])[:k])
    area = auc(torch.tensor(heard).double(), torch.tensor([u in first for u in unit]))
    assert math.isnan(area) or 1 - area <= found / math.log(2) + 1e-6


def test_the_graphs_own_ranking_is_not_pulled_and_nothing_is_not_a_number() -> None:
    logits = torch.tensor([1.0, 0.0], requires_grad=True)
    heard = torch.tensor([0.0, 1.0], requires_grad=True)
    copied = NoisyCopy(heard, torch.tensor([0, 0]), torch.tensor([0, 1]))
    ptr = torch.tensor([0, 2, 2])  # the second instance has no unit
    stability_loss(logits, ptr, torch.tensor([0, 0]), copied, 8).sum().backward()  # all are first: nothing to tell
    assert logits.grad is None
    assert heard.grad is not None
    assert heard.grad.tolist() == [0.0, 0.0]
    stability_loss(logits, ptr, torch.tensor([0, 0]), copied, 1).sum().backward()
    assert heard.grad[0] < 0 < heard.grad[1]


def test_units_are_found_again_by_their_nodes() -> None:
    pair = torch.tensor([[0, 0, 2], [1, 3, 3]])
    others = torch.tensor([[0, 1, 2, 0], [3, 2, 3, 1]])
    assert same_units(pair, others, 4).tolist() == [1, -1, 2, 0]
    nothing: Tensor = torch.empty(2, 0, dtype=torch.long)
    assert same_units(nothing, others, 4).tolist() == [-1] * 4


def test_every_pair_of_a_complete_graph_is_found_and_no_other() -> None:
    """Five nodes, and a sixth without a unit; of the units those to node 3 are gone."""
    every = torch.combinations(torch.arange(6)).T
    pair = every[:, (every != 3).all(0) & (every < 5).all(0)]
    known = {tuple(ends): place for place, ends in enumerate(pair.T.tolist())}
    assert len(known) == 6
    assert same_units(pair, every, 6).tolist() == [known.get(tuple(ends), -1) for ends in every.T.tolist()]
