"""One explanation in words and as JSON values: edges by the names of their nodes, classes by theirs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets import GraphDataset
from rcexplainer.datasets.node_labels import NodeLabel, has_node_names, node_label
from rcexplainer.disclosure import Disclosure
from rcexplainer.explanation import Explanation

TOP_EDGES = 10  # edges with the highest scores in a record
# Attributes of a graph that say where it comes from. A SMILES is the graph itself, every edge of it.
IDENTITY: dict[Disclosure, tuple[str, ...]] = {
    "scores": ("id", "row", "smiles"),
    "counterfactual": ("id", "row"),
    "prediction": ("id", "row"),
}


def explanation_record(one: Explanation, data: GraphDataset) -> dict[str, Any]:
    """Convert an explanation to JSON values.

    Args:
        one: The explanation of a graph, node or link.
        data: The dataset, for the names of classes and nodes.

    Returns:
        Where the graph comes from (`id`, `row`, `smiles`) and what its nodes are called, where that is known;
        prediction, highest edge scores (with the relevance of the edge, if the method has that reading), the edges that
        are deleted first (`order`), the model runs spent on their ranking (`refined`), and counterfactual (None where
        none was searched for). An edge is a pair of nodes, counted from 0 within the graph. `nodes` and `edges` count
        what the prediction depends on. For a graph on disk or in a store `checked` says what its answers were compared
        with. What is withheld is not there: without scores, neither is what else would describe the graph (its sizes,
        SMILES and the names of its nodes).
    """
    class_names, node_names = data.class_names, data.node_names
    whole = one.disclosed == "scores"
    record: dict[str, Any] = identity(one.graph, one.disclosed) if one.index is None else {}
    record |= {
        **({"nodes": int(one.instance.num_nodes or 0), "edges": len(one.inner_units)} if whole else {}),
        "prediction": class_names[one.prediction],
        "probabilities": dict(zip(class_names, one.probabilities.tolist(), strict=True)),
        **(_scores(one, node_names) if whole else {}),
        "refined": one.refined,
        **({} if one.disclosed == "prediction" else {"counterfactual": None}),
    }
    if whole and one.index is None and has_node_names(one.graph, node_names):
        label = node_label(one.graph, node_names)
        record["node_names"] = [label(node) for node in range(record["nodes"])]
    if one.checked is not None:
        record["checked"] = asdict(one.checked)
    if one.disclosed != "prediction" and (counterfactual := one.counterfactual) is not None:
        removed = one.removed_units
        record["counterfactual"] = {
            "removed": one.inner_units.pair[:, removed].T.tolist(),
            "names": edge_labels(one, removed, node_names),
            "prediction": class_names[counterfactual.prediction],
            "probabilities": dict(zip(class_names, counterfactual.probabilities.tolist(), strict=True)),
            "flipped": counterfactual.flipped,
            "minimal": counterfactual.minimal,
            "exhausted": counterfactual.exhausted,
            "confidence": counterfactual.confidence,
            "distance": counterfactual.distance,
        }
    return record


def _scores(one: Explanation, node_names: Sequence[str]) -> dict[str, Any]:
    """The edges with the highest scores, how many are above 0.5, and the edges that are deleted first."""
    best = one.unit_scores.argsort(descending=True, stable=True)[:TOP_EDGES]
    top = zip(
        one.inner_units.pair[:, best].T.tolist(),
        edge_labels(one, best, node_names),
        one.unit_scores[best].tolist(),
        strict=True,
    )
    edges = [{"edge": pair, "name": name, "score": score} for pair, name, score in top]
    if one.relevance is not None:
        for edge, relevance in zip(edges, one.unit_relevance[best].tolist(), strict=True):
            edge["relevance"] = relevance
    first = one.unit_order.argsort()[:TOP_EDGES]
    order = one.inner_units.pair[:, first].T.tolist()
    return {"top": edges, "above_half": int((one.unit_scores > 0.5).sum()), "order": order}


def identity(graph: Data, disclosed: Disclosure) -> dict[str, Any]:
    """Say where a graph comes from.

    Args:
        graph: The graph.
        disclosed: What may be told.

    Returns:
        Its `id`, `row` (line of its file) and, unless scores are withheld, `smiles`, each where the graph has it.
    """
    found = {key: graph.get(key) for key in IDENTITY[disclosed]}
    plain = {
        key: value.item() if isinstance(value, Tensor) and value.numel() == 1 else value for key, value in found.items()
    }
    return {key: value for key, value in plain.items() if isinstance(value, str | int) and value != ""}


def edge_labels(one: Explanation, units: Tensor, node_names: Sequence[str]) -> list[str]:
    """Name edges by their nodes.

    Args:
        one: The explanation of the edges' graph.
        units: Positions of the edges among `one.units`.
        node_names: What each one-hot node feature stands for, such as an atom; empty: unknown.

    Returns:
        A label per edge, such as `c5–N7`, or `5–7` where nodes have numbers only, or their names are withheld.
    """
    label = disclosed_label(one.graph, node_names, one.disclosed)
    return [f"{label(u)}–{label(v)}" for u, v in one.inner_units.pair[:, units].T.tolist()]


def disclosed_label(graph: Data, node_names: Sequence[str], disclosed: Disclosure) -> NodeLabel:
    """Find how the nodes of a graph are called where not everything is told.

    Args:
        graph: The graph.
        node_names: As for `edge_labels`.
        disclosed: What may be told.

    Returns:
        From a node to its label; its number without scores, as names such as elements describe the graph.
    """
    return node_label(graph, node_names) if disclosed == "scores" else str


def prediction_text(class_names: Sequence[str], prediction: int, probabilities: Tensor) -> str:
    """Format a predicted class with its probability.

    Args:
        class_names: Names of the classes.
        prediction: The predicted class.
        probabilities: One per class.

    Returns:
        Such as `house 0.98`.
    """
    return f"{class_names[prediction]} {float(probabilities[prediction]):.2f}"
