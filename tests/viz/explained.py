"""Explanations by hand, for drawings: any edges, scores, deletions and outcomes."""

import torch
from torch_geometric.data import Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.explanation import Explanation

WICKED = "<script>alert('$x_1$')</script>"


def both(pairs: list[tuple[int, int]]) -> torch.Tensor:
    """Pairs of nodes as edges in both directions."""
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    return torch.cat([edges, edges.flip(0)], 1)


def explained(
    edge_index: torch.Tensor,
    num_nodes: int,
    deleted: list[int] | None = None,
    flipped: bool = True,
    names: tuple[str, ...] = ("safe", "toxic"),
    **values,
) -> Explanation:
    """An explanation whose scores rise along the columns; the columns `deleted` are deleted, None: no search."""
    graph = Data(edge_index=edge_index, num_nodes=num_nodes, **values)
    scores = torch.linspace(0.1, 0.9, edge_index.size(1)) if edge_index.size(1) else torch.empty(0)
    before, after = torch.tensor([0.04, 0.96]), torch.tensor([0.7, 0.3] if flipped else [0.2, 0.8])
    case = None if deleted is None else Counterfactual(graph, torch.tensor(deleted, dtype=torch.long), 1, after)
    return Explanation(graph, scores, 1, before, names, case)


def hexagon(deleted: list[int] | None = None, flipped: bool = True, **values) -> Explanation:
    """A cycle of six nodes and a tail; columns 0 and 7 are the edge 0–1."""
    pairs = [(node, (node + 1) % 6) for node in range(6)] + [(0, 6)]
    return explained(both(pairs), 7, deleted, flipped, **values)


def node_explanation(pairs: list[tuple[int, int]], nodes: int, root: int, deleted: list[int]) -> Explanation:
    """A node explained in the whole of a graph."""
    whole = Data(edge_index=both(pairs), num_nodes=nodes)
    part = Data(edge_index=whole.edge_index, num_nodes=nodes, root_index=torch.tensor([root]))
    scores = torch.linspace(1, 0, len(pairs)).repeat(2)
    case = Counterfactual(whole, torch.tensor(deleted), 0, torch.tensor([0.3, 0.7]))
    ids = torch.arange(whole.num_edges)
    return Explanation(whole, scores, 0, torch.tensor([0.9, 0.1]), (), case, root, part, ids)


def one_hot(places: list[int], width: int) -> torch.Tensor:
    """A row for each place, with a 1 there."""
    return torch.eye(width)[places]


def mutagenicity_like() -> Data:
    """Nitromethane with its hydrogens as nodes and no charges, as TU files have it: C N O O H H H."""
    names = [0, 4, 1, 1, 3, 3, 3]
    pairs = [(0, 1), (1, 2), (1, 3), (0, 4), (0, 5), (0, 6)]
    kinds = one_hot([0, 1, 0, 0, 0, 0] * 2, 3)
    x = one_hot(names, 14)
    return Data(x=x, edge_index=both(pairs), edge_attr=kinds, atomic_number=torch.tensor([6, 7, 8, 8, 1, 1, 1]))
