"""Does a graph get the same answer alone as in a batch? A model for which it does not is refused.

A search runs many copies of a graph side by side, each with other edges deleted. A model that mixes the graphs of its
batch (a normalisation over all nodes it is given, say) would answer about the batch, not about the copy. For nodes and
links, `tasks.interference` asks the same of computation graphs.
"""

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.trial import PROBE_LIMIT, SAME, Trial, output_difference, random_pairs


def check_batch_independence(trial: Trial, count: int = PROBE_LIMIT) -> None:
    """Refuse a model whose answer for a graph depends on the rest of its batch, or on earlier calls.

    The probe graphs, complete and without a random half of their edges, are run in one batch, then each alone, in this
    order and again in reverse order.

    Args:
        trial: The trial run of the model.
        count: The least number of graphs; probe graphs are repeated, with other edges deleted, if there are fewer.

    Raises:
        SplitError: The answers differ, or the model raises an error on a graph alone.
    """
    graphs = trial.probe.to_data_list()
    graphs = [graphs[place % len(graphs)] for place in range(max(count, len(graphs)))]
    both = [*graphs, *(_without_half(graph, seed) for seed, graph in enumerate(graphs))]
    together = trial.output(Batch.from_data_list(both), len(both), "on graphs with fewer edges")
    alone = torch.cat([_alone(trial, graph) for graph in both])
    again = torch.cat([_alone(trial, graph) for graph in reversed(both)]).flip(0)
    if (off := output_difference(again, alone)) > SAME:
        raise SplitError(
            f"{trial.name} gives two different answers for the same graph (off by {off:.3g}): it is random in "
            "evaluation mode, or keeps state from one call to the next"
        )
    if (off := output_difference(together, alone)) > SAME:
        raise SplitError(
            f"{trial.name} mixes the graphs of a batch: its answer for a graph alone differs from its answer for the "
            f"same graph in a batch (off by {off:.3g}); a normalisation over a graph (GraphNorm, LayerNorm, PairNorm) "
            "has to know which node belongs to which graph: pass it `batch`"
        )


def _without_half(graph: Data, seed: int) -> Data:
    return delete_edges(graph, random_pairs(graph.edge_index, int(graph.num_nodes or 0), 0.5, seed))


def _alone(trial: Trial, graph: Data) -> Tensor:
    return trial.output(Batch.from_data_list([graph]), 1, "on a graph alone")
