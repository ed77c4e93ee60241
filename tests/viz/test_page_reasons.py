"""Deleted substructures are grouped by what they are, counted by hand."""

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.datasets.fragments import read_smiles, to_data
from rcexplainer.explanation import Explanation
from rcexplainer.viz.page import reasons
from rcexplainer.viz.page.aromatic_rings import aromatic_bonds
from rcexplainer.viz.page.reasons import common_reasons, deleted_pieces
from tests.viz.explained import both

BEFORE, AFTER = torch.tensor([0.9, 0.1]), torch.tensor([0.2, 0.8])


def explained(graph: Data, deleted: list[tuple[int, int]], flipped: bool = True) -> Explanation:
    """An explanation whose counterfactual deletes these edges."""
    wanted = {tuple(sorted(pair)) for pair in deleted}
    columns = [place for place, pair in enumerate(graph.edge_index.t().tolist()) if tuple(sorted(pair)) in wanted]
    assert len(columns) == 2 * len(deleted)
    case = Counterfactual(graph, torch.tensor(columns, dtype=torch.long), 0, AFTER if flipped else BEFORE)
    return Explanation(graph, torch.zeros(graph.num_edges), 0, BEFORE, (), case)


def path(kinds: list[int], width: int = 3) -> Data:
    """A path whose nodes have one-hot kinds."""
    ends = torch.tensor([[place, place + 1] for place in range(len(kinds) - 1)]).t()
    return Data(x=torch.eye(width)[kinds], edge_index=torch.cat([ends, ends.flip(0)], 1))


def test_the_atoms_around_deleted_bonds_are_named_by_their_smiles() -> None:
    pytest.importorskip("rdkit")
    toluene = to_data(read_smiles("c1ccccc1C"), 0)
    nitro = to_data(read_smiles("c1ccccc1[N+](=O)[O-]"), 0)
    turned = to_data(read_smiles("O=[N+]([O-])c1ccccc1"), 0)  # the same molecule, other numbers
    found = common_reasons(
        [
            (0, explained(nitro, [(5, 6)])),
            (1, explained(turned, [(1, 3)], flipped=False)),
            (2, explained(toluene, [(5, 6)])),
        ]
    )
    assert [(one.count, one.flipped, one.smiles) for one in found] == [(2, 1, True), (1, 1, True)]
    assert found[0].text == "cc(c)~[N+](=O)[O-]"
    assert found[1].text == "cc(c)~C"
    assert [instance for instance, _ in found[0].examples] == [0, 1]


def test_deleted_edges_fall_into_connected_pieces() -> None:
    pytest.importorskip("rdkit")
    chain = to_data(read_smiles("CCOCCCCN"), 0)
    one = explained(chain, [(0, 1), (1, 2), (6, 7)])
    pieces = deleted_pieces(one)
    assert sorted(piece.units for piece in pieces) == [(0, 1), (6,)]
    assert {piece.key for piece in pieces} in ({"CO~C~C", "CC~N"}, {"C~C~OC", "CC~N"})  # as RDKit spells it


def test_without_rdkit_a_hash_of_kinds_and_neighbours_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasons, "as_molecule", lambda *_: None)
    names = ("a", "b", "c")
    same, mirrored, other = path([0, 0, 1, 2]), path([2, 1, 0, 0]), path([0, 0, 1, 1])
    found = common_reasons(
        [
            (4, explained(same, [(1, 2)])),
            (7, explained(mirrored, [(1, 2)])),
            (9, explained(other, [(1, 2)])),  # the same edge with another neighbour
            (11, explained(path([0, 0, 1, 2]), [(2, 3)])),
        ],
        names,
    )
    assert [(one.count, one.text) for one in found] == [
        (2, "a–b; 2 nodes around"),
        (1, "a–b; 2 nodes around"),
        (1, "b–c; 1 node around"),
    ]
    assert not found[0].smiles
    assert [instance for instance, _ in found[0].examples] == [4, 7]


def test_an_edge_at_the_explained_node_is_another_reason() -> None:
    graph = path([0, 0, 0, 0])
    near, far = explained(graph, [(1, 2)]), explained(graph, [(1, 2)])
    near = Explanation(graph, near.scores, 0, BEFORE, (), near.counterfactual, 1, graph, torch.arange(6))
    found = common_reasons([(0, near), (1, far)])
    assert sorted(one.text for one in found) == [
        "1 edge, at the explained node; 2 nodes around",
        "1 edge; 2 nodes around",
    ]


def test_what_deletes_nothing_gives_no_reason() -> None:
    graph = path([0, 1, 2])
    alone = Explanation(graph, torch.zeros(4), 0, BEFORE)
    assert common_reasons([(0, alone), (1, explained(graph, [], flipped=False))]) == []


def tu_molecule(smiles: str, other_form: bool = False) -> Data:
    """A molecule as TU files have it: hydrogens are nodes, and bonds of rings are single and double in turn."""
    chem = pytest.importorskip("rdkit.Chem")
    mol = chem.AddHs(chem.MolFromSmiles(smiles))
    ring = [bond.GetIsAromatic() for bond in mol.GetBonds()]
    chem.Kekulize(mol, clearAromaticFlags=True)
    kinds = [int(bond.GetBondTypeAsDouble()) - 1 for bond in mol.GetBonds()]
    kinds = [1 - kind if inside and other_form else kind for kind, inside in zip(kinds, ring, strict=True)]
    pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()]
    numbers = torch.tensor([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    x, kind = torch.eye(14)[torch.zeros_like(numbers)], torch.eye(3)[kinds * 2]
    return Data(x=x, edge_index=both(pairs), edge_attr=kind, atomic_number=numbers)


@pytest.mark.parametrize("deleted", [[(0, 1)], [(4, 5), (5, 6)], [(5, 6)]])
def test_both_forms_of_an_aromatic_ring_are_one_reason(deleted: list[tuple[int, int]]) -> None:
    graphs = [tu_molecule("c1ccccc1[N+](=O)[O-]", form) for form in (False, True)]
    found = common_reasons((number, explained(graph, deleted)) for number, graph in enumerate(graphs))
    assert [one.count for one in found] == [2]
    assert "c" in found[0].text


def test_the_sides_of_a_ring_are_one_reason_of_one_instance() -> None:
    graph = tu_molecule("c1ccccc1[N+](=O)[O-]")
    across = common_reasons([(0, explained(graph, [(0, 1)])), (1, explained(graph, [(1, 2)]))])
    assert [(one.text, one.count) for one in across] == [("[H]c(c)~c([H])c", 2)]


def test_stereochemistry_is_no_reason() -> None:
    pytest.importorskip("rdkit")
    ends = [(0, 1), (1, 2), (2, 3)]
    graphs = [Data(edge_index=both(ends), num_nodes=4, smiles=smiles) for smiles in ("F/C=C/F", "F/C=C\\F")]
    found = common_reasons((number, explained(graph, [(0, 1)])) for number, graph in enumerate(graphs))
    assert [(one.text, one.count) for one in found] == [("C=C~F", 2)]


@pytest.mark.parametrize("smiles", ["c1ccccc1[N+](=O)[O-]", "c1ccncc1"])
def test_without_rdkit_both_forms_of_a_ring_are_one_reason_too(smiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [tu_molecule(smiles, form) for form in (False, True)]
    monkeypatch.setattr(reasons, "as_molecule", lambda *_: None)
    names, kinds = tuple(f"kind {place}" for place in range(14)), ("single", "double", "triple")
    members = [(number, explained(graph, [(0, 1)])) for number, graph in enumerate(graphs)]
    assert [one.count for one in common_reasons(members, names, kinds)] == [2]


def test_aromatic_rings_by_hand() -> None:
    def ring(doubles: list[tuple[int, int]], extra: tuple[tuple[int, int], ...] = ()) -> nx.Graph:
        graph = nx.cycle_graph(6)
        graph.add_edges_from(extra)
        for u, v in graph.edges:
            graph.edges[u, v]["kind"] = "double" if (u, v) in doubles or (v, u) in doubles else "single"
        return graph

    benzene = [ring([(0, 1), (2, 3), (4, 5)]), ring([(1, 2), (3, 4), (5, 0)])]
    assert (
        aromatic_bonds(benzene[0])
        == aromatic_bonds(benzene[1])
        == {frozenset(bond) for bond in nx.cycle_graph(6).edges}
    )
    assert aromatic_bonds(ring([(0, 1), (2, 3)])) == set()
    quinone = ring([(1, 2), (4, 5), (0, 6), (3, 7)], ((0, 6), (3, 7)))
    assert aromatic_bonds(quinone) == set()
    naphthalene = ring([(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)], ((5, 6), (6, 7), (7, 8), (8, 9), (9, 0)))
    assert len(aromatic_bonds(naphthalene)) == 11  # the rings share 5–0
