"""How well a soft mask stands for deletion, measured on real graphs for every route by which a mask can reach a model.

    error = max |φ(G, mask 0 on some edges) − φ(G without them)| / max |φ(G) − φ(G without them)|

Layers that average or attend still count an edge of weight 0, so the error is 0 for some models and not for others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.edge_masks import MASK_ROUTES
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.trial import Trial, random_pairs

EXACT = 1e-3  # an error below this is none
ROUNDING = 2e-6  # of float32, relative to the largest output


def best_mask_route(trial: Trial) -> tuple[str | None, float]:
    """The route by which soft masks come closest to deletion.

    Args:
        trial: The trial run of the model.

    Returns:
        Its name in `MASK_ROUTES`, and its error; None and ∞ if no mask reaches the model.

    Raises:
        SplitError: Edges do not matter to the model.
    """
    probe, reference = trial.probe, trial.reference
    half = half_deleted(
        probe, reference, lambda graphs: trial.output(graphs, len(reference), "on graphs with fewer edges")
    )
    removed, deleted, effect, rounding = half.removed, half.output, half.effect, half.rounding
    if not half.matters:
        raise SplitError(
            f"{trial.name} does no message passing, or hardly any: deleting half of all edges changes its output by "
            f"{effect:.2g}, so there is nothing about edges to explain"
        )
    ones = torch.ones(probe.num_edges, dtype=reference.dtype, device=reference.device)
    generator = torch.Generator().manual_seed(0)
    # Not the same weight everywhere: symmetric normalisation would cancel it.
    weights = (0.2 + 0.8 * torch.rand(probe.num_edges, generator=generator)).to(ones)
    errors: dict[str, float] = {}
    for name in MASK_ROUTES:
        try:
            same, zeros, soft = (_masked(trial, name, mask) for mask in (ones, (~removed).to(ones.dtype), weights))
        except SplitError:
            continue  # the model cannot be masked by this route
        if _gap(same, reference) <= EXACT * effect + rounding and _gap(soft, reference) > EXACT * effect + rounding:
            errors[name] = max(0.0, _gap(zeros, deleted) - rounding) / effect
    if not errors:
        return None, inf
    exact = [name for name, error in errors.items() if error < EXACT]
    best = exact[0] if exact else min(errors, key=lambda name: errors[name])
    return best, errors[best]


@dataclass(frozen=True, eq=False)
class HalfDeleted:
    """What a model says when half of all edges are gone.

    Attributes:
        removed: [E] the deleted edges.
        output: [rows, C] its output without them.
        effect: The largest change of an output.
        rounding: A change that says nothing.
    """

    removed: Tensor
    output: Tensor
    effect: float
    rounding: float

    @property
    def matters(self) -> bool:
        """Whether edges matter to the model."""
        return self.effect > self.rounding


def half_deleted(batch: Data, reference: Tensor, run: Callable[[Data], Tensor]) -> HalfDeleted:
    """Delete a random half of the edges, always the same one.

    Args:
        batch: The graphs.
        reference: [rows, C] the model's output for them.
        run: The model, from graphs to its output.
    """
    removed = random_pairs(batch.edge_index, int(batch.num_nodes or 0), share=0.5, seed=0)
    output = run(delete_edges(batch, removed))
    return HalfDeleted(removed, output, _gap(output, reference), ROUNDING * float(reference.abs().max()))


def _masked(trial: Trial, route: str, mask: Tensor) -> Tensor:
    run = MASK_ROUTES[route]
    return trial.read(
        lambda: run(trial.model, trial.forward, trial.probe, mask), len(trial.reference), "with a soft mask"
    )


def _gap(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())
