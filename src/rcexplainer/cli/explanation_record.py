"""One explanation in words and as JSON values: edges by the names of their nodes, classes by theirs."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from rcexplainer.datasets import GraphDataset
from rcexplainer.explanation import Explanation

TOP_EDGES = 10  # edges with the highest scores in a record


def explanation_record(one: Explanation, data: GraphDataset) -> dict[str, Any]:
    """Convert an explanation to JSON values.

    Args:
        one: The explanation of a graph.
        data: The graph's dataset, for the names of classes and nodes.

    Returns:
        Prediction, highest edge scores (with the relevance of the edge, if the method has that reading), the model runs
        spent on their ranking (`refined`), and counterfactual (None where none was searched for). An edge is a pair of
        nodes, counted from 0 within the graph.
    """
    best = one.unit_scores.argsort(descending=True, stable=True)[:TOP_EDGES]
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
        "refined": one.refined,
        "counterfactual": None,
    }
    if one.relevance is not None:
        for edge, relevance in zip(record["top"], one.unit_relevance[best].tolist(), strict=True):
            edge["relevance"] = relevance
    if (counterfactual := one.counterfactual) is not None:
        removed = one.removed_units
        record["counterfactual"] = {
            "removed": one.units.pair[:, removed].T.tolist(),
            "names": edge_labels(one, removed, data.node_names),
            "prediction": data.class_names[counterfactual.prediction],
            "probabilities": dict(zip(data.class_names, counterfactual.probabilities.tolist(), strict=True)),
            "flipped": counterfactual.flipped,
            "minimal": counterfactual.minimal,
            "exhausted": counterfactual.exhausted,
            "confidence": counterfactual.confidence,
            "distance": counterfactual.distance,
        }
    return record


def edge_labels(one: Explanation, units: Tensor, node_names: Sequence[str]) -> list[str]:
    """Name edges by their nodes.

    Args:
        one: The explanation of the edges' graph.
        units: Positions of the edges among `one.units`.
        node_names: What each one-hot node feature stands for, such as an atom; empty: nodes have numbers only.

    Returns:
        A label per edge, such as `c5–N7`, or `5–7` without names.
    """
    kinds = one.graph.x.argmax(1).tolist() if node_names else []
    # A colon keeps a name that ends in a digit apart from the node's number: `atom 1:5` is node 5.
    prefix = [node_names[kind] + ":" * node_names[kind][-1:].isdigit() for kind in kinds]
    prefix = prefix or [""] * int(one.graph.num_nodes or 0)
    return [f"{prefix[u]}{u}–{prefix[v]}{v}" for u, v in one.units.pair[:, units].T.tolist()]


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
