"""Reproducing: what is done is not done twice, one failure costs nothing else, every entry runs at toy size."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rcexplainer.benchmark import accuracy
from rcexplainer.benchmark import networks as running
from rcexplainer.benchmark.methods import METHODS, Caps
from rcexplainer.datasets import inventory
from rcexplainer.errors import MissingDataError, MissingExtraError, RCExplainerError
from rcexplainer.gnn import TrainConfig
from rcexplainer.gnn.models import MODELS
from rcexplainer.paper import entries
from rcexplainer.paper import jobs as work
from rcexplainer.paper import reproduce as module
from rcexplainer.paper import runner as running_jobs
from rcexplainer.paper.entries import ENTRIES, PROFILES, plan, settings_of
from rcexplainer.paper.jobs import case_job, explain_job, measure_job, training_job
from rcexplainer.paper.reproduce import reproduce
from rcexplainer.paper.runner import run_jobs
from rcexplainer.paper.store import Job, Store
from rcexplainer.paper.tables import spread
from tests.benchmark.toys import small

JOBS = [Job("toy", {"number": number}, f"toy-{number}") for number in range(3)]


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
    path.write_text(path.read_text()[:50])
    assert store.get(JOBS[2]) is None
    run(store, counting(done))
    assert done == [2]
    assert store.get(JOBS[2]) == {"twice": 4}


def test_a_changed_input_reruns_only_what_depends_on_it(tmp_path) -> None:
    store, done = Store(tmp_path), []
    run(store, counting([1]))
    run(store, counting(done), [JOBS[0], Job("toy", {"number": 5}, "toy-0")])
    assert done == [5]


def test_a_result_says_where_it_comes_from(tmp_path) -> None:
    store = Store(tmp_path)
    run(store, counting([1]))
    document = json.loads(store.path(JOBS[0]).read_text())
    assert document["inputs"] == {"number": 0}
    assert {"versions", "machine", "commit", "workers", "threads"} == set(document["about"])
    assert document["seconds"] >= 0


def test_several_processes_give_the_same(tmp_path) -> None:
    store = Store(tmp_path)
    assert run_jobs(JOBS, store, doubled, workers=2, progress=False) == ((), ())
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, {"twice": 2}, {"twice": 4}]


def doubled(job: Job, networks: Path) -> dict[str, int]:
    return {"twice": 2 * job.inputs["number"]}


def deadly(job: Job, networks: Path) -> dict[str, int]:
    """Job 1 kills its process whenever it is tried, job 2 the first time."""
    number = job.inputs["number"]
    networks.mkdir(exist_ok=True)
    tried = networks / f"tried-{number}"
    if number == 1 or (number == 2 and not tried.exists()):
        tried.touch()
        os._exit(1)
    return doubled(job, networks)


def test_a_killed_process_takes_nothing_with_it_but_its_own_job(tmp_path) -> None:
    store = Store(tmp_path)
    (failed,), _ = run_jobs(JOBS, store, deadly, workers=2, progress=False)
    assert (failed.job, "was killed" in failed.error) == (JOBS[1], True)
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, None, {"twice": 4}]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_order_of_deaths_does_not_matter(first: int, tmp_path) -> None:
    """Whichever job is started first, also where the pool goes down before another job was tried at all."""
    store, order = Store(tmp_path), [JOBS[first], *(job for job in JOBS if job is not JOBS[first])]
    (failed,), _ = run_jobs(order, store, deadly, workers=2, progress=False)
    assert failed.job == JOBS[1]
    assert store.get(JOBS[2]) == {"twice": 4}


def test_the_first_try_of_a_job_is_not_its_last(tmp_path, monkeypatch) -> None:
    """A pool that goes down at once, with nothing tried in it, costs no job one of its tries."""
    pooled, pools = running_jobs._pooled, []

    def broken_at_first(jobs, store, work, workers, lost):
        pools.append(list(jobs))
        if len(pools) == 1:
            lost.extend(jobs)
            return
        yield from pooled(jobs, store, work, workers, lost)

    monkeypatch.setattr(running_jobs, "_pooled", broken_at_first)
    store = Store(tmp_path)
    (failed,), _ = run_jobs(JOBS, store, deadly, workers=2, progress=False)
    assert failed.job == JOBS[1]
    # The first two are run alone, job 1 until it is given up; job 2, killed in its own pool, gets a second try.
    assert pools == [JOBS, [JOBS[0]], [JOBS[1]], [JOBS[1]], [JOBS[2]], [JOBS[2]]]
    assert [store.get(job) for job in JOBS] == [{"twice": 0}, None, {"twice": 4}]


def lacking(job: Job, networks: Path) -> dict[str, int]:
    """Job 0 has no data, job 1 not its extra."""
    if job.inputs["number"] == 0:
        raise MissingDataError("the set is not there")
    if job.inputs["number"] == 1:
        raise MissingExtraError("it is not installed")
    return doubled(job, networks)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_lacks_its_data_or_extra_is_skipped_and_asked_for_again(workers: int, tmp_path) -> None:
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


def test_absent_data_is_named_in_tables_and_page_and_is_no_failure(toy, tmp_path, monkeypatch) -> None:
    def absent(name, root=None, seed=0):
        raise MissingDataError(f"the TU set {name!r} is not there")

    monkeypatch.setattr(running, "load", absent)
    for name in ("datasets", "fidelity", "qualitative"):
        found = reproduce(name, "quick", tmp_path, progress=False)
        assert (found.failed, len(found.skipped)) == ((), len(found.plans[0].jobs))
        assert found.to_json()["entries"][name]["done"] == 0
        assert "is not there" in found.page.read_text(encoding="utf-8").split("## Skipped")[1]
        if name != "qualitative":
            assert "is not there" in str([table.to_rows() for table in found.tables()])


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, monkeypatch) -> None:
    store = Store(tmp_path)
    run(store, counting([1]), JOBS[:1])

    def full(path, document):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rcexplainer.paper.store.write_document", full)
    with pytest.raises(RCExplainerError, match=r"toy-1 could not be written \(No space left on device\).*goes on"):
        run(store, counting([1]))
    assert store.get(JOBS[0]) == {"twice": 0}


def test_impossible_folders(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(RCExplainerError, match="is a file: name a folder"):
        Store(file)
    with pytest.raises(RCExplainerError, match="cannot be made"):
        Store(file / "inside")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_has_a_plan_in_every_profile(name: str, profile: str) -> None:
    planned = plan(name, profile)
    assert planned.title
    assert planned.jobs or (name, profile) == ("case-study", "quick")
    assert set(settings_of(name)) >= {"title", "where", *PROFILES}


def test_fidelity_and_robustness_share_their_measurements_and_times_are_taken_apart() -> None:
    fidelity, robustness, time = (plan(name, "standard").jobs for name in ("fidelity", "robustness", "time"))
    assert set(fidelity) == set(robustness)
    assert {job.kind for job in time} == {"network", "time"}
    assert {job for job in time if job.kind == "network"} < set(fidelity)


def test_slow_methods_are_capped_in_the_standard_profile_only() -> None:
    def caps(profile: str) -> dict[str, dict[str, int | None]]:
        jobs = plan("fidelity", profile).jobs
        return {job.inputs["method"]: job.inputs["caps"] for job in jobs if job.kind == "measure"}

    standard = caps("standard")
    assert standard["subgraphx"] == {"most": 10, "noisy": 5, "overlaps": 0, "labelled": 0}
    assert standard["rcexplainer"] == {"most": None, "noisy": 100, "overlaps": 30, "labelled": None}
    assert {cap for one in caps("paper").values() for cap in one.values()} == {None}


def test_a_variant_that_is_like_another_differs_from_it_in_its_own_settings() -> None:
    jobs = plan("ablation", "standard").jobs
    found = {tags["variant"]: job.inputs["fields"] for job, tags in jobs.items() if job.kind == "measure"}

    def differ(one: str, two: str) -> set[str]:
        return {name for name in found[one] if found[one][name] != found[two][name]}

    assert differ("its losses, sigmoid masks", "its losses, sigmoid masks, the entropy warmed up") == {"warmup"}
    assert differ("its losses, sigmoid masks", "its losses, concrete masks") == {"gate"}
    assert differ("the paper's losses, any-budget masks", "its losses, boundaries not scaled") == {"scaled"}
    assert differ("default", "the search leaves the class, not the region") == {"teacher"}
    assert found["the paper's losses, any-budget masks"]["noise"] == 0.0


def test_another_cap_is_another_job() -> None:
    one, two = (measure_job("ba-2motifs", "paper", 0, "random", caps=Caps(noisy=noisy)).digest for noisy in (4, 5))
    assert one != two


def alone(job: Job, networks: Path) -> dict[str, bool]:
    """Whether a job of kind `time` saw another one running."""
    networks.mkdir(exist_ok=True)
    mark = networks / job.label
    mark.touch()
    time.sleep(0.1)
    seen = sorted(path.name for path in networks.iterdir())
    mark.unlink()
    return {"alone": seen == [job.label]}


def test_times_are_taken_one_by_one_after_all_others(tmp_path) -> None:
    jobs = [Job("time", {"number": number}, f"time-{number}") for number in range(2)]
    store = Store(tmp_path)
    assert run_jobs([*jobs, *JOBS], store, alone, workers=2, progress=False) == ((), ())
    assert [store.get(job) for job in jobs] == [{"alone": True}] * 2
    about = [json.loads(store.path(job).read_text())["about"] for job in (JOBS[0], jobs[0])]
    assert [one["workers"] for one in about] == [2, 1]


DIGESTS = """
from rcexplainer.paper.entries import ENTRIES, plan
print(*(job.digest for name in ENTRIES for job in plan(name, "standard").jobs))
"""


def test_a_job_is_the_same_in_every_process() -> None:
    here = [job.digest for name in ENTRIES for job in plan(name, "standard").jobs]
    there = subprocess.run([sys.executable, "-c", DIGESTS], capture_output=True, text=True, check=True).stdout
    assert there.split() == here


def test_what_json_cannot_hold_is_no_input() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        _ = Job("toy", {"number": object()}, "toy").digest


def test_a_method_made_otherwise_is_another_job(monkeypatch) -> None:
    before = measure_job("ba-2motifs", "paper", 0, "gnnexplainer")
    assert measure_job("ba-2motifs", "paper", 0, "gnnexplainer").digest == before.digest
    monkeypatch.setitem(METHODS, "gnnexplainer", replace(METHODS["gnnexplainer"], settings=lambda *_: {"lr": 9}))
    assert measure_job("ba-2motifs", "paper", 0, "gnnexplainer").digest != before.digest


def test_a_changed_preset_is_another_job(monkeypatch) -> None:
    one, two = (
        measure_job("ba-2motifs", "paper", 0, "rcexplainer", settings={"epochs": epochs}).digest for epochs in (1, 2)
    )
    assert one != two
    first = measure_job("ba-2motifs", "paper", 0, "random").digest
    assert first == measure_job("ba-2motifs", "paper", 0, "random", settings={}).digest


def dependents() -> dict[str, str]:
    """Digests of jobs of every kind that need a network."""
    where = ("three-motifs", "paper", 0)
    jobs = (measure_job(*where, "random"), explain_job(*where, "random"), training_job(*where), case_job(0))
    return {job.kind: job.digest for job in jobs}


def test_another_training_or_network_is_another_job_for_all_that_need_it(monkeypatch) -> None:
    first = dependents()
    with monkeypatch.context() as patch:
        patch.setitem(accuracy.TRAINING_SETTINGS, "three-motifs", TrainConfig(epochs=1))
        second = dependents()
    monkeypatch.setitem(MODELS, "paper", MODELS["paper"] | {"width": 7})
    third = dependents()
    for kind in first:
        assert len({first[kind], second[kind], third[kind]}) == 3


@pytest.mark.parametrize("kind", ["measure", "explain", "training", "case"])
def test_a_kind_that_works_otherwise_is_run_again(kind: str, monkeypatch) -> None:
    before = dependents()
    monkeypatch.setitem(work.VERSIONS, kind, 99)
    assert [name for name, digest in dependents().items() if digest != before[name]] == [kind]


def test_noldb_is_known_by_its_own_settings() -> None:
    fields = measure_job("ba-2motifs", "paper", 0, "rcexplainer-noldb").inputs["fields"]
    assert (fields["eta"], fields["lr"], fields["weight_outcome"]) == (10.0, 0.002, 0.0)


def test_unknown_names(tmp_path) -> None:
    with pytest.raises(RCExplainerError, match="unknown entry 'fidelty'; known: datasets, fidelity"):
        reproduce("fidelty", "quick", tmp_path)
    with pytest.raises(RCExplainerError, match="unknown profile 'fast'; known: quick, standard, paper"):
        reproduce("fidelity", "fast", tmp_path)


@pytest.fixture
def toy(monkeypatch):
    """A hundred graphs, hardly trained networks, and only the first values of what is varied."""
    monkeypatch.setattr(running, "load", small)
    monkeypatch.setattr(inventory, "load", small)
    monkeypatch.setattr(running, "training_settings", lambda name: TrainConfig(epochs=20, lr=0.02))


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_runs_at_toy_size(name: str, toy, tmp_path, monkeypatch) -> None:
    whole = entries.plan

    def few(entry: str, profile: str):
        planned = whole(entry, profile)
        kept = list(planned.jobs.items())[:4]
        return entries.Plan(planned.name, planned.settings, dict(kept))

    monkeypatch.setattr(module, "plan", few)
    found = reproduce(name, "quick", tmp_path, progress=False)
    assert found.failed == ()
    page = found.page.read_text(encoding="utf-8")
    assert settings_of(name)["title"] in page
    assert found.tables()
    assert all(table.rows for table in found.tables())
    assert found.to_json()["entries"][name]["done"] == len(found.plans[0].jobs) > 0


def test_a_spread_is_a_mean_and_a_standard_deviation() -> None:
    assert spread([0.5]) == "0.50"
    assert spread([0.4, 0.6], 3) == "0.500 ± 0.141"
    assert spread([float("nan")]) == "–"
    assert (spread([-0.16]), spread([-0.001])) == ("−0.16", "0.00")
