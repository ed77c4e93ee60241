"""Explanations by a saved explainer: of a dataset's graphs, of a file of molecules, or of a user's own instances."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import cast

import torch
from tqdm.auto import tqdm

from rcexplainer.cli.class_number import class_number
from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.explanation_report import ExplainedInstance, ExplanationReport, Remainder, class_label
from rcexplainer.cli.input_file import open_input
from rcexplainer.cli.instance_index import ChosenInstance, graphs_at, in_whole, places_of
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.named_instances import NamedInstances, explainer_file, open_explainer, open_named
from rcexplainer.cli.option_conflicts import refuse_together
from rcexplainer.datasets import GraphDataset
from rcexplainer.datasets.molecule_rows import rows_quoted
from rcexplainer.disclosure import checked_disclosure
from rcexplainer.errors import ExplainInterrupt, RCExplainerError, TargetError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search

FIRST_TURN = 16  # instances that are searched at once at first; each turn takes twice as many as the one before


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
    with rows_quoted(settings.disclose == "scores"):
        if input_file is None:
            opened = open_named(inputs, explainer, part, index)
        else:
            refuse_together("--input", dataset=inputs.dataset, graphs=inputs.graphs, task=inputs.task, part=part)
            network = open_input(inputs.model, input_file, columns, inputs.device)
            fitted = open_explainer(explainer, network.model, inputs)
            chosen = in_whole(network.data, None, places_of(index, "graph"))
            opened = NamedInstances(network, fitted, chosen, None)
    return explain_chosen(opened, explainer, settings)


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
        results, interrupt = cast(Sequence[Explanation | Failure], stop.results), stop
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
) -> list[Explanation | Failure]:
    """Explain chosen instances, turn after turn: an interrupt loses the turn that it comes in.

    Args:
        fitted: The explainer.
        data: The dataset they are from.
        chosen: The instances.
        settings: How to explain; `limit` and `predicted` are not looked at.

    Returns:
        The explanations, with failures in their places.

    Raises:
        ExplainInterrupt: Ctrl-C; `.results` has those of the turns before.
    """
    target = class_number(settings.target_class, data.class_names, "--target-class")
    searched = settings.search != "none" or settings.refine is not None
    within, found = data.task != "graph", list[Explanation | Failure]()
    bar = cache(partial(tqdm, desc="explain", total=len(chosen), unit=data.task, disable=not settings.progress))
    for some in _turns(chosen) if searched else [chosen]:
        positions = [one.position for one in some]
        try:
            found += fitted.explain(
                data.graph if within else graphs_at(data, positions),
                index=torch.tensor(positions, dtype=torch.long) if within else None,
                search=cast(Search, settings.search),
                target_class=target,
                on_error="keep",
                budget=settings.budget,
                refine=settings.refine,
                confidence=settings.confidence,
                disclose=checked_disclosure(settings.disclose),
            )
        except KeyboardInterrupt as stop:
            now = stop.results if isinstance(stop, ExplainInterrupt) else ()
            raise ExplainInterrupt([*found, *now]) from stop
        bar().update(len(some))  # made after the first turn: before, an argument may turn out to be wrong
    bar().close()
    return found


def _turns(chosen: Sequence[ChosenInstance]) -> Iterator[Sequence[ChosenInstance]]:
    """The instances in turns that grow: what an interrupt loses is at most about twice what it keeps."""
    start, size = 0, FIRST_TURN
    while start < len(chosen) or not start:  # nothing to explain is refused by the explainer
        yield chosen[start : start + size]
        start, size = start + size, 2 * size


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
