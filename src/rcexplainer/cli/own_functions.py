"""A user's own model and graphs: `module:function` names a function without arguments, which is imported and called.

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


def _called(text: str, option: str) -> object:
    """What the function returns. Whatever it prints goes to standard error: standard output is for results."""
    name = FUNCTION_NAME.fullmatch(text)
    if name is None:
        raise RCExplainerError(f"{option} takes module:function, such as my_package.gnn:load_model, got {text!r}")
    with redirect_stdout(sys.stderr):
        function = _function(_module(name["module"], text, option), name["function"], text, option)
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


def _function(module: ModuleType, name: str, text: str, option: str) -> Callable[[], object]:
    """The function of a module, which must take no arguments."""
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(sorted(known)) or 'none'}"
        raise RCExplainerError(f"{option} {text}: the module {module.__name__} has no function {name}; {hint}")
    try:
        required = [
            one.name
            for one in inspect.signature(found).parameters.values()
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
    except ValueError:  # some built-in functions tell nothing
        required = []
    if required:
        raise RCExplainerError(
            f"{option} {text} is called without arguments, but {name} needs {', '.join(required)}: give them defaults, "
            "or name a function that calls it"
        )
    called: Callable[[], object] = found
    return called


def _described(error: Exception) -> str:
    """An error and where it was raised, on one line."""
    frames = extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}" if str(error) else f"{type(error).__name__}{where}"


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__
