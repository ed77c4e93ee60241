"""How small and how stable a counterfactual with a confidence can be: all sets of edges, and graphs as they are.

python tools/flip_limits.py --networks results/networks      # kept by `rcexplainer reproduce stability`

Held-out graphs of each predicted class, explained with search="greedy", without a confidence and with one of .8.

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

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.results import OURS
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.flip_stability import STABILITY_LEVELS, flip_stability
from rcexplainer.metrics.flips import flipping
from rcexplainer.paper.dial import graphs_by_class

CONFIDENCE = 0.8
COPIES = 4096  # of one graph, run at a time
NOISE = ("paper", "strict", "features")
Shares = tuple[
    list[float], list[float]
]  # of each flipped explanation: its copies that stay flipped, its graph's that stay


def smallest(case: Case, one: Explanation, confidence: float | None, sets: int) -> tuple[int, bool]:
    """The size of the smallest set of edges whose deletion flips a graph, and whether it is known.

    Args:
        case: The network.
        one: An explanation whose counterfactual flips it.
        confidence: The probability that the other class must have.
        sets: The most sets that are run.
    """
    instances, found = Instances(case.split, [one.graph]), len(one.removed_units)
    count = len(one.units)
    for size in range(1, found):
        sets -= comb(count, size)
        if sets < 0:
            return found, False
        chosen = combinations(range(count), size)
        while some := list(islice(chosen, COPIES)):
            removed = torch.zeros(len(some), count, dtype=torch.bool).scatter(1, torch.tensor(some), True)
            after = instances.log_probs(torch.zeros(len(some), dtype=torch.long), removed.flatten()).exp()
            sure, label = after.max(1)
            if bool(((label != one.prediction) & (sure >= (confidence or 0.0))).any()):
                return size, True
    return found, True


def shares(case: Case, given: list[Explanation], copies: int) -> dict[str, Shares]:
    """The shares of each flipped explanation and of its graph, by kind and level of noise."""
    found = {}
    for protocol in NOISE:
        seen = flip_stability(case.split, given, protocol=protocol, copies=copies)
        for place, level in enumerate(STABILITY_LEVELS):
            found[f"{protocol}, {level:.0%}"] = (list(seen.each_flipped[place]), list(seen.each_original[place]))
    return found


def nearest(sure: list[float], others: list[float], values: list[float], number: int) -> float:
    """The mean value of the others whose probabilities are nearest to each of these."""
    near = (torch.tensor(sure)[:, None] - torch.tensor(others)).abs().topk(min(number, len(others)), largest=False)
    return float(torch.tensor(values)[near.indices].mean())


def report(case: Case, given: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """The figures of one network by class."""
    fitted, names = METHODS[OURS].fit(case, False), case.data.class_names
    graphs = {
        names.index(name): [graph for graph in case.graphs(places) if graph.num_edges]
        for name, places in graphs_by_class(case, None).items()
    }
    plain = {label: flipping(fitted.explain(own, search="greedy")) for label, own in graphs.items()}
    natural = {label: shares(case, own, given.copies) for label, own in plain.items()}
    figures: dict[str, dict[str, list[float]]] = {}
    for label, own in graphs.items():
        rows, turned = figures.setdefault(names[label], {}), list[Explanation]()
        for words, confidence in (("any", None), (f"{CONFIDENCE}", CONFIDENCE)):
            some = turned = flipping(fitted.explain(own[: given.graphs], search="greedy", confidence=confidence))
            least = [smallest(case, one, confidence, given.sets) for one in some]
            sizes = [len(one.removed_units) for one in some]
            rows[f"edges at confidence {words}: found, smallest, graphs with a smaller set, open"] = [
                median(sizes),
                median(size for size, _ in least),
                sum(size < own for (size, _), own in zip(least, sizes, strict=True)) / len(sizes),
                sum(not known for _, known in least) / len(sizes),
            ]
        other = next(one for one in graphs if one != label)
        others = [float(one.probabilities[other]) for one in plain[other]]
        reached = [float(one.counterfactual.probabilities[other]) for one in turned]
        for noise, (flipped, kept) in shares(case, turned, given.copies).items():
            like = nearest(reached, others, natural[other][noise][1], given.like)
            rows[f"stays under {noise}: flipped, its graph, graphs as sure"] = [mean(flipped), mean(kept), like]
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
