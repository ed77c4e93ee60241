"""Explanations towards each other class, as a grid of drawings: why this class and not that one?

row      a graph of one class, always in the same layout
column   the class to reach; on the diagonal the graph with its motifs
"""

from collections.abc import Mapping, Sequence

from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.method.settings import check_texts
from rcexplainer.short_repr import short_repr
from rcexplainer.viz.figure import Figure, subplots
from rcexplainer.viz.graphs import draw_explanation, draw_graph, legend
from rcexplainer.viz.layout import stress_layout


def target_grid(
    examples: Mapping[tuple[int, int], Explanation], class_names: Sequence[str], motif_names: Sequence[str]
) -> Figure:
    """Draw one graph per class with its explanations towards the other classes.

    Args:
        examples: `examples[i, j]` explains a graph predicted i towards class j; the same graph for all j. Missing ones
            leave their cell empty. The graphs carry `edge_motif_id`.
        class_names: The name of each class.
        motif_names: The name of each kind of motif.

    Returns:
        The figure.

    Raises:
        RCExplainerError: The examples are no explanations by pairs of classes, their graphs have no `edge_motif_id`, or
            the names are no list of texts.
    """
    check_texts("class_names", class_names)
    check_texts("motif_names", motif_names)
    _check_examples(examples)
    number = len(class_names)
    figure, axes = subplots(number, number, size=3.1)
    for own in range(number):
        shown = {other: examples[own, other] for other in range(number) if (own, other) in examples}
        for place in range(number):
            axes[own][place].set_axis_off()
        if not shown:
            continue
        graph = next(iter(shown.values())).graph
        layout = stress_layout(graph.edge_index, int(graph.num_nodes or 0))
        draw_graph(axes[own][own], graph, motif=graph.edge_motif_id, layout=layout)
        axes[own][own].set_title(class_names[own], fontsize=11, fontweight="bold")
        for other, one in shown.items():
            draw_explanation(axes[own][other], one, motif=graph.edge_motif_id, layout=layout)
            axes[own][other].set_title(_title(one, other, class_names[other]), fontsize=9)
    legend(figure, motif_names)
    return figure


def _check_examples(examples: Mapping[tuple[int, int], Explanation]) -> None:
    """Refuse what cannot be drawn."""
    if not isinstance(examples, Mapping):
        raise RCExplainerError(
            f"examples must be a dict from (predicted class, other class) to explanations, got {short_repr(examples)}"
        )
    for pair, one in examples.items():
        if not isinstance(one, Explanation):
            raise RCExplainerError(f"examples[{pair!r}] must be an explanation, got {short_repr(one)}")
        if "edge_motif_id" not in one.instance:
            raise RCExplainerError(
                f"the graph of examples[{pair!r}] has no edge_motif_id: datasets of ours with motifs carry it; for "
                "other graphs use rc.viz.compare"
            )


def _title(one: Explanation, other: int, name: str) -> str:
    """The probabilities of both classes before and after the counterfactual's deletions."""
    before, found = one.probabilities, one.counterfactual
    question = f"and not {name}?"
    if found is None:
        return question
    after = found.probabilities
    count = len(one.removed_units)
    lost = f"p(own) {float(before[one.prediction]):.2f} → {float(after[one.prediction]):.2f}"
    gained = f"p(other) {float(before[other]):.2f} → {float(after[other]):.2f}"
    ending = "" if found.flipped else " (not reached)"
    return f"{question}  {count} deleted{ending}\n{lost}, {gained}"
