"""Do explanations within a decision region agree more than across regions of the same class?

    s(i, j)     = Σ_e min(a_i(e), a_j(e)) / Σ_e max(a_i(e), a_j(e))     Jaccard overlap of multisets
    difference  = mean of s over pairs of one region − over pairs of different regions, both of one predicted class

a_i(e) is the number of edges of kind e (`method.edge_kinds`) among the k highest scores of explanation i, or among
those that its counterfactual deletes. Differences are taken class by class and averaged, weighted by the classes'
numbers of instances, so that classes with more alike explanations do not count as regions. The p-value is the share
of random permutations of the regions within each class with a difference at least as large. Graphs of one region are
more alike themselves, whatever is explained: `chance` is the difference for random edges of the same graphs, as many
as compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from numbers import Integral
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from rcexplainer.arguments import clear_arguments
from rcexplainer.core.regions import Regions
from rcexplainer.core.segments import ranks
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.seed import check_seed
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.edge_kinds import EdgeKinds
from rcexplainer.method.region_members import RegionMembers

PERMUTATIONS = 999
MOST_COMPARED = 300  # instances of a class, drawn with the seed: pairs grow with their square
ONE_REGION = "one region per class"
NOTHING_COMPARED = "no explanation has an edge to compare"
SHARED_REGION = "the instances of each class share a region, or have one each"


@dataclass(frozen=True)
class RegionAgreement:
    """Agreement of explanations within and across regions.

    Attributes:
        within: Mean similarity of two explanations of one region; nan where no class can be compared.
        across: The same for two regions of one class.
        within_pairs: Number of pairs of one region.
        across_pairs: Number of pairs of two regions.
        p_value: Share of permutations with a difference at least as large.
        classes: Number of classes that were compared.
        chance: The difference for random edges of the same instances.
        note: Why none was; empty if one was.
    """

    within: float = nan
    across: float = nan
    within_pairs: int = 0
    across_pairs: int = 0
    p_value: float = nan
    classes: int = 0
    chance: float = nan
    note: str = ""

    @property
    def difference(self) -> float:
        """How much more explanations agree within a region."""
        return self.within - self.across

    def __str__(self) -> str:
        if self.note:
            return self.note
        return (
            f"{self.within:.2f} within a region ({self.within_pairs} pairs), {self.across:.2f} across "
            f"({self.across_pairs} pairs), p = {self.p_value:.3f}; random edges differ by {self.chance:.2f}"
        )


class WithRegions(Protocol):
    """A fitted explainer that has decision regions."""

    @property
    def split(self) -> SplitModel:
        """The model."""

    @property
    def regions(self) -> Regions:
        """The regions."""

    @property
    def assign(self) -> Callable[[Regions, Tensor, Tensor], Tensor]:
        """How instances find their region, from regions, embeddings and predictions."""


class ClassPairs(NamedTuple):
    """The instances of one class: similarities [n, n] and regions [n]."""

    similarity: Tensor
    region: Tensor


@clear_arguments()
def region_agreement(
    fitted: WithRegions,
    explanations: Sequence[Explanation],
    k: int | None = 8,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> RegionAgreement:
    """Compare the kinds of edges of explanations within a region and across regions of the same class.

    Args:
        fitted: The fitted RCExplainer.
        explanations: Its explanations, or another method's for the same model.
        k: Number of top edges that are compared; None: the edges that flipping counterfactuals delete.
        permutations: Number of random permutations for the p-value.
        seed: Random seed of the permutations, and of the choice of instances in a class with more than 300.

    Returns:
        The agreement; its `note` says where there is nothing to compare.

    Raises:
        RCExplainerError: If k or the number of permutations is not positive, or the explainer has no regions.
    """
    if not hasattr(fitted, "regions"):
        raise RCExplainerError(f"region_agreement needs a fitted RCExplainer, {fitted!r} has no regions")
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool)):
        raise RCExplainerError(f"k must be a whole number or None, got {k!r}")
    if permutations < 1 or (k is not None and k < 1):
        raise RCExplainerError(f"k and permutations must be at least 1, got k={k} and permutations={permutations}")
    check_seed(seed)
    if int(fitted.regions.labels.bincount().max()) < 2:
        return RegionAgreement(note=ONE_REGION)
    chosen = [(one, units) for one in explanations if len(units := _compared(one, k))]
    if not chosen:
        return RegionAgreement(note=NOTHING_COMPARED)
    shown = [one for one, _ in chosen]
    members = RegionMembers.of(fitted.split, fitted.regions, shown, fitted.assign)
    generator = torch.Generator().manual_seed(seed)
    groups: list[Tensor] = []
    for label in sorted(set(members.prediction.tolist())):
        own = (members.prediction.cpu() == label).nonzero().flatten()
        groups.append(own[torch.randperm(len(own), generator=generator)[:MOST_COMPARED]])
    kinds, region = EdgeKinds.of(shown), members.region.cpu()

    def pairs(units: Sequence[Tensor]) -> list[ClassPairs]:
        counts = _counts(kinds, shown, units)
        return [ClassPairs(similarities(counts[own]), region[own]) for own in groups]

    found = compare(pairs([units for _, units in chosen]), permutations, generator)
    drawn = [torch.randperm(len(one.units), generator=generator)[: len(units)] for one, units in chosen]
    return replace(found, chance=compare(pairs(drawn), 0, generator).difference)


def compare(classes: Sequence[ClassPairs], permutations: int, generator: torch.Generator) -> RegionAgreement:
    """Compare similarities within and across regions.

    Args:
        classes: The instances of each class.
        permutations: Number of random permutations; 0: the p-value is 1.
        generator: Random numbers.

    Returns:
        The agreement over all classes with pairs of both sorts.
    """
    classes = [one for one in classes if all(_pairs(one.region))]
    if not classes:
        return RegionAgreement(note=SHARED_REGION)
    within, across = _means(classes, [one.region for one in classes])
    as_large = 0
    for _ in range(permutations):
        mixed = [one.region[torch.randperm(len(one.region), generator=generator)] for one in classes]
        inside, outside = _means(classes, mixed)
        as_large += inside - outside >= within - across - 1e-9
    same, different = (sum(numbers) for numbers in zip(*(_pairs(one.region) for one in classes), strict=True))
    p_value = (1 + as_large) / (1 + permutations)
    return RegionAgreement(within, across, same, different, p_value, len(classes))


def similarities(counts: Tensor) -> Tensor:
    """Compare multisets.

    Args:
        counts: [n, K] the number of edges of each kind.

    Returns:
        [n, n] the Jaccard overlap of each two; the diagonal is 0.
    """
    shared = sum(torch.minimum(column[:, None], column) for column in counts.double().T)
    size = counts.double().sum(1)
    return (shared / (size[:, None] + size - shared)).fill_diagonal_(0)


def _means(classes: Sequence[ClassPairs], regions: Sequence[Tensor]) -> tuple[float, float]:
    """Mean similarity within and across these regions: of each class, then weighted by its number of instances."""
    total = sum(len(one.region) for one in classes)
    within = across = 0.0
    for one, region in zip(classes, regions, strict=True):
        same = region[:, None] == region
        pairs, others = _pairs(region)
        inside, everything = float((one.similarity * same).sum()) / 2, float(one.similarity.sum()) / 2
        share = len(region) / total
        within, across = within + share * inside / pairs, across + share * (everything - inside) / others
    return within, across


def _pairs(region: Tensor) -> tuple[int, int]:
    """Numbers of pairs of one region, and of two."""
    sizes, number = region.unique(return_counts=True)[1], len(region)
    same = int((sizes * (sizes - 1)).sum()) // 2
    return same, number * (number - 1) // 2 - same


def _compared(one: Explanation, k: int | None) -> Tensor:
    """[k] the units that are compared."""
    if k is not None:
        return (ranks(one.unit_scores, one.units.owner, one.units.ptr) < min(k, len(one.units))).nonzero().flatten()
    found = one.counterfactual
    return one.removed_units if found is not None and found.flipped else torch.empty(0, dtype=torch.long)


def _counts(kinds: EdgeKinds, shown: Sequence[Explanation], units: Sequence[Tensor]) -> Tensor:
    """[n, K] how many of these units of each explanation are of each kind."""
    found = [kinds.counts(place, *pair) for place, pair in enumerate(zip(shown, units, strict=True))]
    columns = {kind: number for number, kind in enumerate(sorted(set().union(*found)))}
    counts = torch.zeros(len(shown), len(columns))
    for row, one in zip(counts, found, strict=True):
        for kind, count in one.items():
            row[columns[kind]] = count
    return counts
