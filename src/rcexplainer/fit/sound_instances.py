"""Training instances on which the model raises are found, named and left out: they do not cost the others."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from torch_geometric.data import Data

from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.fit.data import Predictions
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.inputs import out_of_memory

log = logging.getLogger(__name__)
Seen = TypeVar("Seen", bound=Predictions)


def sound_instances(
    read: Callable[[SplitModel, Sequence[Data]], Seen], split: SplitModel, graphs: Sequence[Data], name: str
) -> Seen:
    """Run the model on instances; those on which it raises are left out, with a warning.

    Args:
        read: Runs the model on all of them.
        split: The model.
        graphs: The instances.
        name: What they are for, in words.

    Raises:
        GraphError: The model raises on every instance.
        RCExplainerError: Memory does not suffice for all of them together.
    """
    try:
        return read(split, graphs)
    except RCExplainerError:
        raise
    except Exception as error:  # noqa: BLE001  a model may raise anything
        first = error
    sound, wrong = _parted(read, split, graphs)
    said = f"{type(first).__name__}: {first}".strip(": ")
    if not wrong and out_of_memory(first):
        raise RCExplainerError(
            f"memory does not suffice for the {len(graphs)} {name} instances ({said}): take fewer or smaller ones, or "
            "device='cpu'"
        ) from first
    if not wrong:
        raise first
    if not sound:
        raise GraphError(f"the model raises on each of the {len(graphs)} {name} instances: {said}") from first
    log.warning(
        "%d of %d %s instances are left out, because the model raises on them: %s", len(wrong), len(graphs), name, said
    )
    return read(split, sound)


def _parted(
    read: Callable[[SplitModel, Sequence[Data]], Predictions], split: SplitModel, graphs: Sequence[Data]
) -> tuple[list[Data], list[Data]]:
    """Instances on which the model answers, and those on which it raises, in their order; by halves."""
    sound: list[Data] = []
    wrong: list[Data] = []
    pending = [list(graphs[len(graphs) // 2 :]), list(graphs[: len(graphs) // 2])]
    while pending:
        some = pending.pop()
        if not some:
            continue
        try:
            read(split, some)
            sound += some
        except Exception:  # noqa: BLE001  a model may raise anything
            half = len(some) // 2
            if half:
                pending += [some[half:], some[:half]]
            else:
                wrong += some
    return sound, wrong
