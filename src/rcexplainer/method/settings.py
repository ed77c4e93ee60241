"""Settings of a method: the names its constructor knows, and checks of their values.

    class MyMethod(Method):
        def __init__(self, *, steps: int = 100, lr: float = 0.1, **common: Unpack[CommonSettings]) -> None:
            super().__init__(**common)
            self.steps, self.lr = whole("steps", steps), positive("lr", lr)

A check returns the value, or raises an `RCExplainerError` that says what is possible and what was given.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypedDict

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.forward import TaskName
from rcexplainer.short_repr import short_repr


class CommonSettings(TypedDict, total=False):
    """The keyword arguments that the constructor of every method takes."""

    task: TaskName
    target_class: int | None
    hops: int | None
    connected: bool


def setting_names(method: type) -> list[str]:
    """The keyword arguments of a class's constructor, with those it passes on to its base classes."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        parameter.name
        for owner in method.__mro__
        if "__init__" in vars(owner)
        for parameter in list(inspect.signature(vars(owner)["__init__"]).parameters.values())[1:]
        if parameter.kind in named
    ]


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a setting that does not exist.

    Raises:
        RCExplainerError: Naming the settings it may be a misspelling of, or all there are.
    """
    known = list(dict.fromkeys(known))
    for name in given:
        if name not in known:
            near = get_close_matches(name, known)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
            raise RCExplainerError(f"unknown setting {name!r}; {hint}")


def check_texts(name: str, given: Any) -> None:
    """Refuse what is no list of texts.

    Raises:
        RCExplainerError: It says what was got.
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    if not several or not all(isinstance(one, str) for one in given):
        raise RCExplainerError(f"{name} must be a list of texts, got {short_repr(given)}")


def checked_names(class_names: Any, num_classes: int) -> tuple[str, ...]:
    """The names of the classes, in their order; empty if none are given.

    Raises:
        RCExplainerError: They are no list of texts, or there is not one for each class.
    """
    if class_names is None:
        return ()
    several = isinstance(class_names, Iterable) and not isinstance(class_names, str | Mapping)
    names = tuple(class_names) if several else ()
    if not several or not all(isinstance(name, str) for name in names):
        raise RCExplainerError(
            'class_names must be a list of texts, one for each class in order, such as ["inactive", "active"], '
            f"got {short_repr(class_names)}"
        )
    if names and len(names) != num_classes:
        raise RCExplainerError(f"{len(names)} class_names were given for a model with {num_classes} classes")
    return names


def different_names(class_names: Any, num_classes: int) -> tuple[str, ...]:
    """The names of the classes that a fit is given; explainers that were saved before may have equal ones.

    Raises:
        RCExplainerError: As for `checked_names`, or two are equal.
    """
    names = checked_names(class_names, num_classes)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RCExplainerError(f"class_names must differ, got {short_repr(twice)} more than once: {short_repr(names)}")
    return names


def number(name: str, value: Any, possible: Callable[[Any], bool], words: str) -> Any:
    """A finite number for which `possible` holds; `words` say so in the error."""
    real = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not real or not possible(value):
        raise RCExplainerError(f"{name} must be {words}, got {value!r}")
    return value


def whole(name: str, value: Any, least: int = 1) -> Any:
    """A whole number, at least `least`."""
    words = f"a whole number ≥ {least}"
    return number(name, value, lambda given: isinstance(given, Integral) and int(given) >= least, words)


def positive(name: str, value: Any) -> Any:
    """A finite number above 0."""
    return number(name, value, lambda given: given > 0, "a finite number > 0")


def non_negative(name: str, value: Any) -> Any:
    """A finite number from 0 on."""
    return number(name, value, lambda given: given >= 0, "a finite number ≥ 0")


def share(name: str, value: Any) -> Any:
    """A number from 0 to 1, both included."""
    return number(name, value, lambda given: 0 <= given <= 1, "a share from 0 to 1")


def inner_share(name: str, value: Any) -> Any:
    """A number between 0 and 1, neither included."""
    return number(name, value, lambda given: 0 < given < 1, "between 0 and 1")
