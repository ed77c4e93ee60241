"""The colours of drawings and pages, from Okabe and Ito's palette: distinguishable with colour-vision deficiency.

No meaning rests on a colour alone. Deleted edges are also dashed or crossed, motifs are outlines, and the outcome of a
search has a word, a mark and a frame of its own, so a copy in black and white says the same.

`LIGHT` and `DARK` are the same colours by what they mean, for style sheets.
"""

from collections.abc import Collection
from typing import Any

INK = "#202020"
DELETED = "#C43C00"  # vermillion, darkened until small text on white is readable
MOTIF = "#00795C"  # bluish green, darkened
FLIPPED = "#0060A8"  # blue, darkened: to people who cannot tell green from grey, green would look like a failure
FAILED = "#5E5E5E"
NUMBER_INK = "#44546A"  # numbers of nodes: a bluish grey, so that they are not taken for counts or charges
FAILED_GROUND = "#EFEFEF"  # behind the graph of a failed search
BEFORE, AFTER = "#C8C8C8", INK  # bars of probabilities
SCORE_LOW, SCORE_HIGH = (1.0, 0.97, 0.90), (0.90, 0.62, 0.0)  # bands behind bonds: pale to orange

LIGHT = {
    "ink": INK,
    "deleted": DELETED,
    "motif": MOTIF,
    "flipped": FLIPPED,
    "failed": FAILED,
    "failed-ground": FAILED_GROUND,
    "number": NUMBER_INK,
    "score": "#E69E00",  # SCORE_HIGH
    "before": BEFORE,
    "after": AFTER,
}
DARK = {
    "ink": "#E8E6E3",
    "deleted": "#FF8A5C",
    "motif": "#3FBF97",
    "flipped": "#6FB7F2",
    "failed": "#AEB3B9",
    "failed-ground": "#26292D",
    "number": "#A9BBD3",
    "score": "#8F6200",
    "before": "#596069",
    "after": "#E8E6E3",
}


def line_grey(score: float) -> str:
    """Return matplotlib's grey of an edge: light for a score of 0, black for 1."""
    return str(round(0.78 * (1 - score), 3))


def band_colour(score: float) -> tuple[float, float, float]:
    """Return the colour of the band behind a bond, from pale to orange; RDKit's black lines stay readable on it."""
    red, green, blue = (low + (high - low) * score for low, high in zip(SCORE_LOW, SCORE_HIGH, strict=True))
    return red, green, blue


def deletion_looks(outcomes: Collection[bool]) -> list[tuple[str, str]]:
    """Return colour and label of deleted edges, for searches that flipped the prediction (True) and others (False)."""
    looks = {True: (DELETED, "deleted"), False: (FAILED, "deleted in vain")}
    return [look for flipped, look in looks.items() if flipped in outcomes]


def motif_handle(line: Any) -> Any:
    """Return the legend's motif, an outlined square, made with matplotlib's class of lines."""
    return line([], [], linestyle="none", marker="s", ms=9, mfc="white", mec=MOTIF, mew=1.4, label="motif")
