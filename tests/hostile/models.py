"""Hostile networks beside those of `tests.zoo`: what they return, raise, read or hold is odd."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINEConv, GraphConv, global_add_pool, global_mean_pool

from tests.zoo.parts import FEATURES, HIDDEN

EDGE_FEATURES = 3
WHOLE = 30  # nodes of the graph that `NODE_MODELS` are for


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


class Named(NamedTuple):
    logits: Tensor
    hidden: Tensor


class NamedTuples(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return Named(logits, logits * 2)


class TwoHeads(Graphs):
    """Two predictions of one width."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits, logits.flip(1) * 3


class EmbeddingToo(Graphs):
    """An embedding beside the prediction, as wide or wider."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.last = nn.Linear(width, 2)

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return [logits, self.last(logits)]


class TwoNumberTypes(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits, logits.double()


class HalfOutputs(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return {"logits": logits, "probs": logits.softmax(1).half()}


class NaNBeside(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits, torch.full_like(logits, torch.nan)


class SparseToo(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits, logits.to_sparse()


class Sparse(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits.to_sparse()


class MetaToo(Graphs):
    """One of its values is on a device that holds no numbers."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits, logits.to("meta")


class Nested(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return (logits, {"hidden": logits * 2}), [logits.flip(1)]


class NoValues(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return ()


class OddNames(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return {0: logits, None: logits * 2, ("a", "b"): x}


class PredictionsOfOneName(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return {"logits": logits, "out": logits.flip(1), "probs": logits.softmax(1)}


class Moves(Graphs):
    """Its prediction stands elsewhere for small batches."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return (x.sum(), logits) if len(logits) > 2 else (logits, x.sum())


class SeveralSometimes(Graphs):
    """A tuple for many graphs, a tensor for one."""

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return (logits, logits.softmax(1)) if len(logits) > 1 else logits


class FewerColumns(Graphs):
    """Fewer classes for one graph than for many."""

    def __init__(self) -> None:
        super().__init__(4)

    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits if len(logits) > 1 else logits[:, :3]


class MoreRows(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return torch.cat([logits, logits[:1]])


class Random(Graphs):
    def out(self, logits: Tensor, x: Tensor) -> Any:
        return logits + torch.rand_like(logits)


class Counts(Graphs):
    """Remembers how often it was called."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def out(self, logits: Tensor, x: Tensor) -> Any:
        self.calls += 1
        return logits + self.calls


class Table(Graphs):
    """Adds rows of a table that is as long as one graph, or as the features say."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, FEATURES)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        return super().forward(x + self.table(torch.arange(len(x))), edge_index, batch)


class WholeTable(Graphs):
    """Reads all its rows whatever the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(12, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        return self.table.weight


class OfNoGraph(nn.Module):
    """Wide rows for labels of two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GraphConv(FEATURES, HIDDEN)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(self.first(x, edge_index), batch)


class Nodes(nn.Module):
    """A node classifier; subclasses change what comes out, or what it needs."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GraphConv(FEATURES, HIDDEN), GraphConv(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        hidden = self.second(self.first(x, edge_index).relu(), edge_index).relu()
        return self.out(self.head(hidden), hidden)

    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return logits


class NodesAndHidden(Nodes):
    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return hidden, logits


class TwoOfNodes(Nodes):
    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return logits, hidden[:, :2]


class NodesAndGraph(Nodes):
    """A prediction, and a row for the whole."""

    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return hidden.mean(0, keepdim=True), logits


class WholeAlone(Nodes):
    """Refuses parts of its graph, each time with another error."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__()
        self.error = error

    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        if len(logits) != WHOLE:
            raise self.error("not the whole graph")
        return logits


class NodeTable(Nodes):
    """A table with a row for each node of its graph."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(WHOLE, FEATURES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        return super().forward(x + self.table.weight, edge_index)


class NodeTableOnly(Nodes):
    """As before, and the features are not read at all."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(WHOLE, FEATURES)

    def forward(self, edge_index: Tensor) -> Any:
        return super().forward(self.table.weight, edge_index)


class NaNOnParts(Nodes):
    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return logits if len(logits) == WHOLE else logits * torch.nan


class OtherShapeOnParts(Nodes):
    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return logits if len(logits) == WHOLE else torch.cat([logits, logits], 1)


class NothingOnParts(Nodes):
    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return logits if len(logits) == WHOLE else None


class MovesOnParts(Nodes):
    def out(self, logits: Tensor, hidden: Tensor) -> Any:
        return {"logits" if len(logits) == WHOLE else "other": logits}


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
    "named tuples": NamedTuples,
    "two heads": TwoHeads,
    "embedding as wide": lambda: EmbeddingToo(2),
    "embedding wider": lambda: EmbeddingToo(5),
    "two number types": TwoNumberTypes,
    "half outputs": HalfOutputs,
    "NaN beside": NaNBeside,
    "sparse too": SparseToo,
    "sparse": Sparse,
    "meta too": MetaToo,
    "nested": Nested,
    "no values": NoValues,
    "odd names": OddNames,
    "predictions of one name": PredictionsOfOneName,
    "prediction moves": Moves,
    "several sometimes": SeveralSometimes,
    "fewer columns": FewerColumns,
    "more rows": MoreRows,
    "random": Random,
    "counts": Counts,
    "small table": lambda: Table(3),
    "large table": lambda: Table(5000),
    "whole table": WholeTable,
    "wide rows": OfNoGraph,
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
# Node classifiers, for a graph of `WHOLE` nodes.
NODE_MODELS: dict[str, Callable[[], nn.Module]] = {
    "plain": Nodes,
    "hidden too": NodesAndHidden,
    "two of nodes": TwoOfNodes,
    "a row of the graph too": NodesAndGraph,
    "a table": NodeTable,
    "a table alone": NodeTableOnly,
    "NaN on parts": NaNOnParts,
    "other shape on parts": OtherShapeOnParts,
    "nothing on parts": NothingOnParts,
    "moves on parts": MovesOnParts,
    **{
        f"{error.__name__} on parts": partial(WholeAlone, error)
        for error in (IndexError, KeyError, RuntimeError, ZeroDivisionError, NotImplementedError, AssertionError)
    },
}
# Of these, networks that are explained; the others are refused, or their answers are NaN.
EXPLAINABLE = (
    "plain", "five classes", "saturated", "saturated probabilities", "sometimes NaN", "sometimes raises", "tuples",
    "dicts", "weighted", "attributed", "in training mode", "hooks", "frozen",
    "named tuples", "two number types", "half outputs",
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


def drawn(draw: st.DrawFn, table: Mapping[str, Any]) -> tuple[str, Any]:
    """A model of a table of them, by name, with drawn weights; in evaluation mode unless its name says otherwise."""
    name = draw(st.sampled_from(sorted(table)))
    make = table[name]
    make = make[0] if isinstance(make, tuple) else make
    with torch.random.fork_rng():
        torch.manual_seed(draw(st.integers(0, 9)))
        model = make()
    if isinstance(model, nn.Module) and name != "in training mode":
        model.eval()
    return name, model
