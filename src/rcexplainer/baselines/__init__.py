"""Methods to compare with, all with the explainer's own interface: `fit(model, graphs)` then `explain(graphs)`."""

from rcexplainer.baselines.searching import GreedyDeletion, Occlusion, Random

__all__ = ["GreedyDeletion", "Occlusion", "Random"]
