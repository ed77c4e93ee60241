"""The examples of the case study: one graph of each class, explained towards the others, as JSON and as a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch_geometric.data import Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.explanation import Explanation
from rcexplainer.paper.figure_style import PaperFigure
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults
from rcexplainer.viz import target_grid

EXAMPLE_CAPTION = (
    "The first correctly predicted test graph of each class (row), explained towards the other classes (column), seed "
    "{seed}; on the diagonal the graph with its motifs. Width and darkness: the scores, stretched from the lowest to "
    "the highest of a drawing. Dashed: edges that the counterfactual deletes."
)
Examples = Mapping[tuple[int, int], Explanation]  # (predicted class, other class) → an explanation


def examples_json(examples: Examples) -> list[dict[str, Any]]:
    """Explanations as JSON values, with all that is drawn.

    Args:
        examples: The same graph for all pairs with the same first class.

    Returns:
        One object for every class.
    """
    made: dict[int, dict[str, Any]] = {}
    for (own, other), one in examples.items():
        example = made.setdefault(own, _graph_json(own, one))
        found = one.counterfactual
        example["towards"].append(
            {
                "other": other,
                "scores": one.scores.tolist(),
                "removed": [] if found is None else found.columns.tolist(),
                "after": None if found is None else found.probabilities.tolist(),
                "disputed": found is not None and found.disputed,
            }
        )
    return list(made.values())


def examples_from(known: Sequence[Mapping[str, Any]], class_names: Sequence[str]) -> dict[tuple[int, int], Explanation]:
    """Explanations from JSON values.

    Args:
        known: What `examples_json` made.
        class_names: The names of the classes.

    Returns:
        The explanations, with all that is drawn.
    """
    made: dict[tuple[int, int], Explanation] = {}
    for example in known:
        own, probabilities = example["class"], torch.tensor(example["probabilities"])
        graph = Data(
            edge_index=torch.tensor(example["edges"]).t().contiguous(),
            num_nodes=example["nodes"],
            edge_motif_id=torch.tensor(example["motif"]),
        )
        for one in example["towards"]:
            found = None
            if one["after"] is not None:
                columns, after = torch.tensor(one["removed"], dtype=torch.long), torch.tensor(one["after"])
                found = Counterfactual(graph, columns, own, after, target=one["other"], disputed=one["disputed"])
            scores = torch.tensor(one["scores"])
            made[own, one["other"]] = Explanation(graph, scores, own, probabilities, tuple(class_names), found)
    return made


def example_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """One graph of each class, explained towards the others.

    Args:
        settings: The entry's; `motifs` are the names of the motifs.
        found: Its results; those of version 0.1 have no examples.

    Returns:
        The figure, of the first seed that has examples; none without.
    """
    known = [result for _, result in found if result.get("examples")]
    if not known:
        return []
    first = known[0]
    figure = target_grid(examples_from(first["examples"], first["classes"]), first["classes"], settings["motifs"])
    caption = EXAMPLE_CAPTION.format(seed=first["pairs"][0]["seed"])
    return [PaperFigure("case-study-examples", caption, figure)]


def _graph_json(own: int, one: Explanation) -> dict[str, Any]:
    graph = one.graph
    return {
        "class": own,
        "nodes": int(graph.num_nodes or 0),
        "edges": graph.edge_index.t().tolist(),
        "motif": graph.edge_motif_id.tolist(),
        "probabilities": one.probabilities.tolist(),
        "towards": [],
    }
