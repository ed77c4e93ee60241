"""`tools/trust/again.py`: some stored results are run again, and every value that is another one is named."""

from pathlib import Path

import pytest

from rcexplainer.paper.job import Job
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.store import Store
from tests.hostile.trust_tools import trust_tool

again = trust_tool("again")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"a": 1.0, "b": [1, 2]}, {"a": 1.0, "b": [1, 2]}, []),
        ({"a": {"x": [0.5, None]}}, {"a": {"x": [0.5, 0.25]}}, ["a.x[1] None → 0.25"]),
        ({"a": 1.0}, {"a": 1.0 + 1e-15}, ["a 1.0 → 1.000000000000001"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a [1] → [1, 2]"]),
        ({"a": 1}, {"b": 1}, [" {'a': 1} → {'b': 1}"]),
    ],
)
def test_every_other_value_is_named(before, after, said):
    assert list(again.unlike(before, after)) == said


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


def planned(store: Store, **seconds: float) -> tuple[EntryPlan, list[Job]]:
    """An entry of four jobs of ours, six of another method and one network, all done."""
    network = Job("network", {"dataset": "toy"}, "network")
    names = ["rcexplainer"] * 4 + ["gradient"] * 6
    about = [{"method": name, "seed": seed, "network": network.digest} for seed, name in enumerate(names)]
    jobs = [network, *(Job("measure", one, f"{one['method']}-{one['seed']}") for one in about)]
    for job in jobs:
        store.put(job, {"weights": "w"}, seconds.get(job.kind, 1.0))
    return EntryPlan("toy", {}, {job: {} for job in jobs}), jobs


def test_jobs_of_ours_and_of_others_are_drawn_apart_and_the_same_by_the_same_seed(store):
    entry, _ = planned(store)
    drawn = again.drawn_jobs(entry, store, 0.5, 60.0, "0 toy")
    assert sorted(job.inputs["method"] for job in drawn) == ["gradient"] * 3 + ["rcexplainer"] * 2
    assert again.drawn_jobs(entry, store, 0.5, 60.0, "0 toy") == drawn
    assert [job.inputs["method"] for job in again.drawn_jobs(entry, store, 0.01, 60.0, "0 toy")] == [
        "rcexplainer",
        "gradient",
    ]


def test_long_jobs_are_left_out(store):
    entry, _ = planned(store, measure=61.0)
    assert again.drawn_jobs(entry, store, 1.0, 60.0, "0 toy") == []


def test_networks_run_before_what_is_measured_on_them(store):
    entry, jobs = planned(store)
    drawn = again.drawn_jobs(entry, store, 0.01, 60.0, "0 toy")
    assert again.with_networks(drawn, {jobs[0].digest: jobs[0]})[0] is jobs[0]


def test_a_row_says_which_result_is_another_one_and_at_which_commit_it_was_made(store, tmp_path):
    _, jobs = planned(store)
    other = Store(tmp_path / "again")
    other.put(jobs[1], {"weights": "other"}, 1.0)
    other.put(jobs[2], {"weights": "w"}, 1.0)
    before, after = store.records(jobs), other.records(jobs)
    row = again.row_of("toy", jobs[1:3], before, after)
    made = before[jobs[1]].about["commit"]
    assert row == {
        "entry": "toy",
        "run again": 2,
        "made at": [str(made)],
        "another result": [f"rcexplainer-0 ({made}): weights 'w' → 'other'"],
    }
