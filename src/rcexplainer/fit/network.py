"""The mask network on real batches: made for a model, its logits per unit, and ensembles of networks."""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.config import RCConfig
from rcexplainer.core.concat_gate import ConcatGate, DirectedGate, classwise
from rcexplainer.core.connectivity import connected
from rcexplainer.core.mask_gates import FactorisedGate, Mean, NeighbourGate, mean_mask_logit
from rcexplainer.core.mask_net import EdgeMaskNet, mean_of
from rcexplainer.core.plackett_luce import log_softmax
from rcexplainer.core.units import Units
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.gnn.split import Pass

HIDDEN = 64  # width of the hidden layer; the paper: 64
NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "planned": NeighbourGate,  # with a plan of deletions beside it (`fit.plan`)
    "neighbours": NeighbourGate,
    "factorised": FactorisedGate,
    "concat": ConcatGate,
    "directed": DirectedGate,
}
AS_THEY_ARE = ("concat", "directed")  # the paper's own forms read the embeddings as they are, not standardised


def learns_ranking(config: RCConfig) -> bool:
    """Whether only the order of an instance's units is learnt: budget gates have no level of their own."""
    return config.gate == "budget"


def class_pair(label: Tensor, target: Tensor, num_classes: int, conditioned: bool) -> Tensor:
    """[n] the number of the pair (predicted class, target class), the output row of the mask network.

    Args:
        label: Predicted classes [n].
        target: Target classes [n]; the predicted class stands for any other.
        num_classes: C.
        conditioned: Whether the network has a row for each pair; if not, it has one for each predicted class.
    """
    return label * num_classes + target if conditioned else label


def num_class_pairs(num_classes: int, conditioned: bool) -> int:
    """How many output rows the mask network has."""
    return num_classes**2 if conditioned else num_classes


def make_gate(node_width: int, instance_width: int, rows: int, config: RCConfig, hidden: int = HIDDEN) -> nn.Module:
    """A new gate for inputs of these widths, with `rows` output rows."""
    return NETWORKS[config.network](node_width, instance_width, rows, hidden)


def make_net(nodes: Tensor, embedding: Tensor, rows: int, config: RCConfig) -> EdgeMaskNet:
    """A new mask network.

    Args:
        nodes: Inputs of some nodes, [k, D], on which the network is standardised.
        embedding: Embeddings of some instances, [n, d], likewise.
        rows: Number of output rows.
        config: The settings.
    """
    widths = nodes.size(1), embedding.size(1)
    net = EdgeMaskNet(make_gate(*widths, rows, config), *widths).to(embedding.device, embedding.dtype)
    if config.network not in AS_THEY_ARE:
        net.standardise(nodes, embedding)
    return net


def unit_logits(net: EdgeMaskNet, done: Pass, batch: Data, units: Units, row: Tensor, config: RCConfig) -> Tensor:
    """f_θ of every unit, from one run of the GNN over a batch; see `logits_of`."""
    return logits_of(net, node_inputs(done, batch, config.inputs), done.embedding, row, units.pair, units.owner, config)


def logits_of(
    net: EdgeMaskNet, nodes: Tensor, embedding: Tensor, row: Tensor, pair: Tensor, owner: Tensor, config: RCConfig
) -> Tensor:
    """f_θ of every unit.

    A ranking has no level of its own; a softmax over the units of an instance makes instances comparable.

    Args:
        net: A mask network, or a stack of R.
        nodes: The inputs of the nodes, [nodes, D].
        embedding: [n, d] embeddings of the instances.
        row: [n] their output rows.
        pair: [2, units] the two nodes of each unit.
        owner: [units] the instance of each unit.
        config: The settings.

    Returns:
        [units]; of a stack [R·units], those of the first network, then those of the second, …
    """
    logits = net(nodes, embedding, row, pair, owner)
    members = len(logits) if logits.dim() == 2 else 1
    if not learns_ranking(config):
        return cast(Tensor, logits.flatten())
    return log_softmax(logits.flatten(), repeated_owner(owner, len(row), members), members * len(row))


def repeated_owner(owner: Tensor, number: int, times: int) -> Tensor:
    """[times·units] the owners of `times` copies of `number` instances, one copy after the other."""
    return owner if times == 1 else (owner + number * torch.arange(times, device=owner.device)[:, None]).flatten()


def connected_units(logits: Tensor, batch: Data, units: Units, config: RCConfig) -> Tensor:
    """The logits as shown in explanations: with `connected`, edges not connected to the explained node rank last.

    Masks are trained without it: whether the edge at the end of a path helps is learnt before the path is there.
    """
    roots = batch.get("root_index", batch.get("edge_label_index"))
    if not config.connected or roots is None:
        return logits
    rounds = batch.hop_code.size(1) - 1  # at least as many as messages are passed
    return connected(logits, units.pair, roots.flatten(), int(batch.num_nodes or 0), rounds)


def mean_share(logits: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """The logarithm of the mean share of several networks [k, units], up to a constant."""
    return torch.stack([log_softmax(own, owner, num_instances) for own in logits]).logsumexp(0)


def mean_mask(logits: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """The logit of the mean mask of several networks [k, units]."""
    return mean_mask_logit(logits, 0)


def mean_logits(config: RCConfig) -> Mean:
    """How the logits of an ensemble are averaged."""
    return mean_share if learns_ranking(config) else mean_mask


def restored_net(weights: dict[str, Tensor], ensemble: int, rows: int, config: RCConfig) -> EdgeMaskNet:
    """A mask network with saved weights.

    Args:
        weights: Its `state_dict`.
        ensemble: How many gates it averages.
        rows: Number of output rows.
        config: The settings.

    Raises:
        RuntimeError: The weights are those of another network.
    """
    widths = len(weights["node_mean"]), len(weights["instance_mean"])
    gates = [make_gate(*widths, rows, config) for _ in range(ensemble)]
    net = mean_of([EdgeMaskNet(gate, *widths) for gate in gates], mean_logits(config)).to(weights["node_mean"])
    net.load_state_dict(classwise(weights, rows) if config.network == "concat" else weights)
    return net.eval()
