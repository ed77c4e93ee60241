"""How good explanations are, measured on graphs whose edges are really gone."""

from rcexplainer.metrics.fidelity import Fidelity, fidelity
from rcexplainer.metrics.motif import motif_auc

__all__ = ["Fidelity", "fidelity", "motif_auc"]
