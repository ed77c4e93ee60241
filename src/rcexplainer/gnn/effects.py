"""The effect of deleting a single unit, by really deleting it.

    signed      p(c | G) − p(c | G without u)                     how far the answer c loses
    unsigned    ‖ centred log p(· | G) − centred log p(· | G without u) ‖₂     how far the answer moves, either way

Centred means that the mean over the classes is 0: for a model with logits these are the logits' own changes.
"""

import torch
from torch import Tensor

from rcexplainer.core.search import run_toggled
from rcexplainer.gnn.instances import Instances


def single_deletions(instances: Instances, some: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Run the model without each single unit.

    Args:
        instances: The instances.
        some: [k] the units that are tried; None: all of them.

    Returns:
        Log-probabilities of each unit's instance, with the unit and without it, both [k, C].
    """
    units = instances.units
    nothing = torch.zeros(len(units), dtype=torch.bool, device=units.owner.device)
    tried = torch.arange(len(units), device=units.owner.device) if some is None else some
    instance, left = run_toggled(instances.log_probs, units.ptr, nothing, tried)
    return instances.log_probs(instances.everything, nothing)[instance], left


def lost_probability(before: Tensor, after: Tensor, label: Tensor) -> Tensor:
    """p(c | G) − p(c | G without u), [units].

    Args:
        before: [units, C] log-probabilities with the unit.
        after: [units, C] log-probabilities without it.
        label: [units] c.
    """
    return (before.exp() - after.exp()).gather(1, label[:, None]).squeeze(1)


def size_of_change(before: Tensor, after: Tensor) -> Tensor:
    """The L2 norm of the change of the centred log-probabilities, [units]; arguments as for `lost_probability`."""
    change = before - after
    return (change - change.mean(1, keepdim=True)).norm(dim=1)


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
    before, after = single_deletions(instances)
    own = labels[instances.units.owner]
    lost = lost_probability(before, after, own)
    if target is None:
        return lost
    wanted = target[instances.units.owner]
    return torch.where(wanted == own, lost, -lost_probability(before, after, wanted))
