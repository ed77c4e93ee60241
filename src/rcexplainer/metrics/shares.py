"""Lists of shares, such as sparsities and noise levels, as users give them."""

from collections.abc import Sequence
from numbers import Real

from rcexplainer.errors import RCExplainerError
from rcexplainer.short_repr import short_repr


def checked_shares(name: str, values: object, example: float) -> tuple[float, ...]:
    """A list of numbers from 0 to 1.

    Args:
        name: What they are called, for the message.
        values: A list, a tuple, or an array.
        example: A share that makes sense here, for the message.

    Raises:
        RCExplainerError: It is none.
    """
    found = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        raise RCExplainerError(
            f"{name} must be a list of shares from 0 to 1, such as [{example:g}], got {short_repr(values)}"
        )
    for value in found:
        if not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise RCExplainerError(f"{name} is a share from 0 to 1, got {short_repr(value)}")
    return tuple(found)
