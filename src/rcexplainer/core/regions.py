"""Decision regions: convex polytopes that hold many instances of one predicted class and hardly any of the others.

    max_{P ⊆ H̃} g(P, c)   s.t.   h(P, c) ≤ δ = h(H̃, c)                                             (1, 4)
    D_c ← D_c \\ r(P, c), until D_c is empty                                                          (peeling)
    x ∈ r(P, c)   ⇔   s_i B_i(x) > 0 for all i ∈ P                                 s_i = ±1

x [n, d]; H̃ = the boundaries between c and another class; a region is rows [p] of the boundaries and signs [p]. For
losses over instances of different regions they are padded to [R, P_max], and boundaries are divided by a scale, half
the median |B_i| of the members covered, because σ(B) is flat where |B| is in the tens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from rcexplainer.core.boundaries import LinearBoundaries, check_embeddings, concat
from rcexplainer.core.cover import COVER_EPSILON, peel
from rcexplainer.errors import RCExplainerError
from rcexplainer.short_repr import ShortRepr

_MATRIX_SIZE = 2**24  # entries of an instances × boundaries matrix computed at a time: 64 MB of floats
_REGIONS_PRINTED = 5  # per class


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRegion(ShortRepr):
    """r(P, c).

    Attributes:
        label: c.
        rows: [p] long; P as rows of the boundaries.
        signs: [p] ±1; the inner side of each.
        covered: Number of members that no earlier region covers.
        intruders: Number of instances of other classes inside, counted before a region is made tight.
    """

    label: int
    rows: Tensor
    signs: Tensor
    covered: int
    intruders: int


@dataclass(frozen=True, eq=False, repr=False)
class Regions(ShortRepr):
    """The regions of all classes, those of one class in the order of peeling.

    Attributes:
        boundaries: The candidates H̃ of all classes.
        regions: R regions.
        scale: [R, P_max] the divisor of each boundary in `margins`.
    """

    boundaries: LinearBoundaries
    regions: tuple[DecisionRegion, ...]
    scale: Tensor

    @classmethod
    def fit(
        cls,
        boundaries: LinearBoundaries,
        embeddings: Tensor,
        predictions: Tensor,
        *,
        epsilon: float = COVER_EPSILON,
        scaled: bool = True,
        tight: bool = False,
    ) -> "Regions":
        """Find the regions of every predicted class by peeling.

        Args:
            boundaries: The candidates H̃ of all classes.
            embeddings: [n, d].
            predictions: [n] the predicted classes (never labels).
            epsilon: ε of the greedy choice (Eq. 5).
            scaled: Whether margins are divided by half the median |B_i| of the members covered; if not, the scale is 1.
            tight: Whether a region gets every candidate that has all its members on one side. It then covers the same
                instances, but less of the empty space around them, where deleting edges may lead.

        Returns:
            The regions.

        Raises:
            RCExplainerError: If an embedding is not finite, or the numbers of embeddings and predictions differ.
        """
        check_embeddings(embeddings)
        if len(predictions) != len(embeddings) or not len(embeddings):
            raise RCExplainerError(
                f"regions need one predicted class for each embedding: got {len(embeddings)} embeddings and "
                f"{len(predictions)} predictions"
            )
        regions: list[DecisionRegion] = []
        scales: list[Tensor] = []
        for label in sorted(set(predictions.tolist())):
            rows = boundaries.candidates(label)
            candidates = boundaries.select(rows)
            members, others = ((predictions == label) == own for own in (True, False))
            covers = peel(
                _sides(candidates, embeddings, members.nonzero().flatten()),
                _sides(candidates, embeddings, others.nonzero().flatten()),
                epsilon,
            )
            own = embeddings[members]
            for cover in covers:
                chosen, inside = cover.rows, cover.sides
                if tight:
                    chosen, inside = _unanimous(_sides(candidates, own, cover.index))
                signs = torch.where(inside, 1, -1).to(embeddings.dtype)
                regions.append(DecisionRegion(label, rows[chosen], signs, len(cover.index), cover.intruders))
                distances = candidates.select(chosen)(own[cover.index]).abs()
                scales.append(distances.median(0).values / 2 if scaled else torch.ones_like(distances[0]))
        # Only where all members lie on a boundary would its scale be 0.
        scale = _pad(scales, 1.0).clamp_min(torch.finfo(embeddings.dtype).eps)
        return cls(boundaries, tuple(regions), scale)

    def __len__(self) -> int:
        return len(self.regions)

    @cached_property
    def labels(self) -> Tensor:
        """[R] the class of each region."""
        return torch.tensor([region.label for region in self.regions], device=self.scale.device)

    @cached_property
    def rows(self) -> Tensor:
        """[R, P_max] the boundaries of each region, padded with 0."""
        return _pad([region.rows for region in self.regions], 0)

    @cached_property
    def signs(self) -> Tensor:
        """[R, P_max] their inner sides ±1, padded with 0."""
        return _pad([region.signs for region in self.regions], 0)

    @cached_property
    def valid(self) -> Tensor:
        """[R, P_max] bool; False for padding."""
        return self.signs != 0

    def distances(self, embeddings: Tensor, region: Tensor) -> Tensor:
        """Evaluate s_i B_i(x) for the boundaries of each instance's region.

        Args:
            embeddings: [n, d].
            region: [n] the region of each instance, −1 for none.

        Returns:
            [n, P_max]; positive inside, +inf for padding and for region −1, so that minima ignore both.
        """
        if not len(self.boundaries):
            return embeddings.new_full((len(embeddings), self.scale.size(1)), torch.inf)
        values = self.boundaries(embeddings).gather(1, self.rows[region])
        valid = self.valid[region] & (region >= 0)[:, None]
        return (values * self.signs[region]).masked_fill(~valid, torch.inf)

    def margins(self, embeddings: Tensor, region: Tensor) -> Tensor:
        """As `distances`, with each boundary divided by its scale.

        Args:
            embeddings: [n, d].
            region: [n] the region of each instance, −1 for none.

        Returns:
            [n, P_max].
        """
        return self.distances(embeddings, region) / self.scale[region]

    @torch.no_grad()
    def violated(self, embeddings: Tensor, region: Tensor) -> Tensor:
        """Count the boundaries of its region that each instance is on the wrong side of.

        Args:
            embeddings: [n, d].
            region: [n] the region of each instance, −1 for none.

        Returns:
            [n]; 0 for region −1.
        """
        counts = torch.zeros_like(region)
        for part in _parts(len(region) if len(self.boundaries) else 0, len(self.boundaries)):
            sides = self.boundaries(embeddings[part]).gather(1, self.rows[region[part]]) > 0
            outside = (sides != (self.signs > 0)[region[part]]) & self.valid[region[part]]
            counts[part] = outside.sum(1) * (region[part] >= 0)
        return counts

    def contains(self, embeddings: Tensor, region: Tensor) -> Tensor:
        """Test whether each instance lies in its region.

        Args:
            embeddings: [n, d].
            region: [n] the region of each instance, −1 for none.

        Returns:
            [n] bool; False for region −1.
        """
        return (self.violated(embeddings, region) == 0) & (region >= 0)

    def assign(self, embeddings: Tensor, predictions: Tensor) -> Tensor:
        """Assign instances to the region of their predicted class with the fewest violated boundaries.

        Args:
            embeddings: [n, d].
            predictions: [n].

        Returns:
            [n] regions, at a tie the one peeled first; −1 where the class has no region.

        Raises:
            RCExplainerError: If an embedding is not finite.
        """
        check_embeddings(embeddings)
        region = torch.full_like(predictions, -1)
        for label in sorted(set(self.labels.tolist())):
            own = (self.labels == label).nonzero().flatten()
            instances = (predictions == label).nonzero().flatten()
            region[instances] = own[self._fewest_violated(embeddings, instances, own)]
        return region

    @torch.no_grad()
    def _fewest_violated(self, embeddings: Tensor, instances: Tensor, own: Tensor) -> Tensor:
        """[k] for each of `instances` [k] the position in `own` of the region with the fewest violated boundaries."""
        valid, signs = self.valid[own], self.signs[own]
        used, place = torch.unique(self.rows[own][valid], return_inverse=True)
        # A row of sign + is violated where B ≤ 0, which is 1 − [B > 0]; one of sign − where B > 0. So the counts are a
        # matrix product.
        turn = torch.zeros(len(used), len(own), device=used.device)
        turn[place, valid.nonzero()[:, 0]] = -signs[valid].float()
        at_zero = (signs > 0).sum(1).float()
        boundaries, best = self.boundaries.select(used), torch.zeros_like(instances)
        for part in _parts(len(instances), max(len(used), len(own))):
            positive = boundaries(embeddings[instances[part]]) > 0
            best[part] = torch.addmm(at_zero, positive.float(), turn).argmin(1)
        return best

    def __str__(self) -> str:
        lines = [f"{'class':>5}  {'boundaries':>10}  {'covered':>9}  {'intruders':>9}"]
        for label in dict.fromkeys(region.label for region in self.regions):
            own = [region for region in self.regions if region.label == label]
            lines += [
                f"{label:>5}  {len(region.rows):>10}  {region.covered:>9}  {region.intruders:>9}"
                for region in own[:_REGIONS_PRINTED]
            ]
            if own[_REGIONS_PRINTED:]:
                rest = sum(region.covered for region in own[_REGIONS_PRINTED:])
                lines.append(f"{label:>5}  … {len(own) - _REGIONS_PRINTED} more regions, which cover {rest}")
        return "\n".join(lines)

    def state(self) -> dict[str, Tensor]:
        """Return everything as plain tensors, to be saved; `from_state` is the inverse."""
        counts = torch.tensor([[region.covered, region.intruders] for region in self.regions])
        return {
            "weight": self.boundaries.weight,
            "bias": self.boundaries.bias,
            "classes": self.boundaries.classes,
            "labels": self.labels,
            "rows": self.rows,
            "signs": self.signs,
            "scale": self.scale,
            "covered": counts[:, 0].contiguous(),
            "intruders": counts[:, 1].contiguous(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Tensor]) -> "Regions":
        """Restore what `state` returned.

        Args:
            state: Tensors by name.

        Returns:
            The regions.
        """
        numbers = zip(*(state[name].tolist() for name in ("labels", "covered", "intruders")), strict=True)
        regions = tuple(
            DecisionRegion(label, rows[signs != 0], signs[signs != 0], covered, intruders)
            for (label, covered, intruders), rows, signs in zip(numbers, state["rows"], state["signs"], strict=True)
        )
        return cls(LinearBoundaries(state["weight"], state["bias"], state["classes"]), regions, state["scale"])

    @classmethod
    def joined(cls, parts: Sequence["Regions"]) -> "Regions":
        """Concatenate several sets of regions.

        Args:
            parts: The sets, each with its own boundaries.

        Returns:
            All regions, in the order of the parts.
        """
        starts = torch.tensor([0, *(len(part.boundaries) for part in parts)]).cumsum(0).tolist()
        regions = [
            replace(one, rows=one.rows + start)
            for start, part in zip(starts, parts, strict=False)
            for one in part.regions
        ]
        scales = [scale[signs != 0] for part in parts for scale, signs in zip(part.scale, part.signs, strict=True)]
        return cls(concat([part.boundaries for part in parts]), tuple(regions), _pad(scales, 1.0))


def _unanimous(sides: Tensor) -> tuple[Tensor, Tensor]:
    """The columns [p] of sides [k, m] on which all rows agree, and the side [p] they agree on."""
    same = (sides == sides[0]).all(0)
    return same.nonzero().flatten(), sides[0, same]


def _sides(boundaries: LinearBoundaries, embeddings: Tensor, index: Tensor) -> Tensor:
    """B(x) > 0 [k, m] for the instances at `index` [k]."""
    sides = torch.empty(len(index), len(boundaries), dtype=torch.bool, device=embeddings.device)
    with torch.no_grad():
        for part in _parts(len(index), max(len(boundaries), embeddings.size(1))):
            torch.gt(boundaries(embeddings.index_select(0, index[part])), 0, out=sides[part])
    return sides


def _parts(length: int, width: int) -> Iterator[slice]:
    """Slices of 0 … length that keep a matrix of this width small."""
    step = max(1, _MATRIX_SIZE // max(1, width))
    return (slice(start, start + step) for start in range(0, length, step))


def _pad(parts: list[Tensor], value: float) -> Tensor:
    """[R, P_max] with at least one column, so that a minimum over the boundaries exists."""
    width = max(1, *(len(part) for part in parts))
    padded = parts[0].new_full((len(parts), width), value)
    for line, part in zip(padded, parts, strict=True):
        line[: len(part)] = part
    return padded
