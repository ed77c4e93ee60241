"""Aromatic six-membered rings of a graph whose bonds are single and double, for machines without RDKit.

A file holds one of the alternating forms of such a ring, and which one is chance: the same ring must not look different
in two molecules. A ring is taken as aromatic if each of its atoms has a double bond to an atom of such a ring; a double
bond to an atom outside, as in a quinone, does not count. Rings of five atoms have one form only.
"""

from collections.abc import Hashable

import networkx as nx

RING_SIZE = 6
MOST_ATOMS_READ = 250  # a larger graph is no molecule that reasons are read from


def aromatic_bonds(graph: nx.Graph) -> set[frozenset[Hashable]]:
    """Find the bonds of aromatic rings.

    Args:
        graph: Atoms and bonds; the attribute `kind` of a bond is "single", "double", ….

    Returns:
        The two ends of each such bond.
    """
    double = {frozenset((u, v)) for u, v, kind in graph.edges(data="kind") if kind == "double"}
    if len(double) < RING_SIZE // 2 or len(graph) > MOST_ATOMS_READ:
        return set()
    rings = [frozenset(ring) for ring in nx.minimum_cycle_basis(graph) if len(ring) == RING_SIZE]
    while True:
        inside = frozenset().union(*rings)
        bound = {atom for bond in double if bond <= inside for atom in bond}
        kept = [ring for ring in rings if ring <= bound]
        if len(kept) == len(rings):
            return {frozenset(bond) for ring in rings for bond in graph.subgraph(ring).edges}
        rings = kept
