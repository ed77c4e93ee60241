"""The adjacency of a graph as three files, built once by counting sort in memory that does not grow with the graph.

    ptr.npy [N + 1]     sources.npy [E]     columns.npy [E]     index.json: what they were built from

1. count the edges into each node, chunk by chunk; their running sum is `ptr`
2. write each edge of a chunk to the next free place of its target

Counts and free places are files too. The folder is built under another name and then renamed, so that a build that is
interrupted leaves nothing that could be taken for an index; the next one starts anew.
"""

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rcexplainer.errors import GraphError
from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.sources.mapped_array import MappedArray

log = logging.getLogger(__name__)

FORMAT_VERSION = 1
CHUNK = 1 << 22  # edges that are in memory at a time
BUILDING = "building"

Numbers: TypeAlias = NDArray[Any]
EdgeChunk: TypeAlias = Callable[[int, int], tuple[Numbers, Numbers]]  # (first, end) → sources and targets of columns


def adjacency_files(
    folder: Path, num_nodes: int, num_edges: int, origin: dict[str, Any], edges: EdgeChunk
) -> Adjacency:
    """Open the adjacency in a folder; build it if it is missing, or was built from something else.

    Args:
        folder: Where the files are.
        num_nodes: N.
        num_edges: E.
        origin: JSON values that tell these edges from others, such as the size and time of their file.
        edges: Reads some columns of `edge_index`.

    Raises:
        GraphError: An edge leads to a node that does not exist, or the folder cannot be written.
    """
    about = {"version": FORMAT_VERSION, "nodes": num_nodes, "edges": num_edges, "origin": origin}
    if kept_index(folder) != about:
        _build_beside(folder, num_nodes, num_edges, about, edges)
    ptr, sources, columns = (MappedArray(folder / f"{name}.npy") for name in ("ptr", "sources", "columns"))
    return Adjacency(ptr, sources, columns)


def kept_index(folder: Path) -> dict[str, Any] | None:
    """What the adjacency in a folder was built from; None if there is none."""
    try:
        found: dict[str, Any] = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _build_beside(folder: Path, num_nodes: int, num_edges: int, about: dict[str, Any], edges: EdgeChunk) -> None:
    """Build under another name, then rename."""
    building = folder.with_name(f".{folder.name}.{BUILDING}-{os.getpid()}")
    log.info("the edges into each of %d nodes are indexed, once: %d edges, in %s", num_nodes, num_edges, folder)
    try:
        _remove_leftovers(folder)
        building.mkdir(parents=True)
        _build(building, num_nodes, num_edges, edges)
        (building / "index.json").write_text(json.dumps(about), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    except OSError as error:
        if kept_index(folder) == about:  # another process was faster
            return
        raise GraphError(
            f"the index of the edges cannot be written to {folder}: {error}; name a folder for it that can be written"
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove what builds have left whose process is gone."""
    for path in folder.parent.glob(f".{folder.name}.{BUILDING}-*"):
        process = path.name.rpartition("-")[2]
        if process == str(os.getpid()) or not _runs(process):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: str) -> bool:
    """Whether there is such a process. Where the system cannot say (on Windows signal 0 is Ctrl-C), it may run."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(int(process), 0)
    except (OSError, ValueError):
        return False
    return True


def _build(folder: Path, num_nodes: int, num_edges: int, edges: EdgeChunk) -> None:
    small = max(num_nodes, num_edges) < 1 << 31
    number = np.int32 if small else np.int64
    ptr = _new(folder, "ptr", num_nodes + 1, np.int64)
    ptr[:] = 0
    for first, end in _chunks(num_edges):
        sources, targets = edges(first, end)
        _check_range(sources, targets, num_nodes)
        node, counts = np.unique(targets, return_counts=True)
        ptr[node + 1] += counts
    np.cumsum(ptr, out=ptr)
    free = _new(folder, "free", num_nodes, np.int64)
    free[:] = ptr[:-1]
    columns, origins = (_new(folder, name, num_edges, number) for name in ("columns", "sources"))
    for first, end in _chunks(num_edges):
        sources, targets = edges(first, end)
        order = np.argsort(targets, kind="stable")
        node, start, counts = np.unique(targets[order], return_index=True, return_counts=True)
        place = np.repeat(free[node] - start, counts) + np.arange(len(order))
        columns[place] = first + order
        origins[place] = sources[order]
        free[node] += counts
    for written in (ptr, columns, origins):
        written.flush()
    del free
    (folder / "free.npy").unlink()


def _chunks(num_edges: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + CHUNK, num_edges)) for first in range(0, num_edges, CHUNK))


def _new(folder: Path, name: str, size: int, dtype: Any) -> Any:
    return np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=dtype, shape=(size,))


def _check_range(sources: Numbers, targets: Numbers, num_nodes: int) -> None:
    for ends in (sources, targets):
        low, high = int(ends.min()), int(ends.max())
        if low < 0 or high >= num_nodes:
            wrong = low if low < 0 else high
            raise GraphError(f"the graph has an edge to node {wrong}, but its nodes are 0 to {num_nodes - 1}")
