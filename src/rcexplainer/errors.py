"""The errors a user can meet. Each message says what is wrong, what was found, and the way out."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType


class RCExplainerError(ValueError):
    """Base of every error raised on purpose; the command line prints it as one line and exits with 2."""


class GraphError(RCExplainerError):
    """A graph, or a list of graphs, that cannot be used."""


class DatasetError(RCExplainerError):
    """A dataset that is unknown, missing or broken."""


class MissingDataError(DatasetError):
    """A dataset that is not there, and cannot be fetched."""


class SplitError(RCExplainerError):
    """A model that cannot be taken apart into embedding and head."""


class CheckpointError(RCExplainerError):
    """A saved file that does not fit, or is not one of ours."""


class MissingExtraError(RCExplainerError, ImportError):
    """An optional package is not installed."""


class ExplainError(RCExplainerError):
    """Some instances could not be explained; `results` holds the explanations of all others."""

    def __init__(self, index: int, error: Exception, count: int, results: Sequence[object]) -> None:
        more = f" ({count - 1} more failed too)" if count > 1 else ""
        super().__init__(f"instance {index} could not be explained: {error}{more}; the others are in .results")
        self.index, self.error, self.results = index, error, results


def require(module: str, extra: str) -> ModuleType:
    """Import an optional package, or say which line installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'{module.split(".")[0]} is not installed; run: pip install "rcexplainer[{extra}]"'
        ) from error
