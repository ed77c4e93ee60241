"""Eq. 2, 3 on heads whose boundaries are known, and against the literal one-sample version."""

import logging

import pytest
import torch
from torch import Tensor, nn

from rcexplainer.core import boundaries as boundaries_module
from rcexplainer.core.boundaries import LinearBoundaries, at_samples, concat, enumerate_affine, on_segments
from rcexplainer.core.sampling import is_affine, linearisation_error, sample_boundaries, smooth_head, warn_if_smooth
from rcexplainer.errors import RCExplainerError
from tests.core.literal import boundary_at


class MaxOut(nn.Module):
    def __init__(self, width: int, hidden: int, pieces: int = 3) -> None:
        super().__init__()
        self.linear = nn.Linear(width, hidden * pieces)
        self.pieces = pieces

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).view(len(x), -1, self.pieces).amax(2)


def mlp(*middle: nn.Module, width: int = 2, hidden: int = 8, classes: int = 3) -> nn.Module:
    torch.manual_seed(0)
    first = middle if any(isinstance(module, MaxOut) for module in middle) else (nn.Linear(width, hidden), *middle)
    return nn.Sequential(*first, nn.Linear(hidden, classes)).double()


PIECEWISE = {
    "relu": nn.ReLU(),
    "leaky": nn.LeakyReLU(0.2),
    "prelu": nn.PReLU(),
    "hardtanh": nn.Hardtanh(),
    "maxout": MaxOut(2, 8),
}
SMOOTH = {"tanh": nn.Tanh(), "gelu": nn.GELU(), "sigmoid": nn.Sigmoid(), "softplus": nn.Softplus(), "elu": nn.ELU()}


def points(number: int = 200, width: int = 2, seed: int = 1) -> Tensor:
    return 2 * torch.randn(number, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def vee(x: Tensor) -> Tensor:
    """Scores (x₁, |x₀|) by two ReLU units: class 0 above the V, whose two arms are x₁ = x₀ and x₁ = −x₀."""
    return torch.stack([x[:, 1], x[:, 0].relu() + (-x[:, 0]).relu()], 1)


def test_the_two_arms_of_the_v() -> None:
    x = torch.tensor([[3.0, 5.0], [-1.0, 4.0], [2.0, 0.0], [-2.0, -7.0]])
    boundaries = at_samples(vee, x)
    # B > 0 on the side of the class of the sample itself: above the V for the first two, below it for the others.
    assert boundaries.classes.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]
    assert boundaries.weight.tolist() == [[-1, 1], [1, 1], [1, -1], [-1, -1]]
    assert boundaries.bias.tolist() == [0, 0, 0, 0]
    merged = boundaries.merged()
    assert merged.weight.tolist() == [[-1, 1], [1, 1]]
    assert merged.classes.tolist() == [[0, 1], [0, 1]]


def test_segments_meet_the_v_where_it_is() -> None:
    starts = torch.tensor([[0.5, 3.0], [-1.0, 4.0]])
    ends = torch.tensor([[2.0, 0.5], [-3.0, -1.0]])
    boundaries = on_segments(vee, starts, ends)
    assert boundaries.classes.tolist() == [[0, 1], [0, 1]]
    assert boundaries.weight.tolist() == [[-1, 1], [1, 1]]
    assert boundaries.bias.abs().max() < 1e-6


@pytest.mark.parametrize("name", [*PIECEWISE, *SMOOTH])
def test_one_backward_pass_equals_one_sample_at_a_time(name: str) -> None:
    head, x = mlp({**PIECEWISE, **SMOOTH}[name]), points()
    boundaries = at_samples(head, x)
    for i, alpha in enumerate(x):
        w, b, classes = boundary_at(head, alpha)
        assert torch.allclose(boundaries.weight[i], w)
        assert torch.allclose(boundaries.bias[i], b)
        assert tuple(boundaries.classes[i].tolist()) == classes


@pytest.mark.parametrize("name", PIECEWISE)
def test_piecewise_linear_heads_are_exact_on_their_piece(name: str) -> None:
    head, x = mlp(PIECEWISE[name]), points()
    boundaries = at_samples(head, x)
    near = x + 1e-7 * torch.randn(x.shape, dtype=x.dtype, generator=torch.Generator().manual_seed(0))
    first, second = head(near).gather(1, boundaries.classes).unbind(1)
    error = (boundaries(near).diagonal() - (first - second)).abs()
    assert error.median() < 1e-12
    assert (error < 1e-12).double().mean() > 0.99  # the rest have a kink in between
    assert not smooth_head(head, x)
    assert not is_affine(head, x)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_heads_are_known(name: str) -> None:
    head, x = mlp(SMOOTH[name]), points()
    assert smooth_head(head, x)
    assert not is_affine(head, x)
    assert linearisation_error(head, x) > 1e-3


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_the_kind_of_head_is_the_same_on_log_probabilities_in_float32(name: str) -> None:
    torch.manual_seed(0)
    activation = nn.ReLU() if name == "relu" else nn.Tanh()
    head = nn.Sequential(
        nn.Linear(20, 64), activation, nn.Linear(64, 64), activation, nn.Linear(64, 3), nn.LogSoftmax(1)
    )
    x = points(100, 20).float()
    assert smooth_head(head, x) == (name == "tanh")
    assert not is_affine(head, x)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_all_boundaries_of_a_linear_head(classes: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(5, classes).to(dtype)
    head = nn.Sequential(linear, nn.LogSoftmax(1))
    x = points(50, 5).to(dtype)
    assert is_affine(head, x)
    assert is_affine(head, x[:1])
    assert not smooth_head(head, x)
    assert linearisation_error(head, x) < 1e-5
    boundaries = enumerate_affine(head, 5, dtype)
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
    assert [tuple(pair) for pair in boundaries.classes.tolist()] == pairs
    for row, (a, b) in enumerate(pairs):
        assert torch.allclose(boundaries.weight[row], linear.weight[a] - linear.weight[b], atol=1e-6)
        assert torch.allclose(boundaries.bias[row], linear.bias[a] - linear.bias[b], atol=1e-6)
    sampled = sample_boundaries(head, x, head(x).argmax(1))
    assert torch.equal(sampled.weight, boundaries.weight)


def test_linearisation_is_exact_until_the_next_piece() -> None:
    on_one_piece = torch.tensor([[4.0, 5.0], [-3.0, 5.0], [3.0, 2.0]])
    assert linearisation_error(vee, on_one_piece) < 1e-6
    # From (1, −5) the nearest point of the right arm is (−2, −2), which lies in the left half.
    assert linearisation_error(vee, torch.tensor([[1.0, -5.0], [0.0, 9.0]])) == pytest.approx(4.0)


def test_sides() -> None:
    head, x = mlp(nn.ReLU()), points()
    for boundaries in (at_samples(head, x), at_samples(head, x).merged()):
        assert len(boundaries)
        assert (boundaries.classes[:, 0] != boundaries.classes[:, 1]).all()
    own = at_samples(head, x)
    assert (own(x).diagonal() > 0).all()
    assert torch.equal(own.classes[:, 0], head(x).argmax(1))
    assert torch.allclose(own(x), x @ own.weight.T + own.bias)


def test_duplicates_are_merged_and_nothing_else() -> None:
    w = torch.tensor([[3.0, 4.0], [6.0, 8.0], [-3.0, -4.0], [3.0, 4.0], [3.0, 4.0], [0.0, 0.0], [3.0, 4.0]])
    b = torch.tensor([1.0, 2.0, -1.0, 1.0, 1.5, 1.0, 1.0])
    classes = torch.tensor([[0, 1], [0, 1], [1, 0], [0, 2], [0, 1], [0, 1], [1, 0]])
    merged = LinearBoundaries(w, b, classes).merged()
    # Rows 1 and 2 are row 0 in other words; row 3 is between another pair, row 4 is parallel, row 5 is no hyperplane,
    # row 6 is the same plane with the classes the other way round.
    assert merged.classes.tolist() == [[0, 1], [0, 2], [0, 1], [0, 1]]
    assert merged.weight.tolist() == [[3, 4], [3, 4], [3, 4], [-3, -4]]
    assert merged.bias.tolist() == [1, 1, 1.5, -1]
    again = merged.merged()
    assert torch.equal(again.weight, merged.weight)
    assert len(LinearBoundaries(w[5:6], b[5:6], classes[5:6]).merged()) == 0
    assert len(LinearBoundaries(w[:0], b[:0], classes[:0]).merged()) == 0
    assert merged.candidates(2).tolist() == [1]
    assert merged.candidates(0).tolist() == [0, 1, 2, 3]
    assert len(concat([merged, merged])) == 8
    assert merged.select(torch.tensor([True, False, False, True])).bias.tolist() == [1, -1]


def test_a_pair_with_one_boundary_does_not_end_the_comparison_of_others() -> None:
    w, b = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), torch.zeros(3)
    merged = LinearBoundaries(w, b, torch.tensor([[0, 1], [1, 2], [1, 2]])).merged()
    assert merged.classes.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("sampler", ["sample", "segment"])
def test_sampling_per_class(sampler: str) -> None:
    head, x = mlp(nn.ReLU()), points(500)
    predictions = head(x).argmax(1)
    draws = [
        sample_boundaries(head, x, predictions, 5, sampler, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    ]
    assert 0 < len(draws[0]) <= 15
    assert torch.equal(draws[0].weight, draws[1].weight)
    assert draws[0].weight.shape != draws[2].weight.shape or not torch.equal(draws[0].weight, draws[2].weight)
    everything = at_samples(head, x).merged()
    together = concat([everything, sample_boundaries(head, x, predictions, 1000)]).merged()
    assert len(together) == len(everything)  # all of them, and no other


def test_segments_end_on_a_boundary_of_the_classes_that_meet() -> None:
    head, x = mlp(nn.ReLU(), classes=5), points(400)
    predictions = head(x).argmax(1)
    starts, ends = x[predictions == predictions[0]], x[predictions != predictions[0]]
    size = min(len(starts), len(ends))
    boundaries = on_segments(head, starts[:size], ends[:size])
    assert len(boundaries) == size
    assert (boundaries.classes[:, 0] == predictions[0]).all()
    at_start = (boundaries.weight * starts[:size]).sum(1) + boundaries.bias
    at_end = (boundaries.weight * ends[:size]).sum(1) + boundaries.bias
    assert ((at_start > 0) | (at_end < 0)).all()


def test_segments_that_fail_are_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    def jump(x: Tensor) -> Tensor:  # the scores change places without ever meeting
        side = torch.where(x[:, 0] > 0, 1.0, -1.0) + 0 * x[:, 1]
        return torch.stack([side, -side], 1)

    starts, ends = torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([[-1.0, 0.3], [2.0, 2.0]])
    with caplog.at_level(logging.WARNING):
        assert len(on_segments(jump, starts, ends)) == 0
    assert "no boundary on 2 of 2 segments: 1 do not join two classes, 1 did not converge in 40 steps" in caplog.text


def test_a_smooth_head_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    head, x = mlp(nn.Tanh()), points()
    with caplog.at_level(logging.WARNING):
        warn_if_smooth(head, x)
        for target in (None, 0, 1):
            sample_boundaries(head, x, head(x).argmax(1), target=target)
        for plain in (mlp(nn.ReLU()), nn.Linear(x.size(1), 3).to(x.dtype)):
            warn_if_smooth(plain, x)
    assert [record.message for record in caplog.records] == [
        f"the head is not piecewise linear: boundaries are local linearisations, off by up to "
        f"{linearisation_error(head, x):.3g}"
    ]


@pytest.mark.parametrize("sampler", ["sample", "segment"])
def test_one_class_only(sampler: str) -> None:
    head, x = mlp(nn.ReLU()), points(500)
    predictions = head(x).argmax(1)
    x = x[predictions == predictions[0]]
    boundaries = sample_boundaries(head, x, predictions[:1].expand(len(x)), 10, sampler)
    if sampler == "segment":
        assert len(boundaries) == 0
        assert boundaries(x).shape == (len(x), 0)
        assert len(boundaries.candidates(int(predictions[0]))) == 0


def test_bad_input() -> None:
    x = points(10)
    x[3, 1] = torch.nan
    with pytest.raises(
        RCExplainerError, match=r"1 of 10 embeddings contain NaN or infinite values, the first in row 3"
    ):
        at_samples(vee, x)
    with pytest.raises(RCExplainerError, match="NaN"):
        sample_boundaries(vee, x, torch.zeros(10, dtype=torch.long))
    for wrong in (points(3)[0], points(3)[None]):
        with pytest.raises(RCExplainerError, match=r"embeddings must be a matrix"):
            at_samples(vee, wrong)
    with pytest.raises(RCExplainerError, match=r"at least two class scores .* returned \(10, 1\)"):
        at_samples(lambda x: x[:, :1], points(10))
    with pytest.raises(RCExplainerError, match="no gradient"):
        at_samples(lambda x: x.detach(), points(10))


class Ladder(nn.Module):
    """Five classes one after the other along x, with a kink at 0: class c is the largest near x = c − 2, and the two
    largest are always neighbours."""

    def forward(self, x: Tensor) -> Tensor:
        along = x[:, :1] + 0.5 * x[:, :1].relu()
        steps = torch.arange(5, dtype=x.dtype) - 2
        return 2 * along * steps - steps**2


@pytest.mark.parametrize("sampler", ["sample", "segment"])
def test_towards_a_class_every_other_one_has_a_boundary_with_it(sampler: str) -> None:
    x = torch.linspace(-2.5, 2.5, 60)[:, None]
    head = Ladder()
    predicted = head(x).argmax(1)
    plain = sample_boundaries(head, x, predicted, sampler=sampler)
    assert [0, 4] not in plain.classes.tolist()  # never the two largest
    found = sample_boundaries(head, x, predicted, sampler=sampler, target=4)
    assert {tuple(pair) for pair in found.classes.tolist()} == {(0, 4), (1, 4), (2, 4), (3, 4)}
    for label in range(4):
        own, rows = x[predicted == label], found.select(found.candidates(label))
        margin = head(own)[:, label] - head(own)[:, 4]
        off = (rows(own) - margin[:, None]).abs().amin(1)  # on its own piece one of them is exact
        torch.testing.assert_close(off, torch.zeros_like(off), atol=1e-4, rtol=0)
    assert len(found.candidates(2)) == 2  # class 2 lies on both sides of the kink: two pieces, the same two classes


def test_towards_a_class_of_a_linear_head_its_boundaries_are_enumerated() -> None:
    head = nn.Linear(3, 4)
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    found = sample_boundaries(head, x, head(x).argmax(1), target=2)
    assert sorted(tuple(sorted(pair)) for pair in found.classes.tolist()) == [(0, 2), (1, 2), (2, 3)]


def test_of_duplicates_the_first_stays_as_it_is() -> None:
    weight, bias = torch.tensor([[6.0, 8.0], [0.0, 1.0], [3.0, 4.0]]), torch.tensor([2.0, 0.0, 1.0])
    merged = LinearBoundaries(weight, bias, torch.tensor([[0, 1]] * 3)).merged()
    assert merged.weight.tolist() == [[6, 8], [0, 1]]
    assert merged.bias.tolist() == [2, 0]


def test_offsets_are_compared_relative_to_the_largest() -> None:
    """Embeddings in the thousands: there a hyperplane is known no better than to a tenth."""
    weight, classes = torch.ones(3, 1), torch.tensor([[0, 1]] * 3)
    assert len(LinearBoundaries(weight, torch.tensor([5000.0, 5000.1, 5003.0]), classes).merged()) == 2
    assert len(LinearBoundaries(weight, torch.tensor([0.5, 0.6, 3.5]), classes).merged()) == 3


def test_bisection_gets_as_close_as_the_tolerance_says() -> None:
    """Margin x³ + x − 1, whose root is .6823: the error of the linearisation is quadratic in the distance to it."""
    head = lambda x: torch.cat([x**3 + x - 1, 0 * x], 1)  # noqa: E731
    boundary = on_segments(head, torch.tensor([[3.0]]).double(), torch.tensor([[-1.0]]).double())
    root = torch.tensor([[0.6823278038280193]]).double()
    assert abs(float(boundary(root))) < 1e-5


def test_a_segment_that_leaves_its_class_and_comes_back_joins_no_two_classes() -> None:
    head = lambda x: torch.cat([x[:, :1].abs(), torch.ones_like(x[:, :1]) + 0 * x[:, :1]], 1)  # noqa: E731
    found = on_segments(head, torch.tensor([[2.0], [0.0]]), torch.tensor([[-2.0], [7.3]]))
    assert found.classes.tolist() == [[1, 0]]  # the second segment's alone


def kinked(at: float):
    """Margin x + 100, but for a kink of slope at x = −`at`."""
    return lambda x: torch.cat([x + 100 + 3 * (-at - x).relu(), 0 * x], 1)


def test_a_kink_outside_the_data_is_found_and_one_far_outside_is_not() -> None:
    x = torch.linspace(-1, 1, 9).double()[:, None]
    assert not is_affine(kinked(5.0), x)
    assert is_affine(kinked(50.0), x)


def test_the_way_to_a_far_boundary_ends_at_the_extent_of_the_data() -> None:
    """The boundary is a hundred extents away, behind the kink."""
    x = torch.linspace(-1, 1, 9).double()[:, None]
    assert linearisation_error(kinked(50.0), x) < 1e-9
    assert linearisation_error(kinked(1.5), x) > 0.1


@pytest.mark.parametrize("at_once", [1, 3, 1024])
def test_merging_in_pieces_is_merging_all_at_once(monkeypatch, at_once: int) -> None:
    """Against the definition: of all pairs of rows, the later one goes if classes and planes agree."""
    monkeypatch.setattr(boundaries_module, "ROWS_AT_ONCE", at_once)
    random = torch.Generator().manual_seed(0)
    kinds = torch.randn(5, 3, generator=random)[torch.randint(5, (40,), generator=random)]
    classes = torch.tensor([[0, 1], [1, 0], [0, 2], [1, 2]])[torch.randint(4, (40,), generator=random)]
    sign = torch.where(classes[:, 0] < classes[:, 1], 1.0, -1.0)
    factor = sign * (0.5 + torch.rand(40, generator=random))
    rows = LinearBoundaries(kinds[:, :2] * factor[:, None], kinds[:, 2] * factor, classes)
    found = rows.merged()
    plain = rows.oriented()
    planes = torch.cat([plain.weight, plain.bias[:, None]], 1) / plain.weight.norm(dim=1, keepdim=True)
    first = [
        all(
            not torch.allclose(planes[row], planes[other], atol=1e-3) or not torch.equal(*plain.classes[[row, other]])
            for other in range(row)
        )
        for row in range(40)
    ]
    assert 5 < sum(first) < 40
    assert torch.equal(found.weight, plain.weight[torch.tensor(first)])
    assert torch.equal(found.classes, plain.classes[torch.tensor(first)])


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_whether_a_head_is_smooth_does_not_depend_on_its_scale(factor: float) -> None:
    x = points()
    for name, kind in {**PIECEWISE, **SMOOTH}.items():
        head = mlp(kind)
        assert smooth_head(lambda z, head=head: factor * head(z), x) == (name in SMOOTH)


def test_a_normal_is_degenerate_relative_to_the_longest() -> None:
    """The scores of a head have no unit: .05 beside 1,000 is nothing, beside 1 it is a boundary."""
    short, classes = [0.0, 0.05], torch.tensor([[0, 1], [0, 1]])
    for longest, left in ((1000.0, 1), (1.0, 2)):
        assert len(LinearBoundaries(torch.tensor([[longest, 0.0], short]), torch.zeros(2), classes).merged()) == left


def test_offsets_near_the_origin_are_compared_as_they_are() -> None:
    weight, classes = torch.ones(2, 1, dtype=torch.float64), torch.tensor([[0, 1]] * 2)
    for gap, left in ((1.5e-4, 2), (0.5e-4, 1)):
        bias = torch.tensor([0.5, 0.5 + gap], dtype=torch.float64)
        assert len(LinearBoundaries(weight, bias, classes).merged(tolerance=1e-4)) == left


def test_bisection_does_not_depend_on_the_scale_of_the_scores() -> None:
    """Margin x³ + x − 1 again: in other units it has the same root, found as closely."""
    root = torch.tensor([[0.6823278038280193]]).double()
    for factor in (1e-3, 1e3):
        head = lambda x, factor=factor: factor * torch.cat([x**3 + x - 1, 0 * x], 1)  # noqa: E731
        boundary = on_segments(head, torch.tensor([[3.0]]).double(), torch.tensor([[-1.0]]).double())
        assert abs(float(boundary(root))) < 1e-5 * factor


def test_segments_in_more_than_two_dimensions() -> None:
    """Class 0 where the sum of the coordinates is positive; the segments begin and end at different distances."""
    head = lambda x: torch.stack([x.sum(1), -x.sum(1)], 1)  # noqa: E731
    starts, ends = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]]), torch.tensor([[-1.0, 0.0, -1.0], [0.0, -9.0, 0.0]])
    found = on_segments(head, starts, ends)
    assert found.weight.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert found.bias.abs().max() < 1e-5


def test_a_head_that_does_not_look_at_the_embedding_has_no_boundary() -> None:
    scores = nn.Parameter(torch.tensor([1.0, 3.0]))
    found = at_samples(lambda x: scores.expand(len(x), 2), torch.ones(4, 3))
    assert found.weight.tolist() == [[0, 0, 0]] * 4
    assert found.bias.tolist() == [2, 2, 2, 2]  # class 1 leads everywhere
    assert len(found.merged()) == 0


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(lambda x: x[:1, :2], id="one row for all"),
        pytest.param(lambda x: torch.cat([x, x]), id="two rows each"),
        pytest.param(lambda x: x[:, :, None].expand(-1, -1, 2), id="a matrix each"),
        pytest.param(lambda x: x.sum(1), id="a number each"),
    ],
)
def test_a_head_gives_one_row_of_scores_for_each_embedding(head) -> None:
    with pytest.raises(RCExplainerError, match=r"one row of at least two class scores per embedding: for \(10, 2\)"):
        at_samples(head, points(10))


def test_what_is_printed_of_boundaries_is_their_shape() -> None:
    rows = LinearBoundaries(torch.ones(300, 20), torch.ones(300), torch.tensor([[0, 1]] * 300))
    assert repr(rows) == "LinearBoundaries(weight=tensor[300, 20], bias=tensor[300], classes=tensor[300, 2])"
