"""Explanations of a dataset's graphs by a saved explainer, as lines of a table and as one JSON document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

from torch import Tensor

from rcexplainer.cli.explanation_record import edge_labels, explanation_record, prediction_text
from rcexplainer.cli.saved_network import open_network
from rcexplainer.core.budget import Budget, Seconds, checked_budget
from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import load as load_explainer
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.device import usable_device
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.saving.documents import readable_file

PARTS = ("train", "val", "test")
CELL_EDGES = 3  # edges in a cell of the table


@dataclass(frozen=True, eq=False)
class ExplainedGraph:
    """One graph's explanation, or the reason why there is none.

    Attributes:
        index: The graph's place in its part.
        position: Its place in the dataset.
        label: Name of its class, where it has one.
        result: The explanation or the failure.
    """

    index: int
    position: int
    label: str | None
    result: Explanation | Failure


@dataclass(frozen=True, eq=False)
class ExplanationReport:
    """Explanations of some graphs of one part of a dataset.

    Attributes:
        data: The dataset.
        model: File of the network.
        explainer: File of the explainer.
        seed: Seed of the split.
        part: train, val or test.
        search: How counterfactuals were searched for.
        confidence: The probability that another class had to reach; None: it had to be the predicted one.
        explained: The graphs, in the order asked for.
        fitted: The explainer.
    """

    data: GraphDataset
    model: str
    explainer: str
    seed: int
    part: str
    search: str
    confidence: float | None
    explained: tuple[ExplainedGraph, ...]
    fitted: FittedExplainer

    def rows(self) -> list[dict[str, Any]]:
        """Return a line for each graph."""
        return [{"index": one.index} | self._row(one.result) for one in self.explained]

    def _row(self, one: Explanation | Failure) -> dict[str, Any]:
        """An explanation, or its error, as cells."""
        if isinstance(one, Failure):
            return {"error": " ".join(str(one.error).split())}
        best = one.unit_scores.argsort(descending=True, stable=True)
        row: dict[str, Any] = {
            "edges": len(one.units),
            "predicted": prediction_text(self.data.class_names, one.prediction, one.probabilities),
            "highest_scores": _few(edge_labels(one, best[:CELL_EDGES], self.data.node_names)),
        }
        if (counterfactual := one.counterfactual) is None:
            return row
        return row | {
            "without": _few(edge_labels(one, one.removed_units, self.data.node_names)),
            "then": prediction_text(self.data.class_names, counterfactual.prediction, counterfactual.probabilities),
            "flipped": counterfactual.flipped,
            "minimal": counterfactual.minimal,
        }

    def caption(self) -> str:
        """Return the numbers of graphs, verified flips and failures."""
        good = [one.result for one in self.explained if isinstance(one.result, Explanation)]
        text = f"{len(good)} {'graph' if len(good) == 1 else 'graphs'} of the {self.part} part of {self.data.name}"
        if self.search != "none":
            flipped = sum(one.counterfactual is not None and one.counterfactual.flipped for one in good)
            text += f"; without the edges listed, the prediction of {flipped} is verified to change"
            if self.confidence is not None:
                text += f" to a class with a probability of at least {self.confidence:g}"
            if spent := sum(one.counterfactual is not None and one.counterfactual.exhausted for one in good):
                text += f"; the search of {spent} ended with its budget"
        if failed := len(self.explained) - len(good):
            text += f"; {failed} could not be explained"
        return text

    def to_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints and `--out` writes."""
        return {
            "dataset": self.data.name,
            "model": self.model,
            "explainer": self.explainer,
            "seed": self.seed,
            "part": self.part,
            "search": self.search,
            "confidence": self.confidence,
            "failed": sum(isinstance(one.result, Failure) for one in self.explained),
            "explanations": [self._record(one) for one in self.explained],
        }

    def _record(self, one: ExplainedGraph) -> dict[str, Any]:
        """One graph as JSON values."""
        record = {"index": one.index, "position": one.position, "label": one.label}
        if isinstance(one.result, Failure):
            return record | {"error": str(one.result.error)}
        return record | explanation_record(one.result, self.data)


def _few(names: list[str]) -> str:
    """The first names, and the number of the others."""
    more = f" +{len(names) - CELL_EDGES}" if len(names) > CELL_EDGES else ""
    return (", ".join(names[:CELL_EDGES]) + more) or "–"


def parse_index(texts: Sequence[str]) -> list[int]:
    """Read the values of `--index`.

    Args:
        texts: Each holds one whole number, or several with commas or spaces between them.

    Returns:
        The numbers in the order given.

    Raises:
        RCExplainerError: A text is not a whole number.
    """
    try:
        return [int(number) for text in texts for number in text.replace(",", " ").split()]
    except ValueError:
        raise RCExplainerError(f"--index takes whole numbers, such as 0 or 0,5,7, got {' '.join(texts)!r}") from None


def parse_budget(text: str | None) -> Budget:
    """Read the value of `--budget`.

    Args:
        text: A number of model runs, a number of seconds with an `s`, or None.

    Returns:
        The budget; None for the default.

    Raises:
        RCExplainerError: It is neither.
    """
    if text is None:
        return None
    try:
        return Seconds(float(text[:-1])) if text.endswith("s") else checked_budget(int(text))
    except ValueError:
        raise RCExplainerError(
            f"--budget takes a number of model runs, such as 500, or seconds, such as 2.5s, got {text!r}"
        ) from None


def explain_saved(
    dataset: str,
    model: Path,
    explainer: Path,
    *,
    part: str = "test",
    index: Sequence[int] | None = None,
    limit: int | None = None,
    predicted: str | None = None,
    search: str = "prefix",
    budget: Budget = None,
    confidence: float | None = None,
    refine: int | None = None,
    progress: bool = False,
    seed: int | None = None,
    root: Path | None = None,
    device: str | None = None,
) -> ExplanationReport:
    """Explain graphs of one part of a dataset.

    A graph that cannot be explained keeps its place with its error, whatever class was asked for.

    Args:
        dataset: Name of the dataset the network was trained on.
        model: File of the network.
        explainer: File of the explainer.
        part: train, val or test.
        index: Places of the graphs in the part; all by default.
        limit: At most this number of graphs.
        predicted: Only graphs predicted as this class, by name or number.
        search: none, prefix or greedy.
        budget: What the search may cost for each graph, as for `FittedExplainer.explain`.
        confidence: The probability that another class must reach, as for `FittedExplainer.explain`.
        refine: Model runs to spend on the ranking of each graph's edges; None: none.
        progress: Whether to show a progress bar.
        seed: As for `open_network`.
        root: Folder of downloaded datasets.
        device: Device to explain on; the CPU by default.

    Returns:
        The explanations.

    Raises:
        RCExplainerError: An argument is out of range, no graph is left, or the files do not belong together.
    """
    if part not in PARTS:
        raise RCExplainerError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    if search not in get_args(Search):
        raise RCExplainerError(f"search must be none, prefix or greedy, got {search!r}")
    readable_file(explainer, "--explainer", "rcexplainer fit --out FILE")
    network = open_network(dataset, model, seed, root=root, device=device)
    fitted = replace(load_explainer(explainer, network.model), device=usable_device(device))
    data = network.data
    positions = getattr(data.split, part).tolist()
    places = list(range(len(positions))) if index is None else _in_range(index, len(positions), part)
    if predicted is not None:
        places = _predicted_as(fitted, data, positions, places, predicted, part)
    places = places[:limit]
    results = fitted.explain(
        [data[positions[place]] for place in places],
        search=cast(Search, search),
        on_error="keep",
        budget=budget,
        refine=refine,
        progress=progress,
        confidence=confidence,
    )
    explained = tuple(
        ExplainedGraph(place, positions[place], _label(data, positions[place]), result)
        for place, result in zip(places, results, strict=True)
    )
    return ExplanationReport(
        data, str(model), str(explainer), network.seed, part, search, confidence, explained, fitted
    )


def _in_range(index: Sequence[int], count: int, part: str) -> list[int]:
    """The places, if the part has them all."""
    for place in index:
        if not 0 <= place < count:
            raise RCExplainerError(
                f"the {part} part has {count} graphs: an index is from 0 to {count - 1}, got {place}"
            )
    return list(index)


def _predicted_as(
    fitted: FittedExplainer, data: GraphDataset, positions: list[int], places: list[int], wanted: str, part: str
) -> list[int]:
    """Places of the graphs that are predicted as a class, or cannot be predicted."""
    names = data.class_names
    numbers = [str(number) for number in range(len(names))]
    if wanted not in (*names, *numbers):
        raise RCExplainerError(f"unknown class {wanted!r}; known: {', '.join(names)}")
    label = names.index(wanted) if wanted in names else int(wanted)
    scored = fitted.explain([data[positions[place]] for place in places], search="none", on_error="keep")
    found = [
        place for place, one in zip(places, scored, strict=True) if isinstance(one, Failure) or one.prediction == label
    ]
    if not found:
        raise RCExplainerError(f"none of {len(places)} graphs of the {part} part is predicted as {names[label]}")
    return found


def _label(data: GraphDataset, position: int) -> str | None:
    """The class of a graph by its name, where it has exactly one."""
    label = data[position].y
    return data.class_names[int(label)] if isinstance(label, Tensor) and label.numel() == 1 else None
