"""Eq. 1, 4, 5 against sets and loops, the optimum of small cases, and what must hold of every region."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor, nn

from rcexplainer.core import regions as regions_module
from rcexplainer.core.boundaries import LinearBoundaries, at_samples, enumerate_affine
from rcexplainer.core.cover import COVER_EPSILON, Cover, peel
from rcexplainer.core.regions import DecisionRegion, Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.errors import RCExplainerError
from tests.core import literal
from tests.core.test_boundaries import mlp, points, vee


@st.composite
def sides(draw, max_members: int = 12, max_intruders: int = 12, max_rows: int = 6) -> tuple[Tensor, Tensor]:
    """Who is on which side: of real hyperplanes in the plane, or of nothing that has a shape."""
    g, k = draw(st.integers(1, max_members)), draw(st.integers(0, max_intruders))
    m, seed = draw(st.integers(0, max_rows)), draw(st.integers(0, 2**32))
    generator = torch.Generator().manual_seed(seed)
    if draw(st.booleans()):
        values = torch.randn(g + k, 3, generator=generator) @ torch.randn(3, m, generator=generator)
    else:
        values = torch.rand(g + k, m, generator=generator) - draw(st.floats(0.1, 0.9))
    return values[:g] > 0, values[g:] > 0


def first_cover(members: Tensor, intruders: Tensor, epsilon: float = COVER_EPSILON) -> Cover:
    """The first region alone."""
    return next(peel(members, intruders, epsilon))


def inside(cover: Cover, sides: Tensor) -> Tensor:
    """[n] which instances lie in the cell of the chosen rows."""
    return (sides[:, cover.rows] == cover.sides).all(1)


@given(sides(), st.sampled_from([1e-3, 0.5, 2.0]))
@settings(max_examples=300, deadline=None)
def test_the_greedy_cover_is_the_literal_one(case: tuple[Tensor, Tensor], epsilon: float) -> None:
    members, intruders = case
    cover = first_cover(members, intruders, epsilon)
    plain = members.tolist(), intruders.tolist()
    chosen = literal.greedy(*plain, epsilon)
    assert cover.index.tolist() == sorted(literal.in_cell(plain[0], chosen))
    assert set(inside(cover, intruders).nonzero().flatten().tolist()) == literal.in_cell(plain[1], chosen)
    assert cover.intruders == len(literal.in_cell(plain[1], chosen)) <= literal.tolerance(*plain)
    needed = literal.without_redundant(*plain, chosen)
    assert list(zip(cover.rows.tolist(), cover.sides.tolist(), strict=True)) == list(needed.items())


@given(sides(max_members=40, max_intruders=40, max_rows=12))
@settings(max_examples=200, deadline=None)
def test_what_holds_of_every_cover(case: tuple[Tensor, Tensor]) -> None:
    members, intruders = case
    done = torch.zeros(len(members), dtype=torch.bool)
    for cover in peel(members, intruders):
        remaining = members[~done]
        assert torch.equal(cover.index, (inside(cover, members) & ~done).nonzero().flatten())
        assert cover.intruders == inside(cover, intruders).sum()
        assert cover.intruders <= literal.tolerance(remaining.tolist(), intruders.tolist())
        assert len(cover.index)
        done[cover.index] = True
    assert done.all()


@given(sides(max_members=25, max_intruders=25, max_rows=8))
@settings(max_examples=100, deadline=None)
def test_peeling_is_the_literal_cover_of_whoever_remains(case: tuple[Tensor, Tensor]) -> None:
    members, intruders = case
    left = torch.arange(len(members))
    for cover in peel(members, intruders):
        plain = members[left].tolist(), intruders.tolist()
        chosen = literal.greedy(*plain, COVER_EPSILON)
        assert cover.index.tolist() == left[sorted(literal.in_cell(plain[0], chosen))].tolist()
        needed = literal.without_redundant(*plain, chosen)
        assert list(zip(cover.rows.tolist(), cover.sides.tolist(), strict=True)) == list(needed.items())
        left = left[~torch.isin(left, cover.index)]
    assert not len(left)


@pytest.mark.parametrize("rows", [63, 64, 140])
def test_more_candidates_than_an_integer_has_bits(rows: int) -> None:
    values = torch.randn(80, 8, generator=torch.Generator().manual_seed(rows)) @ torch.randn(
        8, rows, generator=torch.Generator().manual_seed(0)
    )
    members, intruders = values[:30] > 0, values[30:] > 0
    cover, plain = first_cover(members, intruders), (members.tolist(), intruders.tolist())
    chosen = literal.greedy(*plain, COVER_EPSILON)
    needed = literal.without_redundant(*plain, chosen)
    assert len(needed) > 1
    assert list(zip(cover.rows.tolist(), cover.sides.tolist(), strict=True)) == list(needed.items())


def test_how_far_the_greedy_cover_is_from_the_optimum(capsys: pytest.CaptureFixture[str]) -> None:
    shares = []
    for seed in range(60):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(40, 2, generator=generator)
        x[:20] += torch.tensor([1.5, 0.0])
        values = x @ torch.randn(2, 7, generator=generator) + 0.7 * torch.randn(7, generator=generator)
        members, intruders = values[:20] > 0, values[20:] > 0
        best = literal.optimum(members.tolist(), intruders.tolist())
        shares.append(len(first_cover(members, intruders).index) / best)
    mean = sum(shares) / len(shares)
    with capsys.disabled():
        exact = sum(share == 1 for share in shares)
        print(f"\ngreedy cover: {mean:.3f} of the optimum, exact in {exact} of 60")  # noqa: T201
    assert min(shares) > 0.5
    assert mean > 0.9


def test_the_regions_of_the_v() -> None:
    """Above the V is convex: one region with both arms. Below it is not: one region for each arm."""
    x = points(400).float()
    predictions = vee(x).argmax(1)
    boundaries = sample_boundaries(vee, x, predictions)
    assert len(boundaries) == 2
    regions = Regions.fit(boundaries, x, predictions)
    above = [region for region in regions.regions if region.label == 0]
    below = [region for region in regions.regions if region.label == 1]
    assert [(len(region.rows), region.covered, region.intruders) for region in above] == [
        (2, int((predictions == 0).sum()), 0)
    ]
    assert all(region.intruders == 0 for region in below)
    assert len(below) == 2
    lines = str(regions).splitlines()
    assert lines[0].split() == ["class", "boundaries", "covered", "intruders"]
    assert lines[1].split() == ["0", "2", str(above[0].covered), "0"]


def test_a_linear_head_has_one_region_for_each_class() -> None:
    torch.manual_seed(0)
    head, x = nn.Linear(3, 4).double(), points(600, 3)
    predictions = head(x).argmax(1)
    regions = Regions.fit(enumerate_affine(head, 3, torch.float64), x, predictions)
    assert regions.labels.tolist() == [0, 1, 2, 3]
    assert all(region.intruders == 0 for region in regions.regions)
    assert [region.covered for region in regions.regions] == predictions.bincount().tolist()
    for region in regions.regions:  # rows of this class alone, turned to its side
        pairs = regions.boundaries.classes[region.rows]
        assert (pairs == region.label).any(1).all()
        assert torch.equal(region.signs > 0, pairs[:, 0] == region.label)
    outside = points(300, 3, seed=2) * 3
    assert torch.equal(regions.labels[regions.assign(outside, head(outside).argmax(1))], head(outside).argmax(1))


@given(st.integers(0, 2**32), st.integers(1, 6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_holds_of_all_regions(seed: int, classes: int, tight: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(120, 3, generator=generator, dtype=torch.float64)
    predictions = torch.randint(classes, (120,), generator=generator)
    predictions[(x[:, 0] > 0) & (x[:, 1] > 0)] = 0
    head = mlp(nn.ReLU(), width=3, classes=6)
    boundaries = at_samples(head, x[:30]).merged()
    regions = Regions.fit(boundaries, x, predictions, tight=tight)
    assigned = regions.assign(x, predictions)
    assert (assigned >= 0).all()
    assert torch.equal(regions.labels[assigned], predictions)
    assert regions.contains(x, assigned).all()
    assert sum(region.covered for region in regions.regions) == 120
    for label in range(classes):
        first = next((i for i, region in enumerate(regions.regions) if region.label == label), None)
        if first is not None:
            inside = regions.contains(x, torch.full((120,), first))
            assert regions.regions[first].covered == int((inside & (predictions == label)).sum())
            intruders = int((inside & (predictions != label)).sum())
            # A tight region has boundaries more than the cover that was counted.
            assert intruders <= regions.regions[first].intruders
            assert tight or intruders == regions.regions[first].intruders
    margins = regions.margins(x, assigned)
    assert (margins >= 0).all()
    assert torch.equal(margins.isinf(), ~regions.valid[assigned])


def fitted(**settings: object) -> tuple[Regions, Tensor, Tensor]:
    head, x = mlp(nn.ReLU()), points(300)
    predictions = head(x).argmax(1)
    return Regions.fit(sample_boundaries(head, x, predictions), x, predictions, **settings), x, predictions


def test_assignment_is_the_fewest_violated() -> None:
    regions, _, _ = fitted()
    x = points(200, seed=5) * 2
    predictions = torch.arange(200) % 4  # whatever the head says of them; class 3 was never seen
    assigned, counts = regions.assign(x, predictions), []
    for region in regions.regions:
        values = regions.boundaries.select(region.rows)(x)
        counts.append(((values > 0) != (region.signs > 0)).sum(1))
    for i in range(200):
        own = [(int(counts[r][i]), r) for r in range(len(regions)) if regions.labels[r] == predictions[i]]
        assert int(assigned[i]) == (min(own)[1] if own else -1)
        if own:
            assert int(regions.violated(x, assigned)[i]) == min(own)[0]
    unseen = predictions == 3
    assert regions.margins(x, assigned)[unseen].isinf().all()
    assert not regions.contains(x, assigned)[unseen].any()


def test_margins_and_scale() -> None:
    regions, x, predictions = fitted()
    assigned = regions.assign(x, predictions)
    margins = regions.margins(x, assigned)
    for i in range(0, 300, 37):
        region = regions.regions[int(assigned[i])]
        b = regions.boundaries.select(region.rows)(x[i : i + 1])[0] * region.signs
        assert torch.allclose(margins[i, : len(b)], b / regions.scale[assigned[i], : len(b)])
    # Half the median of the covered: so the median margin of those a region was made for is 2.
    assert torch.allclose(margins[assigned == 0].median(0).values[regions.valid[0]], torch.tensor(2.0).double())
    unscaled, _, _ = fitted(scaled=False)
    assert (unscaled.scale == 1).all()
    (gradient,) = torch.autograd.grad(regions.margins(x.requires_grad_(), assigned).amin(1).sum(), x)
    assert gradient.isfinite().all()


def test_state_and_back() -> None:
    regions, x, predictions = fitted()
    again = Regions.from_state(regions.state())
    assert str(again) == str(regions)
    assert all(
        torch.equal(one, other) for one, other in zip(again.state().values(), regions.state().values(), strict=True)
    )
    assert torch.equal(again.assign(x, predictions), regions.assign(x, predictions))


@pytest.mark.parametrize("boundaries", ["none", "some"])
def test_one_class_only_is_one_region_without_boundaries(boundaries: str) -> None:
    x = points(50)
    rows = at_samples(mlp(nn.ReLU()), x) if boundaries == "some" else LinearBoundaries(
        x[:0], x[:0, 0], torch.empty(0, 2, dtype=torch.long)
    )  # fmt: skip
    regions = Regions.fit(rows, x, torch.ones(50, dtype=torch.long))
    assert [(region.label, len(region.rows), region.covered) for region in regions.regions] == [(1, 0, 50)]
    assert regions.contains(x, regions.assign(x, torch.ones(50, dtype=torch.long))).all()
    assert regions.margins(x, torch.zeros(50, dtype=torch.long)).amin(1).isinf().all()
    assert regions.assign(x[:2], torch.tensor([1, 7])).tolist() == [0, -1]
    assert str(Regions.from_state(regions.state())) == str(regions)


def test_a_class_with_one_instance() -> None:
    x = torch.tensor([[0.0, 5.0], [1.0, 0.0], [-1.0, -1.0], [2.0, -3.0]])
    predictions = vee(x).argmax(1)
    assert predictions.tolist() == [0, 1, 1, 1]
    regions = Regions.fit(at_samples(vee, x).merged(), x, predictions)
    assert regions.regions[0].covered == 1
    assert regions.regions[0].intruders == 0
    assert regions.assign(x, predictions)[0] == 0


def test_bad_input() -> None:
    regions, x, predictions = fitted()
    broken = x.clone()
    broken[7] = torch.nan
    with pytest.raises(
        RCExplainerError, match=r"1 of 300 embeddings contain NaN or infinite values, the first in row 7"
    ):
        Regions.fit(regions.boundaries, broken, predictions)
    with pytest.raises(RCExplainerError, match="NaN"):
        regions.assign(broken, predictions)
    with pytest.raises(RCExplainerError, match="got 300 embeddings and 299 predictions"):
        Regions.fit(regions.boundaries, x, predictions[1:])
    with pytest.raises(RCExplainerError, match=r"epsilon must be a number > 0, got 0\.0"):
        Regions.fit(regions.boundaries, x, predictions, epsilon=0.0)


def test_tight_regions_have_every_boundary_their_members_agree_on() -> None:
    """Three classes on a line of two boundaries each: the cover needs one, the cell has two."""
    weights = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    boundaries = LinearBoundaries(weights, torch.zeros(3), torch.tensor([[0, 1], [0, 2], [1, 2]]))
    x = torch.tensor([[2.0, 1.0], [3.0, 2.0], [-1.0, 3.0], [-2.0, 2.0]])
    predictions = torch.tensor([0, 0, 1, 1])
    loose, tight = (Regions.fit(boundaries, x, predictions, tight=value) for value in (False, True))
    assert [region.rows.tolist() for region in loose.regions] == [[0], [0]]
    assert [sorted(region.rows.tolist()) for region in tight.regions] == [[0, 1], [0, 2]]
    for before, after in zip(loose.regions, tight.regions, strict=True):
        assert (before.covered, before.intruders) == (after.covered, after.intruders)
    assert bool((tight.margins(x, tight.assign(x, predictions)) >= 0).all())


def test_members_on_the_boundary_itself_do_not_divide_by_0() -> None:
    line = LinearBoundaries(torch.ones(1, 1), torch.zeros(1), torch.tensor([[0, 1]]))
    x, predictions = torch.tensor([[0.0], [0.0], [1.0], [2.0]]), torch.tensor([1, 1, 0, 0])
    regions = Regions.fit(line, x, predictions)
    assert [len(region.rows) for region in regions.regions] == [1, 1]
    assert not regions.margins(x, regions.assign(x, predictions)).isnan().any()


def test_no_boundary_of_no_region_is_violated() -> None:
    regions, x, _ = fitted()
    nowhere = torch.full((len(x),), -1)
    assert (regions.violated(x, torch.full_like(nowhere, len(regions) - 1)) > 0).any()
    assert (regions.violated(x, nowhere) == 0).all()


def test_joined_regions_keep_their_own_boundaries() -> None:
    one, x, predictions = fitted()
    other = Regions.fit(one.boundaries.select(torch.arange(3, len(one.boundaries))), x, predictions, scaled=False)
    both = Regions.joined([one, other])
    assert len(both) == len(one) + len(other)
    for part, start in ((one, 0), (other, len(one))):
        own = part.assign(x, predictions)
        width = part.scale.size(1)
        torch.testing.assert_close(both.margins(x, own + start)[:, :width], part.margins(x, own))
        assert torch.equal(both.violated(x, own + start), part.violated(x, own))


def test_a_region_without_boundaries_beside_one_that_has_the_only_one() -> None:
    """Class 2 has no boundary with another class, so its region is everywhere."""
    line = LinearBoundaries(torch.tensor([[1.0]]), torch.tensor([0.0]), torch.tensor([[0, 1]]))
    x, predictions = torch.tensor([[2.0], [-2.0], [5.0]]), torch.tensor([0, 1, 2])
    regions = Regions.fit(boundaries=line, embeddings=x, predictions=predictions, scaled=False)
    assert regions.scale.tolist() == [[1.0]] * 3
    assert [region.rows.tolist() for region in regions.regions] == [[0], [0], []]
    x, everyone = torch.tensor([[3.0], [3.0], [-3.0]]), torch.tensor([0, 1, 2])
    assert regions.distances(x, everyone).tolist() == [[3.0], [-3.0], [torch.inf]]
    assert regions.violated(x, everyone).tolist() == [0, 1, 0]
    assert regions.contains(x, everyone).tolist() == [True, False, True]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_on_a_boundary_is_where_it_is_not_positive(sign: float) -> None:
    """0 is outside of B > 0, and inside of −B > 0, the other side of the same line, for everyone who asks."""
    line = LinearBoundaries(torch.tensor([[1.0]]), torch.tensor([0.0]), torch.tensor([[0, 1]]))
    both = [DecisionRegion(0, torch.tensor([0]), torch.tensor([side]), 1, 0) for side in (sign, -sign)]
    regions, x = Regions(line, tuple(both), torch.ones(2, 1)), torch.zeros(2, 1)
    inside = [sign < 0, sign > 0]
    assert regions.contains(x, torch.tensor([0, 1])).tolist() == inside
    assert regions.violated(x, torch.tensor([0, 1])).tolist() == [int(not one) for one in inside]
    assert regions.assign(x, torch.tensor([0, 0])).tolist() == [inside.index(True)] * 2


def test_a_class_with_many_regions_is_cut_short() -> None:
    """Seven members between eight others on a line: no two members are in one interval."""
    x = torch.arange(15.0)[:, None]
    lines = LinearBoundaries(torch.ones(14, 1), -torch.arange(14) - 0.5, torch.tensor([[0, 1]] * 14))
    regions = Regions.fit(lines, x, torch.arange(15) % 2, tight=True)
    shown = [line.split() for line in str(regions).splitlines() if line.split()[0] == "1"]
    assert [row[2] for row in shown[:5]] == ["1"] * 5
    assert " ".join(shown[5]) == "1 … 2 more regions, which cover 2"
    assert len(shown) == 6


def test_no_matrix_of_instances_and_boundaries_is_larger_than_64_mb(monkeypatch) -> None:
    """2,000 boundaries and 9,000 instances: 18 million numbers in all."""
    made: list[int] = []
    plain = LinearBoundaries.__call__

    def measured(self: LinearBoundaries, x: Tensor) -> Tensor:
        made.append(len(x) * len(self))
        return plain(self, x)

    generator = torch.Generator().manual_seed(0)
    lines = LinearBoundaries(
        torch.randn(2000, 1, generator=generator), torch.zeros(2000), torch.tensor([[0, 1]]).expand(2000, 2)
    )
    one = DecisionRegion(0, torch.arange(2000), torch.ones(2000), covered=1, intruders=0)
    regions, x = Regions(lines, (one,), torch.ones(1, 2000)), torch.ones(9000, 1)
    monkeypatch.setattr(LinearBoundaries, "__call__", measured)
    regions.assign(x, torch.zeros(9000, dtype=torch.long))
    assert sum(made) == 9000 * 2000
    assert 4 * max(made) <= 64 * 2**20


@pytest.mark.parametrize("size", [1, 40, 10_000])
def test_pieces_do_not_change_what_is_found(monkeypatch, size: int) -> None:
    whole, x, predictions = fitted()
    monkeypatch.setattr(regions_module, "_MATRIX_SIZE", size)
    pieces, _, _ = fitted()
    assert str(pieces) == str(whole)
    away = 3 * x
    assert torch.equal(pieces.assign(away, predictions), whole.assign(away, predictions))
    own = whole.assign(x, predictions)
    assert torch.equal(pieces.violated(away, own), whole.violated(away, own))


def test_a_region_with_few_boundaries_competes_with_one_that_has_more() -> None:
    """0 < x < 3 and y > 0, or x < 0: the point (−1, 1) is outside of the first by one boundary and in the second."""
    lines = LinearBoundaries(
        torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), torch.tensor([0.0, 3.0, 0.0]), torch.tensor([[0, 1]] * 3)
    )
    first = DecisionRegion(0, torch.tensor([0, 1, 2]), torch.ones(3), 5, 0)
    second = DecisionRegion(0, torch.tensor([0]), -torch.ones(1), 3, 0)
    regions = Regions(lines, (first, second), torch.ones(2, 3))
    x = torch.tensor([[-1.0, 1.0], [1.0, 1.0], [5.0, 1.0]])
    assert regions.assign(x, torch.zeros(3, dtype=torch.long)).tolist() == [
        1,
        0,
        0,
    ]  # the last: one each, the first wins
