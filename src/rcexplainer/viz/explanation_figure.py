"""One explanation as one figure: the instance, its counterfactual in the same layout, and the probabilities.

A search that found a counterfactual has a tick, the word "flipped" and a solid blue frame; one that failed has a
cross, the words "not flipped", a dashed grey frame and a grey ground.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from rcexplainer.errors import MissingExtraError, RCExplainerError, require
from rcexplainer.explanation import EdgeReading, Explanation
from rcexplainer.saving.files import named_file, write_whole
from rcexplainer.viz.drawing_options import DrawingOptions
from rcexplainer.viz.drawing_style import DrawingStyle, InstanceDrawing, lay_out
from rcexplainer.viz.figure import Figure, figure_bytes, figure_kind
from rcexplainer.viz.instance_name import instance_name
from rcexplainer.viz.molecule_drawing import MoleculeDrawing
from rcexplainer.viz.palette import FAILED, FAILED_GROUND, INK
from rcexplainer.viz.probability_bars import draw_probabilities, probability_legend
from rcexplainer.viz.search_outcome import SearchOutcome, outcome, prediction_text, shortened

PANEL, BARS, HEIGHT = 3.6, 1.7, 3.7  # inches
LONGEST_INSTANCE_NAME = 24  # characters
BAR_ROOM = 5.5  # classes that fit the height
TITLE, DETAIL, NOTE = 11, 9, 8  # points


def draw(
    one: Explanation,
    path: str | Path | None = None,
    *,
    reading: EdgeReading = "scores",
    style: DrawingStyle = "auto",
    node_names: Sequence[str] = (),
    edge_names: Sequence[str] = (),
    numbers: bool | None = None,
) -> Figure:
    """Draw an explanation.

    Args:
        one: The explanation.
        path: A file that ends in .svg, .png or .pdf; None: nothing is written.
        reading: "scores", or "relevance" for methods that have it.
        style: "molecule", "graph", or "auto" for a molecule where the graph can be read as one and RDKit is installed.
        node_names: What each one-hot node feature means, such as `dataset.node_names`; a graph that carries `smiles` or
            `atomic_number` does not need them.
        edge_names: What each one-hot entry of `edge_attr` means.
        numbers: Whether nodes have their numbers; None: all of them in drawings of up to 40 nodes, in larger ones the
            explained nodes and the ends of deleted edges.

    Returns:
        matplotlib's figure, or the path of the file.

    Raises:
        RCExplainerError: The suffix, reading or style is unknown.
        MissingExtraError: matplotlib is not installed, or RDKit where style is "molecule".
    """
    file = None if path is None else named_file(path, "draw(path)")
    if file is not None:
        figure_kind(file)
    figure = explanation_figure(one, lay_out([one], style, DrawingOptions(reading, node_names, edge_names, numbers)))
    return figure if file is None else write_drawing(figure, file)


def notebook_svg(one: Explanation) -> str | None:
    """Draw an explanation for a notebook.

    Args:
        one: The explanation.

    Returns:
        The text of an SVG; None if matplotlib is not installed or the explanation cannot be drawn, so that the notebook
        shows its text.
    """
    try:
        text = rendered(draw(one), "svg").decode("utf-8")
    except (MissingExtraError, RCExplainerError):
        return None
    return text[text.index("<svg") :]


def write_drawing(figure: Figure, path: Path) -> Path:
    """Write a drawing to a file, in the format of its suffix; the texts of an SVG stay text.

    Args:
        figure: The figure.
        path: The file.

    Returns:
        The path.
    """
    return write_whole(path, rendered(figure, figure_kind(path)))


def rendered(figure: Figure, kind: str) -> bytes:
    """Render a drawing: an SVG whose texts are text, which can be searched, copied and read aloud."""
    with warnings.catch_warnings():
        # A name may be in any script; the viewer of an SVG finds a font where matplotlib has none.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        return figure_bytes(figure, kind, dpi=160, svg_fonttype="none")


def explanation_figure(one: Explanation, drawing: InstanceDrawing) -> Figure:
    """Draw an explanation in a given layout.

    Args:
        one: The explanation.
        drawing: The layout of its instance.

    Returns:
        The figure.
    """
    searched = one.counterfactual is not None
    widths = [PANEL, PANEL, BARS] if searched else [PANEL, BARS]
    figure = require("matplotlib.figure", "figures").Figure((sum(widths), HEIGHT), layout="constrained")
    panels = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    ended = outcome(one, drawing.noun)
    frame(panels[0])
    drawing.draw_scores(panels[0], one)
    titles(panels[0], prediction_text(one, one.prediction, one.probabilities), _subject(one, drawing.noun))
    if searched:
        frame(panels[1], ended)
        drawing.draw_counterfactual(panels[1], one)
        titles(panels[1], ended.headline, fill(ended.detail, 50), ended.colour)
        if isinstance(drawing, MoleculeDrawing):
            caption(panels[1], drawing.fragment_note(one))
    draw_probabilities(panels[-1], one, room=BAR_ROOM)
    titles(panels[-1], "", "probability")
    unsearched = [] if searched else ["No counterfactual was searched for."]
    close(figure, drawing, [one], [*drawing.notes, *unsearched])
    return figure


def frame(axes: Any, ended: SearchOutcome | None = None) -> None:
    """Prepare a panel for its drawing, which reads its ground, and frame it by the outcome of the search.

    Args:
        axes: matplotlib axes.
        ended: The outcome; None: no frame.
    """
    axes.set_aspect("equal", adjustable="datalim")  # keeps the axes in place, so that titles are aligned
    axes.margins(0.09)
    axes.set_xticks([])
    axes.set_yticks([])
    failed = ended is not None and ended.failed
    axes.patch.set_facecolor(FAILED_GROUND if failed else "white")
    for spine in axes.spines.values():
        spine.set_visible(ended is not None)
        spine.set_linewidth(1.6 if ended is not None and ended.mark else 0.8)
        spine.set_color(INK if ended is None else ended.colour)
        spine.set_linestyle((0, (4, 3)) if failed else "-")


def titles(axes: Any, headline: str, detail: str, colour: str = INK) -> None:
    """Write a bold line, and a small one below it, over a panel.

    Args:
        axes: matplotlib axes.
        headline: The bold line.
        detail: The small line.
        colour: Colour of the bold line.
    """
    axes.set_title(
        headline + "\n" * (1 + detail.count("\n")), fontsize=TITLE, fontweight="bold", color=colour, parse_math=False
    )
    style = {"ha": "center", "va": "bottom", "fontsize": DETAIL, "parse_math": False}
    written = axes.text(0.5, 1.025, detail, transform=axes.transAxes, **style)
    written.set_in_layout(False)  # a long line must not make the panel narrower


def caption(axes: Any, text: str) -> None:
    """Write a sentence at the bottom of a panel."""
    style = {"ha": "center", "va": "bottom", "fontsize": NOTE - 1, "style": "italic", "color": FAILED}
    axes.text(0.5, 0.015, fill(text, 58), transform=axes.transAxes, **style)


def close(figure: Figure, drawing: InstanceDrawing, shown: Sequence[Explanation], notes: Sequence[str]) -> None:
    """Add the legend and the notes below the panels.

    Args:
        figure: The figure.
        drawing: What was drawn.
        shown: The explanations drawn.
        notes: Sentences.
    """
    outcomes = {one.counterfactual.flipped for one in shown if one.counterfactual and len(one.removed_units)}
    motif = shown[0].graph.get("edge_motif")
    handles = drawing.legend(outcomes, motif is not None and bool(shown[0].within(motif).any()))
    handles += probability_legend(shown[0])
    across = max(1, int(figure.get_figwidth() / 1.2))
    style = {"frameon": False, "fontsize": NOTE, "title_fontsize": NOTE, "handlelength": 2.4}
    said = fill(" ".join(notes), int(figure.get_figwidth() * 15)) or None
    below = figure.legend(
        handles=handles, loc="outside lower center", ncols=min(across, len(handles)), title=said, **style
    )
    below.get_title().set_parse_math(False)


def _subject(one: Explanation, noun: str) -> str:
    """What was explained, in a few words."""
    size = f"{len(one.units):,} {noun}{'s' * (len(one.units) != 1)}"
    name = instance_name(one)
    if name is None:
        return f"predicted, {size}"
    name = f"{'link ' * isinstance(one.index, tuple)}{shortened(name, LONGEST_INSTANCE_NAME)}"
    return f"predicted for {name}, {size} in its field"
