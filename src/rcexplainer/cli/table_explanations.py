"""Datasets of any size, from files to a folder of results: `rcexplainer explain --input PATH --out DIR`."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from torch_geometric.data import Data

from rcexplainer.cli.class_number import class_number
from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.input_file import molecule_network
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.named_instances import explainer_file, open_explainer
from rcexplainer.cli.own_functions import own_graphs
from rcexplainer.cli.own_network import find_model
from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.disclosure import checked_disclosure
from rcexplainer.engine import local
from rcexplainer.engine.job_folder import JobFolder
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.engine.sequence_source import SequenceSource
from rcexplainer.engine.table_job import ExplainerSource, RowSource, TableJob
from rcexplainer.engine.table_run import Engine, RunSummary, run_job, summary_values
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.saving.documents import writable_file

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class TableRequest:
    """Rows to explain, as a command line names them.

    Attributes:
        input: A file, a folder or a pattern; None: the graphs that `--graphs` names.
        columns: Columns of SMILES and of ids; None: found by common names.
        out: The folder of results.
        engine: local or ray; None: local.
        workers: Processes or actors; None: one for each core, or one for a GPU.
        part_rows: Rows in a file of results; None: as many as fit.
        scores: none, all, or a number of edges.

    Raises:
        RCExplainerError: There is no such engine.
    """

    input: Path | None
    columns: tuple[str | None, str | None]
    out: Path | None
    engine: str | None = None
    workers: int | None = None
    part_rows: int | None = None
    scores: str = "none"

    def __post_init__(self) -> None:
        if self.engine not in (None, *ENGINES):
            raise RCExplainerError(f"--engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")


def table_option(request: TableRequest) -> str | None:
    """The option with which results go to a folder: an engine's, or an input or output that is not of single graphs.

    Args:
        request: What the command line names.

    Returns:
        The option as it was given; None: results are those of single graphs.
    """
    given = {
        "--engine": request.engine,
        "--workers": request.workers,
        "--part-rows": request.part_rows,
        "--scores": None if request.scores == "none" else request.scores,
    }
    for option, value in given.items():
        if value is not None:
            return f"{option} {value}"
    if request.input is None:
        return None
    if request.input.suffix.lower() != ".csv" or set("*?[") & set(str(request.input)):
        return f"--input {request.input}"
    folder = request.out is not None and (request.out.is_dir() or not request.out.suffix)
    return f"--out {request.out}" if folder else None


def writable_document(path: Path) -> Path:
    """Check that the explanations of single graphs can be written, before these are explained.

    Args:
        path: The value of `--out`.

    Returns:
        The path.

    Raises:
        RCExplainerError: It does not end in .json, is a folder, or cannot be written.
    """
    if path.suffix.lower() != ".json" and not path.is_dir():
        raise RCExplainerError(
            f"--out {path} must end in .json; a folder of results is for --input, or any graphs with --engine local"
        )
    return writable_file(path)


def explain_table(
    inputs: NamedInputs, explainer: Path, request: TableRequest, settings: ExplainSettings
) -> tuple[RunSummary, dict[str, Any]]:
    """Explain rows.

    Args:
        inputs: The network, and its graphs where they are a user's own.
        explainer: File of the explainer.
        request: The rows.
        settings: How to explain; `predicted` is not used.

    Returns:
        What was done, also as JSON values.

    Raises:
        RCExplainerError: Things do not exist, do not belong together, or rows could not be read or written.
    """
    source = row_source(inputs, request)
    if request.out is None:
        raise RCExplainerError("name the folder of results, such as --out results: its files have a row for each graph")
    here = replace(inputs, model=_absolute(inputs.model))
    load = partial(load_explainer, here, explainer.absolute(), getattr(source, "holds_smiles", False))
    digest = hashlib.sha256(explainer_file(explainer).read_bytes()).hexdigest()
    options = row_options(settings, request.scores)
    fitted = load()
    names = fitted.class_names or tuple(str(number) for number in range(fitted.split.num_classes))
    target = class_number(settings.target_class, names, "--target-class")
    job = TableJob(
        source,
        ExplainerSource(load, digest),
        JobFolder(request.out.absolute()),
        replace(options, target_class=target),
        settings.limit,
        request.part_rows,
    )
    summary = run_job(job, engine_of(request), fitted, settings.progress)
    return summary, {**summary_values(summary), "out": str(request.out), "input": source.name}


def row_source(inputs: NamedInputs, request: TableRequest) -> RowSource:
    """Open the rows.

    Args:
        inputs: Names a user's own graphs.
        request: Names files.

    Raises:
        RCExplainerError: There are none, or they are both.
    """
    if (request.input is None) == (inputs.graphs is None):
        found = "neither" if request.input is None else "both"
        raise RCExplainerError(f"give --input PATH or --graphs module:function with --engine, got {found}")
    if request.input is not None:
        return GraphTable(request.input.expanduser().absolute(), *request.columns)
    return SequenceSource(inputs.graphs or "", partial(_own, inputs.graphs or ""))


def _own(name: str) -> Sequence[Data]:
    return own_graphs(name)


def load_explainer(inputs: NamedInputs, explainer: Path, smiles: bool) -> FittedExplainer:
    """Load a network and its explainer, in whichever process they are needed.

    Args:
        inputs: The network.
        explainer: File of the explainer.
        smiles: Whether it must read the molecules of a file of SMILES.

    Raises:
        RCExplainerError: They do not exist, do not belong together, or do not explain graphs.
    """
    model = molecule_network(inputs.model, inputs.device).model if smiles else find_model(inputs)
    fitted = open_explainer(explainer, model, inputs)
    if fitted.split.task != "graph":
        raise RCExplainerError(
            f"{explainer} explains {fitted.split.task}s: --input and --engine are for graphs, use --graphs and --index"
        )
    return fitted


def row_options(settings: ExplainSettings, scores: str) -> RowOptions:
    """How rows are explained, whatever class they lead to.

    Args:
        settings: The options of the command.
        scores: The value of `--scores`.

    Raises:
        RCExplainerError: It is neither a word nor a number.
    """
    kept: int | str = int(scores) if scores.isdigit() else scores
    return RowOptions(
        search=cast(Search, settings.search),
        budget=settings.budget,
        confidence=settings.confidence,
        refine=settings.refine,
        scores=cast(int | Literal["none", "all"], kept),
        disclose=checked_disclosure(settings.disclose),
    )


def engine_of(request: TableRequest) -> Engine:
    """The engine that a command line names.

    Args:
        request: Its name, and how many processes.
    """
    if request.engine == "ray":
        from rcexplainer.integrations import ray

        return partial(ray.explain_parts, workers=request.workers)
    return lambda job, parts, fitted: local.explain_parts(
        job, parts, fitted, request.workers or local.default_workers(fitted)
    )


def _absolute(model: str) -> str:
    """A file by its whole path: other processes may work in another folder."""
    return str(Path(model).absolute()) if Path(model).is_file() else model
