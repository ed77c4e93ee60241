"""What is left of greedy deletion's order if edges that are alike must have equal scores.

python tools/equal_scores.py --networks results/networks      # kept by `rcexplainer reproduce planned`

Nodes are coloured by their features and, ten times over, by the colours around them (Weisfeiler and Leman): for a
network that passes messages, edges between nodes of the same colours are alike, and it cannot score them differently.
Greedy deletion's own order, in which such edges get the mean of their places and ties go to the lower node ids, is
judged as all orders are: by its fidelity, summed over the sparsities .95 to .75, as a ratio to greedy deletion's, by
predicted class, on the held-out graphs of the entry `planned`. It is no bound: another order with equal scores may do
better.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor

from rcexplainer.baselines import GreedyDeletion
from rcexplainer.benchmark.case import Case
from rcexplainer.core.segments import ranks
from rcexplainer.core.units import Units
from rcexplainer.gnn.instances import Instances
from rcexplainer.paper.dial import graphs_by_class
from rcexplainer.paper.result_groups import SUMMED_SPARSITIES

ROUNDS = 10


def colours(x: Tensor, pair: Tensor) -> Tensor:
    """[nodes] a number for each colour: equal features, and equal colours around them."""
    colour = torch.unique(x, dim=0, return_inverse=True)[1]
    for _ in range(ROUNDS):
        generator = torch.Generator().manual_seed(0)
        key = torch.randint(-(2**62), 2**62, (int(colour.max()) + 1,), generator=generator)
        i, j = pair
        around = (
            torch.zeros(len(colour), dtype=torch.long).index_add(0, i, key[colour[j]]).index_add(0, j, key[colour[i]])
        )
        colour = torch.unique(torch.stack([colour, around], 1), dim=0, return_inverse=True)[1]
    return colour


def tied(order: Tensor, units: Units, colour: Tensor) -> Tensor:
    """[units] the mean place of all edges of the instance that are alike."""
    ends = colour[units.pair].sort(0).values
    kind = torch.unique(torch.stack([units.owner, *ends], 1), dim=0, return_inverse=True)[1]
    total = torch.zeros(int(kind.max()) + 1, dtype=torch.double).index_add(0, kind, order.double())
    return (total / torch.bincount(kind))[kind]


def drops(instances: Instances, label: int, place: Tensor) -> float:
    """The drop in p(label) without the first units, summed over instances and sparsities."""
    everyone, units = instances.everything, instances.units
    before, total = instances.split.log_probs(instances.outputs()).exp()[:, label], 0.0
    for sparsity in SUMMED_SPARSITIES:
        first = ((1 - sparsity) * units.counts).round().clamp_min(1)
        after = instances.log_probs(everyone, place < first[units.owner]).exp()[:, label]
        total += float((before - after).sum())
    return total


def main() -> None:
    """Print the ratio for every network, and its mean over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, help="folder of trained networks; missing ones are trained")
    parser.add_argument("--datasets", nargs="+", default=["mutagenicity", "nci1"])
    parser.add_argument("--archs", nargs="+", default=["paper", "gin"])
    parser.add_argument("--first-seed", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=100, help="held-out graphs of each predicted class")
    given = parser.parse_args()
    for dataset in given.datasets:
        for arch in given.archs:
            found: dict[str, list[float]] = {}
            for seed in range(given.first_seed, given.first_seed + given.seeds):
                case = Case.of(dataset, arch, seed, explains="every class", keep=given.networks, progress=False)
                for name, places in graphs_by_class(case, given.graphs).items():
                    graphs = [graph for graph in case.graphs(places) if graph.num_edges]
                    instances, label = Instances(case.split, graphs), case.data.class_names.index(name)
                    units = instances.units
                    scores = GreedyDeletion().scores(instances, torch.full((len(graphs),), label))
                    order = ranks(scores, units.owner, units.ptr)
                    whole = instances.store.whole()
                    mean = tied(order, units, colours(whole.x, units.pair))
                    alike = ranks(-mean, units.owner, units.ptr)
                    ratio = drops(instances, label, alike) / drops(instances, label, order)
                    found.setdefault(name, []).append(ratio)
            for name, ratios in found.items():
                each = ", ".join(f"{ratio:.3f}" for ratio in ratios)
                print(f"{dataset}, {arch}, {name}: {sum(ratios) / len(ratios):.3f} (seeds: {each})", flush=True)


if __name__ == "__main__":
    main()
