"""Explanations of graphs, nodes or links as lines of a table and as one JSON document."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.cli.explanation_record import (
    disclosed_label,
    edge_labels,
    explanation_record,
    identity,
    prediction_text,
)
from rcexplainer.cli.instance_index import Place
from rcexplainer.core.budget import Budget, Seconds
from rcexplainer.datasets import GraphDataset
from rcexplainer.disclosure import Disclosure
from rcexplainer.errors import ExplainInterrupt, TargetError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.tasks.index import Pair

CELL_EDGES = 3  # edges in a cell of the table
CELL_SMILES = 14  # characters of a SMILES in a cell


@dataclass(frozen=True, eq=False)
class ExplainedInstance:
    """The explanation of a graph, node or link, or the reason why there is none.

    Attributes:
        index: As the user names it: a graph by its place, a node by its number, a link by its two nodes.
        position: A graph's place in the dataset, the node, or the pair of nodes.
        label: Name of its class, where it has one.
        result: The explanation or the failure.
    """

    index: Place
    position: Place
    label: str | None
    result: Explanation | Failure


@dataclass(frozen=True, eq=False)
class Remainder:
    """What an interrupt left out.

    Attributes:
        asked: Number of instances that were to be explained.
        interrupt: The interrupt.
    """

    asked: int
    interrupt: ExplainInterrupt


@dataclass(frozen=True, eq=False)
class ExplanationReport:
    """Explanations of some instances of a dataset.

    Attributes:
        data: The dataset, with names of the classes.
        model: The network: a file or `module:function`.
        explainer: File of the explainer.
        seed: Seed of the split; None where there is none.
        part: train, val or test; None: they were chosen among all instances.
        search: How counterfactuals were searched for.
        confidence: The probability that another class had to reach; None: it had to be the predicted one.
        refine: Model runs that each ranking was allowed; None: none.
        target: The class that counterfactuals had to lead to; None: any other than the predicted one.
        budget: What each search might cost; None: the default.
        explained: The instances, in the order asked for.
        fitted: The explainer.
        disclosed: What the explanations tell.
        remainder: What an interrupt left out; None: nothing.
    """

    data: GraphDataset
    model: str
    explainer: str
    seed: int | None
    part: str | None
    search: str
    confidence: float | None
    refine: int | None
    target: int | None
    budget: Budget
    explained: tuple[ExplainedInstance, ...]
    fitted: FittedExplainer
    disclosed: Disclosure = "scores"
    remainder: Remainder | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return a line for each instance."""
        return [self._name(one) | self._origin(one) | self._row(one.result) for one in self.explained]

    def _name(self, one: ExplainedInstance) -> dict[str, Any]:
        """The cell that says which instance it is."""
        if self.data.task == "graph":
            return {"index": one.index}
        return {self.data.task: self._label(one.position)}

    def _label(self, position: Place) -> str:
        """A node, or the two nodes of a link, by their names, where these are told."""
        graph = self.data.graph
        label, count = disclosed_label(graph, self.data.node_names, self.disclosed), int(graph.num_nodes or 0)
        nodes = (position,) if isinstance(position, int) else position
        return "–".join(label(node) if 0 <= node < count else str(node) for node in nodes)

    def _origin(self, one: ExplainedInstance) -> dict[str, Any]:
        """Cells for the origin of a graph: its id, or else its line in the file and the start of its SMILES."""
        found = self._identity(one)
        if "id" in found:
            return {"id": found["id"]}
        smiles = str(found.get("smiles", ""))
        return found | ({"smiles": f"{smiles[: CELL_SMILES - 1]}…"} if len(smiles) > CELL_SMILES else {})

    def _row(self, one: Explanation | Failure) -> dict[str, Any]:
        """An explanation, or its error, as cells."""
        if isinstance(one, Failure):
            return {"error": " ".join(self._reason(one).split())}
        row: dict[str, Any] = {"edges": len(one.units)} if one.disclosed == "scores" else {}
        row["predicted"] = prediction_text(self.data.class_names, one.prediction, one.probabilities)
        if one.disclosed == "scores":
            best = one.unit_scores.argsort(descending=True, stable=True)
            row["highest_scores"] = _few(edge_labels(one, best[:CELL_EDGES], self.data.node_names))
        if one.disclosed == "prediction" or (counterfactual := one.counterfactual) is None:
            return row
        return row | {
            "without": _few(edge_labels(one, one.removed_units, self.data.node_names)),
            "then": prediction_text(self.data.class_names, counterfactual.prediction, counterfactual.probabilities),
            "flipped": counterfactual.flipped,
            "minimal": counterfactual.minimal,
        }

    def _reason(self, one: Failure) -> str:
        """Why there is no explanation."""
        return f"already predicted {self._target}" if isinstance(one.error, TargetError) else str(one.error)

    @property
    def _target(self) -> str | None:
        """Name of the class to lead to, if one was chosen."""
        return None if self.target is None else self.data.class_names[self.target]

    @property
    def _already(self) -> int:
        """Number of instances that are of the class to lead to without any deletion."""
        failures = (one.result for one in self.explained if isinstance(one.result, Failure))
        return sum(isinstance(one.error, TargetError) for one in failures)

    def caption(self) -> str:
        """Return the numbers of instances, model runs spent on rankings, verified flips and failures."""
        good = [one.result for one in self.explained if isinstance(one.result, Explanation)]
        source = self.data.name if self.part is None else f"the {self.part} part of {self.data.name}"
        text = f"{len(good)} {self.data.task}{'' if len(good) == 1 else 's'} of {source}"
        if runs := max((one.refined for one in good), default=0):
            text += f"; edges ranked with up to {runs} model run{'s' * (runs > 1)} for each {self.data.task}"
        if good and self.search != "none" and self.disclosed != "prediction":
            flipped = sum(one.counterfactual is not None and one.counterfactual.flipped for one in good)
            text += f"; without the edges listed, the prediction of {flipped} is verified to change"
            if self.target is not None:
                text += f" to {self._target}"
            if self.confidence is not None:
                text += f"{' to a class' * (self.target is None)} with a probability of at least {self.confidence:g}"
            if spent := sum(one.counterfactual is not None and one.counterfactual.exhausted for one in good):
                text += f"; the search of {spent} ended with its budget"
        if already := self._already:
            text += f"; {already} {'is' if already == 1 else 'are'} already predicted {self._target}"
            text += "" if good else ": --predicted CLASS chooses those that are predicted as another one"
        if failed := len(self.explained) - len(good) - already:
            text += f"; {failed} could not be explained"
        if self.data.bad_rows:
            rows = len(self.data.bad_rows)
            text += f"; {rows} row{'' if rows == 1 else 's'} of the file could not be read"
        return text

    def to_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints and `--out` writes."""
        document: dict[str, Any] = {
            "dataset": self.data.name,
            "task": self.data.task,
            "model": self.model,
            "explainer": self.explainer,
            "seed": self.seed,
            "part": self.part,
            "search": None if self.disclosed == "prediction" else self.search,
            "confidence": self.confidence,
            "refine": self.refine,
            "target_class": self._target,
            "budget": f"{self.budget.seconds:g}s" if isinstance(self.budget, Seconds) else self.budget,
            "disclose": self.disclosed,
            "already_predicted": self._already,
            "failed": sum(isinstance(one.result, Failure) for one in self.explained) - self._already,
            "explanations": [self._record(one) for one in self.explained],
        }
        if self.remainder is not None:
            document["interrupted"] = {"explained": len(self.explained), "asked": self.remainder.asked}
        if self.data.bad_rows:
            document["bad_rows"] = [
                {"row": one.row} | ({"smiles": one.value, "error": one.reason} if self.disclosed == "scores" else {})
                for one in self.data.bad_rows
            ]
        return document

    def _record(self, one: ExplainedInstance) -> dict[str, Any]:
        """One instance as JSON values."""
        record: dict[str, Any]
        if self.data.task == "graph":
            record = {"index": one.index, "position": one.position}
        else:
            record = {self.data.task: one.position, "name": self._label(one.position)}
        if self.disclosed == "scores":
            record["label"] = one.label
        if isinstance(one.result, Explanation):
            return record | explanation_record(one.result, self.data)
        return record | self._identity(one) | {"error": self._reason(one.result)}

    def _identity(self, one: ExplainedInstance) -> dict[str, Any]:
        """Where a graph comes from; nothing for nodes and links."""
        whole = self.data.task == "graph"
        return identity(self.data[one.position], self.disclosed) if whole and isinstance(one.position, int) else {}


def _few(names: list[str]) -> str:
    """The first names, and the number of the others."""
    more = f" +{len(names) - CELL_EDGES}" if len(names) > CELL_EDGES else ""
    return (", ".join(names[:CELL_EDGES]) + more) or "–"


def class_label(data: GraphDataset, position: Place) -> str | None:
    """Name the class of an instance, where it has exactly one.

    Args:
        data: The dataset, with names of the classes.
        position: A graph's place in the dataset, a node, or a pair of nodes.

    Returns:
        The name; None where it has no class, or none that is known.
    """
    if isinstance(position, int):
        label = (data[position] if data.task == "graph" else data.graph).get("y")
        if data.task == "node" and isinstance(label, Tensor):
            label = label[position] if label.dim() == 1 and 0 <= position < len(label) else None
    else:
        label = _link_label(data.graph, position)
    if not isinstance(label, Tensor) or label.numel() != 1 or label.is_floating_point():
        return None
    return data.class_names[int(label)] if 0 <= int(label) < data.num_classes else None


def _link_label(graph: Data, pair: Pair) -> Tensor | None:
    """The label of a pair of nodes, where it is one of `edge_label_index`."""
    pairs, labels = graph.get("edge_label_index"), graph.get("edge_label")
    if not isinstance(pairs, Tensor) or not isinstance(labels, Tensor):
        return None
    return labels[(pairs.cpu() == torch.tensor(pair).unsqueeze(1)).all(0).to(labels.device)][:1]
