"""Jobs on one machine: whole, in any number of processes and parts; killed and started again; refused."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch

from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.engine import local, table_job
from rcexplainer.engine.sequence_source import SequenceSource
from rcexplainer.engine.table_run import RunSummary, run_job
from rcexplainer.errors import DatasetError, RCExplainerError
from tests.benchmark.toys import small
from tests.engine.table_case import KILL, always_deadly, assert_alike, deadly, results


def run(job, fitted, workers=1):
    return run_job(job, partial(local.explain_parts, workers=workers), fitted)


@pytest.fixture(scope="module")
def whole(case, tmp_path_factory):
    """Results of a job that nothing happened to."""
    out = tmp_path_factory.mktemp("whole") / "out"
    summary = run(case.job(out, part_rows=16, scores=3), case.fitted())
    assert (summary.rows, summary.explained, summary.errors, summary.parts) == (80, 80, 0, 5)
    return results(out)


def test_a_row_for_each_graph_in_order(whole) -> None:
    assert whole.column("row").to_pylist() == list(range(80))
    assert whole.column("id").to_pylist() == [f"m{number}" for number in range(80)]


def test_a_fast_run_does_not_take_no_time() -> None:
    summary = RunSummary(rows=3, explained=3, errors=0, already=0, flipped=1, parts=1, seconds=0.043)
    assert summary.lines()[0]["seconds"] == 0.043


@pytest.mark.parametrize("fields", [{"part_rows": 7}, {"part_rows": 80}, {}])
def test_parts_make_no_difference(case, whole, fields, tmp_path) -> None:
    run(case.job(tmp_path / "out", scores=3, **fields), case.fitted())
    assert_alike(results(tmp_path / "out"), whole)


def test_batches_make_no_difference(case, whole, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(table_job, "BATCH_ROWS", 5)
    run(case.job(tmp_path / "out", scores=3), case.fitted())
    assert_alike(results(tmp_path / "out"), whole)


def test_several_processes_give_the_same(case, whole, tmp_path) -> None:
    run(case.job(tmp_path / "out", part_rows=16, scores=3), case.fitted(), workers=2)
    assert_alike(results(tmp_path / "out"), whole)


def test_a_killed_process_costs_nothing(case, whole, tmp_path) -> None:
    load = partial(deadly, case.gnn, case.explainer, tmp_path / "mark")
    run(case.job(tmp_path / "out", part_rows=16, scores=3, load=load), case.fitted(), workers=2)
    assert (tmp_path / "mark").exists()
    assert_alike(results(tmp_path / "out"), whole)


def test_a_part_that_kills_every_process_is_named_and_the_job_ends(case, tmp_path) -> None:
    load = partial(always_deadly, os.getpid(), case.gnn, case.explainer)
    with pytest.raises(RCExplainerError, match=r"2 of 2 parts could not be .* rows 0 to 39 was killed 2 times"):
        run(case.job(tmp_path / "out", part_rows=40, load=load), case.fitted(), workers=2)


def test_a_job_goes_on_where_it_was(case, whole, tmp_path) -> None:
    out = tmp_path / "out"
    job = case.job(out, part_rows=16, scores=3)
    run(job, case.fitted())
    for number in (1, 3):
        job.folder.part(number).unlink()
    (out / ".part-00001.parquet.abc").write_text("half of a part", encoding="utf-8")
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    summary = run(case.job(out, part_rows=16, scores=3), case.fitted())
    assert (summary.rows, summary.explained) == (80, 32)
    assert {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}.items() >= kept.items()
    assert not list(out.glob(".part-*"))
    assert_alike(results(out), whole)
    flipped = sum(filter(None, whole.column("flipped").to_pylist()))
    assert json.loads((out / "_summary.json").read_text(encoding="utf-8")) == {
        "rows": 80,
        "errors": 0,
        "already": 0,
        "flipped": flipped,
        "parts": 5,
    }
    assert summary.flipped == flipped


def test_the_folder_is_one_table_to_others(case, whole, tmp_path) -> None:
    run(case.job(tmp_path / "out", part_rows=16, scores=3), case.fitted())
    assert_alike(pq.read_table(tmp_path / "out"), whole)


def test_only_the_first_rows(case, whole, tmp_path) -> None:
    run(case.job(tmp_path / "out", limit=20, scores=3), case.fitted())
    assert_alike(results(tmp_path / "out"), whole.slice(0, 20))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"search": "greedy"}, 'search was "prefix", now "greedy"'),
        ({"limit": 10}, "rows was 80, now 10"),
        ({"part_rows": 8}, "rows_per_part was 128, now 8"),
    ],
)
def test_a_folder_of_another_job_is_refused_by_name(case, change, told, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(table_job, "PART_ROWS", 128)
    run(case.job(tmp_path / "out"), case.fitted())
    with pytest.raises(RCExplainerError) as found:
        run(case.job(tmp_path / "out", **change), case.fitted())
    assert f"holds the results of another job: {told}. Choose another --out" in str(found.value)


def test_other_rows_and_another_network_are_other_jobs(case, tmp_path) -> None:
    run(case.job(tmp_path / "out"), case.fitted())
    table = pq.read_table(case.molecules)
    pq.write_table(table.take(list(reversed(range(80)))), tmp_path / "other.parquet")
    with pytest.raises(RCExplainerError, match="input was"):
        run(case.job(tmp_path / "out", source=GraphTable(tmp_path / "other.parquet")), case.fitted())
    fitted = case.fitted()
    with torch.no_grad():
        next(fitted.split.model.parameters()).add_(1.0)
    with pytest.raises(RCExplainerError, match="model was"):
        run(case.job(tmp_path / "out"), fitted)


def test_two_jobs_in_one_folder(case, tmp_path) -> None:
    job = case.job(tmp_path / "out")
    fitted = case.fitted()
    with (
        job.folder.claimed(job.describe(fitted)),
        pytest.raises(RCExplainerError, match="another process is writing to"),
    ):
        run(job, fitted)


def test_a_folder_with_other_files_is_left_alone(case, tmp_path) -> None:
    (tmp_path / "letter.txt").write_text("dear reader", encoding="utf-8")
    with pytest.raises(RCExplainerError, match=r"holds other files \(letter.txt\): choose an empty folder"):
        run(case.job(tmp_path), case.fitted())
    with pytest.raises(RCExplainerError, match="is a file, not a folder"):
        run(case.job(tmp_path / "letter.txt"), case.fitted())


def test_a_full_disk_is_said_and_leaves_whole_parts(case, tmp_path, monkeypatch) -> None:
    from rcexplainer.engine import job_folder

    write, written = job_folder.write_whole, []

    def full(path, content):
        if path.name == "part-00002.parquet":
            raise OSError(28, "No space left on device")
        written.append(path.name)
        return write(path, content)

    monkeypatch.setattr(job_folder, "write_whole", full)
    with pytest.raises(
        RCExplainerError, match=r"1 of 5 parts .*part-00002.parquet could not be written \(No space left"
    ):
        run(case.job(tmp_path / "out", part_rows=16), case.fitted())
    monkeypatch.undo()
    assert run(case.job(tmp_path / "out", part_rows=16), case.fitted()).explained == 16


def test_rows_that_cannot_be_read_leave_the_others(case, tmp_path) -> None:
    class Damaged(GraphTable):
        def read(self, start, stop):
            if start == 16:
                raise DatasetError("rows 16 to 31 cannot be read")
            return super().read(start, stop)

    with pytest.raises(RCExplainerError, match=r"1 of 5 parts could not be explained.*rows 16 to 31 cannot be read"):
        run(case.job(tmp_path / "out", part_rows=16, source=Damaged(case.molecules)), case.fitted())
    assert len(list((tmp_path / "out").glob("part-*"))) == 4


def test_large_rows_make_small_parts(case) -> None:
    class Large(GraphTable):
        bytes_per_row = 3e6

    assert case.job(Path("out"), source=Large(case.molecules)).rows_per_part == 64


def test_a_users_graphs(case, whole, tmp_path) -> None:
    def loaded():
        graphs = list(small("nitro").graphs)
        for number, graph in enumerate(graphs):
            graph.id = f"m{number}"
        return graphs

    source = SequenceSource("mine", loaded)
    run(case.job(tmp_path / "out", source=source, scores=3, part_rows=16), case.fitted())
    assert_alike(results(tmp_path / "out"), whole)
    assert SequenceSource("mine", lambda: loaded()[1:]).digest != source.digest == SequenceSource("mine", loaded).digest


KILLED = """
import sys
from functools import partial
from pathlib import Path
from rcexplainer.engine import local
from rcexplainer.engine.job_folder import JobFolder
from rcexplainer.engine.table_run import run_job
from tests.engine.table_case import KILL, TableCase

write = JobFolder.write
def last(self, number, table):
    write(self, number, table)
    if number == 2:
        import os
        os.kill(os.getpid(), KILL)
JobFolder.write = last
case = TableCase(*map(Path, sys.argv[1:4]))
run_job(case.job(Path(sys.argv[4]), part_rows=16, scores=3), partial(local.explain_parts, workers=1), case.fitted())
"""


def test_a_killed_job_started_again_has_every_row_once(case, whole, tmp_path) -> None:
    files = [str(path) for path in (case.gnn, case.explainer, case.molecules, tmp_path / "out")]
    killed = subprocess.run([sys.executable, "-W", "ignore", "-c", KILLED, *files], check=False)
    assert killed.returncode == (KILL if sys.platform == "win32" else -KILL)
    there = len(list((tmp_path / "out").glob("part-*.parquet")))
    assert 1 <= there < 5
    assert run(case.job(tmp_path / "out", part_rows=16, scores=3), case.fitted()).explained == 80 - 16 * there
    assert_alike(results(tmp_path / "out"), whole)
