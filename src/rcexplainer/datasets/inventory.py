"""The statistics of a dataset, as in the paper's dataset table."""

from dataclasses import dataclass
from pathlib import Path

from rcexplainer.datasets import load


@dataclass(frozen=True)
class Inventory:
    """Statistics of a dataset.

    Attributes:
        name: The name it was loaded by.
        task: What its instances are.
        graphs: Number of graphs.
        nodes: Mean number of nodes.
        edges: Mean number of edges; an undirected edge counts once.
        features: Number of node features.
        classes: Number of instances of each class.
        motif_edges: Mean number of ground-truth edges; None if unknown.
        train: Number of training instances.
        val: Number of validation instances.
        test: Number of test instances.
        bad_rows: Number of rows of a user's file that were left out.
    """

    name: str
    task: str
    graphs: int
    nodes: float
    edges: float
    features: int
    classes: dict[str, int]
    motif_edges: float | None
    train: int
    val: int
    test: int
    bad_rows: int

    def row(self) -> dict[str, object]:
        """Return what fits on a line of the terminal, by column."""
        truth = "–" if self.motif_edges is None else f"{self.motif_edges:.2f}"
        return {
            "name": self.name,
            "task": self.task,
            "graphs": self.graphs,
            "nodes": self.nodes,
            "edges": self.edges,
            "classes": len(self.classes),
            "motif": truth,
            "train/val/test": f"{self.train}/{self.val}/{self.test}",
        }


def describe(name: str, root: Path | None = None, seed: int = 0) -> Inventory:
    """Load a dataset and count.

    Args:
        name: Its name, as for `load`.
        root: Where downloaded sets are kept.
        seed: Random seed.

    Returns:
        Its statistics.
    """
    data = load(name, root=root, seed=seed)
    number = len(data)
    labels = data.labels.bincount(minlength=data.num_classes)
    truth = sum(int(graph.edge_motif.sum()) for graph in data.graphs) / 2 / number if data.has_ground_truth else None
    return Inventory(
        name=data.name,
        task=data.task,
        graphs=number,
        nodes=sum(int(graph.num_nodes or 0) for graph in data.graphs) / number,
        edges=sum(graph.num_edges for graph in data.graphs) / 2 / number,
        features=data.num_features,
        classes=dict(zip(data.class_names, labels.tolist(), strict=True)),
        motif_edges=truth,
        train=len(data.split.train),
        val=len(data.split.val),
        test=len(data.split.test),
        bad_rows=len(data.bad_rows),
    )
