"""A case: which instances are explained, in which order, and where."""

from dataclasses import replace

import torch

from rcexplainer.baselines import Method
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.explainer import RCExplainer


def test_explained_are_test_graphs_predicted_as_houses(case, at_random) -> None:
    test = {id(graph) for graph in case.data.subset("test")}
    graphs = case.graphs(case.some(None))
    assert graphs
    assert {id(graph) for graph in graphs} <= test
    shown = case.explain(at_random, case.some(None), "none")
    assert {one.prediction for one in shown} == {1}
    assert len(case.some(2)) == 2


def test_a_smaller_sample_is_the_beginning_of_a_larger_one(case) -> None:
    assert case.first(None)[:3] == case.first(3)
    assert sorted(case.first(4)) == case.some(4)
    assert sorted(case.first(None)) == case.places == list(range(case.count))


def test_same_seed_same_scores(case) -> None:
    places = case.some(4)
    one, two = (case.explain(METHODS["random"].fit(case, False), places, "none") for _ in range(2))
    assert all(torch.equal(a.edge_scores, b.edge_scores) for a, b in zip(one, two, strict=True))


def test_on_a_device_methods_have_copies_and_the_judge_has_not(case) -> None:
    there = Case(case.data, case.model, case.accuracy, case.seed, device="cpu")
    assert there.network is not there.model
    assert case.network is case.model is case.split.model
    assert there.split.model is there.model
    assert not {id(graph) for graph in there.training} & {id(graph) for graph in case.training}
    fitted = METHODS["occlusion"].fit(there, False)
    shown = there.explain(fitted, there.places, "none")
    same = case.explain(METHODS["occlusion"].fit(case, False), case.places, "none")
    assert all(torch.equal(a.edge_scores, b.edge_scores) for a, b in zip(shown, same, strict=True))


def test_nodes_to_learn_from_follow_the_held_out_ones(node_case) -> None:
    nodes = node_case
    assert nodes.places == list(range(nodes.count + len(nodes.seen)))
    shown = nodes.explained(METHODS["random"].fit(nodes, False), [0, nodes.count], "none")
    assert shown[0].index not in nodes.seen.tolist()
    assert shown[nodes.count].index == int(nodes.seen[0])
    assert nodes.graphs([0]) == []
    assert nodes.validation is nodes.background is None
    assert nodes.learnt is nodes.seen


def test_motifs_are_set_apart_for_ours_alone(node_case, monkeypatch) -> None:
    nodes = replace(node_case, motifs_apart=True)
    motif = nodes.data.graph.node_motif_id
    assert not set(motif[nodes.learnt].tolist()) & set(motif[nodes.validation].tolist())
    given = []
    for kind in (RCExplainer, Method):
        monkeypatch.setattr(kind, "fit", lambda *_, index, val=None, **__: given.append((index, val)))
    for name in ("rcexplainer", "pgexplainer"):
        METHODS[name].fit(nodes, False)
    assert given[0] == (nodes.learnt, nodes.validation)
    assert given[1] == (nodes.seen, None)
