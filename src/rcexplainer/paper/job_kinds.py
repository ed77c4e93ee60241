"""The kinds of jobs, and the inputs by which each of them is known; `job_work` does them.

network   train a network (or load a trained one): accuracy, size of the dataset, whether it relies on the motif
measure   fit one method to it, explain held-out instances, measure everything but times
recovery  fit one method to it, explain held-out nodes: the motif by both readings, on two groups of nodes
time      fit one method to it, and time it, on one thread and with no other job beside it
case      the case study of chosen classes
explain   fit one method, and keep its explanation of one held-out instance, to be drawn
training  train RCExplainer, and keep what happens in every epoch, to be drawn
authors   fit one method as the authors did, on one class alone; fidelity on the same graphs and on held-out ones
tuning    fit a baseline with each of some settings; fidelity on validation instances
tradeoff  fit RCExplainer with some settings, or greedy deletion; fidelity and robustness on validation graphs
stability fit one method; counterfactuals with and without a confidence, and how many survive noise
dial      fit one method; fidelity and model runs on held-out graphs of every class, with a ranking refined or not
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rcexplainer.benchmark.methods import METHODS, USUAL, Caps, MethodInputs
from rcexplainer.config import make_config
from rcexplainer.datasets import task_of
from rcexplainer.paper.case_study import CASE_DATASET, CASE_MODEL, CASE_SETTINGS
from rcexplainer.paper.job import Job
from rcexplainer.paper.job_inputs import made_job, method_inputs, network_job, on_network


def _method_job(
    kind: str,
    dataset: str,
    model: str,
    seed: int,
    method: str,
    more: Mapping[str, Any],
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    recipe: str | None = None,
) -> Job:
    """A job of one method on one network; `more` are the inputs of its kind, others as for `measure_job`."""
    inputs = on_network(dataset, model, seed, recipe)
    inputs |= method_inputs(dataset, seed, method, preset, settings, own) | dict(more)
    name = "" if recipe is None else f"-{recipe}"
    return made_job(kind, f"{dataset}-{model}{name}-{seed}-{method}", inputs)


def measure_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    caps: Caps = USUAL,
    noise: Sequence[float] = (),
    k: Sequence[int] = (8,),
) -> Job:
    """A method to be measured on the held-out instances of a network.

    Args:
        dataset: The dataset of the network.
        model: Its architecture.
        seed: Its seed, and the method's.
        method: A key of `METHODS`.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        own: Of a baseline, on top of its tuned settings.
        caps: On how many instances it is measured.
        noise: Levels of noise for robustness.
        k: Top edges that must survive noise.

    Returns:
        The job.
    """
    more = {"caps": asdict(caps.within(None)), "noise": list(noise), "k": list(k)}
    how: dict[str, Any] = {"preset": preset, "settings": settings, "own": own}
    return _method_job("measure", dataset, model, seed, method, more, **how)


def recovery_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    recipe: str,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    most: int | None = None,
) -> Job:
    """A method whose readings are compared with the motif; `most` held-out nodes, other arguments as `measure_job`."""
    how: dict[str, Any] = {"preset": preset, "settings": settings, "own": own, "recipe": recipe}
    return _method_job("recovery", dataset, model, seed, method, {"most": most}, **how)


def time_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    caps: Caps = USUAL,
) -> Job:
    """A method to be timed; the arguments are those of `measure_job`."""
    how: dict[str, Any] = {"preset": preset, "settings": settings, "own": own}
    return _method_job("time", dataset, model, seed, method, {"most": caps.most}, **how)


def case_job(seed: int, settings: Mapping[str, Any] | None = None) -> Job:
    """The case study with one seed.

    Args:
        seed: Draws graphs, weights and split.
        settings: Of RCExplainer, on top of those of the case study.

    Returns:
        The job.
    """
    fields = asdict(make_config("default", CASE_SETTINGS | dict(settings or {})))
    network = network_job(CASE_DATASET, CASE_MODEL, seed).digest
    inputs = {"seed": seed, "network": network, "settings": dict(settings or {}), "fields": fields}
    return made_job("case", f"case-{seed}", inputs)


def explain_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    settings: Mapping[str, Any] | None = None,
) -> Job:
    """One instance to be explained by one method; the arguments are those of `measure_job`."""
    return _method_job("explain", dataset, model, seed, method, {}, settings=settings)


def training_job(
    dataset: str,
    model: str,
    seed: int,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    shown: Sequence[int] = (0,),
) -> Job:
    """One training of RCExplainer to be watched.

    Args:
        dataset: The dataset of the network.
        model: Its architecture.
        seed: Its seed, and RCExplainer's.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        shown: Epochs whose masks are kept.

    Returns:
        The job.
    """
    fields = asdict(make_config(preset, dict(settings or {}), task_of(dataset)))
    inputs = on_network(dataset, model, seed) | {"fields": fields, "shown": list(shown)}
    return made_job("training", f"{dataset}-{model}-{seed}", inputs)


def tradeoff_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    graphs: int,
    settings: Mapping[str, Any] | None = None,
) -> Job:
    """One setting of RCExplainer, or greedy deletion, on the validation graphs of a network.

    Args:
        dataset: The dataset of the network.
        model: Its architecture.
        seed: Its seed, and the method's.
        method: "rcexplainer" or "greedy".
        graphs: Training graphs to fit on, at most.
        settings: Of RCExplainer, on top of the preset `default`.

    Returns:
        The job.
    """
    return _method_job("tradeoff", dataset, model, seed, method, {"graphs": graphs}, settings=settings)


def authors_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    preset: str,
    settings: Mapping[str, Any],
    own: Mapping[str, Any],
    most: int | None,
    recipe: str = "authors",
) -> Job:
    """A method fitted and measured as the authors did; `most` graphs of each kind, other arguments as `measure_job`."""
    inputs = on_network(dataset, model, seed, recipe) | method_inputs(dataset, seed, method, preset, settings, own)
    return made_job("authors", f"{dataset}-{model}-authors-{seed}-{method}", inputs | {"most": most})


def tuning_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    grid: Sequence[Mapping[str, Any]],
    graphs: int,
    most: int,
    settings: Mapping[str, Any] | None = None,
) -> Job:
    """A baseline on the validation instances of a network, with each of some settings.

    Args:
        dataset: The dataset of the network.
        model: Its architecture.
        seed: Its seed, and the method's.
        method: A key of `METHODS`.
        grid: Settings on top of the method's defaults.
        graphs: Training graphs to fit on, at most.
        most: Validation instances to explain, at most.
        settings: Of RCExplainer, for its ablation NoLDB.

    Returns:
        The job.
    """
    ours, points = dict(settings or {}), [dict(point) for point in grid]
    made = [MethodInputs(task_of(dataset), seed, settings=ours, own=point) for point in points]
    inputs = on_network(dataset, model, seed) | {"method": method, "settings": ours, "grid": points}
    inputs |= {"graphs": graphs, "most": most, "fields": [METHODS[method].settings(one) for one in made]}
    return made_job("tuning", f"{dataset}-{model}-{seed}-{method}", inputs)


def stability_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    settings: Mapping[str, Any],
    most: int | None,
    confidence: float,
    noise: Sequence[float],
    copies: int,
) -> Job:
    """Counterfactuals of one method, with and without a confidence, under noise.

    Args:
        dataset: The dataset of the network.
        model: Its architecture.
        seed: Its seed, and the method's.
        method: A key of `METHODS`.
        settings: Of RCExplainer, on top of the preset `default`.
        most: Graphs of each predicted class; None: all.
        confidence: The confidence.
        noise: Noise levels.
        copies: Noisy copies of each graph at each level.

    Returns:
        The job.
    """
    more = {"most": most, "confidence": confidence, "noise": list(noise), "copies": copies}
    return _method_job("stability", dataset, model, seed, method, more, settings=settings)


def dial_job(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    settings: Mapping[str, Any] | None = None,
    refine: Sequence[int | str] = (0,),
    most: int | None = None,
) -> Job:
    """A method whose fidelity is set against the model runs that it takes.

    Args:
        dataset: The dataset of the network.
        model: Its architecture.
        seed: Its seed, and the method's.
        method: A key of `METHODS`.
        settings: Of RCExplainer, on top of the preset `default`.
        refine: Model runs for the ranking of each graph (`dial.dial_points`).
        most: Graphs of each predicted class to explain, at most.

    Returns:
        The job.
    """
    return _method_job("dial", dataset, model, seed, method, {"refine": list(refine), "most": most}, settings=settings)
