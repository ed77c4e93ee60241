"""What the examples of docs/errors.md work on: small networks, graphs, and explainers fitted to them."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv, global_mean_pool

import rcexplainer as rc


class GraphNet(nn.Module):
    """A graph classifier of 3 features and 2 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.lin = GCNConv(3, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.lin(global_mean_pool(self.conv(x, edge_index).relu(), batch))


class ThreeOutputs(GraphNet):
    """Returns the embeddings of nodes and graphs with its prediction."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        nodes = self.conv(x, edge_index).relu()
        pooled = global_mean_pool(nodes, batch)
        return nodes, pooled, self.lin(pooled)


class Regression(GraphNet):
    """Returns one number."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch)[:, :1]


class NoEdges(GraphNet):
    """Reads no edge."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.lin(global_mean_pool(self.conv.lin(x), batch))


class Dropout(GraphNet):
    """Is random also in evaluation mode."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(nn.functional.dropout(x), edge_index, batch)


class NodeNet(nn.Module):
    """A node classifier of 3 features and 2 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.lin = GCNConv(3, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.lin(self.conv(x, edge_index).relu())


class TableNet(NodeNet):
    """Has a row of its own for each of 20 nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(self.table.weight, edge_index)


def random_graph(nodes: int, label: list[int]) -> Data:
    """A ring with a chord, and random features."""
    ring = torch.arange(nodes)
    half = torch.stack([torch.cat([ring, ring[:1]]), torch.cat([ring.roll(-1), ring[2:3]])])
    return Data(x=torch.randn(nodes, 3), edge_index=torch.cat([half, half.flip(0)], 1), y=torch.tensor(label))


def balanced(model: GraphNet, graphs: list[Data]) -> GraphNet:
    """The model with its bias moved, so that it predicts either class for half of the graphs."""
    ones = [torch.zeros(graph.num_nodes, dtype=torch.long) for graph in graphs]
    with torch.no_grad():
        logits = torch.cat([model(graph.x, graph.edge_index, one) for graph, one in zip(graphs, ones, strict=True)])
        model.lin.bias[0] += (logits[:, 1] - logits[:, 0]).median() + 1e-4
    return model


def namespace() -> dict[str, Any]:
    """The names that the examples use."""
    torch.manual_seed(0)
    graphs = [random_graph(6 + place % 4, [place % 2]) for place in range(12)]
    graph = random_graph(20, [place % 2 for place in range(20)])
    hetero = HeteroData()
    hetero["atom"].x = torch.randn(3, 3)
    model, node_model = balanced(GraphNet(), graphs), NodeNet()
    names = ["inactive", "active"]
    explainer = rc.RCExplainer(epochs=2, on_collapse="report")
    Path("model.pt").write_bytes(b"weights")
    Path("labels.csv").write_text("name,toxic\nwater,0\nethanol,1\n", encoding="utf-8")
    return {
        "rc": rc, "torch": torch, "Data": Data, "GraphNet": GraphNet, "ThreeOutputs": ThreeOutputs,
        "Regression": Regression, "NoEdges": NoEdges, "Dropout": Dropout, "NodeNet": NodeNet, "TableNet": TableNet,
        "graphs": graphs, "graph": graph, "hetero": hetero, "model": model, "node_model": node_model,
        "fitted": explainer.fit(model, graphs, class_names=names, progress=False),
        "fitted_nodes": rc.baselines.Occlusion(task="node").fit(node_model, graph, progress=False),
    }  # fmt: skip
