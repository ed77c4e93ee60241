"""`rcexplainer bench`, at small sizes."""

import json
import subprocess
from functools import partial

import pytest

from rcexplainer.benchmark import speed
from rcexplainer.cli import bench as command


def test_import_is_the_median_of_what_each_package_adds(run, monkeypatch):
    marks = iter([b"0 2 3 3.5 4\n", b"10 11 14 14.1 14.2\n", b"20 22 23.5 23.7 24\n"])
    monkeypatch.setattr(subprocess, "check_output", lambda command: next(marks))
    ended = run("bench", "import", "--repeats", "3", "--json")
    rows = {row["import"]: row["seconds more"] for row in json.loads(ended.out)}
    assert ended.code == 0
    expected = {"torch": 2, "torch_geometric": 1.5, "rcexplainer": 0.2, "its parts, when first used": 0.3}
    assert rows == pytest.approx(expected)


@pytest.mark.slow
def test_import_of_the_real_packages(run):
    rows = {row["import"]: row["seconds more"] for row in json.loads(run("bench", "import", "--json").out)}
    assert rows["torch_geometric"] > rows["rcexplainer"] >= 0


def test_nodes():
    rows = speed.nodes_cost(1, nodes=200, edges=1000, roots=20, most=500)
    assert [row["hops"] for row in rows] == [1, 2, 3]
    assert rows[0]["edges of all computation graphs"] < rows[2]["edges of all computation graphs"]


def test_core(run, monkeypatch):
    monkeypatch.setitem(speed.BENCHMARKS, "core", partial(speed.core_cost, graphs=64, mini_batch=32))
    ended = run("bench", "core", "--repeats", "1", "--json")
    rows = json.loads(ended.out)
    assert ended.code == 0
    assert [row["what"] for row in rows[:-3]] == [
        "scores",
        "training, default",
        "training, paper",
        "training, released",
    ]
    assert all(row["÷ GNN"] > 1 for row in rows[:-3])
    few, _, many = (row["peak bytes an edge"] for row in rows[-3:])
    assert many < 1.05 * few  # linear in the edges: 16 times as many are scored


def test_a_table(run, monkeypatch):
    monkeypatch.setitem(speed.BENCHMARKS, "nodes", lambda repeats: [{"repeats": repeats}])
    ended = run("bench", "nodes", "--repeats", "2")
    assert (ended.code, ended.err) == (0, "")
    assert "medians of 2" in ended.out


def test_mistakes(refused):
    refused(["bench", "everything"], "unknown benchmark 'everything'; known: import, core, regions, nodes")
    refused(["bench", "core", "--repeats", "0"], "--repeats")


def test_the_help_names_every_benchmark(run):
    out = run("bench", "--help").out
    assert all(name in out for name in speed.BENCHMARKS)
    assert set(command.LARGE) <= speed.BENCHMARKS.keys()
