"""Links with ground truth: two nodes are linked because they share neighbours.

    pattern   u – w₁ … w₄ – v                  four nodes of their own join u and v:             a link
    decoy     u – w₁ … w₄,  v – w₅ … w₈        as many new neighbours each, none shared:         no link
    others    two nodes of the base that were left alone:                                        no link

The new neighbours of a decoy have another neighbour in the base, so that all of them have two. Neither degrees nor
numbers of neighbours tell a link, only that they are the same nodes: each has a random code as features (those of the
base are zero). `edge_label_index` holds the pairs, `edge_label` whether
they are linked; the links themselves are not among the edges. The edges of a pattern have its number as
`edge_motif_id`, its nodes as `node_motif_id`.
"""

from pathlib import Path

import numpy as np
import torch

from rcexplainer.datasets.dataset import GraphDataset, stratified_split
from rcexplainer.datasets.motifs import OUTSIDE
from rcexplainer.datasets.synthetic import doubled
from rcexplainer.errors import DatasetError

SHARED = 4
WIDTH = 32


def shared_neighbours(root: Path | None, seed: int, num_pairs: int = 1500) -> GraphDataset:
    """A third each of patterns, decoys and others, on a ring of nodes."""
    if not isinstance(num_pairs, int) or num_pairs < 30:
        raise DatasetError(f"shared-neighbours needs num_pairs to be a whole number of at least 30, got {num_pairs!r}")
    random = np.random.RandomState(seed)
    count = num_pairs // 3
    nodes = 12 * count
    ring = np.arange(nodes)
    edges, motif_id = [np.stack([ring, np.roll(ring, -1)], 1)], [np.full(nodes, OUTSIDE)]
    pairs = random.permutation(nodes)[: 6 * count].reshape(3 * count, 2)
    node_motif_id = np.full(nodes, OUTSIDE)
    fresh = nodes
    for number, (u, v) in enumerate(pairs[: 2 * count].tolist()):
        pattern = number < count
        new = np.arange(fresh, fresh + (SHARED if pattern else 2 * SHARED))
        fresh += len(new)
        ends = [(u, w) for w in new[:SHARED]] + [(v, w) for w in new[-SHARED:]]
        own = number if pattern else OUTSIDE
        if not pattern:
            ends += list(zip(new, random.randint(nodes, size=len(new)), strict=True))
        edges.append(np.array(ends))
        motif_id.append(np.full(len(ends), own))
        node_motif_id = np.append(node_motif_id, np.full(len(new), own))
        node_motif_id[[u, v]] = own
    data = doubled(np.concatenate(edges), np.concatenate(motif_id))
    codes = random.normal(size=(fresh, WIDTH)) / np.sqrt(WIDTH)
    codes[:nodes] = 0
    data.x = torch.from_numpy(codes).float()
    labels = torch.from_numpy((np.arange(3 * count) < count).astype(np.int64))
    order = torch.from_numpy(random.permutation(3 * count))
    data.edge_label_index = torch.from_numpy(pairs)[order].t().contiguous()
    data.edge_label = labels[order]
    data.node_motif_id = torch.from_numpy(node_motif_id)
    split = stratified_split(data.edge_label, seed)
    return GraphDataset("shared-neighbours", "link", (data,), split, ("no link", "link"))
