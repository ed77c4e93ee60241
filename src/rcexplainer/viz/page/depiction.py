"""What is drawn of an instance: places and names of nodes, kinds of bonds, and which edges of a large graph.

Places come from RDKit for molecules where it is installed, else from the package's own layout. Every method is drawn in
the same places. Edges of a typical length are 1 long, or longer where nodes would be crowded, as around a hub.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.node_labels import node_label
from rcexplainer.errors import require
from rcexplainer.explanation import Explanation
from rcexplainer.viz.excerpt import Excerpt, choose_excerpt
from rcexplainer.viz.excerpt_layout import excerpt_layout
from rcexplainer.viz.label_places import LONG_NAME, label_places
from rcexplainer.viz.layout import Places
from rcexplainer.viz.molecule_reading import alternating_bonds
from rcexplainer.viz.page.edge_marks import motif_units, unit_directions
from rcexplainer.viz.page.molecule import as_molecule, bond_kinds, kind_names, node_kinds
from rcexplainer.viz.search_outcome import shortened

PAGE_EDGES = 300  # of an instance that is drawn completely
EXCERPT_EDGES = 80  # edges with the highest scores that are drawn of a larger one
NODE_GAP = 0.45  # least median distance from a node to its nearest, in lengths of an edge
MOST_STRETCH = 8.0  # of an edge in a crowded drawing
LONGEST_BESIDE = 12  # characters of a name beside its node
LEAST_BESIDE, BESIDE_SHARE = 0.2, 0.024  # their font size: at least, in lengths of an edge; and of the drawing's width
RING = 0.28  # radius of the ring around an explained node, as drawing.js draws it
ORDERS = {"single": 1, "double": 2, "triple": 3, "aromatic": 4}
CHARGES = {1: "⁺", -1: "⁻", 2: "²⁺", -2: "²⁻"}
DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True, eq=False)
class Depiction:
    """The drawing of an instance, without scores.

    Attributes:
        nodes: The nodes drawn, by their numbers in the graph.
        places: [nodes, 2] their places; y points down.
        names: Their names in words, such as "N7".
        texts: What is written at them; empty for a dot or a corner.
        units: The units drawn, as positions in `explanation.units`.
        ends: The two nodes of each, as positions in `nodes`; of an edge that goes one way, where it starts comes first.
        orders: The bond order of each: 1, 2, 3, 4 for aromatic, 0 if unknown.
        one_way: The drawn units whose edges all go one way, as positions in `units`.
        motif: The drawn units of the motif, likewise.
        molecule: Whether it is drawn like a molecule.
        left_out: What is not drawn, in words; empty if nothing.
        beside: Long names that stand beside the dots of their nodes: position in `nodes`, name, place of its middle.
        beside_size: Their font size, in lengths of an edge.
    """

    nodes: tuple[int, ...]
    places: Places
    names: tuple[str, ...]
    texts: tuple[str, ...]
    units: tuple[int, ...]
    ends: tuple[tuple[int, int], ...]
    orders: tuple[int, ...]
    one_way: tuple[int, ...]
    motif: tuple[int, ...]
    molecule: bool
    left_out: str
    beside: tuple[tuple[int, str, float, float], ...] = ()
    beside_size: float = 0.0


def depict(
    one: Explanation,
    importance: Tensor,
    deleted: Tensor,
    node_names: Sequence[str] = (),
    edge_names: Sequence[str] = (),
) -> Depiction:
    """Find out how an instance is drawn.

    Args:
        one: Its explanation.
        importance: [units] which units are drawn first, if not all are.
        deleted: [units] bool; units that a counterfactual deletes, which come before all others.
        node_names: What each one-hot node feature stands for, if the caller knows it.
        edge_names: What each one-hot entry of `edge_attr` stands for, if the caller knows it.

    Returns:
        The drawing.
    """
    roots = [] if one.index is None else [one.index] if isinstance(one.index, int) else list(one.index)
    excerpt = _excerpt(one, importance, deleted, roots)
    units, nodes = torch.from_numpy(excerpt.kept).nonzero().flatten(), torch.from_numpy(excerpt.nodes)
    pairs = one.units.pair[:, units]
    place = torch.full((int(one.graph.num_nodes or 0),), -1)
    place[nodes] = torch.arange(len(nodes))
    way = unit_directions(one)[units]
    ends = torch.where(way < 0, place[pairs].flip(0), place[pairs])
    mol = as_molecule(one.graph, node_names, edge_names) if one.index is None and not excerpt.left_out else None
    kinds = None if mol is not None else node_kinds(one.graph, node_names)
    orders = _orders(one, mol, edge_names)
    # Without RDKit a graph whose bonds are known is still drawn with them, in the package's own layout.
    like_molecule = mol is not None or (kinds is not None and bool(orders) and min(orders) > 0)
    texts = _texts(one.graph, nodes.tolist(), mol, kinds)
    label = node_label(one.graph, kind_names(one.graph, node_names))
    if mol is None and like_molecule and one.graph.get("node_names") is None:
        joined = set(ends.flatten().tolist())
        texts = ["" if text in "Cc" and node in joined else text.capitalize() for node, text in enumerate(texts)]
    places = _rdkit_places(mol) if mol is not None else excerpt_layout(excerpt, one.units.pair.numpy(), roots)
    places = _scaled(places, ends)
    long = ["" if like_molecule or len(text) <= LONG_NAME else shortened(text, LONGEST_BESIDE) for text in texts]
    size = _beside_size(places)
    at = [int(place[root]) for root in roots]
    gone = set(ends[:, deleted[units]].flatten().tolist())
    named = label_places(places, long, ends.numpy(), size, at, RING, gone) if any(long) else places
    return Depiction(
        nodes=tuple(nodes.tolist()),
        places=places,
        names=tuple(label(node) for node in nodes.tolist()),
        texts=tuple("" if name else text for text, name in zip(texts, long, strict=True)),
        units=tuple(units.tolist()),
        ends=tuple((u, v) for u, v in ends.T.tolist()),
        orders=tuple(orders[unit] for unit in units.tolist()),
        one_way=tuple(way.nonzero().flatten().tolist()),
        motif=tuple(motif_units(one)[units].nonzero().flatten().tolist()),
        molecule=like_molecule,
        left_out=excerpt.left_out,
        beside=tuple(
            (node, name, round(x, 2), round(y, 2))
            for node, (name, (x, y)) in enumerate(zip(long, named.tolist(), strict=True))
            if name
        ),
        beside_size=round(size, 3),
    )


def _excerpt(one: Explanation, importance: Tensor, deleted: Tensor, roots: list[int]) -> Excerpt:
    """Which units and nodes are drawn; of a node or link no nodes without edges."""
    every = torch.arange(int(one.graph.num_nodes or 0))
    nodes = every if one.index is None else torch.cat([one.units.pair.flatten(), torch.tensor(roots)]).unique()
    return choose_excerpt(
        one.units.pair.numpy(),
        importance.double().numpy(),
        deleted.numpy(),
        nodes.numpy(),
        list(dict.fromkeys(roots)),
        PAGE_EDGES,
        EXCERPT_EDGES,
    )


def _texts(graph: Data, nodes: list[int], mol: Any | None, kinds: list[str] | None) -> list[str]:
    """What is written at nodes."""
    own = graph.get("node_names")
    if isinstance(own, list | tuple) and len(own) == graph.num_nodes:
        return [str(own[node]) for node in nodes]
    if mol is not None:
        return [_atom_text(mol.GetAtomWithIdx(node)) for node in nodes]
    return [""] * len(nodes) if kinds is None else [kinds[node] for node in nodes]


def _atom_text(atom: Any) -> str:
    """The text at an atom: none for carbon in a chain or ring, else element, hydrogens and charge."""
    if atom.GetSymbol() == "C" and atom.GetDegree() and not atom.GetFormalCharge():
        return ""
    count = atom.GetTotalNumHs()
    hydrogens = "" if not count else "H" if count == 1 else f"H{count}".translate(DIGITS)
    return f"{atom.GetSymbol()}{hydrogens}{CHARGES.get(atom.GetFormalCharge(), '')}"


def _orders(one: Explanation, mol: Any | None, edge_names: Sequence[str]) -> list[int]:
    """The bond order of every unit; of a molecule the alternating form, where there is one."""
    if mol is None:
        kinds = bond_kinds(one.graph, edge_names) if one.index is None else None
        found = [0] * len(one.units)
        for unit, kind in zip(one.units.of_edge.tolist(), kinds or (), strict=False):
            if unit >= 0:
                found[unit] = ORDERS.get(kind, 0)
        return found
    drawn = alternating_bonds(mol)
    bonds = (drawn.GetBondBetweenAtoms(*pair) for pair in one.units.pair.T.tolist())
    return [ORDERS.get(str(bond.GetBondType()).lower(), 1) for bond in bonds]


def _rdkit_places(mol: Any) -> Places:
    """RDKit's coordinates, with y pointing down."""
    drawn = require("rdkit.Chem", "chem").Mol(mol)
    require("rdkit.Chem.rdDepictor", "chem").Compute2DCoords(drawn)
    return np.asarray(drawn.GetConformer().GetPositions())[:, :2] * np.array([1.0, -1.0])


def _beside_size(places: Places) -> float:
    """A font size that is about the same on the screen for small and large drawings."""
    width, height = (places.max(0) - places.min(0) + 2).tolist() if len(places) else (1.0, 1.0)
    return max(LEAST_BESIDE, BESIDE_SHARE * max(width, 1.5 * height))


def _scaled(places: Places, ends: Tensor) -> Places:
    """Moved to the origin and scaled so that an edge of median length has length 1, or more where nodes are crowded."""
    if not len(places):
        return places
    places = places - places.min(0)
    start, end = (places[side.numpy()] for side in ends)
    lengths = np.linalg.norm(start - end, axis=1)
    typical = float(np.median(lengths)) if len(lengths) else 0.0
    if len(places) > 1:
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        typical = min(typical, max(float(np.median(apart.min(1))) / NODE_GAP, typical / MOST_STRETCH))
    return places / (typical if typical > 1e-6 else 1.0)
