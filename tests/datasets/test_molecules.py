"""A user's own molecules: what is read, what is left out and why; and the way to RDKit and back."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Batch

from rcexplainer.datasets import GraphDataset, load
from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES, to_data
from rcexplainer.datasets.molecules import from_rdkit, to_rdkit
from rcexplainer.datasets.nitro import nitro
from rcexplainer.datasets.smiles_file import unlabelled
from rcexplainer.errors import DatasetError, GraphError, MissingExtraError
from rcexplainer.gnn.graph_checks import as_graphs

GOOD = "smiles,label\nCCO,0\nc1ccccc1,1\nc1cc[nH]c1,1\nCC(=O)O,0\n"


Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    pytest.importorskip("rdkit")

    def write_text(text: str, encoding: str = "utf-8") -> str:
        file = tmp_path / "molecules.csv"
        file.write_text(text, encoding=encoding)
        return f"csv:{file}"

    return write_text


def labels(dataset: GraphDataset) -> list[int]:
    return [int(graph.y) for graph in dataset.graphs]


def test_a_good_file(write: Write) -> None:
    dataset = load(write(GOOD))
    assert len(dataset) == 4
    assert labels(dataset) == [0, 1, 1, 0]
    assert dataset.task == "graph"
    assert dataset.class_names == ("0", "1")
    assert dataset.bad_rows == ()
    assert not dataset.has_ground_truth
    assert (dataset.node_names, dataset.edge_names) == (ATOM_NAMES, BOND_NAMES)
    assert [graph.smiles for graph in dataset.graphs] == ["CCO", "c1ccccc1", "c1cc[nH]c1", "CC(=O)O"]
    assert [graph.row for graph in dataset.graphs] == [2, 3, 4, 5]
    as_graphs(dataset.graphs)
    assert Batch.from_data_list(list(dataset.graphs)).num_graphs == 4


def test_features_are_those_of_the_built_in_set(write: Write) -> None:
    ethanol, benzene, pyrrole, _ = load(write(GOOD)).graphs
    assert [ATOM_NAMES[position] for position in ethanol.x.argmax(1)] == ["C", "C", "O"]
    assert [BOND_NAMES[position] for position in ethanol.edge_attr.argmax(1)] == ["single"] * 4
    assert ethanol.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert {BOND_NAMES[position] for position in benzene.edge_attr.argmax(1)} == {"aromatic"}
    assert pyrrole.num_hydrogens.tolist() == [1, 1, 1, 1, 1]
    own = nitro(num_graphs=2)[0]
    assert own.x.shape[1] == ethanol.x.shape[1]
    assert own.edge_attr.shape[1] == ethanol.edge_attr.shape[1]
    assert own.x.dtype == ethanol.x.dtype


def test_the_split_is_stratified_and_seeded(write: Write) -> None:
    name = write("smiles,label\n" + "".join(f"{'C' * length},{length % 2}\n" for length in range(1, 41)))
    one, same, other = load(name, seed=1), load(name, seed=1), load(name, seed=2)
    assert torch.equal(one.split.train, same.split.train)
    assert not torch.equal(one.split.train, other.split.train)
    assert [len(part) for part in (one.split.train, one.split.val, one.split.test)] == [32, 4, 4]
    assert sum(int(graph.y) for graph in one.subset("test")) == 2


@pytest.mark.parametrize(
    "text",
    [
        "ID,Canonical_SMILES,Activity\n1,CCO,0\n2,CCN,1\n",
        "y; Mol\n0; CCO\n1; CCN\n",
        "class\tSMILES\n0\tCCO\n\n1\tCCN\n",
        '"target","smiles"\n"0","CCO"\n"1","CCN"',
        "smiles,label\r\nCCO,0.0\r\nCCN,1.0\r\n",
    ],
)
def test_columns_are_found_under_many_names(write: Write, text: str) -> None:
    dataset = load(write(text))
    assert [graph.smiles for graph in dataset.graphs] == ["CCO", "CCN"]
    assert labels(dataset) == [0, 1]


def test_columns_can_be_named(write: Write) -> None:
    name = write("smiles,drug,label,toxic\nC,CCO,1,no\nC,CCN,1,yes\n")
    dataset = load(name, smiles_column="Drug", label_column="toxic")
    assert [graph.smiles for graph in dataset.graphs] == ["CCO", "CCN"]
    assert dataset.class_names == ("no", "yes")


def test_ids_are_read_where_the_file_has_them(write: Write) -> None:
    dataset = load(write("smiles,label,Name\nCCO,0,ethanol\nCCN,1,\n"))
    assert [graph.id for graph in dataset.graphs] == ["ethanol", ""]
    assert Batch.from_data_list(list(dataset.graphs)).id == ["ethanol", ""]
    dataset = load(write("smiles,label,code\nCCO,0,E1\nCCN,1,E2\n"), id_column="Code")
    assert [graph.id for graph in dataset.graphs] == ["E1", "E2"]
    assert "id" not in load(write(GOOD))[0]
    with pytest.raises(DatasetError, match=r"no column 'key'; .* Rename a column, or choose one with id_column"):
        load(write(GOOD), id_column="key")


def test_molecules_without_labels(write: Write) -> None:
    path = write("code,smiles\nA,CCO\nB,C1CC\nC,CCN\n").removeprefix("csv:")
    dataset = unlabelled(path, id_column="code")
    assert [(graph.smiles, graph.row, graph.id) for graph in dataset.graphs] == [("CCO", 2, "A"), ("CCN", 4, "C")]
    assert [(bad.row, bad.reason) for bad in dataset.bad_rows] == [(3, "not a SMILES")]
    assert [graph.y for graph in dataset.graphs] == [None, None]
    assert (dataset.class_names, dataset.split.test.tolist(), len(dataset.split.train)) == ((), [0, 1], 0)
    as_graphs(dataset.graphs)
    labelled = load(write(GOOD))
    assert torch.equal(unlabelled(write(GOOD).removeprefix("csv:"))[2].x, labelled[2].x)


def test_a_byte_order_mark_is_no_part_of_the_first_name(write: Write) -> None:
    assert len(load(write(GOOD, encoding="utf-8-sig"))) == 4


@pytest.mark.parametrize(
    ("words", "class_names", "expected"),
    [
        (["toxic", "safe", "toxic"], ("safe", "toxic"), [1, 0, 1]),
        (["10", "9", "-1"], ("-1", "9", "10"), [2, 1, 0]),
        (["1.0", "1", "0"], ("0", "1.0"), [1, 1, 0]),
        (["1", "none", "1"], ("1", "none"), [0, 1, 0]),
    ],
)
def test_classes_keep_their_names(
    write: Write, words: list[str], class_names: tuple[str, ...], expected: list[int]
) -> None:
    dataset = load(write("smiles,label\n" + "".join(f"CCO,{word}\n" for word in words)))
    assert dataset.class_names == class_names
    assert labels(dataset) == expected


def test_bad_rows_are_left_out_told_of_once_and_listed(
    write: Write, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = ["CCO,0", "C1CC,0", ",1", "CCN,1", "C(C)(C)(C)(C)C,1", "CC,", "CCC,nan", "c1cccc1,0", "", "CCC", '"C-\nC",1']
    with caplog.at_level(logging.WARNING):
        dataset = load(write("smiles,label\n" + "\n".join(rows) + "\nCCF,1\n"))
    assert [graph.smiles for graph in dataset.graphs] == ["CCO", "CCN", "CCF"]
    assert [graph.row for graph in dataset.graphs] == [2, 5, 14]
    assert [(bad.row, bad.value) for bad in dataset.bad_rows] == [
        (3, "C1CC"),
        (4, ""),
        (6, "C(C)(C)(C)(C)C"),
        (7, "CC"),
        (8, "CCC"),
        (9, "c1cccc1"),
        (11, "CCC"),
        (12, "C-\nC"),
    ]
    reasons = ["not a SMILES", "SMILES is missing", "valence", "label is missing", "label is missing", "kekulize"]
    for bad, reason in zip(dataset.bad_rows, [*reasons, "label is missing", "not a SMILES"], strict=True):
        assert reason in bad.reason
    (record,) = caplog.records
    assert "8 of 11 rows were left out: line 3: 'C1CC', not a SMILES; line 4: " in record.getMessage()
    assert record.getMessage().endswith("; and 3 more")
    captured = capfd.readouterr()
    assert "SMILES Parse Error" not in captured.err + captured.out


def test_classes_are_those_of_the_rows_that_are_left(write: Write) -> None:
    assert load(write(GOOD + "C1CC,2\n")).class_names == ("0", "1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"molecules\.csv is empty; it needs a line of column names"),
        ("\n\n", r"molecules\.csv is empty"),
        ("smiles,label\n", r"has column names but no rows below them"),
        (
            "CCO,1\nCCN,0\n",
            r"has no column named smiles, .* or structure; its first line, which must name the columns, "
            r"reads: CCO, 1\. Rename a column, or choose one with smiles_column",
        ),
        (
            "smiles,weight\nCCO,1\n",
            r"named label, .* reads: smiles, weight\. .* label_column of rcexplainer\.datasets\.load; .* expl",
        ),
        ("smiles,label\nC1CC,0\n,1\n", r"none of its 2 rows can be used: line 2: 'C1CC', not a SMILES; line 3"),
        ("smiles,label\nCCO,1\nC1CC,0\nCCN,1\n", r"all 2 usable rows are of class '1'; at least two"),
        (
            "smiles,label\nCCO,1\nCCN,0.37\n",
            r"line 3: the label 0\.37 is not a class; regression is not supported\. .* bin the values into classes",
        ),
        ("smiles,label\nCCO,active\nCCN,-1.5\n", r"line 3: the label -1\.5 is not a class"),
    ],
)
def test_a_file_that_cannot_be_used(write: Write, text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        load(write(text))


@pytest.mark.parametrize("option", ["smiles_column", "label_column"])
def test_a_named_column_that_is_not_there(write: Write, option: str) -> None:
    with pytest.raises(DatasetError, match=rf"no column 'drug'; .* reads: smiles, label\. .* {option}"):
        load(write(GOOD), None, 0, **{option: "drug"})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DatasetError, match=r"there is no file .*nowhere\.csv; check the path after csv:"):
        load(f"csv:{tmp_path / 'nowhere.csv'}")
    with pytest.raises(DatasetError, match=r" is a folder, not a file: name a CSV file in it after csv:"):
        load(f"csv:{tmp_path}")
    with pytest.raises(DatasetError, match=r"^csv: names no file: name one after it, such as csv:molecules\.csv$"):
        load("csv:")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.csv"
    file.write_bytes(b"smiles,label\nCCO,\xff\xfe\n")
    with pytest.raises(DatasetError, match=r"not a text file of comma-separated values in UTF-8"):
        load(f"csv:{file}")


def test_without_rdkit_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "rdkit.Chem", None)
    install = r'rdkit is not installed; run: pip install "rcexplainer\[chem\]"'
    with pytest.raises(MissingExtraError, match=install):
        load(f"csv:{tmp_path / 'molecules.csv'}")
    graph = load("nitro", num_graphs=2)[0]  # the built-in set does without
    with pytest.raises(MissingExtraError, match=install):
        to_rdkit(graph)


@pytest.mark.parametrize(
    "smiles",
    [
        "C",
        "[Na+].[Cl-]",
        "c1ccc2[nH]ccc2c1",
        "Cn1cccc1",
        "O=[N+]([O-])c1ccc(N)cc1",
        "C[Si](C)(C)C#N",
        "c1cc[se]c1",
        "CS(=O)(=O)N1CCOCC1",
        "[CH3]",
        "CP(=O)(O)OI",
        "*CC",
        "O=c1cc[nH]cc1",
    ],
)
def test_to_rdkit_and_back(write: Write, smiles: str) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    graph = load(write(f"smiles,label\n{smiles},0\nC,1\n"))[0]
    mol = to_rdkit(graph)
    assert chem.MolToSmiles(mol) == chem.CanonSmiles(smiles)
    assert [atom.GetAtomicNum() for atom in mol.GetAtoms()] == graph.atomic_number.tolist()
    again = to_data(from_rdkit(mol), 0)
    assert all(torch.equal(again[key], graph[key]) for key in again.keys())  # noqa: SIM118


def test_a_molecule_without_bonds_is_a_graph_without_edges(write: Write) -> None:
    methane = load(write("smiles,label\nC,0\nCC,1\n"))[0]
    assert methane.edge_index.shape == (2, 0)
    assert methane.edge_attr.shape == (0, len(BOND_NAMES))
    as_graphs(methane)


def test_a_graph_that_is_no_molecule_any_more(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit")
    graph = nitro(num_graphs=2)[1]
    ring = graph.edge_attr[:, BOND_NAMES.index("aromatic")].nonzero()[0, 0]
    start, end = graph.edge_index[:, ring].tolist()
    kept = [{a, b} != {start, end} for a, b in graph.edge_index.t().tolist()]
    broken = graph.clone()
    broken.edge_index, broken.edge_attr = graph.edge_index[:, kept], graph.edge_attr[kept]
    with pytest.raises(GraphError, match=r"the graph is not a valid molecule: .*; sanitize=False skips this check"):
        to_rdkit(broken)
    assert to_rdkit(broken, sanitize=False).GetNumBonds() == to_rdkit(graph).GetNumBonds() - 1
    assert capfd.readouterr().err == ""


def test_graphs_of_other_sets_have_names_of_their_own() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    graph = nitro(num_graphs=2)[0]
    del graph.formal_charge, graph.num_hydrogens, graph.edge_attr
    graph.x, graph.edge_index = torch.eye(2), torch.tensor([[0], [1]])
    assert chem.MolToSmiles(to_rdkit(graph, node_names=("O", "C"))) == "CO"
    with pytest.raises(GraphError, match=r"'Xx' is not a chemical element"):
        to_rdkit(graph, node_names=("Xx", "C"))
