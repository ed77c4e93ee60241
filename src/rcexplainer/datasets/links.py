"""Link prediction with ground truth: two nodes are linked because they share neighbours.

    pattern   u – w₁ … w₄ – v                  u and v share four new neighbours:                link
    decoy     u – w₁ … w₄,  v – w₅ … w₈        four new neighbours each, none shared:            no link
    other     two nodes of the base without new neighbours:                                      no link

Every new neighbour of a decoy gets a second neighbour in the base, so all new nodes have degree two. Neither degrees
nor numbers of neighbours predict a link, only the identity of the neighbours: each new node has a random code as its
features (those of the base are zero). `edge_label_index` holds the pairs, `edge_label` whether they are linked; the
links themselves are not among the edges. `edge_motif_id` and `node_motif_id` hold the number of the pattern that an
edge or node belongs to, −1 outside.
"""

from pathlib import Path

import numpy as np
import torch

from rcexplainer.datasets.dataset import OUTSIDE, GraphDataset, stratified_split
from rcexplainer.datasets.synthetic import doubled
from rcexplainer.errors import DatasetError

SHARED_COUNT = 4  # neighbours that a linked pair shares
CODE_WIDTH = 32  # features of a node


def shared_neighbours(root: Path | None, seed: int, num_pairs: int = 1500) -> GraphDataset:
    """Build a third each of patterns, decoys and other pairs, on a ring of nodes.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graph and of the split.
        num_pairs: Number of node pairs to predict.

    Returns:
        The dataset.

    Raises:
        DatasetError: If `num_pairs` is not a whole number of at least 30.
    """
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
        new = np.arange(fresh, fresh + (SHARED_COUNT if pattern else 2 * SHARED_COUNT))
        fresh += len(new)
        ends = [(u, w) for w in new[:SHARED_COUNT]] + [(v, w) for w in new[-SHARED_COUNT:]]
        own = number if pattern else OUTSIDE
        if not pattern:
            ends += list(zip(new, random.randint(nodes, size=len(new)), strict=True))
        edges.append(np.array(ends))
        motif_id.append(np.full(len(ends), own))
        node_motif_id = np.append(node_motif_id, np.full(len(new), own))
        node_motif_id[[u, v]] = own
    data = doubled(np.concatenate(edges), np.concatenate(motif_id))
    codes = random.normal(size=(fresh, CODE_WIDTH)) / np.sqrt(CODE_WIDTH)
    codes[:nodes] = 0
    data.x = torch.from_numpy(codes).float()
    labels = torch.from_numpy((np.arange(3 * count) < count).astype(np.int64))
    order = torch.from_numpy(random.permutation(3 * count))
    data.edge_label_index = torch.from_numpy(pairs)[order].t().contiguous()
    data.edge_label = labels[order]
    data.node_motif_id = torch.from_numpy(node_motif_id)
    split = stratified_split(data.edge_label, seed)
    return GraphDataset("shared-neighbours", "link", (data,), split, ("no link", "link"))
