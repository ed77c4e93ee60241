"""What jobs do: for each kind a function of JSON values, and of the folder of trained networks, that returns JSON."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost import clock
from rcexplainer.benchmark.measurement import measure, uses_motif
from rcexplainer.benchmark.methods import Caps
from rcexplainer.benchmark.recovery import recover
from rcexplainer.benchmark.validation import ValidationCase
from rcexplainer.config import RCConfig
from rcexplainer.datasets.inventory import describe
from rcexplainer.errors import RCExplainerError
from rcexplainer.paper.authors_protocol import AUTHORS_SPARSITIES, authors_curves
from rcexplainer.paper.case_study import case_study
from rcexplainer.paper.counterfactual_stability import STABILITY_DEPTH, held_flips
from rcexplainer.paper.dial import dial_points
from rcexplainer.paper.job import Job, JobResult
from rcexplainer.paper.job_inputs import as_run
from rcexplainer.paper.qualitative_examples import explain_one
from rcexplainer.paper.tradeoff import validation_scores
from rcexplainer.paper.training_diagram import training_run
from rcexplainer.paper.tuning import tuning_scores
from rcexplainer.saving.fingerprint import weights_digest

# Each takes what it needs of a job's inputs; the others are there because the result depends on them. Each says which
# network it used: `weights`, the hash of its weights. A result on another network than the recorded one is no answer.


def _weights(case: Case) -> JobResult:
    return {"weights": weights_digest(case.model)}


def _network(networks: Path, dataset: str, model: str, seed: int, recipe: str = "ours", **_: Any) -> JobResult:
    case = Case.of(dataset, model, seed, keep=networks, progress=False, recipe=recipe)
    described = asdict(describe(dataset, seed=seed))
    found = {"accuracy": case.accuracy, "motif_flips": uses_motif(case), "dataset": described}
    return found | _weights(case)


def _case_of(networks: Path, inputs: Mapping[str, Any], **how: Any) -> Case:
    """The network of a job, and the method's settings."""
    return Case.of(
        inputs["dataset"],
        inputs["model"],
        inputs["seed"],
        preset=inputs["preset"],
        settings=as_run(inputs),
        baseline_settings=inputs.get("own"),
        keep=networks,
        progress=False,
        **how,
    )


def _measure(
    networks: Path,
    method: str,
    caps: dict[str, int | None],
    noise: list[float],
    k: list[int],
    device: str | None = None,
    **inputs: Any,
) -> JobResult:
    case = _case_of(networks, inputs, device=device)
    found = measure(case, method, noise=noise, k=k, caps=Caps(**caps), progress=False)
    return {**asdict(found), "gnn_accuracy": case.accuracy, **_weights(case)}


def _recovery(networks: Path, method: str, most: int | None, recipe: str, **inputs: Any) -> JobResult:
    case = _case_of(networks, inputs, recipe=recipe, motifs_apart=True)
    return {**asdict(recover(case, method, most, progress=False)), "gnn_accuracy": case.accuracy, **_weights(case)}


def _time(networks: Path, method: str, most: int | None, **inputs: Any) -> JobResult:
    case = _case_of(networks, inputs)
    return asdict(clock(case, method, most=most, progress=False)) | _weights(case)


def _case(networks: Path, seed: int, **inputs: Any) -> JobResult:
    return case_study(seed, settings=as_run(inputs), keep=networks, progress=False)


def _explain(networks: Path, dataset: str, model: str, seed: int, method: str, **inputs: Any) -> JobResult:
    case = Case.of(dataset, model, seed, settings=as_run(inputs), keep=networks, progress=False)
    return explain_one(case, method) | _weights(case)


def _training(
    networks: Path, dataset: str, model: str, seed: int, fields: dict[str, Any], shown: list[int], **_: Any
) -> JobResult:
    case = Case.of(dataset, model, seed, keep=networks, progress=False)
    return training_run(case, RCConfig(**fields), shown) | _weights(case)


def _tradeoff(
    networks: Path,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    graphs: int,
    **inputs: Any,
) -> JobResult:
    return validation_scores(dataset, model, seed, method, settings=as_run(inputs), graphs=graphs, keep=networks)


def _authors(
    networks: Path, method: str, most: int | None, recipe: str, device: str | None = None, **inputs: Any
) -> JobResult:
    depth = 1 - min(AUTHORS_SPARSITIES)
    case = _case_of(networks, inputs, explains="authors", greedy_depth=depth, recipe=recipe, device=device)
    return authors_curves(case, method, most) | _weights(case)


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
    case = ValidationCase.of(dataset, model, seed, settings=settings, keep=networks, progress=False)
    return tuning_scores(replace(case, training_graphs=graphs), method, grid, most) | _weights(case)


def _stability(
    networks: Path,
    method: str,
    most: int | None,
    confidence: float,
    noise: list[float],
    copies: int,
    device: str | None = None,
    **inputs: Any,
) -> JobResult:
    case = _case_of(networks, inputs, explains="every class", greedy_depth=STABILITY_DEPTH, device=device)
    found = held_flips(case, method, most=most, confidence=confidence, noise=noise, copies=copies)
    return found | _weights(case)


def _dial(
    networks: Path, method: str, refine: list[int | str], most: int | None, device: str | None = None, **inputs: Any
) -> JobResult:
    case = _case_of(networks, inputs, explains="every class", device=device)
    return dial_points(case, method, refine, most) | _weights(case)


WORK: dict[str, Callable[..., JobResult]] = {
    "network": _network,
    "measure": _measure,
    "recovery": _recovery,
    "time": _time,
    "case": _case,
    "explain": _explain,
    "training": _training,
    "tradeoff": _tradeoff,
    "authors": _authors,
    "tuning": _tuning,
    "stability": _stability,
    "dial": _dial,
}


def work(job: Job, networks: Path, device: str | None = None) -> JobResult:
    """Do one job.

    Args:
        job: The job.
        networks: The folder of trained networks, which are used and kept.
        device: Where methods are fitted and run on graph sets (`measure`, `authors`, `stability`, `dial`); None: the
            CPU.

    Returns:
        Its result.

    Raises:
        RCExplainerError: The result does not say which network it is of.
    """
    found = WORK[job.kind](networks, **job.inputs, **({"device": device} if device else {}))
    if "weights" not in found:
        raise RCExplainerError(f"a job of kind {job.kind} must return `weights`, the hash of its network's weights")
    return found
