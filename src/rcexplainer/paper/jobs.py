"""What the jobs do: each a function of JSON values that returns JSON values, and of the folder of trained networks.

network   train a network (or find it trained): its accuracy, the numbers of its dataset, whether it uses the motif
measure   fit one method to it, explain held-out instances, measure everything but times
time      fit one method to it, and take its times, on one thread and with no other job beside it
case      the case study of chosen classes
explain   fit one method, and keep what it says about one held-out instance, to be drawn
training  train RCExplainer, and keep what happens, to be drawn
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.accuracy import training_settings
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost import clock
from rcexplainer.benchmark.measurement import measure, uses_motif
from rcexplainer.benchmark.methods import METHODS, USUAL, Caps
from rcexplainer.config import RCConfig, make_config
from rcexplainer.datasets import task_of
from rcexplainer.datasets.inventory import describe
from rcexplainer.gnn.models import MODELS
from rcexplainer.gnn.trainer import DEFAULT_TRAINING
from rcexplainer.paper.case_study import DATASET, MODEL, SETTINGS, case_study
from rcexplainer.paper.qualitative import explain_one
from rcexplainer.paper.store import Job
from rcexplainer.paper.training_diagram import training_run

# One goes up when its kind of job measures more, or otherwise: results of before are measured again.
VERSIONS = {"network": 1, "measure": 3, "time": 1, "case": 1, "explain": 1, "training": 1}


def network_job(dataset: str, model: str, seed: int) -> Job:
    training = asdict(training_settings(dataset) or DEFAULT_TRAINING[task_of(dataset)])
    inputs = {"dataset": dataset, "model": model, "seed": seed, "fields": MODELS[model], "training": training}
    return _job("network", f"{dataset}-{model}-{seed}", inputs)


def measure_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    caps: Caps = USUAL,
    noise: Sequence[float] = (),
    k: Sequence[int] = (8,),
) -> Job:
    inputs = _on_network(dataset, model, seed) | _method(dataset, seed, method, preset, settings)
    inputs |= {"caps": asdict(caps.within(None)), "noise": list(noise), "k": list(k)}
    return _job("measure", f"{dataset}-{model}-{seed}-{method}", inputs)


def time_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    caps: Caps = USUAL,
) -> Job:
    inputs = _on_network(dataset, model, seed) | _method(dataset, seed, method, preset, settings)
    return _job("time", f"{dataset}-{model}-{seed}-{method}", inputs | {"most": caps.most})


def case_job(seed: int, settings: Mapping[str, Any] | None = None) -> Job:
    fields = asdict(make_config("default", SETTINGS | dict(settings or {})))
    network = network_job(DATASET, MODEL, seed).digest
    inputs = {"seed": seed, "network": network, "settings": dict(settings or {}), "fields": fields}
    return _job("case", f"case-{seed}", inputs)


def explain_job(dataset: str, model: str, seed: int, method: str, *, settings: Mapping[str, Any] | None = None) -> Job:
    inputs = _on_network(dataset, model, seed) | _method(dataset, seed, method, "default", settings)
    return _job("explain", f"{dataset}-{model}-{seed}-{method}", inputs)


def training_job(
    dataset: str,
    model: str,
    seed: int,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    shown: Sequence[int] = (0,),
) -> Job:
    fields = asdict(make_config(preset, dict(settings or {}), task_of(dataset)))
    inputs = _on_network(dataset, model, seed) | {"fields": fields, "shown": list(shown)}
    return _job("training", f"{dataset}-{model}-{seed}", inputs)


def _job(kind: str, label: str, inputs: dict[str, Any]) -> Job:
    return Job(kind, {**inputs, "version": VERSIONS[kind]}, label)


def _on_network(dataset: str, model: str, seed: int) -> dict[str, Any]:
    """A network, and the digest of all that its training depends on."""
    network = network_job(dataset, model, seed).digest
    return {"dataset": dataset, "model": model, "seed": seed, "network": network}


def _method(dataset: str, seed: int, method: str, preset: str, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """A method, and field by field what it is made with: where a preset or a default changes, it is run again."""
    own = dict(settings or {})
    fields = METHODS[method].settings(seed, task_of(dataset), preset, own)
    return {"method": method, "preset": preset, "settings": own, "fields": fields}


# Each takes of a job's inputs what it needs: the others only tell on what its result depends.


def _network(networks: Path, dataset: str, model: str, seed: int, **_: Any) -> dict[str, Any]:
    case = Case.of(dataset, model, seed, keep=networks, progress=False)
    return {"accuracy": case.accuracy, "motif_flips": uses_motif(case), "dataset": asdict(describe(dataset, seed=seed))}


def _measure(
    networks: Path,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    preset: str,
    settings: dict[str, Any],
    caps: dict[str, int | None],
    noise: list[float],
    k: list[int],
    **_: Any,
) -> dict[str, Any]:
    case = Case.of(dataset, model, seed, preset=preset, settings=settings, keep=networks, progress=False)
    found = measure(case, method, noise=noise, k=k, caps=Caps(**caps), progress=False)
    return {**asdict(found), "gnn_accuracy": case.accuracy}


def _time(
    networks: Path,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    preset: str,
    settings: dict[str, Any],
    most: int | None,
    **_: Any,
) -> dict[str, Any]:
    case = Case.of(dataset, model, seed, preset=preset, settings=settings, keep=networks, progress=False)
    return asdict(clock(case, method, most=most, progress=False))


def _case(networks: Path, seed: int, settings: dict[str, Any], **_: Any) -> dict[str, Any]:
    return case_study([seed], settings=settings, keep=networks, progress=False).to_json()


def _explain(
    networks: Path, dataset: str, model: str, seed: int, method: str, settings: dict[str, Any], **_: Any
) -> dict[str, Any]:
    return explain_one(Case.of(dataset, model, seed, settings=settings, keep=networks, progress=False), method)


def _training(
    networks: Path, dataset: str, model: str, seed: int, fields: dict[str, Any], shown: list[int], **_: Any
) -> dict[str, Any]:
    case = Case.of(dataset, model, seed, keep=networks, progress=False)
    return training_run(case, RCConfig(**fields), shown)


KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "network": _network,
    "measure": _measure,
    "time": _time,
    "case": _case,
    "explain": _explain,
    "training": _training,
}


def work(job: Job, networks: Path) -> dict[str, Any]:
    """Do one job."""
    return KINDS[job.kind](networks, **job.inputs)
