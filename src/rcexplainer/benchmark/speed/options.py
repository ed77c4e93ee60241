"""What a benchmark is told, and what it gives back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

Rows = list[dict[str, Any]]  # one dict per line of the table, column → value


@dataclass(frozen=True)
class BenchOptions:
    """Options of a benchmark; each uses those that apply to it.

    Attributes:
        repeats: Number of measurements; the median counts.
        device: Where to compute.
        rows: Names of the rows to measure; none: all of them.
        graphs: Graphs that are explained or fitted on; None: the benchmark's own number.
        keep: A folder of trained networks and fitted explainers: those that are there are loaded, others written.
        root: Where downloaded datasets are.
        limit: Seconds after which a series of growing sizes ends.
        scratch: A folder for files that are removed afterwards; None: the system's.
    """

    repeats: int = 3
    device: str = "cpu"
    rows: tuple[str, ...] = ()
    graphs: int | None = None
    keep: Path | None = None
    root: Path | None = None
    limit: float = 20.0
    scratch: Path | None = None

    @property
    def where(self) -> torch.device:
        """The device as torch knows it."""
        return torch.device(self.device)

    def wanted(self, row: str) -> bool:
        """Whether a row is to be measured."""
        return not self.rows or row in self.rows
