"""Explanations of a dataset's graphs by a saved explainer, as lines of a table and as one JSON document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

from torch import Tensor

from rcexplainer.cli.fit_ import open_gnn
from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.explainer import load as load_explainer
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.device import usable_device
from rcexplainer.method.results import Search
from rcexplainer.saving.documents import ready

PARTS = ("train", "val", "test")
TOP = 10  # edges with the highest scores in the document
SHOWN = 3  # edges in a cell of the table


@dataclass(frozen=True, eq=False)
class Explained:
    """The explanation of one graph of a part, or why there is none."""

    index: int  # in its part
    position: int  # in the dataset
    label: str | None
    result: Explanation | Failure


@dataclass(frozen=True, eq=False)
class ExplainReport:
    data: GraphDataset
    gnn: str
    explainer: str
    seed: int
    part: str
    search: str
    explained: tuple[Explained, ...]

    def rows(self) -> list[dict[str, Any]]:
        """A line for each graph."""
        return [{"index": one.index} | self._row(one.result) for one in self.explained]

    def _row(self, one: Explanation | Failure) -> dict[str, Any]:
        if isinstance(one, Failure):
            return {"error": " ".join(str(one.error).split())}
        best = one.unit_scores.argsort(descending=True, stable=True)
        row: dict[str, Any] = {
            "edges": len(one.units),
            "predicted": likely(self.data.class_names, one.prediction, one.probabilities),
            "highest_scores": _few(edge_labels(one, best[:SHOWN], self.data.node_names)),
        }
        if (found := one.counterfactual) is None:
            return row
        return row | {
            "without": _few(edge_labels(one, one.removed_units, self.data.node_names)),
            "then": likely(self.data.class_names, found.prediction, found.probabilities),
            "flipped": found.flipped,
            "minimal": found.minimal,
        }

    def caption(self) -> str:
        good = [one.result for one in self.explained if isinstance(one.result, Explanation)]
        text = f"{len(good)} {'graph' if len(good) == 1 else 'graphs'} of the {self.part} part of {self.data.name}"
        if self.search != "none":
            flipped = sum(one.counterfactual is not None and one.counterfactual.flipped for one in good)
            text += f"; without the edges named, the prediction of {flipped} is verified to change"
        if failed := len(self.explained) - len(good):
            text += f"; {failed} could not be explained"
        return text

    def to_json(self) -> dict[str, Any]:
        return {
            "dataset": self.data.name,
            "gnn": self.gnn,
            "explainer": self.explainer,
            "seed": self.seed,
            "part": self.part,
            "search": self.search,
            "failed": sum(isinstance(one.result, Failure) for one in self.explained),
            "explanations": [self._record(one) for one in self.explained],
        }

    def _record(self, one: Explained) -> dict[str, Any]:
        record = {"index": one.index, "position": one.position, "label": one.label}
        if isinstance(one.result, Failure):
            return record | {"error": str(one.result.error)}
        return record | explanation_record(one.result, self.data)


def explanation_record(one: Explanation, data: GraphDataset) -> dict[str, Any]:
    """One explanation as JSON values: edges are pairs of nodes, counted from 0 within the graph."""
    best = one.unit_scores.argsort(descending=True, stable=True)[:TOP]
    top = zip(
        one.units.pair[:, best].T.tolist(),
        edge_labels(one, best, data.node_names),
        one.unit_scores[best].tolist(),
        strict=True,
    )
    record: dict[str, Any] = {
        "nodes": int(one.graph.num_nodes or 0),
        "edges": len(one.units),
        "prediction": data.class_names[one.prediction],
        "probabilities": dict(zip(data.class_names, one.probabilities.tolist(), strict=True)),
        "top": [{"edge": pair, "name": name, "score": score} for pair, name, score in top],
        "above_half": int((one.unit_scores > 0.5).sum()),
        "counterfactual": None,
    }
    if (found := one.counterfactual) is not None:
        gone = one.removed_units
        record["counterfactual"] = {
            "removed": one.units.pair[:, gone].T.tolist(),
            "names": edge_labels(one, gone, data.node_names),
            "prediction": data.class_names[found.prediction],
            "probabilities": dict(zip(data.class_names, found.probabilities.tolist(), strict=True)),
            "flipped": found.flipped,
            "minimal": found.minimal,
        }
    return record


def edge_labels(one: Explanation, units: Tensor, node_names: Sequence[str]) -> list[str]:
    """Edges by the names of their nodes, such as the atoms in `c5–N7`; where nodes have none, by their numbers."""
    kinds = one.graph.x.argmax(1).tolist() if node_names else []
    # A name that ends in a digit is kept apart from the node's number: `atom 1:5` is node 5.
    prefix = [node_names[kind] + ":" * node_names[kind][-1:].isdigit() for kind in kinds]
    prefix = prefix or [""] * int(one.graph.num_nodes or 0)
    return [f"{prefix[u]}{u}–{prefix[v]}{v}" for u, v in one.units.pair[:, units].T.tolist()]


def likely(class_names: Sequence[str], prediction: int, probabilities: Tensor) -> str:
    """A prediction and how sure it is, such as `house 0.98`."""
    return f"{class_names[prediction]} {float(probabilities[prediction]):.2f}"


def _few(names: list[str]) -> str:
    more = f" +{len(names) - SHOWN}" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) + more) or "–"


def parse_index(texts: Sequence[str]) -> list[int]:
    """Positions, each text one of them or several with commas or spaces between."""
    try:
        return [int(number) for text in texts for number in text.replace(",", " ").split()]
    except ValueError:
        raise RCExplainerError(f"--index takes whole numbers, such as 0 or 0,5,7, got {' '.join(texts)!r}") from None


def explain_saved(
    dataset: str,
    gnn: Path,
    explainer: Path,
    *,
    part: str = "test",
    index: Sequence[int] | None = None,
    limit: int | None = None,
    predicted: str | None = None,
    search: str = "prefix",
    out: Path | None = None,
    seed: int | None = None,
    root: Path | None = None,
    device: str | None = None,
) -> ExplainReport:
    """Explain graphs of one part of the split: those at `index`, or predicted so, or the first ones, or all.

    A graph that cannot be explained is a line with its error, whatever it may be predicted as; the others are there.
    """
    if part not in PARTS:
        raise RCExplainerError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    if search not in get_args(Search):
        raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")
    if out is not None:
        ready(out)
    opened = open_gnn(dataset, gnn, seed, root=root, device=device)
    fitted = replace(load_explainer(explainer, opened.model), device=usable_device(device))
    data = opened.data
    positions = getattr(data.split, part).tolist()
    places = list(range(len(positions))) if index is None else _in_range(index, len(positions), part)
    if predicted is not None:
        places = _predicted_as(fitted, data, positions, places, predicted, part)
    places = places[:limit]
    results = fitted.explain([data[positions[place]] for place in places], search=cast(Search, search), on_error="keep")
    explained = tuple(
        Explained(place, positions[place], _label(data, positions[place]), result)
        for place, result in zip(places, results, strict=True)
    )
    return ExplainReport(data, str(gnn), str(explainer), opened.seed, part, search, explained)


def _in_range(index: Sequence[int], count: int, part: str) -> list[int]:
    for place in index:
        if not 0 <= place < count:
            raise RCExplainerError(
                f"the {part} part has {count} graphs: an index is from 0 to {count - 1}, got {place}"
            )
    return list(index)


def _predicted_as(
    fitted: FittedRCExplainer, data: GraphDataset, positions: list[int], places: list[int], wanted: str, part: str
) -> list[int]:
    """The places of graphs predicted as a class, given by its name or number, and of those that cannot be predicted."""
    names = data.class_names
    numbers = [str(number) for number in range(len(names))]
    if wanted not in (*names, *numbers):
        raise RCExplainerError(f"unknown class {wanted!r}; known: {', '.join(names)}")
    label = names.index(wanted) if wanted in names else int(wanted)
    first = fitted.explain([data[positions[place]] for place in places], search="none", on_error="keep")
    found = [
        place for place, one in zip(places, first, strict=True) if isinstance(one, Failure) or one.prediction == label
    ]
    if not found:
        raise RCExplainerError(f"none of {len(places)} graphs of the {part} part is predicted as {names[label]}")
    return found


def _label(data: GraphDataset, position: int) -> str | None:
    label = data[position].y
    return data.class_names[int(label)] if isinstance(label, Tensor) and label.numel() == 1 else None
