"""Which edges may be deleted, where a user says so: one boolean mask for all instances, or one for each.

A mask has a value for each column of the graph's `edge_index`. A unit may go if all its edges may.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.units import Units
from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.tasks.computation_graph import Asked

Candidates = Tensor | Sequence[Tensor] | None
Given = Tensor | list[Tensor] | None


def as_masks(candidates: Candidates) -> Given:
    """The same as one mask or a list."""
    if candidates is not None and not isinstance(candidates, Tensor | list | tuple):
        raise RCExplainerError(
            "candidates must be a boolean tensor with a value for each edge, or a list of them, got "
            f"{type(candidates).__name__}"
        )
    return list(candidates) if isinstance(candidates, list | tuple) else candidates


def masks_of(masks: Given, start: int, count: int) -> list[Tensor] | None:
    """The masks of `count` instances from `start` on."""
    if masks is None or isinstance(masks, Tensor):
        return None if masks is None else [masks] * count
    own = masks[start : start + count]
    if len(own) < count:
        raise RCExplainerError(f"candidates must hold one mask for each instance, got {len(masks)}")
    return own


def check_count(masks: Given, count: int) -> None:
    """No more masks than instances."""
    if isinstance(masks, list) and len(masks) > count:
        raise RCExplainerError(f"candidates must hold one mask for each of {count} instances, got {len(masks)}")


def check_mask(mask: object, graph: Data, where: str) -> None:
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (graph.num_edges,):
        raise GraphError(f"the candidates of {where} must be a boolean mask of its {graph.num_edges} edges")


def allowed(masks: list[Tensor] | None, asked: Sequence[Asked], units: Units) -> Tensor:
    """[units] which of them may be deleted."""
    found = torch.ones(len(units), dtype=torch.bool, device=units.owner.device)
    if masks is not None:
        inside = [mask if one.edge_ids is None else mask[one.edge_ids] for one, mask in zip(asked, masks, strict=True)]
        mask = torch.cat(inside).to(found.device)
        found[units.of_edge[~mask & (units.of_edge >= 0)]] = False
    return found
