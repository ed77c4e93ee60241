"""Fitted explainers that many hostile cases share: at most 50, each made when it is first asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_graphs import FEATURES as LINK_FEATURES
from rcexplainer.testing.sample_graphs import whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, centre
from tests.hostile import models
from tests.hostile.watch import Ask, parted
from tests.zoo import graph_models, node_models
from tests.zoo.parts import FEATURES
from tests.zoo.test_node_claims import to_ask

METHODS: tuple[Callable[..., Any], ...] = (
    rc.baselines.Occlusion,
    rc.baselines.Random,
    rc.baselines.Gradient,
    rc.baselines.GreedyDeletion,
    lambda **how: rc.RCExplainer(epochs=1, teacher_limit=20, **how),
)
PAIRS = [(0, 5), (1, 7), (2, 9), (3, 11), (4, 8), (6, 10)]


@dataclass(frozen=True, eq=False)
class Pooled:
    """A fitted explainer, its model, and how to ask the model alone."""

    name: str
    fitted: FittedExplainer
    model: nn.Module
    graphs: list[Data]
    ask: Ask
    features: int = FEATURES
    edge_features: int = 0

    @property
    def task(self) -> str:
        return self.fitted.split.task


def _specs() -> list[tuple[str, str, int]]:
    """(task, model, method) of every explainer."""
    zoo = [("zoo", name, place % 4) for place, name in enumerate(graph_models.EXPLAINED)]
    own = [("own", name, place % 5) for place, name in enumerate(models.EXPLAINABLE)]
    nodes = [
        ("node", name, 4 if place < 2 else place % 4) for place, name in enumerate(node_models.EXPLAINED) if place < 5
    ]
    trained = [("own", "five classes", 4), ("own", "weighted", 4), ("own", "plain", 4), ("zoo", "plain", 4)]
    return [*zoo, *own, *nodes, *trained, ("link", "gcn", 0), ("link", "graphconv", 2)]


SPECS = _specs()
assert len(SPECS) <= 50


@torch.no_grad()
def _zoo_logits(model: nn.Module, one: Explanation, stays: Tensor) -> Tensor:
    left = Data(x=one.graph.x.detach().clone(), edge_index=one.graph.edge_index[:, stays].clone())
    batch = torch.zeros(len(left.x), dtype=torch.long)
    if getattr(model, "takes_data", False):
        return model(Batch.from_data_list([left]))[0]
    if one.index is None:
        return model(left.x, left.edge_index, batch)[0]
    return model(left.x, left.edge_index)[one.index]


@torch.no_grad()
def _link_logits(model: nn.Module, one: Explanation, stays: Tensor) -> Tensor:
    return model(one.graph.x, one.graph.edge_index[:, stays], torch.tensor(one.index)[:, None])[0]


@cache
def pooled(number: int) -> Pooled | None:
    """The explainer with this number; None if the model is refused."""
    kind, name, method = SPECS[number]
    make = METHODS[method]
    try:
        if kind == "link":
            graph, net = whole_graph(), LinkNetwork(name, PAIRS)  # type: ignore[arg-type]
            fitted = make(task="link").fit(net, graph, index=PAIRS, progress=False)
            return Pooled(
                name, fitted, net, [graph], lambda one, stays: _link_logits(net, one, stays), LINK_FEATURES, 3
            )
        if kind == "node":
            graph = node_models.graph(40)
            net = node_models.balanced(graph_models.built(node_models.EXPLAINED[name]), graph)
            fitted = make(task="node").fit(net, graph, index=list(range(20)), progress=False)
            return Pooled(name, fitted, net, [graph], lambda one, stays: _zoo_logits(to_ask(net), one, stays))
        graphs = [graph.clone() for graph in graph_models.graphs(24)]
        if kind == "zoo":
            net = graph_models.balanced(graph_models.built(graph_models.EXPLAINED[name]), graph_models.graphs(24))
            fitted = make().fit(net, graphs, progress=False)
            return Pooled(name, fitted, net, graphs, lambda one, stays: _zoo_logits(net, one, stays))
        return _own(name, make, graphs)
    except RCExplainerError:
        return None


def _finite(model: nn.Module, graph: Data) -> Tensor | None:
    """What the model says of a graph, if it does."""
    try:
        found = models.logits(model, graph)
    except ZeroDivisionError:
        return None
    return found if bool(found.isfinite().all()) else None


def _own(name: str, make: Callable[..., Any], graphs: list[Data]) -> Pooled:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = models.MODELS[name]()
    width = 0
    for graph in graphs:
        if name == "attributed":
            width = models.EDGE_FEATURES
            graph.edge_attr = torch.randn(graph.num_edges, width, generator=torch.Generator().manual_seed(1))
        if name == "weighted":
            graph.edge_weight = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(1))
    centre(model.head, torch.stack([row for graph in graphs if (row := _finite(model, graph)) is not None]))
    graphs = [graph for graph in graphs if _finite(model, graph) is not None]
    how = {"target_class": "each"} if name == "five classes" and make is METHODS[4] else {}
    if name not in ("in training mode",):
        model.eval()
    fitted = make(**how).fit(model, graphs, progress=False)
    return Pooled(
        name, fitted, model, graphs, lambda one, stays: models.logits(model, parted(one.graph, stays)), FEATURES, width
    )
