"""Explainers inside other frameworks: `rcexplainer.integrations.pyg`, `rcexplainer.integrations.ray`."""

from rcexplainer.integrations import pyg, ray

__all__ = ["pyg", "ray"]
