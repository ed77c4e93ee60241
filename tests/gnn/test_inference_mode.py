"""Explainers work inside `torch.inference_mode()`; a model that was made in it is refused."""

import copy

import pytest
import torch

import rcexplainer as rc
from rcexplainer.errors import SplitError
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of
from tests.gnn.splits import build


@pytest.mark.parametrize(
    "method",
    [
        rc.RCExplainer(epochs=1),
        rc.RCExplainer(preset="paper", epochs=1),
        rc.baselines.GNNExplainer(epochs=1),
        rc.baselines.PGExplainer(epochs=1),
        rc.baselines.Gradient(),
        rc.baselines.Occlusion(),
    ],
    ids=repr,
)
def test_inside_inference_mode_answers_are_the_same(method):
    model, graphs = build(zoo.GCNLinear).train(), make_graphs(12)
    before = state_of(model)
    expected = method.fit(model, graphs, progress=False).explain(graphs[:3])
    with torch.inference_mode():
        made_inside = make_graphs(12)
        fitted = method.fit(model, made_inside, progress=False)
        found = [*fitted.explain(made_inside[:3]), *fitted.explain_iter(graphs[:3])]
        assert torch.is_inference_mode_enabled()
    for one, other in zip(found, [*expected, *expected], strict=True):
        assert torch.allclose(one.edge_scores, other.edge_scores, atol=1e-6)
    assert state_of(model) == before


def test_a_model_made_inside_is_refused_and_its_copy_works():
    graphs = make_graphs(12)
    with torch.inference_mode():
        model = build(zoo.GCNLinear)
        with pytest.raises(SplitError, match="made inside"):
            rc.RCExplainer().fit(model, graphs)
    said = (
        r"GCNLinear was made inside torch.inference_mode\(\), such as its conv1.*explain a copy made outside, copy.dee"
    )
    for method in (rc.RCExplainer(), rc.baselines.Occlusion()):
        with pytest.raises(SplitError, match=said):
            method.fit(model, graphs)
    assert rc.baselines.Gradient().fit(copy.deepcopy(model), graphs, progress=False).explain(graphs[0])


def test_what_a_run_in_inference_mode_left_in_the_model_does_not_matter():
    model, graphs = build(zoo.GCNLinear), make_graphs(12)
    with torch.inference_mode():
        model.seen = torch.ones(3)  # type: ignore[assignment]
    seen = model.seen
    rc.baselines.Occlusion().fit(model, graphs, progress=False).explain(graphs[0])
    assert model.seen is seen
