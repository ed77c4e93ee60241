"""What the inputs of jobs are made of: the network, the method field by field, and the version of the kind of job."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rcexplainer.benchmark.methods import METHODS, MethodInputs
from rcexplainer.benchmark.recipes import recipe_of
from rcexplainer.benchmark.tuned import tuned_settings
from rcexplainer.datasets import task_of
from rcexplainer.gnn.models import MODELS
from rcexplainer.paper.job import Job

# A number goes up when its kind of job measures more, or otherwise: earlier results are then measured again.
KIND_VERSIONS = {
    "network": 2,
    "measure": 4,
    "recovery": 1,
    "time": 1,
    "case": 2,
    "explain": 1,
    "training": 1,
    "tradeoff": 2,
    "authors": 2,
    "tuning": 1,
    "stability": 1,
    "dial": 1,
}


# Fields of `TrainConfig` that came later, with their defaults. They are inputs only where they differ, so that networks
# trained before have the same digest.
SINCE = {"decay": "cosine", "clip": None, "xavier": False}
# Defaults of RCExplainer for graphs before there were plans of deletions. A request that names one of them is the
# request that was made without it then, and its results are found.
FORMER = {"network": "neighbours"}


def network_job(dataset: str, model: str, seed: int, recipe: str = "ours") -> Job:
    """A network to be trained.

    Args:
        dataset: Its training data.
        model: Its architecture, a key of `MODELS`.
        seed: Draws split and weights.
        recipe: How it is trained, a key of `RECIPES`.

    Returns:
        The job.
    """
    training = asdict(recipe_of(recipe).settings(dataset))
    training = {name: value for name, value in training.items() if SINCE.get(name, ...) != value}
    inputs = {"dataset": dataset, "model": model, "seed": seed, "fields": MODELS[model], "training": training}
    other, name = ({}, "") if recipe == "ours" else ({"recipe": recipe}, f"-{recipe}")
    return made_job("network", f"{dataset}-{model}{name}-{seed}", inputs | other)


def made_job(kind: str, label: str, inputs: dict[str, Any]) -> Job:
    """A job of this version of its kind.

    Args:
        kind: A key of `KIND_VERSIONS`.
        label: For people.
        inputs: What its result depends on.
    """
    return Job(kind, {**inputs, "version": KIND_VERSIONS[kind]}, label)


def on_network(dataset: str, model: str, seed: int, recipe: str | None = None) -> dict[str, Any]:
    """A network, and the digest of all that its training depends on.

    Args:
        dataset: Its training data.
        model: Its architecture.
        seed: Its seed.
        recipe: How it is trained, which is then part of the request; None: "ours", and it is not.
    """
    network = network_job(dataset, model, seed, recipe or "ours").digest
    about = {"dataset": dataset, "model": model, "seed": seed, "network": network}
    return about if recipe is None else about | {"recipe": recipe}


def method_inputs(
    dataset: str,
    seed: int,
    method: str,
    preset: str,
    settings: Mapping[str, Any] | None,
    own: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A method, and field by field what it is made with: where a preset or a default changes, it is run again.

    A baseline without settings of its own has no `own`: such a request is the same as in earlier versions.

    Args:
        dataset: The dataset of the network.
        seed: The method's seed.
        method: A key of `METHODS`.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        own: Of a baseline, on top of its tuned settings.
    """
    ours = {name: value for name, value in (settings or {}).items() if FORMER.get(name) != value}
    other = dict(own or {})
    inputs: dict[str, Any] = {"method": method, "preset": preset, "settings": ours, **({"own": other} if other else {})}
    made = MethodInputs(task_of(dataset), seed, preset, dict(settings or {}), tuned_settings(dataset, method), other)
    return inputs | {"fields": METHODS[method].settings(made)}


def as_run(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a job, with the former defaults that its inputs leave out."""
    fields = inputs.get("fields", {})
    return {name: value for name, value in FORMER.items() if fields.get(name) == value} | dict(inputs["settings"])
