"""The effect of deleting a single unit, by really deleting it."""

import torch
from torch import Tensor

from rcexplainer.core.search import toggle_each
from rcexplainer.gnn.instances import Instances


def single_effects(instances: Instances, labels: Tensor, target: Tensor | None = None) -> Tensor:
    """The effect of deleting a single unit u: p(c | G) − p(c | G without u).

    With a target class t it is p(t | G without u) − p(t | G) instead: probability that c loses to a third class, by
    deleting something that c and t have in common, say, does not lead to t.

    Args:
        instances: The instances.
        labels: [n] c, the predicted class of each.
        target: [n] t; c itself stands for any other class. None: any other class for all of them.

    Returns:
        [units].
    """
    units = instances.units
    nothing = torch.zeros(len(units), dtype=torch.bool, device=units.owner.device)
    instance, removed = toggle_each(units.ptr, nothing, torch.arange(len(units), device=units.owner.device))
    left = instances.log_probs(instance, removed).exp()
    change = instances.log_probs(instances.everything, nothing).exp()[instance] - left
    lost = change.gather(1, labels[instance, None]).squeeze(1)
    if target is None:
        return lost
    gained = -change.gather(1, target[instance, None]).squeeze(1)
    return torch.where(target[instance] == labels[instance], lost, gained)
