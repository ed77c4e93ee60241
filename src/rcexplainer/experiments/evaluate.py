"""RCExplainer beside random order, occlusion and greedy deletion: same model, same held-out graphs, edges deleted.

The GNN, the regions and the mask network are fitted on the training graphs, choices are made on the validation
graphs, and every number here is of test graphs, for each predicted class.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import torch
from tqdm.auto import tqdm

from rcexplainer.baselines import GreedyDeletion, Occlusion, Random
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.explaining import FittedExplainer, Search
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel, delete_edges, gnn_config, train_gnn
from rcexplainer.metrics import Fidelity, fidelity, motif_auc

SPARSITIES = (0.95, 0.90, 0.85, 0.80, 0.75)
WITHIN = 0.3  # counterfactuals count as found within this share of the units


@dataclass(frozen=True)
class Result:
    """One method on the test graphs predicted as one class, for one seed."""

    seed: int
    predicted: str
    graphs: int
    method: str
    fidelity: Fidelity
    ratio: float  # Σ fidelity ÷ Σ greedy deletion's, over the sparsities
    motif_auc: float
    flipped: float  # share with a counterfactual within 30 % of the units
    size: float  # median number of units in these


@dataclass(frozen=True)
class Evaluation:
    dataset: str
    model: str
    results: tuple[Result, ...]
    motif_flips: dict[str, float]  # share of each predicted class that flips when its motif is deleted, mean of seeds
    accuracy: tuple[float, ...]  # of each seed's GNN, test

    def rows(self) -> list[dict[str, Any]]:
        """Means over the seeds, a line for each class and method."""
        keys = list(dict.fromkeys((one.predicted, one.method) for one in self.results))
        return [self._row(predicted, method) for predicted, method in keys]

    def _row(self, predicted: str, method: str) -> dict[str, Any]:
        mine = [one for one in self.results if (one.predicted, one.method) == (predicted, method)]
        drops = torch.tensor([one.fidelity.drop for one in mine]).mean(0).tolist()
        return {
            "class": predicted,
            "method": method,
            **{f".{round(100 * share)}": drop for share, drop in zip(SPARSITIES, drops, strict=True)},
            "ratio": _mean([one.ratio for one in mine]),
            "AUC": _mean([one.motif_auc for one in mine]),
            "flipped": _mean([one.flipped for one in mine]),
            "size": _mean([one.size for one in mine]),
        }

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "means": self.rows()}

    def table(self) -> list[dict[str, str]]:
        """The same, short enough for a terminal."""
        return [{key: _short(value) for key, value in row.items()} for row in self.rows()]


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "–" if value != value else f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def _mean(values: list[float]) -> float:
    return fmean(values)


def evaluate(
    dataset: str, model: str = "paper", seeds: range = range(1), *, root: Path | None = None, progress: bool = True
) -> Evaluation:
    """Train, fit, explain and measure, once for each seed."""
    results: list[Result] = []
    accuracy: list[float] = []
    motif: dict[str, list[float]] = {}
    for seed in tqdm(seeds, desc=dataset, unit="seed", disable=not progress):
        data = load(dataset, root=root, seed=seed)
        if data.task != "graph":
            raise RCExplainerError(f"{dataset} is a node set: evaluate does graph classification so far")
        config = gnn_config(model, data.num_features, data.num_classes)
        trained = train_gnn(config, data.graphs, data.split, seed=seed, progress=progress)
        accuracy.append(trained.accuracy["test"])
        training, validation = data.subset("train"), data.subset("val")
        fitted = RCExplainer().fit(
            trained.model, training, val=validation, class_names=data.class_names, seed=seed, progress=progress
        )
        methods: dict[str, FittedExplainer] = {
            "rcexplainer": fitted,
            "greedy": GreedyDeletion(WITHIN).fit(trained.model, training),
            "occlusion": Occlusion().fit(trained.model, training),
            "random": Random(seed).fit(trained.model, training),
        }
        results += _measure(data, methods, fitted.split, seed)
        for name, share in _motif_flips(data, fitted.split).items():
            motif.setdefault(name, []).append(share)
    means = {name: _mean(shares) for name, shares in motif.items()}
    return Evaluation(dataset, model, tuple(results), means, tuple(accuracy))


def _measure(data: GraphDataset, methods: dict[str, FittedExplainer], split: SplitModel, seed: int) -> list[Result]:
    found: dict[str, list[Explanation]] = {}
    for name, method in methods.items():
        search: Search = "greedy" if name == "rcexplainer" else "prefix"
        explained = method.explain(data.subset("test"), search=search)
        found[name] = [one for one in explained if isinstance(one, Explanation)]
    results: list[Result] = []
    for label, predicted in enumerate(data.class_names):
        chosen = {name: [one for one in ones if one.prediction == label] for name, ones in found.items()}
        if not chosen["greedy"]:
            continue
        drops = {name: fidelity(split, ones, SPARSITIES) for name, ones in chosen.items()}
        ceiling = sum(drops["greedy"].drop)
        for name, ones in chosen.items():
            truth = motif_auc(ones) if data.has_ground_truth else float("nan")
            sizes = [size for one in ones if (size := _size(one)) is not None and size <= WITHIN * len(one.units)]
            share, middle = len(sizes) / len(ones), median(sizes) if sizes else float("nan")
            ratio = sum(drops[name].drop) / ceiling
            results.append(Result(seed, predicted, len(ones), name, drops[name], ratio, truth, share, middle))
    return results


def _size(explanation: Explanation) -> int | None:
    """How many units the counterfactual takes away; None where it does not flip."""
    found = explanation.counterfactual
    if found is None or not found.flipped:
        return None
    return len(explanation.units.of_edge[found.removed].unique())


@torch.no_grad()
def _motif_flips(data: GraphDataset, split: SplitModel) -> dict[str, float]:
    """The share of each predicted class that flips when its motif is really deleted."""
    if not data.has_ground_truth:
        return {}
    graphs = [graph for graph in data.subset("test") if bool(graph.edge_motif.any())]
    before = split.log_probs(split.run(graphs).output).argmax(1)
    left = [delete_edges(graph, graph.edge_motif) for graph in graphs]
    flips = split.log_probs(split.run(left).output).argmax(1) != before
    present = [label for label in range(data.num_classes) if bool((before == label).any())]
    return {data.class_names[label]: float(flips[before == label].float().mean()) for label in present}
