"""Explainers inside other frameworks: `rcexplainer.integrations.pyg`."""

from rcexplainer.integrations import pyg

__all__ = ["pyg"]
