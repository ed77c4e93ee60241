"""Explanations by a saved explainer: of a dataset's graphs, of a file of molecules, or of a user's own instances."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch

from rcexplainer.cli.class_number import class_number
from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.explanation_report import ExplainedInstance, ExplanationReport, Remainder, class_label
from rcexplainer.cli.input_file import open_input
from rcexplainer.cli.instance_index import ChosenInstance, graphs_at, in_whole, places_of
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.named_instances import NamedInstances, explainer_file, open_explainer, open_named
from rcexplainer.cli.option_conflicts import refuse_together
from rcexplainer.datasets import GraphDataset
from rcexplainer.disclosure import checked_disclosure
from rcexplainer.errors import ExplainInterrupt, RCExplainerError, TargetError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.explanations import Explanations
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search


def explain_named(
    inputs: NamedInputs,
    explainer: Path,
    *,
    input_file: Path | None = None,
    columns: tuple[str | None, str | None] = (None, None),
    part: str | None = None,
    index: Sequence[str] | None = None,
    settings: ExplainSettings,
) -> ExplanationReport:
    """Explain what a command line names: instances of a dataset, a file of molecules, or a user's own instances.

    Args:
        inputs: The network and its graphs.
        explainer: File of the explainer.
        input_file: CSV file of molecules, in place of a dataset.
        columns: Columns of SMILES and of ids of that file; None: found by common names.
        part: train, val or test, as for `open_named`.
        index: The values of `--index`.
        settings: How to explain.

    Raises:
        RCExplainerError: An argument is out of range, nothing is left to explain, or things do not belong together.
    """
    explainer_file(explainer)
    if input_file is not None:
        refuse_together("--input", dataset=inputs.dataset, graphs=inputs.graphs, task=inputs.task, part=part)
        network = open_input(inputs.model, input_file, columns, inputs.device)
        fitted = open_explainer(explainer, network.model, inputs)
        chosen = in_whole(network.data, None, places_of(index, "graph"))
        return explain_chosen(NamedInstances(network, fitted, chosen, None), explainer, settings)
    return explain_chosen(open_named(inputs, explainer, part, index), explainer, settings)


def explain_chosen(opened: NamedInstances, explainer: Path, settings: ExplainSettings) -> ExplanationReport:
    """Explain chosen instances; one that fails keeps its place with its error, whatever class was asked for.

    Args:
        opened: The network, the explainer and the instances.
        explainer: File of the explainer, for the report.
        settings: How to explain.

    Raises:
        RCExplainerError: There is no such class, or nothing to explain.
    """
    network, fitted, chosen = opened.network, opened.fitted, opened.chosen
    numbers = tuple(str(number) for number in range(fitted.split.num_classes))
    data = replace(network.data, class_names=network.data.class_names or fitted.class_names or numbers)
    target = fitted.chosen(class_number(settings.target_class, data.class_names, "--target-class"))
    if settings.predicted is not None:
        wanted = class_number(settings.predicted, data.class_names, "--predicted")
        if wanted == target:
            named = data.class_names[wanted]
            raise RCExplainerError(f"what is --predicted {named} cannot change to {named}: name another class")
        chosen = _predicted_as(fitted, data, chosen, wanted, opened.part)
    chosen = chosen[: settings.limit]
    interrupt: ExplainInterrupt | None = None
    try:
        results: Sequence[Explanation | Failure] = explained_instances(fitted, data, chosen, settings)
    except ExplainInterrupt as stop:
        results, interrupt = cast(Explanations, stop.results), stop
    explained = tuple(
        ExplainedInstance(one.index, one.position, class_label(data, one.position), result)
        for one, result in zip(chosen, results, strict=interrupt is None)
    )
    return ExplanationReport(
        data,
        network.name,
        str(explainer),
        network.seed,
        opened.part,
        settings.search,
        settings.confidence,
        settings.refine,
        target,
        settings.budget,
        explained,
        fitted,
        checked_disclosure(settings.disclose),
        None if interrupt is None else Remainder(len(chosen), interrupt),
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
        target_class=class_number(settings.target_class, data.class_names, "--target-class"),
        on_error="keep",
        budget=settings.budget,
        refine=settings.refine,
        progress=settings.progress,
        confidence=settings.confidence,
        disclose=checked_disclosure(settings.disclose),
    )


def _predicted_as(
    fitted: FittedExplainer, data: GraphDataset, chosen: list[ChosenInstance], label: int, part: str | None
) -> list[ChosenInstance]:
    """The instances that are predicted as a class, or cannot be predicted."""
    scored = explained_instances(fitted, data, chosen, ExplainSettings(search="none", disclose="prediction"))
    found = [
        one
        for one, result in zip(chosen, scored, strict=True)
        if (_unpredicted(result) if isinstance(result, Failure) else result.prediction == label)
    ]
    if not found:
        where = "" if part is None else f" of the {part} part"
        raise RCExplainerError(f"none of {len(chosen)} {data.task}s{where} is predicted as {data.class_names[label]}")
    return found


def _unpredicted(one: Failure) -> bool:
    """Whether the prediction of a failed instance is unknown; otherwise it is the class that the explainer is for."""
    return not isinstance(one.error, TargetError)
