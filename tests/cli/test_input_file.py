"""`rcexplainer explain --input`: molecules of a CSV file, without labels."""

import json
import re

import pytest

from rcexplainer.cli.fit_report import fit_named
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.engine.explained_rows import UNREADABLE
from tests.benchmark.toys import save_toy

ROWS = "code,smiles\nA-1,Nc1ccccc1CC(=O)O\nA-2,C1CC\nA-3,CCCCO\nA-4,O=[N+]([O-])c1ccc(CCCCCCCCCCCCCCC)cc1\n"


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    """A network for molecules, its explainer, and a file of unlabelled ones."""
    pytest.importorskip("rdkit")
    folder = tmp_path_factory.mktemp("molecules")
    with pytest.MonkeyPatch.context() as patch:
        from rcexplainer.cli import saved_network
        from tests.benchmark.toys import small

        patch.setattr(saved_network, "load", small)
        gnn = save_toy(folder, "nitro").rename(folder / "gnn.safetensors")
        fit_named(NamedInputs(str(gnn), "nitro"), folder / "e.safetensors", settings={"epochs": 2}, progress=False)
    (folder / "new.csv").write_text(ROWS, encoding="utf-8")
    return folder


@pytest.fixture
def explain(molecules, monkeypatch):
    monkeypatch.chdir(molecules)
    return ["explain", "--input", "new.csv", "--model", "gnn.safetensors", "--explainer", "e.safetensors", "--quiet"]


def test_a_file_without_labels(run, explain, caplog):
    ended = run(*explain, "--id-column", "code", "--search", "greedy", "--json")
    assert ended.code == 0
    assert "1 of 4 rows were left out: line 3: 'C1CC', not a SMILES" in caplog.text
    document = json.loads(ended.out)
    found = document["explanations"]
    assert [(one["id"], one["row"]) for one in found] == [("A-1", 2), ("A-3", 4), ("A-4", 5)]
    assert [one["label"] for one in found] == [None] * 3
    assert found[1]["smiles"] == "CCCCO"
    assert found[1]["node_names"] == ["C0", "C1", "C2", "C3", "O4"]
    assert found[1]["prediction"] in ("negative", "positive")
    assert document["bad_rows"] == [{"row": 3, "smiles": "C1CC", "error": "not a SMILES"}]
    assert (document["dataset"], document["part"]) == ("csv:new.csv", None)


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_a_molecule_that_is_not_disclosed_is_told_by_its_id_alone(run, explain, disclose, caplog):
    document = run(*explain, "--id-column", "code", "--disclose", disclose, "--json").out
    found = json.loads(document)
    assert [(one["id"], one["row"]) for one in found["explanations"]] == [("A-1", 2), ("A-3", 4), ("A-4", 5)]
    assert found["bad_rows"] == [{"row": 3}]
    table = run(*explain, "--disclose", disclose).out
    for told in (document, table):
        assert not [smiles for smiles in ("C1CC", "CCCCO", "Nc1cc") if smiles in told]
    assert "1 of 4 rows were left out: line 3\n" in caplog.text
    assert "C1CC" not in caplog.text
    assert found["search"] == ("prefix" if disclose == "counterfactual" else None)


def test_edges_of_a_molecule_that_is_not_disclosed_have_node_numbers(run, explain):
    withheld = [*explain, "--search", "greedy", "--disclose", "counterfactual"]
    for one in json.loads(run(*withheld, "--json").out)["explanations"]:
        found = one["counterfactual"]
        assert found["names"] == [f"{start}–{end}" for start, end in found["removed"]]
    assert not re.search(r"[A-Za-z]\d*–|–[A-Za-z]", run(*withheld).out)
    assert re.search(r"[CNO]\d+–[CNO]\d+", run(*explain, "--search", "greedy").out)


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_the_folder_of_results_tells_a_row_that_cannot_be_read_by_its_number(run, explain, tmp_path, disclose, caplog):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (extra tables)")
    ended = run(*explain, "--out", str(tmp_path / "results"), "--disclose", disclose, "--json")
    assert ended.code == 0
    rows = parquet.read_table(tmp_path / "results").to_pylist()
    assert [row["error"] for row in rows] == [None, UNREADABLE, None, None]
    assert "C1CC" not in f"{rows}{ended.out}{ended.err}{caplog.text}"
    kept = json.loads((tmp_path / "results" / "_summary.json").read_text(encoding="utf-8"))
    for told in (json.loads(ended.out), kept):
        assert ("flipped" in told) == (disclose == "counterfactual")
    table = run(*explain, "--out", str(tmp_path / "results"), "--disclose", disclose).out
    assert ("flipped" in table) == (disclose == "counterfactual")


def test_the_table_names_atoms(run, explain):
    ended = run(*explain, "--index", "1", "--search", "greedy")
    header, line = ended.out.splitlines()[:2]
    assert header.split()[:3] == ["index", "row", "smiles"]
    assert line.split()[:3] == ["1", "4", "CCCCO"]
    assert "–C" in line
    text = " ".join(ended.out.split())
    assert "1 graph of csv:new.csv" in text
    assert "1 row of the file could not be read" in text
    named = run(*explain, "--id-column", "code")
    assert named.out.splitlines()[0].split()[:2] == ["index", "id"]
    assert "Nc1ccccc1CC(" in run(*explain).out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--input", "nowhere.csv"], "--input: there is no file nowhere.csv"),
        (["--dataset", "nitro"], "--dataset cannot be used with --input: leave one of them out"),
        (["--part", "test"], "--part cannot be used with --input"),
        (["--id-column", "key"], "new.csv has no column 'key'; its first line"),
        (["--id-column", "key"], "Rename a column, or choose one with --id-column"),
        (["--smiles-column", "key"], "new.csv has no column 'key'; its first line"),
        (["--input", "nowhere.csv"], "--input: there is no file nowhere.csv; it takes a CSV file with a column"),
        (["--index", "3"], "csv:new.csv has 3 graphs: an index is from 0 to 2, got 3"),
        (
            ["--model", "my_package.gnn:load_model"],
            "--input is for networks that `rcexplainer train` wrote where it has SMILES",
        ),
    ],
)
def test_mistakes(run, explain, more, message):
    ended = run(*explain, *more)
    assert ended.code == 2
    assert message in ended.err.splitlines()[-1]


def test_a_file_without_labels_cannot_be_trained_on_and_the_way_out_exists(run, explain):
    said = " ".join(run("train", "--dataset", "csv:new.csv").err.split())
    hint = "molecules without labels can be explained: `rcexplainer explain --input FILE`"
    assert said.endswith(f". Rename a column; {hint}")


def test_a_network_for_other_graphs(run, explain, gnn):
    ended = run(*explain, "--model", str(gnn))
    assert "was trained on ba-2motifs, whose node features are not those of a CSV file" in ended.err


def test_graphs_of_a_labelled_file_say_their_line(run, explain, molecules):
    """The same file with labels, as a dataset."""
    rows = "".join(f"{'C' * (size % 7 + 2)}{'ON'[size % 2]},{size % 2},m{size}\n" for size in range(20))
    (molecules / "labelled.csv").write_text("smiles,label,id\n" + rows, encoding="utf-8")
    data = ["--dataset", "csv:labelled.csv"]
    assert run("train", *data, "--epochs", "60", "--lr", "0.01", "--out", "trained", "-q").code == 0
    model = next(str(path) for path in (molecules / "trained").glob("*.safetensors"))
    assert run("fit", *data, "--model", model, "--set", "epochs=1", "--out", "c.safetensors", "-q").code == 0
    files = ["--model", model, "--explainer", "c.safetensors", "-q", "--json"]
    for one in json.loads(run("explain", *data, *files, "--disclose", "prediction").out)["explanations"]:
        assert "label" not in one
        assert one["position"] == one["row"] - 2
    for one in json.loads(run("explain", *data, *files).out)["explanations"]:
        assert one["id"] == f"m{one['row'] - 2}"
        assert one["smiles"].endswith("CN" if one["label"] == "1" else "CO")
    new = json.loads(run("explain", "--input", "labelled.csv", *files).out)["explanations"]
    assert [one["row"] for one in new] == list(range(2, 22))


def test_an_explainer_is_fitted_on_the_rows_that_can_be_read(run, molecules, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    both_classes = ("CCO", "C1CC", "CCCCCCCCCCCCCCCC", "c1ccccc1", "O=[N+]([O-])c1ccccc1", "x(", "CC", "C" * 18)
    (tmp_path / "t.csv").write_text("\n".join(["smiles", *both_classes]), encoding="utf-8")
    fit = ["fit", "--input", "t.csv", "--model", str(molecules / "gnn.safetensors"), "--set", "epochs=1", "--quiet"]
    ended = run(*fit, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["graphs"] == 6
    left_out = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert left_out == ["t.csv: 2 of 8 rows were left out, the first is line 3: SMILES 'C1CC': not a SMILES"]
