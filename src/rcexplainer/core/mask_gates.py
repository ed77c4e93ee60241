"""Gates of the mask network: functions f_θ of the standardised embeddings of a unit's two nodes.

FactorisedGate   f = o_cᵀ relu(U z_i + U z_j + V z_i ⊙ V z_j + C z_G + a_c) + b_c      c: the predicted class
                 symmetric in i and j; U, V (one matrix, [U; V]) run once per node and C once per instance, so an
                 edge costs a few times 64 multiplications whatever the width of z. Each class reads the shared
                 hidden units with its own weights, as different edges keep different classes in their regions
NeighbourGate    f = o_cᵀ (h + relu(N n_i + N n_j + 2 a)) + b_c,   h = relu(U z_i + …) as above
                 n_i is the mean of h over the units at node i: a unit sees its neighbours, as its worth depends on
                 whether they could replace it
MeanGate         the average of several gates, by a function passed in

The paper's literal form, on [z_i, z_j], is in `core.concat_gate`.

z [nodes, D] node embeddings, z_G [instances, d] the instance's own, label [instances],
pair [2, units], owner [units]  →  logits [units]
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, logsigmoid

Weights = Mapping[str, Tensor]  # parameters of gates by name, with a leading dimension for the gate
FEW_CLASSES = 16  # output rows up to which those of all classes are multiplied with
Mean = Callable[[Tensor, Tensor, int], Tensor]  # logits [gates, units], owner [units], instances → logits [units]


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
        return self.side_by_side(own_weights(self), z, z_g, label, pair, owner)[0]

    @classmethod
    def side_by_side(
        cls, weights: Weights, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor
    ) -> Tensor:
        """Compute the logits of R gates; see `forward`.

        Args:
            weights: The parameters by name, each with a leading dimension R.
            z: [nodes, D].
            z_g: [instances, d].
            label: [instances].
            pair: [2, units].
            owner: [units].

        Returns:
            f [R, units].
        """
        return answers(weights, cls.hidden(weights, z, z_g, label, pair, owner), label, owner)

    @staticmethod
    def hidden(weights: Weights, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the hidden layers of R gates, [units, R·hidden]; arguments as for `side_by_side`."""
        node = weights["node.weight"]
        gates, width = len(node), node.size(1) // 2
        first, second = node.view(gates, 2, width, -1).transpose(0, 1).reshape(2, gates * width, -1)
        added, multiplied = linear(z, first), linear(z, second)
        context = linear(z_g, weights["context.weight"].flatten(0, 1), weights["context.bias"].flatten())
        context = context + _rows(weights["shift.weight"], label)
        i, j = pair
        # Summed in place: allocating another [units, hidden] costs more than the sum. `index_select` gathers several
        # times faster than `added[i]`, and so does its backward pass.
        hidden = context.index_select(0, owner)
        hidden += added.index_select(0, i)
        hidden += added.index_select(0, j)
        hidden.addcmul_(multiplied.index_select(0, i), multiplied.index_select(0, j)).relu_()
        return hidden


def _rows(table: Tensor, rows: Tensor) -> Tensor:
    """The same rows [k] of R tables [R, n, width], side by side: [k, R·width]."""
    return table.index_select(1, rows).transpose(0, 1).flatten(1)


def answers(weights: Weights, hidden: Tensor, label: Tensor, owner: Tensor) -> Tensor:
    """The logits [R, units] from hidden layers [units, R·hidden], with the output weights of each instance's class."""
    out, bias = weights["out.weight"], weights["bias.weight"]  # [R, C, hidden], [R, C, 1]
    apart = hidden.view(len(hidden), *out[:, 0].shape).transpose(0, 1)
    if out.size(1) <= FEW_CLASSES:  # a product with the weights of all classes is faster than gathering those of one
        every = torch.baddbmm(bias.transpose(1, 2), apart, out.transpose(1, 2))
        return every.gather(2, label.index_select(0, owner).expand(len(out), -1)[..., None]).squeeze(2)
    own = _rows(out, label).index_select(0, owner).view(len(hidden), *out[:, 0].shape).transpose(0, 1)
    return cast(Tensor, torch.linalg.vecdot(apart, own)) + bias.squeeze(2).index_select(1, label).index_select(1, owner)


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

    @classmethod
    def side_by_side(
        cls, weights: Weights, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor
    ) -> Tensor:
        """Compute the logits of R gates; see `FactorisedGate.side_by_side`."""
        return answers(weights, cls.around(weights, z, z_g, label, pair, owner), label, owner)

    @classmethod
    def around(cls, weights: Weights, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute h + relu(N n_i + N n_j + 2 a) of R gates, [units, R·hidden]; arguments as for `side_by_side`."""
        hidden = cls.hidden(weights, z, z_g, label, pair, owner)
        i, j = pair
        sums = hidden.new_zeros(len(z), hidden.size(1)).index_add_(0, i, hidden).index_add_(0, j, hidden)
        degree = hidden.new_zeros(len(z)).index_add_(0, pair.flatten(), hidden.new_ones(()).expand(pair.numel()))
        matrix, bias = weights["near.weight"], weights["near.bias"]  # [R, hidden, hidden], [R, hidden]
        means = sums.div_(degree.clamp_min_(1)[:, None]).view(len(z), *bias.shape).transpose(0, 1)
        near = torch.baddbmm(bias[:, None], means, matrix.transpose(1, 2)).transpose(0, 1).flatten(1)
        around = near.index_select(0, i)
        around += near.index_select(0, j)
        return around.relu_() + hidden


def own_weights(gate: nn.Module) -> Weights:
    """The parameters of one gate, as a stack of one."""
    return {name: value[None] for name, value in gate.named_parameters()}


def stacked_weights(gates: Sequence[nn.Module]) -> Weights | None:
    """The parameters of several gates with a leading dimension for the gate; None if they are not of one shape."""
    all_of_them = [dict(gate.named_parameters()) for gate in gates]
    shapes = [{name: value.shape for name, value in own.items()} for own in all_of_them]
    if len({type(gate) for gate in gates}) > 1 or any(shape != shapes[0] for shape in shapes):
        return None
    return {name: torch.stack([own[name] for own in all_of_them]) for name in all_of_them[0]}


class GateStack(nn.Module):
    """Gates of one shape that are trained side by side: their parameters have a leading dimension R.

    Args:
        gates: The members; they are copied.
    """

    def __init__(self, gates: Sequence[nn.Module]) -> None:
        super().__init__()
        weights = stacked_weights(gates)
        if weights is None:
            raise ValueError("only gates of one class and shape can be stacked")
        self._one = (copy.deepcopy(gates[0]),)  # in a tuple, so that its parameters are not counted as this module's
        self.names = tuple(weights)
        self.weights = nn.ParameterList([nn.Parameter(value.detach()) for value in weights.values()])

    def __len__(self) -> int:
        return len(self.weights[0])

    def forward(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits of every member, [R, units]; see `FactorisedGate.forward`."""
        weights = dict(zip(self.names, self.weights, strict=True))
        return cast(Tensor, self._one[0].side_by_side(weights, z, z_g, label, pair, owner))  # type: ignore[operator]

    def ordered(self, z: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits of ordered pairs for every member, [R, p]; see `ConcatGate.ordered_logits`."""
        weights = dict(zip(self.names, self.weights, strict=True))
        return cast(Tensor, self._one[0].ordered_logits(weights, z, label, pair, owner))  # type: ignore[operator]

    def member(self, number: int) -> nn.Module:
        """A copy of one gate."""
        gate = copy.deepcopy(self._one[0]).to(self.weights[0])
        gate.load_state_dict({name: value[number] for name, value in zip(self.names, self.weights, strict=True)})
        return gate


def mean_mask_logit(logits: Tensor, dim: int) -> Tensor:
    """The logit of the mean of σ(f) over one dimension; not by way of the mean itself: near 0 and 1 edges would tie."""
    return logsigmoid(logits).logsumexp(dim) - logsigmoid(-logits).logsumexp(dim)


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
        weights = stacked_weights(list(self.gates))
        if weights is None:
            logits = torch.stack([gate(z, z_g, label, pair, owner) for gate in self.gates])
        else:
            logits = cast(Tensor, self.gates[0].side_by_side(weights, z, z_g, label, pair, owner))  # type: ignore[operator]
        return self.mean(logits, owner, len(label))
