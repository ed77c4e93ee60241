"""Which drawing an explanation gets: a molecule if it can be read as one and RDKit is installed, otherwise a graph."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, Protocol, get_args

from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.viz.drawing_options import DEFAULT_OPTIONS, DrawingOptions
from rcexplainer.viz.graph_drawing import GraphDrawing
from rcexplainer.viz.molecule_drawing import MoleculeDrawing

DrawingStyle = Literal["auto", "graph", "molecule"]


class InstanceDrawing(Protocol):
    """A layout of one instance that draws every explanation of it in the same places."""

    @property
    def noun(self) -> str:
        """What a unit is called: "edge" or "bond"."""

    @property
    def notes(self) -> list[str]:
        """What the drawing leaves out, in words."""

    def draw_scores(self, axes: Any, one: Explanation) -> None:
        """Draw the instance with scores and deleted edges."""

    def draw_counterfactual(self, axes: Any, one: Explanation) -> None:
        """Draw the instance without the deleted edges."""

    def legend(self, outcomes: Collection[bool], motif: bool) -> list[Any]:
        """Return the handles of the legend; `outcomes`: whether each search that deletes edges flips."""


Drawer = Callable[[Sequence[Explanation], DrawingOptions], InstanceDrawing | None]
DRAWERS: dict[str, Drawer] = {"molecule": MoleculeDrawing.of, "graph": GraphDrawing.of}  # the first that can, draws


def lay_out(
    explanations: Sequence[Explanation], style: DrawingStyle = "auto", options: DrawingOptions = DEFAULT_OPTIONS
) -> InstanceDrawing:
    """Choose the drawing of an instance, and lay it out.

    Args:
        explanations: Explanations of this instance.
        style: "molecule", "graph", or "auto" for the first of these that can draw it.
        options: What is shown at nodes and edges.

    Returns:
        The drawing.

    Raises:
        RCExplainerError: The style is unknown or the instance is not a molecule.
        MissingExtraError: A molecule is asked for and RDKit is not installed.
    """
    if style not in get_args(DrawingStyle):
        raise RCExplainerError(f"style must be one of {', '.join(get_args(DrawingStyle))}, got {style!r}")
    for name, drawer in DRAWERS.items():
        if style not in ("auto", name):
            continue
        try:
            found = drawer(explanations, options)
        except MissingExtraError:
            if style == name:
                raise
            continue
        if found is not None:
            return found
    raise RCExplainerError(
        "this graph cannot be read as a molecule: it needs smiles, or atomic_number and one-hot edge_attr, or one-hot "
        'features whose elements and bonds node_names and edge_names tell; style="graph" draws any graph'
    )
