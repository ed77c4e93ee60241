"""What the jobs do: each a function of JSON values that returns JSON values, and of the folder of trained networks.

network   train a network (or find it trained): its accuracy, the numbers of its dataset, whether it uses the motif
measure   fit one method to it, explain held-out instances, measure everything
case      the case study of chosen classes
explain   fit one method, and keep what it says about one held-out instance, to be drawn
training  train RCExplainer, and keep what happens, to be drawn
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rcexplainer.config import RCConfig, make_config
from rcexplainer.datasets import task_of
from rcexplainer.experiments.accuracy import training_settings
from rcexplainer.experiments.case_study import SETTINGS, case_study
from rcexplainer.experiments.cases import Case
from rcexplainer.experiments.comparing import measure, uses_motif
from rcexplainer.experiments.inventory import describe
from rcexplainer.experiments.methods import METHODS
from rcexplainer.experiments.reproduce.diagram import training_run
from rcexplainer.experiments.reproduce.qualitative import explain_one
from rcexplainer.experiments.reproduce.store import Job
from rcexplainer.gnn.models import MODELS
from rcexplainer.gnn.training import DEFAULTS

OWN = ("rcexplainer", "rcexplainer-noldb")  # methods that have our settings
MEASURING = 2  # goes up when `measure` measures more, or otherwise: results of before are measured again


def network_job(dataset: str, model: str, seed: int) -> Job:
    training = asdict(training_settings(dataset) or DEFAULTS[task_of(dataset)])
    inputs = {"dataset": dataset, "model": model, "seed": seed, "fields": MODELS[model], "training": training}
    return Job("network", inputs, f"{dataset}-{model}-{seed}")


def measure_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    most: int | None = None,
    noise: Sequence[float] = (),
    k: Sequence[int] = (8,),
) -> Job:
    """Its inputs hold the settings field by field, so that a preset that changes is measured again."""
    inputs = {
        "dataset": dataset,
        "model": model,
        "seed": seed,
        "method": method,
        "preset": preset,
        "settings": dict(settings or {}),
        "fields": _fields(dataset, seed, method, preset, settings),
        "most": most,
        "noise": list(noise),
        "k": list(k),
        "measuring": MEASURING,
    }
    return Job("measure", inputs, f"{dataset}-{model}-{seed}-{method}")


def _fields(dataset: str, seed: int, method: str, preset: str, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a method is made with, field by field."""
    if method in OWN:
        return asdict(make_config(preset, dict(settings or {}), task_of(dataset)))
    return METHODS[method].settings(seed, task_of(dataset) != "graph")


def case_job(seed: int, settings: Mapping[str, Any] | None = None) -> Job:
    fields = asdict(make_config("default", SETTINGS | dict(settings or {})))
    return Job("case", {"seed": seed, "settings": dict(settings or {}), "fields": fields}, f"case-{seed}")


def explain_job(dataset: str, model: str, seed: int, method: str, *, settings: Mapping[str, Any] | None = None) -> Job:
    inputs = {"dataset": dataset, "model": model, "seed": seed, "method": method}
    inputs |= {"settings": dict(settings or {}), "fields": _fields(dataset, seed, method, "default", settings)}
    return Job("explain", inputs, f"{dataset}-{model}-{seed}-{method}")


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
    inputs = {"dataset": dataset, "model": model, "seed": seed, "fields": fields, "shown": list(shown)}
    return Job("training", inputs, f"{dataset}-{model}-{seed}")


def _network(
    networks: Path, dataset: str, model: str, seed: int, fields: dict[str, Any], training: dict[str, Any]
) -> dict[str, Any]:
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
    fields: dict[str, Any],
    most: int | None,
    noise: list[float],
    k: list[int],
    measuring: int,
) -> dict[str, Any]:
    case = Case.of(dataset, model, seed, preset=preset, settings=settings, keep=networks, progress=False)
    found = measure(case, method, noise=noise, k=k, most=most, progress=False)
    return {**asdict(found), "gnn_accuracy": case.accuracy}


def _case(networks: Path, seed: int, settings: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    return case_study([seed], settings=settings, progress=False).to_json()


def _explain(
    networks: Path,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    settings: dict[str, Any],
    fields: dict[str, Any],
) -> dict[str, Any]:
    return explain_one(Case.of(dataset, model, seed, settings=settings, keep=networks, progress=False), method)


def _training(
    networks: Path, dataset: str, model: str, seed: int, fields: dict[str, Any], shown: list[int]
) -> dict[str, Any]:
    case = Case.of(dataset, model, seed, keep=networks, progress=False)
    return training_run(case, RCConfig(**fields), shown)


KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "network": _network,
    "measure": _measure,
    "case": _case,
    "explain": _explain,
    "training": _training,
}


def work(job: Job, networks: Path) -> dict[str, Any]:
    """Do one job."""
    return KINDS[job.kind](networks, **job.inputs)
