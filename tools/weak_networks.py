"""Why RCExplainer falls behind greedy deletion on some networks: graphs that it learns from, beside validation graphs.

python tools/weak_networks.py --networks results/networks nci1/gcn/0/active nci1/gin/13/inactive

Each argument is dataset/architecture/seed/class, the worst ones of the entries `dial` and `planned` by default. Printed
are ratios to greedy deletion of the fidelity summed over the sparsities .95 to .75, on graphs that are predicted as the
class; no held-out graph is looked at.

train, val    the scores and the plan: far apart, a network learns graphs by heart; alike, it learns too little
240 epochs    the same after four times the default's training
occlusion     the true effect of every edge on its own: what is missing is what edges do together
alike         greedy deletion's own order, if edges that are alike must tie (`equal_scores.py`)
"""

import argparse
from pathlib import Path

import torch
from equal_scores import colours, drops, tied
from torch_geometric.data import Data

from rcexplainer.baselines import GreedyDeletion, Occlusion
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.results import OURS
from rcexplainer.core.segments import ranks
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import fidelity
from rcexplainer.paper.result_groups import SUMMED_SPARSITIES

WORST = ("mutagenicity/paper/1/non-mutagen", "nci1/gcn/0/active", "nci1/gin/13/inactive")
EPOCHS = (60, 240)  # of the default, and four times as many


def predicted(case: Case, part: str, label: int, most: int) -> list[Data]:
    """The first graphs of a part of the data that are predicted as `label` and have edges."""
    graphs = [graph for graph in case.data.subset(part) if graph.num_edges]
    labels = predictions(case.split, graphs).tolist()
    return [graph for graph, own in zip(graphs, labels, strict=True) if own == label][:most]


def lost(case: Case, fitted: FittedExplainer, graphs: list[Data]) -> float:
    """The fidelity of an explainer, summed over graphs and sparsities."""
    found = fidelity(case.split, list(fitted.explain(graphs, search="none")), SUMMED_SPARSITIES)
    return sum(map(sum, found.each))


def main() -> None:
    """Print the ratios of each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", nargs="*", default=WORST, help="dataset/architecture/seed/class")
    parser.add_argument("--networks", type=Path, help="folder of trained networks; missing ones are trained")
    parser.add_argument("--graphs", type=int, default=100, help="of each part")
    parser.add_argument("--epochs", type=int, nargs="+", default=EPOCHS, help="one fit for each number")
    given = parser.parse_args()
    for where in given.where:
        dataset, arch, seed, name = where.split("/")
        fits = {}
        for epochs in given.epochs:
            case = Case.of(
                dataset, arch, int(seed), explains="every class", keep=given.networks, progress=False,
                settings={"epochs": epochs},
            )  # fmt: skip
            fits[epochs] = METHODS[OURS].fit(case, False)
        label = case.data.class_names.index(name)
        for part in ("train", "val"):
            graphs = predicted(case, part, label, given.graphs)
            instances, labels = Instances(case.split, graphs), torch.full((len(graphs),), label)
            units = instances.units
            order = ranks(GreedyDeletion().scores(instances, labels), units.owner, units.ptr)
            greedy = drops(instances, label, order)
            alike = tied(order, units, colours(instances.store.whole().x, units.pair))
            single = ranks(Occlusion().scores(instances, labels).scores, units.owner, units.ptr)
            ratios = {
                f"{what}, {epochs} epochs": lost(case, own, graphs) / greedy
                for epochs, fitted in fits.items()
                for what, own in (("scores", fitted.by_scores), ("plan", fitted))
            }
            ratios["occlusion"] = drops(instances, label, single) / greedy
            ratios["alike"] = drops(instances, label, ranks(-alike, units.owner, units.ptr)) / greedy
            mean = greedy / (len(graphs) * len(SUMMED_SPARSITIES))
            text = ", ".join(f"{what} {ratio:.3f}" for what, ratio in ratios.items())
            print(f"{where}, {part}, {len(graphs)} graphs, greedy's fidelity {mean:.3f}: {text}", flush=True)


if __name__ == "__main__":
    main()
