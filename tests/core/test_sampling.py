"""What kind a head is, measured on heads with one kink or one bend; and which boundaries are drawn."""

from inspect import signature

import pytest
import torch
from torch import Tensor

from rcexplainer.config import RCConfig
from rcexplainer.core.boundaries import Head, at_samples
from rcexplainer.core.sampling import is_affine, linearisation_error, sample_boundaries, smooth_head


def kinked(at: float) -> Head:
    """Margin x + 2, with a kink at x = `at`: beyond it, seen from 0, the margin grows three times as fast."""
    side = 1 if at > 0 else -1
    return lambda x: torch.cat([x + 2 + 2 * side * (side * (x - at)).relu(), 0 * x], 1)


def line(*values: float) -> Tensor:
    return torch.tensor(values).double()[:, None]


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("centre", [-100.0, 0.0, 100.0])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_head_is_probed_on_both_sides_of_the_data_wherever_they_are(side: int, centre: float, scale: float) -> None:
    """Up to ten times the extent of the data: a kink at five times is found, one at fifty times is not."""
    angle = torch.linspace(0, 6, 64).double()
    x = torch.stack([angle.cos(), angle.sin()], 1)
    for at, found in ((5.0, True), (50.0, False)):
        plain = kinked(side * at)
        assert is_affine(lambda z, plain=plain: plain((z[:, :1] - centre) / scale), centre + scale * x) != found


def test_of_few_embeddings_all_are_looked_at() -> None:
    assert not is_affine(kinked(-200.0), line(0.0, 100.0))  # from 0 alone nobody would look so far


def test_around_a_single_embedding_its_distance_from_the_origin_is_the_extent() -> None:
    for x in (line(20.0), line(20.0, 20.0)):
        assert not is_affine(kinked(-100.0), x)
        assert is_affine(kinked(-1000.0), x)


def test_a_head_with_three_classes_is_affine_only_if_all_its_margins_are() -> None:
    x = torch.linspace(-1, 1, 9).double()[:, None]
    for bent in (1, 2):
        head = lambda z, bent=bent: torch.cat([z, 2 * z, 3 * z], 1) + torch.eye(3).double()[bent] * z.relu()  # noqa: E731
        assert not is_affine(head, x)
    assert is_affine(lambda z: torch.cat([z, 2 * z, 3 * z], 1), x)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_straight_line_is_not_smooth_and_a_bent_one_is_even_where_gradients_are_switched_off(recorded: bool) -> None:
    x = torch.linspace(-1, 1, 9).double()[:, None]
    with torch.set_grad_enabled(recorded):
        assert not smooth_head(lambda z: torch.cat([2 * z, z], 1), x)
        assert smooth_head(lambda z: torch.cat([z.exp(), z], 1), x)


def test_where_the_scores_do_not_change_nothing_is_curved() -> None:
    """A dead unit: left of 0 gradient and curvature are both 0."""
    assert not smooth_head(lambda x: torch.cat([x.relu(), 0 * x], 1), line(-4.0, -3.0, -2.0, -1.0, 2.0))


@pytest.mark.parametrize(("curved", "smooth"), [(1, False), (2, True)])
def test_smooth_is_what_is_curved_at_more_than_a_tenth_of_the_points(curved: int, smooth: bool) -> None:
    x = torch.arange(10).double()[:, None] - 9.5 + curved  # so many of ten are right of 0
    assert smooth_head(lambda z: torch.cat([z + z.relu() ** 2, 0 * z], 1), x) == smooth


@pytest.mark.parametrize(("bend", "smooth"), [(0.9e-3, False), (1e-1, True)])
def test_the_bend_is_compared_with_the_gradient_over_the_extent_of_the_data(bend: float, smooth: bool) -> None:
    """Margin 5 x₀ + ½ · 5 · bend / 20 · x₁²: over the 20 of the data its gradient, 5, changes by that share at most."""
    x = torch.cat([torch.zeros(64, 1), torch.linspace(-20, 20, 64)[:, None]], 1).double()

    def head(z: Tensor) -> Tensor:
        return torch.stack([5 * z[:, 0] + 5 * bend / 40 * z[:, 1] ** 2, 0 * z[:, 0]], 1)

    assert smooth_head(head, x) == smooth


def test_the_error_is_measured_on_the_way_to_the_boundary() -> None:
    """Margin x²: its linearisation at p is 0 at p / 2, and off by d² at a distance d from p.

    A way that is longer than the extent of the data ends there.
    """
    square = lambda x: torch.cat([x**2, 0 * x], 1)  # noqa: E731
    assert linearisation_error(square, line(2.0, 4.0)) == pytest.approx(1.0)  # ways of 1 and 2, extent 1
    assert linearisation_error(square, line(0.8, 1.0)) == pytest.approx(0.01)  # ways of .4 and .5, extent .1
    assert linearisation_error(square, line(2.0, -18.0)) == pytest.approx(81.0)  # ways of 1 and 9, extent 10


def test_a_single_instance_of_another_class_is_the_partner_of_all() -> None:
    vee = lambda x: torch.cat([x.abs(), torch.ones_like(x)], 1)  # noqa: E731
    x = torch.cat([torch.linspace(2, 9, 40), torch.zeros(1)]).double()[:, None]
    found = sample_boundaries(vee, x, vee(x).argmax(1), sampler="segment")
    assert found.classes.tolist() == [[0, 1]]
    assert float(found(line(1.0))) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("width", [1, 2])
def test_in_a_single_class_its_own_boundaries_are_taken_but_no_segment_leads_out(width: int) -> None:
    bent = lambda x: torch.stack([x[:, 0].abs(), 1 + 0 * x[:, 0]], 1)  # noqa: E731
    x = torch.linspace(2, 9, 8 * width).double().view(8, width)
    predictions = torch.zeros(8, dtype=torch.long)
    sampled = sample_boundaries(lambda z: bent(z).square(), x, predictions, sampler="sample")
    assert len(sampled) == len(at_samples(lambda z: bent(z).square(), x).merged()) == 8
    nothing = sample_boundaries(lambda z: bent(z).square(), x, predictions, sampler="segment")
    assert nothing.weight.shape == (0, width)
    assert nothing.bias.shape == (0,)
    assert nothing.classes.shape == (0, 2)
    assert nothing(x).shape == (8, 0)


def test_as_many_embeddings_of_a_class_are_drawn_as_the_settings_say() -> None:
    assert signature(sample_boundaries).parameters["per_class"].default == RCConfig().candidates_per_class
    curved = lambda x: torch.cat([x**2, 100 + 0 * x], 1)  # noqa: E731
    x = torch.linspace(1, 5, 20).double()[:, None]
    for number in (3, 20):
        found = sample_boundaries(curved, x, torch.ones(20, dtype=torch.long), number)
        assert len(found) == number  # a linearisation at each


def test_all_boundaries_of_a_linear_head_with_a_hundred_classes_are_listed(caplog: pytest.LogCaptureFixture) -> None:
    torch.manual_seed(0)
    head, x = torch.nn.Linear(8, 100), torch.randn(40, 8)
    found = sample_boundaries(head, x, head(x).argmax(1))
    assert len(found) == 100 * 99 // 2
    assert not caplog.text


def test_boundaries_of_a_linear_head_with_thousands_of_classes_are_sampled(caplog: pytest.LogCaptureFixture) -> None:
    """All 4,498,500 of them would take 54 GB."""
    torch.manual_seed(0)
    head, x = torch.nn.Linear(8, 3000), torch.randn(40, 8)
    predictions = head(x).argmax(1)
    for target in (None, 7):
        caplog.clear()
        found = sample_boundaries(head, x, predictions, target=target)
        said = "the head has 3000 classes and so 4498500 boundaries, too many to list: only those at some embeddings"
        assert said in caplog.text
        assert 0 < len(found) <= len(x)
        weight = head.weight[found.classes[:, 0]] - head.weight[found.classes[:, 1]]
        assert torch.allclose(found.weight, weight, atol=1e-5)
        assert target is None or bool((found.classes == target).any(1).all())
