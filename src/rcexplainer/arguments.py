"""Calls with arguments that do not exist, or without those that must be given: the error says which there are.

Signatures stay as they are written, so that type checkers and editors know them; nothing is done for a call that works.
"""

import inspect
from collections.abc import Callable, Collection
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

from rcexplainer.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")
Settings = Callable[[type], Collection[str]]  # the arguments of a class's constructor


def plain_number(value: Any) -> Any:
    """The whole number in a tensor with a single one, such as `label[0]`; anything else as it is.

    Args:
        value: An argument that must be a whole number.
    """
    if not isinstance(value, Tensor) or value.numel() != 1 or value.dtype == torch.bool:
        return value
    return value if value.is_floating_point() or value.is_complex() else int(value)


def no_settings(kind: type) -> Collection[str]:
    """For functions that are no methods of something with settings."""
    return ()


def clear_arguments(settings: Settings = no_settings) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that a call which does not fit its signature raises an `ArgumentError` with a hint.

    Args:
        settings: For a method: names that belong to the constructor of its class.

    Returns:
        The decorator.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                said = misfit(function, args, kwargs, settings)
                if said is None:  # raised inside
                    raise
                raise ArgumentError(said) from error

        return call

    return decorate


def misfit(
    function: Callable[..., object], args: tuple[object, ...], given: dict[str, object], settings: Settings
) -> str | None:
    """What is wrong with a call, if it does not fit the signature."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **given)
    except TypeError as error:
        problem = str(error)
    else:
        return None
    name, parameters = function.__qualname__, list(signature.parameters.values())
    method = bool(parameters) and parameters[0].name == "self"
    if method and not (args and name.partition(".")[0] in {kind.__name__ for kind in type(args[0]).__mro__}):
        kind, _, called = name.partition(".")
        return f"{called} is called on an object, not on the class: {kind}(…).{called}(…)"
    parameters = [one for one in parameters[method:] if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    known = [parameter.name for parameter in parameters]
    for unknown in given:
        if unknown not in known:
            return unknown_argument(name, unknown, known, settings(type(args[0])) if method else ())
    first = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
    rest = [one for one in known if one not in first]
    if problem.startswith("too many") and rest:
        return f"{name}({', '.join(first)}, …): give the other arguments by name, such as {rest[0]}=…"
    return f"{name}({', '.join(first)}): {problem}"


def unknown_argument(function: str, name: str, known: Collection[str], settings: Collection[str] = ()) -> str:
    """What to say of an argument that a function does not have.

    Args:
        function: The function.
        name: The argument.
        known: The arguments it has.
        settings: Names that belong to the constructor.
    """
    if name in settings:
        kind, _, called = function.partition(".")
        return f"{function} has no argument {name}: it is a setting, {kind}({name}=…).{called}(…)"
    near = get_close_matches(name, known, n=1)
    return f"{function} has no argument {name}; " + (
        f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    )
