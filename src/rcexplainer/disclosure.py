"""How much an explanation tells: everything, the counterfactual alone, or the prediction alone.

What is withheld is not in the object: it cannot be read from a copy, a pickle or a debugger either. `SECURITY.md` says
what this protects, and what it does not.
"""

from typing import Literal, get_args

from rcexplainer.errors import RCExplainerError, WithheldError
from rcexplainer.short_repr import short_repr

Disclosure = Literal["scores", "counterfactual", "prediction"]
# The attributes that an explanation does not have.
WITHHELD: dict[Disclosure, tuple[str, ...]] = {
    "scores": (),
    "counterfactual": ("scores", "relevance"),
    "prediction": ("scores", "relevance", "counterfactual"),
}


def checked_disclosure(value: object) -> Disclosure:
    """Check the value of `disclose`.

    Args:
        value: As it was given.

    Returns:
        The same.

    Raises:
        RCExplainerError: There is no such disclosure.
    """
    for known in get_args(Disclosure):
        if isinstance(value, str) and value == known:
            return known
    raise RCExplainerError(f"disclose must be one of {', '.join(get_args(Disclosure))}, got {short_repr(value)}")


def withheld(what: str, disclosed: Disclosure) -> WithheldError:
    """The error of whoever asks for what an explanation does not have.

    Args:
        what: The attribute that was asked for, such as "scores".
        disclosed: What the explanation was made with.

    Returns:
        An error that says how it was withheld, and who can change that.
    """
    return WithheldError(
        f"{what} is withheld: the explanation was made with disclose={disclosed!r} and does not hold it; whoever runs "
        f'explain (or `serve`) can make another one with disclose="{_least(what)}"'
    )


def _least(what: str) -> Disclosure:
    """The disclosure that tells the least of those that tell this."""
    return next(one for one in reversed(get_args(Disclosure)) if what not in WITHHELD[one])


def refuse_withheld(what: str, needs: str, disclosed: Disclosure) -> None:
    """Refuse what shows more than is disclosed.

    Args:
        what: What was asked for, such as "a page".
        needs: The attribute that it shows.
        disclosed: What may be told.

    Raises:
        WithheldError: It would show what is withheld.
    """
    if needs in WITHHELD[disclosed]:
        raise WithheldError(
            f"{what} shows {needs}, and disclose={disclosed!r} withholds this: leave it out, or let whoever runs "
            f'explain make the explanations with disclose="{_least(needs)}"'
        )
