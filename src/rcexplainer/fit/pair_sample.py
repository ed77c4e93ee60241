"""Ordered pairs of nodes that stand for all entries of the authors' matrices, without making one (`core.drawn_masks`).

Of a graph with n nodes and e directed edges, padded to N nodes without features and edges:

    n² − e        pairs of its nodes that are no edges: a sample, drawn anew in every step, each with weight n² / drawn
    2 n (N − n)   pairs with one padded node, which are all alike: n + n pairs with weight N − n
    (N − n)²      pairs of two padded nodes: one, with that weight
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.drawn_masks import PairLogits
from rcexplainer.core.gates import uniform
from rcexplainer.fit.masked_runs import MiniBatch
from rcexplainer.fit.network import repeated_owner
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.node_inputs import node_inputs

Ways = Callable[[Tensor, Tensor, Tensor], Tensor]  # inputs of nodes, pairs [2, p], their owners → f_ij, f_ji [R, 2, p]


@dataclass(frozen=True, eq=False)
class OtherPairs:
    """Ordered pairs that are no edges; the padded node comes after all others.

    Attributes:
        pair: [2, p] their nodes.
        owner: [p] their instances.
        weight: [p] entries that each stands for; of the first direction, then of the second.
    """

    pair: Tensor
    owner: Tensor
    weight: Tensor

    @classmethod
    def none(cls, like: Tensor) -> "OtherPairs":
        """No pairs."""
        return cls(like.new_empty(2, 0), like.new_empty(0), torch.empty(2, 0, device=like.device))


@torch.no_grad()
def padded_node(instances: Instances, inputs: str) -> Tensor:
    """[1, D] what the network reads of a node without edges and features."""
    first, units = instances[instances.everything[:1]]
    bare = delete_edges(first, torch.ones_like(units.of_edge, dtype=torch.bool))
    if isinstance(bare.x, Tensor):
        bare.x = torch.zeros_like(bare.x)
    return node_inputs(instances.split.run(bare), bare, inputs)[:1]


def other_pairs(batch: Data, size: int, generator: torch.Generator) -> OtherPairs:
    """Pairs that stand for all entries of the padded matrices that are no edges.

    Args:
        batch: The graphs.
        size: N, the nodes that every graph is padded to.
        generator: Draws the sample.
    """
    ptr, index = batch.ptr, batch.edge_index
    counts, device = ptr.diff(), ptr.device
    drawn = torch.bincount(batch.batch[index[0]], minlength=len(counts)) + 1  # as many as edges, and one
    owner = torch.repeat_interleave(torch.arange(len(counts), device=device), drawn)
    like = torch.zeros((), dtype=torch.float64, device=device)
    ends = [(uniform(len(owner), generator, like) * counts[owner]).long() + ptr[owner] for _ in range(2)]
    total = int(batch.num_nodes or 0)
    edge = torch.isin(ends[0] * total + ends[1], index[0] * total + index[1])
    sampled = (counts.double() ** 2 / drawn)[owner].masked_fill(edge, 0.0)
    missing = (size - counts).clamp_min(0).double()
    nodes = torch.arange(total, device=device)
    numbers = torch.arange(len(counts), device=device)
    pad = torch.full_like(nodes, total), torch.full_like(numbers, total)
    pair = torch.stack([torch.cat([ends[0], nodes, pad[1]]), torch.cat([ends[1], pad[0], pad[1]])])
    # A sampled pair stands for itself alone, and so does a pair of two padded nodes; with one, both directions count.
    apart = missing[batch.batch]
    weight = torch.stack(
        [torch.cat([sampled, apart, missing**2]), torch.cat([sampled * 0, apart, missing * 0])]
    ).float()
    return OtherPairs(pair, torch.cat([owner, batch.batch, numbers]), weight)


def pair_logits(
    some: MiniBatch, nodes: Tensor, ways: Ways, padding: tuple[Tensor, int] | None, generator: torch.Generator
) -> PairLogits:
    """f_θ of both directions of every unit, and of the pairs that stand for the rest of the matrix.

    Args:
        some: The mini-batch.
        nodes: [nodes, D] what the network reads of its nodes.
        ways: The network.
        padding: What it reads of a padded node, [1, D], and N; None: entries that are no edges are 0.
        generator: Draws the sample.
    """
    units, counts = some.units, some.batch.ptr.diff()
    if padding is None:
        others, entries, read = OtherPairs.none(units.owner), counts.square(), nodes
    else:
        others = other_pairs(some.batch, padding[1], generator)
        entries = torch.maximum(counts, torch.full_like(counts, padding[1])).square()
        read = torch.cat([nodes, padding[0]])
    pair, owner = torch.cat([units.pair, others.pair], 1), torch.cat([units.owner, others.owner])
    found = ways(read, pair, owner)  # [R, 2, units + p]
    members, own, number = len(found), found[:, :, : len(units)], len(counts)
    return PairLogits(
        own.transpose(0, 1).flatten(1),
        found[:, :, len(units) :].flatten(),
        others.weight.to(found.dtype).flatten().repeat(members),
        repeated_owner(others.owner.repeat(2), number, members),
        entries.to(found.dtype).repeat(members),
    )
