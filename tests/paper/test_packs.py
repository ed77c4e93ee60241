"""Compact files: nothing is lost by packing, whenever it is killed, and what is damaged is left alone."""

import gzip
import json
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from rcexplainer import __version__
from rcexplainer.engine.process_pool import _context
from rcexplainer.paper import store as store_module
from rcexplainer.paper.job import Job
from rcexplainer.paper.job_kinds import measure_job
from rcexplainer.paper.packs import read_archive, read_pack
from rcexplainer.paper.record import Record
from rcexplainer.paper.store import Store
from rcexplainer.saving.documents import to_text
from rcexplainer.saving.lock import try_lock
from rcexplainer.saving.seal import sealed
from tests.paper.toy_jobs import JOBS, pack_and_die

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    """Three results in files of their own, with numbers that are hard to print."""
    monkeypatch.setattr(store_module, "origin", lambda: {"versions": {"rcexplainer": "0.1.0"}, "commit": None})
    made = Store(tmp_path)
    made.claim("quick")
    for job in JOBS:
        made.put(job, {"value": 0.1 + job.inputs["number"] / 3, "none": None, "text": "Σ ≥ ½", "whole": 3}, 1.005)
    return made


def files(store: Store) -> list[str]:
    return sorted(path.relative_to(store.runs).as_posix() for path in store.runs.rglob("*.*") if path.is_file())


def test_packing_keeps_every_document_byte_for_byte(store: Store) -> None:
    before = {path.name: path.read_text("utf-8") for path in store.runs.rglob("*.json")}
    assert len(before) == 3
    store.pack({"toys": JOBS})
    assert files(store) == ["toys.jsonl.gz"]
    packed = read_archive(store.runs).by_digest.values()
    assert {one.file_name: f"{to_text(sealed(one.to_document()))}\n" for one in packed} == before


def test_rows_are_json_lines_in_a_fixed_order(store: Store) -> None:
    store.pack({"toys": JOBS})
    path = store.runs / "toys.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert [row["label"] for row in rows] == ["toy-0", "toy-1", "toy-2"]
    assert list(rows[0]) == ["kind", "label", "inputs", "digest", "seconds", "result", "about"]
    before = path.read_bytes()
    path.unlink()
    for job in reversed(JOBS):
        record = Record.from_row(next(row for row in rows if row["digest"] == job.digest))
        store.put(job, record.result, record.seconds)
    store.pack({"toys": reversed(JOBS)})
    assert path.read_bytes() == before


def test_an_entry_that_is_not_finished_is_left_for_later(store: Store) -> None:
    missing = Job("toy", {"number": 9}, "toy-9")
    assert store.pack({"toys": [*JOBS, missing], "some": JOBS[:1]}) == [store.runs / "some.jsonl.gz"]
    assert files(store) == [
        "some.jsonl.gz",
        *(f"toy/{job.label}-{job.digest}.json" for job in JOBS[1:]),
    ]
    store.put(missing, {"value": 1}, 0.0)
    assert store.pack({"toys": [*JOBS, missing]}) == [store.runs / "toys.jsonl.gz"]
    # A job that two entries share stays where it was packed first.
    assert [one.label for one in read_pack(store.runs / "toys.jsonl.gz")[0]] == ["toy-1", "toy-2", "toy-9"]
    assert set(store.records([*JOBS, missing])) == {*JOBS, missing}


def test_killed_at_any_step_nothing_is_lost(store: Store) -> None:
    whole = {job.digest: record for job, record in store.records(JOBS).items()}
    deaths = 0
    while True:
        try:
            with ProcessPoolExecutor(1, mp_context=_context("rcexplainer.paper.job_work")) as pool:
                pool.submit(pack_and_die, store.folder, deaths).result()
            break
        except BrokenProcessPool:
            deaths += 1
        again = Store(store.folder)
        assert {job.digest: record for job, record in again.records(JOBS).items()} == whole
        assert again.archive.broken == ()
        for job in JOBS:  # each try begins with all files
            if not again.path(job).exists():
                again.put(job, whole[job.digest].result, whole[job.digest].seconds)
        (store.runs / "toys.jsonl.gz").unlink(missing_ok=True)
    assert deaths == 7  # two chmods, fsync and replace of the compact file, three deletions
    assert {job.digest: record for job, record in Store(store.folder).records(JOBS).items()} == whole
    assert [name for name in files(store) if not name.startswith(".")] == ["toys.jsonl.gz"]


def test_packed_and_loose_at_once_is_cleaned_up_the_next_time(store: Store) -> None:
    document = store.path(JOBS[0]).read_bytes()
    store.pack({"toys": JOBS})
    store.path(JOBS[0]).write_bytes(document)
    assert store.pack({"toys": JOBS}) == [store.runs / "toys.jsonl.gz"]
    assert files(store) == ["toys.jsonl.gz"]


def test_a_damaged_file_is_read_as_far_as_it_can_be_and_never_overwritten(store: Store, caplog) -> None:
    store.pack({"toys": JOBS[:2]})
    path = store.runs / "toys.jsonl.gz"
    content = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(content[:-40], mtime=0))
    damaged = path.read_bytes()
    assert list(store.records(JOBS)) == [JOBS[0], JOBS[2]]
    assert store.archive.broken == (path,)
    store.put(JOBS[1], {"value": 2}, 0.0)
    assert store.pack({"toys": JOBS}) == []
    assert "toys.jsonl.gz is damaged and is left as it is: restore or delete it, and start again" in caplog.text
    assert path.read_bytes() == damaged
    assert set(store.records(JOBS)) == set(JOBS)
    for junk in (b"", b"no gzip", damaged[: len(damaged) // 2]):
        path.write_bytes(junk)
        records, whole = read_pack(path)
        assert whole == (junk == b"")
        assert len(records) < 2


def test_only_one_process_packs_at_a_time(store: Store) -> None:
    with try_lock(store.folder / "profile.json") as ours:
        assert ours
        assert store.pack({"toys": JOBS}) == []
        assert len(files(store)) == 3
    assert len(store.pack({"toys": JOBS})) == 1


def test_another_process_may_pack_while_a_folder_is_open(store: Store) -> None:
    assert len(store.records(JOBS)) == 3
    Store(store.folder).pack({"toys": JOBS})
    assert len(store.records(JOBS)) == 3
    assert store.get(JOBS[0])["whole"] == 3


def test_the_results_of_this_repository_are_whole_and_as_they_were() -> None:
    """Every row is known by the digest of its own inputs, stands in one file only, and says where it comes from."""
    archive = read_archive(RESULTS / "runs")
    rows = [one for records in archive.packs.values() for one in records]
    assert archive.broken == ()
    assert len(rows) >= 572
    assert len({one.digest for one in rows}) == len(rows)
    for one in rows:
        assert Job(one.kind, one.inputs, one.label).digest == one.digest
        assert one.about["versions"]["rcexplainer"]
        assert one.about["commit"]


def test_a_result_of_defaults_that_have_changed_says_so(store: Store, monkeypatch) -> None:
    """The same version, the same request, other fields: it is shown until the job is run."""
    version = {"versions": {"rcexplainer": __version__}}
    former, today = (
        measure_job("mutagenicity", "paper", 0, "rcexplainer", settings=settings)
        for settings in ({"network": "neighbours"}, {})
    )
    store.put(former, {"value": 1}, 1.0, about=version)
    record = store.earlier([today])[today]
    assert record.shown_for(today)["as_of"].endswith(", earlier")
    assert "as_of" not in record.shown_for(former)


def test_two_settings_of_one_request_are_both_kept(store: Store) -> None:
    """A default of today, and the former default that names itself: one request, two digests."""
    settings = ({}, {"network": "neighbours"})
    jobs = [measure_job("mutagenicity", "paper", 0, "rcexplainer", settings=one) for one in settings]
    assert len({job.digest for job in jobs}) == 2
    assert jobs[0].request == jobs[1].request
    for number, job in enumerate(jobs):
        store.put(job, {"value": number}, 1.0)
    for _ in range(3):
        store.pack({"both": jobs})
        again = Store(store.folder)
        assert [again.get(job)["value"] for job in jobs] == [0, 1]
