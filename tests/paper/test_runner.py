"""The runner: what is done is not done twice, one failure costs nothing else, killed processes cost only their job."""

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from rcexplainer.engine.process_pool import ProcessPool
from rcexplainer.errors import RCExplainerError
from rcexplainer.paper.job import Job
from rcexplainer.paper.runner import run_jobs
from rcexplainer.paper.store import Store
from tests.paper.toy_jobs import JOBS, alone, deadly, doubled, lacking


def counting(done: list[int]) -> Callable[[Job, Path], dict[str, int]]:
    def work(job: Job, networks: Path) -> dict[str, int]:
        number = job.inputs["number"]
        done.append(number)
        if number == 1 and done.count(1) == 1:
            raise ValueError("the first time it fails")
        return {"twice": 2 * number}

    return work


def run(store: Store, work, jobs=JOBS):
    failed, skipped = run_jobs(jobs, store, work, progress=False)
    assert skipped == ()
    return failed


def test_what_is_done_is_not_done_twice_and_what_failed_is_tried_again(tmp_path) -> None:
    done: list[int] = []
    work = counting(done)
    (failed,) = run(Store(tmp_path), work)
    assert (failed.job.inputs["number"], failed.error) == (1, "ValueError: the first time it fails")
    assert run(Store(tmp_path), work) == ()
    assert done == [0, 1, 2, 1]
    assert [Store(tmp_path).get(job) for job in JOBS] == [{"twice": 0}, {"twice": 2}, {"twice": 4}]


def test_a_file_cut_in_half_is_run_again(tmp_path) -> None:
    store, done = Store(tmp_path), []
    run(store, counting([1]))
    path = store.path(JOBS[2])
    path.write_text(path.read_text(encoding="utf-8")[:50], encoding="utf-8")
    assert store.get(JOBS[2]) is None
    run(store, counting(done))
    assert done == [2]
    assert store.get(JOBS[2]) == {"twice": 4}


def test_a_changed_input_reruns_only_what_depends_on_it(tmp_path) -> None:
    store, done = Store(tmp_path), []
    run(store, counting([1]))
    run(store, counting(done), [JOBS[0], Job("toy", {"number": 5}, "toy-0")])
    assert done == [5]


def test_what_is_packed_is_not_run_again(tmp_path) -> None:
    store, done = Store(tmp_path), []
    store.claim("quick")
    run(store, counting([1]))
    assert [path.name for path in store.pack({"toys": JOBS})] == ["toys.jsonl.gz"]
    run(store, counting(done))
    assert done == []


def test_a_result_says_where_it_comes_from(tmp_path) -> None:
    store = Store(tmp_path)
    run(store, counting([1]))
    document = json.loads(store.path(JOBS[0]).read_text(encoding="utf-8"))
    assert document["inputs"] == {"number": 0}
    assert {"versions", "machine", "commit", "dirty", "workers", "threads"} == set(document["about"])
    assert document["seconds"] >= 0


def test_several_processes_give_the_same(tmp_path) -> None:
    store = Store(tmp_path)
    assert run_jobs(JOBS, store, doubled, workers=2, progress=False) == ((), ())
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, {"twice": 2}, {"twice": 4}]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_killed_process_takes_nothing_with_it_but_its_own_job(first: int, tmp_path) -> None:
    """Whichever job is started first, also where the pool goes down before another job was tried at all."""
    store, order = Store(tmp_path), [JOBS[first], *(job for job in JOBS if job is not JOBS[first])]
    (failed,), _ = run_jobs(order, store, deadly, workers=2, progress=False)
    assert (failed.job, "was killed" in failed.error) == (JOBS[1], True)
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, None, {"twice": 4}]


def test_the_first_try_of_a_job_is_not_its_last(tmp_path, monkeypatch) -> None:
    """A pool that goes down at once, with nothing tried in it, costs no job one of its tries."""
    pooled, pools = ProcessPool._pooled, []

    def broken_at_first(self, jobs, workers, lost):
        pools.append(list(jobs))
        if len(pools) == 1:
            lost.extend(jobs)
            return
        yield from pooled(self, jobs, workers, lost)

    monkeypatch.setattr(ProcessPool, "_pooled", broken_at_first)
    store = Store(tmp_path)
    (failed,), _ = run_jobs(JOBS, store, deadly, workers=2, progress=False)
    assert failed.job == JOBS[1]
    # The first two are run alone, job 1 until it is given up; job 2, killed in its own pool, gets a second try.
    assert pools == [JOBS, [JOBS[0]], [JOBS[1]], [JOBS[1]], [JOBS[2]], [JOBS[2]]]
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, None, {"twice": 4}]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_lacks_its_data_or_extra_is_skipped_and_tried_again(workers: int, tmp_path) -> None:
    store = Store(tmp_path)
    failed, skipped = run_jobs(JOBS, store, lacking, workers=workers, progress=False)
    assert failed == ()
    assert {one.job.label: one.error for one in skipped} == {
        "toy-0": "the set is not there",
        "toy-1": "it is not installed",
    }
    assert [store.get(job) for job in JOBS] == [None, None, {"twice": 4}]
    assert run_jobs(JOBS, store, doubled, progress=False) == ((), ())
    assert store.get(JOBS[0]) == {"twice": 0}


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, monkeypatch) -> None:
    store = Store(tmp_path)
    run(store, counting([1]), JOBS[:1])

    def full(path, document):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rcexplainer.paper.store.write_document", full)
    with pytest.raises(RCExplainerError, match=r"toy-1 could not be written \(No space left on device\).*goes on"):
        run(store, counting([1]))
    assert store.get(JOBS[0]) == {"twice": 0}


def test_times_are_taken_one_by_one_after_all_others(tmp_path) -> None:
    jobs = [Job("time", {"number": number}, f"time-{number}") for number in range(2)]
    store = Store(tmp_path)
    assert run_jobs([*jobs, *JOBS], store, alone, workers=2, progress=False) == ((), ())
    assert [store.get(job) for job in jobs] == [{"alone": True}] * 2
    about = [json.loads(store.path(job).read_text(encoding="utf-8"))["about"] for job in (JOBS[0], jobs[0])]
    assert [one["workers"] for one in about] == [2, 1]


def test_a_pool_that_breaks_while_jobs_are_handed_in_loses_none(tmp_path, monkeypatch) -> None:
    """The first job can kill its process before the last one is submitted."""
    plain, calls = ProcessPoolExecutor.submit, []

    def broken_at_the_second(pool, *arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise BrokenProcessPool
        return plain(pool, *arguments)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", broken_at_the_second)
    store = Store(tmp_path)
    assert run_jobs(JOBS, store, doubled, workers=2, progress=False) == ((), ())
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, {"twice": 2}, {"twice": 4}]
