"""Fidelity at a sparsity (the paper's appendix F, with |S|/|E| the right way up):

    fidelity(S, G) = P(c | G) − P(c | G_{E∖S}),   sparsity(S, G) = 1 − |S| / |E|

c is the predicted class, S the top max(1, round((1 − s)·|E|)) units, and G_{E∖S} the graph with S really deleted.
Higher is better. `flips` is the share of graphs whose predicted class changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel, split_model

SPARSITIES = (0.95, 0.90, 0.85, 0.80, 0.75, 0.70)


@dataclass(frozen=True)
class Fidelity:
    """Means over the explanations, one value for each sparsity."""

    sparsity: tuple[float, ...]
    drop: tuple[float, ...]
    flips: tuple[float, ...]


@torch.no_grad()
def fidelity(
    model: nn.Module | SplitModel, explanations: Sequence[Explanation], sparsity: Sequence[float] = SPARSITIES
) -> Fidelity:
    """Run the model on every explained graph without its explanation, for each sparsity."""
    if not explanations:
        raise RCExplainerError("fidelity needs at least one explanation")
    split = model if isinstance(model, SplitModel) else split_model(model, [one.graph for one in explanations])
    labels = torch.tensor([one.prediction for one in explanations])
    before = torch.stack([one.probabilities for one in explanations]).gather(1, labels[:, None]).squeeze(1)
    instances = Instances(split, [one.instance for one in explanations])
    units = instances.units
    drops, flips = [], []
    for share in sparsity:
        chosen = torch.cat([one.within(one.at_sparsity(share)) for one in explanations]).to(units.of_edge.device)
        removed = torch.zeros(len(units), dtype=torch.bool, device=chosen.device)
        removed[units.of_edge[chosen]] = True
        after = instances.log_probs(instances.everything, removed).exp().cpu()
        drops.append(float((before - after.gather(1, labels[:, None]).squeeze(1)).mean()))
        flips.append(float((after.argmax(1) != labels).float().mean()))
    return Fidelity(tuple(sparsity), tuple(drops), tuple(flips))
