"""`rcexplainer bench`, at small sizes."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

import rcexplainer as rc
from rcexplainer.benchmark import speed
from rcexplainer.benchmark.speed import (
    core_cost,
    disk_graph,
    engine_cost,
    engine_model,
    explain_cost,
    fit_cost,
    hub_cost,
    large_graph,
    memory_cost,
    molecules,
    neighbourhood_cost,
    other_explainers,
    scale_cost,
    scaling_cost,
    scaling_subjects,
    stream_cost,
    tensor_memory,
)
from rcexplainer.benchmark.speed.anonymous_memory import AnonymousPeak
from rcexplainer.benchmark.speed.document import document, write
from rcexplainer.benchmark.speed.engine_process import EngineTimes
from rcexplainer.benchmark.speed.hub_graph import Hub
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.benchmark.speed.process_tree import ProcessTree
from rcexplainer.cli import bench as command

from_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


@pytest.fixture
def few_molecules(monkeypatch):
    """Forty generated molecules, and an explainer that is fitted in a moment."""
    data = rc.datasets.load("nitro", num_graphs=40)
    monkeypatch.setattr(molecules, "molecule_set", lambda options: data)
    monkeypatch.setattr(molecules, "RCExplainer", partial(rc.RCExplainer, epochs=1))
    monkeypatch.setattr(explain_cost, "ALONE", 2)
    return data


def test_import_is_the_median_of_what_each_package_adds(run, monkeypatch):
    marks = iter([b"0 2 3 3.5 4\n", b"10 11 14 14.1 14.2\n", b"20 22 23.5 23.7 24\n"])
    monkeypatch.setattr(subprocess, "check_output", lambda command: next(marks))
    ended = run("bench", "import", "--repeats", "3", "--json")
    rows = {row["import"]: row["seconds more"] for row in json.loads(ended.out)["rows"]}
    assert ended.code == 0
    expected = {"torch": 2, "torch_geometric": 1.5, "rcexplainer": 0.2, "its parts, when first used": 0.3}
    assert rows == pytest.approx(expected)


@pytest.mark.slow
def test_import_of_the_real_packages(run):
    rows = {row["import"]: row["seconds more"] for row in json.loads(run("bench", "import", "--json").out)["rows"]}
    assert rows["torch_geometric"] > rows["rcexplainer"] >= 0


def test_serve(few_molecules, monkeypatch):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra app): the server is not measured")
    from rcexplainer.benchmark.speed import serve_cost

    monkeypatch.setattr(serve_cost, "DURATION", 0.2)
    rows = list(serve_cost.serve_cost(BenchOptions(1, graphs=8)))
    assert [(row["row"], row["clients"]) for row in rows] == [
        (w, n) for w in ("predict", "explain") for n in (1, 8, 32)
    ]
    assert all(0 < row["p50 ms"] <= row["p95 ms"] and row["requests/s"] > 0 < row["model ms"] for row in rows)


def test_nodes():
    rows = neighbourhood_cost.neighbourhood_cost(BenchOptions(1), nodes=200, edges=1000, roots=20, most=500)
    assert [row["hops"] for row in rows] == [1, 2, 3]
    assert rows[0]["edges of all computation graphs"] < rows[2]["edges of all computation graphs"]


def test_core(run, monkeypatch):
    monkeypatch.setattr(core_cost, "core_cost", partial(core_cost.core_cost, graphs=64, mini_batch=32))
    ended = run("bench", "core", "--repeats", "1", "--json")
    rows = json.loads(ended.out)["rows"]
    assert ended.code == 0
    assert [row["what"] for row in rows[:-3]] == [
        "scores",
        "training, default",
        "training, paper",
        "training, released",
    ]
    for row in rows[:-3]:  # which of the two is faster, a busy machine decides
        assert row["÷ GNN"] == pytest.approx(row["ms"] / row["GNN ms"], rel=0.05)
    few, _, many = (row["peak bytes an edge"] for row in rows[-3:])
    assert many < 1.05 * few  # linear in the edges: 16 times as many are scored


def test_explain(run, few_molecules, monkeypatch, tmp_path):
    monkeypatch.setattr(other_explainers, "BASELINES", {"occlusion": ("Occlusion", 2)})
    for name, few in {"FEW": 3, "TAUGHT": 3, "PG_EPOCHS": 1}.items():
        monkeypatch.setattr(other_explainers, name, few)
    ended = run("bench", "explain", "--graphs", "8", "--repeats", "1", "--keep", str(tmp_path), "--json")
    assert ended.code == 0
    everything = json.loads(ended.out)
    assert everything["machine"]["rcexplainer"] == rc.__version__
    found = {(row["row"], row["what"]): row for row in everything["rows"]}
    assert {row["set"] for row in everything["rows"]} == {"nitro"}
    assert found["list", "forward"]["÷ forward"] == 1
    assert min(found["list", f"loader {size}"]["÷ loader + forward"] for size in explain_cost.LOADER_SIZES) == 1
    assert found["list", "prefix"]["÷ loader + forward"] > 1
    assert found["alone", "scores"]["÷ forward"] > 1
    assert found["all", "scores of a Batch"]["graphs"] == found["all", "scores of a list"]["graphs"] == 40
    others = {what for row, what in found if row == "others"}
    assert others == {"rcexplainer, scores", "rcexplainer, prefix", "PyG GNNExplainer", "PyG PGExplainer", "occlusion"}
    assert {path.name for path in tmp_path.iterdir()} == {"nitro.safetensors", "nitro-explainer.safetensors"}


def test_fit(run, few_molecules, monkeypatch, tmp_path):
    monkeypatch.setattr(fit_cost, "RCExplainer", lambda **how: rc.RCExplainer(**how, epochs=1))
    ended = run("bench", "fit", "--rows", "graphs", "--graphs", "12", "--out", str(tmp_path), "--json")
    [row] = json.loads(ended.out)["rows"]
    assert (ended.code, row["instances"], row["epochs"]) == (0, 12, 1)
    assert row["÷ GNN step"] == pytest.approx(1000 * row["seconds"] / row["GNN step ms"])
    assert {"before", "search", "mask network"} <= row["phases"].keys()
    assert sum(row["phases"].values()) == pytest.approx(row["seconds"], abs=0.1)
    [path] = tmp_path.iterdir()
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == [row]


def test_fit_for_nodes_of_a_large_graph(monkeypatch):
    monkeypatch.setattr(fit_cost, "RCExplainer", lambda **how: rc.RCExplainer(**how, epochs=1, restarts=1))
    monkeypatch.setattr(fit_cost, "large_graph", partial(fit_cost.large_graph, nodes=200, edges=800))
    [row] = fit_cost.fit_cost(BenchOptions(1, rows=("nodes",), graphs=5))
    assert (row["instances"], row["nodes"]) == (5, 200)
    assert row["edges"] <= 800


@pytest.mark.parametrize(
    "hub", [Hub("late", 41, 2, 2, first=4, step=12), Hub("large", 60, 5, 12, first=0, step=2)], ids=lambda hub: hub.name
)
def test_the_search_around_a_hub_finds_its_known_answer(monkeypatch, hub):
    monkeypatch.setattr(hub_cost, "HUBS", (hub,))
    rows = list(hub_cost.hub_cost(BenchOptions(1)))
    for row in rows:
        assert row["deleted"] == row["smallest answer"] == hub.answer
        assert row["flipped"]
        assert row["minimal"]
        assert row["runs"] > 0
    assert [row["search"] for row in rows[:2]] == ["prefix", "greedy"]


def test_scaling(run, few_molecules, monkeypatch, tmp_path):
    sizes = {"GRAPHS": (5, 10), "FITTED": (10, 20), "EDGES": (40, 80), "SEARCHED": (20, 40), "CLASSES": (2, 3)}
    for name, small in {**sizes, "RINGS": 30, "AMONG": 10, "EPOCHS": 1}.items():
        monkeypatch.setattr(scaling_cost, name, small)
    monkeypatch.setattr(scaling_subjects, "EPOCHS", 3)
    kept = ("--keep", str(tmp_path / "kept"))
    ended = run("bench", "scaling", "--repeats", "1", *kept, "--out", str(tmp_path), "--json")
    rows = json.loads(ended.out)["rows"]
    slopes = [(row["row"], row["what"]) for row in rows if "slope" in row]
    assert slopes == [(row, what) for row in ("graphs", "edges", "classes") for what in ("scores", "prefix", "fit")]
    assert sum("size" in row for row in rows) == 18
    plot = next(tmp_path.glob("*.svg")).read_text(encoding="utf-8")
    assert "edges of one graph" in plot


def test_a_slope_is_the_power_of_the_size():
    assert scaling_cost.slope([(2, 3 * 2**1.5), (4, 3 * 4**1.5), (9, 3 * 9**1.5)]) == pytest.approx(1.5)


def test_a_series_ends_at_the_limit(monkeypatch):
    monkeypatch.setattr(scaling_cost, "_graphs", lambda options: {"scores": ((1, 2, 4, 8), lambda size: 2.0 * size)})
    rows = list(scaling_cost.scaling_cost(BenchOptions(1, rows=("graphs",), limit=3)))
    assert [row.get("size") for row in rows] == [1, 2, None]
    assert rows[-1]["slope"] == pytest.approx(1)


@from_proc
def test_memory_is_the_growth_of_the_peak():
    assert memory_cost.peak_megabytes(lambda: None, BenchOptions()) < 5
    assert 190 < memory_cost.peak_megabytes(lambda: torch.ones(50_000_000), BenchOptions()) < 260


@from_proc
def test_memory(few_molecules, monkeypatch):
    small = {"MOLECULES": 6, "EDGES": (40,), "CLASSES": (2,), "CHOSEN": (3,), "RINGS": 30}
    for name, value in small.items():
        monkeypatch.setattr(memory_cost, name, value)
    monkeypatch.setattr(tensor_memory, "CLASSES", (3,))
    monkeypatch.setattr(tensor_memory, "LARGE", 500)
    rows = list(memory_cost.memory_cost(BenchOptions()))
    assert [(row["row"], row["size"]) for row in rows] == [
        ("draws", 500),
        ("merging", 3),
        ("answers", 3),
        ("large graph", 0),
        ("large graph", 40),
        ("classes", 2),
        ("each class", 3),
    ]
    assert all(row["peak MB"] > 0 for row in rows)


@from_proc
def test_stream(monkeypatch, tmp_path):
    few = {"4000 list": stream_cost.StreamFit(30, listed=True, pool=18, held_out=10)}
    monkeypatch.setattr(stream_cost, "FITS", few | {"40000 stream": stream_cost.StreamFit(30, pool=18, held_out=10)})
    monkeypatch.setattr(stream_cost, "NETWORK_MOLECULES", 40)
    monkeypatch.setattr(stream_cost, "RCExplainer", partial(rc.RCExplainer, epochs=2))
    monkeypatch.setattr(stream_cost, "alone", lambda run, *arguments: run(*arguments))  # a child would not be patched
    rows = list(stream_cost.stream_cost(BenchOptions(2, keep=tmp_path)))
    assert [row["row"] for row in rows] == ["4000 list", "40000 stream"]
    assert all(row["lowest"] <= row["ratio"] <= row["highest"] and row["peak MB"] > 0 for row in rows)
    assert len({row["steps"] for row in rows}) == 1
    monkeypatch.setattr(stream_cost, "measured_fit", None)  # all are kept: none is done again
    assert list(stream_cost.stream_cost(BenchOptions(2, keep=tmp_path))) == rows


@from_proc
def test_anonymous_memory():
    with AnonymousPeak() as little:
        pass
    with AnonymousPeak() as much:
        kept = torch.ones(50_000_000)
    assert little.grown < 5e6
    assert kept.nbytes == 200e6
    assert 190e6 < much.grown < 260e6


@from_proc
def test_scale(monkeypatch, tmp_path):
    for name, value in {"SIZES": ("3e3", "6e3"), "TRAINED": 2000, "FITTED": 12, "RUN": 5}.items():
        monkeypatch.setattr(scale_cost, name, value)
    monkeypatch.setattr(large_graph, "EPOCHS", 2)
    monkeypatch.setattr(scale_cost, "RCExplainer", partial(rc.RCExplainer, restarts=1))
    rows = list(scale_cost.scale_cost(BenchOptions(1, graphs=20, scratch=tmp_path)))
    assert [(row["row"], row.get("explained")) for row in rows] == [("3e3", 20), ("6e3", 20), ("slope", None)]
    assert all(row["peak MB index"] >= row["MB before"] > 0 and row["peak MB explain"] > 0 for row in rows[:2])
    assert all(row["ms per node"] > row["forward ms"] > 0 for row in rows[:2])
    assert all(row["edges read per node"] > row["edges each"] < row["edges run per node"] for row in rows[:2])
    assert rows[2]["ms per node"] == pytest.approx(
        scaling_cost.slope([(row["edges"], row["ms per node"]) for row in rows[:2]])
    )
    assert not list(tmp_path.iterdir())  # the graphs are removed


def test_a_graph_on_disk_has_bounded_hubs(tmp_path):
    folder = disk_graph.write_disk_graph(tmp_path / "one", 40_000)
    graph = disk_graph.in_memory(folder)
    degree = torch.bincount(graph.edge_index[1], minlength=4000)
    assert (graph.num_nodes, graph.num_edges) == (4000, 40_000)
    assert 300 < int(degree.max()) < 1100
    assert not bool((graph.edge_index[0] == graph.edge_index[1]).any())
    again = disk_graph.in_memory(disk_graph.write_disk_graph(tmp_path / "two", 40_000))
    assert torch.equal(graph.edge_index, again.edge_index)
    assert torch.equal(graph.x, again.x)


@pytest.fixture
def few_rows(few_molecules, monkeypatch):
    """Files of few molecules, in parts of eight."""
    for module in (engine_cost, engine_model):
        monkeypatch.setattr(module, "generated_set", lambda: few_molecules)
        monkeypatch.setattr(module, "PART_ROWS", 8)


def test_engine_in_memory(few_rows, monkeypatch, tmp_path):
    monkeypatch.setattr(engine_cost, "find_spec", lambda name: None)  # as where only torch and PyG are installed
    rows = {row["row"]: row for row in engine_cost.engine_cost(BenchOptions(1, graphs=40, keep=tmp_path))}
    assert list(rows) == ["loader", "explain", "memory"]
    assert rows["loader"]["÷ loader"] == rows["explain"]["÷ explain"] == 1
    assert rows["loader"]["rows/s"] > rows["memory"]["rows/s"] > 0
    assert {path.name for path in tmp_path.iterdir()} == {"nitro.safetensors", "nitro-explainer.safetensors"}


@from_proc
def test_engine(few_rows, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables): no files are measured")
    rows = {
        row["row"]: row for row in engine_cost.engine_cost(BenchOptions(1, rows=("local 1",), graphs=40, keep=tmp_path))
    }
    assert list(rows) == ["local 1"]
    local = rows["local 1"]
    assert local["rows"] == 40
    assert local["peak MB"] > 50
    assert local["start s"] < local["seconds"]
    assert 0 < local["÷ loader"] < local["÷ explain"]  # whoever explains has loaded, too
    assert (tmp_path / "nitro-graphs-1-40.parquet").exists()


@pytest.mark.slow
@from_proc
def test_engines_with_two_workers(few_rows, tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed (extra ray): it is not measured")
    options = BenchOptions(1, rows=("local 2", "ray 2"), graphs=80, keep=tmp_path)
    assert [row["rows"] for row in engine_cost.engine_cost(options)] == [80, 80]


def test_a_cost_model_is_fitted_and_checked(few_rows, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables): no files are measured")

    def run(subject, engine, workers, content, rows):
        seconds = {1: 3.0, 2: 5.0}[workers] + rows * 0.25 / workers
        return EngineTimes(rows, seconds, 4.0 * workers, 4.0, 2.0 * workers + rows * 0.5, 100.0)

    monkeypatch.setattr(engine_cost.EngineSubject, "run", run)
    rows = list(engine_model.engine_model(BenchOptions(1, graphs=16, keep=tmp_path)))
    found = [row for row in rows if row["row"] == "stages"]
    assert found[0]["what"] == "graphs"
    assert all(row[name] > 0 for row in found for name in ("read µs", "explain µs", "write µs"))
    local = [row for row in rows if row["row"] == "local"]
    assert [(row["what"], row["rows"]) for row in local if row["workers"] == 1] == [
        *(("fit", 16 * times) for times in engine_model.FITTED),
        *(("check", 16 * times) for times in engine_model.CHECKED),
    ]
    assert all(abs(row["error"]) < 1e-9 and row["µs a row"] == pytest.approx(250_000) for row in local)
    assert {row["workers"]: row["start s"] for row in local} == pytest.approx({1: 3.0, 2: 5.0})
    assert all(abs(row["cpu error"]) < 1e-9 for row in local)
    assert {row["workers"]: row["cpu start s"] for row in local} == pytest.approx({1: 2.0, 2: 4.0})


@from_proc
def test_a_tree_of_processes():
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    inner = "import time\nheld = bytearray(80_000_000)\nwhile time.process_time() < 0.6: pass"
    with subprocess.Popen([sys.executable, "-c", script, inner]) as process, ProcessTree(process.pid) as tree:
        process.wait()
    assert 80e6 < tree.peak_bytes < 200e6
    assert tree.cpu_seconds() > 0.3
    assert tree.cpu_seconds(0.0) == 0


def test_a_table(run, monkeypatch):
    monkeypatch.setattr(speed, "benchmark", lambda name: lambda options: [{"repeats": options.repeats}])
    ended = run("bench", "nodes", "--repeats", "2")
    assert (ended.code, ended.err) == (0, "")
    assert "medians of 2" in ended.out


def test_the_benchmarks_need_none_of_the_optional_packages():
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"typer", "rich", "matplotlib", "scipy", "rdkit"}:
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from rcexplainer.benchmark.speed import BENCHMARKS, benchmark
for name in BENCHMARKS:
    benchmark(name)
from rcexplainer.benchmark.speed.__main__ import main
sys.argv = ["speed", "hub", "--rows", "none"]
main()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_the_module_prints_rows_and_writes_them(monkeypatch, capsys, tmp_path):
    from rcexplainer.benchmark.speed.__main__ import main

    monkeypatch.setattr(speed, "benchmark", lambda name: lambda options: iter([{"device": options.device}]))
    monkeypatch.setattr(sys, "argv", ["speed", "hub", "--out", str(tmp_path)])
    main()
    assert json.loads(capsys.readouterr().out) == {"device": "cpu"}
    [path] = tmp_path.iterdir()
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == [{"device": "cpu"}]


def test_rows_measured_before_stay_in_the_file(tmp_path):
    for rows in ([{"row": "a", "ms": 1}], [{"row": "b", "ms": 2}], [{"row": "a", "ms": 3}]):
        path = write(document("hub", BenchOptions(), rows), tmp_path)
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == [{"row": "b", "ms": 2}, {"row": "a", "ms": 3}]


def test_mistakes(refused):
    known = "import, core, regions, nodes, explain, fit, hub, scaling, memory"
    refused(["bench", "everything"], f"unknown benchmark 'everything'; known: {known}")
    refused(["bench", "core", "--repeats", "0"], "--repeats")
    refused(["bench", "hub", "--rows", "huge"], "bench hub has no row named 'huge'")


def test_the_help_names_every_benchmark(run):
    out = run("bench", "--help").out
    assert all(name in out for name in speed.BENCHMARKS)
    assert set(command.LARGE) <= speed.BENCHMARKS.keys()
