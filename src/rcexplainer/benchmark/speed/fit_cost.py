"""Fits beside training steps of the GNN that is explained.

    graphs         molecules: the training part of the set, or fewer (`--graphs`)
    nodes          1,000 nodes of a random graph with 50,000 nodes and 300,000 edges, a SAGE network
    ba-community   all motif nodes of BA-Community, the paper's network

A training step of the GNN is one at batch 128, for nodes one on the whole graph. The phases of a fit are told by its
progress bars.
"""

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from rcexplainer import datasets, gnn
from rcexplainer.benchmark.speed.clock import in_turns
from rcexplainer.benchmark.speed.kept import kept_network
from rcexplainer.benchmark.speed.large_graph import large_graph, sage, some_nodes
from rcexplainer.benchmark.speed.molecules import Molecules, one_batch, training_step
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.benchmark.speed.phases import phases
from rcexplainer.explainer import RCExplainer

BATCH, NODES = 128, 1000
STEPS = 10  # turns in which the training step of the GNN is timed


def fit_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Seconds of a fit with the defaults, its phases, and the same in training steps of the GNN."""
    parts: dict[str, Callable[[BenchOptions], dict[str, Any]]] = {
        "graphs": _graphs,
        "nodes": _nodes,
        "ba-community": _ba_community,
    }
    for name, part in parts.items():
        if options.wanted(name):
            yield {"row": name, **part(options)}


def _graphs(options: BenchOptions) -> dict[str, Any]:
    subject = Molecules.of(options)
    train = subject.data.split.train
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(0))
    chosen = train[order[: options.graphs or len(train)].sort().values].tolist()
    graphs = [copy.copy(subject.data[place]).to(options.where) for place in chosen]
    step = training_step(subject.model, one_batch(subject.some(BATCH)))
    found = _timed(lambda: RCExplainer().fit(subject.model, graphs, progress=False), step, options)
    return {"set": subject.name, "instances": len(graphs), **found}


def _nodes(options: BenchOptions) -> dict[str, Any]:
    graph = large_graph()
    model, index = sage(graph, options).to(options.where), some_nodes(graph, options.graphs or NODES)
    return {"set": "random graph, SAGE", **_of_nodes(model, graph, index, options)}


def _ba_community(options: BenchOptions) -> dict[str, Any]:
    data = datasets.load("ba-community")

    def train() -> gnn.GNN:
        config = gnn.gnn_config("paper", data.num_features, data.num_classes, "node")
        settings = gnn.TrainConfig(epochs=500, lr=0.01, patience=500, without_edges=(0,) * 4 + (4,) * 4)
        return gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

    model = kept_network(options.keep, data.name, train).to(options.where)
    index = (data.graph.node_motif_id >= 0).nonzero().flatten()[: options.graphs]
    return {"set": data.name, **_of_nodes(model, data.graph, index, options)}


def _of_nodes(model: nn.Module, graph: Data, index: torch.Tensor, options: BenchOptions) -> dict[str, Any]:
    graph = copy.copy(graph).to(options.where)
    learner = copy.deepcopy(model).train().requires_grad_()
    optimizer = torch.optim.Adam(learner.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        cross_entropy(learner(graph.x, graph.edge_index), graph.y).backward()
        optimizer.step()

    fit = RCExplainer(task="node").fit
    found = _timed(lambda: fit(model, graph, index=index, progress=False), step, options)
    return {"instances": len(index), "nodes": graph.num_nodes, "edges": graph.num_edges, **found}


def _timed(fit: Callable[[], Any], step: Callable[[], None], options: BenchOptions) -> dict[str, Any]:
    """One fit, and training steps of the GNN before and after it."""
    before = in_turns({"step": step}, options.where, STEPS)["step"]
    started = time.perf_counter()
    with phases() as parts:
        fitted = fit()
        if options.where.type == "cuda":
            torch.cuda.synchronize()
    took = time.perf_counter() - started
    one = (before + in_turns({"step": step}, options.where, STEPS)["step"]) / 2
    epochs = {"epochs": len(history)} if (history := getattr(fitted, "history", ())) else {}
    return {
        "seconds": took,
        "GNN step ms": 1000 * one,
        "÷ GNN step": took / one,
        **epochs,
        "phases": {name: round(value, 2) for name, value in parts.items()},
    }
