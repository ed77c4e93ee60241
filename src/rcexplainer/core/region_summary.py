"""Decision regions in words: who is inside, which classes border them, how far inside the members are.

    margin of x in r(P, c) = min over i ∈ P of s_i B_i(x) / scale_i

Where regions are scaled, a margin of 2 is that of a typical member at one boundary; it is negative outside.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import torch
from torch import Tensor

from rcexplainer.core.regions import DecisionRegion, Regions
from rcexplainer.short_repr import ShortRepr

ROWS = 4096  # instances whose margins are computed at a time
SHOWN_REGIONS = 5  # lines per class
SHOWN_BORDERS = 3  # classes in a line
SHOWN_DELETED = 3  # kinds of edges in a line


@dataclass(frozen=True, repr=False)
class RegionSummary(ShortRepr):
    """One decision region.

    Attributes:
        label: Its class.
        boundaries: Number of its boundaries.
        borders: The classes beyond them, each with its number of boundaries, most first.
        covered: Number of instances it covered when it was found.
        intruders: Number of instances of other classes inside at that time.
        members: Number of the given instances that belong to it.
        margin: Median margin of these; nan without any.
        smallest_margin: The smallest one; negative if a member is outside.
        deleted: Kinds of edges that the counterfactuals of its members delete, each with its number, most first.
    """

    label: int
    boundaries: int
    borders: tuple[tuple[int, int], ...]
    covered: int
    intruders: int
    members: int = 0
    margin: float = nan
    smallest_margin: float = nan
    deleted: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, repr=False)
class RegionSummaries(ShortRepr):
    """The summaries of all regions, in the order of the regions; printed, a table.

    Attributes:
        regions: One summary for each region.
        class_names: Names of the classes; empty: they have numbers only.
    """

    regions: tuple[RegionSummary, ...]
    class_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.regions)

    def __getitem__(self, place: int) -> RegionSummary:
        return self.regions[place]

    def __iter__(self) -> Iterator[RegionSummary]:
        return iter(self.regions)

    def __str__(self) -> str:
        header = ["class", "covered", "intruders", "boundaries", "borders"]
        given, deleted = any(one.members for one in self), any(one.deleted for one in self)
        header += ["given", "margin", "smallest"] * given + ["deleted edges"] * deleted
        lines = [header]
        for label in dict.fromkeys(one.label for one in self):
            own = [one for one in self if one.label == label]
            lines += [self._line(one)[: len(header)] for one in own[:SHOWN_REGIONS]]
            if rest := own[SHOWN_REGIONS:]:
                covered = sum(one.covered for one in rest)
                lines.append([self._name(label), f"… {len(rest)} more regions, which cover {covered}"])
        widths = [max(len(line[place]) for line in lines if len(line) == len(header)) for place in range(len(header))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip() for line in lines
        )

    def _line(self, one: RegionSummary) -> list[str]:
        """One region as cells, those of given instances last."""
        borders = [self._name(label) for label, _ in one.borders]
        more = f" +{len(borders) - SHOWN_BORDERS}" if len(borders) > SHOWN_BORDERS else ""
        return [
            self._name(one.label),
            str(one.covered),
            str(one.intruders),
            str(one.boundaries),
            ", ".join(borders[:SHOWN_BORDERS]) + more,
            str(one.members),
            _number(one.margin),
            _number(one.smallest_margin),
            ", ".join(f"{kind} ×{count}" for kind, count in one.deleted[:SHOWN_DELETED]),
        ]

    def _name(self, label: int) -> str:
        """A class for a reader."""
        return self.class_names[label] if self.class_names else str(label)


def summarise(regions: Regions, class_names: Sequence[str] = ()) -> RegionSummaries:
    """Summarise the regions as they were found.

    Args:
        regions: The regions.
        class_names: Names of the classes.

    Returns:
        A summary of each region, without members.
    """
    summaries = tuple(
        RegionSummary(one.label, len(one.rows), _borders(regions, one), one.covered, one.intruders)
        for one in regions.regions
    )
    return RegionSummaries(summaries, tuple(class_names))


@torch.no_grad()
def with_members(summaries: RegionSummaries, regions: Regions, embeddings: Tensor, region: Tensor) -> RegionSummaries:
    """Add how many instances each region has, and how far inside they are.

    Args:
        summaries: The summaries of `regions`.
        regions: The regions.
        embeddings: [n, d].
        region: [n] the region of each instance, −1 for none.

    Returns:
        The summaries with members.
    """
    parts = zip(torch.split(embeddings, ROWS), torch.split(region, ROWS), strict=True)
    margins = torch.cat([regions.margins(x, own).min(1).values for x, own in parts])
    found = [margins[region == place] for place in range(len(regions))]
    return replace(
        summaries,
        regions=tuple(
            replace(one, members=len(own), margin=float(own.median()), smallest_margin=float(own.min()))
            if len(own)
            else one
            for one, own in zip(summaries, found, strict=True)
        ),
    )


def _borders(regions: Regions, one: DecisionRegion) -> tuple[tuple[int, int], ...]:
    """The other class of each boundary with its number of boundaries, most first."""
    pairs = regions.boundaries.classes[one.rows]
    other = torch.where(pairs[:, 0] == one.label, pairs[:, 1], pairs[:, 0])
    counts = Counter(sorted(other.tolist()))  # at a tie the lower class comes first
    return tuple(counts.most_common())


def _number(value: float) -> str:
    """Two digits; – for nan."""
    return "–" if isnan(value) else f"{value:.2f}"
