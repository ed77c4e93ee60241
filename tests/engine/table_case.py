"""A small network, its explainer and a file of molecules, which other processes can open by their paths."""

import os
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import rcexplainer as rc
from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.engine.job_folder import JobFolder
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.engine.table_job import ExplainerSource, RowSource, TableJob
from rcexplainer.gnn import load_gnn
from rcexplainer.method.fitted_explainer import FittedExplainer
from tests.benchmark.toys import save_toy, small

FLOATS = ("probabilities", "new_probabilities", "scores")

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows ends a process at once by any signal


@dataclass(frozen=True)
class TableCase:
    """Files of a network, an explainer and molecules."""

    gnn: Path
    explainer: Path
    molecules: Path

    def job(self, out: Path, *, source: RowSource | None = None, load=None, **fields) -> TableJob:
        options = RowOptions(**{key: fields.pop(key) for key in ("search", "scores") if key in fields})
        found = partial(opened, self.gnn, self.explainer) if load is None else load
        table = GraphTable(self.molecules) if source is None else source
        return TableJob(table, ExplainerSource(found, "0" * 64), JobFolder(out), options, **fields)

    def fitted(self) -> FittedExplainer:
        return opened(self.gnn, self.explainer)


def make_case(folder: Path) -> TableCase:
    gnn = save_toy(folder, "nitro")
    data, model = small("nitro"), load_gnn(gnn).model
    graphs = [data.graphs[place] for place in data.split.train]
    fitted = rc.RCExplainer(epochs=1, weight_order=0.0, weight_effect=0.0).fit(model, graphs, progress=False)
    fitted.save(folder / "explainer.safetensors")
    for number, graph in enumerate(data.graphs):
        graph.id = f"m{number}"
    molecules = rc.datasets.to_parquet(data.graphs, folder / "molecules.parquet")
    return TableCase(gnn, folder / "explainer.safetensors", molecules)


def opened(gnn: Path, explainer: Path) -> FittedExplainer:
    return rc.load(explainer, load_gnn(gnn).model)


def deadly(gnn: Path, explainer: Path, mark: Path) -> FittedExplainer:
    """The explainer; the first process that has made the mark is killed when it looks for it again."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), KILL)
    return opened(gnn, explainer)


def always_deadly(parent: int, gnn: Path, explainer: Path) -> FittedExplainer:
    """The explainer in the process that started all; every other one is killed."""
    if os.getpid() != parent:
        os.kill(os.getpid(), KILL)
    return opened(gnn, explainer)


def results(folder: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(part) for part in sorted(folder.glob("part-*.parquet"))])


def assert_alike(one: pa.Table, other: pa.Table) -> None:
    """Discrete columns are the same, numbers to 1e-5."""
    assert one.column_names == other.column_names
    for name in one.column_names:
        if name not in FLOATS:
            assert one.column(name).to_pylist() == other.column(name).to_pylist(), name
            continue
        for left, right in zip(one.column(name).to_pylist(), other.column(name).to_pylist(), strict=True):
            assert (left is None) == (right is None)
            assert all(abs(a - b) <= 1e-5 for a, b in zip(left or [], right or [], strict=True))
