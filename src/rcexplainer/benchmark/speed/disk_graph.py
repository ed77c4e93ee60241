"""A random graph of any size that is written straight to disk, in the layout of `MappedGraph`.

Nodes come in groups of 10,000. Within a group in-degrees follow a power law, from 5 to about 1,000 with a mean of 10,
so that hubs do not grow with the graph; an edge comes from any node. The class of a node is the largest of a few
features, summed over its neighbours, and is written for small graphs alone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

GROUP, DEGREE = 10_000, 10
FEATURES, CLASSES = 16, 4
CHUNK = 1 << 22  # rows that are made at a time


def write_disk_graph(folder: Path, edges: int, seed: int = 0) -> Path:
    """Write the files of a graph.

    Args:
        folder: A folder that does not exist.
        edges: The number of edges; a tenth as many nodes.
        seed: Random seed.

    Returns:
        The folder.
    """
    nodes, random = max(1, edges // DEGREE), np.random.default_rng(seed)
    group = min(GROUP, nodes)
    (folder / "node").mkdir(parents=True)
    ends = _new(folder / "edge_index.npy", np.int64, (2, edges))
    for first in range(0, edges, CHUNK):
        count = min(CHUNK, edges - first)
        rank = (group * random.random(count) ** 2).astype(np.int64)
        target = random.integers(max(1, nodes // group), size=count) * group + rank
        source = random.integers(nodes, size=count)
        source[source == target] = (source[source == target] + 1) % nodes
        ends[0, first : first + count], ends[1, first : first + count] = source, target
    x = _new(folder / "node" / "x.npy", np.float32, (nodes, FEATURES))
    for first in range(0, nodes, CHUNK):
        x[first : first + CHUNK] = random.standard_normal((min(CHUNK, nodes - first), FEATURES), dtype=np.float32)
    ends.flush()
    x.flush()
    return folder


def in_memory(folder: Path) -> Data:
    """A small graph as a whole, with labels."""
    edge_index = torch.from_numpy(np.load(folder / "edge_index.npy"))
    x = torch.from_numpy(np.load(folder / "node" / "x.npy"))
    summed = torch.zeros(len(x), CLASSES).index_add(0, edge_index[1], x[edge_index[0], :CLASSES])
    return Data(x=x, edge_index=edge_index, y=summed.argmax(1))


def _new(path: Path, dtype: Any, shape: tuple[int, ...]) -> Any:
    return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
