"""House rules of the values that `core` and `method` pass around."""

import importlib
import pkgutil
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from torch import Tensor

import rcexplainer.core
import rcexplainer.method


def _values() -> Iterator[type]:
    for package in (rcexplainer.core, rcexplainer.method):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            yield from (one for one in vars(module).values() if is_dataclass(one) and one.__module__ == found.name)


VALUES = sorted(_values(), key=lambda one: (one.__module__, one.__name__))


def _holds_tensors(value: type) -> bool:
    """Whether a field is a tensor, or a tuple or dictionary of them."""
    types = typing.get_type_hints(value)
    return any(Tensor in (types[field.name], *typing.get_args(types[field.name])) for field in fields(value))


def test_there_are_values() -> None:
    assert len(VALUES) > 30
    assert sum(map(_holds_tensors, VALUES)) > 10


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__qualname__)
def test_values_do_not_change(value: type) -> None:
    assert value.__dataclass_params__.frozen  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [*filter(_holds_tensors, VALUES)], ids=lambda value: value.__qualname__)
def test_values_with_tensors_are_equal_to_themselves_alone(value: type) -> None:
    """Field by field they could not be compared: a tensor of several truths is neither true nor false."""
    assert value.__eq__ is object.__eq__
    assert value.__hash__ is object.__hash__
