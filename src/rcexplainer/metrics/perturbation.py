"""Noise on a graph, to measure how stable explanations are. |E| counts undirected node pairs, p is the noise level.

    features  in both protocols each node, with probability p, gets other features: a random one-hot vector where
              features are one-hot, else the features of a random node of the data
    paper     int(p·|E|) random node pairs are set to edge or to non-edge, with probability ½ each. In a sparse graph
              most pairs are non-edges, and half of these stay non-edges: about p·|E| / 2 pairs really change, and
              nearly all of them are new edges. A graph loses p·|E|² / (2·pairs) of its edges, hardly any
    strict    exactly round(p·|E|) node pairs change: half are deleted edges, half are new edges

At the same p, strict noise changes about twice as many pairs as the paper's, and it alone deletes edges that may be in
the explanation. A new edge has the attributes of a random edge of the same graph. Self-loops stay.
"""

from collections.abc import Callable, Sequence
from copy import copy
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.graph_checks import check_graph
from rcexplainer.sources.attribute_levels import edge_level_keys

NoiseProtocol = Literal["paper", "strict"]
# What each protocol really does, for captions.
NOISE_TEXTS: dict[NoiseProtocol, str] = {
    "paper": "the paper's noise: about half of the nominal share of edges is really changed, mostly by additions",
    "strict": "strict noise: the nominal share of edges is really changed, half of it deleted and half added",
}
Numbers: TypeAlias = npt.NDArray[Any]
# (sorted edges, number of pairs, noise, random) → (edges to delete, pairs to add), as codes of pairs
Changes: TypeAlias = Callable[[Numbers, int, float, np.random.Generator], tuple[Numbers, Numbers]]


@clear_arguments()
def perturb(
    graph: Data,
    noise: float,
    random: np.random.Generator,
    *,
    protocol: NoiseProtocol = "paper",
    rows: Tensor | None = None,
) -> Data:
    """Make a noisy copy of a graph.

    Constant features stay as they are. In an undirected graph a new edge goes both ways, else in a random direction.
    `edge_motif` is False and `edge_motif_id` −1 on new edges.

    Args:
        graph: The graph, which is not changed.
        noise: p, from 0 to 1.
        random: Random generator.
        protocol: "paper" or "strict".
        rows: Features that a node can be given, [rows, …]; `feature_rows([graph])` if None.

    Returns:
        The copy.

    Raises:
        GraphError: The graph is malformed.
        RCExplainerError: The noise is no share, or the protocol is unknown.
    """
    check_noise(noise, protocol)
    check_graph(graph)
    noisy = perturb_features(graph, noise, random, rows)
    if not isinstance(graph.x, Tensor):
        noisy.num_nodes = graph.num_nodes  # PyG would guess it from the edges, which are about to change
    _rewire(graph, noisy, noise, random, CHANGES[protocol])
    return noisy


def perturb_features(graph: Data, noise: float, random: np.random.Generator, rows: Tensor | None = None) -> Data:
    """Make a copy of a graph with the features of some nodes changed and every edge as it is.

    Args:
        graph: The graph, which is not changed.
        noise: p, from 0 to 1: the probability that a node gets other features.
        random: Random generator; at the same state, nodes and features are those that `perturb` changes.
        rows: Features that a node can be given, [rows, …]; `feature_rows([graph])` if None.

    Returns:
        The copy; the same as the graph where it has no features.
    """
    noisy = copy(graph)
    if isinstance(graph.x, Tensor):
        noisy.x = _noisy_features(graph.x, noise, random, feature_rows([graph]) if rows is None else rows)
    return noisy


def check_noise(noise: float, protocol: str) -> None:
    """Refuse an unknown protocol, and a noise level that is no share."""
    if protocol not in get_args(NoiseProtocol):
        raise RCExplainerError(f"protocol must be one of {', '.join(get_args(NoiseProtocol))}, got {protocol!r}")
    if not isinstance(noise, Real) or not 0 <= noise <= 1:
        raise RCExplainerError(f"noise is a share from 0 to 1, got {noise!r}")


def feature_rows(graphs: Sequence[Data]) -> Tensor:
    """The rows that noisy features are drawn from, [rows, …]: all one-hot vectors if the graphs' features are one-hot,
    else the features of every node."""
    features = [graph.x for graph in graphs if isinstance(graph.x, Tensor)]
    if not features:
        return torch.empty(0)
    rows = torch.cat(features)
    if rows.dim() != 2 or not len(rows):
        return rows
    one_hot = bool(((rows == 0) | (rows == 1)).all() & (rows.sum(1) == 1).all())
    constant = bool((rows == rows[0]).all())
    return torch.eye(rows.size(1), dtype=rows.dtype, device=rows.device) if one_hot and not constant else rows


def _noisy_features(x: Tensor, noise: float, random: np.random.Generator, rows: Tensor) -> Tensor:
    hit = np.flatnonzero(random.random(len(x)) < noise)
    if not len(hit):
        return x
    drawn = rows[torch.from_numpy(random.integers(len(rows), size=len(hit))).to(rows.device)]
    return x.index_copy(0, torch.from_numpy(hit).to(x.device), drawn.to(x))


def _paper_changes(
    units: Numbers, num_pairs: int, noise: float, random: np.random.Generator
) -> tuple[Numbers, Numbers]:
    chosen = random.choice(num_pairs, int(noise * len(units)), replace=False)
    edge, was_edge = random.random(len(chosen)) < 0.5, np.isin(chosen, units)
    return chosen[was_edge & ~edge], chosen[~was_edge & edge]


def _strict_changes(
    units: Numbers, num_pairs: int, noise: float, random: np.random.Generator
) -> tuple[Numbers, Numbers]:
    count = round(noise * len(units))
    missing = num_pairs - len(units)
    added = min((count + int(random.integers(2))) // 2, missing)  # a coin decides where the count is odd
    gone = random.choice(units, count - added, replace=False)
    place = random.choice(missing, added, replace=False)
    # The place-th non-edge: every edge before it shifts it by one.
    return gone, place + np.searchsorted(units - np.arange(len(units)), place, side="right")


CHANGES: dict[str, Changes] = {"paper": _paper_changes, "strict": _strict_changes}


def _rewire(graph: Data, noisy: Data, noise: float, random: np.random.Generator, changes: Changes) -> None:
    """Set the edges of `noisy`: those of `graph` without some, and some new ones."""
    ends = graph.edge_index.cpu().numpy()
    nodes = int(graph.num_nodes or 0)
    low, high = ends.min(0), ends.max(0)
    proper = low != high
    codes = np.where(proper, high * (high - 1) // 2 + low, -1)  # numbers the pairs low < high 0, 1, …
    units = np.unique(codes[proper])
    gone, new = changes(units, nodes * (nodes - 1) // 2, noise, random) if len(units) else (units, units)
    if not len(gone) and not len(new):
        return
    kept = np.flatnonzero(~np.isin(codes, gone))
    pairs = _pairs(new)
    like = random.choice(np.flatnonzero(proper), len(new))  # edges whose attributes the new ones copy
    turned = random.random(len(new)) < 0.5
    if _both_ways(ends, codes, proper):
        pairs, like = np.concatenate([pairs, pairs[::-1]], 1), np.tile(like, 2)
    else:
        pairs = np.where(turned, pairs[::-1], pairs)
    device = graph.edge_index.device
    columns = torch.from_numpy(np.concatenate([kept, like])).to(device)
    for key in edge_level_keys(graph):
        if key == "edge_index":
            continue
        value = graph[key][columns]
        if key.startswith("edge_motif"):  # a new edge is not part of the ground truth
            value[len(kept) :] = False if value.dtype == torch.bool else -1
        noisy[key] = value
    noisy.edge_index = torch.from_numpy(np.concatenate([ends[:, kept], pairs], 1)).to(device)


def _pairs(codes: Numbers) -> Numbers:
    """The nodes (low, high) of each pair, [2, pairs]."""
    high = ((1 + np.sqrt(8 * codes + 1)) / 2).astype(np.int64)
    return np.stack([codes - high * (high - 1) // 2, high])


def _both_ways(ends: Numbers, codes: Numbers, proper: Numbers) -> bool:
    """Whether every edge has its reverse."""
    up = ends[0] < ends[1]
    return np.array_equal(np.unique(codes[proper & up]), np.unique(codes[proper & ~up]))
