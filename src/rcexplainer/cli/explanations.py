"""Explanations by a saved explainer: of a dataset's graphs, of a file of molecules, or of a user's own instances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import torch

from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.explanation_report import ExplainedInstance, ExplanationReport, class_label
from rcexplainer.cli.input_file import open_input
from rcexplainer.cli.instance_index import ChosenInstance, graphs_at, in_part, in_whole, places_of
from rcexplainer.cli.option_conflicts import one_of, refuse_together
from rcexplainer.cli.own_functions import names_function
from rcexplainer.cli.own_network import find_data, find_model
from rcexplainer.cli.saved_network import ExplainedNetwork, open_network
from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import load as load_explainer
from rcexplainer.explanation import Failure
from rcexplainer.gnn.device import usable_device
from rcexplainer.method.explanations import Explanations
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.saving.documents import readable_file


def explain_named(
    model: str,
    explainer: Path,
    *,
    dataset: str | None = None,
    graphs: str | None = None,
    input_file: Path | None = None,
    columns: tuple[str | None, str | None] = (None, None),
    task: str | None = None,
    part: str | None = None,
    index: Sequence[str] | None = None,
    settings: ExplainSettings,
    seed: int | None = None,
    root: Path | None = None,
    device: str | None = None,
) -> ExplanationReport:
    """Explain what a command line names: a dataset's graphs, a file of molecules, or a user's own instances.

    Args:
        model: File of a network, or `module:function`.
        explainer: File of the explainer.
        dataset: Name of a dataset.
        graphs: `module:function`, in place of a dataset.
        input_file: CSV file of molecules, in place of a dataset.
        columns: Columns of SMILES and of ids of that file; None: found by common names.
        task: graph, node or link; None: the explainer's.
        part: train, val or test; None: test of a dataset's graphs, otherwise everything.
        index: The values of `--index`.
        settings: How to explain.
        seed: Seed of the split; None: the seed a network of ours was trained with, else 0.
        root: Folder of downloaded datasets.
        device: Device to explain on; the CPU by default.

    Raises:
        RCExplainerError: An argument is out of range, nothing is left to explain, or things do not belong together.
    """
    explainer_file(explainer)
    if input_file is not None:
        refuse_together("--input", dataset=dataset, graphs=graphs, task=task, part=part)
        network = open_input(model, input_file, columns, device)
        fitted = open_explainer(explainer, network.model, device)
        chosen = in_whole(network.data, None, places_of(index, "graph"))
        return explain_chosen(network, fitted, str(explainer), chosen, None, settings)
    opened = open_named(
        model,
        explainer,
        dataset=dataset,
        graphs=graphs,
        task=task,
        part=part,
        index=index,
        seed=seed,
        root=root,
        device=device,
    )
    return explain_chosen(opened.network, opened.fitted, str(explainer), opened.chosen, opened.part, settings)


@dataclass(frozen=True, eq=False)
class NamedInstances:
    """What a command line names.

    Attributes:
        network: The network and its graphs.
        fitted: The explainer.
        chosen: The instances.
        part: The part of the split they are from; None: they were chosen among all.
    """

    network: ExplainedNetwork
    fitted: FittedExplainer
    chosen: list[ChosenInstance]
    part: str | None


def open_named(
    model: str,
    explainer: Path,
    *,
    dataset: str | None,
    graphs: str | None,
    task: str | None,
    part: str | None,
    index: Sequence[str] | None,
    seed: int | None,
    root: Path | None,
    device: str | None,
) -> NamedInstances:
    """Open a network, its explainer and the instances of a dataset or of a user's own functions.

    Args:
        model: As for `explain_named`, like all others.
        explainer: File of the explainer.
        dataset: Name of a dataset.
        graphs: `module:function`, in place of a dataset.
        task: graph, node or link; None: the explainer's.
        part: train, val or test; None: test of a dataset's graphs, otherwise everything.
        index: The values of `--index`.
        seed: Seed of the split.
        root: Folder of downloaded datasets.
        device: Device to explain on; the CPU by default.

    Raises:
        RCExplainerError: Things do not exist, or do not belong together.
    """
    explainer_file(explainer)
    one_of(dataset, graphs)
    if dataset is not None and not names_function(model):
        network = open_network(dataset, Path(model), seed, root=root, device=device)
        fitted = open_explainer(explainer, network.model, device)
    else:
        own = find_model(model, device)
        fitted = open_explainer(explainer, own, device)
        if task not in (None, fitted.split.task):
            raise RCExplainerError(
                f"{explainer} is for {fitted.split.task} prediction, got --task {task}: leave it out"
            )
        data = find_data(dataset, graphs, fitted.split.task, seed or 0, root)
        network = ExplainedNetwork(data, own, seed or 0, model)
    places = places_of(index, network.data.task)
    if dataset is not None and network.data.task == "graph":
        part = part or "test"
        chosen = in_part(network.data, part, places)
    else:
        chosen = in_whole(network.data, part, places)
    return NamedInstances(network, fitted, chosen, part)


def explainer_file(path: Path) -> Path:
    """Check that there is a file, before anything else takes time.

    Args:
        path: The value of `--explainer`.

    Raises:
        CheckpointError: It is a folder, or does not exist.
    """
    return readable_file(path, "--explainer", "rcexplainer fit --out FILE")


def open_explainer(path: Path, model: torch.nn.Module, device: str | None) -> FittedExplainer:
    """Read an explainer for a model.

    Args:
        path: File of the explainer.
        model: The network it was fitted for, on the device.
        device: Device to explain on; the CPU by default.

    Raises:
        CheckpointError: The file is no explainer, or one of another network.
    """
    return replace(load_explainer(explainer_file(path), model), device=usable_device(device))


def explain_chosen(
    network: ExplainedNetwork,
    fitted: FittedExplainer,
    explainer: str,
    chosen: list[ChosenInstance],
    part: str | None,
    settings: ExplainSettings,
) -> ExplanationReport:
    """Explain chosen instances; one that fails keeps its place with its error, whatever class was asked for.

    Args:
        network: The network and its graphs.
        fitted: The explainer.
        explainer: Its file, for the report.
        chosen: The instances.
        part: The part they are from; None: they were chosen among all.
        settings: How to explain.

    Raises:
        RCExplainerError: There is no such class, or nothing to explain.
    """
    numbers = tuple(str(number) for number in range(fitted.split.num_classes))
    data = replace(network.data, class_names=network.data.class_names or fitted.class_names or numbers)
    if settings.predicted is not None:
        chosen = _predicted_as(fitted, data, chosen, settings.predicted, part)
    chosen = chosen[: settings.limit]
    results = explained_instances(fitted, data, chosen, settings)
    explained = tuple(
        ExplainedInstance(one.index, one.position, class_label(data, one.position), result)
        for one, result in zip(chosen, results, strict=True)
    )
    return ExplanationReport(
        data, network.name, explainer, network.seed, part, settings.search, settings.confidence, explained, fitted
    )


def explained_instances(
    fitted: FittedExplainer, data: GraphDataset, chosen: Sequence[ChosenInstance], settings: ExplainSettings
) -> Explanations:
    """Explain chosen instances.

    Args:
        fitted: The explainer.
        data: The dataset they are from.
        chosen: The instances.
        settings: How to explain; `limit` and `predicted` are not looked at.

    Returns:
        The explanations, with failures in their places.
    """
    positions = [one.position for one in chosen]
    within = data.task != "graph"
    return fitted.explain(
        data.graph if within else graphs_at(data, positions),
        index=torch.tensor(positions, dtype=torch.long) if within else None,
        search=cast(Search, settings.search),
        on_error="keep",
        budget=settings.budget,
        refine=settings.refine,
        progress=settings.progress,
        confidence=settings.confidence,
    )


def _predicted_as(
    fitted: FittedExplainer, data: GraphDataset, chosen: list[ChosenInstance], wanted: str, part: str | None
) -> list[ChosenInstance]:
    """The instances that are predicted as a class, or cannot be predicted."""
    names = data.class_names
    numbers = [str(number) for number in range(len(names))]
    if wanted not in (*names, *numbers):
        raise RCExplainerError(f"unknown class {wanted!r}; known: {', '.join(names)}")
    label = names.index(wanted) if wanted in names else int(wanted)
    scored = explained_instances(fitted, data, chosen, ExplainSettings(search="none"))
    found = [
        one
        for one, result in zip(chosen, scored, strict=True)
        if isinstance(result, Failure) or result.prediction == label
    ]
    if not found:
        where = "" if part is None else f" of the {part} part"
        raise RCExplainerError(f"none of {len(chosen)} {data.task}s{where} is predicted as {names[label]}")
    return found
