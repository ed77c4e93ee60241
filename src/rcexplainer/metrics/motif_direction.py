"""Do the edges of a motif speak for the prediction or against it? Every edge is really deleted, alone.

    Δ_u = lo(c | G) − lo(c | G without u)       lo: the log-odds of the predicted class c, which do not saturate
    supports    share of the motif's edges with Δ_u > t: losing one makes the prediction less sure
    opposes     share with Δ_u < −t: losing one makes it surer
    neither     the rest

A counterfactual reading ranks what opposes the prediction low, and is right to: only where most of a motif supports the
prediction can such a ranking find it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.arguments import clear_arguments
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.effects import single_deletions
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.explained_model import ExplainedModel, split_of
from rcexplainer.metrics.motif import check_truth, motif_edges

NOTHING = 1e-3  # t: smaller changes of the log-odds do not count


@dataclass(frozen=True)
class MotifDirection:
    """Shares of the motif's edges, over all instances; nan without such edges."""

    supports: float
    opposes: float
    neither: float


@clear_arguments()
def motif_direction(
    model: ExplainedModel, explanations: Sequence[Explanation], tolerance: float = NOTHING
) -> MotifDirection:
    """Delete every edge of the instances' own motifs alone, and look which way the prediction moves.

    Args:
        model: The GNN that was explained, or an explainer fitted for it.
        explanations: Explanations of graphs that carry their motif; only instances and predictions are used.
        tolerance: t, the change of the log-odds from which an edge counts.

    Returns:
        The shares, over edges that can matter at all: those that belong to a unit.

    Raises:
        RCExplainerError: A graph does not carry its motif.
    """
    check_truth(explanations, "own")
    known = [one for one in explanations if bool(motif_edges(one).any())]
    if not known:
        return MotifDirection(*[float("nan")] * 3)
    instances = Instances(split_of(model, known), [one.instance for one in known])
    units = instances.units
    columns = torch.cat([motif_edges(one) for one in known]).to(units.of_edge.device)
    inside = units.of_edge[columns & (units.of_edge >= 0)].unique()
    labels = torch.tensor([one.prediction for one in known], device=inside.device)[units.owner[inside]]
    before, after = single_deletions(instances, inside)
    change = log_odds(before, labels) - log_odds(after, labels)
    supports, opposes = change > tolerance, change < -tolerance
    return MotifDirection(*(float(one.double().mean()) for one in (supports, opposes, ~(supports | opposes))))


def log_odds(log_probs: Tensor, labels: Tensor) -> Tensor:
    """log p(c) − log(1 − p(c)) of rows of log-probabilities [n, C], [n]."""
    own = labels[:, None]
    return (log_probs.gather(1, own) - log_probs.scatter(1, own, -torch.inf).logsumexp(1, keepdim=True)).squeeze(1)
