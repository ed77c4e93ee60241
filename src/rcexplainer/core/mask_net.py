"""The mask network f_θ (Eq. 6): M_ij = σ(f_θ(z_i, z_j)), the probability that edge (i, j) is in the explanation.

EdgeMaskNet   standardises its inputs, then applies a gate f_θ (`core.mask_gates`)
mean_of       an ensemble of networks;  stack_of  networks that are trained side by side
"""

import copy
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from rcexplainer.core.mask_gates import GateStack, Mean, MeanGate


class EdgeMaskNet(nn.Module):
    """Standardises the embeddings, whose scale differs between models, then applies its gate.

    Args:
        gate: The function f_θ of standardised embeddings, such as `FactorisedGate`.
        node_width: D, the width of the node embeddings.
        instance_width: d, the width of the instances' embeddings.
    """

    def __init__(self, gate: nn.Module, node_width: int, instance_width: int) -> None:
        super().__init__()
        self.gate = gate
        for name, width in (("node", node_width), ("instance", instance_width)):
            self.register_buffer(f"{name}_mean", torch.zeros(width))
            self.register_buffer(f"{name}_std", torch.ones(width))

    @property
    def members(self) -> int:
        """How many gates are averaged."""
        return len(self.gate.gates) if isinstance(self.gate, MeanGate) else 1

    def standardise(self, nodes: Tensor, instances: Tensor) -> None:
        """Set the mean and spread that inputs are standardised with.

        Args:
            nodes: [nodes, D] embeddings to take them from.
            instances: [instances, d] embeddings to take them from.
        """
        for name, values in (("node", nodes), ("instance", instances)):
            getattr(self, f"{name}_mean").copy_(values.mean(0))
            spread = values.std(0, correction=0)
            getattr(self, f"{name}_std").copy_(torch.where(spread > 1e-6, spread, 1.0))

    def forward(self, nodes: Tensor, instances: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute f_θ for every unit: logits, before σ.

        Args:
            nodes: [nodes, D] node embeddings.
            instances: [instances, d] embeddings of the instances.
            label: [instances] the class of each instance, which selects its output weights.
            pair: [2, units] the two nodes of each unit.
            owner: [units] the instance of each unit.

        Returns:
            f [units].
        """
        return cast(Tensor, self.gate(*self.standardised(nodes, instances), label, pair, owner))

    def standardised(self, nodes: Tensor, instances: Tensor) -> tuple[Tensor, Tensor]:
        """The inputs of the gate: z [nodes, D] and z_G [instances, d]."""
        z = _standardised(nodes, cast(Tensor, self.node_mean), cast(Tensor, self.node_std))
        return z, _standardised(instances, cast(Tensor, self.instance_mean), cast(Tensor, self.instance_std))

    def ordered(self, nodes: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute f_θ for ordered pairs of nodes, by networks that tell the directions apart.

        Args:
            nodes: [nodes, D] node embeddings.
            label: [instances] the class of each instance.
            pair: [2, p] the pairs.
            owner: [p] the instance of each pair.

        Returns:
            f_ij of each of R stacked networks, [R, p].
        """
        z = _standardised(nodes, cast(Tensor, self.node_mean), cast(Tensor, self.node_std))
        return cast(Tensor, self.gate.ordered(z, label, pair, owner))  # type: ignore[operator]


def _standardised(values: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """(values − mean) / std; computed as values · (1 / std) − mean / std it would cancel for a large mean."""
    return (values - mean).mul_(1 / std)


def mean_of(nets: Sequence[EdgeMaskNet], mean: Mean) -> EdgeMaskNet:
    """Combine networks that standardise their inputs alike into an ensemble.

    Args:
        nets: The members.
        mean: Averages their logits.

    Returns:
        One network; of a single member, that member.
    """
    if len(nets) == 1:
        return nets[0]
    whole = copy.deepcopy(nets[0])
    whole.gate = MeanGate([net.gate for net in nets], mean)
    return whole


def stack_of(nets: Sequence[EdgeMaskNet]) -> EdgeMaskNet:
    """Combine networks that standardise their inputs alike into one that returns the logits of each, [R, units]."""
    whole = copy.deepcopy(nets[0])
    whole.gate = GateStack([net.gate for net in nets])
    return whole


def member_of(stack: EdgeMaskNet, number: int) -> EdgeMaskNet:
    """A copy of one network of a stack."""
    if not isinstance(stack.gate, GateStack):
        raise TypeError(f"expected a stack of networks, got one with a {type(stack.gate).__name__}")
    gate = stack.gate.member(number)
    net = EdgeMaskNet(gate, len(cast(Tensor, stack.node_mean)), len(cast(Tensor, stack.instance_mean)))
    net = net.to(cast(Tensor, stack.node_mean))
    for name, value in stack.named_buffers(recurse=False):
        getattr(net, name).copy_(value)
    return net.eval()
