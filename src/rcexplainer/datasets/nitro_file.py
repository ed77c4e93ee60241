"""Files of generated molecules, of any size: the molecules of `NitroStream`, as graphs or as SMILES.

    write_nitro("molecules.parquet", 1_000_000)                      edge_index, x, edge_attr, id
    write_nitro("molecules.parquet", 1_000_000, content="smiles")    smiles, id (extra `chem`)

Pair i depends on the seed and i alone: several processes write what one would.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from torch_geometric.data import Data

from rcexplainer.datasets.fragments import to_data
from rcexplainer.datasets.molecules import to_rdkit
from rcexplainer.datasets.nitro import draw_twins
from rcexplainer.datasets.parquet_file import write_tables
from rcexplainer.datasets.parquet_rows import ROW_GROUP
from rcexplainer.datasets.row_graphs import rows_of_graphs
from rcexplainer.errors import DatasetError, require
from rcexplainer.saving.files import named_file

if TYPE_CHECKING:
    import pyarrow as pa

Content = Literal["graphs", "smiles"]
AHEAD = 2  # row groups per process that are made before the first of them is written


def write_nitro(
    path: str | Path, num_graphs: int, seed: int = 0, content: Content = "graphs", processes: int = 1
) -> Path:
    """Write generated molecules to a Parquet file; it appears when it is complete.

    Args:
        path: The file.
        num_graphs: Number of molecules.
        seed: Random seed.
        content: Tensors of graphs, or SMILES.
        processes: Processes that make them; the rows do not depend on it.

    Returns:
        The path.

    Raises:
        DatasetError: `num_graphs` is not positive.
        WriteError: The file cannot be written, as on a full disk.
        MissingExtraError: pyarrow or, for SMILES, RDKit is not installed.
    """
    file = named_file(path, "write_nitro(path, num_graphs)")
    require("pyarrow", "tables")
    if content == "smiles":
        require("rdkit.Chem", "chem")
    if num_graphs < 1:
        raise DatasetError(f"num_graphs must be at least 1, got {num_graphs}")
    return write_tables(file, _row_groups(num_graphs, partial(nitro_rows, seed=seed, content=content), processes))


def nitro_rows(start: int, stop: int, seed: int = 0, content: Content = "graphs") -> "pa.Table":
    """Make molecules.

    Args:
        start: Number of the first one; even, a pair begins there.
        stop: One beyond the last.
        seed: Random seed.
        content: Tensors of graphs, or SMILES.

    Returns:
        A row for each.
    """
    import pyarrow as pa

    graphs = list(_molecules(start, stop, seed))
    if content == "graphs":
        return rows_of_graphs(graphs)
    write = require("rdkit.Chem", "chem").MolToSmiles
    smiles = [write(to_rdkit(graph)) for graph in graphs]
    return pa.table({"smiles": pa.array(smiles), "id": pa.array([graph.id for graph in graphs])})


def _molecules(start: int, stop: int, seed: int) -> Iterator[Data]:
    for pair in range(start // 2, -(-stop // 2)):
        twins = draw_twins(np.random.RandomState([seed, pair]))
        for label, twin in enumerate(twins[: stop - 2 * pair]):
            graph = to_data(twin, label)
            graph.id = f"nitro-{seed}-{2 * pair + label}"
            yield graph


def _row_groups(count: int, make: "partial[pa.Table]", processes: int) -> "Iterator[pa.Table]":
    """Row groups in order; no more are in memory than a few for each process."""
    ranges = ((start, min(start + ROW_GROUP, count)) for start in range(0, count, ROW_GROUP))
    if processes == 1 or count <= ROW_GROUP:
        yield from (make(*one) for one in ranges)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[pa.Table]] = deque()
        for one in ranges:
            waiting.append(pool.submit(make, *one))
            if len(waiting) >= AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
