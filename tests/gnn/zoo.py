"""Models as users write them: one class for each style that the library must be able to split."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    APPNP,
    GATConv,
    GCNConv,
    GINConv,
    JumpingKnowledge,
    MessagePassing,
    SAGEConv,
    TopKPooling,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.nn.models import GIN

FEATURES, EDGE_FEATURES, CLASSES = 5, 3, 3


class GCNLinear(nn.Module):
    def __init__(self, classes: int = CLASSES) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, 16), GCNConv(16, 16)
        self.lin = nn.Linear(16, classes)

    def forward(self, x, edge_index, batch):
        x = self.conv1(x, edge_index).relu()
        x = self.conv2(x, edge_index).relu()
        return self.lin(global_mean_pool(x, batch))


class GINDeepHead(nn.Module):
    """Batch norm, and functional ReLU and dropout between the two Linears of its head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = GINConv(nn.Sequential(nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 16)))
        self.conv2 = GINConv(nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 16)))
        self.norm = nn.BatchNorm1d(16)
        self.lin1, self.lin2 = nn.Linear(16, 16), nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch):
        x = self.conv1(x, edge_index).relu()
        x = self.norm(self.conv2(x, edge_index)).relu()
        x = global_add_pool(x, batch)
        x = F.relu(self.lin1(x))
        x = F.dropout(x, p=0.5, training=self.training)
        return self.lin2(x)


class GATEdgeAttr(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = GATConv(FEATURES, 8, heads=2, edge_dim=EDGE_FEATURES)
        self.conv2 = GATConv(16, 8, heads=2, edge_dim=EDGE_FEATURES)
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, edge_attr, batch):
        x = self.conv1(x, edge_index, edge_attr=edge_attr).relu()
        x = self.conv2(x, edge_index, edge_attr=edge_attr).relu()
        return self.lin(global_max_pool(x, batch))


class SAGE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = SAGEConv(FEATURES, 16), SAGEConv(16, 16)
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch):
        x = self.conv1(x, edge_index).relu()
        return self.lin(global_max_pool(self.conv2(x, edge_index).relu(), batch))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = TransformerConv(FEATURES, 8, heads=2, edge_dim=EDGE_FEATURES)
        self.lin = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, CLASSES))

    def forward(self, x, edge_index, edge_attr, batch):
        return self.lin(global_mean_pool(self.conv1(x, edge_index, edge_attr), batch))


class TakesData(GCNLinear):
    """Called as model(data)."""

    def forward(self, data):
        return super().forward(data.x, data.edge_index, data.batch)


class TakesAnnotatedData(GCNLinear):
    def forward(self, sample: Data):
        return super().forward(sample.x, sample.edge_index, sample.batch)


class ReturnsTuple(GCNLinear):
    """Node embeddings first, logits second, probabilities third."""

    def forward(self, x, edge_index, batch):
        x = self.conv2(self.conv1(x, edge_index).relu(), edge_index)
        logits = self.lin(global_mean_pool(x, batch))
        return x, logits, logits.softmax(-1)


class ReturnsDict(GCNLinear):
    def forward(self, x, edge_index, batch):
        return {"logits": super().forward(x, edge_index, batch)}


class Jumping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, 16), GCNConv(16, 16)
        self.jump = JumpingKnowledge("cat")
        self.after = nn.Linear(32, 16)
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch):
        one = self.conv1(x, edge_index).relu()
        two = self.conv2(one, edge_index).relu()
        x = self.after(self.jump([one, two])).relu()
        return self.lin(global_mean_pool(x, batch))


class PyGsGIN(nn.Module):
    """`torch_geometric.nn.models.GIN` takes `edge_weight` and silently ignores it."""

    def __init__(self) -> None:
        super().__init__()
        self.gnn = GIN(FEATURES, 16, num_layers=2, out_channels=16, norm="batch_norm", jk="cat")
        self.classify = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch, edge_weight=None):
        return self.classify(global_add_pool(self.gnn(x, edge_index, edge_weight=edge_weight), batch))


class LogSoftmax(GCNLinear):
    def forward(self, x, edge_index, batch):
        return F.log_softmax(super().forward(x, edge_index, batch), dim=-1)


class Softmax(GCNLinear):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).softmax(-1)


class TwoLogits(GCNLinear):
    def __init__(self) -> None:
        super().__init__(classes=2)


class OneLogit(GCNLinear):
    """Binary: one number per graph, without a column of its own."""

    def __init__(self) -> None:
        super().__init__(classes=1)

    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).squeeze(-1)


class OneProbability(OneLogit):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).sigmoid()


class MultiLabel(GCNLinear):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).sigmoid()


class Weighted(nn.Module):
    """Takes the graph's `edge_weight`."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, 16), GCNConv(16, 16)
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch, edge_weight=None):
        x = self.conv1(x, edge_index, edge_weight).relu()
        return self.lin(global_mean_pool(self.conv2(x, edge_index, edge_weight).relu(), batch))


class HalfWeighted(Weighted):
    """Hands `edge_weight` to its first layer only: weight 0 is then no deletion, a hook on both layers is."""

    def forward(self, x, edge_index, batch, edge_weight=None):
        x = self.conv1(x, edge_index, edge_weight).relu()
        return self.lin(global_mean_pool(self.conv2(x, edge_index).relu(), batch))


class Cached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = GCNConv(FEATURES, 16, cached=True)
        self.conv2 = GCNConv(16, 16, cached=True)
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index):
        return self.lin(self.conv2(self.conv1(x, edge_index).relu(), edge_index).relu())


class NodeClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = SAGEConv(FEATURES, 16, aggr="add"), SAGEConv(16, 16, aggr="add")
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index):
        return self.lin(self.conv2(self.conv1(x, edge_index).relu(), edge_index).relu())


class KipfGCN(nn.Module):
    """No module after the last convolution: its own output is the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, 16), GCNConv(16, CLASSES)

    def forward(self, x, edge_index):
        return F.log_softmax(self.conv2(self.conv1(x, edge_index).relu(), edge_index), dim=1)


class Propagated(nn.Module):
    """APPNP: ten rounds of message passing in one module, with the Linears before them."""

    def __init__(self) -> None:
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(FEATURES, 16), nn.Linear(16, CLASSES)
        self.prop = APPNP(K=10, alpha=0.1)

    def forward(self, x, edge_index):
        return self.prop(self.lin2(self.lin1(x).relu()), edge_index)


class Pooling(nn.Module):
    """Coarsens the graph between its layers: the second one sees other nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, 16), GCNConv(16, 16)
        self.pool = TopKPooling(16, ratio=0.8)
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch):
        x = self.conv1(x, edge_index).relu()
        x, edge_index, _, batch, _, _ = self.pool(x, edge_index, batch=batch)
        return self.lin(global_mean_pool(self.conv2(x, edge_index).relu(), batch))


class ByHand(nn.Module):
    """Message passing without PyG's layers."""

    def __init__(self) -> None:
        super().__init__()
        self.lin1, self.lin2, self.out = nn.Linear(FEATURES, 16), nn.Linear(16, 16), nn.Linear(16, CLASSES)

    def spread(self, x: Tensor, edge_index: Tensor, weight: Tensor | None) -> Tensor:
        messages = x[edge_index[0]] if weight is None else x[edge_index[0]] * weight[:, None]
        return x + torch.zeros_like(x).index_add(0, edge_index[1], messages)

    def forward(self, x, edge_index, batch, edge_weight=None):
        x = self.lin1(self.spread(x, edge_index, edge_weight)).relu()
        x = self.lin2(self.spread(x, edge_index, edge_weight)).relu()
        return self.out(global_mean_pool(x, batch))


class NoMessagePassing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(FEATURES, 16), nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch):
        return self.lin2(global_mean_pool(self.lin1(x).relu(), batch))


class SkipsHead(GCNLinear):
    """What follows `lin` also reads the embedding past it: it cannot be split there."""

    def forward(self, x, edge_index, batch):
        pooled = global_mean_pool(self.conv2(self.conv1(x, edge_index).relu(), edge_index), batch)
        return self.lin(pooled) + 3 * pooled[:, :CLASSES]


class UnusualCall(GCNLinear):
    def forward(self, adjacency, attributes, owner):
        return super().forward(attributes, adjacency, owner)


class Raising(GCNLinear):
    """Fails in the middle, after it has left traces."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.history: list[int] = []
        self.fail = False

    def forward(self, x, edge_index, batch):
        self.calls += 1
        self.history.append(1)
        self.last_batch = batch
        x = self.conv1(x, edge_index)
        if self.fail:
            raise RuntimeError("out of luck")
        return self.lin(global_mean_pool(self.conv2(x, edge_index).relu(), batch))


class DirectedSum(MessagePassing):
    """A layer of the user's own, without `edge_weight`."""

    def __init__(self) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(FEATURES, 16)

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=self.lin(x))

    def message(self, x_j):
        return x_j.relu()


class OwnLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = DirectedSum()
        self.lin = nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch):
        return self.lin(global_mean_pool(self.conv(x, edge_index), batch))


class Conv(nn.Module):
    """One layer of any kind that takes `edge_weight`, then a Linear."""

    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv, self.lin = conv, nn.Linear(16, CLASSES)

    def forward(self, x, edge_index, batch, edge_weight=None):
        return self.lin(global_mean_pool(self.conv(x, edge_index, edge_weight).relu(), batch))


class EmbeddingThenLogits(KipfGCN):
    """Two tensors with one row per node: which is the prediction?"""

    def forward(self, x, edge_index):
        hidden = self.conv1(x, edge_index).relu()
        return hidden, self.conv2(hidden, edge_index)


class NamedLogits(EmbeddingThenLogits):
    def forward(self, x, edge_index):
        hidden, logits = super().forward(x, edge_index)
        return {"hidden": hidden, "logits": logits}


class InPlaceHead(GCNLinear):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Sequential(nn.ELU(inplace=True), nn.Linear(16, CLASSES))

    def forward(self, x, edge_index, batch):
        return self.lin(global_mean_pool(self.conv2(self.conv1(x, edge_index).relu(), edge_index), batch))


class SizeDependent(GCNLinear):
    """Its output is scaled by the size of the graph, behind the back of the head."""

    def forward(self, x, edge_index, batch):
        sizes = torch.bincount(batch).float()
        return super().forward(x, edge_index, batch) * sizes.mean()


class AlwaysDropout(GCNLinear):
    def forward(self, x, edge_index, batch):
        return F.dropout(super().forward(x, edge_index, batch), 0.5)


class HandmadeSoftmax(GCNLinear):
    def forward(self, x, edge_index, batch):
        z = super().forward(x, edge_index, batch).exp()
        return z / z.sum(1, keepdim=True)


class OptionalEdgeAttr(GCNLinear):
    """Offers `edge_attr` but was not built for it, as PyG's own models do."""

    def forward(self, x, edge_index, batch, edge_attr=None):
        if edge_attr is not None:
            raise AttributeError("no edge encoder")
        return super().forward(x, edge_index, batch)


class TinyEffect(SAGE):
    """The class is nearly always the same, but edges do move the output."""

    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.lin.weight.mul_(1e-3)


class NeedsEdges(GCNLinear):
    def forward(self, x, edge_index, batch):
        assert edge_index.numel(), "no edges at all"
        return super().forward(x, edge_index, batch)


@torch.no_grad()
def balance(head: nn.Linear, logits: Tensor) -> None:
    """Shift the boundary of an untrained network: half of the instances fall on either side."""
    head.bias[0] -= (logits[:, 0] - logits[:, 1]).median()
