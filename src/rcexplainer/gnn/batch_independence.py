"""Does a graph get the same answer alone as in a batch, and after other calls? Otherwise the model is refused.

A search runs many copies of a graph side by side, each with other edges deleted. A model that mixes the graphs of its
batch (a normalisation over all nodes it is given, say) would answer about the batch, not about the copy; one that
remembers earlier calls (a cache keyed by shape, say) would answer about an earlier copy. For nodes and links,
`tasks.interference` compares computation graphs with the whole graph.
"""

from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.scope import keeps_state, rewound
from rcexplainer.gnn.trial import PROBE_LIMIT, SAME, Trial, half_of_pairs, output_difference

TWINS = 4  # graphs run with two different halves of their edges deleted: two graphs of one shape


def without_memory(trial: Trial) -> Trial:
    """The trial with calls that cannot see earlier ones.

    A model that leaves traces in itself (a cache, a counter, the last attention weights) is put back after every call.
    Its answers must be those it gives when calls follow each other, as they do for its user.

    Args:
        trial: The trial run of the model.

    Returns:
        The same trial if the model leaves no traces.

    Raises:
        SplitError: An answer depends on earlier calls.
    """
    probe, rows, in_order = trial.probe, len(trial.reference), list[Tensor]()
    halves = [delete_edges(probe, half_of_pairs(probe.edge_index, int(probe.num_nodes or 0), seed)) for seed in (0, 1)]

    def answers(trial: Trial) -> list[Tensor]:
        return [trial.output(batch, rows, "on graphs with fewer edges") for batch in halves]

    fresh = replace(trial, forward=rewound(trial.forward))
    apart = answers(fresh)
    leaves_traces = keeps_state(trial.model, lambda: in_order.extend(answers(trial)))
    off = max(output_difference(one, other) for one, other in zip(in_order, apart, strict=True))
    if off > SAME:
        raise SplitError(
            f"{trial.name} gives two different answers for the same graphs (off by {off:.3g}): it keeps state from one "
            "call to the next (a cache keyed by shape, a counter, running statistics)"
        )
    return fresh if leaves_traces else trial


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
    halves = [_without_half(graph, seed) for seed, graph in enumerate([*graphs, *graphs[:TWINS]])]
    both = [*graphs, *halves]
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
    return delete_edges(graph, half_of_pairs(graph.edge_index, int(graph.num_nodes or 0), seed))


def _alone(trial: Trial, graph: Data) -> Tensor:
    return trial.output(Batch.from_data_list([graph]), 1, "on a graph alone")
