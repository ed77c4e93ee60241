"""From the graphs of rows to a table of results, a row for each, by array operations.

column              type                        what it says
row                 int64                       the number of the row in the input, from 0
id, smiles          string                      as in the input
prediction, class   int32, string               the predicted class
probabilities       list<float>                 of all classes
removed             list<fixed_size_list<int32>[2]>   pairs of nodes: the edges without which it is another class
new_prediction, new_class, new_probabilities    the same, without these edges
flipped             bool                        whether the class changes (or is reached, if one was chosen)
minimal             bool                        whether every removed edge is needed
exhausted           bool                        whether the search reached its budget: the best so far
edges, scores       lists                       pairs of nodes and their scores: all by number, or the best first
error               string                      why there is no explanation; all others but row, id, smiles are null;
                                                prediction and class are not, where it is of the chosen class already
                                                (without scores, of a row that cannot be read: that alone)
model, explainer    string                      fingerprints of what explained the row
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.segments import ranks
from rcexplainer.core.units import Units, find_units
from rcexplainer.datasets.row_graphs import RowGraphs
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.errors import TargetError
from rcexplainer.explanation import Failure
from rcexplainer.method.explanations import BatchInstances, ExplanationColumns, Explanations
from rcexplainer.method.fitted_explainer import FittedExplainer

if TYPE_CHECKING:
    import pyarrow as pa


# The reason quotes the row: a SMILES, which is the graph itself.
UNREADABLE = "the row cannot be read; why is told with disclose='scores'"


@dataclass(frozen=True)
class Stamp:
    """What explains the rows.

    Attributes:
        model: Fingerprint of the network.
        explainer: Fingerprint of the explainer.
        class_names: Names of its classes.
    """

    model: str
    explainer: str
    class_names: tuple[str, ...]


def explained_rows(
    fitted: FittedExplainer, rows: RowGraphs, options: RowOptions, stamp: Stamp, start: int = 0
) -> "pa.Table":
    """Explain rows.

    Args:
        fitted: The explainer.
        rows: Their graphs.
        options: How to explain.
        stamp: What explains them.
        start: The number of the first row.

    Returns:
        A table with the columns above; `edges` and `scores` only if they are to be kept.
    """
    columns = _Results(rows.count, fitted.split.num_classes)
    for place, text in rows.errors.items():
        columns.errors[place] = text if options.disclose == "scores" else UNREADABLE
    for places, graphs in rows.groups:
        results: Explanations = options.explained(fitted, _as_fitted(graphs, fitted.kind.dtype))
        columns.add(results, np.asarray(places), options.scores, fitted.chosen(options.target_class))
    return columns.table(rows, options, stamp, start)


class _Results:
    """What is known of rows, column by column."""

    def __init__(self, count: int, classes: int) -> None:
        self.errors: list[str | None] = [None] * count
        self.before = np.full((count, classes), np.nan, np.float32)
        self.after = np.full((count, classes), np.nan, np.float32)
        self.prediction = np.full(count, -1, np.int32)
        self.flags = np.zeros((count, 3), bool)  # flipped, minimal, exhausted
        self.removed = _PairLists(count)
        self.edges = _PairLists(count)
        self.scores: list[np.ndarray] = []

    def add(self, results: Explanations, places: np.ndarray, scores: int | str, target: int | None) -> None:
        for failure in results.failures:
            place = int(places[failure.index])
            self.errors[place] = error_text(failure)
            if isinstance(failure.error, TargetError) and target is not None:
                self.prediction[place] = target
        for columns, at, rows in results.columns():
            self._add(columns, places[at], np.asarray(rows), scores)

    def _add(self, columns: ExplanationColumns, places: np.ndarray, rows: np.ndarray, scores: int | str) -> None:
        self.before[places] = columns.probabilities[rows].numpy()
        self.prediction[places] = np.asarray(columns.predictions)[rows]
        place_of = np.full(len(columns), -1)
        place_of[rows] = places
        units = local_units(columns)
        owner = place_of[units.owner.numpy()]
        if (found := columns.found) is not None:
            self.after[places] = found.probabilities[rows].numpy()
            lists = (_flipped(columns), found.minimal, found.exhausted)
            self.flags[places] = np.stack([np.asarray(one)[rows] for one in lists], 1)
            gone = torch.zeros(len(units), dtype=torch.bool)
            gone[units.of_edge[found.removed]] = True
            self.removed.add(owner, units.pair, gone.numpy() & (owner >= 0))
        if scores != "none":
            value = torch.zeros(len(units))
            value[units.of_edge[units.of_edge >= 0]] = columns.scores[units.of_edge >= 0]
            rank = ranks(value, units.owner, units.ptr).numpy()
            kept = (owner >= 0) & (True if scores == "all" else rank < int(scores))
            self.edges.add(owner, units.pair, kept, None if scores == "all" else rank)
            self.scores.append(value.numpy()[kept])

    def table(self, rows: RowGraphs, options: RowOptions, stamp: Stamp, start: int) -> "pa.Table":
        import pyarrow as pa

        failed = np.asarray([error is not None for error in self.errors], bool)
        without, unknown = failed | (not options.searched), self.prediction < 0
        names = np.asarray(stamp.class_names, object)
        nothing: list[str | None] = [None] * rows.count
        new = _classes(self.after)
        return pa.table(
            {
                "row": pa.array(np.arange(start, start + rows.count)),
                "id": pa.array(rows.names.get("id", nothing), pa.string()),
                # A SMILES is the graph itself: it is told only with everything else.
                "smiles": pa.array(
                    rows.names.get("smiles", nothing) if options.disclose == "scores" else nothing, pa.string()
                ),
                "prediction": pa.array(self.prediction, mask=unknown),
                "class": pa.array(names[self.prediction], pa.string(), mask=unknown),
                "probabilities": _rows_array(self.before, failed),
                "removed": self.removed.array(without),
                "new_prediction": pa.array(new, mask=without),
                "new_class": pa.array(names[new], pa.string(), mask=without),
                "new_probabilities": _rows_array(self.after, without),
                "flipped": pa.array(self.flags[:, 0], mask=without),
                "minimal": pa.array(self.flags[:, 1], mask=without),
                "exhausted": pa.array(self.flags[:, 2], mask=without),
                **({} if options.scores == "none" else self._score_arrays(failed)),
                "error": pa.array(self.errors, pa.string()),
                "model": pa.array([stamp.model] * rows.count, pa.string()),
                "explainer": pa.array([stamp.explainer] * rows.count, pa.string()),
            }
        )

    def _score_arrays(self, failed: np.ndarray) -> dict[str, Any]:
        import pyarrow as pa

        values = np.concatenate([*self.scores, np.zeros(0, np.float32)]).astype(np.float32)
        order, offsets = self.edges.order()
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32(), mask=_ends(failed)), pa.array(values[order]))
        return {"edges": self.edges.array(failed), "scores": lists}


class _PairLists:
    """Pairs of nodes that belong to rows, collected in any order."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: list[np.ndarray] = [np.zeros(0, np.int64)]
        self.pairs: list[np.ndarray] = [np.zeros((0, 2), np.int32)]
        self.ranks: list[np.ndarray] = [np.zeros(0, np.int64)]

    def add(self, owner: np.ndarray, pair: Tensor, kept: np.ndarray, rank: np.ndarray | None = None) -> None:
        self.rows.append(owner[kept])
        self.pairs.append(pair.T.numpy()[kept].astype(np.int32))
        self.ranks.append((np.arange(len(owner)) if rank is None else rank)[kept])

    def order(self) -> tuple[np.ndarray, np.ndarray]:
        """The pairs row by row, and where each row begins."""
        rows = np.concatenate(self.rows)
        counts = np.bincount(rows, minlength=self.count)
        return np.lexsort((np.concatenate(self.ranks), rows)), np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def array(self, missing: np.ndarray) -> "pa.Array":
        import pyarrow as pa

        order, offsets = self.order()
        flat = pa.array(np.concatenate(self.pairs)[order].reshape(-1), pa.int32())
        pairs = pa.FixedSizeListArray.from_arrays(flat, 2)
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32(), mask=_ends(missing)), pairs)


def _as_fitted(graphs: Batch | list[Data], dtype: torch.dtype | None) -> Batch | list[Data]:
    """Graphs of a table with the model's type of numbers: many programs write doubles, or features as whole numbers."""
    if isinstance(graphs, Batch) and dtype is not None:
        for key, value in graphs.to_dict().items():
            if isinstance(value, Tensor) and (key == "x" or (value.is_floating_point() and dtype.is_floating_point)):
                graphs[key] = value.to(dtype)
    return graphs


def local_units(columns: ExplanationColumns) -> Units:
    """The units of all instances of a batch; their nodes are numbered as in each graph.

    Args:
        columns: Results for whole graphs.
    """
    if isinstance(columns.asked, BatchInstances):
        batch = columns.asked._on_cpu
        index, owner, ptr = batch.edge_index, batch.batch, batch.ptr
    else:
        counts = torch.tensor([int(one.graph.num_nodes or 0) for one in columns.asked])
        ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        owner = torch.arange(len(counts)).repeat_interleave(counts)
        edges = [one.graph.edge_index.cpu() + int(ptr[place]) for place, one in enumerate(columns.asked)]
        index = torch.cat(edges, 1)
    units = find_units(index, len(owner), owner, len(columns))
    return Units(units.of_edge, units.pair - ptr[units.owner], units.owner, units.ptr)


def error_text(failure: Failure) -> str:
    """Why a row has no explanation; its number is the row's, not the one it had in a batch."""
    text = str(failure.error) or type(failure.error).__name__
    return text.replace(f"graph {failure.index}", "the graph", 1)


def _flipped(columns: ExplanationColumns) -> np.ndarray:
    """[n] as `Counterfactual.flipped` has it."""
    found = columns.found
    assert found is not None
    after, source = found.probabilities.numpy(), np.asarray(columns.predictions)
    rows = np.arange(len(after))
    new = _classes(after)
    others = after.copy()
    others[rows, source] = -1.0
    reached = others.max(1) if found.target is None else after[:, found.target]
    right = new != source if found.target is None else new == found.target
    sure = True if found.confidence is None else ~(reached < np.float32(found.confidence))
    return right & sure & ~np.asarray(found.disputed, bool) & ~np.isnan(after).any(1)


def _classes(probabilities: np.ndarray) -> np.ndarray:
    """[n] the class with the highest probability; 0 where there is none."""
    return np.nan_to_num(probabilities, nan=-1.0).argmax(1).astype(np.int32)


def _rows_array(values: np.ndarray, missing: np.ndarray) -> "pa.Array":
    import pyarrow as pa

    counts = np.where(missing, 0, values.shape[1])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32(), mask=_ends(missing)), pa.array(values[~missing].reshape(-1))
    )


def _ends(missing: np.ndarray) -> np.ndarray:
    """A list array is null where its offset is; the last offset belongs to no row."""
    return np.append(missing, False)
