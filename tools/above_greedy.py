"""How far above greedy deletion any ranking can be.

python tools/above_greedy.py --networks results/networks      # kept by `rcexplainer reproduce dial`

best sets    for every sparsity the set of edges, of that size, without which p(class) is least: every set is run. A
             ranking deletes sets that contain each other; these need not, so no ranking has more fidelity
refined      greedy deletion's own order, refined with 1, 4, 16 times as many model runs as it took (`refine`)

Both are given by their fidelity, summed over the sparsities .95 to .75, as a ratio to greedy deletion's, by predicted
class. Sets can be run through on small graphs alone (`--units`): the first held-out ones of that size. `refined` stands
there too, and on graphs of every size.
"""

import argparse
from itertools import combinations, islice
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.baselines import GreedyDeletion
from rcexplainer.benchmark.case import Case
from rcexplainer.core.flip_query import FlipQuery
from rcexplainer.core.refinement import refined
from rcexplainer.core.segments import ranks
from rcexplainer.gnn.instances import Instances
from rcexplainer.paper.dial import graphs_by_class
from rcexplainer.paper.result_groups import SUMMED_SPARSITIES

DEPTH = 0.3  # of greedy deletion, as in the entries
TIMES = (1, 4, 16)  # greedy deletion's own number of runs
COPIES = 4096  # of one graph, run at a time


def first_units(counts: Tensor, sparsity: float) -> Tensor:
    """[n] how many units are deleted at a sparsity."""
    return ((1 - sparsity) * counts).round().long().clamp_min(1)


def ranked_drops(instances: Instances, label: int, scores: Tensor) -> Tensor:
    """[n] the drop of p(label) without the units that have the highest scores, summed over the sparsities."""
    units, everyone = instances.units, instances.everything
    place = ranks(scores, units.owner, units.ptr)
    first = [first_units(units.counts, sparsity)[units.owner] for sparsity in SUMMED_SPARSITIES]
    after = [instances.log_probs(everyone, place < number)[:, label].exp() for number in first]
    return sum((_probability(instances, label) - one for one in after), torch.zeros(len(instances)))


def best_drops(instances: Instances, label: int) -> Tensor:
    """[n] the same without the best set of units for each sparsity, of all sets of its size."""
    before, after = _probability(instances, label), []
    for number, count in enumerate(instances.units.counts.tolist()):
        sizes = [int(first_units(torch.tensor([count]), sparsity)) for sparsity in SUMMED_SPARSITIES]
        one = instances.some(torch.tensor([number]))
        least = {size: least_probability(one, label, size) for size in set(sizes)}
        after.append(sum(least[size] for size in sizes))
    return len(SUMMED_SPARSITIES) * before - torch.tensor(after)


def least_probability(one: Instances, label: int, size: int) -> float:
    """The least p(label) of one graph without `size` of its units."""
    count, least = int(one.units.counts), 1.0
    sets = combinations(range(count), size)
    while chosen := list(islice(sets, COPIES)):
        removed = torch.zeros(len(chosen), count, dtype=torch.bool).scatter(1, torch.tensor(chosen), True)
        log_probs = one.log_probs(torch.zeros(len(chosen), dtype=torch.long), removed.flatten())
        least = min(least, float(log_probs[:, label].min().exp()))
    return least


def refined_scores(instances: Instances, label: int, scores: Tensor, times: int) -> Tensor:
    """[units] greedy deletion's scores, refined with `times` the runs that it took itself."""
    new = torch.empty_like(scores)
    for number, count in enumerate(instances.units.counts.tolist()):
        one, own = instances.some(torch.tensor([number])), instances.units.owner == number
        query = FlipQuery(one.units.ptr, one.log_probs, torch.tensor([label]))
        runs = times * sum(count - step for step in range(max(1, round(DEPTH * count))))
        new[own] = refined(query, scores[own], torch.ones(count, dtype=torch.bool), runs).scores
    return new


def _probability(instances: Instances, label: int) -> Tensor:
    """[n] p(label) of the graphs as they are."""
    return instances.split.log_probs(instances.outputs())[:, label].exp()


def ratios(case: Case, label: int, graphs: list[Data], exact: bool) -> dict[str, float]:
    """What is printed of graphs that are predicted as `label`: ratios to greedy deletion.

    Args:
        case: A trained network.
        label: The predicted class of the graphs.
        graphs: The graphs.
        exact: Whether to run every set.
    """
    instances = Instances(case.split, graphs)
    scores = GreedyDeletion(depth=DEPTH).scores(instances, torch.full((len(graphs),), label))
    drops = {
        f"refined, {times} x the runs": ranked_drops(instances, label, refined_scores(instances, label, scores, times))
        for times in TIMES
    } | ({"best sets": best_drops(instances, label)} if exact else {})
    greedy = float(ranked_drops(instances, label, scores).sum())
    return {name: float(found.sum()) / greedy for name, found in drops.items()}


def main() -> None:
    """Print the ratios, their mean over the seeds and each of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, help="folder of trained networks; missing ones are trained")
    parser.add_argument("--datasets", nargs="+", default=["mutagenicity", "nci1"])
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=50, help="held-out graphs of each predicted class")
    parser.add_argument("--units", type=int, default=20, help="of the largest graphs of which every set is run")
    given = parser.parse_args()
    for dataset in given.datasets:
        found: dict[tuple[str, str, str], list[float]] = {}
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            case = Case.of(dataset, "paper", seed, explains="every class", keep=given.networks, progress=False)
            for name, places in graphs_by_class(case, None).items():
                label = case.data.class_names.index(name)
                graphs = [graph for graph in case.graphs(places) if graph.num_edges]
                small = [graph for graph in graphs if graph.num_edges <= 2 * given.units]
                for size, those in (f"at most {given.units} edges", small), ("any size", graphs):
                    for what, ratio in ratios(case, label, those[: given.graphs], those is small).items():
                        found.setdefault((name, size, what), []).append(ratio)
        for words, each in found.items():
            seeds = ", ".join(f"{ratio:.3f}" for ratio in each)
            print(f"{dataset}, {', '.join(words)}: {sum(each) / len(each):.3f} (seeds: {seeds})", flush=True)


if __name__ == "__main__":
    main()
