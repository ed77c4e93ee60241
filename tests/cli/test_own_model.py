"""A user's own model and graphs in `fit`, `explain` and `evaluate`: graphs, nodes and links."""

import json
import sys

import pytest

from tests.cli.own_package import NAME, TASKS, own


def explain(task: str) -> list[str]:
    return ["explain", *own(task), "--explainer", f"{task}.safetensors", "--quiet"]


def test_fit_says_what_it_was_fitted_on(run, inside):
    settings = ["--set", "epochs=1", "--set", "restarts=1", "--quiet", "--out", "new.safetensors"]
    ended = run("fit", *own("graph"), *settings, "--json")
    document = json.loads(ended.out)
    assert ended.code == 0
    assert (document["task"], document["graphs"], document["validation"], document["seed"]) == ("graph", 32, 4, 0)
    assert (document["model"], document["dataset"]) == (f"{NAME}.gnn:graph_model", f"{NAME}.data:graphs")
    chosen = json.loads(run("fit", *own("node"), "--task", "node", "--index", "0,3,5,8", *settings, "--json").out)
    assert (chosen["graphs"], chosen["validation"], chosen["part"]) == (4, 0, "nodes of --index")
    shown = run("fit", *own("link"), "--task", "link", *settings)
    assert shown.out.split()[0] == "links"
    assert f"fitted for {NAME}.gnn:link_model on the training part of {NAME}.data:graph" in " ".join(shown.out.split())


def test_settings_that_only_nodes_have(run, inside):
    settings = ["--set", "epochs=1", "--set", "restarts=1", "--quiet", "--out", "hops.safetensors"]
    assert run("fit", *own("node"), "--task", "node", "--index", "0,3,5,8", "--set", "hops=2", *settings).err == ""
    assert "hops is for nodes and links" in run("fit", *own("graph"), "--set", "hops=2", *settings).err


def test_graphs(run, inside):
    every = json.loads(run(*explain("graph"), "--json").out)
    assert [one["index"] for one in every["explanations"]] == list(range(40))
    assert [one["id"] for one in every["explanations"]] == [f"g{place}" for place in range(40)]
    assert every["part"] is None
    assert {one["prediction"] for one in every["explanations"]} == {"no", "yes"}
    some = json.loads(run(*explain("graph"), "--index", "7,2", "--json").out)
    assert [one["id"] for one in some["explanations"]] == ["g7", "g2"]
    held_out = json.loads(run(*explain("graph"), "--part", "test", "--json").out)
    assert len(held_out["explanations"]) == 4
    assert held_out["part"] == "test"
    table = run(*explain("graph"), "--index", "7")
    assert table.out.split()[:2] == ["index", "id"]
    assert f"1 graph of {NAME}.data:graphs" in table.out


def test_nodes(run, inside, tmp_path):
    document = json.loads(run(*explain("node"), "--index", "3,5,8", "--json").out)
    assert document["task"] == "node"
    assert [one["node"] for one in document["explanations"]] == [3, 5, 8]
    assert [one["name"] for one in document["explanations"]] == ["node-da", "node-fa", "node-ia"]
    for one in document["explanations"]:
        assert one["nodes"] < 60  # of its computation graph
        assert all(name.count("node-") == 2 for name in one["counterfactual"]["names"])
    kept = tmp_path / "nodes.txt"
    kept.write_text("3, 5\n8\n", encoding="utf-8")
    again = json.loads(run(*explain("node"), "--index", str(kept), "--json").out)
    assert again["explanations"] == document["explanations"]
    assert (
        len(json.loads(run(*explain("node"), "--index", "all", "--search", "none", "--json").out)["explanations"]) == 60
    )
    table = run(*explain("node"), "--index", "3")
    assert table.out.split()[0] == "node"
    assert table.out.splitlines()[1].startswith("node-da")


def test_a_node_that_is_not_there_is_a_line_of_its_own(run, inside):
    document = json.loads(run(*explain("node"), "--index", "3,60", "--json").out)
    assert document["failed"] == 1
    assert "there is no node 60" in document["explanations"][1]["error"]
    assert "1 could not be explained" in " ".join(run(*explain("node"), "--index", "3,60").out.split())


def test_links(run, inside):
    document = json.loads(run(*explain("link"), "--index", "0-5,2-9", "--json").out)
    assert [one["link"] for one in document["explanations"]] == [[0, 5], [2, 9]]
    assert [one["name"] for one in document["explanations"]] == ["node-aa–node-fa", "node-ca–node-ja"]
    assert run(*explain("link"), "--index", "0-5").out.splitlines()[1].startswith("node-aa–node-fa")
    named = [*explain("link")[:4], f"{NAME}.data:unlabelled_graph", *explain("link")[5:]]
    assert run(*named, "--index", "0-5").code == 0


@pytest.mark.parametrize("task", TASKS)
def test_evaluate(run, inside, task, tmp_path):
    words = ["--explainer", f"{task}.safetensors", "--methods", "gradient", "--quiet", "--json"]
    ended = run("evaluate", *own(task), *words, "--out", str(tmp_path))  # the explainer knows the task
    document = json.loads(ended.out)
    assert ended.code == 0
    assert document == json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    results = {one["method"]: one for one in document["results"]}
    assert list(results) == [f"{task}.safetensors", "gradient", "occlusion", "greedy", "random"]
    for one in results.values():
        assert one["skipped"] is None
        assert one["instances"] == document["held_out"]
        assert len(one["fidelity"]["drop"]) == len(one["fidelity"]["flips"]) == 3
        assert 0 <= one["counterfactuals"]["flipped"] <= 1
    assert document["part"] == "the test part of the split by seed 0"
    total = {"graph": 40, "node": 60}.get(task)
    if total:
        assert document["learnt"] + document["validation"] + document["held_out"] == total
    assert results["greedy"]["fidelity"]["drop"][0] >= results["random"]["fidelity"]["drop"][0]


def test_evaluate_chosen_instances_and_fit_a_method(run, inside):
    words = ["--set", "epochs=1", "--set", "restarts=1", "--quiet"]
    ended = run("evaluate", *own("node"), "--task", "node", "--index", "0,1,2,3,4", *words)
    out = " ".join(ended.out.split())
    assert ended.code == 0
    assert "rcexplainer 5" in out
    assert f"held out: 5 nodes of {NAME}.data:graph, those that were named; methods are fitted on 55 others" in out


def test_a_method_that_cannot_explain_the_model_is_left_out_with_its_reason(run, inside):
    ended = run("evaluate", *own("graph"), "--explainer", "graph.safetensors", "--methods", "attention", "--quiet")
    assert ended.code == 0
    assert "Net has no attention to read" in " ".join(ended.out.split())


def test_a_dataset_of_ours_with_a_model_of_theirs(run, inside, gnn, monkeypatch):
    """The model and the graphs are named apart: either may be ours."""
    text = f"from rcexplainer.gnn import load_gnn\n\n\ndef load():\n    return load_gnn({str(gnn)!r}).model\n"
    (inside / "of_ours.py").write_text(text, encoding="utf-8")
    named = ["--dataset", "ba-2motifs", "--model", "of_ours:load"]
    settings = ["--set", "epochs=1", "--quiet", "--out", "ours.safetensors"]
    assert run("fit", *named, *settings).code == 0
    ended = run("explain", *named, "--explainer", "ours.safetensors", "--limit", "2", "-q")
    assert "2 graphs of the test part of ba-2motifs" in ended.out
    sys.modules.pop("of_ours")


GRAPH, NODE, LINK = own("graph"), own("node"), own("link")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", *GRAPH[:2]], "give --dataset NAME or --graphs module:function, got neither"),
        (["fit", *GRAPH, "--dataset", "nitro"], "give --dataset NAME or --graphs module:function, got both"),
        (["fit", *GRAPH, "--task", "edge"], "--task must be one of graph, node, link, got 'edge'"),
        (["fit", "--model", "no_such:load", *GRAPH[2:]], "--model no_such:load: there is no module no_such"),
        (["fit", *GRAPH[:3], "no_such:load"], "--graphs no_such:load: there is no module no_such"),
        (["fit", *GRAPH[:3], f"{NAME}.data:words"], "must return a PyG Data, a list of them or a PyG dataset, got str"),
        (["fit", "--model", f"{NAME}.gnn:broken", *GRAPH[2:]], "raised FileNotFoundError: no weights here (gnn.py"),
        (["fit", *NODE[:3], f"{NAME}.data:graphs", "--task", "node"], "nodes are explained in one graph, "),
        (["fit", *GRAPH, "--index", "40"], "has 40 graphs: an index is from 0 to 39, got 40"),
        (["fit", *GRAPH, "--index", "one"], "--index takes whole numbers, such as 0 or 0,5,7, got 'one'"),
        (["fit", *GRAPH, "--class-names", "a,b,c"], "3 class_names were given for a model with 2 classes"),
        (["fit", *LINK, "--task", "link", "--index", "3,5"], "--index takes pairs of nodes, such as 0-5 or 0-5,2-9"),
        (["fit", *LINK[:3], f"{NAME}.data:unlabelled_graph", "--task", "link"], "has no edge_label_index: name pairs"),
        ([*explain("graph"), "--task", "node"], "graph.safetensors is for graph prediction, got --task node"),
        ([*explain("graph"), "--part", "test", "--index", "3"], "leave out --part, or --index"),
        ([*explain("graph"), "--part", "whole"], "part must be one of train, val, test, got 'whole'"),
        ([*explain("node")[:-2], "graph.safetensors"], "was fitted for another GNN"),
        (["evaluate", *GRAPH, "--arch", "gin"], "--arch cannot be used with --model: leave one of them out"),
        (["evaluate", *GRAPH, "--seeds", "2"], "--protocol and --seeds are for networks that are trained here"),
        (["evaluate", *GRAPH, "--index", "all"], "--index all would leave nothing to fit on"),
        (["evaluate", *GRAPH, "--methods", "gradeint"], "unknown method 'gradeint'; did you mean gradient?"),
        (
            ["evaluate", *NODE, "--explainer", "node.safetensors", "--task", "link"],
            "node.safetensors is for node prediction, got --task link: leave it out",
        ),
        (["evaluate", *GRAPH, "--explainer", "nowhere"], "there is no file nowhere"),
        (["evaluate", *GRAPH[2:]], "--graphs is used with --model: give --model, or leave --graphs out"),
        (["evaluate"], "give --dataset NAME, or your own --model and --graphs"),
    ],
)
def test_mistakes(refused, inside, arguments, message):
    refused(arguments, message)


def test_evaluate_a_network_of_ours_without_training_it(run, gnn, explainer):
    named = ["--dataset", "ba-2motifs", "--model", str(gnn), "--explainer", str(explainer)]
    document = json.loads(run("evaluate", *named, "--quiet", "--json").out)
    assert [one["method"] for one in document["results"]] == [explainer.name, "greedy", "occlusion", "random"]
    assert (document["learnt"], document["validation"], document["held_out"]) == (80, 10, 10)
    assert document["saved"] == [explainer.name]


UNUSUAL = ["--model", f"{NAME}.gnn:unusual_model", "--graphs", f"{NAME}.data:graphs"]
CALLED = ["--forward", f"{NAME}.gnn:call"]


def test_a_model_with_an_unusual_call_from_end_to_end(run, inside):
    """One logit without labels, a call of its own, and a head that is chosen: everything has to be said once."""
    quick = ["--set", "epochs=1", "--set", "restarts=1", "--quiet"]
    said = [*CALLED, "--head", "last", "--output", "binary_logit"]
    fitted = run("fit", *UNUSUAL, *said, *quick, "--out", "unusual.safetensors", "--json")
    document = json.loads(fitted.out)
    assert (document["head"], document["output"], document["forward"]) == ("last", "binary_logit", f"{NAME}.gnn:call")
    explainer = [*UNUSUAL, "--explainer", "unusual.safetensors", "--quiet"]
    explained = json.loads(run("explain", *explainer, *CALLED, "--index", "3,5", "--json").out)
    assert explained["failed"] == 0
    measured = run("evaluate", *explainer, *CALLED, "--methods", "gradient", "--json")
    results = json.loads(measured.out)["results"]  # head and output are those of the explainer
    assert [one["skipped"] for one in results] == [None] * 5
    again = run("evaluate", *UNUSUAL, *said, "--index", "0,1,2", *quick)
    assert "rcexplainer 3" in " ".join(again.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", *UNUSUAL], "needs 'adjacency', which the graphs do not have"),
        (["fit", *UNUSUAL], "pass --forward module:function, your own function (model, batch, edge_weight)\n"),
        (["fit", *UNUSUAL, *CALLED], "if it is the logit of class 1, pass --output binary_logit"),
        (["fit", *UNUSUAL, *CALLED, "--output", "logit"], "--output must be one of logits, log_probs, probs, binary_"),
        (["fit", *UNUSUAL, *CALLED, "--output", "probs"], "--output probs lies between 0 and 1"),
        (["fit", *UNUSUAL, *CALLED, "--head", "first"], "has no module 'first'; candidates for the head: lin, last"),
        (["fit", *UNUSUAL, "--forward", f"{NAME}.gnn:cal"], "has no function cal; did you mean call?"),
        (["fit", *UNUSUAL, "--forward", f"{NAME}.gnn:made"], "is called with three arguments, (model, batch, edge_"),
        (["fit", *UNUSUAL, "--forward", "call"], "--forward takes module:function, such as my_package.gnn:call_mo"),
        (["evaluate", "--dataset", "nitro", "--head", "lin"], "--head is used with --model"),
        (["evaluate", "--dataset", "nitro", "--seed", "3"], "--seed is used with --model"),
    ],
)
def test_advice_is_given_in_options(refused, inside, words, message):
    refused(words, message)


def test_a_forward_is_asked_for_again(run, inside):
    quick = ["--set", "epochs=1", "--set", "restarts=1", "--quiet", "--out", "called.safetensors"]
    assert run("fit", *UNUSUAL, *CALLED, "--output", "binary_logit", *quick).code == 0
    ended = run("explain", *UNUSUAL, "--explainer", "called.safetensors", "--quiet")
    assert ended.code == 2
    assert f"called.safetensors was fitted with --forward {NAME}.gnn:call, and functions are not saved" in ended.err
    assert "pass --forward again" in ended.err
