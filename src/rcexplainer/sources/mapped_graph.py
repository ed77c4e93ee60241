"""A graph as a folder of `.npy` files, which are mapped: only the rows that are needed are read.

PATH/edge_index.npy        [2, E] whole numbers
PATH/node/x.npy            [N, …] node features; any other value of nodes under its own name (y: labels)
PATH/edge/edge_attr.npy    [E, …] any value of edges
PATH/graph/NAME.npy        [1, …] any value of the whole graph
PATH/in_edges/             the edges by their targets, made when the graph is first used (`adjacency_files`)
"""

import logging
import os
import shutil
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.saving.files import make_folder_of, named_file, writing_told
from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.sources.adjacency_files import Numbers, adjacency_files
from rcexplainer.sources.attribute_levels import attribute_levels
from rcexplainer.sources.graph_source import MAX_EDGES, GraphSource
from rcexplainer.sources.mapped_array import MappedArray

log = logging.getLogger(__name__)

LAYOUT = "edge_index.npy [2, E], node/NAME.npy [N, …], edge/NAME.npy [E, …], graph/NAME.npy [1, …]"


class MappedGraph(GraphSource):
    """A graph in a folder of `.npy` files: `edge_index.npy` [2, E], `node/NAME.npy` [N, …], `edge/NAME.npy` [E, …] and
    `graph/NAME.npy` [1, …]. `map_graph` writes such a folder.

    Args:
        path: The folder.
        index: The folder of the edges by their targets; by default `in_edges` in `path`. It is made when the graph is
            first used, and made again if `edge_index.npy` has changed.
        max_edges: The most edges that may be read for one computation graph; a node or link with more is an error in
            its place.

    Raises:
        GraphError: A file is missing, damaged, or of the wrong type or length; its name is in the message.
    """

    def __init__(self, path: str | Path, *, index: str | Path | None = None, max_edges: int = MAX_EDGES) -> None:
        self.path = named_file(path, "MappedGraph(path)", kind="folder")
        own = self.path / "in_edges"
        self.index = own if index is None else named_file(index, "MappedGraph(…, index=…)", "index", "folder")
        if not isinstance(max_edges, int) or max_edges < 1:
            raise GraphError(f"max_edges must be a whole number ≥ 1, got {max_edges!r}")
        self.max_edges = max_edges
        with writing_told(self.path):
            there = self.path.is_dir()
        if not there:
            raise GraphError(f"there is no folder {self.path}: a mapped graph is a folder with {LAYOUT}")
        if not (self.path / "edge_index.npy").is_file():
            raise GraphError(f"there is no file {self.path / 'edge_index.npy'}: a mapped graph needs {LAYOUT}")
        self._edges = MappedArray(self.path / "edge_index.npy")
        self._node, self._edge, graph = (self._arrays(level) for level in ("node", "edge", "graph"))
        self._check()
        self._graph = {name: torch.from_numpy(np.array(values.array)) for name, values in graph.items()}
        self._labels = self._node.pop("y", None)

    def _arrays(self, level: str) -> dict[str, MappedArray]:
        return {path.stem: MappedArray(path) for path in sorted((self.path / level).glob("*.npy"))}

    def _check(self) -> None:
        """Refuse arrays that do not fit each other."""
        edges = self._edges
        if edges.array.dtype.kind not in "iu" or edges.array.ndim != 2 or edges.shape[0] != 2:
            raise GraphError(f"{edges.path} must hold whole numbers of shape [2, E], got {_found(edges)}")
        if not edges.shape[1]:
            raise GraphError(f"{edges.path} has no edges: there is nothing to explain")
        if not self._node:
            raise GraphError(f"{self.path / 'node'} has no .npy file: at least one value of nodes is needed, say x.npy")
        first = next(iter(self._node.values()))
        for values in self._node.values():
            if len(values) and not values.array.size:  # its file is empty, whatever number of nodes it claims
                raise GraphError(f"{values.path} has the shape {values.shape}: rows without numbers, leave it out")
            if len(values) != len(first):
                raise GraphError(f"{values.path} has {len(values)} rows, {first.path} {len(first)}: one for each node")
        for values in self._edge.values():
            if len(values) != edges.shape[1]:
                raise GraphError(f"{values.path} has {len(values)} rows for {edges.shape[1]} edges: one for each edge")
        self._num_nodes = len(first)

    def __repr__(self) -> str:
        return f"MappedGraph({str(self.path)!r}, {self.num_nodes} nodes, {self.num_edges} edges)"

    def __reduce__(self) -> tuple[object, ...]:
        return _opened, (self.path, self.index, self.max_edges)

    @cached_property
    def adjacency(self) -> Adjacency:
        file = self.path / "edge_index.npy"
        about = file.stat()
        origin = {"file": str(file.resolve()), "bytes": about.st_size, "time": about.st_mtime_ns}
        edges = np.load(file, mmap_mode="r")  # read from front to back, unlike the other files

        def chunk(first: int, end: int) -> tuple[Numbers, Numbers]:
            return np.array(edges[0, first:end]), np.array(edges[1, first:end])

        return adjacency_files(self.index, self.num_nodes, self.num_edges, origin, chunk)

    @property
    def num_nodes(self) -> int:
        return self._num_nodes

    @property
    def num_edges(self) -> int:
        return self._edges.shape[1]

    @property
    def edge_keys(self) -> tuple[str, ...]:
        return tuple(self._edge)

    @property
    def graph_values(self) -> dict[str, Tensor]:
        return self._graph

    def node_values(self, nodes: Tensor) -> dict[str, Tensor]:
        return {name: values[nodes] for name, values in self._node.items()}

    def edge_values(self, columns: Tensor) -> dict[str, Tensor]:
        return {name: values[columns] for name, values in self._edge.items()}

    def labels(self, nodes: Tensor) -> Tensor | None:
        return None if self._labels is None else self._labels[nodes]


def _found(values: MappedArray) -> str:
    return f"{values.array.dtype} of shape {tuple(values.shape)}"


def _opened(path: Path, index: Path, max_edges: int) -> MappedGraph:
    """A pickled graph is its path."""
    return MappedGraph(path, index=index, max_edges=max_edges)


def map_graph(data: Data, path: str | Path, *, max_edges: int = MAX_EDGES) -> MappedGraph:
    """Write a graph to a folder, and open it as a `MappedGraph`.

    Args:
        data: The graph; its tensors are written, labels included, other attributes are not.
        path: A folder that does not exist yet.
        max_edges: As for `MappedGraph`.

    Returns:
        The graph in the folder.

    Raises:
        GraphError: The folder exists, or a tensor has a type that numpy does not have.
        WriteError: It cannot be written, as on a full disk.
    """
    if not isinstance(data, Data):
        raise GraphError(f"a graph is a PyG Data, got {type(data).__name__}")
    if not isinstance(data.edge_index, Tensor) or data.edge_index.dim() != 2 or data.edge_index.size(0) != 2:
        raise GraphError("the graph needs edge_index of shape [2, num_edges]")
    folder = named_file(path, "map_graph(data, path)", kind="folder")
    with writing_told(folder):
        taken = folder.exists()
    if taken:
        raise _taken(folder)
    levels = attribute_levels(data)
    y = data.get("y")
    labelled = isinstance(y, Tensor) and y.dim() > 0 and len(y) == data.num_nodes
    named = {"edge_index": "edge_index"}
    named |= {key: f"node/{key}" for key in (*levels.node, *(["y"] if labelled else []))}
    named |= {key: f"edge/{key}" for key in levels.edge} | {key: f"graph/{key}" for key in levels.graph}
    if not any(place.startswith("node/") for key, place in named.items() if key != "y"):
        raise GraphError("the graph has no value for its nodes: at least one is needed, say x")
    writing = folder.with_name(f".{folder.name}.writing-{os.getpid()}-{uuid4().hex[:8]}")
    try:
        with writing_told(folder):
            make_folder_of(folder)
            for key, place in named.items():
                file = writing / f"{place}.npy"
                file.parent.mkdir(parents=True, exist_ok=True)
                np.save(file, _as_numpy(key, data[key]))
            _take_place(writing, folder)
    finally:
        shutil.rmtree(writing, ignore_errors=True)
    return MappedGraph(folder, max_edges=max_edges)


def _take_place(writing: Path, folder: Path) -> None:
    """Rename a folder; another one may have appeared there meanwhile, say from a second process."""
    try:
        writing.rename(folder)
    except OSError as error:
        if folder.exists():
            raise _taken(folder) from error
        raise


def _taken(folder: Path) -> GraphError:
    return GraphError(f"{folder} exists already: name a folder that does not, or open it with MappedGraph")


def _as_numpy(key: str, value: Tensor) -> Numbers:
    try:
        return value.detach().cpu().contiguous().numpy()
    except TypeError as error:
        raise GraphError(f"{key} has the type {value.dtype}, which cannot be written: {error}; convert it") from error
