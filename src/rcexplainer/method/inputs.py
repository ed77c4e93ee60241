"""What comes in: instances in chunks that can be run together, errors kept apart, candidate masks.

A candidate mask says which edges may be deleted, with a value for each column of the graph's `edge_index`; one mask
serves all instances, or there is one for each. A unit may be deleted if all its edges may.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.verification import Interference
from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.gnn.graph_checks import attributes
from rcexplainer.tasks.computation_graph import Instance

# Prefixes and single deletions are run all at once, so a chunk of graphs is bounded by the sum of their squares.
CHUNK_GRAPHS, CHUNK_PAIRS = 512, 1 << 24

Result = TypeVar("Result")
Candidates = Tensor | Sequence[Tensor] | None
CandidateMasks = Tensor | list[Tensor] | None


def chunks(asked: Iterable[Instance | Exception]) -> Iterator[list[Instance | Exception]]:
    """Instances that can be batched: with the same attributes, and bounded in number and size."""
    chunk: list[Instance | Exception] = []
    pairs, kind = 0, None
    for one in asked:
        cost = 0 if isinstance(one, Exception) else one.computation.num_edges**2
        own = kind if isinstance(one, Exception) else attributes(one.computation)
        pairs += cost
        full = len(chunk) == CHUNK_GRAPHS or pairs > CHUNK_PAIRS
        if chunk and (full or (kind is not None and own != kind)):
            yield chunk
            chunk, pairs = [], cost
        chunk.append(one)
        kind = own
    if chunk:
        yield chunk


class Unsound(Exception):  # noqa: N818  never reaches a caller
    """Some instances of a batch cannot be explained; its argument is the errors by position."""


def isolated(
    chunk: Sequence[Instance | Exception],
    masks: list[Tensor] | None,
    errors: dict[int, Exception],
    run: Callable[[list[Instance], list[Tensor] | None], Sequence[Result]],
) -> list[Result | Exception]:
    """Run a chunk together, and keep one bad instance from costing the others.

    Args:
        chunk: The instances.
        masks: Their candidate masks, if any.
        errors: What is known to be wrong with some of them, by position.
        run: Explains a batch; it may raise `Unsound`, which names the culprits, or anything else a model raises.

    Returns:
        A result or an error for each instance. After an unnamed error halves are run, until the culprit is found.

    Raises:
        Interference: The model mixes the graphs of a batch: no result of it can be kept.
    """
    slots: dict[int, Result | Exception] = dict(errors)
    sound = [place for place in range(len(chunk)) if place not in errors]
    pending = [sound] if sound else []
    while pending:
        places = pending.pop()
        some: list[Instance] = [one for place in places if isinstance(one := chunk[place], Instance)]
        try:
            slots |= dict(zip(places, run(some, masks and [masks[place] for place in places]), strict=True))
        except Interference:
            raise
        except Unsound as unsound:
            (wrong,) = unsound.args
            slots |= {places[i]: error for i, error in wrong.items()}
            rest = [place for i, place in enumerate(places) if i not in wrong]
            pending += [rest] if rest else []
        except Exception as error:  # noqa: BLE001  a model may raise anything
            middle = len(places) // 2
            if middle:
                pending += [places[:middle], places[middle:]]
            else:
                slots[places[0]] = error
    return [slots[place] for place in range(len(chunk))]


def candidate_masks(candidates: Candidates) -> CandidateMasks:
    """The candidates as one mask or a list.

    Raises:
        RCExplainerError: They are neither a tensor nor a list of tensors.
    """
    if candidates is not None and not isinstance(candidates, Tensor | list | tuple):
        raise RCExplainerError(
            "candidates must be a boolean tensor with a value for each edge, or a list of them, got "
            f"{type(candidates).__name__}"
        )
    return list(candidates) if isinstance(candidates, list | tuple) else candidates


def masks_of(masks: CandidateMasks, start: int, count: int) -> list[Tensor] | None:
    """The masks of `count` instances from `start` on."""
    if masks is None or isinstance(masks, Tensor):
        return None if masks is None else [masks] * count
    own = masks[start : start + count]
    if len(own) < count:
        raise RCExplainerError(f"candidates must hold one mask for each instance, got {len(masks)}")
    return own


def check_number(masks: CandidateMasks, count: int) -> None:
    """Refuse more masks than instances."""
    if isinstance(masks, list) and len(masks) > count:
        raise RCExplainerError(f"candidates must hold one mask for each of {count} instances, got {len(masks)}")


def check_mask(mask: object, graph: Data, where: str) -> None:
    """Refuse anything but a boolean mask of the graph's edges."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (graph.num_edges,):
        raise GraphError(f"the candidates of {where} must be a boolean mask of its {graph.num_edges} edges")
