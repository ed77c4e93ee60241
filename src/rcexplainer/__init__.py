"""Robust counterfactual explanations for graph neural networks.

What would have had to be missing for this prediction to be different?

    import rcexplainer as rc

    fitted = rc.RCExplainer().fit(model, graphs)
    explanation = fitted.explain(graph)

The names below are loaded when they are first used, so importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcexplainer import baselines, datasets, errors, gnn, integrations, metrics, testing, viz
    from rcexplainer.config import RCConfig
    from rcexplainer.core.budget import Seconds
    from rcexplainer.counterfactual_graph import Counterfactual
    from rcexplainer.explainer import FittedRCExplainer, RCExplainer, load
    from rcexplainer.explanation import Explanation, Failure
    from rcexplainer.method.explanations import Explanations

__version__ = "0.3.0"

PARTS = ("baselines", "datasets", "errors", "gnn", "integrations", "metrics", "testing", "viz")
NAMES = {
    "RCConfig": "config",
    "RCExplainer": "explainer",
    "FittedRCExplainer": "explainer",
    "Explanation": "explanation",
    "Counterfactual": "counterfactual_graph",
    "Explanations": "method.explanations",
    "Failure": "explanation",
    "Seconds": "core.budget",
    "load": "explainer",
}
__all__ = [
    "Counterfactual",
    "Explanation",
    "Explanations",
    "Failure",
    "FittedRCExplainer",
    "RCConfig",
    "RCExplainer",
    "Seconds",
    "baselines",
    "datasets",
    "errors",
    "gnn",
    "integrations",
    "load",
    "metrics",
    "testing",
    "viz",
]


def __getattr__(name: str) -> object:
    if name in PARTS:
        return import_module(f"rcexplainer.{name}")
    if name in NAMES:
        return getattr(import_module(f"rcexplainer.{NAMES[name]}"), name)
    if name.endswith("Error") and hasattr(import_module("rcexplainer.errors"), name):
        raise AttributeError(f"module 'rcexplainer' has no attribute {name!r}; it is rcexplainer.errors.{name}")
    raise AttributeError(f"module 'rcexplainer' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
