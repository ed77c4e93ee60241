"""What is learnt from and what is explained never mix, but in the paper's own protocol."""

from types import SimpleNamespace

import pytest
import torch

from rcexplainer.benchmark import layout, networks
from rcexplainer.benchmark.layout import (
    LAYOUTS,
    link_parts,
    motif_halves,
    motif_nodes,
    motif_validation,
    same_graphs,
)
from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from tests.benchmark.toys import toy


def every_other(graphs) -> torch.Tensor:
    return torch.arange(len(graphs)) % 2


def identities(graphs) -> set[int]:
    return {id(graph) for graph in graphs}


def test_held_out_graphs_are_test_graphs() -> None:
    data = toy("ba-2motifs")
    test = data.subset("test")
    assert identities(LAYOUTS["one class"](data, every_other).explained) == identities(test[1::2])
    assert identities(LAYOUTS["every class"](data, every_other).explained) == identities(test)
    for name in ("one class", "every class"):
        found = LAYOUTS[name](data, every_other)
        assert identities(found.training) == identities(data.subset("train"))
        assert identities(found.validation) == identities(data.subset("val"))
        assert found.background is None


def test_a_set_without_a_class_of_the_paper_is_explained_whole() -> None:
    data = toy("nitro")
    assert identities(LAYOUTS["one class"](data, every_other).explained) == identities(data.subset("test"))


def test_the_paper_fits_and_evaluates_on_the_same_graphs() -> None:
    data = toy("ba-2motifs")
    found = same_graphs(data, every_other)
    assert identities(found.training) == identities(found.explained) == identities(data.graphs[1::2])
    assert identities(found.validation) == identities(data.graphs[1::2][::10])
    assert identities(found.background) == identities(data.graphs)
    with pytest.raises(RCExplainerError, match="the network predicts no graph as house"):
        same_graphs(data, lambda graphs: torch.zeros(len(graphs)))


def test_no_motif_is_on_both_sides(monkeypatch) -> None:
    monkeypatch.setattr(layout, "motif_nodes", motif_nodes)  # all of them
    data = load("tree-cycles")
    graph = data.graph
    seen, unseen = motif_halves(data, None, seed=3)
    ids = graph.node_motif_id
    assert not torch.isin(ids[seen], ids[unseen]).any()
    assert sorted([*seen.tolist(), *unseen.tolist()]) == motif_nodes(graph).tolist()


def test_validation_nodes_are_of_motifs_that_are_not_trained_on(monkeypatch) -> None:
    monkeypatch.setattr(layout, "motif_nodes", motif_nodes)
    data = load("tree-cycles")
    seen, unseen = motif_halves(data, None, seed=3)
    learnt, apart = motif_validation(data, seen, seed=3)
    ids = data.graph.node_motif_id
    motifs = [set(ids[nodes].tolist()) for nodes in (learnt, apart, unseen)]
    assert not motifs[0] & motifs[1]
    assert not motifs[2] & (motifs[0] | motifs[1])
    assert sorted([*learnt.tolist(), *apart.tolist()]) == seen.tolist()
    assert len(motifs[1]) == len(motifs[0] | motifs[1]) // 10
    one = seen[ids[seen] == ids[seen[0]]]
    assert motif_validation(data, one, seed=3)[1] is None


def test_links_are_learnt_from_the_training_part_and_held_out_in_the_test_part() -> None:
    data, trained = networks.trained_gnn("shared-neighbours", "shallow", 0, task="link", progress=False)
    seen, unseen = link_parts(data, trained.model, 0)
    parts = [{tuple(pair) for pair in some.tolist()} for some in (seen, unseen)]
    assert parts[0]
    assert parts[1]
    assert not parts[0] & parts[1]
    linked = {tuple(pair) for pair in data.graph.edge_label_index.t()[data.graph.edge_label == 1].tolist()}
    assert parts[0] | parts[1] <= linked
    for part, some in ((data.split.train, parts[0]), (data.split.test, parts[1])):
        assert some <= {tuple(pair) for pair in data.graph.edge_label_index.t()[part].tolist()}


def test_links_predicted_wrongly_are_left_out() -> None:
    pairs = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
    graph = SimpleNamespace(x=None, edge_index=None, edge_label_index=pairs, edge_label=torch.tensor([1, 1, 1, 0]))
    split = SimpleNamespace(train=torch.tensor([0, 3]), test=torch.tensor([1, 2]))
    says = torch.tensor([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])  # pair 2 is a link that it misses
    seen, unseen = link_parts(SimpleNamespace(graph=graph, split=split), lambda *_, **__: says, 0)
    assert (seen.tolist(), unseen.tolist()) == ([[0, 4]], [[1, 5]])
