"""Methods to compare with, all with the explainer's own interface: `fit(model, graphs)` then `explain(graphs)`."""

from rcexplainer.baselines.attention import Attention
from rcexplainer.baselines.gnnexplainer import GNNExplainer
from rcexplainer.baselines.gradients import GradCAM, Gradient, IntegratedGradients
from rcexplainer.baselines.method import Method
from rcexplainer.baselines.pgexplainer import PGExplainer
from rcexplainer.baselines.pgmexplainer import PGMExplainer
from rcexplainer.baselines.searching import GreedyDeletion, Occlusion, Random
from rcexplainer.baselines.subgraphx import SubgraphX

__all__ = [
    "Attention",
    "GNNExplainer",
    "GradCAM",
    "Gradient",
    "GreedyDeletion",
    "IntegratedGradients",
    "Method",
    "Occlusion",
    "PGExplainer",
    "PGMExplainer",
    "Random",
    "SubgraphX",
]
