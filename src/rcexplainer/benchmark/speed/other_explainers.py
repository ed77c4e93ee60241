"""Other explainers on the same graphs and network: PyG's own, and the baselines of this package with their defaults.

Each is measured on FEW graphs, one after the other where it knows no other way: a method that takes seconds a graph
gets fewer still. "fit" is what it needs before the first explanation.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.explain.algorithm import GNNExplainer, PGExplainer

from rcexplainer import baselines
from rcexplainer.benchmark.speed.clock import seconds
from rcexplainer.benchmark.speed.molecules import Molecules, forward, one_batch

Ready = tuple[float | None, Callable[[Sequence[Data]], Any], int]  # seconds of its fit; explains graphs; how many

FEW, FEWER = 20, 3  # graphs
TAUGHT, PG_EPOCHS = 100, 20  # graphs and epochs that PyG's PGExplainer is trained on
BASELINES = {
    "gnnexplainer": ("GNNExplainer", FEW),
    "pgexplainer": ("PGExplainer", FEW),
    "pgmexplainer": ("PGMExplainer", FEWER),
    "subgraphx": ("SubgraphX", FEWER),
    "cfgnnexplainer": ("CFGNNExplainer", FEW),
    "cf2": ("CF2", FEW),
    "gradient": ("Gradient", FEW),
    "gradcam": ("GradCAM", FEW),
    "integrated-gradients": ("IntegratedGradients", FEW),
    "occlusion": ("Occlusion", FEW),
    "greedy": ("GreedyDeletion", FEW),
    "random": ("Random", FEW),
}


def other_explainers(subject: Molecules) -> Iterator[dict[str, Any]]:
    """Milliseconds a graph of every explainer, ours first, ÷ the forward pass of one graph."""
    graphs = subject.some(FEW)
    device = subject.options.where
    single = one_batch(graphs[:1])
    for _ in range(10):  # until it is warm
        forward(subject.model, single)
    passes = sorted(seconds(partial(forward, subject.model, one_batch([graph])), device) for graph in graphs)
    methods: dict[str, Callable[[], Ready]] = {
        "rcexplainer, scores": lambda: (None, partial(subject.fitted.explain, search="none"), FEW),
        "rcexplainer, prefix": lambda: (None, partial(subject.fitted.explain, search="prefix"), FEW),
        "PyG GNNExplainer": partial(_pyg_gnnexplainer, subject),
        "PyG PGExplainer": partial(_pyg_pgexplainer, subject),
        **{name: partial(_baseline, subject, *how) for name, how in BASELINES.items()},
    }
    typical = passes[len(passes) // 2]
    for name, make in methods.items():
        fit, explain, count = make()
        explain(graphs[-1:])
        took = seconds(partial(explain, graphs[:count]), device) / count
        row = {"what": name, "graphs": count, "ms a graph": 1000 * took, "÷ forward": took / typical}
        yield row if fit is None else {**row, "fit seconds": fit}


def _baseline(subject: Molecules, name: str, count: int) -> Ready:
    started = time.perf_counter()
    fitted = getattr(baselines, name)().fit(subject.model, subject.some(TAUGHT))
    fit = time.perf_counter() - started
    return fit, lambda graphs: fitted.explain(list(graphs), search="none", on_error="keep"), count


def _pyg_explainer(subject: Molecules, algorithm: Any, kind: str) -> Explainer:
    config = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
    return Explainer(subject.model, algorithm, explanation_type=kind, edge_mask_type="object", model_config=config)


def _pyg_gnnexplainer(subject: Molecules) -> Ready:
    explainer = _pyg_explainer(subject, GNNExplainer(epochs=100), "model")

    def explain(graphs: Sequence[Data]) -> None:
        for graph in graphs:
            explainer(graph.x, graph.edge_index, batch=_zeros(graph))

    return None, explain, FEW


def _pyg_pgexplainer(subject: Molecules) -> Ready:
    algorithm = PGExplainer(epochs=PG_EPOCHS).to(subject.options.where)
    explainer = _pyg_explainer(subject, algorithm, "phenomenon")
    taught = [(graph, _target(subject, graph)) for graph in subject.some(TAUGHT)]
    started = time.perf_counter()
    with warnings.catch_warnings():  # PyG's code makes torch warn
        warnings.simplefilter("ignore")
        for epoch in range(PG_EPOCHS):
            for graph, target in taught:
                algorithm.train(epoch, subject.model, graph.x, graph.edge_index, target=target, batch=_zeros(graph))
    fit = time.perf_counter() - started

    def explain(graphs: Sequence[Data]) -> None:
        for graph in graphs:
            explainer(graph.x, graph.edge_index, batch=_zeros(graph), target=_target(subject, graph))

    return fit, explain, FEW


def _zeros(graph: Data) -> torch.Tensor:
    return torch.zeros(graph.num_nodes or 0, dtype=torch.long, device=graph.edge_index.device)


@torch.no_grad()
def _target(subject: Molecules, graph: Data) -> torch.Tensor:
    """The predicted class, which PGExplainer explains."""
    found: torch.Tensor = subject.model(graph.x, graph.edge_index, _zeros(graph)).argmax(1)
    return found
