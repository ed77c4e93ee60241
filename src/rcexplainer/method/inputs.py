"""What comes in: instances in chunks that can be run together, errors kept apart, candidate masks.

A candidate mask says which edges may be deleted, with a value for each column of the graph's `edge_index`; one mask
serves all instances, or there is one for each. A unit may be deleted if all its edges may.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.verification import Interference
from rcexplainer.errors import GraphError, ModelError, RCExplainerError, TimeUpError
from rcexplainer.gnn.columns import attributes_of
from rcexplainer.gnn.graph_checks import attributes
from rcexplainer.method.explanations import ExplanationColumns, Slot
from rcexplainer.short_repr import short_repr
from rcexplainer.sources import AnyGraph
from rcexplainer.tasks.computation_graph import Instance

log = logging.getLogger(__name__)

# A chunk is run at once, and its results are on the CPU before the next one begins.
CHUNK_GRAPHS = 8192
CHUNK_EDGES, CHUNK_EDGES_CUDA = 1 << 19, 1 << 22
# Where the graph is not in memory, a chunk should not take much of it either.
SOURCE_EDGES, SOURCE_EDGES_CUDA = 1 << 17, 1 << 20

Candidates = Tensor | Sequence[Tensor] | None
CandidateMasks = Tensor | list[Tensor] | None


def most_edges(device: torch.device | None, from_source: bool) -> int:
    """Edges in a chunk that is explained on this device, of graphs in memory or of one on disk or in a store."""
    cuda = device is not None and device.type == "cuda"
    if from_source:
        return SOURCE_EDGES_CUDA if cuda else SOURCE_EDGES
    return CHUNK_EDGES_CUDA if cuda else CHUNK_EDGES


def chunks(asked: Iterable[Instance | Exception], most_edges: int) -> Iterator[list[Instance | Exception]]:
    """Instances that can be batched: with the same attributes, and bounded in number and size.

    Args:
        asked: The instances.
        most_edges: A chunk has at most this many edges, or one instance.
    """
    chunk: list[Instance | Exception] = []
    edges, kind = 0, _Kind()
    for one in asked:
        cost, other = (0, False) if isinstance(one, Exception) else (_num_edges(one.computation), kind.differs(one))
        edges += cost
        if chunk and (other or edges > most_edges or len(chunk) == CHUNK_GRAPHS):
            yield chunk
            chunk, edges = [], cost
        chunk.append(one)
    if chunk:
        yield chunk


class _Kind:
    """Which attributes the instances have; most often all have the same names, and nothing else is looked at."""

    def __init__(self) -> None:
        self.names: Set[str] = frozenset()
        self.tensors: frozenset[str] | None = None

    def differs(self, one: Instance) -> bool:
        """Whether a model may read other attributes of this instance than of the one before."""
        names = attributes_of(one.computation).keys()
        if names == self.names:
            return False
        before, self.names, self.tensors = self.tensors, frozenset(names), attributes(one.computation)
        return before is not None and before != self.tensors


def _num_edges(graph: Data) -> int:
    """`Data.num_edges` looks at every attribute; a malformed graph is refused later."""
    found = attributes_of(graph).get("edge_index")
    return int(found.size(-1)) if isinstance(found, Tensor) and found.dim() else 0


class Unsound(Exception):  # noqa: N818  never reaches a caller
    """Some instances of a batch cannot be explained; its argument is the errors by position."""


def isolated(
    chunk: Sequence[Instance | Exception],
    masks: list[Tensor] | None,
    errors: dict[int, Exception],
    run: Callable[[list[Instance], list[Tensor] | None], ExplanationColumns],
) -> list[Slot | Exception]:
    """Run a chunk together, and keep one bad instance from costing the others.

    Args:
        chunk: The instances.
        masks: Their candidate masks, if any.
        errors: What is known to be wrong with some of them, by position.
        run: Explains a batch; it may raise `Unsound`, which names the culprits, or anything else a model raises.

    Returns:
        A place in the results or an error for each instance. After an unnamed error halves are run, until the culprit
        is found.

    Raises:
        Interference: The model mixes the graphs of a batch: no result of it can be kept.
    """
    slots: dict[int, Slot | Exception] = dict(errors)
    sound = [place for place in range(len(chunk)) if place not in errors]
    pending = [sound] if sound else []
    while pending:
        places = pending.pop()
        some: list[Instance] = [one for place in places if isinstance(one := chunk[place], Instance)]
        try:
            found = run(some, masks and [masks[place] for place in places])
            slots |= {place: (found, row) for row, place in enumerate(places)}
        except Interference:
            raise
        except TimeUpError as late:  # halves would find no time either
            slots |= dict.fromkeys(places, late)
        except Unsound as unsound:
            (wrong,) = unsound.args
            slots |= {places[i]: error for i, error in wrong.items()}
            rest = [place for i, place in enumerate(places) if i not in wrong]
            pending += [rest] if rest else []
        except Exception as error:  # noqa: BLE001  a model may raise anything
            middle = len(places) // 2
            if middle and out_of_memory(error):
                tell_memory()
                torch.cuda.empty_cache()  # does nothing where there is no GPU
            if middle:
                pending += [places[:middle], places[middle:]]
            else:
                slots[places[0]] = error
    return [_typed(slots[place]) for place in range(len(chunk))]


def _typed(slot: Slot | Exception) -> Slot | Exception:
    """An error as one of ours; a model may raise anything, and who explains millions of graphs waits for one type."""
    if not isinstance(slot, Exception) or isinstance(slot, RCExplainerError):
        return slot
    error = ModelError(f"the model raised {type(slot).__name__} on this instance: {slot}")
    error.__cause__ = slot
    return error


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory did not suffice; the CPU has no error of its own for it."""
    said = ("can't allocate memory", "not enough memory")  # by the CPU, on Linux and on Windows
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(words in str(error) for words in said)


@cache
def tell_memory() -> None:
    """Say once that batches are halved."""
    log.warning("memory does not suffice for a batch of graphs: it is halved and tried again, as are later ones")


def candidate_masks(candidates: Candidates) -> CandidateMasks:
    """The candidates as one mask or a list.

    Raises:
        RCExplainerError: They are neither a tensor nor a list of tensors.
    """
    if candidates is None or isinstance(candidates, Tensor):
        return candidates
    several = isinstance(candidates, list | tuple)
    values = candidates if several else ()
    wrong = next((f"a list with {short_repr(one)}" for one in values if not isinstance(one, Tensor)), None)
    if not several or wrong is not None:
        raise RCExplainerError(
            "candidates must be a boolean tensor with a value for each edge, or a list of them, got "
            f"{wrong if several else type(candidates).__name__}"
        )
    return list(candidates)


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


def check_mask(mask: object, graph: AnyGraph, where: str) -> None:
    """Refuse anything but a boolean mask of the graph's edges."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (graph.num_edges,):
        raise GraphError(f"the candidates of {where} must be a boolean mask of its {graph.num_edges} edges")
