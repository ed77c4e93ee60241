"""Our explanations inside other people's frameworks: `rcexplainer.integrations.pyg`."""

from rcexplainer.integrations import pyg

__all__ = ["pyg"]
