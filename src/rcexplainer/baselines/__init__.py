"""Methods to compare with, made and used like RCExplainer.

fitted = rc.baselines.GNNExplainer(task="node").fit(model, graph, index=nodes)
explanations = fitted.explain(graph, index=nodes)
"""

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
