"""Whether something is a fitted explainer, asked before the work for which one is needed."""

from torch import nn

from rcexplainer.errors import NotFittedError, RCExplainerError


def check_fitted(function: str, given: object, *needed: str) -> None:
    """Refuse a model, or anything else that is not what `fit` returns.

    Args:
        function: Who asks, for the error message.
        given: What was given.
        *needed: What is used of it: other classes that have it will do.

    Raises:
        RCExplainerError: It is no fitted explainer; a method that is not fitted says so itself (`NotFittedError`).
    """
    try:
        fits = not isinstance(given, nn.Module) and all(getattr(given, name) is not None for name in needed)
    except NotFittedError:
        raise
    except AttributeError:
        fits = False
    if not fits:
        raise RCExplainerError(
            f"{function} needs a fitted explainer, such as rc.RCExplainer().fit(model, graphs), got "
            f"{type(given).__name__}"
        )
