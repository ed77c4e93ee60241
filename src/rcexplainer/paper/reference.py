"""Numbers that others report, each with whose it is and the sparsity it was really measured at.

In an entry's file, by dataset and method:

    [reference.mutagenicity.rcexplainer]
    ".95" = { value = 0.553, sparsity = 0.935, source = "authors" }   # shown beside ours at .95, but measured at .935
    ".90" = 0.693                                                     # measured at .90, by the entry's `source`

An entry without `source` has the paper's own numbers. Ours and theirs are subtracted only where both were measured at
the same sparsity, or nearly.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rcexplainer.benchmark.results import column
from rcexplainer.paper.result_groups import EntrySettings, reported

PAPER = "paper"
SAME_SPARSITY = 0.01  # how far apart two sparsities may be for a difference to be of methods, not of sparsities
SOURCE_TEXTS = {
    "authors": (
        "authors: the authors' own trained model, fitted and evaluated on the same graphs of the explained class, at "
        "the sparsity that was really left"
    ),
    "replication": (
        "replication: an independent rebuild of the paper's experiment (10 seeds, on its own networks, fitted and "
        "evaluated on the same graphs), not the paper's own numbers"
    ),
}


@dataclass(frozen=True)
class Published:
    """A number that others report.

    Attributes:
        value: The number.
        source: Whose it is: "paper", "authors" or "replication".
        sparsity: The sparsity it was measured at; None: where it is listed, or at none.
    """

    value: float
    source: str
    sparsity: float | None = None

    @property
    def origin(self) -> str:
        """Whose it is, and at which sparsity, as a cell of a table has it."""
        return self.source if self.sparsity is None else f"{self.source}, at {column(self.sparsity)}"

    def comparable(self, at: str) -> bool:
        """Whether it may be subtracted from ours.

        Args:
            at: Where ours was measured, as the entry's file writes it.
        """
        return self.sparsity is None or abs(self.sparsity - float(at)) <= SAME_SPARSITY + 1e-9


def published(settings: EntrySettings, dataset: str) -> dict[str, dict[str, Published]]:
    """What others report for a dataset, where it is listed by sparsity or level of noise.

    Args:
        settings: The entry's.
        dataset: The dataset.

    Returns:
        Method → where it is listed → the number.
    """
    source = settings.get("source", PAPER)
    return {
        method: {at: _number(one, source) for at, one in listed.items()}
        for method, listed in reported(settings, dataset).items()
        if isinstance(listed, Mapping)
    }


def source_notes(settings: EntrySettings, numbers: Iterable[tuple[str, Published]]) -> tuple[str, ...]:
    """Notes below a table of numbers that others report.

    Args:
        settings: The entry's; `source_text` is what it says about its `source`.
        numbers: Where each is listed, and the number.

    Returns:
        Whose they are, where they are not the paper's, and why some are not subtracted from ours.
    """
    known = list(numbers)
    sources = dict.fromkeys(one.source for _, one in known)
    apart = any(not one.comparable(at) for at, one in known)
    why = (
        f"no difference is shown where the sparsities are more than {column(SAME_SPARSITY)} apart: it would be of the "
    )
    return (
        *source_texts(settings, sources),
        *([f"{why}sparsities as well as of the methods"] if apart else []),
    )


def source_texts(settings: EntrySettings, sources: Iterable[str]) -> list[str]:
    """What is to be said about each source; nothing about the paper itself.

    Args:
        settings: The entry's; `source_text` is what it says about its `source`.
        sources: The sources.
    """
    own: dict[str, str] = {settings["source"]: settings["source_text"]} if "source_text" in settings else {}
    texts = SOURCE_TEXTS | own
    return [texts[source] for source in sources if source in texts]


def _number(one: Any, source: str) -> Published:
    return Published(**{"source": source, **one}) if isinstance(one, Mapping) else Published(float(one), source)
