"""More motifs: small graphs that three layers of message passing on constant features can tell apart."""

import networkx as nx

from rcexplainer.datasets.motifs import Motif


def wheel(rim: int) -> Motif:
    """A hub (node 0) tied to every node of a cycle of `rim` nodes."""
    return _motif("wheel", nx.wheel_graph(rim + 1))


def fan(rim: int) -> Motif:
    """A hub (node 0) tied to every node of a path of `rim` nodes."""
    path = nx.path_graph(range(1, rim + 1))
    return _motif("fan", nx.compose(nx.star_graph(rim), path))


def ladder(rungs: int) -> Motif:
    """Two paths of `rungs` nodes, tied node by node."""
    return _motif("ladder", nx.ladder_graph(rungs))


def bipartite(one: int, other: int) -> Motif:
    """A complete bipartite graph."""
    return _motif(f"K{one},{other}", nx.complete_bipartite_graph(one, other))


def windmill(triangles: int) -> Motif:
    """Triangles that share a hub (node 0) and nothing else."""
    return _motif("windmill", nx.windmill_graph(triangles, 3))


def _motif(name: str, graph: nx.Graph) -> Motif:
    """The graph as a motif whose nodes all have the same role."""
    edges = sorted((min(pair), max(pair)) for pair in graph.edges)
    return Motif(name, edges=tuple(edges), roles=(1,) * len(graph))


DIAMOND = _motif("diamond", nx.diamond_graph())
