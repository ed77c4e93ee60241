"""Devices by name, and random numbers by seed."""

import pytest
import torch
from torch import nn

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.device import device_of, usable_device
from rcexplainer.gnn.seed import seeded


def test_a_device_must_exist_and_hold_numbers() -> None:
    assert usable_device(None) == usable_device("cpu") == torch.device("cpu")
    for name in ("nowhere", "meta"):
        with pytest.raises(RCExplainerError, match=f"device '{name}' cannot be used here: "):
            usable_device(name)


def test_the_device_of_a_model() -> None:
    assert device_of(nn.Linear(1, 1, device="meta")) == torch.device("meta")
    assert device_of(nn.ReLU()) == torch.device("cpu")


def test_a_seed_gives_the_same_numbers_and_leaves_the_settings_alone() -> None:
    state, drawn = torch.random.get_rng_state(), []
    for seed in (3, 3, 4):
        with seeded(seed):
            assert torch.are_deterministic_algorithms_enabled()
            drawn.append(torch.rand(4))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not torch.are_deterministic_algorithms_enabled()
