"""Synthetic node sets: motifs planted in random or regular bases, so that the true explanation is known.

    node sets   base + k motifs, evenly spaced, + 1 % random edges; a node's class is its role
    graph sets  base + one or two motifs (`motif_graphs`);           a graph's class is its motifs

Every `Data` has each edge in both directions, sorted, with `edge_motif` and `edge_motif_id` (−1 outside). In node sets
the id is the number of the motif, and `node_motif_id` holds the same for nodes. All randomness comes from one
`RandomState`, whose stream numpy guarantees never to change (it also seeds networkx), so a seed gives the same data on
every machine; checksums in the tests verify this.
"""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.dataset import OUTSIDE, GraphDataset, stratified_split
from rcexplainer.datasets.motifs import (
    HOUSE,
    Integers,
    Motif,
    NodePair,
    PlantedGraph,
    attach,
    bare,
    cycle,
    grid,
    link_at_random,
    union,
    whole_number,
)

NUM_FEATURES = 10
HOUSE_ROLES = ("base", "middle", "floor", "roof")


def ba_shapes(root: Path | None, seed: int) -> GraphDataset:
    """80 houses on a Barabási–Albert base; the class of a node is base, or its position in the house.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graph and of the split.

    Returns:
        The dataset.
    """
    graph = _ba_shapes(np.random.RandomState(seed))
    return _node_set("ba-shapes", graph, _ones(graph), HOUSE_ROLES, seed)


def ba_community(root: Path | None, seed: int) -> GraphDataset:
    """Two ba-shapes joined by 350 edges; features indicate the community, the class is community and role.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graph and of the split.

    Returns:
        The dataset.
    """
    random = np.random.RandomState(seed)
    first, second = _ba_shapes(random), _ba_shapes(random)
    num_motifs = int(first.node_motif_id.max()) + 1
    second = replace(
        second,
        roles=second.roles + len(HOUSE_ROLES),
        node_motif_id=_shift_ids(second.node_motif_id, num_motifs),
        edge_motif_id=_shift_ids(second.edge_motif_id, num_motifs),
    )
    both = union(first, second)
    here, there = range(first.num_nodes), range(first.num_nodes, both.num_nodes)
    graph = link_at_random(both, 350, random, here, there)
    x = torch.cat([_features(len(nodes), mean, random) for nodes, mean in ((here, -1.0), (there, 1.0))])
    classes = tuple(f"{role} {community}" for community in "AB" for role in HOUSE_ROLES)
    return _node_set("ba-community", graph, x, classes, seed)


def tree_cycles(root: Path | None, seed: int) -> GraphDataset:
    """60 hexagons on a binary tree, about half of them tied to it twice, as in the published set.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graph and of the split.

    Returns:
        The dataset.
    """
    graph = _decorate(nx.balanced_tree(2, 8), cycle(6), 60, np.random.RandomState(seed), tied_twice=0.5)
    return _node_set("tree-cycles", graph, _ones(graph), ("tree", "cycle"), seed)


def tree_grid(root: Path | None, seed: int) -> GraphDataset:
    """80 grids of 3×3 nodes on a binary tree.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graph and of the split.

    Returns:
        The dataset.
    """
    graph = _decorate(nx.balanced_tree(2, 8), grid(3), 80, np.random.RandomState(seed))
    return _node_set("tree-grid", graph, _ones(graph), ("tree", "grid"), seed)


def ba_grid(root: Path | None, seed: int) -> GraphDataset:
    """80 grids of 3×3 nodes on a Barabási–Albert base, the set that the paper calls Tree-Grid.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graph and of the split.

    Returns:
        The dataset.
    """
    random = np.random.RandomState(seed)
    graph = _decorate(barabasi_albert(300, 5, random), grid(3), 80, random)
    return _node_set("ba-grid", graph, _ones(graph), ("base", "grid"), seed)


def _ba_shapes(random: np.random.RandomState) -> PlantedGraph:
    """The graph of `ba_shapes`."""
    return _decorate(barabasi_albert(300, 5, random), HOUSE, 80, random)


def barabasi_albert(num_nodes: int, edges_per_node: int, random: np.random.RandomState) -> nx.Graph:
    """A Barabási–Albert graph, seeded from the stream."""
    return nx.barabasi_albert_graph(num_nodes, edges_per_node, seed=whole_number(random, range(2**31)))


def _decorate(
    base: nx.Graph, motif: Motif, count: int, random: np.random.RandomState, tied_twice: float = 0.0
) -> PlantedGraph:
    """Attach `count` motifs by their node 0 at equal distances, then add one random edge for every hundred edges.

    With probability `tied_twice` a second edge ties one of the motif's nodes 1–3 to one of the next three base nodes;
    without it tree-cycles would have 939 edges instead of the published 971.
    """
    graph = bare(base)
    spacing = base.number_of_nodes() // count
    for number in range(count):
        plug = number * spacing
        links: list[NodePair] = [(plug, 0)]
        if random.random_sample() < tied_twice:
            inside, step = whole_number(random, range(1, 4)), whole_number(random, range(1, 4))
            links.append((plug + step, inside))
        graph = attach(graph, motif, number, links)
    anywhere = range(graph.num_nodes)
    return link_at_random(graph, int(0.01 * graph.num_edges), random, anywhere, anywhere)


def _shift_ids(motif_id: Integers, by: int) -> Integers:
    """Add to all motif ids but `OUTSIDE`."""
    return np.where(motif_id == OUTSIDE, OUTSIDE, motif_id + by)


def _ones(graph: PlantedGraph) -> Tensor:
    """Uninformative features."""
    return torch.ones(graph.num_nodes, NUM_FEATURES)


def _features(num_nodes: int, mean: float, random: np.random.RandomState) -> Tensor:
    """Two features with the community's mean and variance ½; the others are noise."""
    telling = random.normal(mean, np.sqrt(0.5), size=(num_nodes, 2))
    noise = random.normal(0.0, 1.0, size=(num_nodes, NUM_FEATURES - 2))
    return torch.from_numpy(np.concatenate([telling, noise], axis=1)).float()


def _node_set(name: str, graph: PlantedGraph, x: Tensor, classes: tuple[str, ...], seed: int) -> GraphDataset:
    """A node set whose labels are the roles."""
    labels = torch.from_numpy(graph.roles)
    data = planted_data(graph, x, labels)
    data.node_motif_id = torch.from_numpy(graph.node_motif_id)
    return GraphDataset(name, "node", (data,), stratified_split(labels, seed), classes)


def planted_data(graph: PlantedGraph, x: Tensor, y: Tensor) -> Data:
    """The graph with features and labels."""
    data = doubled(graph.edges, graph.edge_motif_id)
    data.x, data.y = x, y
    return data


def doubled(edges: Integers, edge_motif_id: Integers) -> Data:
    """Store every edge in both directions, sorted by source and then target.

    Args:
        edges: [m, 2], each edge once.
        edge_motif_id: [m] the motif of each edge.

    Returns:
        A graph without features, with `edge_motif` and `edge_motif_id`.
    """
    directed = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((directed[:, 1], directed[:, 0]))
    motif_id = torch.from_numpy(np.tile(edge_motif_id, 2)[order])
    return Data(
        edge_index=torch.from_numpy(np.ascontiguousarray(directed[order].T)),
        edge_motif=motif_id != OUTSIDE,
        edge_motif_id=motif_id,
    )
