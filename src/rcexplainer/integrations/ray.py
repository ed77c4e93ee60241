"""Ray Data (extra `ray`): datasets explained by a cluster, or by the cores of this machine.

    explain(dataset, load)         a Ray Dataset of graphs or SMILES → a Ray Dataset of results
    explain_parts(job, parts, …)   the engine of `rcexplainer explain --engine ray`

Actors load the explainer once. An actor asks for one CPU (and one GPU where the explainer is on one); inputs are handed
over as they are, without tasks of Ray that read them: where actors hold every core, such a task would wait forever.
"""

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rcexplainer.datasets.molecule_rows import ID_COLUMNS, SMILES_COLUMNS
from rcexplainer.datasets.row_file import common_column, molecules_of_table
from rcexplainer.datasets.row_graphs import RowGraphs, graphs_of_rows
from rcexplainer.engine.explained_rows import Stamp, explained_rows
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.engine.table_job import PartReport, TableJob, explain_part, model_digest
from rcexplainer.errors import DatasetError, RCExplainerError, require
from rcexplainer.method.fitted_explainer import FittedExplainer

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset

log = logging.getLogger(__name__)

PATIENCE = 10.0  # seconds until a cluster that does not answer is given up
BATCH_ROWS = 4096  # rows that an actor gets at once
TRIES = 3  # of a part whose actor dies
KILLED = "the actor that explained the rows from {} to before {} died {} times: too little memory?"


def explain(
    dataset: "Dataset",
    load: Callable[[], FittedExplainer],
    *,
    workers: int | None = None,
    gpus: float = 0,
    batch_rows: int = BATCH_ROWS,
    explainer: str = "",
    **options: Any,
) -> "Dataset":
    """Explain the rows of a Ray Dataset.

    Args:
        dataset: Rows with the columns of `rcexplainer.datasets.row_graphs`, or with a column of SMILES.
        load: Returns a fitted explainer; called once in each actor, where the package must be installed.
        workers: Number of actors; None: as many as fit, one for each GPU, or for each CPU but one, which reads.
        gpus: GPUs for each actor.
        batch_rows: Rows explained at once.
        explainer: A name for the column `explainer`.
        options: Fields of `RowOptions`, such as search="greedy".

    Returns:
        A dataset with the columns of `rcexplainer.engine.explained_rows` without `row`: Ray does not number rows.

    Raises:
        RCExplainerError: An option is not valid.
        MissingExtraError: Ray is not installed.
    """
    ray_data = require("ray.data", "ray")
    chosen = RowOptions(**options)
    with _connected():
        count, cpus = actors_beside_tasks(workers, _room(gpus), gpus)
        return dataset.map_batches(
            RowActor,
            batch_format="pyarrow",
            batch_size=batch_rows,
            fn_constructor_args=(load, chosen, explainer),
            compute=ray_data.ActorPoolStrategy(size=count),
            num_cpus=cpus,
            num_gpus=gpus or None,
        )


def actors_beside_tasks(workers: int | None, room: int, gpus: float) -> tuple[int, int]:
    """How many actors, and CPUs for each, leave a CPU to the tasks that read: where they hold all, none ever starts.

    Args:
        workers: The number asked for; None: as many as fit.
        room: Actors that the cluster can hold.
        gpus: GPUs for each actor; such actors ask for no CPU.

    Returns:
        Both numbers.
    """
    if gpus:
        return workers or max(room, 1), 0
    return min(workers or room, max(room - 1, 1)), int(room > 1)


class RowActor:
    """Explains tables of rows.

    Args:
        load: Returns a fitted explainer.
        options: How to explain.
        explainer: A name for the column `explainer`.
    """

    def __init__(self, load: Callable[[], FittedExplainer], options: RowOptions, explainer: str) -> None:
        self.fitted, self.options = load(), options
        names = self.fitted.class_names or tuple(map(str, range(self.fitted.split.num_classes)))
        self.stamp = Stamp(model_digest(self.fitted.split.model), explainer, names)

    def __call__(self, table: "pa.Table") -> "pa.Table":
        """Explain a table.

        Args:
            table: Rows of graphs or SMILES.
        """
        found = explained_rows(self.fitted, rows_of(table), self.options, self.stamp)
        return found.drop_columns(["row"])


def rows_of(table: "pa.Table") -> RowGraphs:
    """Read graphs or SMILES.

    Args:
        table: Rows of either.

    Raises:
        DatasetError: It has neither.
    """
    if "edge_index" in table.column_names:
        return graphs_of_rows(table)
    names = table.column_names
    smiles = common_column(names, SMILES_COLUMNS)
    if smiles is None:
        raise DatasetError(f"the dataset has neither edge_index nor smiles; it has {', '.join(names)}")
    return molecules_of_table(table, smiles, common_column(names, ID_COLUMNS))


def explain_parts(
    job: TableJob, parts: Sequence[int], fitted: FittedExplainer, workers: int | None = None
) -> Iterator[PartReport | RCExplainerError]:
    """Explain parts of a job on Ray: on the cluster of RAY_ADDRESS, else on this machine.

    Args:
        job: The job; its input and its folder must be at the same place on all machines.
        parts: Numbers of the parts.
        fitted: The explainer; actors load their own.
        workers: Number of actors; None: one for each CPU, or GPU if the explainer is on one.

    Yields:
        What came of each part, as they are done.

    Raises:
        RCExplainerError: The cluster does not answer, or has no GPU although one is asked for.
        MissingExtraError: Ray is not installed.
    """
    if not parts:
        return
    data = require("ray.data", "ray")
    on_gpu = fitted.device is not None and fitted.device.type == "cuda"
    with _connected():
        room = _room(1 if on_gpu else 0)
        if not room:
            raise RCExplainerError("--device cuda: the Ray cluster has no GPU; leave --device out, or add one to it")
        count = min(workers or room, room, len(parts))
        # Items are put into Ray's store by this process: no task has to read them.
        rows = data.from_items([{"part": part} for part in parts], override_num_blocks=len(parts))
        done = rows.map_batches(
            PartActor,
            batch_size=1,
            fn_constructor_args=(replace(job),),
            compute=data.ActorPoolStrategy(size=count),
            num_cpus=0 if on_gpu else 1,
            num_gpus=1 if on_gpu else None,
        )
        try:
            for row in done.iter_rows():
                yield RCExplainerError(row["problem"]) if row["problem"] else PartReport(**_report(row))
        except require("ray.exceptions", "ray").RayError as error:
            first = " ".join(str(error).split())[:300]
            raise RCExplainerError(
                f"Ray gave up: {first}; what is done is in {job.folder.path}, the same command goes on from there"
            ) from error


class PartActor:
    """Explains parts of a job in a process of Ray.

    Args:
        job: The job.
    """

    def __init__(self, job: TableJob) -> None:
        self.job = job

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Explain the parts of a batch. Ray tries a part whose actor died again and again: here that has an end."""
        found: list[dict[str, Any]] = []
        for part in map(int, batch["part"].tolist()):
            try:
                if self.job.folder.begin(part) > TRIES:
                    raise RCExplainerError(KILLED.format(*self.job.rows_of(part), TRIES))
                found.append({**vars(explain_part(self.job, part)), "problem": ""})
            except RCExplainerError as error:
                found.append({**vars(PartReport(part, 0, 0, 0, 0, 0.0)), "problem": str(error)})
        return {key: [one[key] for one in found] for key in found[0]}


def _report(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "problem"}


def _room(gpus: float) -> int:
    """How many actors the cluster can hold."""
    ray = require("ray", "ray")
    resources = ray.cluster_resources()
    return int(resources.get("GPU", 0) / gpus) if gpus else max(int(resources.get("CPU", 1)), 1)


@contextmanager
def _connected() -> Iterator[None]:
    """A connection to Ray: the one there is, the cluster of RAY_ADDRESS, or one of this machine."""
    ray = require("ray", "ray")
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    if address:
        _check_answer(address)
    if not address:
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its notes on how actors are restarted
    quiet = {"configure_logging": True, "logging_level": logging.ERROR, "log_to_driver": False}
    terminated = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address or "local", include_dashboard=None if address else False, **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise RCExplainerError(f"Ray could not be started ({error}); --engine local needs no Ray") from error
    except SystemExit:  # by Ray's own answer to SIGTERM
        if callable(terminated):
            terminated(signal.SIGTERM, None)
        raise
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, terminated)  # Ray puts its own in this place, which ends the process on the spot
    _quiet(require("ray.data", "ray").DataContext.get_current())
    try:
        yield
    finally:
        ray.shutdown()


def _quiet(context: Any) -> None:
    """Progress is shown in rows, by us."""
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _check_answer(address: str) -> None:
    """Refuse a cluster that does not answer: Ray itself would try for minutes."""
    if address in ("auto", "local"):
        return
    parts = urlsplit(address if "://" in address else f"ray-head://{address}")
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 10001), timeout=PATIENCE):
            return
    except (OSError, ValueError) as error:
        raise RCExplainerError(
            f"RAY_ADDRESS={address}: no Ray cluster answers there within {PATIENCE:.0f} s ({error}). "
            "Start one with `ray start --head`, or unset RAY_ADDRESS to use this machine"
        ) from error
