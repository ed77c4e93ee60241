"""Frozen dataclasses of numbers from JSON: the inverse of `dataclasses.asdict` and `saving.documents.to_text`.

JSON has no nan: where a number is wanted, null is nan.
"""

from dataclasses import fields, is_dataclass
from math import nan
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

LATER = {"later": True}  # metadata of fields that records of earlier versions lack: they get the default


def read_record(kind: type[T], value: Any) -> T:
    """A dataclass from the dictionary of its fields.

    Args:
        kind: The dataclass; its fields are numbers, texts, tuples of these, and dataclasses.
        value: What JSON gives.

    Raises:
        TypeError: The value does not fit the type.
    """
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    newer = {one.name for one in fields(kind) if one.metadata == LATER}  # type: ignore[arg-type]
    if not isinstance(value, dict) or value.keys() | newer != set(names):
        raise TypeError(f"{kind.__name__} has the fields {', '.join(names)}, got {value!r}")
    return kind(**{name: _read(hints[name], item) for name, item in value.items()})


def _read(kind: Any, value: Any) -> Any:
    """A value of a type: a dataclass, a tuple, one of several types, or a plain value."""
    if get_origin(kind) in (Union, UnionType):
        options = [option for option in get_args(kind) if option is not NoneType]
        return None if value is None else _read(options[0], value)
    if is_dataclass(kind) and isinstance(kind, type):
        return read_record(kind, value)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TypeError(f"a list is needed for {kind}, got {value!r}")
        return tuple(_read(get_args(kind)[0], item) for item in value)
    if kind is float:
        return nan if value is None else float(value)
    if kind in (int, str, bool) and not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} is needed, got {value!r}")
    return value
