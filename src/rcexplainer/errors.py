"""The errors that users can meet. Every message says what is wrong, what was found, and how to fix it."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType


class RCExplainerError(ValueError):
    """Base class of all errors raised on purpose; the command line prints one as a single line and exits with 2."""


class GraphError(RCExplainerError):
    """A graph, or a list of graphs, is malformed or unsupported."""


class TargetError(GraphError):
    """An instance is predicted as the class that its counterfactual should lead to: there is nothing to change."""


class HubError(GraphError):
    """The computation graph of a node or link has more edges than the bound of a graph that is not in memory."""


class DatasetError(RCExplainerError):
    """A dataset is unknown, missing or corrupt."""


class MissingDataError(DatasetError):
    """A dataset is not on disk and cannot be downloaded."""


class SplitError(RCExplainerError):
    """A model cannot be split into embedding and head."""


class CheckpointError(RCExplainerError):
    """A saved file does not fit the model, or was not written by this package."""


class WriteError(RCExplainerError, OSError):
    """A file cannot be written, as on a full disk.

    Args:
        message: What could not be written, why, and the way out.
        errno: The system's number of the cause, if it has one.
        strerror: The cause in words.
    """

    def __init__(self, message: str, errno: int | None = None, strerror: str | None = None) -> None:
        super().__init__(message, errno, strerror)
        self.errno, self.strerror = errno, strerror

    def __str__(self) -> str:
        return str(self.args[0])


class MissingExtraError(RCExplainerError, ImportError):
    """An optional package is not installed."""


class NotFittedError(RCExplainerError, AttributeError):
    """Something was asked of an explainer that only what `fit` returns has, or the other way round."""


class ArgumentError(RCExplainerError, TypeError):
    """A function was called with an argument it does not have, or without one it needs."""


class TimeUpError(RCExplainerError):
    """The time of a call was up before there was a result."""


class WithheldError(RCExplainerError):
    """Something was asked of an explanation that was made without it (`explain(disclose=...)`)."""


class ModelError(RCExplainerError, RuntimeError):
    """The model raised an error while an instance was explained; that error is its `__cause__`."""


class ExplainError(RCExplainerError):
    """Some instances could not be explained.

    Args:
        index: The first instance that failed.
        error: Why it failed.
        count: Number of instances that failed.
        results: The explanations of all instances, with a `Failure` for each that failed.

    Attributes:
        index: The first instance that failed.
        error: Why it failed.
        results: The explanations of all instances, with a `Failure` for each that failed.
    """

    def __init__(self, index: int, error: Exception, count: int, results: Sequence[object]) -> None:
        more = f" ({count - 1} more failed too)" if count > 1 else ""
        rest = "; the others are in .results" if count < len(results) else ""
        super().__init__(f"instance {index} could not be explained: {error}{more}{rest}")
        self.index, self.error, self.results = index, error, results


class ExplainInterrupt(KeyboardInterrupt):
    """An interrupt (Ctrl-C) in the midst of `explain`.

    Args:
        results: The explanations of the first instances, which were finished before.

    Attributes:
        results: The explanations of the first instances, which were finished before.
    """

    def __init__(self, results: Sequence[object]) -> None:
        super().__init__(f"{len(results)} instances were explained before; they are in .results")
        self.results = results


def require(module: str, extra: str) -> ModuleType:
    """Import a module of an optional package.

    Args:
        module: Its dotted name.
        extra: The extra of this package that installs it.

    Returns:
        The module.

    Raises:
        MissingExtraError: If it is not installed; the message has the line that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'{module.split(".")[0]} is not installed; run: pip install "rcexplainer[{extra}]"'
        ) from error
