"""Robust counterfactual explanations for graph neural networks.

What would have had to be missing for this prediction to be different?

    import rcexplainer as rc

    data = rc.datasets.load("ba-2motifs")
    trained = rc.gnn.train_gnn(rc.gnn.gnn_config("paper", data.num_features, data.num_classes), data.graphs, data.split)
    split = rc.gnn.split_model(trained.model, data.graphs)

The names below are loaded when they are first used, so importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcexplainer import datasets, errors, gnn

__version__ = "0.1.0"
__all__ = ["datasets", "errors", "gnn"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return import_module(f"rcexplainer.{name}")
    raise AttributeError(f"module 'rcexplainer' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
