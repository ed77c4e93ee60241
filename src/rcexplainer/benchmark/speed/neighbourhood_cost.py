"""Computation graphs of many nodes."""

import time
from statistics import median

import torch

from rcexplainer.benchmark.speed.options import BenchOptions, Rows
from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.tasks.neighbourhoods import Sweep


def neighbourhood_cost(
    options: BenchOptions, nodes: int = 200_000, edges: int = 1_000_000, roots: int = 10_000, most: int = 1 << 18
) -> Rows:
    """Computation graphs of ten thousand nodes of a random graph with a million edges, in pieces of `most` edges."""
    generator = torch.Generator().manual_seed(0)
    half = torch.randint(nodes, (2, edges // 2), generator=generator)
    edge_index = torch.cat([half, half.flip(0)], 1)
    chosen = torch.randperm(nodes, generator=generator)[:roots, None]
    rows: Rows = []
    for hops in (1, 2, 3):
        seconds: list[float] = []
        for _ in range(options.repeats):
            start = time.perf_counter()
            sweep = Sweep(Adjacency.of(edge_index, nodes))
            sizes = [len(found.edges) for _, found, _ in sweep.batches(chosen, hops, most)]
            seconds.append(time.perf_counter() - start)
        rows.append(
            {
                "nodes explained": roots,
                "hops": hops,
                "edges of the graph": edges,
                "edges of all computation graphs": sum(sizes),
                "largest piece": max(sizes),
                "seconds": round(median(seconds), 2),
            }
        )
    return rows
