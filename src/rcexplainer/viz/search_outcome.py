"""The outcome of a search for a counterfactual in a word, a mark, a colour and a sentence."""

from dataclasses import dataclass

from torch import Tensor

from rcexplainer.explanation import Explanation
from rcexplainer.viz.palette import FAILED, FLIPPED, INK

LONGEST_NAME = 24  # characters of a class name


@dataclass(frozen=True)
class SearchOutcome:
    """How a search ended.

    Attributes:
        found: Whether the prediction is verified to change.
        word: "flipped", "not flipped", "disputed" or "no counterfactual".
        mark: A tick or a cross; empty if there was no search.
        detail: The class after the deletion, and the number of edges deleted.
    """

    found: bool
    word: str
    mark: str
    detail: str

    @property
    def failed(self) -> bool:
        """Whether there was a search, in vain."""
        return bool(self.mark) and not self.found

    @property
    def colour(self) -> str:
        """The colour of its text and frame."""
        return FLIPPED if self.found else FAILED if self.failed else INK

    @property
    def headline(self) -> str:
        """Mark and word."""
        return f"{self.mark} {self.word}".strip()


def outcome(one: Explanation, noun: str = "edge") -> SearchOutcome:
    """Read how the search of an explanation ended.

    Args:
        one: The explanation.
        noun: What is deleted: "edge" or "bond".

    Returns:
        The outcome; one without a mark if there was no search.
    """
    found = one.counterfactual
    if found is None:
        return SearchOutcome(False, "no counterfactual", "", "none was searched for")
    count = len(one.removed_units)
    without = f"without {counted(count, noun)}" if count else f"no {noun} could be deleted"
    said = prediction_text(one, found.prediction, found.probabilities)
    notes = ["budget spent"] if found.exhausted else []
    if found.flipped:
        notes = ["all needed"] if found.minimal and count > 1 else notes
        return SearchOutcome(True, "flipped", "✓", ", ".join([f"{said} {without}", *notes]))
    if found.disputed:
        return SearchOutcome(False, "disputed", "✗", f"the search and the final run disagree {without}")
    if found.confidence is not None:
        said = f"reaches {found.reached:.2f} of {found.confidence:g}"
    else:
        said = f"still {said}" if found.prediction == found.source else said
        said += "" if found.target is None else f", not {class_name(one, found.target)},"
    return SearchOutcome(False, "not flipped", "✗", ", ".join([f"{said} {without}" if count else without, *notes]))


def prediction_text(one: Explanation, label: int, probabilities: Tensor) -> str:
    """Name a class with its probability, such as "positive (0.96)"."""
    return f"{class_name(one, label)} ({float(probabilities[label]):.2f})"


def class_name(one: Explanation, label: int, longest: int = LONGEST_NAME) -> str:
    """Name a class by its name, or its number."""
    return shortened(one.class_names[label], longest) if label < len(one.class_names) else f"class {label}"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Leave out the middle of a long name, as names often differ at their ends, and what cannot be printed."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    half = longest // 2
    return text if len(text) <= longest else f"{text[: longest - half]}…{text[1 - half :]}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, such as "1 edge" or "3 edges"."""
    return f"{number:,} {noun}" + "s" * (number != 1)
