"""Hostile networks beside those of `tests.zoo`: what they return, raise, read or hold is odd."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINEConv, GraphConv, global_add_pool, global_mean_pool

from tests.zoo.parts import FEATURES, HIDDEN

EDGE_FEATURES = 3


class Graphs(nn.Module):
    """Two layers, a pool, a head; subclasses change what comes out."""

    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.first, self.second = GraphConv(FEATURES, HIDDEN), GraphConv(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        hidden = self.second(self.first(x, edge_index).relu(), edge_index).relu()
        return self.out(self.head(global_add_pool(hidden, batch)), x)

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits


class Saturated(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits * 1e6


class SaturatedProbabilities(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return (logits * 1e4).softmax(-1)


class AlwaysNaN(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits * torch.nan


class SometimesNaN(Graphs):
    """For graphs whose logits are low."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return torch.where(logits.sum(1, keepdim=True) < -5, torch.nan, logits)


class Infinite(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return torch.where(logits > 0, torch.inf, logits)


class Raises(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        raise KeyError("out of luck")


class SometimesRaises(Graphs):
    """On graphs with an extreme feature, alone and in company."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        if float(x.detach().abs().max()) > 2.3:
            raise ZeroDivisionError("an extreme feature")
        return logits


class Whole(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits.long()


class Classes(Graphs):
    """Returns classes, not scores of classes."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits.argmax(-1)


class Constant(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return torch.zeros_like(logits) + torch.tensor([1.0, 0.0])


class Tuples(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits, logits.softmax(-1), x


class Dicts(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return {"logits": logits, "loss": None}


class Nothing(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return None


class Text(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return "mutagen"


class Deep(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits[None, None]


class Complex(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits.to(torch.complex64)


class OfNodes(Graphs):
    """Returns a row for each node, though asked about graphs."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return x[:, :2]


class NoClasses(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits[:, :0]


class Detached(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return torch.tensor(logits.tolist())


class Weighted(nn.Module):
    """Reads the graph's weights."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, HIDDEN), GCNConv(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        hidden = self.first(x, edge_index, edge_weight).relu()
        return self.head(global_mean_pool(self.second(hidden, edge_index, edge_weight).relu(), batch))


class Attributed(nn.Module):
    """Reads the graph's edge attributes, and needs them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GINEConv(nn.Linear(FEATURES, HIDDEN), edge_dim=EDGE_FEATURES)
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_add_pool(self.first(x, edge_index, edge_attr).relu(), batch))


class NoParameters(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        spread = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return global_add_pool(spread, batch)[:, :2]


class IgnoresEdges(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(FEATURES, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_add_pool(x, batch))


class Plain(nn.Module):
    """Not a network of graphs at all."""

    def forward(self, x: Tensor) -> Tensor:
        return x


def _nan_weights() -> nn.Module:
    model = Graphs()
    with torch.no_grad():
        model.first.lin_rel.weight[0, 0] = torch.nan
    return model


def _hooked() -> nn.Module:
    model = Graphs()
    model.first.register_forward_hook(lambda module, given, found: found)
    return model


MODELS: dict[str, Callable[[], Any]] = {
    "plain": Graphs,
    "five classes": lambda: Graphs(5),
    "one class": lambda: Graphs(1),
    "saturated": Saturated,
    "saturated probabilities": SaturatedProbabilities,
    "NaN": AlwaysNaN,
    "sometimes NaN": SometimesNaN,
    "infinite": Infinite,
    "raises": Raises,
    "sometimes raises": SometimesRaises,
    "whole numbers": Whole,
    "classes": Classes,
    "constant": Constant,
    "tuples": Tuples,
    "dicts": Dicts,
    "nothing": Nothing,
    "text": Text,
    "deep": Deep,
    "complex": Complex,
    "of nodes": OfNodes,
    "no classes": NoClasses,
    "detached": Detached,
    "weighted": Weighted,
    "attributed": Attributed,
    "no parameters": NoParameters,
    "ignores edges": IgnoresEdges,
    "no network": Plain,
    "NaN weights": _nan_weights,
    "hooks": _hooked,
    "in training mode": lambda: Graphs().train(),
    "double": lambda: Graphs().double(),
    "half": lambda: Graphs().half(),
    "on no device": lambda: Graphs().to("meta"),
    "frozen": lambda: Graphs().requires_grad_(False),
    "a linear layer": lambda: nn.Linear(FEATURES, 2),
    "an empty module": nn.Module,
    "no module": lambda: "model",
    "a function": lambda: lambda x, edge_index, batch: x,
    "None": lambda: None,
    "a class": lambda: Graphs,
}
# Of these, networks that are explained; the others are refused, or their answers are NaN.
EXPLAINABLE = (
    "plain", "five classes", "saturated", "saturated probabilities", "sometimes NaN", "sometimes raises", "tuples",
    "dicts", "weighted", "attributed", "in training mode", "hooks", "frozen",
)  # fmt: skip


@torch.no_grad()
def logits(model: nn.Module, graph: Data) -> Tensor:
    """[C] what a network of this page says of one graph, called directly."""
    batch = torch.zeros(len(graph.x), dtype=torch.long)
    given = [graph.x, graph.edge_index, batch]
    if isinstance(model, Attributed):
        given.insert(2, graph.edge_attr)
    elif isinstance(model, Weighted) and isinstance(graph.get("edge_weight"), Tensor):
        given.append(graph.edge_weight)
    was = model.training
    try:
        found = model.eval()(*given)
    finally:
        model.train(was)
    found = found[0] if isinstance(found, tuple) else found["logits"] if isinstance(found, dict) else found
    return found[0]
