"""Are the scores of two versions the same? Refits small explainers with fixed seeds on one thread, with any version.

    PYTHONPATH=OLD/src python tools/equality.py record before.safetensors
    PYTHONPATH=src     python tools/equality.py record after.safetensors
    python tools/equality.py compare before.safetensors after.safetensors

`record` fits RCExplainer for graphs, nodes, links and chosen classes, in every preset, and the baselines, and writes
the edge scores and the edges that the counterfactuals remove. `compare` prints the largest difference of each.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

import rcexplainer as rc
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn


def network(dataset: str, epochs: int, model: str = "paper", **options: int):
    data = rc.datasets.load(dataset, **options)
    config = gnn_config(model, data.num_features, data.num_classes, data.task)
    settings = TrainConfig(epochs=epochs, lr=0.01, patience=epochs)
    return data, train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model


def scores(found: object) -> dict[str, Tensor]:
    ones = [one for one in found if isinstance(one, rc.Explanation)]
    removed = [one.counterfactual.removed for one in ones if one.counterfactual is not None]
    columns = {"scores": torch.cat([one.edge_scores for one in ones])}
    return columns | ({"removed": torch.cat(removed).to(torch.uint8)} if removed else {})


def baseline(name: str, task: str = "graph", **settings: object) -> tuple[object, dict[str, object]]:
    """The method, and what else `fit` takes: before 0.2 the task was an argument of `fit`."""
    try:
        return getattr(rc.baselines, name)(task=task, **settings), {}
    except (TypeError, rc.errors.RCExplainerError):
        return getattr(rc.baselines, name)(**settings), {"task": task}


def cases() -> Iterator[tuple[str, Callable[[], object]]]:
    molecules, gnn = network("nitro", 20, num_graphs=90)
    train, test = molecules.subset("train"), molecules.subset("test")

    def graphs(**how: object) -> Callable[[], object]:
        return lambda: rc.RCExplainer(**how).fit(gnn, train, progress=False).explain(test, search="greedy")

    yield "graph default", graphs(epochs=4)
    yield "graph paper", graphs(preset="paper", epochs=4)
    yield "graph released", graphs(preset="released", epochs=4)
    yield "graph regions", graphs(epochs=3, weight_regions=1.0, weight_stable=0.0, network="factorised")
    deep, deep_gnn = network("three-motifs", 8, "paper-deep-head", num_graphs=90)

    def chosen() -> object:
        fitted = rc.RCExplainer(target_class="each", epochs=3).fit(deep_gnn, deep.subset("train"), progress=False)
        return [
            one
            for label in range(3)
            for one in fitted.explain(deep.subset("test"), target_class=label, on_error="keep")
        ]

    yield "graph each class", chosen
    nodes, node_gnn = network("tree-cycles", 150)
    seen = (nodes.graph.node_motif_id >= 0).nonzero().flatten()

    def node(**how: object) -> Callable[[], object]:
        explainer = rc.RCExplainer(task="node", **how)
        return lambda: explainer.fit(node_gnn, nodes.graph, index=seen[:40], progress=False).explain(
            nodes.graph, index=seen[40:60]
        )

    yield "node default", node(epochs=3)
    yield "node paper", node(preset="paper", epochs=3)
    links, link_gnn = network("shared-neighbours", 20, "shallow")
    pairs = links.graph.edge_label_index.t()
    yield (
        "link default",
        lambda: (
            rc.RCExplainer(task="link", epochs=3)
            .fit(link_gnn, links.graph, index=pairs[:30], progress=False)
            .explain(links.graph, index=pairs[30:40])
        ),
    )

    def method(name: str, **settings: object) -> Callable[[], object]:
        explainer, options = baseline(name, **settings)
        return lambda: explainer.fit(gnn, train, progress=False, **options).explain(test)

    yield "NoLDB", method("NoLDB", epochs=3)
    yield "PGExplainer", method("PGExplainer", epochs=3)
    yield "GNNExplainer", method("GNNExplainer", epochs=20)
    yield "Occlusion", method("Occlusion")
    yield "GreedyDeletion", method("GreedyDeletion")
    yield "Random", method("Random")
    for name, settings in (("PGExplainer", {"epochs": 2}), ("Gradient", {})):
        explainer, options = baseline(name, "node", **settings)
        yield (
            f"{name}, nodes",
            lambda explainer=explainer, options=options: explainer.fit(
                node_gnn, nodes.graph, index=seen[:40], progress=False, **options
            ).explain(nodes.graph, index=seen[40:60]),
        )


def record(path: Path) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    kept: dict[str, Tensor] = {}
    for name, run in cases():
        kept |= {f"{name}/{key}": value for key, value in scores(run()).items()}
        print(name, flush=True)
    save_file(kept, path)


def compare(before: Path, after: Path) -> int:
    one, other = load_file(before), load_file(after)
    worst = 0.0
    for name in sorted(one.keys() | other.keys()):
        if name not in one or name not in other or one[name].shape != other[name].shape:
            worst = float("inf")
            print(f"{name}: not the same shape, or in one of them alone")
            continue
        gap = float((one[name].double() - other[name].double()).abs().max()) if one[name].numel() else 0.0
        worst = max(worst, gap)
        print(f"{name}: {one[name].numel()} values, largest difference {gap:.2g}")
    print(f"largest of all: {worst:.2g}")
    return int(worst > 1e-6)


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    sys.exit(record(Path(paths[0])) if command == "record" else compare(Path(paths[0]), Path(paths[1])))
