"""A real Ray on this machine: the rows of the local engine, also where a worker or the driver is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rcexplainer.engine import local
from rcexplainer.engine.table_run import run_job
from rcexplainer.errors import DatasetError, RCExplainerError
from rcexplainer.integrations import ray as on_ray
from tests.engine.table_case import always_deadly, assert_alike, make_case, opened, results

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rcexplainer[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray's own: open sockets, deprecated calls


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return make_case(tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def whole(case, tmp_path_factory):
    """Results of the local engine."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run_job(case.job(out, part_rows=10, scores=3), partial(local.explain_parts, workers=1), case.fitted())
    return results(out)


@pytest.fixture(scope="module")
def two_cores():
    """A cluster whose two cores two actors hold: a task that needed a third would wait forever."""
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    with TemporaryDirectory(prefix="ray") as folder:  # the names of its sockets must be short
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment, _temp_dir=folder)
        yield
        ray.shutdown()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
def test_the_same_rows_and_a_killed_worker_is_retried(case, whole, two_cores, tmp_path) -> None:
    out, killed = tmp_path / "out", []

    def kill_one() -> None:
        while not killed:
            time.sleep(0.05)
            if list(out.glob("part-*")):
                killed.extend(actor_processes()[:1])
                for number in killed:
                    os.kill(number, signal.SIGKILL)

    watcher = threading.Thread(target=kill_one, daemon=True)
    watcher.start()
    summary = run_job(case.job(out, part_rows=10, scores=3), on_ray.explain_parts, case.fitted())
    watcher.join(10)
    assert len(killed) == 1
    assert (summary.rows, summary.errors) == (80, 0)
    assert_alike(results(out), whole)


def actor_processes() -> list[int]:
    """Processes of our actors, by the name that Ray gives them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"ray::MapWorker(MapBatches(PartActor))" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended
            continue
    return found


def test_a_dataset_of_ray(case, whole, two_cores) -> None:
    table = pq.read_table(case.molecules)
    dataset = ray.data.from_arrow(table)
    load = partial(opened, case.gnn, case.explainer)
    found = on_ray.explain(dataset, load, batch_rows=16, scores=3, explainer="0" * 16)
    rows = {row["id"]: row for row in found.take_all()}
    wanted = {row["id"]: row for row in whole.drop_columns(["row"]).to_pylist()}
    assert rows.keys() == wanted.keys()
    discrete = ("prediction", "class", "new_class", "flipped", "minimal", "error", "model", "explainer")
    for name, row in rows.items():
        assert {key: row[key] for key in discrete} == {key: wanted[name][key] for key in discrete}
        assert [list(pair) for pair in row["removed"]] == wanted[name]["removed"]


def test_a_part_that_cannot_be_written_is_said(case, two_cores, tmp_path) -> None:
    job = case.job(tmp_path / "out", part_rows=40)
    (tmp_path / "out").mkdir()
    for number in (0, 1):
        job.folder.part(number).mkdir()  # a folder where a file is to be
    found = list(on_ray.explain_parts(job, [0, 1], case.fitted()))
    assert all("is a folder" in str(one) for one in found)


def test_a_part_whose_actor_dies_again_and_again_is_given_up(case, two_cores, tmp_path) -> None:
    load = partial(always_deadly, os.getpid(), case.gnn, case.explainer)
    job = case.job(tmp_path / "out", part_rows=80, load=load)
    with pytest.raises(RCExplainerError, match="rows from 0 to before 80 died 3 times"):
        run_job(job, on_ray.explain_parts, case.fitted())


def test_rows_without_graphs_are_refused() -> None:
    with pytest.raises(DatasetError, match="neither edge_index nor smiles; it has a"):
        on_ray.rows_of(pa.table({"a": [1]}))
    assert on_ray.rows_of(pa.table({"ID": ["x"], "Smiles": ["CC"]})).names == {"smiles": ["CC"], "id": ["x"]}


def test_a_cluster_that_does_not_answer(monkeypatch, case, tmp_path) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1"):
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(RCExplainerError, match=r"no Ray cluster answers there within 10 s .*ray start --head"):
            list(on_ray.explain_parts(case.job(tmp_path / "out"), [0], case.fitted()))


DRIVER = """
import sys
from pathlib import Path
from rcexplainer.engine.table_run import run_job
from rcexplainer.integrations.ray import explain_parts
from tests.engine.table_case import TableCase
case = TableCase(*map(Path, sys.argv[1:4]))
run_job(case.job(Path(sys.argv[4]), part_rows=10, scores=3), explain_parts, case.fitted())
"""


@pytest.mark.slow
def test_a_killed_driver_started_again_has_every_row_once(case, whole, tmp_path) -> None:
    """Each time with a Ray of its own."""
    files = [str(path) for path in (case.gnn, case.explainer, case.molecules, tmp_path / "out")]
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, *files]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_ADDRESS": ""}
    driver = subprocess.Popen(command, env=environment)
    while driver.poll() is None and len(list((tmp_path / "out").glob("part-*.parquet"))) < 2:
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    there = len(list((tmp_path / "out").glob("part-*.parquet")))
    assert there >= 2
    subprocess.run(command, env=environment, check=True)
    assert_alike(results(tmp_path / "out"), whole)
