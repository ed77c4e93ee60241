"""The names of all datasets, what each is and where it is built; read without importing torch."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rcexplainer.datasets.dataset import GraphDataset

TaskName = Literal["graph", "node", "link"]


@dataclass(frozen=True)
class DatasetEntry:
    """One line of `rcexplainer datasets`.

    Attributes:
        about: What it is, in a few words.
        task: What its instances are.
        builder: Where its function is, `module:function` of this package; a module is imported when a set is built.
    """

    about: str
    task: TaskName
    builder: str

    @property
    def build(self) -> "Callable[..., GraphDataset]":
        """(root, seed, **options) → the dataset; for a family (rest of the name, root, seed, **options)."""
        module, _, function = self.builder.partition(":")
        found: Callable[..., GraphDataset] = getattr(import_module(f"rcexplainer.datasets.{module}"), function)
        return found


DATASETS: dict[str, DatasetEntry] = {
    "ba-shapes": DatasetEntry("Barabási–Albert base with 80 houses, 4 node roles", "node", "synthetic:ba_shapes"),
    "ba-community": DatasetEntry("two ba-shapes joined, features by community", "node", "synthetic:ba_community"),
    "tree-cycles": DatasetEntry("binary tree with 60 hexagons", "node", "synthetic:tree_cycles"),
    "tree-grid": DatasetEntry("binary tree with 80 grids 3×3", "node", "synthetic:tree_grid"),
    "ba-grid": DatasetEntry("Barabási–Albert base with 80 grids: the paper's “Tree-Grid”", "node", "synthetic:ba_grid"),
    "ba-2motifs": DatasetEntry("Barabási–Albert tree with a 5-cycle or a house", "graph", "motif_graphs:ba_2motifs"),
    "three-motifs": DatasetEntry("three classes, two of three motifs each", "graph", "motif_graphs:three_motifs"),
    "motif-unions": DatasetEntry("six classes, each one of two motifs, twice", "graph", "motif_graphs:motif_unions"),
    "shared-neighbours": DatasetEntry(
        "links between nodes with four neighbours in common, among decoys", "link", "links:shared_neighbours"
    ),
    "nitro": DatasetEntry("molecules, positive with NO2 or NH2 on an aromatic ring", "graph", "nitro:nitro"),
    "mutagenicity": DatasetEntry("molecules, mutagenic or not (TU)", "graph", "tu:mutagenicity"),
    "nci1": DatasetEntry("molecules, active against lung cancer cells or not (TU)", "graph", "tu:nci1"),
}

# Families of sets, spelt PREFIX:REST.
FAMILIES: dict[str, DatasetEntry] = {
    "tu:NAME": DatasetEntry("any graph classification set of the TU collection", "graph", "tu:by_name"),
    "csv:PATH": DatasetEntry("your own molecules: columns of SMILES and labels", "graph", "smiles_file:csv"),
}
