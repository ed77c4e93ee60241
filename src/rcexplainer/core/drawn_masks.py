"""Masks drawn for a step, and what their size and entropy are taken over.

    over_edges    R_sparse = Σ_u M_u,   R_discrete = (1/|M|) Σ_u H(M_u)               the text: real edges, each once
    over_matrix   R_sparse = Σ_ij M_ij, R_discrete = (1/N²) Σ_ij H(.99 M_ij + .005)   the authors' code: a matrix of
                  ordered pairs of nodes; noise is drawn for each direction, and M_u = (M_ij + M_ji) / 2

H(p) = −p log p − (1−p) log(1−p). The matrix is never made. For graphs it holds all pairs of nodes, padded to the
size of the largest graph; for nodes it is that of the computation graph, 0 where there is no edge. A pair that is no
edge is scored once for the `weight` entries that it stands for.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.gates import Gate
from rcexplainer.core.losses import discrete, sparse

KEPT, SHIFT = 0.99, 0.005  # the authors' code moves masks away from 0 and 1 before it takes their entropy


@dataclass(frozen=True, eq=False)
class PairLogits:
    """f_θ of ordered pairs of nodes.

    Attributes:
        ways: [2, units] of both directions of every unit.
        others: [p] of pairs that are no edges.
        weight: [p] entries of the matrix that each of them stands for.
        owner: [p] their instances.
        entries: [n] N², the entries of each instance's matrix.
    """

    ways: Tensor
    others: Tensor
    weight: Tensor
    owner: Tensor
    entries: Tensor


@dataclass(frozen=True, eq=False)
class DrawnMasks:
    """Masks M [units], with their size and entropy [n]."""

    mask: Tensor
    size: Tensor
    entropy: Tensor


@dataclass(frozen=True, eq=False)
class Logits:
    """What masks are drawn from.

    Attributes:
        units: f_θ [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        pairs: f_θ of ordered pairs of nodes, if the directions of a unit are scored apart.
    """

    units: Tensor
    ptr: Tensor
    owner: Tensor
    pairs: PairLogits | None


Draw = Callable[[Logits, Gate, float, torch.Generator], DrawnMasks]  # logits, gate, T, random numbers → masks


def over_edges(logits: Logits, gate: Gate, temperature: float, generator: torch.Generator) -> DrawnMasks:
    """One mask for each unit; see the top of the file."""
    mask, owner, number = (
        gate(logits.units, logits.ptr, logits.owner, temperature, generator),
        logits.owner,
        len(logits.ptr) - 1,
    )
    return DrawnMasks(mask, sparse(mask, owner, number), discrete(mask, owner, number))


def over_matrix(logits: Logits, gate: Gate, temperature: float, generator: torch.Generator) -> DrawnMasks:
    """A mask for each direction, and for pairs that are no edges; see the top of the file."""
    pairs, number = logits.pairs, len(logits.ptr) - 1
    assert pairs is not None  # the settings see to it
    owner = torch.cat([logits.owner, logits.owner, pairs.owner])
    flat = torch.cat([pairs.ways.flatten(), pairs.others])
    drawn = gate(flat, logits.ptr, owner, temperature, generator)
    weight = torch.cat([drawn.new_ones(pairs.ways.numel()), pairs.weight])

    def summed(values: Tensor) -> Tensor:
        return drawn.new_zeros(number).index_add(0, owner, weight * values)

    p = KEPT * drawn + SHIFT
    entropy = -(p * p.log() + (1 - p) * (1 - p).log())
    mask = drawn[: pairs.ways.numel()].view_as(pairs.ways).mean(0)
    return DrawnMasks(mask, summed(drawn), summed(entropy) / pairs.entries)
