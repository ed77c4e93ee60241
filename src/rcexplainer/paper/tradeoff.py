"""Fidelity against robustness on **validation** graphs, for the ideas that make up the preset `default`.

    ratio(c)      Σ_s fidelity ÷ Σ_s greedy deletion's, over the sparsities s = .95, …, .75 and the graphs predicted c
    robustness    AUC at 10 % noise (the paper's protocol, k = 8), of up to 100 graphs predicted c
    strict        the same under strict noise, which the rule does not look at

The rule by which the default was chosen: the best ratio among the settings whose robustness is within .02 of the best
one, both as means over the predicted classes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from torch_geometric.data import Data

from rcexplainer.baselines import GreedyDeletion
from rcexplainer.benchmark.case import GREEDY_DEPTH
from rcexplainer.benchmark.networks import sample, trained_gnn
from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import fidelity, robustness
from rcexplainer.metrics.perturbation import NoiseProtocol
from rcexplainer.paper.cells import shown_as
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import NAN, SUMMED_SPARSITIES, EntrySettings, TaggedResults, number
from rcexplainer.paper.table import Column, Table, TableCell, dated, marked
from rcexplainer.saving.fingerprint import weights_digest

ROBUSTNESS_TOLERANCE = 0.02  # of robustness, in the rule
NOISE_LEVEL, TOP_EDGES, NOISY_GRAPHS = 0.1, 8, 100


@dataclass(frozen=True)
class TradeoffPoint:
    """One setting on the validation graphs.

    Attributes:
        name: The setting's name.
        ratio: Predicted class → ratio to greedy deletion.
        robustness: Predicted class → AUC under the paper's noise.
        epochs: How long it was trained.
        strict: Predicted class → AUC under strict noise; results of version 0.1 have none.
    """

    name: str
    ratio: Mapping[str, float]
    robustness: Mapping[str, float]
    epochs: int
    strict: Mapping[str, float] = field(default_factory=dict)

    @property
    def mean_ratio(self) -> float:
        """The mean over the classes."""
        return fmean(self.ratio.values())

    @property
    def mean_robustness(self) -> float:
        """The mean over the classes."""
        return fmean(self.robustness.values())

    @property
    def mean_strict(self) -> float:
        """The mean over the classes; nan where it was not measured."""
        return mean(list(self.strict.values()))


def best_point(points: Sequence[TradeoffPoint]) -> TradeoffPoint:
    """The setting that the rule chooses.

    Args:
        points: At least one.

    Returns:
        The one with the best ratio among those that are robust enough.
    """
    top = max(point.mean_robustness for point in points)
    robust = [point for point in points if point.mean_robustness >= top - ROBUSTNESS_TOLERANCE]
    return max(robust, key=lambda point: point.mean_ratio)


def validation_scores(
    dataset: str,
    model: str,
    seed: int,
    method: str,
    *,
    settings: Mapping[str, Any],
    graphs: int,
    keep: Path | None = None,
) -> JobResult:
    """Fit one method, and measure it on the validation graphs.

    Args:
        dataset: A set of graphs.
        model: The architecture of the network.
        seed: Draws split and weights, training graphs, noise.
        method: "rcexplainer", or "greedy" for what ratios are taken of.
        settings: Of RCExplainer, on top of the preset `default`.
        graphs: Training graphs to fit on, at most.
        keep: The folder of trained networks.

    Returns:
        `fidelity`: predicted class → sum over the sparsities; of RCExplainer also `robustness`, `strict` and `epochs`;
        `weights`: the hash of the network's weights.

    Raises:
        RCExplainerError: There is no training graph to fit on.
    """
    if graphs < 1:
        raise RCExplainerError(f"at least one training graph is needed, got {graphs}")
    data, trained = trained_gnn(dataset, model, seed, keep=keep, progress=False)
    weights = weights_digest(trained.model)
    training, validation = data.subset("train"), data.subset("val")
    training = [training[place] for place in sample(len(training), graphs, seed)]
    if method != OURS:
        greedy = GreedyDeletion(GREEDY_DEPTH).fit(trained.model, training)
        return {"fidelity": _fidelities(greedy, _by_class(greedy, validation, data.class_names)), "weights": weights}
    fitted = RCExplainer(**settings).fit(trained.model, training, val=validation, seed=seed, progress=False)
    groups = _by_class(fitted, validation, data.class_names)
    return {
        "fidelity": _fidelities(fitted, groups),
        "robustness": _robustness(fitted, groups, seed, "paper"),
        "strict": _robustness(fitted, groups, seed, "strict"),
        "epochs": len(fitted.history),
        "weights": weights,
    }


def tradeoff_points(found: TaggedResults) -> list[TradeoffPoint]:
    """The settings that can be judged: none before greedy deletion's result is there.

    Args:
        found: The results of the entry.

    Returns:
        A point for every setting that has a result.
    """
    ones = [(tags["variant"], result) for tags, result in found if "variant" in tags]
    ceilings = [result["fidelity"] for name, result in ones if name == "greedy"]
    return [
        TradeoffPoint(
            name,
            {label: _ratio(number(result, "fidelity", label), value) for label, value in ceilings[0].items()},
            {label: number(result, "robustness", label) for label in result["robustness"]},
            result["epochs"],
            {label: number(result, "strict", label) for label in result.get("strict", ())},
        )
        for name, result in ones
        if ceilings and name != "greedy"
    ]


def tradeoff_table(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """A row for every setting; the rule's winner is named once all of them are there."""
    points = tradeoff_points(found)
    if not points:
        return []
    every = len(points) == len(settings["variants"])
    best = best_point(points) if every else None
    classes = list(points[0].ratio)
    columns = [Column(f"ratio, {name}", "higher") for name in classes]
    columns += [Column("mean ratio", "higher"), Column("robust", "higher"), Column("robust, strict", "higher")]
    columns += [Column("epochs"), Column("rule")]
    caption = (
        f"{settings['dataset']}, network {settings['model']}, seed {settings['seed']}, validation graphs, fitted on up "
        f"to {settings['graphs']} training graphs: fidelity as a ratio to greedy deletion's, and AUC at 10 % noise, "
        "the paper's and strict. The rule: the best mean ratio among the settings whose robustness under the paper's "
        f"noise is within {ROBUSTNESS_TOLERANCE} of the best one"
    )
    rows = tuple(
        (
            TableCell(point.name),
            *(TableCell(f"{point.ratio[name]:.3f}", point.ratio[name]) for name in classes),
            TableCell(f"{point.mean_ratio:.3f}", point.mean_ratio),
            TableCell(f"{point.mean_robustness:.3f}", point.mean_robustness),
            shown_as([point.mean_strict], lambda value: f"{value:.3f}"),
            TableCell(str(point.epochs)),
            TableCell("← chosen" if point is best else ""),
        )
        for point in points
    )
    missing = len(settings["variants"]) - len(points)
    notes = () if every else (f"{missing} of {len(settings['variants'])} settings are missing: nothing is chosen yet",)
    versions = {tags["variant"]: as_of([result]) for tags, result in found if "variant" in tags}
    table = Table(caption, (Column("setting"), *columns), rows, notes)
    return [marked(dated(table, [versions[point.name] for point in points]))]


def _ratio(own: float, greedy: float | None) -> float:
    return own / greedy if greedy else NAN


def _by_class(fitted: FittedExplainer, graphs: Sequence[Data], names: Sequence[str]) -> dict[str, list[Explanation]]:
    found = [one for one in fitted.explain(graphs, search="none", on_error="keep") if isinstance(one, Explanation)]
    groups = {name: [one for one in found if one.prediction == label] for label, name in enumerate(names)}
    return {name: ones for name, ones in groups.items() if ones}


def _fidelities(fitted: FittedExplainer, groups: Mapping[str, list[Explanation]]) -> dict[str, float]:
    """Σ fidelity over the sparsities, for every predicted class."""
    return {name: sum(fidelity(fitted.split, ones, SUMMED_SPARSITIES).drop) for name, ones in groups.items()}


def _robustness(
    fitted: FittedExplainer, groups: Mapping[str, list[Explanation]], seed: int, protocol: NoiseProtocol
) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, ones in groups.items():
        some = [ones[place] for place in sample(len(ones), NOISY_GRAPHS, seed)]
        found = robustness(
            fitted,
            [one.graph for one in some],
            [NOISE_LEVEL],
            TOP_EDGES,
            protocol=protocol,
            seed=seed,
            explanations=some,
        )
        values[name] = found.auc[0][0]
    return values
