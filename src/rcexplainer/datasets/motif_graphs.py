"""Synthetic graph sets: motifs on a Barabási–Albert tree decide the class of a graph.

    ba-2motifs     one motif, a class each
    three-motifs   two of three motifs; each pair of classes shares one
    motif-unions   one of twelve motifs twice, two motifs to a class: a class has two reasons

Each graph is drawn after the one before it from the same stream, so more graphs do not change the first ones.
"""

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

from rcexplainer.datasets.dataset import GraphDataset, stratified_split
from rcexplainer.datasets.motifs import HOUSE, Motif, attach, bare, clique, cycle, grid, whole_number
from rcexplainer.datasets.shapes import DIAMOND, bipartite, fan, ladder, wheel, windmill
from rcexplainer.datasets.synthetic import NUM_FEATURES, barabasi_albert, planted_data
from rcexplainer.errors import DatasetError

MotifPlan = Sequence[tuple[int, Motif]]  # the motifs of a graph with their ids

# The two motifs of each class of `motif-unions`. The two of one class are unlike each other, and many a motif becomes
# one of another class when an edge is deleted: clique(4) → diamond, fan → house, house → cycle.
UNIONS: tuple[tuple[Motif, Motif], ...] = (
    (cycle(6), clique(4)),
    (HOUSE, wheel(5)),
    (DIAMOND, grid(3)),
    (fan(4), windmill(3)),
    (ladder(4), windmill(2)),
    (bipartite(2, 4), clique(5)),
)


def ba_2motifs(root: Path | None, seed: int, num_graphs: int = 1000) -> GraphDataset:
    """A 5-cycle or a house on a Barabási–Albert tree; the motif of every graph has the id 0.

    As in the published set, the cycle is class 0: deleting an edge turns a house, class 1, into it.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graphs and of the split.
        num_graphs: Number of graphs.

    Returns:
        The dataset.

    Raises:
        DatasetError: If `num_graphs` is not a whole number with at least one graph per class.
    """
    shapes = (cycle(5), HOUSE)
    planted = [[(0, shape)] for shape in shapes]
    classes = tuple(shape.name for shape in shapes)
    return _graph_set("ba-2motifs", planted, classes, seed, num_graphs, base_sizes=range(20, 21))


def three_motifs(root: Path | None, seed: int, num_graphs: int = 1500) -> GraphDataset:
    """Two of three motifs determine the class, and each pair of classes shares one: the paper's case study.

    `edge_motif_id` is the kind of motif in all graphs: 0 house, 1 hexagon, 2 clique of four.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graphs and of the split.
        num_graphs: Number of graphs.

    Returns:
        The dataset.

    Raises:
        DatasetError: If `num_graphs` is not a whole number with at least one graph per class.
    """
    shapes = (HOUSE, cycle(6), clique(4))
    planted = [[(kind, shapes[kind]) for kind in kinds] for kinds in ((0, 1), (1, 2), (0, 2))]
    classes = tuple("+".join(shape.name for _, shape in motifs) for motifs in planted)
    # The motifs differ in size; with bases of different sizes the number of nodes does not reveal the class.
    return _graph_set("three-motifs", planted, classes, seed, num_graphs, base_sizes=range(16, 25))


def motif_unions(root: Path | None, seed: int, num_graphs: int = 1200) -> GraphDataset:
    """One of twelve motifs determines the class, and a class holds two of them: six classes with two reasons each.

    A graph has its motif twice: without the second copy deleting a single edge would make another motif of it, and
    nearly every method would be right. `edge_motif_id` is the kind of motif in all graphs: 0 to 5 the first motifs of
    the classes in `UNIONS`, 6 to 11 the second ones.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the graphs and of the split.
        num_graphs: Number of graphs.

    Returns:
        The dataset.

    Raises:
        DatasetError: If `num_graphs` is not a whole number with at least one graph per class.
    """
    kinds = [pair[which] for which in (0, 1) for pair in UNIONS]
    planted = [[(kind, motif)] * 2 for kind, motif in enumerate(kinds)]
    classes = tuple("/".join(motif.name for motif in pair) for pair in UNIONS)
    # As in three-motifs, the number of nodes must not reveal the class.
    return _graph_set("motif-unions", planted, classes, seed, num_graphs, base_sizes=range(8, 21))


def _graph_set(
    name: str,
    planted: Sequence[MotifPlan],
    classes: tuple[str, ...],
    seed: int,
    num_graphs: int,
    base_sizes: range,
) -> GraphDataset:
    """A graph set, graph i with the motifs `planted[i % len(planted)]` by their ids and the class i % len(classes).

    The length of `planted` is a multiple of the number of classes, so that a plan always has the same class.
    """
    _check_num_graphs(name, num_graphs, at_least=len(classes))
    random = np.random.RandomState(seed)
    labels = [position % len(classes) for position in range(num_graphs)]
    graphs = tuple(
        _motif_graph(planted[position % len(planted)], label, base_sizes, random)
        for position, label in enumerate(labels)
    )
    return GraphDataset(name, "graph", graphs, stratified_split(labels, seed), classes)


def _check_num_graphs(name: str, num_graphs: object, at_least: int) -> None:
    """Raise an error unless it is a whole number with at least one graph per class."""
    if not isinstance(num_graphs, Integral) or isinstance(num_graphs, bool) or num_graphs < at_least:
        raise DatasetError(
            f"{name} needs num_graphs to be a whole number of at least {at_least}, one graph per class; "
            f"got {num_graphs!r}"
        )


def _motif_graph(motifs: MotifPlan, label: int, base_sizes: range, random: np.random.RandomState) -> Data:
    """Tie each motif to the base by a single random edge, so that no other cycle arises."""
    base = barabasi_albert(whole_number(random, base_sizes), 1, random)
    graph = bare(base)
    for motif_id, motif in motifs:
        tie = (whole_number(random, range(len(base))), whole_number(random, range(len(motif.roles))))
        graph = attach(graph, motif, motif_id, [tie])
    return planted_data(graph, torch.full((graph.num_nodes, NUM_FEATURES), 0.1), torch.tensor([label]))
