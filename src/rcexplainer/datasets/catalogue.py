"""The catalogue of datasets: their names, and how each is built."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from rcexplainer.datasets import links, motif_graphs, nitro, smiles_file, synthetic, tu
from rcexplainer.datasets.dataset import GraphDataset, TaskName
from rcexplainer.errors import DatasetError


@dataclass(frozen=True)
class DatasetEntry:
    """One line of `rcexplainer datasets`.

    Attributes:
        about: What it is, in a few words.
        task: What its instances are.
        build: (root, seed, **options) → the dataset; for a family (rest of the name, root, seed, **options).
    """

    about: str
    task: TaskName
    build: Callable[..., GraphDataset]


DATASETS: dict[str, DatasetEntry] = {
    "ba-shapes": DatasetEntry("Barabási–Albert base with 80 houses, 4 node roles", "node", synthetic.ba_shapes),
    "ba-community": DatasetEntry("two ba-shapes joined, features by community", "node", synthetic.ba_community),
    "tree-cycles": DatasetEntry("binary tree with 60 hexagons", "node", synthetic.tree_cycles),
    "tree-grid": DatasetEntry("binary tree with 80 grids 3×3", "node", synthetic.tree_grid),
    "ba-grid": DatasetEntry("Barabási–Albert base with 80 grids: the paper's “Tree-Grid”", "node", synthetic.ba_grid),
    "ba-2motifs": DatasetEntry("Barabási–Albert tree with a 5-cycle or a house", "graph", motif_graphs.ba_2motifs),
    "three-motifs": DatasetEntry("three classes, two of three motifs each", "graph", motif_graphs.three_motifs),
    "motif-unions": DatasetEntry("six classes, each one of two motifs, twice", "graph", motif_graphs.motif_unions),
    "shared-neighbours": DatasetEntry(
        "links between nodes with four neighbours in common, among decoys", "link", links.shared_neighbours
    ),
    "nitro": DatasetEntry("molecules, positive with NO2 or NH2 on an aromatic ring", "graph", nitro.nitro),
    "mutagenicity": DatasetEntry("molecules, mutagenic or not (TU)", "graph", tu.mutagenicity),
    "nci1": DatasetEntry("molecules, active against lung cancer cells or not (TU)", "graph", tu.nci1),
}

# Families of sets, spelt PREFIX:REST.
FAMILIES: dict[str, DatasetEntry] = {
    "tu:NAME": DatasetEntry("any graph classification set of the TU collection", "graph", tu.by_name),
    "csv:PATH": DatasetEntry("your own molecules: columns of SMILES and labels", "graph", smiles_file.csv),
}


def names() -> list[str]:
    """List the names that `load` takes, apart from the families `tu:NAME` and `csv:PATH`."""
    return list(DATASETS)


def task_of(name: str) -> TaskName:
    """Return the task of a dataset without loading it.

    Args:
        name: Its name.

    Returns:
        "graph", "node" or "link"; "graph" for families and unknown names.
    """
    entry = DATASETS.get(name.lower())
    return "graph" if entry is None else entry.task


def load(name: str, root: str | Path | None = None, seed: int = 0, **options: object) -> GraphDataset:
    """Load or generate a dataset with its split.

    Args:
        name: One of `names()`, or `tu:NAME`, or `csv:PATH`.
        root: The folder of downloaded sets (default: the user's cache folder).
        seed: Random seed of what is generated and of the split.
        **options: Options of the set, such as `num_graphs` for `ba-2motifs`.

    Returns:
        The dataset.

    Raises:
        DatasetError: If the name, the seed or an option is unknown or impossible, or the files are corrupt.
        MissingDataError: If the set is not on disk and cannot be downloaded.
        MissingExtraError: If a set needs a package that is not installed.
    """
    if not 0 <= seed < 2**32:
        raise DatasetError(f"seed must be a whole number from 0 to 2³²−1, got {seed}")
    folder = None if root is None else Path(root)
    prefix, colon, rest = name.partition(":")
    try:
        for family, entry in FAMILIES.items():
            if colon and family.startswith(f"{prefix}:"):
                return entry.build(rest, folder, seed, **options)
        if name.lower() in DATASETS:
            return DATASETS[name.lower()].build(folder, seed, **options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error):
            raise DatasetError(f"dataset {name!r}: {error}") from error
        raise
    near = get_close_matches(name.lower(), names(), n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(names())}"
    raise DatasetError(f"unknown dataset {name!r}; {hint} Also tu:NAME and csv:PATH.")
