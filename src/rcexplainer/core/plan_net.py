"""The plan network: a second gate on the inputs of the mask network, for deletions one after the other.

h = the hidden layer of `NeighbourGate`                      g = its logit
[a; k; l] = P h + p                                          what a deletion does to the units around it
o = a row for each class                                     how the logit follows (`core.deletion_plan`)
"""

from typing import cast

from torch import Tensor, nn

from rcexplainer.core.mask_gates import NeighbourGate, answers, own_weights
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.plan_terms import PlanTerms

WIDTH = 32  # r
SMALL = 0.3  # first weights of P, relative to the usual: at the beginning deletions change little


class PlanGate(NeighbourGate):
    """What deletions do to the units around them, beside the logits of `NeighbourGate`.

    Args:
        node_width: D, the width of the node embeddings.
        instance_width: d, the width of the instances' embeddings.
        num_classes: Number of output rows c.
        hidden: Width of the hidden layer.
        width: r.
    """

    def __init__(
        self, node_width: int, instance_width: int, num_classes: int, hidden: int = 64, width: int = WIDTH
    ) -> None:
        super().__init__(node_width, instance_width, num_classes, hidden)
        self.change = nn.Linear(hidden, 3 * width)
        self.reply = nn.Embedding(num_classes, width)
        nn.init.normal_(self.change.weight, std=SMALL * hidden**-0.5)
        nn.init.zeros_(self.change.bias)
        nn.init.normal_(self.reply.weight, std=width**-0.5)

    def terms(self, z: Tensor, z_g: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> PlanTerms:
        """Compute the terms of every unit; arguments as for `FactorisedGate.forward`."""
        weights = own_weights(self)
        hidden = self.around(weights, z, z_g, label, pair, owner)
        logit = answers(weights, hidden, label, owner)[0]
        start, near, far = self.change(hidden).chunk(3, 1)
        return PlanTerms(logit, start, near, far, label.index_select(0, owner), self.reply.weight)


class PlanNet(EdgeMaskNet):
    """Standardises the embeddings, then applies a `PlanGate`."""

    gate: PlanGate

    def terms(self, nodes: Tensor, instances: Tensor, label: Tensor, pair: Tensor, owner: Tensor) -> PlanTerms:
        """Compute the terms of every unit; arguments as for `EdgeMaskNet.forward`."""
        return self.gate.terms(*self.standardised(nodes, instances), label, pair, owner)


def plan_from(net: EdgeMaskNet, gate: NeighbourGate) -> PlanNet:
    """A new plan network that begins where a gate of a mask network is: there, no deletion has been thought of.

    Args:
        net: The mask network, whose inputs are standardised likewise.
        gate: The gate.
    """
    widths = len(cast(Tensor, net.node_mean)), len(cast(Tensor, net.instance_mean))
    new = PlanGate(*widths, gate.out.num_embeddings, gate.out.embedding_dim).to(gate.out.weight)
    new.load_state_dict(gate.state_dict(), strict=False)
    plan = PlanNet(new, *widths).to(gate.out.weight)
    plan.load_state_dict(dict(net.named_buffers(recurse=False)), strict=False)
    return plan
