"""The set `nitro`: its rule, its ground truth, its chemistry, and that no shortcut gives the classes away."""

import zlib
from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import is_undirected, to_networkx

from rcexplainer.datasets import GraphDataset, load
from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES, hydrogens, join, molecule_key, read_smiles
from rcexplainer.datasets.molecules import from_rdkit, to_rdkit
from rcexplainer.datasets.nitro import nitro
from rcexplainer.datasets.nitro_vocabulary import AROMATIC_RINGS, GROUPS, LINKERS, SATURATED_RINGS
from rcexplainer.errors import DatasetError
from rcexplainer.gnn.graph_checks import as_graphs

# The rule once more, in words of a chemist; the first two atoms are the bond to the ring.
TOXIC = {"nitro": "a-[N+](=O)[O-]", "amino": "a-[NX3;H2;+0]"}
DECOYS = {
    "aminomethyl": "[#6;R]-[CH2;!R]-[NH2]",
    "aminoethyl": "[#6;R]-[CH2;!R]-[CH2;!R]-[NH2]",
    "amino, saturated": "[CX4;R]-[NH2]",
    "nitromethyl": "[#6;R]-[CH2;!R]-[N+](=O)[O-]",
    "nitro, saturated": "[CX4;R]-[N+](=O)[O-]",
    "methylamino": "c-[NH]-[CH3]",
    "dimethylamino": "c-N(-[CH3])-[CH3]",
    "nitroso": "c-[NX2]=O",
    "amide": "[#6;R]-C(=O)-[NH2]",
    "nitrile": "[#6;R]-C#N",
    "acid": "[#6;R]-C(=O)-[OH]",
    "aldehyde": "[#6;R]-[CH1]=O",
    "acetyl": "[#6;R]-C(=O)-[CH3]",
    "hydroxyl": "[#6;R]-[OH]",
    "methoxy": "[#6;R]-O-[CH3]",
    "methyl": "[#6;R]-[CH3]",
    "ethyl": "[#6;R]-[CH2]-[CH3]",
    "trifluoromethyl": "[#6;R]-C(F)(F)F",
    "fluoro": "[#6;R]-F",
    "chloro": "[#6;R]-Cl",
    "bromo": "[#6;R]-Br",
}


@pytest.fixture(scope="module")
def dataset() -> GraphDataset:
    return load("nitro")


@pytest.fixture(scope="module")
def labels(dataset: GraphDataset) -> Tensor:
    return torch.cat([graph.y for graph in dataset.graphs])


@pytest.fixture(scope="module")
def mols(dataset: GraphDataset) -> list[Any]:
    pytest.importorskip("rdkit")
    return [to_rdkit(graph) for graph in dataset.graphs]  # every one passes RDKit's checks of valence and aromaticity


def pattern(smarts: str) -> Any:
    return pytest.importorskip("rdkit.Chem").MolFromSmarts(smarts)


def test_classes_are_balanced_and_the_split_keeps_them_so(dataset: GraphDataset, labels: Tensor) -> None:
    assert len(dataset) == 3000
    assert dataset.task == "graph"
    assert dataset.class_names == ("negative", "positive")
    assert labels.bincount().tolist() == [1500, 1500]
    for part, size in (("train", 2400), ("val", 300), ("test", 300)):
        assert labels[getattr(dataset.split, part)].bincount().tolist() == [size // 2, size // 2]


def test_graphs_are_well_formed(dataset: GraphDataset) -> None:
    assert dataset.node_names == ATOM_NAMES
    assert dataset.edge_names == BOND_NAMES
    for graph in as_graphs(dataset.graphs):
        assert graph.edge_index.dtype == graph.edge_motif_id.dtype == graph.formal_charge.dtype == torch.long
        assert graph.y.shape == (1,)
        assert graph.x.sum(1).eq(1).all()
        assert graph.edge_attr.sum(1).eq(1).all()
        assert is_undirected(graph.edge_index, [graph.edge_attr, graph.edge_motif_id])
        assert graph.is_coalesced()
        assert nx.is_connected(to_networkx(graph, to_undirected=True))
        assert int(graph.formal_charge.sum()) == 0
    batch = next(iter(DataLoader(list(dataset.graphs[:8]), batch_size=8)))
    assert batch.edge_motif.shape == batch.edge_motif_id.shape == batch.edge_index[0].shape


def test_ground_truth_is_there_exactly_in_positives(dataset: GraphDataset) -> None:
    assert dataset.has_ground_truth
    number = []
    for graph in dataset.graphs:
        assert bool(graph.edge_motif.any()) == bool(graph.y)
        assert torch.equal(graph.edge_motif, graph.edge_motif_id >= 0)
        number.append(int(graph.edge_motif_id.max()) + 1)
    share = torch.tensor(number).bincount() / len(dataset)
    assert share.tolist()[:2] == pytest.approx([0.5, 0.43], abs=0.03)
    assert len(share) == 3


def test_one_seed_one_set() -> None:
    def content(graph: Data) -> list[Tensor]:
        return [value for _, value in sorted(graph.to_dict().items())]

    def same(one: GraphDataset, other: GraphDataset) -> bool:
        pairs = zip(one.graphs, other.graphs, strict=True)
        return all(
            len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(content(a), content(b), strict=True))
            for a, b in pairs
        )

    first = nitro(seed=3, num_graphs=40)
    assert same(first, nitro(seed=3, num_graphs=40))
    assert not same(first, nitro(seed=4, num_graphs=40))
    longer = nitro(seed=3, num_graphs=80)
    assert all(torch.equal(a.x, b.x) for a, b in zip(first.graphs, longer.graphs, strict=False))


def test_the_set_is_the_same_on_every_machine(dataset: GraphDataset) -> None:
    edges = torch.cat([graph.edge_index for graph in dataset.graphs], dim=1)
    atoms = torch.cat([graph.x.argmax(dim=1) for graph in dataset.graphs])
    numbers = torch.cat([edges.flatten(), atoms]).to(torch.uint8)
    assert zlib.crc32(numbers.numpy().tobytes()) == 111724954


@pytest.mark.parametrize("wrong", [0, -2, 3, "many"])
def test_an_impossible_number_of_graphs_is_refused(wrong: object) -> None:
    with pytest.raises(DatasetError, match=rf"num_graphs must be an even number of at least 2, got {wrong!r}"):
        load("nitro", num_graphs=wrong)


def test_sizes_are_those_of_small_molecules(dataset: GraphDataset) -> None:
    sizes = torch.tensor([float(graph.num_nodes) for graph in dataset.graphs])
    assert sizes.min() >= 8
    assert sizes.max() <= 28
    assert ((sizes >= 10) & (sizes <= 25)).float().mean() > 0.85


def test_no_molecule_comes_twice(mols: list[Any]) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    assert len({chem.MolToSmiles(mol) for mol in mols}) == len(mols)


def test_chemistry_is_right(dataset: GraphDataset, mols: list[Any]) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    for graph, mol in zip(dataset.graphs, mols, strict=True):
        names = [ATOM_NAMES[position] for position in graph.x.argmax(dim=1).tolist()]
        # RDKit, which judges aromaticity by itself, agrees with ours; no valence is left open.
        assert [atom.GetIsAromatic() for atom in mol.GetAtoms()] == [name.islower() for name in names]
        assert not any(atom.GetNumRadicalElectrons() for atom in mol.GetAtoms())
        smiles = chem.MolToSmiles(mol)
        assert chem.MolToSmiles(chem.MolFromSmiles(smiles)) == smiles


def test_the_label_and_the_ground_truth_follow_the_rule(dataset: GraphDataset, mols: list[Any]) -> None:
    patterns = [pattern(smarts) for smarts in TOXIC.values()]
    for graph, mol in zip(dataset.graphs, mols, strict=True):
        expected = {
            frozenset(frozenset((match[min(i, 1)], match[i + 1])) for i in range(len(match) - 1))
            for query in patterns
            for match in mol.GetSubstructMatches(query)
        }
        marked: dict[int, set[frozenset[int]]] = {}
        for (start, end), motif in zip(graph.edge_index.t().tolist(), graph.edge_motif_id.tolist(), strict=True):
            marked.setdefault(motif, set()).add(frozenset((start, end)))
        marked.pop(-1)
        assert {frozenset(bonds) for bonds in marked.values()} == expected
        assert sorted(marked) == list(range(len(expected)))
        assert int(graph.y) == bool(expected)


def test_both_groups_are_equally_common(mols: list[Any]) -> None:
    nitro_count, amino_count = (
        sum(len(mol.GetSubstructMatches(pattern(smarts))) for mol in mols) for smarts in TOXIC.values()
    )
    assert nitro_count / amino_count == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("decoy", DECOYS)
def test_decoys_are_in_both_classes(decoy: str, mols: list[Any], labels: Tensor) -> None:
    query = pattern(DECOYS[decoy])
    found = torch.tensor([mol.HasSubstructMatch(query) for mol in mols]).float()
    negative, positive = (float(found[labels == label].mean()) for label in (0, 1))
    assert min(negative, positive) > 0.02
    assert 0.5 < positive / negative < 2


def test_twins_share_their_rings(mols: list[Any]) -> None:
    rings = [sorted(map(len, mol.GetRingInfo().AtomRings())) for mol in mols]
    aromatic = [sum(atom.GetIsAromatic() for atom in mol.GetAtoms()) for mol in mols]
    assert rings[::2] == rings[1::2]
    assert aromatic[::2] == aromatic[1::2]
    assert all(aromatic)


def test_counts_do_not_give_the_class_away(dataset: GraphDataset, labels: Tensor) -> None:
    atoms = torch.stack([graph.x.sum(0) for graph in dataset.graphs])
    bonds = torch.stack([graph.edge_attr.sum(0) for graph in dataset.graphs])
    counts = torch.cat([atoms, bonds, atoms.sum(1, keepdim=True)], dim=1)
    assert stump(counts, labels) < 0.65
    held_out = torch.cat([dataset.split.val, dataset.split.test])
    assert logistic(atoms, labels, dataset.split.train, held_out) < 0.68
    assert logistic(counts, labels, dataset.split.train, held_out) < 0.72


def stump(counts: Tensor, labels: Tensor) -> float:
    """The best one-question classifier."""
    shares = [
        float(((column > cut) == labels.bool()).float().mean()) for column in counts.t() for cut in column.unique()
    ]
    return max(max(shares), 1 - min(shares))


def logistic(counts: Tensor, labels: Tensor, train: Tensor, test: Tensor) -> float:
    """Logistic regression by full-batch optimisation; accuracy on unseen graphs."""
    inputs = (counts - counts.mean(0)) / counts.std(0).clamp(min=1e-6)
    weight = torch.zeros(inputs.size(1) + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight], max_iter=200)

    def logits(rows: Tensor) -> Tensor:
        return inputs[rows] @ weight[1:] + weight[0]

    def loss() -> Tensor:
        optimiser.zero_grad()
        value = torch.nn.functional.binary_cross_entropy_with_logits(logits(train), labels[train].float())
        value = value + 1e-3 * weight.square().sum()
        value.backward()
        return value

    optimiser.step(loss)
    return float(((logits(test) > 0) == labels[test].bool()).float().mean())


@pytest.mark.parametrize(
    "smiles", [*AROMATIC_RINGS.values, *SATURATED_RINGS.values, *filter(None, LINKERS.values), "C[N+](=O)[O-]", "C#N"]
)
def test_the_small_reader_agrees_with_rdkit(smiles: str) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    ours, theirs = read_smiles(smiles), from_rdkit(chem.MolFromSmiles(smiles))
    assert [atom[:2] for atom in ours.atoms] == [atom[:2] for atom in theirs.atoms]
    assert hydrogens(ours) == hydrogens(theirs)
    assert {(frozenset(bond[:2]), bond.kind) for bond in ours.bonds} == {
        (frozenset(bond[:2]), bond.kind) for bond in theirs.bonds
    }


def test_a_fragment_goes_on_where_its_smiles_would() -> None:
    assert read_smiles("C(=O)").tail == 0
    assert read_smiles("C(=O)N").tail == 2
    assert read_smiles("").atoms == ()


def test_fingerprints_do_not_depend_on_the_order_of_atoms() -> None:
    assert molecule_key(read_smiles("Cc1ccc(N)cc1")) == molecule_key(read_smiles("Nc1ccc(C)cc1"))
    benzene = read_smiles("c1ccccc1")
    ortho, meta, para = (
        molecule_key(join(join(benzene, 0, GROUPS["methyl"]), place, GROUPS["amino"])) for place in (1, 2, 3)
    )
    assert len({ortho, meta, para}) == 3
