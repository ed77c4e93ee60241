"""A network whose embeddings are points in a plane, so that everything the method does can be drawn as it is.

Graphs of `three-motifs` (three classes), two GraphConv layers, a sum over the nodes, two numbers for each graph, and a
head with one hidden layer. It is trained here, in seconds, and explained by `RCExplainer` as any other model.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GraphConv, global_add_pool

import rcexplainer as rc


class PlaneNet(nn.Module):
    """φ_gc: graphs → ℝ²; φ_fc: ℝ² → three logits, with one hidden layer."""

    def __init__(self, features: int, classes: int, width: int = 32) -> None:
        super().__init__()
        self.first, self.second = GraphConv(features, width), GraphConv(width, width)
        self.flat = nn.Linear(width, 2)
        self.head = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, classes))

    def embed(self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """φ_gc."""
        x = self.first(x, edge_index, edge_weight).relu()
        x = self.second(x, edge_index, edge_weight).relu()
        return self.flat(global_add_pool(x, batch) / 10).tanh()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """φ_fc(φ_gc(G))."""
        return self.head(self.embed(x, edge_index, batch, edge_weight))


@dataclass(frozen=True, eq=False)
class PlaneWorld:
    """A trained network and what is drawn of it.

    Attributes:
        model: The network.
        graphs: Training graphs.
        held: Held-out graphs.
        class_names: Names of the classes.
        points: [n, 2] embeddings of the training graphs.
        predictions: [n] their predicted classes.
        accuracy: Share of held-out graphs predicted as labelled.
    """

    model: PlaneNet
    graphs: list[Data]
    held: list[Data]
    class_names: tuple[str, ...]
    points: Tensor
    predictions: Tensor
    accuracy: float


def train(graphs: int = 300, epochs: int = 150, seed: int = 7) -> PlaneWorld:
    """Train the network.

    Args:
        graphs: Size of the dataset.
        epochs: Passes over the training graphs.
        seed: Of the data and the weights.

    Returns:
        The network and its embeddings.
    """
    data = rc.datasets.load("three-motifs", num_graphs=graphs, seed=0)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = PlaneNet(data.num_features, data.num_classes)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)
        for _ in range(epochs):
            for batch in DataLoader(data.subset("train"), batch_size=60, shuffle=True):
                loss = nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
    model.eval()
    points = embeddings(model, data.subset("train"))
    held = data.subset("test")
    with torch.no_grad():
        right = model.head(embeddings(model, held)).argmax(1) == torch.cat([graph.y for graph in held])
        predictions = model.head(points).argmax(1)
    return PlaneWorld(
        model, data.subset("train"), held, tuple(data.class_names), points, predictions, float(right.float().mean())
    )


@torch.no_grad()
def embeddings(model: PlaneNet, graphs: list[Data]) -> Tensor:
    """[n, 2] embeddings of graphs."""
    batch = next(iter(DataLoader(graphs, batch_size=len(graphs))))
    return model.embed(batch.x, batch.edge_index, batch.batch)
