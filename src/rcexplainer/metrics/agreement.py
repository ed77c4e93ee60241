"""Agreement of two explanations: of a graph G and of a noisy copy G' with the same nodes. Higher is better.

    AUC            P(score on G' of a pair in T_k(G) > score on G' of another pair of G'), ties count ½
    node accuracy  |V_k(G) ∩ V_k(G')| / min(k, nodes)
    Jaccard        |S(G) ∩ S(G')| / |S(G) ∪ S(G')|

T_k are the k node pairs with the highest scores, V_k the k nodes with the highest a_i = max_j M_ij, S the pairs that a
flipping counterfactual deletes.
"""

import torch
from torch import Tensor

from rcexplainer.core.segments import ranks
from rcexplainer.explanation import Explanation
from rcexplainer.metrics.motif import auc


def edge_auc(clean: Explanation, noisy: Explanation, k: int) -> float:
    """AUC of the noisy scores against the clean top k pairs; nan if all pairs or none are among them."""
    top = ranks(clean.unit_scores, clean.units.owner, clean.units.ptr) < min(k, len(clean.units))
    return auc(noisy.unit_scores, torch.isin(_codes(noisy), _codes(clean)[top]))


def node_accuracy(clean: Explanation, noisy: Explanation, k: int) -> float:
    """Share of the clean top k nodes (all nodes, if there are fewer) that are among the noisy top k."""
    first, second = (one.node_scores.argsort(descending=True, stable=True)[:k] for one in (clean, noisy))
    return float(torch.isin(first, second).double().mean())


def jaccard(clean: Explanation, noisy: Explanation) -> float:
    """Overlap of the pairs that the two counterfactuals delete; nan if one of them does not flip."""
    removed = []
    for one in (clean, noisy):
        if one.counterfactual is None or not one.counterfactual.flipped:
            return float("nan")
        removed.append(set(_codes(one)[one.removed_units].tolist()))
    return len(removed[0] & removed[1]) / len(removed[0] | removed[1])


def _codes(one: Explanation) -> Tensor:
    """A number for the node pair of each unit, the same in a noisy copy, which has the same nodes."""
    return one.units.pair[0] * int(one.graph.num_nodes or 0) + one.units.pair[1]
