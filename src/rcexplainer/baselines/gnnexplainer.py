"""GNNExplainer: for every instance, a mask that keeps the prediction with few edges.

    min over f   −log p(c | G ⊙ σ(f)) + size · Σ σ(f_e) + entropy · mean H(σ(f_e))        e: the edges that matter

From PyG come the loss, Adam, the width of the first mask (normal, √(2 / nodes)), and the rule that an edge without
gradient in the first step does not matter and scores 0. Ours are: one f for both directions of an edge (as in the
authors' code), instances side by side whose losses are added and never meet, first masks that belong to the graph, and
masks that reach the model through `SplitModel`, which leaves no trace on it.

`GNNExplainer(**PYG)` has PyG's settings. They begin with half of every edge; a model that counts neighbours then sees a
graph unlike any it knows, and descent does not find back: on validation graphs of BA-2motifs the motif scored below the
rest, with PyG's own code too. The defaults, chosen there, begin near the whole graph and press harder.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rcexplainer.baselines.chance import generators
from rcexplainer.baselines.soft_masks import SoftBatch, edges_of, in_batches, size_and_entropy
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method

PYG = {"start": 0.0, "lr": 0.01, "edge_size": 0.005}


class GNNExplainer(Method):
    """`start` is the mean of the first f, `seed` is of the chance around it; the others are named as in PyG."""

    def __init__(
        self,
        *,
        epochs: int = 100,
        lr: float = 0.03,
        edge_size: float = 0.5,
        edge_ent: float = 1.0,
        start: float = 3.0,
        seed: int = 0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        if not (epochs >= 1 and lr > 0 and edge_size >= 0 and edge_ent >= 0):
            found = f"{epochs!r}, {lr!r}, {edge_size!r} and {edge_ent!r}"
            raise RCExplainerError(f"epochs must be ≥ 1, lr > 0, edge_size ≥ 0 and edge_ent ≥ 0, got {found}")
        self.epochs, self.lr, self.edge_size, self.edge_ent = epochs, lr, edge_size, edge_ent
        self.start, self.seed = start, seed

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return in_batches(instances, labels, self.optimise)

    def optimise(self, soft: SoftBatch) -> Tensor:
        """The masks after training, [units]."""
        logits = self.first(soft).requires_grad_()
        optimizer = torch.optim.Adam([logits], lr=self.lr)
        edges = torch.zeros_like(soft.units.owner)  # which of them matter is known after the first step
        for epoch in range(self.epochs):
            price = size_and_entropy(logits, edges, soft.units, self.edge_size, self.edge_ent)
            loss = price - soft.log_prob(soft.run(logits.sigmoid()))
            (logits.grad,) = torch.autograd.grad(loss.sum(), logits)
            if epoch == 0:
                edges = edges_of(soft.units) * (logits.grad != 0)
            optimizer.step()
        return logits.sigmoid() * (edges > 0)

    def first(self, soft: SoftBatch) -> Tensor:
        """f before training, [units]."""
        units = soft.units
        pairs = zip(generators(units, self.seed), units.counts.tolist(), strict=True)
        draws = torch.from_numpy(np.concatenate([random.standard_normal(count) for random, count in pairs]))
        width = (2 / soft.batch.ptr.diff()[units.owner]).sqrt()
        return soft.per_unit(self.start) + width * draws.to(width)
