"""The reasons that come up again and again: deleted substructures, grouped by what they are.

The deleted edges of an instance fall into connected pieces. Two pieces are the same reason if the predicted class is
the same and so are the piece, the nodes around it and their names: as canonical SMILES where the graph is a molecule
and RDKit is installed (`~` marks a deleted bond), else by a Weisfeiler–Lehman hash.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from rcexplainer.errors import require
from rcexplainer.explanation import Explanation
from rcexplainer.viz.molecule_reading import perceived_rings
from rcexplainer.viz.page.aromatic_rings import aromatic_bonds
from rcexplainer.viz.page.molecule import as_molecule, bond_kinds, node_kinds

WL_ROUNDS = 3
DELETED_BOND = "~"


@dataclass(frozen=True)
class Piece:
    """A connected set of deleted units of one instance.

    Attributes:
        units: Positions in `explanation.units`.
        key: Canonical SMILES, or hash, of the deleted edges and what is around them.
        text: The same for people.
        smiles: Whether the key is a SMILES.
    """

    units: tuple[int, ...]
    key: str
    text: str
    smiles: bool


@dataclass(frozen=True)
class Reason:
    """A deleted substructure of several instances.

    Attributes:
        text: What it is: SMILES, or a description.
        smiles: Whether the text is a SMILES.
        prediction: The predicted class of these instances.
        count: Number of instances from which it is deleted.
        flipped: Number of these whose prediction is verified to change.
        examples: Pairs of an instance and the deleted units in it, flipped ones first.
    """

    text: str
    smiles: bool
    prediction: int
    count: int
    flipped: int
    examples: tuple[tuple[int, tuple[int, ...]], ...]


def common_reasons(
    explanations: Iterable[tuple[int, Explanation]], node_names: Sequence[str] = (), edge_names: Sequence[str] = ()
) -> list[Reason]:
    """Group what counterfactuals delete.

    Args:
        explanations: Explanations with the numbers of their instances; those without a counterfactual do not count.
        node_names: What each one-hot node feature stands for, if the caller knows it.
        edge_names: What each one-hot entry of `edge_attr` stands for, if the caller knows it.

    Returns:
        The reasons, the most frequent first.
    """
    groups: dict[tuple[int, str], dict[int, tuple[Piece, bool]]] = defaultdict(dict)
    for number, one in explanations:
        for piece in deleted_pieces(one, node_names, edge_names):
            assert one.counterfactual is not None
            # An instance counts once, however often the piece occurs in it.
            groups[one.prediction, piece.key].setdefault(number, (piece, one.counterfactual.flipped))
    found = []
    for (prediction, _), members in groups.items():
        order = sorted(members, key=lambda number: (not members[number][1], number))
        first = members[order[0]][0]
        flipped = sum(flips for _, flips in members.values())
        examples = tuple((number, members[number][0].units) for number in order)
        found.append(Reason(first.text, first.smiles, prediction, len(members), flipped, examples))
    return sorted(found, key=lambda reason: (-reason.count, -reason.flipped, reason.prediction, reason.text))


def deleted_pieces(one: Explanation, node_names: Sequence[str] = (), edge_names: Sequence[str] = ()) -> list[Piece]:
    """Cut the deleted units of an instance into connected pieces and say what each is.

    Args:
        one: The explanation.
        node_names: As for `common_reasons`.
        edge_names: As for `common_reasons`.

    Returns:
        The pieces; none without a counterfactual.
    """
    removed = one.removed_units.tolist()
    if not removed:
        return []
    pairs = {unit: tuple(one.units.pair[:, unit].tolist()) for unit in removed}
    deleted = nx.Graph()
    deleted.add_edges_from((u, v, {"unit": unit}) for unit, (u, v) in pairs.items())
    mol = as_molecule(one.graph, node_names, edge_names) if one.index is None else None
    mol = None if mol is None else perceived_rings(mol)
    whole = _labelled_graph(one, node_names, edge_names) if mol is None else None
    found = []
    for nodes in nx.connected_components(deleted):
        units = tuple(sorted(deleted.edges[edge]["unit"] for edge in deleted.edges(nodes)))
        edges = [pairs[unit] for unit in units]
        if mol is not None:
            key = _smiles(mol, edges)
            found.append(Piece(units, key, key, True))
        else:
            assert whole is not None
            key, text = _hashed(whole, edges)
            found.append(Piece(units, key, text, False))
    return found


def _smiles(mol: Any, edges: Sequence[tuple[int, ...]]) -> str:
    """Canonical SMILES of the atoms of these bonds and their neighbours."""
    chem = require("rdkit.Chem", "chem")
    atoms = {atom for edge in edges for atom in edge}
    around = atoms | {near.GetIdx() for atom in atoms for near in mol.GetAtomWithIdx(atom).GetNeighbors()}
    deleted = {frozenset(edge) for edge in edges}
    inside, symbols = [], []
    for bond in mol.GetBonds():
        ends = frozenset((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        symbols.append(DELETED_BOND if ends in deleted else bond.GetSmarts(allBondsExplicit=False))
        if ends <= around and ends & atoms:
            inside.append(bond.GetIdx())
    with require("rdkit.rdBase", "chem").BlockLogs():
        return str(chem.MolFragmentToSmiles(mol, sorted(around), inside, bondSymbols=symbols))


def _labelled_graph(one: Explanation, node_names: Sequence[str], edge_names: Sequence[str]) -> nx.Graph:
    """The units of an instance as a networkx graph, with the kinds of nodes and edges where they are known."""
    kinds = node_kinds(one.graph, node_names)
    bonds = bond_kinds(one.graph, edge_names) if one.index is None else None
    of_unit = dict(zip(one.units.of_edge.tolist(), bonds, strict=True)) if bonds else {}
    roots = {one.index} if isinstance(one.index, int) else set(one.index or ())
    graph = nx.Graph()
    for unit, (u, v) in enumerate(one.units.pair.T.tolist()):
        graph.add_edge(u, v, kind=of_unit.get(unit, ""))
    for u, v in aromatic_bonds(graph):
        graph.edges[u, v]["kind"] = "aromatic"
    for node, values in graph.nodes(data=True):
        # The explained node is a landmark: an edge beside it is another reason than one far away.
        values["name"], values["root"] = kinds[node] if kinds else "", node in roots
        values["kind"] = f"{values['name']} {'explained' if node in roots else ''}"
    return graph


def _hashed(whole: nx.Graph, edges: Sequence[tuple[int, ...]]) -> tuple[str, str]:
    """Hash of these edges with their neighbourhood, and the same in words."""
    nodes = {node for edge in edges for node in edge}
    part = nx.Graph()
    around = nodes | {near for node in nodes for near in whole[node]}
    part.add_nodes_from((node, whole.nodes[node]) for node in around)
    for u, v, kind in whole.edges(nodes, data="kind"):
        part.add_edge(u, v, kind=kind)
    for u, v in edges:
        part.edges[u, v]["kind"] = f"deleted {part.edges[u, v]['kind']}"
    key = nx.weisfeiler_lehman_graph_hash(part, node_attr="kind", edge_attr="kind", iterations=WL_ROUNDS)
    return key, _description(whole, edges, len(around) - len(nodes))


def _description(whole: nx.Graph, edges: Sequence[tuple[int, ...]], near: int) -> str:
    """Such as "C–N, N–O; 3 nodes around" or "2 edges, 1 at the explained node; 3 nodes around"."""
    kinds = [sorted(whole.nodes[node]["name"] for node in edge) for edge in edges]
    at_root = sum(any(whole.nodes[node]["root"] for node in edge) for edge in edges)
    text = f"{len(edges)} edge{'s' * (len(edges) != 1)}"
    if any(name for pair in kinds for name in pair):
        named = Counter("–".join(name or "node" for name in pair) for pair in kinds)
        text = ", ".join(name if count == 1 else f"{count} × {name}" for name, count in sorted(named.items()))
    if at_root:
        text += f", {at_root} at the explained node" if len(edges) > 1 else ", at the explained node"
    return f"{text}; {near} node{'s' * (near != 1)} around"
