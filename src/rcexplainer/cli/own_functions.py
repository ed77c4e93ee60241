"""A user's own functions by name, `module:function`: those that return a model or graphs, and one that calls a model.

Nothing is unpickled here: what the function reads, and how, is its own affair.
"""

import inspect
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rcexplainer.errors import GraphError, RCExplainerError

if TYPE_CHECKING:
    from torch import nn
    from torch_geometric.data import Data

    from rcexplainer.gnn.forward import Forward

FUNCTION_NAME = re.compile(
    r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<function>[^\W\d]\w*)"
)  # my_package.gnn:load_model


def names_function(text: str) -> bool:
    """Whether a value is `module:function`; a file of that name is a file.

    Args:
        text: The value of `--model` or `--graphs`.
    """
    return FUNCTION_NAME.fullmatch(text) is not None and not Path(text).exists()


def own_model(text: str, option: str = "--model") -> "nn.Module":
    """Call a user's function that returns a trained model.

    Args:
        text: `module:function`.
        option: The command-line option that named it, for error messages.

    Returns:
        The model.

    Raises:
        RCExplainerError: There is no such function, it raised an error, or it returned something else.
    """
    from torch import nn

    found = _called(text, option)
    if isinstance(found, nn.Module):
        return found
    hint = "; build the model and load these weights into it" if isinstance(found, dict) else ""
    raise RCExplainerError(f"{option} {text} must return a torch.nn.Module, got {_kind(found)}{hint}")


def own_graphs(text: str, option: str = "--graphs") -> "list[Data]":
    """Call a user's function that returns graphs.

    Args:
        text: `module:function`.
        option: The command-line option that named it, for error messages.

    Returns:
        The graphs of the `Data`, list or PyG dataset that it returned.

    Raises:
        RCExplainerError: There is no such function, it raised an error, or it returned something else, or nothing.
    """
    from rcexplainer.gnn.graph_checks import list_graphs

    if not names_function(text):
        raise RCExplainerError(f"{option} takes module:function, such as my_package.data:load_graphs, got {text!r}")
    found: Any = _called(text, option)
    try:
        return list_graphs(found)
    except GraphError as error:
        wanted = "a PyG Data, a list of them or a PyG dataset"
        raise RCExplainerError(f"{option} {text} must return {wanted}, got {_kind(found)}: {error}") from error


def own_forward(text: str, option: str = "--forward") -> "Forward":
    """Find a user's function that calls their model: `forward(model, batch, edge_weight)`.

    Args:
        text: `module:function`.
        option: The command-line option that named it, for error messages.

    Returns:
        The function.

    Raises:
        RCExplainerError: There is no such function, or it takes other arguments.
    """
    with redirect_stdout(sys.stderr):
        function = _function(text, option, "my_package.gnn:call_model")
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        raise RCExplainerError(
            f"{option} {text} is called with three arguments, (model, batch, edge_weight), but its own are "
            f"{inspect.signature(function)}"
        ) from None
    return function


def _called(text: str, option: str) -> object:
    """What the function returns. Whatever it prints goes to standard error: standard output is for results."""
    with redirect_stdout(sys.stderr):
        function = _function(text, option, "my_package.gnn:load_model")
        _check_no_arguments(function, text, option)
        try:
            return function()
        except Exception as error:
            raise RCExplainerError(f"{option} {text} raised {_described(error)}") from error


def _module(name: str, text: str, option: str) -> ModuleType:
    """The module, looked for in the current directory first, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise RCExplainerError(
                f"{option} {text}: there is no module {error.name}, neither in the current directory, {here}, nor "
                "among the installed packages"
            ) from error
        raise RCExplainerError(f"{option} {text}: importing {name} raised {_described(error)}") from error
    except Exception as error:
        raise RCExplainerError(f"{option} {text}: importing {name} raised {_described(error)}") from error


def _function(text: str, option: str, example: str) -> Callable[..., Any]:
    """The function that a text names."""
    named = FUNCTION_NAME.fullmatch(text)
    if named is None:
        raise RCExplainerError(f"{option} takes module:function, such as {example}, got {text!r}")
    module, name = _module(named["module"], text, option), named["function"]
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(sorted(known)) or 'none'}"
        raise RCExplainerError(f"{option} {text}: the module {module.__name__} has no function {name}; {hint}")
    function: Callable[..., Any] = found
    return function


def _check_no_arguments(function: Callable[..., Any], text: str, option: str) -> None:
    """Refuse a function that needs arguments."""
    try:
        required = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
    except ValueError:  # some built-in functions tell nothing
        required = []
    if required:
        raise RCExplainerError(
            f"{option} {text} is called without arguments, but {text.partition(':')[2]} needs {', '.join(required)}: "
            "give them defaults, or name a function that calls it"
        )


def _described(error: Exception) -> str:
    """An error and where it was raised, on one line."""
    frames = extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}" if str(error) else f"{type(error).__name__}{where}"


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__
