"""What nodes are called in tables and drawings: a user's names, atoms with their numbers, or numbers alone.

graph.node_names            one name per node, as it is where all differ; else with the node's number
kinds                       what each one-hot node feature stands for, such as an element: c5
graph.atomic_number, .z     elements: C5
graph.smiles                elements again, lower case for aromatic atoms, where its atoms and bonds are the graph's
"""

import re
from collections.abc import Callable, Sequence

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.molecules import from_rdkit
from rcexplainer.errors import MissingExtraError, require

NodeLabel = Callable[[int], str]
ATOMIC_NUMBERS = ("atomic_number", "z")  # attributes that hold atomic numbers
OTHER = "other"  # the kind of a rare element
# Elements by atomic number, from 1 on.
ELEMENTS = re.findall(
    "[A-Z][a-z]?",
    "HHeLiBeBCNOFNeNaMgAlSiPSClArKCaScTiVCrMnFeCoNiCuZnGaGeAsSeBrKrRbSrYZrNbMoTcRuRhPdAgCdInSnSbTeIXeCsBaLaCeP"
    "rNdPmSmEuGdTbDyHoErTmYbLuHfTaWReOsIrPtAuHgTlPbBiPoAtRnFrRaAcThPaUNpPuAmCmBkCfEsFmMdNoLrRfDbSgBhHsMtDsRgCn"
    "NhFlMcLvTsOg",
)


def node_label(graph: Data, kinds: Sequence[str] = ()) -> NodeLabel:
    """Find how the nodes of a graph are called.

    Args:
        graph: The graph.
        kinds: What each one-hot node feature stands for; empty: unknown.

    Returns:
        From a node to its label; its number where nothing else is known.
    """
    own = graph.get("node_names")
    if isinstance(own, list | tuple) and len(own) == graph.num_nodes:
        names = [str(name) for name in own]
        return names.__getitem__ if len(set(names)) == len(names) else lambda node: _numbered(names[node], node)
    element = _elements(graph)
    if kinds:
        return lambda node: _numbered(_kind(graph, kinds, element, node), node)
    return str if element is None else lambda node: _numbered(element[node], node)


def has_node_names(graph: Data, kinds: Sequence[str] = ()) -> bool:
    """Whether nodes are called by more than their numbers.

    Args:
        graph: The graph.
        kinds: As for `node_label`.
    """
    return node_label(graph, kinds) is not str


def _numbered(name: str, node: int) -> str:
    """`c5`; a colon keeps a name that ends in a digit apart from the node's number: `atom 1:5` is node 5."""
    return f"{name}{':' * name[-1:].isdigit()}{node}"


def _kind(graph: Data, kinds: Sequence[str], element: Sequence[str] | None, node: int) -> str:
    """The kind of a node; a rare element by its symbol where that is known."""
    name = kinds[int(graph.x[node].argmax())]
    return element[node] if name == OTHER and element is not None else name


def _elements(graph: Data) -> Sequence[str] | None:
    """The element of each node, where the graph has atomic numbers or a SMILES."""
    for key in ATOMIC_NUMBERS:
        numbers = graph.get(key)
        if isinstance(numbers, Tensor) and numbers.numel() == graph.num_nodes and not numbers.is_floating_point():
            return [
                ELEMENTS[number - 1] if 0 < number <= len(ELEMENTS) else "*" for number in numbers.flatten().tolist()
            ]
    return _from_smiles(graph)


def _from_smiles(graph: Data) -> Sequence[str] | None:
    """The atoms of the graph's SMILES, if they are its nodes and the bonds its edges; None also without RDKit."""
    smiles = graph.get("smiles")
    if not isinstance(smiles, str):
        return None
    try:
        chem = require("rdkit.Chem", "chem")
    except MissingExtraError:
        return None
    with require("rdkit.rdBase", "chem").BlockLogs():
        mol = chem.MolFromSmiles(smiles)
    if mol is None or mol.GetNumAtoms() != graph.num_nodes:
        return None
    molecule = from_rdkit(mol)
    bonds = {frozenset((bond.start, bond.end)) for bond in molecule.bonds}
    edges = {frozenset(pair) for pair in graph.edge_index.t().tolist() if pair[0] != pair[1]}
    return [atom.symbol for atom in molecule.atoms] if bonds == edges else None
