"""From the results of an entry's jobs to its figures, which stay readable in black and white."""

from dataclasses import dataclass

from rcexplainer.viz.pages import Figure


@dataclass(frozen=True)
class Drawn:
    """A figure, what it shows, and the name of its files."""

    name: str
    caption: str
    figure: Figure
