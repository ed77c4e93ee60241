"""How good explanations are, measured on graphs whose edges are really deleted."""

from rcexplainer.metrics.direction import BETTER, Direction
from rcexplainer.metrics.fidelity import Fidelity, Sufficiency, fidelity, sufficiency
from rcexplainer.metrics.flip_stability import FlipStability, flip_stability
from rcexplainer.metrics.flips import Counterfactuals, counterfactuals
from rcexplainer.metrics.motif import MotifRecovery, motif_accuracy, motif_auc, motif_recovery
from rcexplainer.metrics.motif_direction import MotifDirection, motif_direction
from rcexplainer.metrics.perturbation import perturb
from rcexplainer.metrics.region_agreement import RegionAgreement, region_agreement
from rcexplainer.metrics.robustness import Robustness, robustness
from rcexplainer.metrics.timing import ExplainTime, explain_time

__all__ = [
    "BETTER",
    "Counterfactuals",
    "Direction",
    "ExplainTime",
    "Fidelity",
    "FlipStability",
    "MotifDirection",
    "MotifRecovery",
    "RegionAgreement",
    "Robustness",
    "Sufficiency",
    "counterfactuals",
    "explain_time",
    "fidelity",
    "flip_stability",
    "motif_accuracy",
    "motif_auc",
    "motif_direction",
    "motif_recovery",
    "perturb",
    "region_agreement",
    "robustness",
    "sufficiency",
]
