"""`rcexplainer explain --input PATH --out DIR`, as a user types it."""

import json

import pyarrow.parquet as pq
import pytest

import rcexplainer as rc
from rcexplainer.cli.table_explanations import TableRequest, table_option
from tests.cli.own_package import own
from tests.engine.table_case import make_case


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return make_case(tmp_path_factory.mktemp("table"))


def words(case, **changed) -> list[str]:
    found = {"--input": case.molecules, "--model": case.gnn, "--explainer": case.explainer}
    found |= {f"--{key.replace('_', '-')}": value for key, value in changed.items()}
    return ["explain", *(str(word) for pair in found.items() if pair[1] is not None for word in pair), "--quiet"]


def test_from_a_file_to_a_folder(run, case, tmp_path) -> None:
    out = tmp_path / "out"
    ended = run(*words(case, out=out, scores=2, workers=1))
    assert (ended.code, ended.err) == (0, "")
    assert f"written to {out}" in ended.out
    table = pq.read_table(out / "part-00000.parquet")
    assert table.num_rows == 80
    assert {len(scores) for scores in table.column("scores").to_pylist()} == {2}
    again = run(*words(case, out=out, scores=2, workers=1), "--json")
    document = json.loads(again.out)
    assert (document["rows"], document["explained"], document["errors"]) == (80, 0, 0)


def test_molecules_of_a_csv_file_with_some_that_are_none(run, case, tmp_path) -> None:
    (tmp_path / "m.csv").write_text("id,smiles\na,CCO\nb,C(C\nc,O=[N+]([O-])c1ccccc1\n", encoding="utf-8")
    ended = run(*words(case, input=tmp_path / "m.csv", out=tmp_path / "out", engine="local", workers=1))
    assert ended.code == 0
    rows = pq.read_table(tmp_path / "out" / "part-00000.parquet").to_pylist()
    assert [(row["id"], row["smiles"], row["error"]) for row in rows] == [
        ("a", "CCO", None),
        ("b", "C(C", "SMILES 'C(C': not a SMILES"),
        ("c", "O=[N+]([O-])c1ccccc1", None),
    ]


def test_rows_of_the_class_to_lead_to_are_counted_apart(run, case, tmp_path) -> None:
    line = words(case, out=tmp_path / "out", workers=1, target_class=1)
    first = run(*line)
    again = json.loads(run(*line, "--json").out)
    rows = pq.read_table(tmp_path / "out" / "part-00000.parquet").to_pylist()
    already = [row for row in rows if row["error"] is not None]
    assert 0 < len(already) < 80
    assert {row["error"] for row in already} == {"class 1 is predicted already: choose another class to lead to"}
    assert {(row["class"], row["prediction"], row["probabilities"]) for row in already} == {("1", 1, None)}
    assert (again["already"], again["errors"], again["explained"]) == (len(already), 0, 0)
    assert first.out.splitlines()[0].split()[:4] == ["rows", "flipped", "already", "errors"]


def test_a_users_own_model_and_graphs(run, inside, tmp_path) -> None:
    explainer = tmp_path / "own.safetensors"
    assert run("fit", *own("graph"), "--out", str(explainer), "--set", "epochs=1", "--quiet").code == 0
    out = tmp_path / "out"
    ended = run("explain", *own("graph"), "--explainer", str(explainer), "--engine", "local", "--out", str(out), "-q")
    assert (ended.code, ended.err) == (0, "")
    assert pq.read_table(out / "part-00000.parquet").column("error").null_count > 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "name the folder of results, such as --out results"),
        ({"out": "out", "engine": "spark"}, "--engine must be one of local, ray, got 'spark'"),
        ({"engine": "spark", "dataset": "nitro"}, "--engine must be one of local, ray, got 'spark'"),
        (
            {"input": None, "dataset": "nitro", "scores": "all"},
            "--dataset cannot be used with a folder of results (--scores all): leave one of them out",
        ),
        ({"out": "out", "index": "3"}, "--index cannot be used with a folder of results (--input "),
        ({"out": "out", "predicted": "positive"}, "--predicted cannot be used with a folder of results"),
        ({"out": "out", "scores": "many"}, "scores must be none, all or a number of edges such as 10, got 'many'"),
        ({"out": "out", "input": "absent.parquet"}, "there is no file"),
        ({"input": "absent/*.parquet"}, "there is no file"),
        ({"input": "."}, "has no file that ends in .parquet or .csv"),
        ({"id_column": "foo", "out": "out"}, "has no column 'foo', which --id-column names; it has"),
        ({"out": "out", "input": None, "engine": "local"}, "give --input PATH or --graphs module:function with"),
        ({"out": "out", "device": "cuda:99"}, "device 'cuda:99' cannot be used here"),
    ],
)
def test_what_cannot_be_done_is_said(refused, case, changed, message, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(words(case, **changed), message)
    assert list(tmp_path.iterdir()) == []


def test_a_network_of_other_features_reads_no_smiles(refused, gnn, explainer, tmp_path) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCCO\n", encoding="utf-8")
    line = ["explain", "--input", str(tmp_path / "m.csv"), "--model", str(gnn), "--explainer", str(explainer)]
    refused([*line, "--out", str(tmp_path / "out"), "--engine", "local"], "was trained on ba-2motifs, whose node")


def test_without_pyarrow_or_ray_the_line_that_installs_it(refused, case, tmp_path, monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    line = words(case, out=tmp_path / "out", engine="ray")
    refused(line, 'ray is not installed; run: pip install "rcexplainer[ray]"')
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(words(case, out=tmp_path / "other"), 'pyarrow is not installed; run: pip install "rcexplainer[tables]"')


def test_single_graphs_are_shown_as_before(tmp_path) -> None:
    csv = tmp_path / "m.csv"
    csv.write_text("smiles\nC\n", encoding="utf-8")
    table = rc.datasets.to_parquet([rc.datasets.load("ba-2motifs", num_graphs=4).graphs[0]], tmp_path / "a.parquet")
    nothing = (None, None)
    assert table_option(TableRequest(csv, nothing, None)) is None
    assert table_option(TableRequest(csv, nothing, tmp_path / "a.json")) is None
    assert table_option(TableRequest(None, nothing, tmp_path / "a.json")) is None
    assert table_option(TableRequest(csv, nothing, tmp_path / "out"))
    assert table_option(TableRequest(csv, nothing, tmp_path / "a.json", engine="local"))
    assert table_option(TableRequest(table, nothing, None))
    assert table_option(TableRequest(tmp_path / "*.csv", nothing, None))


@pytest.mark.parametrize("smiles", [True, False])
def test_an_explainer_fitted_on_files(run, case, smiles, tmp_path) -> None:
    path, out = case.molecules, tmp_path / "explainer.safetensors"
    if smiles:
        path = tmp_path / "m.csv"
        path.write_text(
            "smiles\n" + "\n".join(["CCO", "O=[N+]([O-])c1ccccc1", "CCN(C)C", "Clc1ccccc1"] * 12) + "\n",
            encoding="utf-8",
        )
    line = ["fit", "--model", str(case.gnn), "--input", str(path), "--out", str(out), "--set", "epochs=1", "--quiet"]
    ended = run(*line)
    assert (ended.code, "fitted for" in ended.out) == (0, True)
    again = run(*words(case, input=path, explainer=out, out=tmp_path / "out", workers=1))
    assert again.code == 0
