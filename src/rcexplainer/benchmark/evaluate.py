"""RCExplainer beside random order, occlusion and greedy deletion: same model, same held-out graphs, edges deleted.

The GNN, the regions and the mask network are fitted on the training graphs, choices are made on the validation
graphs, and every number here is of test graphs, for each class: of the graphs *predicted* so, and of the graphs
*labelled* so. What is explained is the predicted class in both, as in the paper's code: the fidelity of a graph
labelled so is the drop of the probability of whatever class the model predicts for it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.measures import (
    NAN,
    WITHIN,
    counterfactuals,
    edge_set,
    motif_flips,
    seconds_each,
)
from rcexplainer.benchmark.networks import (
    each_seed,
    explain_all,
    judge_of,
    on_device,
    sample,
    trained_gnn,
    with_baselines,
)
from rcexplainer.benchmark.reliance import reliance
from rcexplainer.benchmark.results import BELOW, OURS, SPARSITIES, Cost, Evaluation, Flippable, Group, Result
from rcexplainer.datasets import GraphDataset
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import fidelity, motif_auc, robustness

LITTLE = 0.1  # where greedy deletion's mean fidelity is less, a ratio to it says nothing
NOISE, K, NOISY = 0.1, 8, 100  # robustness: at this noise, of the top k edges, on so many graphs of a class

Found = dict[str, list[Explanation]]  # every method's explanations of the same graphs


def evaluate(
    dataset: str,
    model: str = "paper",
    seeds: Sequence[int] = (0,),
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    root: Path | None = None,
    device: str | None = None,
    robust: bool = True,
    progress: bool = True,
) -> Evaluation:
    """Train, fit, explain and measure, once for each seed."""
    explainer = RCExplainer(preset=preset, **(settings or {}))  # first: what is wrong with them costs no time
    accuracy: list[float] = []
    flippable: list[Flippable] = []
    results: list[Result] = []
    costs: list[Cost] = []
    for seed in each_seed(seeds, dataset, progress):
        data, trained = trained_gnn(dataset, model, seed, root=root, device=device, progress=progress)
        accuracy.append(trained.accuracy["test"])
        training, validation, test = (on_device(data.subset(part), device) for part in ("train", "val", "test"))
        started = time.perf_counter()
        fitted = explainer.fit(
            trained.model, training, val=validation, class_names=data.class_names, seed=seed, progress=progress
        )
        seconds = time.perf_counter() - started
        methods = with_baselines(fitted, training, seed, WITHIN)
        found, failed = explain_all(methods, test)
        costs += [
            Cost(seed, name, seconds if name == OURS else 0.0, seconds_each(method, test), failed[name])
            for name, method in methods.items()
        ]
        measured = _Measuring(data, judge_of(trained, data), seed, methods if robust else {}, device)
        for group, label, chosen in _groups(data, found):
            own = measured(group, label, chosen)
            results += own
            share = next(one.counterfactuals.flipped for one in own if one.method == "greedy")
            ones = chosen["greedy"]
            motif = motif_flips(measured.judge, ones)
            relied = reliance(measured.judge, ones) if data.has_ground_truth else None
            flippable.append(Flippable(seed, group, label, len(ones), share, motif, relied))
    return Evaluation(
        dataset,
        model,
        preset,
        dict(settings or {}),
        tuple(seeds),
        tuple(accuracy),
        tuple(flippable),
        tuple(results),
        tuple(costs),
    )


def _groups(data: GraphDataset, found: Found) -> list[tuple[Group, str, Found]]:
    """The explained graphs of each class: predicted so, then labelled so; a class without any is left out."""
    ours = found[OURS]
    classes: dict[Group, list[int]] = {
        "predicted": [one.prediction for one in ours],
        "labelled": [int(one.graph.y) for one in ours],
    }
    groups: list[tuple[Group, str, Found]] = []
    for group, members in classes.items():
        for label, name in enumerate(data.class_names):
            places = [place for place, member in enumerate(members) if member == label]
            if places:
                groups.append((group, name, {key: [ones[place] for place in places] for key, ones in found.items()}))
    return groups


@dataclass(frozen=True, eq=False)
class _Measuring:
    """One seed's network, and what is needed to measure the methods on a group of graphs."""

    data: GraphDataset
    judge: SplitModel
    seed: int
    noisy: Mapping[str, FittedExplainer]  # the methods whose robustness is measured
    device: str | None

    def __call__(self, group: Group, label: str, chosen: Found) -> list[Result]:
        drops = {name: fidelity(self.judge, ones, SPARSITIES) for name, ones in chosen.items()}
        greedy, occlusion = drops["greedy"].drop, drops["occlusion"].drop
        ceiling = sum(greedy)
        return [
            Result(
                seed=self.seed,
                group=group,
                label=label,
                graphs=len(ones),
                method=name,
                fidelity=drops[name],
                ratio=sum(drops[name].drop) / ceiling if ceiling >= LITTLE * len(greedy) else NAN,
                difference=(sum(drops[name].drop) - ceiling) / len(greedy),
                above_occlusion=tuple(
                    own > other for own, other in zip(drops[name].drop[BELOW:], occlusion[BELOW:], strict=True)
                ),
                motif_auc=motif_auc(ones) if self.data.has_ground_truth else NAN,
                robustness=self.robustness(name, ones) if group == "predicted" else NAN,
                counterfactuals=counterfactuals(self.judge, ones),
                edges=edge_set(self.judge, ones) if name == OURS else None,
            )
            for name, ones in chosen.items()
        ]

    def robustness(self, name: str, ones: list[Explanation]) -> float:
        """AUC at 10 % noise, on some of the graphs: the same ones for every method."""
        if name not in self.noisy:
            return NAN
        some = [ones[place] for place in sample(len(ones), NOISY, self.seed)]
        graphs = on_device([one.graph for one in some], self.device)
        found = robustness(self.noisy[name], graphs, [NOISE], K, seed=self.seed, explanations=some)
        return found.auc[0][0]
