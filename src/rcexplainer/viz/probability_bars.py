"""Small bars: the probability of each class before and after the deletion."""

from typing import Any

from torch import Tensor

from rcexplainer.errors import require
from rcexplainer.explanation import Explanation
from rcexplainer.viz.charts import SMALL_TEXT
from rcexplainer.viz.palette import AFTER, BEFORE, FAILED, INK
from rcexplainer.viz.search_outcome import class_name

MOST_CLASSES = 5  # bars of further classes are left out, and counted
LONGEST_LABEL = 13  # characters of a class name
BAR_HEIGHT = 0.24  # height of a bar, in classes


def draw_probabilities(axes: Any, one: Explanation, room: float = 0.0) -> None:
    """Draw a pair of bars for each class, with its name and both numbers.

    Args:
        axes: matplotlib axes.
        one: The explanation; without a counterfactual there is one bar per class.
        room: Height of the axes in classes; bars of fewer classes stay thin.
    """
    before = one.probabilities
    after = None if one.counterfactual is None else one.counterfactual.probabilities
    labels = shown_classes(one)
    for place, label in enumerate(labels):
        own = float(before[label])
        axes.barh(
            place - (BAR_HEIGHT / 2 if after is not None else 0),
            _length(own),
            BAR_HEIGHT,
            color=BEFORE,
            edgecolor=INK,
            lw=0.6,
        )
        text = f"{own:.2f}"
        if after is not None:
            then = float(after[label])
            failed = one.counterfactual is not None and not one.counterfactual.flipped
            colour = FAILED if failed else AFTER
            axes.barh(place + BAR_HEIGHT / 2, _length(then), BAR_HEIGHT, color=colour, edgecolor=INK, lw=0.6)
            text += f" → {then:.2f}"
        _write(axes, 0.0, place - 0.28, class_name(one, label, LONGEST_LABEL), ha="left", va="bottom")
        _write(axes, 1.0, place - 0.28, text, ha="right", va="bottom")
    rest = len(before) - len(labels)
    if rest:
        more = f"and {rest} other class{'es' * (rest > 1)}"
        _write(axes, 0.0, len(labels) - 0.4, more, ha="left", va="center", style="italic")
    axes.set_xlim(-0.01, 1.01)
    needed = len(labels) + (0.6 if rest else 0.0)
    spare = max(0.0, room - needed) / 2
    axes.set_ylim(needed - 0.65 + spare, -0.75 - spare)
    axes.set_axis_off()


def probability_legend(one: Explanation) -> list[Any]:
    """Return matplotlib's handles of the two kinds of bars; none without a counterfactual."""
    if one.counterfactual is None:
        return []
    patch = require("matplotlib.patches", "figures").Patch
    return [
        patch(facecolor=BEFORE, edgecolor=INK, label="before"),
        patch(facecolor=AFTER, edgecolor=INK, label="after"),
    ]


def shown_classes(one: Explanation) -> list[int]:
    """Choose the classes to show: predicted before, after, aimed at, then the most probable; in ascending order.

    Args:
        one: The explanation.

    Returns:
        At most `MOST_CLASSES` classes.
    """
    highest: Tensor = one.probabilities.nan_to_num()
    first = [one.prediction]
    if (found := one.counterfactual) is not None:
        first += [found.prediction] + ([] if found.target is None else [found.target])
        highest = highest.maximum(found.probabilities.nan_to_num())
    order = dict.fromkeys([*first, *highest.argsort(descending=True, stable=True).tolist()])
    return sorted(list(order)[:MOST_CLASSES])


def _length(probability: float) -> float:
    """The length of a bar; nothing for NaN."""
    return probability if probability == probability else 0.0


def _write(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    """Write a text as it is: a dollar sign is not the start of a formula."""
    axes.text(x, y, text, fontsize=SMALL_TEXT, parse_math=False, **style)
