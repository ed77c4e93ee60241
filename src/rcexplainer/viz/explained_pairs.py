"""The lines of a drawn explanation: stretched scores, deleted edges, and the motif where the graph carries one."""

import torch
from torch import Tensor

from rcexplainer.explanation import EdgeReading, Explanation
from rcexplainer.viz.graphs import stretched
from rcexplainer.viz.pairs import Pairs, find_pairs


def explained_pairs(one: Explanation, reading: EdgeReading, columns: Tensor | None = None) -> tuple[Pairs, Tensor]:
    """Collect the edges between each two nodes of an explained instance.

    Args:
        one: The explanation.
        reading: Which reading of the edges is drawn.
        columns: Edges as positions in the columns of the whole graph's `edge_index`; None: all.

    Returns:
        The pairs, by the numbers of the nodes in the whole graph, and their scores [pairs], from 0 (lowest) to 1.
    """
    graph, values = one.graph, stretched(one.reading(reading))
    if one.edge_ids is not None:
        values = values.new_zeros(graph.num_edges).index_copy(0, one.edge_ids, values)
    columns = torch.arange(graph.num_edges) if columns is None else columns
    removed = None if one.counterfactual is None else one.counterfactual.removed[columns]
    motif = graph.get("edge_motif")
    known = motif[columns] if isinstance(motif, Tensor) and motif.shape == (graph.num_edges,) else None
    pairs = find_pairs(graph.edge_index[:, columns], values[columns], removed, known)
    assert pairs.scores is not None
    return pairs, pairs.scores
