"""Explanations by a saved explainer: which graphs, what the report says, and what happens to broken graphs."""

import json

import pytest
import torch

from rcexplainer.cli import saved_network
from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.explanation_record import edge_labels
from rcexplainer.cli.explanations import explain_named
from rcexplainer.cli.fit_report import fit_named
from rcexplainer.cli.instance_index import parse_index
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.core.budget import Seconds
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn import load_gnn
from tests.benchmark.toys import save_toy, small


def explain_saved(dataset, model, explainer, part="test", index=None, device=None, **settings):
    """Explanations of a dataset's graphs, as `rcexplainer explain --dataset` makes them."""
    texts = None if index is None else [str(place) for place in index]
    asked = ExplainSettings(**settings)
    return explain_named(
        NamedInputs(str(model), dataset, device=device), explainer, part=part, index=texts, settings=asked
    )


def test_all_graphs_of_the_test_part(gnn, explainer):
    report = explain_saved("ba-2motifs", gnn, explainer, search="greedy")
    data = small("ba-2motifs")
    assert [one.index for one in report.explained] == list(range(10))
    assert [one.position for one in report.explained] == data.split.test.tolist()
    document = json.loads(json.dumps(report.to_json()))
    for record, graph in zip(document["explanations"], data.subset("test"), strict=True):
        assert record["label"] == data.class_names[int(graph.y)]
        assert record["edges"] == graph.num_edges // 2
        assert record["nodes"] == graph.num_nodes
        assert sum(record["probabilities"].values()) == pytest.approx(1)
        scores = [one["score"] for one in record["top"]]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 10
        found = record["counterfactual"]
        assert (found["prediction"] != record["prediction"]) == found["flipped"]
        edges = set(map(tuple, graph.edge_index.T.tolist()))
        assert all((u, v) in edges for u, v in found["removed"])
        assert found["names"] == [f"{u}–{v}" for u, v in found["removed"]]
    row = report.rows()[0]
    assert list(row) == ["index", "edges", "predicted", "highest_scores", "without", "then", "flipped", "minimal"]
    assert "10 graphs of the test part of ba-2motifs" in report.caption()


def test_what_is_said_to_flip_does(gnn, explainer):
    report = explain_saved("ba-2motifs", gnn, explainer, search="greedy")
    model, data = load_gnn(gnn).model, small("ba-2motifs")
    for record in report.to_json()["explanations"]:
        graph = data[record["position"]]
        gone = {pair for u, v in record["counterfactual"]["removed"] for pair in ((u, v), (v, u))}
        kept = [tuple(pair) not in gone for pair in graph.edge_index.T.tolist()]
        batch = torch.zeros(graph.num_nodes, dtype=torch.long)
        after = model(graph.x, graph.edge_index[:, kept], batch, None).argmax(1)
        assert data.class_names[int(after)] == record["counterfactual"]["prediction"]


def test_which_graphs(gnn, explainer):
    def indices(**choice):
        report = explain_saved("ba-2motifs", gnn, explainer, search="none", **choice)
        return [one.index for one in report.explained]

    assert indices(index=[7, 0, 5]) == [7, 0, 5]
    assert indices(index=[7, 0, 5], limit=2) == [7, 0]
    assert indices(part="val", limit=3) == [0, 1, 2]
    assert len(indices(part="train")) == 80
    cycles, houses = indices(predicted="cycle"), indices(predicted="1")
    assert sorted(cycles + houses) == list(range(10))
    assert indices(predicted="house", limit=1) == houses[:1]


def test_scores_alone(gnn, explainer):
    report = explain_saved("ba-2motifs", gnn, explainer, search="none", limit=1)
    assert report.to_json()["explanations"][0]["counterfactual"] is None
    assert list(report.rows()[0]) == ["index", "edges", "predicted", "highest_scores"]
    assert report.caption() == "1 graph of the test part of ba-2motifs"


def test_a_graph_that_cannot_be_explained_is_a_line_of_its_own(gnn, explainer, monkeypatch):
    def broken(name, root, seed):
        data = small(name, root, seed)
        data.subset("test")[1].x[0, 0] = float("nan")
        return data

    monkeypatch.setattr(saved_network, "load", broken)
    report = explain_saved("ba-2motifs", gnn, explainer, limit=3, device="cpu")
    rows = report.rows()
    assert [("error" in row) for row in rows] == [False, True, False]
    assert "NaN or infinite values in x" in rows[1]["error"]
    document = report.to_json()
    assert document["failed"] == 1
    assert "NaN" in document["explanations"][1]["error"]
    assert report.caption().endswith("; 1 could not be explained")
    both = [explain_saved("ba-2motifs", gnn, explainer, predicted=name).to_json()["failed"] for name in ("0", "1")]
    assert both == [1, 1]


def test_graphs_of_the_class_to_lead_to_are_counted_apart(gnn, explainer):
    report = explain_saved("ba-2motifs", gnn, explainer, target_class="house", budget=Seconds(2.5))
    document = report.to_json()
    cycles = explain_saved("ba-2motifs", gnn, explainer, predicted="cycle", search="none").explained
    houses = 10 - len(cycles)
    assert 0 < houses < 10
    assert (document["target_class"], document["budget"]) == ("house", "2.5s")
    assert (document["already_predicted"], document["failed"]) == (houses, 0)
    errors = [row["error"] for row in report.rows() if "error" in row]
    assert errors == ["already predicted house"] * houses
    assert [one["error"] for one in document["explanations"] if "error" in one] == errors
    caption = report.caption()
    assert "is verified to change to house" in caption
    assert caption.endswith(f"; {houses} {'is' if houses == 1 else 'are'} already predicted house")
    sure = explain_saved("ba-2motifs", gnn, explainer, target_class="house", predicted="cycle", confidence=0.8)
    assert sure.caption().endswith("is verified to change to house with a probability of at least 0.8")
    assert sure.to_json()["budget"] is None


def test_where_nothing_is_left_to_lead_to_a_class_the_way_out_is_named(gnn, explainer):
    houses = [one.index for one in explain_saved("ba-2motifs", gnn, explainer, predicted="house").explained]
    caption = explain_saved("ba-2motifs", gnn, explainer, index=houses[:2], target_class="house").caption()
    assert caption == (
        "0 graphs of the test part of ba-2motifs; 2 are already predicted house: --predicted CLASS chooses those that "
        "are predicted as another one"
    )
    with pytest.raises(RCExplainerError, match="what is --predicted house cannot change to house: name another class"):
        explain_saved("ba-2motifs", gnn, explainer, predicted="1", target_class="house")


def test_an_explainer_for_one_class_chooses_those_of_another(gnn, explainer, tmp_path):
    settings = {"epochs": 1, "target_class": "house"}
    fit_named(NamedInputs(str(gnn), "ba-2motifs"), tmp_path / "e", settings=settings, progress=False)
    cycles = explain_saved("ba-2motifs", gnn, explainer, predicted="cycle").explained
    report = explain_saved("ba-2motifs", gnn, tmp_path / "e", predicted="cycle")
    assert [one.index for one in report.explained] == [one.index for one in cycles]
    assert report.to_json()["target_class"] == "house"


def test_molecules_have_atoms(tmp_path):
    gnn = save_toy(tmp_path, "nitro")
    fit_named(NamedInputs(str(gnn), "nitro"), tmp_path / "e", settings={"epochs": 2}, progress=False)
    report = explain_saved("nitro", gnn, tmp_path / "e", search="greedy")
    data = small("nitro")
    record = report.to_json()["explanations"][0]
    atoms = data[record["position"]].x.argmax(1).tolist()
    for one in record["top"]:
        names = [f"{data.node_names[atoms[node]]}{node}" for node in one["edge"]]
        assert one["name"] == "–".join(names)
    result = report.explained[0].result
    numbered = edge_labels(result, torch.tensor([0]), [f"atom {kind}" for kind in range(len(data.node_names))])
    u, v = result.units.pair[:, 0].tolist()
    assert numbered == [f"atom {atoms[u]}:{u}–atom {atoms[v]}:{v}"]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"part": "all"}, "part must be one of train, val, test, got 'all'"),
        ({"search": "best"}, "search must be none, prefix or greedy, got 'best'"),
        ({"index": [0, 10]}, "the test part has 10 graphs: an index is from 0 to 9, got 10"),
        ({"index": [-1]}, "the test part has 10 graphs: an index is from 0 to 9, got -1"),
        ({"predicted": "tree"}, "unknown class 'tree'; known: cycle, house"),
        ({"predicted": "2"}, "unknown class '2'; known: cycle, house"),
        ({"index": [], "predicted": "0"}, "there is nothing to explain"),
    ],
)
def test_mistakes(gnn, explainer, choice, message):
    with pytest.raises(RCExplainerError) as caught:
        explain_saved("ba-2motifs", gnn, explainer, **choice)
    assert message in str(caught.value)


def test_no_graph_predicted_so(gnn, explainer):
    houses = [one.index for one in explain_saved("ba-2motifs", gnn, explainer, predicted="house").explained]
    with pytest.raises(RCExplainerError, match=r"none of \d+ graphs of the test part is predicted as cycle"):
        explain_saved("ba-2motifs", gnn, explainer, index=houses, predicted="cycle")


def test_another_network_is_refused(explainer, other_gnn):
    with pytest.raises(CheckpointError, match="was fitted for another GNN"):
        explain_saved("ba-2motifs", other_gnn, explainer)


def test_places_can_be_given_in_any_way():
    assert parse_index(["0,5", "7 8", "2"]) == [0, 5, 7, 8, 2]
    with pytest.raises(RCExplainerError, match="--index takes whole numbers, such as 0 or 0,5,7, got 'one'"):
        parse_index(["one"])
