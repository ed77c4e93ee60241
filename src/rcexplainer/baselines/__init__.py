"""Methods to compare with, all with the explainer's own interface: `fit(model, graphs)` then `explain(graphs)`."""

from rcexplainer.baselines.method import Method
from rcexplainer.baselines.pgmexplainer import PGMExplainer
from rcexplainer.baselines.searching import GreedyDeletion, Occlusion, Random
from rcexplainer.baselines.subgraphx import SubgraphX

__all__ = ["GreedyDeletion", "Method", "Occlusion", "PGMExplainer", "Random", "SubgraphX"]
