"""How small and how stable a counterfactual with a confidence can be: all sets of edges, and graphs as they are.

python tools/flip_limits.py --networks results/networks      # kept by `rcexplainer reproduce stability`

Held-out graphs of two predicted classes, explained with search="greedy", without a confidence and with one of .8.

edges    the median number of edges that a counterfactual deletes, and the median of the smallest set that would do:
         every smaller set is run, up to --sets of them for each graph (beyond, the size found counts, as open)
stays    the share of noisy copies of the counterfactuals that stay flipped; of noisy copies of the graphs they come
         from that keep their class; and of noisy copies of graphs as they are that the model puts into the other class
         itself, just as sure of it: for each counterfactual the --like ones whose probability is nearest

A counterfactual that the model is sure of with .83 is a graph near the boundary; if graphs that nobody has changed
hold no better there, it is the boundary that gives way and not the explanation.
"""

import argparse
from itertools import combinations, islice
from math import comb
from pathlib import Path
from statistics import mean, median

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.results import OURS
from rcexplainer.core.flip_query import FlipQuery
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.flip_stability import STABILITY_LEVELS, FlipNoise, drawn_copies, noisy_copy
from rcexplainer.metrics.flips import flipping
from rcexplainer.metrics.noisy_copies import predicted_classes
from rcexplainer.metrics.perturbation import feature_rows
from rcexplainer.paper.dial import graphs_by_class

CONFIDENCE = 0.8
COPIES = 4096  # of one graph, run at a time
NOISE: tuple[FlipNoise, ...] = ("paper", "strict", "features")


def smallest(case: Case, one: Explanation, confidence: float | None, sets: int) -> tuple[int, bool]:
    """The size of the smallest set of edges whose deletion flips a graph, and whether it is known.

    Args:
        case: The network.
        one: An explanation whose counterfactual flips it.
        confidence: The probability that the other class must have.
        sets: The most sets that are run.
    """
    instances, source, count = Instances(case.split, [one.graph]), torch.tensor([one.prediction]), len(one.units)
    query = FlipQuery(instances.units.ptr, instances.log_probs, source, confidence=confidence)
    for size in range(1, len(one.removed_units)):
        sets -= comb(count, size)
        if sets < 0:
            return len(one.removed_units), False
        chosen = combinations(range(count), size)
        while some := list(islice(chosen, COPIES)):
            removed = torch.zeros(len(some), count, dtype=torch.bool).scatter(1, torch.tensor(some), True)
            copies = torch.zeros(len(some), dtype=torch.long)
            if bool(query.flips(instances.log_probs(copies, removed.flatten()), copies).any()):
                return size, True
    return len(one.removed_units), True


def edges(case: Case, turned: list[Explanation], confidence: float | None, sets: int) -> list[float]:
    """The median size found, the smallest one's, the share of graphs with a smaller set, and of those left open."""
    found = [len(one.removed_units) for one in turned]
    least = [smallest(case, one, confidence, sets) for one in turned]
    smaller = [size < own for (size, _), own in zip(least, found, strict=True)]
    return [median(found), median(size for size, _ in least), mean(smaller), mean(not known for _, known in least)]


def keeps(case: Case, graphs: list[Data], label: int, protocol: FlipNoise, level: float, copies: int) -> Tensor:
    """[graphs] the share of noisy copies that are predicted as `label`."""
    drawn = drawn_copies(graphs, level, noisy_copy(protocol, feature_rows(graphs)), copies, seed=0)
    found = torch.tensor(predicted_classes(case.split, drawn)).view(len(graphs), copies)
    return (found == label).double().mean(1)


def nearest(sure: Tensor, others: Tensor, values: Tensor, number: int) -> float:
    """The mean value of the others whose probabilities are nearest to each of these."""
    near = (sure[:, None] - others).abs().topk(min(number, len(others)), largest=False)
    return float(values[near.indices].mean())


def report(case: Case, given: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """The figures of one network by class."""
    fitted, names = METHODS[OURS].fit(case, False), case.data.class_names
    graphs = {
        names.index(name): [graph for graph in case.graphs(places) if graph.num_edges]
        for name, places in graphs_by_class(case, None).items()
    }
    if len(graphs) != 2:
        raise SystemExit(f"two predicted classes are compared, {case.data.name} has {len(graphs)}")
    probabilities = {
        label: case.split.log_probs(Instances(case.split, own).outputs()).exp()[:, label]
        for label, own in graphs.items()
    }
    figures: dict[str, dict[str, list[float]]] = {}
    for label, own in graphs.items():
        (other,) = graphs.keys() - {label}
        found = {
            confidence: flipping(fitted.explain(own[: given.graphs], search="greedy", confidence=confidence))
            for confidence in (None, CONFIDENCE)
        }
        turned = found[CONFIDENCE]
        if not turned:
            print(f"{case.data.name}, {names[label]}: no graph can be flipped with a confidence of {CONFIDENCE}")
            continue
        rows = figures.setdefault(names[label], {})
        for confidence, some in found.items():
            words = f"edges at confidence {confidence or 'any'}"
            columns = "found, smallest, graphs with a smaller set, graphs left open"
            rows[f"{words}: {columns}"] = edges(case, some, confidence, given.sets)
        changed, sources = [one.counterfactual.graph for one in turned], [one.graph for one in turned]
        sure = torch.stack([one.counterfactual.probabilities[other] for one in turned])
        for protocol in NOISE:
            for level in STABILITY_LEVELS:
                like = keeps(case, graphs[other], other, protocol, level, given.copies)
                rows[f"stays under {protocol}, {level:.0%}: flipped, its graph, graphs as sure"] = [
                    float(keeps(case, changed, other, protocol, level, given.copies).mean()),
                    float(keeps(case, sources, label, protocol, level, given.copies).mean()),
                    nearest(sure, probabilities[other], like, given.like),
                ]
    return figures


def main() -> None:
    """Print the figures, means over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, help="folder of trained networks; missing ones are trained")
    parser.add_argument("--datasets", nargs="+", default=["mutagenicity", "nci1"])
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=100, help="held-out graphs of each predicted class")
    parser.add_argument("--sets", type=int, default=20_000, help="of edges that are run for each graph, at most")
    parser.add_argument("--copies", type=int, default=10, help="noisy copies of each graph at each level")
    parser.add_argument("--like", type=int, default=5, help="graphs as sure as each counterfactual")
    given = parser.parse_args()
    for dataset in given.datasets:
        found: dict[tuple[str, str], list[list[float]]] = {}
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            case = Case.of(dataset, "paper", seed, explains="every class", keep=given.networks, progress=False)
            for name, rows in report(case, given).items():
                for what, numbers in rows.items():
                    found.setdefault((name, what), []).append(numbers)
        for (name, what), each in found.items():
            means = ", ".join(f"{mean(column):.3f}" for column in zip(*each, strict=True))
            print(f"{dataset}, {name}, {what}: {means}", flush=True)


if __name__ == "__main__":
    main()
