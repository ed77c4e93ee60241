"""A class as a user names it: by its name, or by its number."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from rcexplainer.errors import RCExplainerError


@overload
def class_number(text: str, names: Sequence[str], option: str) -> int: ...


@overload
def class_number(text: str | None, names: Sequence[str], option: str) -> int | None: ...


def class_number(text: str | None, names: Sequence[str], option: str) -> int | None:
    """Find a class.

    Args:
        text: The value of an option; None: it was not given.
        names: Names of the classes, in order.
        option: The option, for the error.

    Returns:
        Its number; a name goes before a number that reads the same. None where no class was named.

    Raises:
        RCExplainerError: There is no such class.
    """
    if text is None:
        return None
    numbers = [str(number) for number in range(len(names))]
    for known in (names, numbers):
        if text in known:
            return list(known).index(text)
    or_numbers = "" if list(names) == numbers else f", or 0 to {len(names) - 1}"
    raise RCExplainerError(f"{option}: unknown class {text!r}; known: {', '.join(names)}{or_numbers}")


def with_class_number(settings: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Settings with the number of the class that `--set target_class` names.

    Args:
        settings: Settings by name, as `parse_settings` reads them.
        names: Names of the classes, in order; none if unknown.

    Returns:
        The same; a `target_class` that is neither each nor none is a number.

    Raises:
        RCExplainerError: There is no such class, or none has a name.
    """
    target = settings.get("target_class")
    if target in (None, "each"):
        return dict(settings)
    if names:
        return {**settings, "target_class": class_number(str(target), names, "--set target_class")}
    if isinstance(target, str):
        raise RCExplainerError(
            f"--set target_class: the classes have no names here: give a number such as 1, each or none, got {target!r}"
        )
    return dict(settings)
