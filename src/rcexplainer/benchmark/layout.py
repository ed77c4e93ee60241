"""Which instances methods may learn from, and which they explain.

Graphs, by what is explained:

    one class     test graphs predicted as the class that the paper explains (every class where it names none)
    every class   all test graphs
    paper         all graphs of the set predicted as that class: methods are fitted and evaluated on the same graphs
    authors       methods are fitted on the training graphs predicted as that class; test graphs stand beside them

Nodes: the nodes of half of the motifs, and of the other half; a tenth of the first half may be set apart, whole motifs
again, so that what a method chooses on them is not chosen on motifs that it was trained on. Links: correctly predicted
links of the training part, and of the test part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN

# The classes the paper explains: mutagens, actives, houses. Deletion cannot create: the other class of BA-2motifs, a
# cycle, is also what a graph without a house is taken for. In other sets every class is explained.
EXPLAINED = {"mutagenicity": 0, "nci1": 1, "ba-2motifs": 1}

Explains = Literal["one class", "every class", "paper", "authors"]
Predict = Callable[[Sequence[Data]], Tensor]  # graphs → predicted classes [n]


@dataclass(frozen=True, eq=False)
class Layout:
    """The graphs of a set by what they are used for."""

    training: list[Data]
    explained: list[Data]
    validation: list[Data] | None = None
    background: list[Data] | None = None  # for boundaries and regions; None: the training graphs


def one_class(data: GraphDataset, predict: Predict) -> Layout:
    """Test graphs predicted as the class that the paper explains."""
    wanted, test = EXPLAINED.get(data.name), data.subset("test")
    explained = test if wanted is None else _predicted(test, predict, wanted)
    return Layout(data.subset("train"), explained, data.subset("val"))


def every_class(data: GraphDataset, predict: Predict) -> Layout:
    """All test graphs."""
    return Layout(data.subset("train"), data.subset("test"), data.subset("val"))


def same_graphs(data: GraphDataset, predict: Predict) -> Layout:
    """The paper's protocol: nothing is held out, a tenth of the same graphs stops the training of the explainer.

    Raises:
        RCExplainerError: The network predicts no graph as the class.
    """
    everything, wanted = list(data.graphs), EXPLAINED[data.name]
    graphs = _predicted(everything, predict, wanted)
    if not graphs:
        raise RCExplainerError(f"the network predicts no graph as {data.class_names[wanted]}: train another one")
    return Layout(graphs, graphs, graphs[::10], everything)


def class_alone(data: GraphDataset, predict: Predict) -> Layout:
    """One class, as the authors' code has it: no graph of another class is learnt from, only regions see them."""
    wanted = EXPLAINED[data.name]
    training, explained, validation = (
        _predicted(data.subset(part), predict, wanted) for part in ("train", "test", "val")
    )
    for part, graphs in (("training", training), ("test", explained), ("validation", validation)):
        if not graphs:
            raise RCExplainerError(
                f"the network predicts no {part} graph as {data.class_names[wanted]}: train another one"
            )
    return Layout(training, explained, validation, data.subset("train"))


def _predicted(graphs: list[Data], predict: Predict, label: int) -> list[Data]:
    """The graphs that are predicted as the class."""
    return [graph for graph, found in zip(graphs, predict(graphs).tolist(), strict=True) if found == label]


LAYOUTS: dict[Explains, Callable[[GraphDataset, Predict], Layout]] = {
    "one class": one_class,
    "every class": every_class,
    "paper": same_graphs,
    "authors": class_alone,
}


def motif_nodes(graph: Data) -> Tensor:
    """All nodes that are part of a motif."""
    return (graph.node_motif_id >= 0).nonzero().flatten()


def motif_halves(data: GraphDataset, network: GNN, seed: int) -> tuple[Tensor, Tensor]:
    """The nodes of one half of the motifs, and of the other."""
    graph = data.graph
    nodes = motif_nodes(graph)
    motifs = graph.node_motif_id[nodes].unique()
    order = motifs[torch.randperm(len(motifs), generator=torch.Generator().manual_seed(seed))]
    seen = torch.isin(graph.node_motif_id[nodes], order[: len(order) // 2])
    return nodes[seen], nodes[~seen]


VALIDATION_MOTIFS = 10  # one of so many motifs to learn from is set apart


def motif_validation(data: GraphDataset, seen: Tensor, seed: int) -> tuple[Tensor, Tensor | None]:
    """Set some motifs apart for validation.

    Args:
        data: A node set.
        seen: The nodes to learn from.
        seed: Draws the motifs.

    Returns:
        The nodes to train on, and those of a tenth of the motifs, at least one; None for the latter where all nodes are
        of one motif.
    """
    own = data.graph.node_motif_id[seen]
    motifs = own.unique()
    if len(motifs) < 2:
        return seen, None
    order = motifs[torch.randperm(len(motifs), generator=torch.Generator().manual_seed(seed))]
    apart = torch.isin(own, order[: max(1, len(motifs) // VALIDATION_MOTIFS)])
    return seen[~apart], seen[apart]


@torch.no_grad()
def link_parts(data: GraphDataset, network: GNN, seed: int) -> tuple[Tensor, Tensor]:
    """The correctly predicted links of the training part, and of the test part."""
    graph, pairs = data.graph, data.graph.edge_label_index
    right = (network(graph.x, graph.edge_index, edge_label_index=pairs).argmax(1) == 1) & (graph.edge_label == 1)
    return pairs.t()[data.split.train[right[data.split.train]]], pairs.t()[data.split.test[right[data.split.test]]]


# (dataset, network, seed) → nodes or links to learn from, and held-out ones
PARTITIONS: dict[str, Callable[[GraphDataset, GNN, int], tuple[Tensor, Tensor]]] = {
    "node": motif_halves,
    "link": link_parts,
}
