"""What answers a job: a result under its own digest, of the network that is on record. All else is run again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from rcexplainer.benchmark.networks import kept_weights
from rcexplainer.gnn import GNN, GNNConfig, save_gnn
from rcexplainer.paper import store as store_module
from rcexplainer.paper.entries import plan, tables
from rcexplainer.paper.job import Job
from rcexplainer.paper.job_work import WORK, work
from rcexplainer.paper.packs import read_pack, write_pack
from rcexplainer.paper.record import Record
from rcexplainer.paper.results_folder import read_folder
from rcexplainer.paper.runner import OTHER_WEIGHTS, run_jobs
from rcexplainer.paper.store import Store
from rcexplainer.saving.fingerprint import weights_digest
from rcexplainer.saving.seal import unsealed
from tests.paper.fakes import results_of

NETWORK = Job("network", {"dataset": "toy"}, "toy-0")
ON_IT = [Job("toy", {"number": number, "network": NETWORK.digest}, f"toy-{number}") for number in range(2)]
JOBS = [NETWORK, *ON_IT]


def trained(seed: int, done: list[str]) -> Callable[[Job, Path], dict]:
    """Work on one small network, which is trained with this seed where it is not kept."""

    def work(job: Job, networks: Path) -> dict:
        done.append(job.label)
        path = networks / "toy-0-abcdefgh.safetensors"
        if not path.exists():
            torch.manual_seed(seed)
            save_gnn(path, GNN(GNNConfig(3, 2)), {})
        (weights,) = kept_weights(networks).values()
        return {"weights": weights}

    return work


def run(store: Store, seed: int) -> list[str]:
    """The jobs that were run."""
    done: list[str] = []
    assert run_jobs(JOBS, store, trained(seed, done), progress=False) == ((), ())
    return done


@pytest.fixture
def store(tmp_path) -> Store:
    made = Store(tmp_path)
    made.claim("standard")
    return made


EVERY = ["toy-0", "toy-0", "toy-1"]  # the network, and the jobs on it


def test_results_on_a_network_that_was_trained_anew_are_run_again(store: Store) -> None:
    assert run(store, seed=0) == EVERY
    before = store.get(NETWORK)
    assert run(store, seed=0) == []
    store.path(NETWORK).unlink()
    next(store.networks.iterdir()).unlink()
    assert run(store, seed=0) == ["toy-0"]  # the same weights again: everything on it still holds
    assert store.get(NETWORK) == before
    store.path(NETWORK).unlink()
    next(store.networks.iterdir()).unlink()
    assert run(store, seed=1) == EVERY
    assert store.get(NETWORK) == store.get(ON_IT[0]) != before


def test_a_network_that_is_no_longer_kept_is_trained_again_where_it_is_needed(store: Store, caplog) -> None:
    run(store, seed=0)
    next(store.networks.iterdir()).unlink()
    assert run(store, seed=1) == []  # nothing is to be run on it
    assert caplog.text == ""
    store.path(ON_IT[1]).unlink()
    assert run(store, seed=1) == EVERY  # one job needs it, and it got other weights
    assert "1 networks are on record, but not in" in caplog.text
    assert "are trained again: toy-0. Where their weights come out different, all results on them" in caplog.text


def test_a_result_on_another_network_is_shown_as_such_and_is_no_answer(store: Store) -> None:
    store.put(NETWORK, {"weights": "new"}, 1.0)
    store.put(ON_IT[0], {"weights": "old"}, 1.0)
    store.put(ON_IT[1], {"weights": "new"}, 1.0)
    assert list(store.records(JOBS)) == [NETWORK, ON_IT[1]]
    stale = store.earlier([ON_IT[0]])[ON_IT[0]]
    assert stale.shown_for(ON_IT[0], "new")["as_of"].endswith(", other weights")
    assert "as_of" not in store.records(JOBS)[ON_IT[1]].shown_for(ON_IT[1], "new")


def test_a_job_that_ran_on_another_network_than_the_recorded_one_has_failed(store: Store) -> None:
    store.put(NETWORK, {"weights": "recorded"}, 1.0)
    (failed,), _ = run_jobs(ON_IT[:1], store, lambda job, networks: {"weights": "found"}, progress=False)
    assert failed.error == OTHER_WEIGHTS


def test_a_network_of_other_weights_is_replaced_in_all_compact_files(store: Store) -> None:
    run(store, seed=0)
    store.pack({"b": [NETWORK], "c": ON_IT})
    store.forget([NETWORK])
    assert not (store.runs / "b.jsonl.gz").exists()
    run(store, seed=0)
    store.pack({"c": JOBS})
    store.put(NETWORK, {"weights": "new"}, 1.0)
    assert list(store.records(JOBS)) == [NETWORK]
    store.pack({"a": [NETWORK]})
    assert [one.label for one in read_pack(store.runs / "a.jsonl.gz")[0]] == ["toy-0"]
    assert [one.kind for one in read_pack(store.runs / "c.jsonl.gz")[0]] == ["toy", "toy"]
    assert list(store.records(JOBS)) == [NETWORK]


def test_forgotten_jobs_are_run_anew_and_so_are_their_networks(store: Store) -> None:
    run(store, seed=0)
    store.pack({"b": JOBS[:2]})
    store.forget(JOBS)
    assert list(store.networks.iterdir()) == []
    assert run(store, seed=0) == EVERY


def relabel(document: dict) -> dict:
    """What somebody does who wants to keep a result under changed settings."""
    job = Job(document["kind"], document["inputs"] | {"number": 7}, "toy")
    return unsealed(document) | {"digest": job.digest}


@pytest.mark.parametrize("packed", [False, True])
def test_a_result_under_another_digest_is_never_an_answer(packed: bool, store: Store) -> None:
    true = Job("toy", {"number": 1}, "toy")
    false = Job("toy", {"number": 7}, "toy")
    store.put(true, {"twice": 2}, 1.0)
    path = store.path(true)
    document = relabel(json.loads(path.read_text(encoding="utf-8")))
    path.unlink()
    store.path(false).write_text(json.dumps(document), encoding="utf-8")
    if packed:
        write_pack(store.runs / "toys.jsonl.gz", [Record.from_document(document, "toy")])
        store.path(false).unlink()
    assert store.records([true, false]) == {}
    shown = store.earlier([true])[true].shown_for(true)  # by its inputs, which may be the false ones as well
    assert shown["as_of"].endswith(", relabelled")
    done: list[int] = []
    run_jobs([false], store, lambda job, networks: done.append(job.inputs["number"]) or {"twice": 14}, progress=False)
    assert done == [7]
    assert store.get(false) == {"twice": 14}


def test_pages_say_what_is_not_an_answer(tmp_path, monkeypatch) -> None:
    about = {"versions": {"rcexplainer": "0.1.0", "torch": "2"}, "machine": "m", "commit": "abc", "dirty": True}
    monkeypatch.setattr(store_module, "origin", lambda: about)
    made = Store(tmp_path)
    made.claim("standard")
    planned = plan("case-study", "standard")
    for job, result in results_of(planned).items():
        other = job.kind == "case" and job.inputs["seed"] == 0
        made.put(job, result | ({"weights": "others"} if other else {}), 1.0)
    found = read_folder(made, "standard")
    assert found.progress(planned) == "5 of 6 jobs are done; 1 result is shown as of version 0.1, other weights."
    (table,) = found.tables(planned)
    notes = "Of 6 results, 6 of version 0.1; 6 computed from a source with changes that were not committed."
    assert table.notes[-1] == notes
    assert table.notes[:-1] == tables(planned, found.results)[0].notes
    assert [row[-1].text for row in table.rows].count("0.1, other weights") == 6


def test_every_kind_of_job_must_say_which_network_it_used(monkeypatch) -> None:
    monkeypatch.setitem(WORK, "toy", lambda networks, **inputs: {"twice": 2})
    with pytest.raises(Exception, match="a job of kind toy must return `weights`, the hash of its network's weights"):
        work(Job("toy", {}, "toy"), Path())


def test_the_hash_of_weights_is_of_names_shapes_and_values() -> None:
    one, same, other = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3), torch.nn.Linear(3, 2)
    same.load_state_dict(one.state_dict())
    assert weights_digest(one) == weights_digest(same)
    assert len(weights_digest(one)) == 64
    flat = torch.nn.Linear(3, 2)
    flat.weight.data = one.weight.data.reshape(2, 3)
    assert weights_digest(flat) != weights_digest(other)
    with torch.no_grad():
        same.bias[0] = torch.nextafter(same.bias[0], torch.tensor(9.0))
    assert weights_digest(one) != weights_digest(same)
    named = torch.nn.Sequential(one)
    assert weights_digest(named) != weights_digest(one)
