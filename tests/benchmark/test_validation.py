"""Settings are chosen on instances that are neither trained on nor tested on."""

from dataclasses import replace

import pytest
import torch

from rcexplainer.benchmark import case as cases
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.validation import HELD_OUT_MOTIFS, ValidationCase
from rcexplainer.errors import RCExplainerError


@pytest.fixture(scope="module")
def graphs(case: Case) -> ValidationCase:
    return ValidationCase(case.data, case.model, case.accuracy, case.seed, training_graphs=9)


@pytest.fixture(scope="module")
def nodes(node_case: Case) -> ValidationCase:
    return ValidationCase(node_case.data, node_case.model, node_case.accuracy, node_case.seed)


def test_graphs_are_validation_graphs_of_the_explained_class(graphs: ValidationCase) -> None:
    part = {name: {id(graph) for graph in graphs.data.subset(name)} for name in ("train", "val", "test")}
    explained = {id(graph) for graph in graphs.graphs(graphs.places)}
    assert explained
    assert explained <= part["val"]
    assert not explained & part["test"]
    assert {id(graph) for graph in graphs.training} <= part["train"]
    assert len(graphs.training) == 9
    assert {id(graph) for graph in graphs.validation or []} == part["val"]
    shown = graphs.explain(METHODS["random"].fit(graphs, False), graphs.places, "none")
    assert {one.prediction for one in shown} == {1}


def test_nodes_are_of_motifs_that_are_neither_learnt_from_nor_tested(node_case: Case, nodes: ValidationCase) -> None:
    motif = node_case.data.graph.node_motif_id
    shown = nodes.explain(METHODS["random"].fit(nodes, False), nodes.some(None), "none")
    held_out = set(motif[torch.tensor([one.index for one in shown])].tolist())
    learnt, allowed = set(motif[nodes.seen].tolist()), set(motif[node_case.seen].tolist())
    assert held_out
    assert not held_out & learnt
    assert held_out | learnt == allowed  # never a motif of the test half
    assert len(held_out) == -(-len(allowed) // HELD_OUT_MOTIFS)


def test_links_are_refused(case: Case) -> None:
    links = ValidationCase(replace(case.data, task="link"), case.model, case.accuracy, case.seed)
    with pytest.raises(RCExplainerError, match="is a link set: settings are tuned on graphs and nodes"):
        _ = links.count


def test_a_baseline_has_its_defaults_and_what_it_is_given(graphs: ValidationCase, monkeypatch) -> None:
    monkeypatch.setattr(cases, "tuned_settings", lambda dataset, method: {"lr": 9.0})
    assert Case(graphs.data, graphs.model, 1.0, 0).tuned("gnnexplainer") == {"lr": 9.0}
    assert graphs.tuned("gnnexplainer") == {}
    split = graphs.split
    other = graphs.made_with({"lr": 5.0})
    assert (other.baseline_settings, graphs.baseline_settings) == ({"lr": 5.0}, {})
    assert other.split is split
