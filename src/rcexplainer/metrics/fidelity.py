"""Fidelity and sufficiency at a sparsity (the paper's appendix F, with the fraction |S|/|E| the right way up):

    fidelity(S, G)     P(c | G) − P(c | G_{E∖S})     without the explanation: higher is better
    sufficiency(S, G)  P(c | G) − P(c | G_S)         the explanation alone: lower is better
    sparsity(S, G)     1 − |S| / |E|

c is the predicted class; G_{E∖S} is the graph with S really deleted, G_S the graph with all other units deleted: nodes
and self-loops stay. S are the first max(1, round((1 − s)·|E|)) units (`Explanation.at_sparsity`), as near to the
sparsity as whole units allow: those with the highest scores or, where a method plans deletions, the first of its plan.

`flips` is the share of graphs whose predicted class changes without S (higher is better), `kept` the share whose
class is still predicted from S alone (higher is better).

Every method scores every unit, so that all are compared at the same sparsities. For methods that find a set
(CF-GNNExplainer, SubgraphX) the set ranks first, and the other units follow by the method's remaining information. Ties
are broken by the order of the units in the graph, for all methods alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.explained_model import ExplainedModel, check_explanations, split_of
from rcexplainer.metrics.shares import checked_shares
from rcexplainer.short_repr import ShortRepr

SPARSITIES = (0.95, 0.90, 0.85, 0.80, 0.75, 0.70)


@dataclass(frozen=True, repr=False)
class Fidelity(ShortRepr):
    """Without the explanation: means over explanations, one for each sparsity."""

    sparsity: tuple[float, ...]
    drop: tuple[float, ...]  # ↑
    flips: tuple[float, ...]  # ↑
    each: tuple[tuple[float, ...], ...] = field(default=(), repr=False)  # [sparsity][explanation]: the drops


@dataclass(frozen=True, repr=False)
class Sufficiency(ShortRepr):
    """The explanation alone: means over explanations, one for each sparsity."""

    sparsity: tuple[float, ...]
    drop: tuple[float, ...]  # ↓
    kept: tuple[float, ...]  # ↑


@clear_arguments()
def fidelity(
    model: ExplainedModel, explanations: Sequence[Explanation], sparsity: Sequence[float] = SPARSITIES
) -> Fidelity:
    """Run the model on every graph without its explanation.

    Args:
        model: The GNN that was explained, or an explainer fitted for it.
        explanations: Its explanations.
        sparsity: The sparsities.

    Raises:
        RCExplainerError: There are no explanations.
    """
    drops, changed = _run("fidelity", model, explanations, sparsity, lambda chosen: chosen)
    each = tuple(tuple(row) for row in drops.tolist())
    return Fidelity(tuple(sparsity), tuple(drops.mean(1).tolist()), tuple(changed.mean(1).tolist()), each)


@clear_arguments()
def sufficiency(
    model: ExplainedModel, explanations: Sequence[Explanation], sparsity: Sequence[float] = SPARSITIES
) -> Sufficiency:
    """Run the model on the explanation of every graph alone.

    Args:
        model: The GNN that was explained, or an explainer fitted for it.
        explanations: Its explanations.
        sparsity: The sparsities.

    Raises:
        RCExplainerError: There are no explanations.
    """
    drops, changed = _run("sufficiency", model, explanations, sparsity, lambda chosen: ~chosen)
    return Sufficiency(tuple(sparsity), tuple(drops.mean(1).tolist()), tuple((1 - changed.mean(1)).tolist()))


@torch.no_grad()
def _run(
    name: str,
    model: ExplainedModel,
    explanations: Sequence[Explanation],
    sparsity: Sequence[float],
    removed: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor]:
    """The drop in p(c) and whether the prediction changes (1 or 0), [sparsities, explanations] each, when the units
    `removed(units of the explanation)` are deleted."""
    check_explanations(explanations)
    if not explanations:
        raise RCExplainerError(f"{name} needs at least one explanation")
    sparsity = checked_shares("sparsity", sparsity, 0.9)
    split = split_of(model, explanations)
    labels = torch.tensor([one.prediction for one in explanations])
    before = torch.stack([one.probabilities for one in explanations]).gather(1, labels[:, None]).squeeze(1)
    instances = Instances(split, [one.instance for one in explanations])
    units = instances.units
    drops, changed = [], []
    for share in sparsity:
        columns = torch.cat([one.within(one.at_sparsity(share)) for one in explanations]).to(units.of_edge.device)
        chosen = torch.zeros(len(units), dtype=torch.bool, device=columns.device)
        chosen[units.of_edge[columns]] = True
        after = instances.log_probs(instances.everything, removed(chosen)).exp().cpu()
        drops.append((before - after.gather(1, labels[:, None]).squeeze(1)).double())
        changed.append((after.argmax(1) != labels).double())
    nothing = before.new_empty(0, len(explanations)).double()
    return (torch.stack(drops), torch.stack(changed)) if drops else (nothing, nothing)
