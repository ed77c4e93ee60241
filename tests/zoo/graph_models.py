"""Graph classifiers that mix a batch, remember calls or write to their input, beside well-behaved ones of each kind."""

from collections.abc import Callable
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    DiffGroupNorm,
    GraphConv,
    GraphNorm,
    InstanceNorm,
    LayerNorm,
    MeanSubtractionNorm,
    PairNorm,
    TopKPooling,
    global_add_pool,
)
from torch_geometric.utils import to_dense_adj, to_dense_batch

from tests.zoo.parts import (
    FEATURES,
    HIDDEN,
    AcrossGraphs,
    ContentCache,
    EverySecondCall,
    NestedCache,
    OverMaximum,
    OwnGenerator,
    Plain,
    PreviousBatch,
    Recording,
    Reseeding,
    RunningMean,
    ShapeCache,
    StuckInTraining,
    Token,
    TrainsInForward,
    Using,
    outside_cache,
)


class Net(nn.Module):
    """Two layers, something between them, a sum over nodes, something after it, a head."""

    def __init__(self, between: nn.Module | None = None, after: nn.Module | None = None) -> None:
        super().__init__()
        self.first, self.second = GraphConv(FEATURES, HIDDEN), GraphConv(HIDDEN, HIDDEN)
        self.between, self.after = between or Plain(), after or Plain()
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.between(self.first(x, edge_index), batch).relu()
        x = self.second(x, edge_index).relu()
        return self.head(self.after(global_add_pool(x, batch), batch))


class NormalisedByDegree(Net):
    """Divides the first layer's output by degrees, which a cache may have from another graph."""

    def __init__(self, degrees: nn.Module) -> None:
        super().__init__()
        self.degrees = degrees

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.first(x, edge_index) * self.degrees(x, edge_index)[:, None]
        return self.head(global_add_pool(self.second(x.relu(), edge_index).relu(), batch))


# ---- order


class Sorting(Net):
    """Runs graphs from the smallest to the largest, by nodes, and may forget to put them back."""

    def __init__(self, puts_back: bool) -> None:
        super().__init__()
        self.puts_back = puts_back

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        order = torch.bincount(batch).argsort(stable=True)
        found = super().forward(x, edge_index, batch)[order]
        return found[order.argsort()] if self.puts_back else found


class SortingByEdges(Net):
    """Returns its rows by their number of edges."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        edges = torch.bincount(batch[edge_index[0]], minlength=int(batch.max()) + 1)
        return super().forward(x, edge_index, batch)[edges.argsort(stable=True)]


class SoftmaxOverBatch(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch).log_softmax(0)


class SizeOfBatch(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch) - (batch.max() + 1) / 8 * torch.tensor([1.0, 0.0])


# ---- writes to what it is given, or returns memory it uses again


class WritesFeatures(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x *= 1.5
        return super().forward(x, edge_index, batch)


class WithoutAutograd(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        with torch.inference_mode():
            return super().forward(x, edge_index, batch)


class WritesEdges(Net):
    """Reverses all edges in place."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        edge_index.copy_(edge_index.flip(0))
        return super().forward(x, edge_index, batch)


class ReplacesAttributes(Net):
    takes_data = True

    def forward(self, data: Data) -> Tensor:
        data.x = self.first(data.x, data.edge_index).relu()
        data.x = self.second(data.x, data.edge_index).relu()
        return self.head(global_add_pool(data.x, data.batch))


class ReturnsItsMemory(Net):
    """Every call writes its answers to the same memory, inside the module or outside of it."""

    def __init__(self, inside: bool) -> None:
        super().__init__()
        memory = torch.zeros(20000, 2)
        if inside:
            self.register_buffer("memory", memory)
        self.where = (lambda: self.memory) if inside else (lambda: memory)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        found = super().forward(x, edge_index, batch)
        place = self.where()[: len(found)]
        place.copy_(found.detach())
        return place


# ---- layers written by hand


class IndexAdd(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        for layer in (self.first, self.second):
            spread = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            x = (layer.lin_root(x) + layer.lin_rel(spread)).relu()
        return self.head(global_add_pool(x, batch))


class Dense(nn.Module):
    """A dense adjacency matrix, padded to the largest graph; no module has a row per node."""

    def __init__(self, masked: bool) -> None:
        super().__init__()
        self.masked, self.first, self.head = masked, nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        size = int(batch.max()) + 1
        inside, real = to_dense_batch(x, batch, batch_size=size)
        adjacency = to_dense_adj(edge_index, batch, max_num_nodes=inside.size(1), batch_size=size)
        hidden = self.first(inside + adjacency @ inside).relu()
        if self.masked:
            hidden = hidden * real[..., None]
        return self.head(hidden.sum(1) if self.masked else hidden.mean(1))


class TopK(Net):
    def __init__(self) -> None:
        super().__init__()
        self.pool = TopKPooling(HIDDEN, ratio=0.7)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.first(x, edge_index).relu()
        x, edge_index, _, batch, _, _ = self.pool(x, edge_index, batch=batch)
        return self.head(global_add_pool(self.second(x, edge_index).relu(), batch))


EXPLAINED: dict[str, Callable[[], nn.Module]] = {
    "plain": Net,
    "batch norm": lambda: Net(Using(nn.BatchNorm1d(HIDDEN))),
    "graph norm, batch": lambda: Net(Using(GraphNorm(HIDDEN), True)),
    "pair norm, batch": lambda: Net(Using(PairNorm(), True)),
    "instance norm, batch": lambda: Net(Using(InstanceNorm(HIDDEN), True)),
    "layer norm, batch": lambda: Net(Using(LayerNorm(HIDDEN), True)),
    "layer norm, nodes": lambda: Net(Using(LayerNorm(HIDDEN, mode="node"))),
    "mean subtraction, batch": lambda: Net(Using(MeanSubtractionNorm(), True)),
    "group norm": lambda: Net(Using(DiffGroupNorm(HIDDEN, 2))),
    "token for each graph": lambda: Net(Token(shared=False)),
    "dropout": lambda: Net(Using(nn.Dropout(0.5))),
    "cache keyed by content": lambda: NormalisedByDegree(ContentCache()),
    "leaves traces": lambda: Net(Recording()),
    "sorts and puts back": lambda: Sorting(puts_back=True),
    "writes to features": WritesFeatures,
    "without autograd": WithoutAutograd,
    "writes to edges": WritesEdges,
    "replaces attributes": ReplacesAttributes,
    "returns its memory": lambda: ReturnsItsMemory(inside=True),
    "returns memory from outside": lambda: ReturnsItsMemory(inside=False),
    "index_add": IndexAdd,
    "dense adjacency": lambda: Dense(masked=True),
    "top-k pooling": TopK,
}
REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "batch norm in training mode": (lambda: Net(Using(StuckInTraining(HIDDEN))), "mixes the graphs of a batch"),
    "trains in forward": (lambda: Net(TrainsInForward()), "mixes the graphs of a batch"),
    "batch norm after pooling": (lambda: Net(after=Using(StuckInTraining(HIDDEN))), "raised on a graph alone"),
    "no running statistics": (
        lambda: Net(Using(nn.BatchNorm1d(HIDDEN, track_running_stats=False))),
        "mixes the graphs of a batch",
    ),
    "graph norm": (lambda: Net(Using(GraphNorm(HIDDEN))), "mixes the graphs of a batch"),
    "pair norm": (lambda: Net(Using(PairNorm())), "mixes the graphs of a batch"),
    "instance norm": (lambda: Net(Using(InstanceNorm(HIDDEN))), "mixes the graphs of a batch"),
    "layer norm": (lambda: Net(Using(LayerNorm(HIDDEN))), "mixes the graphs of a batch"),
    "mean subtraction": (lambda: Net(Using(MeanSubtractionNorm())), "mixes the graphs of a batch"),
    "group norm of the batch": (
        lambda: Net(Using(DiffGroupNorm(HIDDEN, 2, track_running_stats=False))),
        "mixes the graphs of a batch",
    ),
    "largest of the batch": (lambda: Net(OverMaximum()), "mixes the graphs of a batch"),
    "token for the batch": (lambda: Net(Token(shared=True)), "mixes the graphs of a batch"),
    "attention across graphs": (lambda: Net(after=AcrossGraphs()), "mixes the graphs of a batch"),
    "cache keyed by shape": (lambda: NormalisedByDegree(ShapeCache()), "keeps state from one call to the next"),
    "cache outside": (lambda: NormalisedByDegree(outside_cache()), "keeps state|mixes the graphs of a batch"),
    "nested cache": (lambda: NormalisedByDegree(NestedCache()), "keeps state|mixes the graphs of a batch"),
    "running mean": (lambda: Net(RunningMean()), "random in evaluation mode|keeps state"),
    "every second call": (lambda: Net(EverySecondCall()), "random in evaluation mode|keeps state"),
    "previous batch": (lambda: Net(PreviousBatch()), "random in evaluation mode|keeps state"),
    "dropout that ignores eval": (lambda: Net(Using(lambda x: F.dropout(x, 0.5))), "random in evaluation mode"),
    "rare dropout": (lambda: Net(Using(lambda x: F.dropout(x, 1e-6))), "random in evaluation mode"),
    "reseeds": (lambda: Net(Reseeding()), "mixes the graphs of a batch"),
    "own generator": (lambda: Net(OwnGenerator()), "random in evaluation mode"),
    "sorts": (lambda: Sorting(puts_back=False), "mixes the graphs of a batch"),
    "sorts by edges": (SortingByEdges, "mixes the graphs of a batch"),
    "softmax over the batch": (SoftmaxOverBatch, "mixes the graphs of a batch|several numbers"),
    "size of the batch": (SizeOfBatch, "mixes the graphs of a batch"),
    "padding": (lambda: Dense(masked=False), "mixes the graphs of a batch"),
}


@cache
def graphs(count: int = 120, seed: int = 0) -> tuple[Data, ...]:
    """Connected-ish undirected graphs of 5 to 9 nodes, without labels."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for place in range(count):
        nodes = 5 + place % 5
        pairs = torch.triu_indices(nodes, nodes, 1)
        chosen = pairs[:, torch.rand(pairs.size(1), generator=generator) < 0.4]
        if not chosen.numel():
            chosen = pairs[:, :1]
        edges = torch.cat([chosen, chosen.flip(0)], 1)
        made.append(Data(x=torch.randn(nodes, FEATURES, generator=generator) + 0.5, edge_index=edges))
    return tuple(made)


def built(make: Callable[[], nn.Module], seed: int = 0) -> nn.Module:
    """The model with seeded weights, in evaluation mode."""
    torch.manual_seed(seed)
    return make().eval()


@torch.no_grad()
def balanced(model: nn.Module, some: tuple[Data, ...]) -> nn.Module:
    """Shift the boundary so that half of the graphs fall on either side, each of them run alone."""
    rows = []
    for graph in some:
        batch = Batch.from_data_list([graph])
        takes = getattr(model, "takes_data", False)
        rows.append((model(batch) if takes else model(batch.x, batch.edge_index, batch.batch)).clone())
    logits = torch.cat(rows)
    model.head.bias[0] -= middle(logits[:, 0] - logits[:, 1])
    return model


def middle(values: Tensor) -> Tensor:
    """Between the two middle values: none of an even number of values lies on it."""
    ordered, half = values.sort().values, len(values) // 2
    return (ordered[half - 1] + ordered[half]) / 2
