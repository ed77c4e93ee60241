"""Examples of explanations: which instance, what is counted, and what is kept to be drawn."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.benchmark import methods
from rcexplainer.benchmark.case import Case
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import TrainConfig, delete_edges, gnn_config, train_gnn
from rcexplainer.metrics.motif import motif_edges
from rcexplainer.paper import qualitative_examples as module
from rcexplainer.paper.qualitative_examples import chosen_place, described, explain_one, near
from rcexplainer.paper.qualitative_tables import qualitative_figure, qualitative_square, qualitative_table
from tests.paper.toys import small

PATH = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]])  # 0–1–…–6


def test_the_part_of_a_graph_has_what_is_wanted_the_ways_to_it_and_what_is_near() -> None:
    assert near(PATH, [1, 4], 0) == [1, 2, 3, 4]
    assert near(PATH, [1, 4], 6) == [0, 1, 2, 3, 4, 5]
    assert near(PATH, [1, 4], 100) == [0, 1, 2, 3, 4, 5, 6]
    apart = torch.tensor([[0, 2], [1, 3]])  # no way leads from one to the other
    assert near(apart, [0, 3], 0) == [0, 3]


@pytest.fixture(scope="module")
def graphs() -> Case:
    return trained("ba-2motifs")


@pytest.fixture(scope="module")
def nodes() -> Case:
    return trained("tree-cycles")


def trained(name: str) -> Case:
    data = small(name)
    config = gnn_config("paper", data.num_features, data.num_classes, data.task)
    settings = TrainConfig(epochs=80, lr=0.02)
    network = train_gnn(config, data.graphs, data.split, settings=settings, seed=0, progress=False)
    return Case(data, network.model, network.accuracy["test"], 0, settings={"epochs": 1})


def explained(case: Case, place: int) -> Explanation:
    (one,) = case.explain(methods.METHODS["random"].fit(case, False), [place], "none")
    return one


def test_the_instance_is_the_first_that_is_right(graphs: Case, nodes: Case) -> None:
    for case in (graphs, nodes):
        place = chosen_place(case)
        ones = [explained(case, before) for before in range(place + 1)]
        right = [
            one.prediction == int(one.graph.y if one.index is None else one.graph.y[one.index])
            and bool(motif_edges(one).any())
            for one in ones
        ]
        assert right == [False] * place + [True]


def test_without_such_an_instance_it_says_what_is_missing(graphs: Case, monkeypatch) -> None:
    count = graphs.count
    monkeypatch.setattr(module, "_label", lambda one: -1)
    with pytest.raises(
        RCExplainerError, match=rf"correctly predicted \(0 are\) and has a motif \({count} have\): train"
    ):
        chosen_place(graphs)
    monkeypatch.setattr(module, "_label", lambda one: one.prediction)
    monkeypatch.setattr(module, "motif_edges", lambda one: torch.zeros(1, dtype=torch.bool))
    with pytest.raises(RCExplainerError, match=rf"correctly predicted \({count} are\) and has a motif \(0 have\)"):
        chosen_place(graphs)


def test_what_is_counted_is_what_the_model_says(nodes: Case) -> None:
    place = chosen_place(nodes)
    one = explained(nodes, place)
    found = described(nodes, place, one)
    top = one.top(found["k"])
    assert found["k"] == 6  # a hexagon
    left = delete_edges(one.instance, one.within(top))
    after = nodes.split.log_probs(nodes.split.run([left]).output).argmax(1)
    assert found["flips"] == (int(after) != one.prediction)
    pairs = {tuple(sorted(pair)) for pair in one.graph.edge_index[:, top].t().tolist()}
    edges = [tuple(edge) for edge in found["edges"]]
    assert {edge for edge, flag in zip(edges, found["chosen"], strict=True) if flag} == pairs
    own = one.graph.edge_motif & (one.graph.edge_motif_id == one.graph.node_motif_id[one.index])
    motif = {tuple(sorted(pair)) for pair in one.graph.edge_index[:, own].t().tolist()}
    assert {edge for edge, flag in zip(edges, found["motif"], strict=True) if flag} == motif
    assert found["found"] == len(pairs & motif)
    assert found["roots"] == [one.index]
    assert {node for edge in edges for node in edge} <= set(found["nodes"])
    assert len(found["scores"]) == len(edges)


def test_a_perfect_explanation_finds_the_motif(graphs: Case) -> None:
    place = chosen_place(graphs)
    one = explained(graphs, place)
    found = described(graphs, place, replace(one, scores=one.graph.edge_motif.float()))
    assert found["found"] == found["k"] == int(one.graph.edge_motif.sum()) // 2
    assert found["flips"] == found["motif_flips"]
    assert found["roots"] == []
    assert found["labels"] is None


def test_elements_are_kept(graphs: Case) -> None:
    place = chosen_place(graphs)
    features = graphs.data.num_features
    named = replace(graphs, data=replace(graphs.data, node_names=tuple("ABCDEFGHIJ"[:features])))
    labels = described(named, place, explained(named, place))["labels"]
    assert labels == ["A"] * len(labels)  # constant features: the first is the largest


def test_a_method_that_cannot_is_skipped_with_its_reason(nodes: Case, monkeypatch) -> None:
    def fails(case: Case, progress: bool) -> None:
        raise RCExplainerError("not for this model")

    monkeypatch.setitem(module.METHODS, "attention", replace(module.METHODS["attention"], fit=fails))
    assert explain_one(nodes, "attention") == {"skipped": "not for this model"}


def test_sets_without_motifs_are_refused(graphs: Case) -> None:
    bare = tuple(Data(x=graph.x, edge_index=graph.edge_index, y=graph.y) for graph in graphs.data.graphs)
    with pytest.raises(RCExplainerError, match="ba-2motifs has no known motifs"):
        chosen_place(replace(graphs, data=replace(graphs.data, graphs=bare)))


def test_table_and_figure(nodes: Case) -> None:
    tags = {"dataset": "tree-cycles", "model": "paper"}
    result = explain_one(nodes, "random")
    found = [
        ({**tags, "network": True}, {"accuracy": 1.0}),
        ({**tags, "variant": "random"}, result),
        ({**tags, "variant": "attention"}, {"skipped": "no attention"}),
    ]
    (table,) = qualitative_table({}, found)
    (row,) = table.to_rows()
    assert (row["dataset"], row["method"], row["motif edges"]) == ("tree-cycles", "random", "6")
    assert row["of them found ↑"].startswith(f"{result['found']} (")
    assert table.notes == ("tree-cycles, attention is left out: no attention",)
    assert qualitative_table({}, found[:1]) == qualitative_figure({}, found[:1]) == []
    (square,) = qualitative_square({}, found).to_rows()
    outcome = "flips" if result["flips"] else "does not flip"
    assert square == {"dataset": "tree-cycles", "random": f"{result['found']} of 6, {outcome}"}
    assert qualitative_square({}, found[:1]) is None
    (none,) = qualitative_table({}, found[-1:])
    assert none.to_rows() == [{"dataset": "tree-cycles", "method": "attention", "left out": "no attention"}]
    pytest.importorskip("matplotlib")
    (drawn,) = qualitative_figure({}, found)
    assert [axes.get_title().splitlines()[0] for axes in drawn.figure.axes] == ["tree-cycles", "random"]


def test_small_instances_are_kept_whole_and_large_ones_in_part(nodes: Case, monkeypatch) -> None:
    place = chosen_place(nodes)
    one = explained(nodes, place)
    whole = described(nodes, place, one)
    assert len(whole["nodes"]) == whole["of"]["nodes"]
    assert len(whole["edges"]) == whole["of"]["edges"]
    monkeypatch.setattr(module, "WHOLE", 3)
    monkeypatch.setattr(module, "PART", 0)
    perfect = described(nodes, place, replace(one, scores=motif_edges(one).float()))
    assert len(perfect["nodes"]) == 6  # the hexagon, with the node that is asked about
    assert all(perfect["motif"])
