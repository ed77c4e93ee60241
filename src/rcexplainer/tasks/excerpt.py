"""A small part of a large graph, on which a model is tried out before it is split.

A small graph is its own excerpt. Of a larger one it is the nodes that are met going out from a few nodes, at most
`FRONTIER` new ones in each of `DEPTH` steps, so that the excerpt is deeper than any receptive field that is measured.
"""

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.sources import GraphSource

EXCERPT_EDGES = 1 << 16  # a graph with at most this many edges is taken whole
FRONTIER, DEPTH = 128, 34
MOST_NEIGHBOURS = 1 << 12  # nodes with more incoming edges are not entered


def excerpt(source: GraphSource, seeds: Tensor) -> tuple[Data, Tensor]:
    """Take an excerpt of a graph.

    Args:
        source: The graph.
        seeds: [n] nodes to begin with; all of them are part of it.

    Returns:
        The excerpt, and [nodes] the ids of its nodes in the whole graph, ascending.
    """
    whole = source.num_edges <= EXCERPT_EDGES
    nodes = torch.arange(source.num_nodes) if whole else _around(source, seeds.unique())
    found = source.adjacency.into(nodes)
    place = torch.searchsorted(nodes, found.sources).clamp_max(len(nodes) - 1)
    inside = nodes[place] == found.sources
    columns, order = found.columns[inside].sort()
    ends = torch.stack([place[inside], found.owner[inside]])[:, order]
    return source.part(nodes, columns, ends), nodes


def _around(source: GraphSource, seeds: Tensor) -> Tensor:
    """The nodes of an excerpt, ascending."""
    generator = torch.Generator().manual_seed(0)
    met, frontier = seeds, seeds
    for _ in range(DEPTH):
        frontier = frontier[source.adjacency.in_degree(frontier) <= MOST_NEIGHBOURS]
        reached = source.adjacency.into(frontier).sources.unique()
        new = reached[~torch.isin(reached, met)]
        frontier = new[torch.randperm(len(new), generator=generator)[:FRONTIER]]
        if not len(frontier):
            break
        met = torch.cat([met, frontier])
    kept = (source.adjacency.in_degree(met) <= MOST_NEIGHBOURS) | torch.isin(met, seeds)
    return met[kept].sort().values


def drawn(count: int, limit: int, seed: int) -> Tensor:
    """At most `limit` of the numbers 0 … count − 1, ascending, at random; memory does not grow with `count`."""
    generator = torch.Generator().manual_seed(seed)
    if count <= 4 * limit:
        return torch.randperm(count, generator=generator)[:limit].sort().values
    found = torch.randint(count, (2 * limit,), generator=generator).unique()
    while len(found) < limit:
        found = torch.cat([found, torch.randint(count, (limit,), generator=generator)]).unique()
    return found[torch.randperm(len(found), generator=generator)[:limit]].sort().values
