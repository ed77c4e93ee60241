"""The mask network in the paper's own form, a function of [z_i, z_j] (Eq. 6), with a network for each class.

    f_ij = o_cᵀ relu(W_c [z_i, z_j] + a_c) + b_c            c: the predicted class; W_c in two halves, run once per node

ConcatGate     f = (f_ij + f_ji) / 2
DirectedGate   σ(f) = (σ(f_ij) + σ(f_ji)) / 2, as the authors' code averages the matrix of masks with its transpose

The paper explains one class at a time, with a network trained on the graphs of that class alone; a network for each
class is the same, trained at once. One network for all classes collapses: which edges to keep differs by class.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from rcexplainer.core.mask_gates import Weights, mean_mask_logit, own_weights


class ClassLinear(nn.Module):
    """A linear layer for each class, initialised as `nn.Linear` is.

    Args:
        num_classes: C.
        width_in: Width of the inputs.
        width_out: Width of the outputs.
    """

    def __init__(self, num_classes: int, width_in: int, width_out: int) -> None:
        super().__init__()
        layers = [nn.Linear(width_in, width_out) for _ in range(num_classes)]
        self.weight = nn.Parameter(torch.stack([layer.weight.detach() for layer in layers]))  # [C, out, in]
        self.bias = nn.Parameter(torch.stack([layer.bias.detach() for layer in layers]))  # [C, out]


class ConcatGate(nn.Module):
    """f = (f_ij + f_ji) / 2; it does not read z_G.

    Args:
        node_width: D, the width of the node embeddings.
        instance_width: Not used.
        num_classes: C.
        hidden: Width of the hidden layer.
    """

    def __init__(self, node_width: int, instance_width: int, num_classes: int, hidden: int = 64) -> None:
        super().__init__()
        self.first = ClassLinear(num_classes, 2 * node_width, hidden)
        self.last = ClassLinear(num_classes, hidden, 1)

    def forward(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute the logits; see `FactorisedGate.forward`."""
        return self.side_by_side(own_weights(self), z, z_g, label, pair, owner)[0]

    @classmethod
    def side_by_side(
        cls, weights: Weights, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor
    ) -> Tensor:
        """Compute the logits of R gates; see `FactorisedGate.side_by_side`."""
        return both_ways(cls.ordered_logits(weights, z, label, *doubled(pair, owner))).mean(1)

    def ordered(self, z: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute f_ij for ordered pairs (i, j), [1, p]; see `ordered_logits`."""
        return self.ordered_logits(own_weights(self), z, label, pair, owner)

    @staticmethod
    def ordered_logits(weights: Weights, z: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        """Compute f_ij of R gates for ordered pairs (i, j).

        Args:
            weights: The parameters by name, each with a leading dimension R.
            z: [nodes, D].
            label: [instances].
            pair: [2, p].
            owner: [p].

        Returns:
            [R, p].
        """
        classes = sorted(set(label.tolist()))
        if len(classes) == 1:
            return _of_class(weights, classes[0], z, pair)
        own = label.index_select(0, owner)
        found = z.new_zeros(len(weights["last.bias"]), pair.size(1))
        for c in classes:
            here = (own == c).nonzero().flatten()
            found = found.index_copy(1, here, _of_class(weights, c, z, pair[:, here]))
        return found


class DirectedGate(ConcatGate):
    """σ(f) = (σ(f_ij) + σ(f_ji)) / 2; arguments as for `ConcatGate`."""

    @classmethod
    def side_by_side(
        cls, weights: Weights, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor
    ) -> Tensor:
        """Compute the logits of R gates; see `FactorisedGate.side_by_side`."""
        return mean_mask_logit(both_ways(cls.ordered_logits(weights, z, label, *doubled(pair, owner))), 1)


def doubled(pair: Tensor, owner: Tensor) -> tuple[Tensor, Tensor]:
    """Both directions of pairs [2, units] as ordered pairs [2, 2·units], and their owners."""
    return torch.cat([pair, pair.flip(0)], 1), owner.repeat(2)


def both_ways(ordered: Tensor) -> Tensor:
    """f_ij and f_ji [R, 2, units] from the logits [R, 2·units] of doubled pairs."""
    return ordered.view(len(ordered), 2, -1)


def _of_class(weights: Weights, c: int, z: Tensor, pair: Tensor) -> Tensor:
    """f_ij [R, k] of the network of one class, for ordered pairs [2, k]."""
    near, far = (linear(z, half.flatten(0, 1)) for half in weights["first.weight"][:, c].chunk(2, 2))
    last = weights["last.weight"][:, c, 0]  # [R, hidden]
    # Summed in place: allocating another [pairs, hidden] costs more than the sum.
    hidden = (near + weights["first.bias"][:, c].flatten()).index_select(0, pair[0])
    hidden += far.index_select(0, pair[1])
    apart = hidden.relu_().view(pair.size(1), *last.shape).transpose(0, 1)
    return torch.baddbmm(weights["last.bias"][:, c, :, None], apart, last[..., None]).squeeze(2)


def classwise(weights: dict[str, Tensor], num_classes: int) -> dict[str, Tensor]:
    """The weights of a gate that had one network for all classes, as one for each of them.

    Args:
        weights: Parameters of networks by name, as version 0.1 saved them; those of other gates are left as they are.
        num_classes: C.
    """
    flat = {"first.weight": 2, "first.bias": 1, "last.weight": 2, "last.bias": 1}  # their dimensions without a class

    def own(name: str, value: Tensor) -> Tensor:
        shared = flat.get(".".join(name.split(".")[-2:])) == value.dim()
        return value.expand(num_classes, *value.shape).clone() if shared else value

    return {name: own(name, value) for name, value in weights.items()}
