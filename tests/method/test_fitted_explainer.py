"""The arguments of `explain`: what they choose, and what is refused."""

from dataclasses import fields, replace

import pytest
import torch
from torch_geometric.data import Batch

from rcexplainer.baselines import Occlusion, Random
from rcexplainer.errors import ArgumentError, ExplainError, NotFittedError, RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network, three_class_network


@pytest.fixture(scope="module")
def fitted() -> FittedExplainer:
    return Occlusion().fit(random_network("graphconv"), sample_graphs())


@pytest.fixture(scope="module")
def three() -> FittedExplainer:
    return Occlusion().fit(three_class_network("graphconv"), sample_graphs(), class_names=["low", "middle", "high"])


def test_its_text_names_the_model_the_task_and_how_far_it_looks(fitted) -> None:
    assert repr(fitted) == "FittedExplainer(GNN, graphs)"
    nodes = Occlusion(task="node").fit(random_network("graphconv", "node"), whole_graph())
    assert repr(nodes) == "FittedExplainer(GNN, nodes, 2 hops)"


def test_an_explainer_is_equal_to_itself_alone(fitted) -> None:
    other = replace(fitted)
    assert fitted != other
    assert {fitted: 1, other: 2}[fitted] == 1


def test_what_it_does_not_have(fitted) -> None:
    with pytest.raises(NotFittedError, match="this explainer is fitted already"):
        fitted.fit  # noqa: B018
    with pytest.raises(NotFittedError, match="there is nothing to save"):
        fitted.save  # noqa: B018
    with pytest.raises(AttributeError, match="'FittedExplainer' object has no attribute 'other'"):
        fitted.other  # noqa: B018
    assert fitted.distances is None


@pytest.mark.parametrize("call", ["explain", "explain_iter"])
def test_arguments_are_given_by_name(fitted, call: str) -> None:
    with pytest.raises(ArgumentError, match="give the other arguments by name"):
        getattr(fitted, call)(sample_graphs(), [0])
    with pytest.raises(ArgumentError, match=r"has no argument serach; did you mean search\?"):
        getattr(fitted, call)(sample_graphs(), serach="greedy")


@pytest.mark.parametrize("call", ["explain", "explain_iter"])
def test_misspelt_arguments_are_named(fitted, call: str) -> None:
    with pytest.raises(ArgumentError, match="serch"):
        list(getattr(fitted, call)(sample_graphs()[:2], serch="none"))


def test_only_a_search_measures_how_far_it_went(fitted) -> None:
    """A method with regions has `distances`: asked of what was found, and of nothing without a search."""
    asked = []

    class WithRegions(FittedExplainer):
        @property
        def distances(self):
            return lambda before, labels, after: asked.append(len(labels)) or torch.full((len(labels),), 0.25)

    measured = WithRegions(**{field.name: getattr(fitted, field.name) for field in fields(fitted)})
    found = measured.explain(sample_graphs()[:3])
    assert asked == [3]
    assert {one.counterfactual.distance for one in found} == {0.25}
    measured.explain(sample_graphs()[:3], search="none")
    assert asked == [3]


def test_nothing_is_printed_unasked(fitted, capsys) -> None:
    fitted.explain(sample_graphs())
    fitted.explain(Batch.from_data_list(sample_graphs()))
    list(fitted.explain_iter(sample_graphs()))
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


@pytest.mark.parametrize("together", [list, Batch.from_data_list], ids=["list", "batch"])
def test_candidates_count_in_a_batch_as_in_a_list(fitted, together) -> None:
    graphs = sample_graphs()
    assert any(one.counterfactual.removed.any() for one in fitted.explain(together(graphs)))
    none = [torch.zeros(graph.num_edges, dtype=torch.bool) for graph in graphs]
    assert not any(one.counterfactual.removed.any() for one in fitted.explain(together(graphs), candidates=none))


def test_graphs_are_moved_to_the_device_first(fitted) -> None:
    """On the device `meta` there are no numbers, so no graph can be explained that is really there."""
    elsewhere = replace(fitted, device=torch.device("meta"))
    for asked in (sample_graphs(), Batch.from_data_list(sample_graphs())):
        with pytest.raises(ExplainError):
            elsewhere.explain(asked)
        assert len(replace(fitted, device=torch.device("cpu")).explain(asked)) == 4


@pytest.mark.parametrize("target", [0, 1, 2])
def test_every_class_can_be_led_to(three, target: int) -> None:
    assert three.chosen(target) == target
    for one in three.explain(sample_graphs(12), target_class=target, search="greedy", on_error="keep"):
        if hasattr(one, "error"):
            named = three.class_names[target]
            assert str(one.error) == f"{named} is predicted already: choose another class to lead to"
        elif one.counterfactual.flipped:
            assert one.counterfactual.prediction == target


def test_classes_that_do_not_exist(three) -> None:
    for wrong in (-1, 3, 1.0, True, "other"):
        with pytest.raises(RCExplainerError, match=r"the model has the classes 0 to 2$"):
            three.chosen(wrong)
    with pytest.raises(RCExplainerError, match=r"the classes 0 to 2; high is class 2$"):
        three.chosen("high")


def test_an_explainer_that_was_made_for_some_classes_leads_to_no_other(three) -> None:
    assert three.chosen(None) is None
    one, two = replace(three, targets=(1,)), replace(three, targets=(2, 0))
    assert [one.chosen(None), one.chosen(1)] == [1, 1]
    assert [two.chosen(None), two.chosen(0), two.chosen(2)] == [2, 0, 2]
    with pytest.raises(RCExplainerError, match="fitted for target_class 1, not 2: fit one for it"):
        one.chosen(2)
    with pytest.raises(RCExplainerError, match="fitted for target_class 2, 0, not 1"):
        two.chosen(1)


def test_unknown_ways_are_refused(fitted) -> None:
    with pytest.raises(RCExplainerError, match="search must be none, prefix or greedy, got 'best'"):
        fitted.explain(sample_graphs(), search="best")
    with pytest.raises(RCExplainerError, match="on_error must be one of raise, keep, got 'skip'"):
        fitted.explain(sample_graphs(), on_error="skip")


def test_an_error_of_the_only_graph_is_raised_as_it_is(fitted) -> None:
    graph = sample_graphs()[0]
    graph.x[0, 0] = torch.nan
    with pytest.raises(RCExplainerError, match="NaN") as said:
        fitted.explain(graph, on_error="keep")
    assert not isinstance(said.value, ExplainError)
    with pytest.raises(ExplainError, match="NaN"):
        fitted.explain([graph])
    (kept,) = fitted.explain([graph], on_error="keep")
    assert "NaN" in str(kept.error)


def test_a_method_without_training_fits_any_graphs_of_the_kind() -> None:
    graphs = sample_graphs(8)
    fitted = Random().fit(random_network("graphconv"), graphs[:2])
    assert len(fitted.explain(graphs[2:])) == 6


def test_a_search_takes_what_is_refused_without_one(fitted) -> None:
    graph = sample_graphs()[0]
    assert fitted.explain(graph, confidence=0.6, budget=100).counterfactual.confidence == 0.6
    with pytest.raises(RCExplainerError, match=r"confidence=0\.6 is for counterfactuals"):
        fitted.explain(graph, search="none", confidence=0.6)
    with pytest.raises(RCExplainerError, match=r"budget=100 is for edge scores and counterfactuals"):
        fitted.explain(graph, disclose="prediction", budget=100)


def test_nodes_are_of_one_graph_not_of_a_batch() -> None:
    nodes = Random(task="node").fit(random_network("graphconv", "node"), whole_graph())
    with pytest.raises(RCExplainerError, match="nodes are explained in one graph at a time, got 2 graphs"):
        nodes.explain(Batch.from_data_list(sample_graphs(2)), search="none")
    found = nodes.explain(Batch.from_data_list([whole_graph()]), search="none")
    for one, other in zip(found, nodes.explain(whole_graph(), search="none"), strict=True):
        assert one.index == other.index
        assert torch.equal(one.edge_scores, other.edge_scores)
