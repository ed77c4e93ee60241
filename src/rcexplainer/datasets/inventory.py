"""The numbers of a dataset, as in the paper's dataset table."""

from dataclasses import dataclass
from pathlib import Path

from rcexplainer.datasets import load


@dataclass(frozen=True)
class Inventory:
    name: str
    task: str
    graphs: int
    nodes: float  # mean
    edges: float  # mean; an undirected edge counts once
    features: int
    classes: dict[str, int]  # instances of each
    motif_edges: float | None  # mean, where ground truth is known
    train: int
    val: int
    test: int
    bad_rows: int

    def row(self) -> dict[str, object]:
        """What fits on a line of the terminal."""
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
    """Load the dataset and count."""
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
