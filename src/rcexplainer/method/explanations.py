"""Results as columns: the tensors of a batch are kept as they are; an `Explanation` is made when one is looked at."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import overload

from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.disclosure import Disclosure
from rcexplainer.errors import ArgumentError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.field_check import FieldCheck
from rcexplainer.sources import AnyGraph, GraphSource
from rcexplainer.tasks.computation_graph import Instance


class BatchInstances(Sequence[Instance]):
    """The graphs of a `Batch` as instances, each taken out when it is asked for.

    Args:
        batch: A batch that PyG made.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    @cached_property
    def _on_cpu(self) -> Batch:
        return copy(self.batch).cpu()

    def __len__(self) -> int:
        return int(self.batch.num_graphs)

    def __getitem__(self, place: int) -> Instance:  # type: ignore[override]
        graph = self._on_cpu.get_example(place).clone()  # a view would keep the whole batch
        return Instance(graph, graph)


@dataclass(frozen=True, eq=False)
class CounterfactualColumns:
    """What a search found for a batch of instances, on the CPU."""

    removed: Tensor  # bool [E]
    probabilities: Tensor  # [n, C] after the deletion
    minimal: list[bool]
    disputed: list[bool]
    exhausted: list[bool]
    target: int | None
    confidence: float | None = None
    distance: list[float] | None = None  # NaN for an instance without a region


@dataclass(frozen=True, eq=False)
class ExplanationColumns:
    """What is known of a batch of instances, on the CPU; `columns[place]` is the explanation of one."""

    asked: Sequence[Instance]
    starts: list[int]  # [n + 1] where the edges of each instance begin
    scores: Tensor  # [E]
    probabilities: Tensor  # [n, C]
    predictions: list[int]
    class_names: tuple[str, ...]
    found: CounterfactualColumns | None
    relevance: Tensor | None = None  # [E]
    order: Tensor | None = None  # [E] the place of each edge in the order of deletion; None: by the scores
    refined: list[int] | None = None  # model runs spent on each ranking; None: it was left as it is
    checked: FieldCheck | None = None  # how answers were compared with a graph that is not in memory
    disclosed: Disclosure = "scores"  # otherwise scores and relevance are empty
    # Graphs on the CPU by their id, which stays theirs as the instances hold them: many instances may share one.
    _moved: dict[int, Data] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.predictions)

    def __getitem__(self, place: int) -> Explanation:
        one = self.asked[place]
        graph = self._on_cpu(one.graph)
        within = one.edge_ids is not None
        return Explanation(
            graph,
            self.scores[self.starts[place] : self.starts[place + 1]].clone(),
            self.predictions[place],
            self.probabilities[place].clone(),
            self.class_names,
            None if self.found is None else self._counterfactual(self.found, place, one, graph),
            one.index,
            copy(one.computation).cpu().clone() if within else None,
            one.edge_ids.clone() if one.edge_ids is not None else None,
            self._part(self.relevance, place),
            0 if self.refined is None else self.refined[place],
            one.node_ids.clone() if one.node_ids is not None else None,
            self.checked,
            self.disclosed,
            self._part(self.order, place),
        )

    def _part(self, values: Tensor | None, place: int) -> Tensor | None:
        """The values of the edges of one instance."""
        return None if values is None else values[self.starts[place] : self.starts[place + 1]].clone()

    def _on_cpu(self, graph: AnyGraph) -> AnyGraph:
        if isinstance(graph, GraphSource) or graph.edge_index.device.type == "cpu":
            return graph
        if id(graph) not in self._moved:
            self._moved[id(graph)] = copy(graph).cpu()
        return self._moved[id(graph)]

    def _counterfactual(
        self, found: CounterfactualColumns, place: int, one: Instance, graph: AnyGraph
    ) -> Counterfactual:
        distance = None if found.distance is None or isnan(found.distance[place]) else found.distance[place]
        columns = found.removed[self.starts[place] : self.starts[place + 1]].nonzero().flatten()
        return Counterfactual(
            graph,
            columns if one.edge_ids is None else one.edge_ids[columns],
            self.predictions[place],
            found.probabilities[place].clone(),
            found.minimal[place],
            found.target,
            found.disputed[place],
            found.exhausted[place],
            found.confidence,
            distance,
        )


Slot = tuple[ExplanationColumns, int]  # a place in the columns of a batch


Result = Slot | Explanation | Failure


def filled(slot: Result) -> Explanation | Failure:
    """The result in a slot."""
    return slot[0][slot[1]] if isinstance(slot, tuple) else slot


class Explanations(Sequence[Explanation | Failure]):
    """The results of a call of `explain`, in the order of its input; read-only.

    An `Explanation` is made when it is first looked at, and kept. Until then a slice holds the tensors of the whole
    call; pickled, it is explanations alone.

    Args:
        slots: The results, or where they are; columns without a failure stand for all their places.
    """

    def __init__(self, slots: Sequence[Result] | ExplanationColumns) -> None:
        self._slots = slots
        self._made: dict[int, Explanation | Failure] = {}

    @property
    def failures(self) -> list[Failure]:
        """What could not be explained."""
        if isinstance(self._slots, ExplanationColumns):
            return []
        return [slot for slot in self._slots if isinstance(slot, Failure)]

    def columns(self) -> list[tuple[ExplanationColumns, list[int], list[int]]]:
        """The results as columns, for those who need no single `Explanation`.

        Returns:
            Columns, places in the call, and the places in the columns that hold their results; failures are left out.
        """
        if isinstance(self._slots, ExplanationColumns):
            every = list(range(len(self._slots)))
            return [(self._slots, every, every)]
        found: dict[int, tuple[ExplanationColumns, list[int], list[int]]] = {}
        for place, slot in enumerate(self._slots):
            if isinstance(slot, tuple):
                columns, row = slot
                _, places, rows = found.setdefault(id(columns), (columns, [], []))
                places.append(place)
                rows.append(row)
        return list(found.values())

    def __len__(self) -> int:
        return len(self._slots)

    @overload
    def __getitem__(self, place: int) -> Explanation | Failure: ...
    @overload
    def __getitem__(self, place: slice) -> "Explanations": ...

    def __getitem__(self, place: int | slice) -> "Explanation | Failure | Explanations":
        if isinstance(place, slice):
            places = range(len(self))[place]
            part = Explanations([self._slot(old) for old in places])
            part._made = {new: self._made[old] for new, old in enumerate(places) if old in self._made}
            return part
        try:
            where = range(len(self))[place]
        except IndexError:
            raise IndexError(f"there are {len(self)} explanations, numbered from 0: got {place}") from None
        except TypeError:
            found = type(place).__name__
            raise ArgumentError(f"explanations are indexed by whole numbers and slices, got {found}") from None
        if where not in self._made:
            self._made[where] = filled(self._slot(where))
        return self._made[where]

    def __reduce__(self) -> tuple[type["Explanations"], tuple[list[Explanation | Failure]]]:
        return Explanations, (list(self),)

    def _slot(self, where: int) -> Result:
        return (self._slots, where) if isinstance(self._slots, ExplanationColumns) else self._slots[where]

    def __iter__(self) -> Iterator[Explanation | Failure]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(repr(one) for one in self[:3])
        more = f", … {len(self)} in all" if len(self) > 3 else ""
        return f"[{shown}{more}]"
