"""Short texts for values of any size, for errors and for what a notebook prints."""

from collections.abc import Mapping, Set
from dataclasses import fields

from torch import Tensor, nn

LONGEST = 80  # characters
ITEMS = 8  # of a tuple or list


def short_repr(value: object) -> str:
    """A value on one line of at most 80 characters or so: of a tensor its shape, of a module its class."""
    if isinstance(value, Tensor):
        return f"tensor{list(value.shape)}" if value.dim() else repr(value.item())
    if isinstance(value, nn.Module):
        return f"{type(value).__name__}(…)"
    if isinstance(value, tuple | list) and type(value).__repr__ in (tuple.__repr__, list.__repr__):
        several = len(value) > ITEMS
        shown = ", ".join(short_repr(one) for one in value[: 2 if several else ITEMS])
        return cut(f"[{shown}{f', … {len(value)} in all' if several else ''}]", 2 * LONGEST)
    if isinstance(value, Mapping | Set) and len(value) > ITEMS:
        return f"{type(value).__name__} of {len(value)}"
    return cut(repr(value[: 2 * LONGEST]) if isinstance(value, str) else repr(value), LONGEST)


def cut(text: str, longest: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class ShortRepr:
    """A base of dataclasses (with `repr=False`) whose fields may be large: `repr` shows the beginning of each."""

    def __repr__(self) -> str:
        shown = (field for field in fields(self) if field.repr)  # type: ignore[arg-type]
        values = (f"{field.name}={short_repr(getattr(self, field.name))}" for field in shown)
        return f"{type(self).__name__}({', '.join(values)})"
