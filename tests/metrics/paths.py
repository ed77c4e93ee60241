"""Small graphs and random generators for tests of noise."""

import numpy as np
import torch
from torch_geometric.data import Data

PROTOCOLS = ("paper", "strict")


def rng(seed: int | list[int] = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def undirected(pairs: list[tuple[int, int]], nodes: int, **attributes: torch.Tensor) -> Data:
    there = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    return Data(x=torch.ones(nodes, 1), edge_index=torch.cat([there, there.flip(0)], 1), **attributes)


def path(length: int) -> Data:
    return undirected([(node, node + 1) for node in range(length)], length + 1)
