"""Where the search that teaches leads."""

import pytest
import torch
from torch import tensor

from rcexplainer import RCExplainer
from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import InstanceSet, margin
from rcexplainer.fit.surface import ClassSurface
from rcexplainer.fit.teacher import out_of_class, search
from rcexplainer.gnn import TrainConfig, gnn_config, split_model, train_gnn


def test_a_margin_by_hand() -> None:
    """Any other class: above the best of them; else above the one that is asked about. Negative once it is lost."""
    logits = tensor([[3.0, 1.0, 2.0]] * 3 + [[0.0, 5.0, 1.0]])
    found = margin(logits.log_softmax(1), tensor([0, 0, 0, 0]), tensor([0, 1, 2, 0]))
    assert found.tolist() == pytest.approx([1.0, 2.0, 1.0, -5.0], abs=1e-5)


@pytest.fixture(scope="module")
def known() -> InstanceSet:
    data = load("ba-2motifs", num_graphs=60)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=TrainConfig(epochs=40, lr=0.02), progress=False).model
    with torch.no_grad():
        return InstanceSet.of(split_model(model, data.graphs), data.graphs[:20])


@torch.no_grad()
def test_without_boundaries_the_search_first_takes_what_lowers_the_margin_most(known) -> None:
    """By trying every edge, one at a time; no region is asked for."""
    lesson = search(known, out_of_class(known, None, None), tolerance=0.0)
    instances = known.instances
    for place in range(len(known)):
        one = instances.some(tensor([place]))
        count = len(one.units)
        each = one.log_probs(torch.zeros(count, dtype=torch.long), torch.eye(count, dtype=torch.bool).flatten())
        label = known.label[place].expand(count)
        left = margin(each, label, label)
        if left.min() > 0:  # beyond the goal, equally good ones go by their own effect
            assert left[lesson.order[place, 0]] == pytest.approx(float(left.min()), abs=1e-5)


def test_an_unknown_teacher() -> None:
    with pytest.raises(RCExplainerError, match="teacher must be one of region, margin, got 'boundary'"):
        RCExplainer(teacher="boundary")


def test_how_far_the_model_has_gone_where_it_is_asked_to_go(known) -> None:
    """Away from the predicted class, or to the one that is asked about."""
    ids = tensor([0, 3])
    probabilities = tensor([[0.7, 0.3], [0.2, 0.8]])
    label = known.label[ids]
    assert known.reached(probabilities, ids).tolist() == pytest.approx(
        [1 - float(row[place]) for row, place in zip(probabilities, label.tolist(), strict=True)]
    )
    towards = known.towards(1)
    assert (towards.label == 0).all()
    assert towards.reached(probabilities, tensor([0, 1])).tolist() == pytest.approx([0.3, 0.8])


@torch.no_grad()
def test_the_surface_of_a_class_is_its_margin_in_units_of_half_its_median(known) -> None:
    margins = margin(known.log_probs, known.label, known.label)
    plain = ClassSurface.of(known, scaled=False).clean
    torch.testing.assert_close(plain, margins[:, None])
    scaled = ClassSurface.of(known, scaled=True)
    for label in known.label.unique():
        own = known.label == label
        torch.testing.assert_close(scaled.clean[own, 0], margins[own] / (margins[own].median() / 2))
    ids = tensor([3, 0])
    done = known.instances.split.run(known.instances[ids][0])
    torch.testing.assert_close(scaled.margins(done, ids), scaled.clean[ids], rtol=1e-4, atol=1e-4)
