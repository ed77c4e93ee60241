"""Ordered pairs of nodes that stand for all entries of the authors' matrices, without making one (`core.drawn_masks`).

Of a graph with n nodes and e directed edges, padded to N nodes without features and edges:

    n² − e        pairs of its nodes that are no edges: a sample, drawn anew in every step, each with weight n² / drawn
    2 n (N − n)   pairs of a node and a padded one, alike for each node: those of a random quarter of the n, weighted up
    (N − n)²      pairs of two padded nodes: one, with that weight
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.concat_gate import both_ways, doubled
from rcexplainer.core.drawn_masks import PairLogits
from rcexplainer.core.gates import uniform
from rcexplainer.core.units import Units
from rcexplainer.fit.masked_runs import MiniBatch
from rcexplainer.fit.network import repeated_owner
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.node_inputs import node_inputs

SAMPLED = 0.25  # share of the edges, and of the nodes, that as many pairs are drawn for: a step has thousands
Ordered = Callable[[Tensor, Tensor, Tensor], Tensor]  # inputs of nodes, ordered pairs [2, p], owners → f_ij [R, p]


@dataclass(frozen=True, eq=False)
class OtherPairs:
    """Ordered pairs that are no edges; the padded node comes after all others.

    Attributes:
        pair: [2, p] their nodes.
        owner: [p] their instances.
        weight: [p] entries that each stands for.
    """

    pair: Tensor
    owner: Tensor
    weight: Tensor

    @classmethod
    def none(cls, like: Tensor) -> "OtherPairs":
        """No pairs."""
        return cls(like.new_empty(2, 0), like.new_empty(0), torch.empty(0, device=like.device))


@torch.no_grad()
def padded_node(instances: Instances, inputs: str) -> Tensor:
    """[1, D] what the network reads of a node without edges and features."""
    first, units = instances[instances.everything[:1]]
    bare = delete_edges(first, torch.ones_like(units.of_edge, dtype=torch.bool))
    if isinstance(bare.x, Tensor):
        bare.x = torch.zeros_like(bare.x)
    return node_inputs(instances.split.run(bare), bare, inputs)[:1]


def other_pairs(batch: Data, units: Units, size: int, generator: torch.Generator) -> OtherPairs:
    """Pairs that stand for all entries of the padded matrices that are no edges.

    Args:
        batch: The graphs.
        units: Their units, whose two directions are scored apart from these pairs.
        size: N, the nodes that every graph is padded to.
        generator: Draws the sample.
    """
    ptr, index = batch.ptr, batch.edge_index
    counts, device = ptr.diff(), ptr.device
    edges = torch.bincount(batch.batch[index[0]], minlength=len(counts))
    drawn = (SAMPLED * edges).long() + 1
    owner = torch.repeat_interleave(torch.arange(len(counts), device=device), drawn)
    like = torch.zeros((), dtype=torch.float64, device=device)
    first, second = ((uniform(len(owner), generator, like) * counts[owner]).long() + ptr[owner] for _ in range(2))
    total = int(batch.num_nodes or 0)
    i, j = doubled(units.pair, units.owner)[0]
    edge = torch.isin(first * total + second, i * total + j)
    sampled = (counts.double() ** 2 / drawn)[owner].masked_fill(edge, 0.0)
    missing = (size - counts).clamp_min(0).double()
    numbers = torch.arange(len(counts), device=device)
    chosen = (uniform(total, generator, like) < SAMPLED).nonzero().flatten()
    pad = numbers.new_full((1,), total)
    pair = torch.stack(
        [
            torch.cat([first, chosen, pad.expand(len(chosen)), pad.expand(len(counts))]),
            torch.cat([second, pad.expand(len(chosen)), chosen, pad.expand(len(counts))]),
        ]
    )
    of_chosen = batch.batch[chosen]
    apart = missing[of_chosen] / SAMPLED
    weight = torch.cat([sampled, apart, apart, missing**2]).float()
    return OtherPairs(pair, torch.cat([owner, of_chosen, of_chosen, numbers]), weight)


def pair_logits(
    some: MiniBatch, nodes: Tensor, ordered: Ordered, padding: tuple[Tensor, int] | None, generator: torch.Generator
) -> PairLogits:
    """f_θ of both directions of every unit, and of the pairs that stand for the rest of the matrix.

    Args:
        some: The mini-batch.
        nodes: [nodes, D] what the network reads of its nodes.
        ordered: The network.
        padding: What it reads of a padded node, [1, D], and N; None: entries that are no edges are 0.
        generator: Draws the sample.
    """
    units, counts = some.units, some.batch.ptr.diff()
    if padding is None:
        others, entries, read = OtherPairs.none(units.owner), counts.square(), nodes
    else:
        others = other_pairs(some.batch, units, padding[1], generator)
        entries = torch.maximum(counts, torch.full_like(counts, padding[1])).square()
        read = torch.cat([nodes, padding[0]])
    pair, owner = doubled(units.pair, units.owner)
    found = ordered(read, torch.cat([pair, others.pair], 1), torch.cat([owner, others.owner]))  # [R, 2·units + p]
    own, members = found[:, : 2 * len(units)], len(found)
    return PairLogits(
        both_ways(own).transpose(0, 1).flatten(1),
        found[:, 2 * len(units) :].flatten(),
        others.weight.to(found.dtype).repeat(members),
        repeated_owner(others.owner, len(counts), members),
        entries.to(found.dtype).repeat(members),
    )
