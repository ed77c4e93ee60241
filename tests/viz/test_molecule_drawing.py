"""Molecules: read from SMILES, features or TU labels, and drawn as RDKit draws them."""

import sys
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.datasets import load
from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES
from rcexplainer.datasets.smiles_file import csv
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.viz.drawing_options import DrawingOptions
from rcexplainer.viz.drawing_style import lay_out
from rcexplainer.viz.graph_drawing import GraphDrawing
from rcexplainer.viz.molecule_drawing import MoleculeDrawing
from rcexplainer.viz.molecule_reading import drawn_molecule
from rcexplainer.viz.svg_paths import read_shapes
from tests.viz.explained import both, hexagon, mutagenicity_like, node_explanation, one_hot
from tests.viz.test_explanation_figure import ids, svg, texts

pytest.importorskip("matplotlib")
chem = pytest.importorskip("rdkit.Chem")


def explain(graph: Data, pairs: list[tuple[int, int]], flipped: bool = True, scores=None) -> Explanation:
    """An explanation that deletes these bonds."""
    ends = graph.edge_index.t().tolist()
    columns = [place for place, (start, end) in enumerate(ends) if (start, end) in pairs or (end, start) in pairs]
    after = torch.tensor([0.8, 0.2] if flipped else [0.1, 0.9])
    case = Counterfactual(graph, torch.tensor(columns, dtype=torch.long), 1, after)
    scores = torch.linspace(0, 0.4, len(ends)) if scores is None else scores
    return Explanation(graph, scores, 1, torch.tensor([0.05, 0.95]), ("negative", "positive"), case)


@pytest.fixture
def nitrobenzene(tmp_path) -> Data:
    """Read as a user's file is: C1–C6 are nodes 0 to 5, N is 6, its oxygens are 7 and 8."""
    (tmp_path / "a.csv").write_text("smiles,label\nc1ccccc1[N+](=O)[O-],1\nCCO,0\n", encoding="utf-8")
    return csv(tmp_path / "a.csv").graphs[0]


def test_from_smiles_with_alternating_bonds_charges_and_fixed_hydrogens(nitrobenzene) -> None:
    mol = drawn_molecule(nitrobenzene)
    orders = sorted(str(bond.GetBondType()) for bond in mol.GetBonds())
    assert orders == ["DOUBLE"] * 4 + ["SINGLE"] * 5
    assert [atom.GetFormalCharge() for atom in mol.GetAtoms()] == [0] * 6 + [1, 0, -1]
    assert [atom.GetTotalNumHs() for atom in mol.GetAtoms()] == [1] * 5 + [0] * 4


def test_smiles_of_another_graph_are_not_believed(nitrobenzene) -> None:
    wrong = Data(edge_index=nitrobenzene.edge_index, num_nodes=9, smiles="CCCCCCCCC")
    assert drawn_molecule(wrong) is None
    cut = explain(nitrobenzene, [(5, 6)]).counterfactual.graph  # still carries the molecule's smiles
    assert drawn_molecule(cut).GetNumBonds() == 8
    assert drawn_molecule(Data(edge_index=both([(0, 1)]), num_nodes=2, smiles="not a smiles")) is None


def test_smiles_with_hydrogens_as_nodes() -> None:
    mol = chem.AddHs(chem.MolFromSmiles("CO"))
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()]
    assert drawn_molecule(Data(edge_index=both(bonds), num_nodes=6, smiles="CO")).GetNumAtoms() == 6


def test_every_molecule_of_our_own_set_is_read() -> None:
    for graph in load("nitro", num_graphs=40).graphs:
        mol = drawn_molecule(graph)
        chem.SanitizeMol(mol)
        assert mol.GetNumAtoms() == graph.num_nodes
        assert 2 * mol.GetNumBonds() == graph.num_edges


def test_charges_are_restored_where_all_hydrogens_are_nodes() -> None:
    mol = drawn_molecule(mutagenicity_like())
    assert [atom.GetFormalCharge() for atom in mol.GetAtoms()] == [0, 1, 0, -1, 0, 0, 0]
    assert all(atom.GetTotalNumHs() == 0 for atom in mol.GetAtoms())


def test_names_of_features_can_be_given() -> None:
    graph = mutagenicity_like()
    del graph.atomic_number
    assert drawn_molecule(graph) is None
    names = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
    assert chem.MolToSmiles(chem.RemoveHs(drawn_molecule(graph, names, BOND_NAMES[:3]))) == "C[N+](=O)[O-]"
    assert drawn_molecule(graph, tuple(f"atom {place}" for place in range(14))) is None


@pytest.mark.parametrize(
    "change",
    [{"x": torch.rand(7, 14)}, {"x": None}, {"edge_attr": torch.rand(12, 3)}, {"edge_attr": one_hot([0] * 12, 7)}],
)
def test_what_is_no_molecule_is_not_read(change) -> None:
    graph = mutagenicity_like()
    graph.num_nodes = 7
    for name, value in change.items():
        graph[name] = value
    assert drawn_molecule(graph) is None


def test_unimportant_hydrogens_are_folded_into_their_atoms() -> None:
    graph = mutagenicity_like()
    low = torch.zeros(12)
    drawing = MoleculeDrawing.of([explain(graph, [(0, 4)], scores=low)])
    assert drawing.atoms == (0, 1, 2, 3, 4, -1, -1)  # the deleted one is drawn
    assert drawing.notes == ["Not drawn as atoms: 2 hydrogens."]
    assert drawing.mol.GetAtomWithIdx(0).GetTotalNumHs() == 2
    graph.edge_motif = torch.tensor([False] * 4 + [True, False]).repeat(2)  # C–H of node 5
    assert MoleculeDrawing.of([explain(graph, [(0, 4)], scores=low)]).atoms == (0, 1, 2, 3, 4, 5, -1)


def test_deleted_bonds_are_crossed_and_fragments_are_said_to_be_no_proposal(nitrobenzene, tmp_path) -> None:
    text = svg(explain(nitrobenzene, [(5, 6)]), tmp_path)
    assert ids(text, "deleted") == ["deleted-5-6"]
    assert len(ids(text, "edge")) == 9  # a band behind every bond
    words = " ".join(texts(text).split())
    assert "negative (0.80) without 1 bond" in words
    assert "2 fragments: the graph the model was asked about, not a proposal for a synthesis" in words
    ring = " ".join(texts(svg(explain(nitrobenzene, [(0, 1)]), tmp_path)).split())
    assert "fragments" not in ring
    assert "The graph the model was asked about, not a proposal for a synthesis" in ring


def test_the_counterfactual_lies_where_the_molecule_was(nitrobenzene) -> None:
    one = explain(nitrobenzene, [(5, 6), (0, 1)])
    figure = one.draw()
    before, after, _ = figure.axes
    drawing = MoleculeDrawing.of([one])
    cut = drawing._cut(one)
    assert (cut.GetConformer().GetPositions() == drawing.mol.GetConformer().GetPositions()).all()
    assert cut.GetNumBonds() == 7
    texts_before = [patch for patch in before.patches if patch.get_linewidth() == 0]
    texts_after = [patch for patch in after.patches if patch.get_linewidth() == 0]
    assert len(texts_before) >= 3  # N+, O and O−
    for one_text, other in zip(texts_before[:3], texts_after[:3], strict=True):
        assert one_text.get_path().vertices == pytest.approx(other.get_path().vertices, abs=0.15)


def test_a_failed_search_is_grey(nitrobenzene, tmp_path) -> None:
    text = svg(explain(nitrobenzene, [(5, 6)], flipped=False), tmp_path)
    assert "✗ not flipped" in texts(text)
    assert "deleted in vain" in texts(text)
    assert "#c43c00" not in text


def test_the_style_is_chosen_and_can_be_forced(nitrobenzene, monkeypatch) -> None:
    one = explain(nitrobenzene, [(5, 6)])
    assert isinstance(lay_out([one]), MoleculeDrawing)
    assert isinstance(lay_out([one], "graph"), GraphDrawing)
    assert isinstance(lay_out([hexagon()]), GraphDrawing)
    assert isinstance(lay_out([node_explanation([(0, 1)], 2, 0, [0, 1])]), GraphDrawing)
    with pytest.raises(RCExplainerError, match="cannot be read as a molecule: it needs smiles"):
        lay_out([hexagon()], "molecule")
    monkeypatch.setitem(sys.modules, "rdkit.Chem", None)
    assert isinstance(lay_out([one]), GraphDrawing)
    with pytest.raises(RCExplainerError, match=r'pip install "rcexplainer\[chem\]"'):
        lay_out([one], "molecule")


def test_a_molecule_of_one_atom_and_one_without_a_search(tmp_path) -> None:
    water = Data(x=one_hot([2], len(ATOM_NAMES)), edge_index=torch.empty(2, 0, dtype=torch.long), smiles="O")
    one = replace(explain(water, []), scores=torch.empty(0))
    svg(one, tmp_path)
    assert "No counterfactual" in texts(svg(replace(one, counterfactual=None), tmp_path))


def test_rdkits_paths_are_read_back() -> None:
    line = "<path class='bond-3 atom-1 atom-2' d='M 1.5,2 L -3,4.25' style='fill:none;stroke:#000000' />"
    letter = "<path class='atom-7' d='M 0 0 Q 1 1, 2 2 C 1 2 3 4 5 6 Z' fill='#000000'/>"
    bond, text = read_shapes(line + letter)
    assert (bond.bond, bond.filled, bond.points.tolist()) == (3, False, [[1.5, 2], [-3, 4.25]])
    assert (text.bond, text.filled, len(text.points)) == (None, True, 7)
    assert list(map(int, text.codes)) == [1, 3, 3, 4, 4, 4, 79]  # move, curves, close


def notes(drawing: MoleculeDrawing) -> dict[int, str]:
    """The note beside each atom."""
    atoms = drawing.mol.GetAtoms()
    return {atom.GetIdx(): atom.GetProp("atomNote") for atom in atoms if atom.HasProp("atomNote")}


def test_atoms_have_the_numbers_of_their_nodes(nitrobenzene) -> None:
    one = explain(nitrobenzene, [(5, 6)])
    assert notes(MoleculeDrawing.of([one])) == {atom: str(atom) for atom in range(9)}
    assert notes(MoleculeDrawing.of([one], DrawingOptions(numbers=False))) == {}
    graph = mutagenicity_like()
    graph = graph.subgraph(torch.tensor([4, 0, 1, 2, 3, 5, 6]))  # a folded hydrogen comes first
    drawing = MoleculeDrawing.of([explain(graph, [(0, 1)], scores=torch.zeros(12))])
    assert notes(drawing) == {atom: str(node) for node, atom in enumerate(drawing.atoms) if atom >= 0}
    assert -1 in drawing.atoms
    plain, numbered = (one.draw(numbers=how).axes[1].patches for how in (False, True))
    assert len(numbered) >= len(plain) + 9  # a digit for every atom, in the counterfactual too


def test_large_molecules_number_the_ends_of_deleted_bonds(tmp_path) -> None:
    chain = "C" * 45
    bonds = [(atom, atom + 1) for atom in range(44)]
    one = explain(Data(edge_index=both(bonds), num_nodes=45, smiles=chain), [(7, 8)])
    assert notes(MoleculeDrawing.of([one])) == {7: "7", 8: "8"}
    assert len(notes(MoleculeDrawing.of([one], DrawingOptions(numbers=True)))) == 45


def test_small_molecules_are_not_blown_up(nitrobenzene) -> None:
    ethanol = explain(Data(edge_index=both([(0, 1), (1, 2)]), num_nodes=3, smiles="CCO"), [(1, 2)])
    widths = [one.draw().axes[0].get_xlim() for one in (ethanol, explain(nitrobenzene, [(5, 6)]))]
    assert widths[0][1] - widths[0][0] > 6
