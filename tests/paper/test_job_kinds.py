"""What makes a job another one: everything its result depends on, and nothing else."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from rcexplainer.benchmark import accuracy
from rcexplainer.benchmark.methods import METHODS, Caps
from rcexplainer.engine.process_pool import _context
from rcexplainer.gnn import TrainConfig
from rcexplainer.gnn.models import MODELS
from rcexplainer.paper import job_inputs
from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.job import Job
from rcexplainer.paper.job_inputs import as_run
from rcexplainer.paper.job_kinds import (
    case_job,
    dial_job,
    explain_job,
    measure_job,
    stability_job,
    tradeoff_job,
    training_job,
    tuning_job,
)


def test_another_cap_is_another_job() -> None:
    one, two = (measure_job("ba-2motifs", "paper", 0, "random", caps=Caps(noisy=noisy)).digest for noisy in (4, 5))
    assert one != two


def digests() -> list[str]:
    return [job.digest for name in PAPER_ENTRIES for job in plan(name, "standard").rows]


def test_a_job_is_the_same_in_every_process() -> None:
    with ProcessPoolExecutor(1, mp_context=_context("rcexplainer.paper.job_work")) as pool:
        assert pool.submit(digests).result() == digests()


def test_what_json_cannot_hold_is_no_input() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        _ = Job("toy", {"number": object()}, "toy").digest


def test_a_method_made_otherwise_is_another_job(monkeypatch) -> None:
    before = measure_job("ba-2motifs", "paper", 0, "gnnexplainer")
    assert measure_job("ba-2motifs", "paper", 0, "gnnexplainer").digest == before.digest
    monkeypatch.setitem(METHODS, "gnnexplainer", replace(METHODS["gnnexplainer"], settings=lambda *_: {"lr": 9}))
    after = measure_job("ba-2motifs", "paper", 0, "gnnexplainer")
    assert after.digest != before.digest
    assert after.request == before.request  # but it is the same request


def test_other_settings_are_another_job() -> None:
    one, two = (
        measure_job("ba-2motifs", "paper", 0, "rcexplainer", settings={"epochs": epochs}).digest for epochs in (1, 2)
    )
    assert one != two
    first = measure_job("ba-2motifs", "paper", 0, "random").digest
    assert first == measure_job("ba-2motifs", "paper", 0, "random", settings={}).digest


def test_a_baseline_with_settings_of_its_own_is_another_job() -> None:
    plain, same, other = (
        measure_job("ba-2motifs", "paper", 0, "pgexplainer", own=own) for own in (None, {}, {"lr": 0.5})
    )
    assert plain.digest == same.digest != other.digest
    assert plain.request == same.request != other.request
    assert "own" not in plain.inputs
    assert other.inputs["fields"]["settings"]["lr"] == 0.5


def dependents() -> dict[str, str]:
    """Digests of jobs of every kind that needs a network."""
    where = ("three-motifs", "paper", 0)
    jobs = (
        measure_job(*where, "random"),
        explain_job(*where, "random"),
        training_job(*where),
        case_job(0),
        tradeoff_job(*where, "greedy", graphs=9),
        tuning_job(*where, "cf2", grid=[{}], graphs=9, most=9),
        stability_job(*where, "random", settings={}, most=9, confidence=0.8, noise=[0.1], copies=1),
        dial_job(*where, "random", most=9),
    )
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


def test_a_kind_that_works_otherwise_is_run_again(monkeypatch) -> None:
    before = dependents()
    for kind in before:
        with monkeypatch.context() as patch:
            patch.setitem(job_inputs.KIND_VERSIONS, kind, 99)
            assert [name for name, digest in dependents().items() if digest != before[name]] == [kind]


def test_noldb_is_known_by_its_own_settings() -> None:
    fields = measure_job("three-motifs", "paper", 0, "rcexplainer-noldb").inputs["fields"]
    assert (fields["eta"], fields["lr"], fields["weight_outcome"]) == (10.0, 0.002, 0.0)


def test_a_former_default_that_is_named_is_the_request_that_was_made_without_it() -> None:
    """Before plans, graphs were scored by neighbours without being asked: the results of that time are found."""
    named = measure_job("mutagenicity", "paper", 0, "rcexplainer", settings={"network": "neighbours", "noise": 0.1})
    assert named.inputs["settings"] == {"noise": 0.1}
    assert named.inputs["fields"]["network"] == "neighbours"
    assert as_run(named.inputs) == {"network": "neighbours", "noise": 0.1}
    today = measure_job("mutagenicity", "paper", 0, "rcexplainer", settings={"noise": 0.1})
    assert today.inputs["fields"]["network"] == "planned"
    assert today.digest != named.digest
    assert as_run(today.inputs) == {"noise": 0.1}
