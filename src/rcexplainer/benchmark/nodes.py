"""Nodes and links of one graph: does the motif of what is explained get the scores, and does deleting few edges change
the prediction?

The mask network is fitted on the nodes of half of the motifs; the headline is of the nodes of the other half. All motif
nodes, the paper's protocol, are reported beside it. Of links, those of the training part are fitted on and those of the
test part explained, where the network rightly predicts a link. A network whose predictions do not change when a node's
own motif is deleted does not use it, and its ground truth says nothing: such networks are counted, and left out of the
headline.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.baselines import GreedyDeletion, Occlusion, Random
from rcexplainer.benchmark.accuracy import versions
from rcexplainer.benchmark.measures import motif_flips
from rcexplainer.benchmark.networks import each_seed, sample, trained_gnn
from rcexplainer.benchmark.reliance import LITTLE, Reliance, reliance
from rcexplainer.benchmark.results import mean
from rcexplainer.datasets import GraphDataset, task_of
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import GNN
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import motif_accuracy, motif_auc

USES_MOTIF = 0.9  # a network counts if so many of its motif nodes flip when their motif is deleted
REFERENCES, CANDIDATES = 30, 64  # instances on which the slow references are run; edges that greedy deletion tries

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class NodeResult:
    """One method on some nodes of one network."""

    seed: int
    method: str
    nodes: str  # "unseen", "all", or a part of them
    count: int
    auc: float  # own motif, pooled
    accuracy: float
    auc_every: float  # every motif of the computation graph
    accuracy_every: float
    flipped: float
    size: float  # median number of edges of the counterfactuals
    motif_flips: float  # of the network: share of the motif nodes that flip without their motif


@dataclass(frozen=True)
class NodeEvaluation:
    dataset: str
    model: str
    preset: str
    settings: dict[str, Any]
    accuracy: tuple[float, ...]
    motif_flips: tuple[float, ...]
    reliance: tuple[Reliance, ...]  # of each seed's network
    results: tuple[NodeResult, ...]

    def means(self, headline: bool) -> Rows:
        """Mean ± standard deviation over the networks, or over those that use the motif."""
        kept = [one for one in self.results if not headline or one.motif_flips >= USES_MOTIF]
        keys = dict.fromkeys((one.method, one.nodes) for one in kept)
        return [_mean_row([one for one in kept if (one.method, one.nodes) == key]) for key in keys]

    def tables(self) -> list[tuple[Rows, str]]:
        """For the terminal: the headline, then all networks."""
        good = sum(share >= USES_MOTIF for share in self.motif_flips)
        shares = ", ".join(f"{share:.2f}" for share in self.motif_flips)
        note = (
            f"share of motif nodes that flip without their motif, by seed: {shares}; {good} of {len(self.motif_flips)} "
            f"networks reach {USES_MOTIF:.0%} and count in the headline; with nothing but the motif left "
            f"{self._mean('enough'):.2f} keep their prediction, {self._mean('idle'):.2f} of its edges change p by less "
            f"than {LITTLE} when deleted alone, {self._mean('foreign'):.2f} of all others by more; of those "
            f"small enough to try every pair, {self._mean('two'):.2f} flip without some one or two edges"
        )
        tables = [(self.means(headline=False), f"all networks; {note}")]
        return [(self.means(headline=True), "networks that use the motif"), *tables] if good else tables

    def _mean(self, name: str) -> float:
        return mean([getattr(one, name) for one in self.reliance])

    def to_json(self) -> dict[str, Any]:
        means = {"headline": self.means(headline=True), "all": self.means(headline=False)}
        return {**asdict(self), "means": means, "versions": versions()}


def _mean_row(own: list[NodeResult]) -> dict[str, Any]:
    row: dict[str, Any] = {"method": own[0].method, "nodes": own[0].nodes, "networks": len(own)}
    for name in ("auc", "accuracy", "auc_every", "accuracy_every", "flipped", "size"):
        values = [getattr(one, name) for one in own]
        spread = stdev(values) if len(values) > 1 else 0.0
        row[name] = f"{fmean(values):.3f} ± {spread:.3f}"
    return row


def evaluate_nodes(
    dataset: str,
    model: str = "paper",
    seeds: Sequence[int] = (0,),
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    root: Path | None = None,
    device: str | None = None,
    progress: bool = True,
) -> NodeEvaluation:
    """Train, fit, explain and measure, once for each seed."""
    task = task_of(dataset)
    if task not in PARTS:
        raise RCExplainerError(f"{dataset} is a graph set: this is for sets of nodes or links")
    explainer = RCExplainer(task=task, preset=preset, **(settings or {}))
    accuracy: list[float] = []
    shares: list[float] = []
    reliances: list[Reliance] = []
    results: list[NodeResult] = []
    for seed in each_seed(seeds, dataset, progress):
        data, trained = trained_gnn(dataset, model, seed, root=root, device=device, progress=progress, task=task)
        graph = data.graphs[0]
        network = trained.model.cpu()
        accuracy.append(trained.accuracy["test"])
        seen, unseen = PARTS[task](data, network, seed)
        fitted = explainer.fit(network, graph, index=seen, class_names=data.class_names, seed=seed, progress=progress)
        own = fitted.explain(graph, index=torch.cat([unseen, seen]), search="greedy")
        shown = [one for one in own if isinstance(one, Explanation)]
        shares.append(motif_flips(fitted.split, shown))
        headline = shown[: len(unseen)]
        parts = {"unseen": headline, "unseen, rightly predicted": rightly(data, headline), "all": shown}
        results += [_measure(seed, "rcexplainer", name, part, shares[-1]) for name, part in parts.items() if part]
        places = sample(len(unseen), REFERENCES, seed)
        reliances.append(reliance(fitted.split, [shown[place] for place in places]))
        few = unseen[torch.tensor(places)]
        for name, method in _references(network, data, fitted, seed).items():
            found = [one for one in method.explain(graph, index=few) if isinstance(one, Explanation)]
            results.append(_measure(seed, name, f"unseen, {len(few)} of them", found, shares[-1]))
    return NodeEvaluation(
        dataset,
        model,
        preset,
        dict(settings or {}),
        tuple(accuracy),
        tuple(shares),
        tuple(reliances),
        tuple(results),
    )


def _references(network: GNN, data: GraphDataset, fitted: FittedExplainer, seed: int) -> dict[str, FittedExplainer]:
    methods = {"greedy": GreedyDeletion(0.1, CANDIDATES), "occlusion": Occlusion(), "random": Random(seed)}
    return {name: method.fit(network, data.graph, task=data.task, hops=fitted.hops) for name, method in methods.items()}


def _measure(seed: int, method: str, nodes: str, shown: list[Explanation], share: float) -> NodeResult:
    sizes = [len(one.removed_units) for one in shown if (found := one.counterfactual) is not None and found.flipped]
    return NodeResult(
        seed,
        method,
        nodes,
        len(shown),
        motif_auc(shown),
        motif_accuracy(shown),
        motif_auc(shown, "every"),
        motif_accuracy(shown, "every"),
        len(sizes) / len(shown),
        float(median(sizes)) if sizes else float("nan"),
        share,
    )


def rightly(data: GraphDataset, shown: list[Explanation]) -> list[Explanation]:
    """Of nodes, those whose prediction is their label: what makes another class of a motif node need not be its
    motif. None of links, as these are rightly predicted anyway."""
    if data.task != "node":
        return []
    return [one for one in shown if one.prediction == int(data.graph.y[one.index])]


def motif_nodes(graph: Data) -> Tensor:
    """All nodes that are part of a motif."""
    return (graph.node_motif_id >= 0).nonzero().flatten()


def split_motifs(data: GraphDataset, network: GNN, seed: int) -> tuple[Tensor, Tensor]:
    """The nodes of one half of the motifs, and of the other."""
    graph = data.graph
    nodes = motif_nodes(graph)
    motifs = graph.node_motif_id[nodes].unique()
    order = motifs[torch.randperm(len(motifs), generator=torch.Generator().manual_seed(seed))]
    seen = torch.isin(graph.node_motif_id[nodes], order[: len(order) // 2])
    return nodes[seen], nodes[~seen]


@torch.no_grad()
def split_links(data: GraphDataset, network: GNN, seed: int) -> tuple[Tensor, Tensor]:
    """The rightly predicted links of the training part, and of the test part."""
    graph, pairs = data.graph, data.graph.edge_label_index
    right = (network(graph.x, graph.edge_index, edge_label_index=pairs).argmax(1) == 1) & (graph.edge_label == 1)
    return pairs.t()[data.split.train[right[data.split.train]]], pairs.t()[data.split.test[right[data.split.test]]]


PARTS: dict[str, Callable[[GraphDataset, GNN, int], tuple[Tensor, Tensor]]] = {
    "node": split_motifs,
    "link": split_links,
}
