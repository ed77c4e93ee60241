"""Methods to compare with, all with the explainer's own interface: `fit(model, graphs)` then `explain(graphs)`."""

from rcexplainer.baselines.attention import Attention
from rcexplainer.baselines.cf2 import CF2
from rcexplainer.baselines.cfgnnexplainer import CFGNNExplainer
from rcexplainer.baselines.deletion import GreedyDeletion, Occlusion, Random
from rcexplainer.baselines.gnnexplainer import GNNExplainer
from rcexplainer.baselines.gradients import GradCAM, Gradient, IntegratedGradients
from rcexplainer.baselines.noldb import NoLDB
from rcexplainer.baselines.pgexplainer import PGExplainer
from rcexplainer.baselines.pgmexplainer import PGMExplainer
from rcexplainer.baselines.subgraphx import SubgraphX
from rcexplainer.method.base import Method

__all__ = [
    "CF2",
    "Attention",
    "CFGNNExplainer",
    "GNNExplainer",
    "GradCAM",
    "Gradient",
    "GreedyDeletion",
    "IntegratedGradients",
    "Method",
    "NoLDB",
    "Occlusion",
    "PGExplainer",
    "PGMExplainer",
    "Random",
    "SubgraphX",
]
