"""Graph classification sets of the TU collection: finding or downloading their files, and building the graphs."""

import logging
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.io import read_tu_data

from rcexplainer.datasets.dataset import OUTSIDE, GraphDataset, stratified_split
from rcexplainer.datasets.file_access import access_told
from rcexplainer.datasets.tu_download import fetch
from rcexplainer.datasets.tu_raw import AGAIN, Booleans, Integers, RawSet, check_raw
from rcexplainer.errors import DatasetError, MissingDataError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LabelNames:
    """The meaning of a set's numbers, which its files do not contain.

    Attributes:
        classes: The name of each class.
        nodes: The name of each node label.
        edges: The name of each edge label.
        elements: The atomic number of each node label; empty if the nodes are no atoms or the elements are unknown.
        published: The numbers of graphs and of lines of NAME_A.txt, to detect a truncated copy; None if unknown.
    """

    classes: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    elements: tuple[int, ...] = ()
    published: tuple[int, int] | None = None


KNOWN = {
    "Mutagenicity": LabelNames(
        classes=("mutagen", "non-mutagen"),
        nodes=("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca"),
        edges=("single", "double", "triple"),
        elements=(6, 8, 17, 1, 7, 9, 35, 16, 15, 53, 11, 19, 3, 20),
        published=(4337, 266_894),
    ),
    # The elements behind these labels are not published; the numbers are those of the files.
    "NCI1": LabelNames(
        classes=("inactive", "active"),
        nodes=tuple(f"atom {label}" for label in range(1, 38)),
        published=(4110, 265_506),
    ),
}


def mutagenicity(root: Path | None, seed: int) -> GraphDataset:
    """Load Mutagenicity: 4337 molecules, mutagenic or not.

    The edges of NO2 and NH2 groups are ground truth if a file `edge_ground_truth.txt` lies beside the raw files.

    Args:
        root: The folder of downloaded sets.
        seed: Random seed of the split.

    Returns:
        The dataset.

    Raises:
        DatasetError: If its files are corrupt.
        MissingDataError: If it is not on disk and cannot be downloaded.
    """
    return _load("Mutagenicity", "mutagenicity", root, seed)


def nci1(root: Path | None, seed: int) -> GraphDataset:
    """Load NCI1: 4110 molecules, active against lung cancer cells or not.

    Args:
        root: The folder of downloaded sets.
        seed: Random seed of the split.

    Returns:
        The dataset.

    Raises:
        DatasetError: If its files are corrupt.
        MissingDataError: If it is not on disk and cannot be downloaded.
    """
    return _load("NCI1", "nci1", root, seed)


def by_name(name: str, root: Path | None, seed: int) -> GraphDataset:
    """Load any graph classification set of the collection, or one of your own in its format.

    Node features are the node attributes followed by the one-hot node labels. If a set has neither, every node gets the
    single feature 1.

    Args:
        name: Its name in the collection.
        root: The folder of downloaded sets.
        seed: Random seed of the split.

    Returns:
        The dataset.

    Raises:
        DatasetError: If the name is impossible, or its files are corrupt.
        MissingDataError: If it is not on disk and cannot be downloaded.
    """
    if not re.fullmatch(r"\w[\w.+-]*", name):  # it becomes the name of a folder and part of a URL
        raise DatasetError(f"{name!r} cannot be the name of a TU set; write tu:NAME, such as tu:PROTEINS")
    return _load(name, f"tu:{name}", root, seed)


def _load(name: str, title: str, root: Path | None, seed: int) -> GraphDataset:
    """Find, check and read a set."""
    raw = check_raw(_find(name, root), name, required=("node_labels",) if name in KNOWN else ())
    _check_whole(raw)
    graphs = _graphs(raw)
    labels = torch.cat([graph.y for graph in graphs])
    classes = tuple(str(label) for label in range(int(labels.max()) + 1))
    # LabelNames are used only if their number fits: a user's own set may have a known name.
    names = KNOWN.get(name, LabelNames())
    if names.elements and len(names.elements) == graphs[0].num_node_features:
        elements = torch.tensor(names.elements)
        for graph in graphs:
            graph.atomic_number = elements[graph.x.argmax(1)]  # a graph by itself can be drawn as a molecule
    return GraphDataset(
        name=title,
        task="graph",
        graphs=tuple(graphs),
        split=stratified_split(labels, seed),
        class_names=names.classes if len(names.classes) == len(classes) else classes,
        node_names=names.nodes if len(names.nodes) == graphs[0].num_node_features else (),
        edge_names=names.edges if len(names.edges) == graphs[0].num_edge_features else (),
    )


def _check_whole(raw: RawSet) -> None:
    """Detect a truncated NAME_A.txt, which reads without errors."""
    # A user's own set may have a known name: the published size applies only if the number of graphs is the same.
    graphs, lines = KNOWN.get(raw.name, LabelNames()).published or (0, 0)
    if raw.num_graphs == graphs and len(raw.edges) != lines:
        raise DatasetError(
            f"{raw.folder / raw.name}_A.txt has {len(raw.edges)} lines, the published set has {lines}: "
            "the file may be truncated or edited; download the set again"
        )
    keys = raw.edges[:, 0] * raw.num_nodes + raw.edges[:, 1]
    back = raw.edges[:, 1] * raw.num_nodes + raw.edges[:, 0]
    if alone := int((~np.isin(keys, back)).sum()):
        logger.warning("%s: %d edges have no reverse; the set is directed, or NAME_A.txt is truncated", raw.name, alone)


def _find(name: str, root: Path | None) -> Path:
    """The folder of the raw files: in `root`, in $RCEXPLAINER_DATA, or in `root` after a download.

    Nothing is ever written to $RCEXPLAINER_DATA, which may be shared or read-only.
    """
    root = (root or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "rcexplainer").expanduser()
    data = os.environ.get("RCEXPLAINER_DATA")
    places = [root, Path(data).expanduser()] if data else [root]
    for place in places:
        with access_told(place):
            there = (place / name / "raw" / f"{name}_A.txt").is_file()
        if there:
            return place / name / "raw"
    try:
        _download(name, root)
    except Exception as error:  # a download fails in many ways, and the remedy is always the same
        raise MissingDataError(_advice(name, places, error)) from error
    return root / name / "raw"


def _download(name: str, root: Path) -> None:
    """Download and unpack the set in a temporary folder, then move the raw files into place.

    NAME_A.txt, which `_find` looks for, is moved last: whatever it finds is complete, even if a run was killed.
    """
    logger.info("downloading the TU set %s to %s", name, root)
    root.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{name}-", dir=root, ignore_cleanup_errors=True) as aside:
        fetch(Path(aside), name)
        files = list(Path(aside, name, "raw").glob(f"{name}_*.txt"))
        target = root / name / "raw"
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(files, key=lambda file: file.name == f"{name}_A.txt"):
            file.replace(target / file.name)


def _advice(name: str, places: list[Path], error: Exception) -> str:
    """The message of a failed download."""
    # For a URL that does not exist, PyG raises FileNotFoundError without an errno.
    missing = isinstance(error, FileNotFoundError) and error.errno is None and error.__cause__ is None
    if missing or getattr(error, "code", None) == 404:
        problem = f"the TU collection has no set {name!r} (spelt exactly, such as PROTEINS or IMDB-BINARY)"
    else:
        problem = f"the TU set {name!r} could not be downloaded ({type(error).__name__}: {error})"
    parts = ("A", "graph_indicator", "graph_labels", "node_labels")
    return (
        f"{problem}, and it is not in {' or '.join(map(str, places))}; "
        f"put {', '.join(f'{name}_{part}.txt' for part in parts)} (optionally {name}_edge_labels.txt) "
        f"into {places[0] / name / 'raw'}, or set RCEXPLAINER_DATA to a folder that holds {name}/raw"
    )


def _graphs(raw: RawSet) -> list[Data]:
    """Build the graphs."""
    try:
        data, slices, _ = read_tu_data(str(raw.folder), raw.name)
    except (ValueError, RuntimeError, IndexError) as error:  # PyG and numpy differ on odd spaces and huge labels
        raise DatasetError(f"the files of {raw.name} in {raw.folder} cannot be read: {error}; {AGAIN}") from error
    nodes = np.bincount(raw.graph_of_node)
    # PyG's slices end with the last graph that has an edge.
    edges = np.zeros(raw.num_graphs, dtype=np.int64)
    edges[: len(slices["edge_index"]) - 1] = slices["edge_index"].diff().numpy()

    x = data.x if data.x is not None else torch.ones(raw.num_nodes, 1)
    parts: dict[str, tuple[Tensor, ...]] = {
        "x": x.split(nodes.tolist()),
        "edge_index": data.edge_index.split(edges.tolist(), dim=1),
        "y": data.y.split(1),
    }
    if data.edge_attr is not None:
        parts["edge_attr"] = data.edge_attr.split(edges.tolist())
    if raw.marked is not None:
        first_node = np.repeat(np.cumsum(nodes) - nodes, edges)
        motif, motif_id = _motifs(raw, raw.edges[raw.marked].T, data.edge_index.numpy() + first_node)
        parts["edge_motif"] = torch.from_numpy(motif).split(edges.tolist())
        parts["edge_motif_id"] = torch.from_numpy(motif_id).split(edges.tolist())
    # Cloned, because a slice would take the whole set along when a single graph is saved or sent.
    return [Data(**{key: part[i].clone() for key, part in parts.items()}) for i in range(raw.num_graphs)]


def _motifs(raw: RawSet, marked: Integers, edges: Integers) -> tuple[Booleans, Integers]:
    """Which of `edges` [2, num_edges] are marked, and the number of their motif within the graph, −1 outside.

    PyG sorts the edges, so marks are matched by node pair. Adjacent marked edges form one motif.
    """
    motif = np.isin(edges[0] * raw.num_nodes + edges[1], marked[0] * raw.num_nodes + marked[1])
    number: dict[int, int] = {}
    count: Counter[int] = Counter()
    for nodes in sorted(nx.connected_components(nx.Graph(edges[:, motif].T.tolist())), key=min):
        graph = int(raw.graph_of_node[min(nodes)])
        number.update(dict.fromkeys(nodes, count[graph]))
        count[graph] += 1
    motif_id = np.full(len(motif), OUTSIDE, dtype=np.int64)
    motif_id[motif] = [number[node] for node in edges[0, motif].tolist()]
    return motif, motif_id
