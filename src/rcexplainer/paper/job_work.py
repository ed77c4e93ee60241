"""What jobs do: for each kind a function of JSON values, and of the folder of trained networks, that returns JSON."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost import clock
from rcexplainer.benchmark.measurement import measure, uses_motif
from rcexplainer.benchmark.methods import Caps
from rcexplainer.config import RCConfig
from rcexplainer.datasets.inventory import describe
from rcexplainer.paper.case_study import case_study
from rcexplainer.paper.job import Job, JobResult
from rcexplainer.paper.qualitative_examples import explain_one
from rcexplainer.paper.tradeoff import validation_scores
from rcexplainer.paper.training_diagram import training_run
from rcexplainer.paper.tuning import tuning_scores

# Each takes what it needs of a job's inputs; the others are there because the result depends on them.


def _network(networks: Path, dataset: str, model: str, seed: int, **_: Any) -> JobResult:
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
    own: dict[str, Any] | None = None,
    **_: Any,
) -> JobResult:
    case = Case.of(
        dataset,
        model,
        seed,
        preset=preset,
        settings=settings,
        baseline_settings=own,
        keep=networks,
        progress=False,
    )
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
    own: dict[str, Any] | None = None,
    **_: Any,
) -> JobResult:
    case = Case.of(
        dataset,
        model,
        seed,
        preset=preset,
        settings=settings,
        baseline_settings=own,
        keep=networks,
        progress=False,
    )
    return asdict(clock(case, method, most=most, progress=False))


def _case(networks: Path, seed: int, settings: dict[str, Any], **_: Any) -> JobResult:
    return case_study(seed, settings=settings, keep=networks, progress=False)


def _explain(
    networks: Path, dataset: str, model: str, seed: int, method: str, settings: dict[str, Any], **_: Any
) -> JobResult:
    return explain_one(Case.of(dataset, model, seed, settings=settings, keep=networks, progress=False), method)


def _training(
    networks: Path, dataset: str, model: str, seed: int, fields: dict[str, Any], shown: list[int], **_: Any
) -> JobResult:
    case = Case.of(dataset, model, seed, keep=networks, progress=False)
    return training_run(case, RCConfig(**fields), shown)


def _tradeoff(
    networks: Path,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    settings: dict[str, Any],
    graphs: int,
    **_: Any,
) -> JobResult:
    return validation_scores(dataset, model, seed, method, settings=settings, graphs=graphs, keep=networks)


def _tuning(
    networks: Path,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    grid: list[dict[str, Any]],
    graphs: int,
    most: int,
    settings: dict[str, Any],
    **_: Any,
) -> JobResult:
    how = {"graphs": graphs, "most": most}
    return tuning_scores(dataset, model, seed, method, grid=grid, settings=settings, keep=networks, **how)


WORK: dict[str, Callable[..., JobResult]] = {
    "network": _network,
    "measure": _measure,
    "time": _time,
    "case": _case,
    "explain": _explain,
    "training": _training,
    "tradeoff": _tradeoff,
    "tuning": _tuning,
}


def work(job: Job, networks: Path) -> JobResult:
    """Do one job.

    Args:
        job: The job.
        networks: The folder of trained networks, which are used and kept.

    Returns:
        Its result.
    """
    return WORK[job.kind](networks, **job.inputs)
