"""The mask network f_θ (Eq. 6): M_ij = σ(f_θ(z_i, z_j)), the probability that edge (i, j) is in the explanation.

FactorisedGate   f = o_cᵀ relu(U z_i + U z_j + V z_i ⊙ V z_j + C z_G + a_c) + b_c      c: the predicted class
                 symmetric in i and j; U, V (one matrix, [U; V]) run once per node and C once per instance, so an
                 edge costs a few times 64 multiplications whatever the width of z. Each class reads the shared
                 hidden units with its own weights, as different edges keep different classes in their regions
NeighbourGate    f = o_cᵀ (h + relu(N n_i + N n_j + 2 a)) + b_c,   h = relu(U z_i + …) as above
                 n_i is the mean of h over the units at node i: a unit sees its neighbours, as its worth depends on
                 whether they could replace it
ConcatGate       f = oᵀ relu(W [z_i, z_j] + a) + b, the paper's literal form, averaged over both directions; W in two
                 halves, each run once per node
MeanGate         the average of several gates, by a function passed in

z [nodes, D] node embeddings, z_G [instances, d] the instance's own, label [instances],
pair [2, units], owner [units]  →  logits [units]
"""

import copy
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


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
        z = _standardised(nodes, cast(Tensor, self.node_mean), cast(Tensor, self.node_std))
        z_g = _standardised(instances, cast(Tensor, self.instance_mean), cast(Tensor, self.instance_std))
        return cast(Tensor, self.gate(z, z_g, label, pair, owner))


def _standardised(values: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """(values − mean) / std; computed as values · (1 / std) − mean / std it would cancel for a large mean."""
    return (values - mean).mul_(1 / std)


class FactorisedGate(nn.Module):
    """f = o_cᵀ relu(U z_i + U z_j + V z_i ⊙ V z_j + C z_G + a_c) + b_c.

    Args:
        node_width: D, the width of the node embeddings.
        instance_width: d, the width of the instances' embeddings.
        num_classes: Number of classes c.
        hidden: Width of the hidden layer.
    """

    def __init__(self, node_width: int, instance_width: int, num_classes: int, hidden: int = 64) -> None:
        super().__init__()
        self.node = nn.Linear(node_width, 2 * hidden, bias=False)
        self.context = nn.Linear(instance_width, hidden)
        self.shift = nn.Embedding(num_classes, hidden)
        self.out = nn.Embedding(num_classes, hidden)
        self.bias = nn.Embedding(num_classes, 1)
        for table, size in ((self.shift, hidden**-0.5), (self.out, hidden**-0.5), (self.bias, 0.0)):
            nn.init.normal_(table.weight, std=size)

    def forward(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits.

        Args:
            z: [nodes, D] standardised node embeddings.
            z_g: [instances, d] standardised embeddings of the instances.
            label: [instances] the class of each instance, which selects its output weights.
            pair: [2, units] the two nodes of each unit.
            owner: [units] the instance of each unit.

        Returns:
            f [units].
        """
        return self.answer(self.read(z, z_g, label, pair, owner), label, owner)

    def read(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the hidden layer.

        Args:
            z: [nodes, D] standardised node embeddings.
            z_g: [instances, d] standardised embeddings of the instances.
            label: [instances] the class of each instance, which selects its output weights.
            pair: [2, units] the two nodes of each unit.
            owner: [units] the instance of each unit.

        Returns:
            [units, hidden].
        """
        added, multiplied = self.node(z).chunk(2, 1)
        context = self.context(z_g) + self.shift(label)
        i, j = pair
        # Summed in place: allocating another [units, hidden] costs more than the sum. `index_select` gathers several
        # times faster than `added[i]`, and so does its backward pass.
        hidden = context.index_select(0, owner)
        hidden += added.index_select(0, i)
        hidden += added.index_select(0, j)
        hidden.addcmul_(multiplied.index_select(0, i), multiplied.index_select(0, j)).relu_()
        return cast(Tensor, hidden)

    def answer(self, hidden: Tensor, label: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits from the hidden layer, with the output weights of each instance's class.

        Args:
            hidden: [units, hidden].
            label: [instances] the class of each instance, which selects its output weights.
            owner: [units] the instance of each unit.

        Returns:
            f [units].
        """
        answers = torch.addmm(self.bias.weight.T, hidden, self.out.weight.T)  # [units, classes]
        return answers.gather(1, label.index_select(0, owner)[:, None]).squeeze(1)


class NeighbourGate(FactorisedGate):
    """f = o_cᵀ (h + relu(N n_i + N n_j + 2 a)) + b_c, with h the hidden layer of `FactorisedGate`.

    Args:
        node_width: D, the width of the node embeddings.
        instance_width: d, the width of the instances' embeddings.
        num_classes: Number of classes c.
        hidden: Width of the hidden layer.
    """

    def __init__(self, node_width: int, instance_width: int, num_classes: int, hidden: int = 64) -> None:
        super().__init__(node_width, instance_width, num_classes, hidden)
        self.near = nn.Linear(hidden, hidden)

    def forward(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits; see `FactorisedGate.forward`."""
        hidden = self.read(z, z_g, label, pair, owner)
        i, j = pair
        sums = hidden.new_zeros(len(z), hidden.size(1)).index_add_(0, i, hidden).index_add_(0, j, hidden)
        near = self.near(sums.div_(torch.bincount(pair.flatten(), minlength=len(z)).clamp_min(1)[:, None]))
        around = near.index_select(0, i)
        around += near.index_select(0, j)
        return self.answer(around.relu_() + hidden, label, owner)


class ConcatGate(nn.Module):
    """f = oᵀ relu(W [z_i, z_j] + a) + b, averaged over both directions; it reads neither z_G nor the class.

    Args:
        node_width: D, the width of the node embeddings.
        instance_width: Not used.
        num_classes: Not used.
        hidden: Width of the hidden layer.
    """

    def __init__(self, node_width: int, instance_width: int, num_classes: int, hidden: int = 64) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(2 * node_width, hidden), nn.Linear(hidden, 1)

    def forward(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits; see `FactorisedGate.forward`."""
        near, far = (linear(z, half) for half in self.first.weight.chunk(2, 1))
        i, j = pair
        ways = [near.index_select(0, a) + far.index_select(0, b) + self.first.bias for a, b in ((i, j), (j, i))]
        return cast(Tensor, self.last((ways[0].relu() + ways[1].relu()) / 2).squeeze(-1))


Mean = Callable[[Tensor, Tensor, int], Tensor]  # logits [gates, units], owner [units], instances → logits [units]


class MeanGate(nn.Module):
    """An ensemble of gates.

    Args:
        gates: The members, which read the same inputs.
        mean: Averages their logits.
    """

    def __init__(self, gates: Sequence[nn.Module], mean: Mean) -> None:
        super().__init__()
        self.gates, self.mean = nn.ModuleList(gates), mean

    def forward(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the averaged logits; see `FactorisedGate.forward`."""
        logits = torch.stack([gate(z, z_g, label, pair, owner) for gate in self.gates])
        return self.mean(logits, owner, len(label))


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
