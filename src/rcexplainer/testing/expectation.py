"""What a check says when a method fails it."""

from collections.abc import Callable

from rcexplainer.errors import RCExplainerError


class ConformanceError(AssertionError):
    """A method does not do what every method does."""


def expect(condition: object, message: str) -> None:
    """Raise unless the condition holds.

    Raises:
        ConformanceError: With the message.
    """
    if not condition:
        raise ConformanceError(message)


def expect_refusal(call: Callable[[], object], what: str) -> None:
    """Raise unless a call raises an error of ours.

    Args:
        call: Should raise an `RCExplainerError`.
        what: What it should refuse.

    Raises:
        ConformanceError: The call was accepted.
    """
    try:
        call()
    except RCExplainerError:
        return
    raise ConformanceError(f"{what} is accepted silently: raise an RCExplainerError that says what is possible")
