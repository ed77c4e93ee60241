"""Datasets by name."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from rcexplainer.datasets import links, molecules, synthetic, tu
from rcexplainer.datasets.dataset import GraphDataset, Task
from rcexplainer.errors import DatasetError


@dataclass(frozen=True)
class Entry:
    """One line of `rcexplainer datasets`. `build(root, seed, **options)` makes the set."""

    about: str
    task: Task
    build: Callable[..., GraphDataset]


ENTRIES: dict[str, Entry] = {
    "ba-shapes": Entry("Barabási–Albert base with 80 houses, 4 node roles", "node", synthetic.ba_shapes),
    "ba-community": Entry("two ba-shapes joined, features by community", "node", synthetic.ba_community),
    "tree-cycles": Entry("binary tree with 60 hexagons", "node", synthetic.tree_cycles),
    "tree-grid": Entry("binary tree with 80 grids 3×3", "node", synthetic.tree_grid),
    "ba-grid": Entry("Barabási–Albert base with 80 grids: the paper's “Tree-Grid”", "node", synthetic.ba_grid),
    "ba-2motifs": Entry("Barabási–Albert tree with a 5-cycle or a house", "graph", synthetic.ba_2motifs),
    "three-motifs": Entry("three classes, two of three motifs each", "graph", synthetic.three_motifs),
    "shared-neighbours": Entry(
        "links between nodes with four neighbours in common, among decoys", "link", links.shared_neighbours
    ),
    "nitro": Entry("molecules, positive with NO2 or NH2 on an aromatic ring", "graph", molecules.nitro),
    "mutagenicity": Entry("molecules, mutagenic or not (TU)", "graph", tu.mutagenicity),
    "nci1": Entry("molecules, active against lung cancer cells or not (TU)", "graph", tu.nci1),
}

# Families of sets, spelt PREFIX:REST; `build(rest, root, seed, **options)`.
FAMILIES: dict[str, Entry] = {
    "tu:NAME": Entry("any graph classification set of the TU collection", "graph", tu.by_name),
    "csv:PATH": Entry("your own molecules: columns of SMILES and labels", "graph", molecules.csv),
}


def names() -> list[str]:
    """The names `load` takes, without the families `tu:NAME` and `csv:PATH`."""
    return list(ENTRIES)


def task_of(name: str) -> Task:
    """What the instances of a set are: "graph", "node" or "link"; families and unknown names are of graphs."""
    entry = ENTRIES.get(name.lower())
    return "graph" if entry is None else entry.task


def load(name: str, root: str | Path | None = None, seed: int = 0, **options: object) -> GraphDataset:
    """Load or generate a dataset with its split.

    `root` is where downloaded sets are looked for and kept (default: the user's cache folder). `seed` decides
    what is generated and how it is split. `options` belong to the set, such as `num_graphs` for `ba-2motifs`.
    """
    if not 0 <= seed < 2**32:
        raise DatasetError(f"a seed is a whole number from 0 to 2³²−1, got {seed}")
    folder = None if root is None else Path(root)
    prefix, colon, rest = name.partition(":")
    try:
        for family, entry in FAMILIES.items():
            if colon and family.startswith(f"{prefix}:"):
                return entry.build(rest, folder, seed, **options)
        if name.lower() in ENTRIES:
            return ENTRIES[name.lower()].build(folder, seed, **options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error):
            raise DatasetError(f"dataset {name!r}: {error}") from error
        raise
    near = get_close_matches(name.lower(), names(), n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(names())}"
    raise DatasetError(f"unknown dataset {name!r}; {hint} Also tu:NAME and csv:PATH.")
