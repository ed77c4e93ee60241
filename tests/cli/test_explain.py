"""`rcexplainer explain`."""

import json

import pytest

EXPLAIN = ["explain", "--dataset", "ba-2motifs", "--model", "GNN", "--explainer", "EXPLAINER"]


def test_a_table_of_chosen_graphs(run, named):
    ended = run(*named(EXPLAIN), "--index", "0,5", "--index", "7", "--search", "greedy", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["0", "5", "7"]
    assert all(name in lines[0] for name in ("edges", "predicted", "without", "then", "flipped", "minimal"))


def test_one_json_document_printed_and_written(run, named, tmp_path):
    kept = tmp_path / "kept" / "explanations.json"
    options = ["--part", "val", "--predicted", "house", "--limit", "2", "--seed", "0", "--device", "cpu"]
    ended = run(*named(EXPLAIN), *options, "--root", str(tmp_path), "--out", str(kept), "--json")
    document = json.loads(ended.out)
    assert ended.code == 0
    assert document == json.loads(kept.read_text(encoding="utf-8"))
    assert named([document["model"]]) == named(["GNN"])
    assert [one["prediction"] for one in document["explanations"]] == ["house", "house"]


def test_scores_only(run, named, tmp_path):
    kept = tmp_path / "explanations.json"
    ended = run(*named(EXPLAIN), "--limit", "1", "--search", "none", "--out", str(kept))
    assert "written to" in ended.out
    assert json.loads(kept.read_text(encoding="utf-8"))["explanations"][0]["counterfactual"] is None


def test_progress_goes_to_standard_error(run, named):
    ended = run(*named(EXPLAIN), "--limit", "3", "--json")
    assert "explain: 100%" in ended.err
    assert len(json.loads(ended.out)["explanations"]) == 3


@pytest.mark.parametrize(("budget", "spent"), [("1", True), ("500", False), ("30s", False)])
def test_a_budget(run, named, budget, spent):
    ended = run(*named(EXPLAIN), "--search", "greedy", "--budget", budget, "--json", "--quiet")
    found = [one["counterfactual"] for one in json.loads(ended.out)["explanations"]]
    assert any(one["exhausted"] for one in found) is spent


def test_a_confidence(run, named):
    ended = run(*named(EXPLAIN), "--search", "greedy", "--confidence", "0.8", "--json", "--quiet")
    document = json.loads(ended.out)
    assert document["confidence"] == 0.8
    found = [one["counterfactual"] for one in document["explanations"]]
    for one, explained in zip(found, document["explanations"], strict=True):
        assert one["confidence"] == 0.8
        assert isinstance(one["distance"], float)
        others = [p for name, p in one["probabilities"].items() if name != explained["prediction"]]
        assert one["flipped"] == (max(others) >= 0.8)
    shown = run(*named(EXPLAIN), "--confidence", "0.8", "--quiet")
    assert "is verified to change to a class with a probability of at least 0.8" in " ".join(shown.out.split())


def test_a_refined_ranking(run, named):
    plain, refined = (
        json.loads(run(*named(EXPLAIN), *more, "--search", "none", "--json", "--quiet").out)["explanations"]
        for more in ([], ["--refine", "12"])
    )
    assert {one["refined"] for one in plain} == {0}
    assert all(0 < one["refined"] <= 12 for one in refined)
    assert [one["top"][0]["edge"] for one in plain] != [one["top"][0]["edge"] for one in refined]
    shown = run(*named(EXPLAIN), "--refine", "12", "--quiet")
    assert "; edges ranked with up to 12 model runs for each graph" in " ".join(shown.out.split())


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_what_is_withheld_is_neither_printed_nor_written(run, named, tmp_path, disclose):
    kept = tmp_path / "explanations.json"
    options = ["--limit", "2", "--quiet", "--disclose", disclose]
    shown = run(*named(EXPLAIN), *options, "--out", str(kept))
    document = json.loads(kept.read_text(encoding="utf-8"))
    assert (shown.code, document["disclose"]) == (0, disclose)
    assert "highest_scores" not in shown.out
    assert " edges " not in shown.out.splitlines()[1]  # the head of the table
    assert ("flipped" in shown.out) == (disclose == "counterfactual")
    for one in document["explanations"]:
        assert not {"top", "above_half", "order", "nodes", "edges", "node_names", "smiles"} & one.keys()
        assert ("counterfactual" in one) == (disclose == "counterfactual")
    assert '"score' not in kept.read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    assert "--html shows scores" in run(*named(EXPLAIN), *options, "--html", str(page)).err
    assert not page.exists()
    said = run(*named(EXPLAIN), "--disclose", "all").err
    assert "disclose must be one of scores, counterfactual, prediction, got 'all'" in " ".join(said.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*EXPLAIN[:-1], "nowhere.safetensors"], "there is no file nowhere.safetensors"),
        ([*EXPLAIN[:-1], "FOLDER"], "is a folder, not a file: name a file that `rcexplainer fit --out FILE` wrote"),
        ([*EXPLAIN[:-1], "GNN"], "holds no fitted explainer: its format is 'rcexplainer-gnn'"),
        ([*EXPLAIN[:4], "OTHER", *EXPLAIN[5:]], "was fitted for another GNN"),
        ([*EXPLAIN, "--part", "all"], "part must be one of train, val, test, got 'all'"),
        ([*EXPLAIN, "--index", "10"], "the test part has 10 graphs: an index is from 0 to 9, got 10"),
        (
            [*EXPLAIN, "--index", "first"],
            "--index takes whole numbers, such as 0 or 0,5,7, got 'first'",
        ),
        ([*EXPLAIN, "--limit", "0"], "--limit"),
        ([*EXPLAIN, "--predicted", "tree"], "unknown class 'tree'; known: cycle, house"),
        ([*EXPLAIN, "--search", "best"], "search must be none, prefix or greedy, got 'best'"),
        (
            [*EXPLAIN, "--budget", "much"],
            "--budget takes a number of model runs, such as 500, or seconds, such as 2.5s",
        ),
        ([*EXPLAIN, "--budget", "0"], "--budget takes a number of model runs"),
        ([*EXPLAIN, "--confidence", "0.3"], "confidence must be a probability above 0.5"),
        ([*EXPLAIN, "--refine", "0"], "--refine"),
        ([*EXPLAIN, "--out", "FOLDER"], "is a folder, not a file"),
        ([*EXPLAIN, "--out", "a.txt"], "--out a.txt must end in .json; a folder of results is for --input"),
        ([*EXPLAIN, "--device", "gpu"], "device 'gpu'"),
        (["explain", "--dataset", "tree-cycles", *EXPLAIN[3:]], "was trained on ba-2motifs, not on tree-cycles"),
    ],
)
def test_mistakes(refused, named, arguments, message):
    refused(named(arguments), message)


def test_a_page_to_share(run, named, tmp_path, refused):
    page = tmp_path / "pages" / "page.html"
    ended = run(*named(EXPLAIN), "--index", "5,7", "--html", str(page), "--quiet")
    assert ended.code == 0
    assert "page written to" in " ".join(ended.out.split())
    document = json.loads(page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])
    assert document["title"] == "ba-2motifs, test: explanations"
    assert [one["name"] for one in document["instances"]] == ["5", "7"]
    first = document["instances"][0]["results"][0]
    assert document["curves"]
    assert first["curve"]["probabilities"][0] == pytest.approx(first["probabilities"], abs=1e-5)
    refused(
        [*named(EXPLAIN), "--html", str(tmp_path / "page.svg")], "the file of a page must end in .html, got 'page.svg'"
    )
