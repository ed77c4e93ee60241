"""TU sets: where they are found, that marks follow their edges, and what is said about broken files."""

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.datasets import TUDataset

from rcexplainer.datasets import GraphDataset, load, tu
from rcexplainer.datasets.tu_download import fetch
from rcexplainer.errors import DatasetError
from rcexplainer.gnn.graph_checks import check_graphs
from rcexplainer.viz.molecule_reading import drawn_molecule

Files = dict[str, list[str]]

# Four graphs: a path 1-2-3-4, a triangle 5-6-7, a pair 8-9 and the lone node 10. The edges are in no order.
ENDS = (75, 21, 32, 98, 56, 12, 43, 65, 89, 23, 57, 34, 67, 76)
EDGES = [divmod(ends, 10) for ends in ENDS]
MARKED = ({1, 2}, {3, 4}, {5, 6}, {6, 7})


def toy() -> Files:
    return {
        "A": [f"{source}, {target}" for source, target in EDGES],
        "graph_indicator": list("1111222334"),
        "graph_labels": ["1", "-1", "1", "-1"],
        "node_labels": list("2342223443"),
        "edge_labels": [str(sum(edge) % 2) for edge in EDGES],
    }


def truth() -> list[str]:
    return [str(int(set(edge) in MARKED)) for edge in EDGES]


def write(root: Path, files: Files, name: str = "Toy", marks: list[str] | None = None) -> Path:
    raw = root / name / "raw"
    raw.mkdir(parents=True)
    for part, lines in files.items():
        (raw / f"{name}_{part}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if marks is not None:
        (root / name / "edge_ground_truth.txt").write_text("".join(f"{mark}\n" for mark in marks), encoding="utf-8")
    return raw


def listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def by_pair(graph: Data, values: Tensor) -> dict[tuple[int, int], int]:
    """The value of every edge; both directions are there and agree."""
    found: dict[tuple[int, int], int] = {}
    for (source, target), value in zip(graph.edge_index.T.tolist(), values.tolist(), strict=True):
        key = (min(source, target), max(source, target))
        assert found.setdefault(key, value) == value
    assert 2 * len(found) == graph.num_edges
    return found


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the user's folders, and none reaches the network."""
    monkeypatch.delenv("RCEXPLAINER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tu, "fetch", failing(URLError("no network")))


def failing(error: Exception) -> Callable[[Path, str], None]:
    def broken(root: Path, name: str) -> None:
        write(root, {"A": ["1, 2"]}, name)  # what a download leaves that breaks in the middle
        raise error

    return broken


def giving(files: Files) -> Callable[[Path, str], None]:
    def whole(root: Path, name: str) -> None:
        write(root, files, name)

    return whole


# Reading


def test_graphs_are_those_of_the_files(tmp_path: Path) -> None:
    write(tmp_path, toy())
    dataset = load("tu:Toy", root=tmp_path)
    check_graphs(dataset.graphs)
    assert dataset.name == "tu:Toy"
    assert dataset.class_names == ("0", "1")
    assert dataset.node_names == dataset.edge_names == ()
    assert [graph.num_nodes for graph in dataset] == [4, 3, 2, 1]
    assert [graph.y.tolist() for graph in dataset] == [[1], [0], [1], [0]]
    assert torch.cat([graph.x for graph in dataset]).argmax(1).tolist() == [0, 1, 2, 0, 0, 0, 1, 2, 2, 1]
    # An edge label is the parity of the sum of the two ids in the file.
    assert by_pair(dataset[0], dataset[0].edge_attr.argmax(1)) == {(0, 1): 1, (1, 2): 1, (2, 3): 1}
    assert by_pair(dataset[1], dataset[1].edge_attr.argmax(1)) == {(0, 1): 1, (0, 2): 0, (1, 2): 1}
    assert not dataset.has_ground_truth


def test_graphs_without_edges_at_the_end_are_kept(tmp_path: Path) -> None:
    write(tmp_path, toy(), marks=truth())
    last = load("tu:Toy", root=tmp_path)[3]
    assert last.num_nodes == 1
    assert last.edge_index.shape == (2, 0)
    assert last.edge_attr.shape == (0, 2)
    assert last.edge_motif.shape == last.edge_motif_id.shape == (0,)


def test_a_graph_does_not_carry_the_whole_set(tmp_path: Path) -> None:
    write(tmp_path, toy(), marks=truth())
    for graph in load("tu:Toy", root=tmp_path):
        for key, value in graph:
            assert value.untyped_storage().nbytes() == value.numel() * value.element_size(), key


@pytest.mark.parametrize("place", ["Toy/edge_ground_truth.txt", "Toy/raw/edge_ground_truth.txt"])
def test_ground_truth_follows_the_node_pair(tmp_path: Path, place: str) -> None:
    write(tmp_path, toy())
    (tmp_path / place).write_text("\n".join(truth()) + "\n", encoding="utf-8")
    dataset = load("tu:Toy", root=tmp_path)
    assert dataset.has_ground_truth
    assert all(graph.edge_motif.dtype == torch.bool for graph in dataset)
    assert by_pair(dataset[0], dataset[0].edge_motif) == {(0, 1): True, (1, 2): False, (2, 3): True}
    assert by_pair(dataset[0], dataset[0].edge_motif_id) == {(0, 1): 0, (1, 2): -1, (2, 3): 1}
    assert by_pair(dataset[1], dataset[1].edge_motif_id) == {(0, 1): 0, (0, 2): -1, (1, 2): 0}
    assert by_pair(dataset[2], dataset[2].edge_motif_id) == {(0, 1): -1}


def test_ground_truth_may_mark_nothing(tmp_path: Path) -> None:
    write(tmp_path, toy(), marks=["0"] * len(EDGES))
    assert not any(graph.edge_motif.any() for graph in load("tu:Toy", root=tmp_path))


def test_without_node_labels_every_node_has_the_feature_one(tmp_path: Path) -> None:
    files = toy()
    del files["node_labels"], files["edge_labels"]
    write(tmp_path, files)
    dataset = load("tu:Toy", root=tmp_path)
    assert [graph.x.tolist() for graph in dataset][1:] == [[[1.0]] * 3, [[1.0]] * 2, [[1.0]]]
    assert "edge_attr" not in dataset[0]


def test_node_attributes_come_before_the_labels(tmp_path: Path) -> None:
    write(tmp_path, {**toy(), "node_attributes": [f"{node / 4}, -1e-3" for node in range(10)]})
    assert load("tu:Toy", root=tmp_path)[1].x[1].tolist() == pytest.approx([1.25, -1e-3, 1, 0, 0])


def test_known_sets_have_names_for_their_numbers(tmp_path: Path) -> None:
    files = toy()
    files["node_labels"] = [str(label) for label in (*range(9), 13)]
    files["edge_labels"] = [str(max(edge) % 3) for edge in EDGES]
    write(tmp_path, files, "Mutagenicity")
    dataset, same = load("mutagenicity", root=tmp_path), load("tu:Mutagenicity", root=tmp_path)
    assert (dataset.name, same.name) == ("mutagenicity", "tu:Mutagenicity")
    assert dataset.class_names == same.class_names == ("mutagen", "non-mutagen")
    assert dataset.node_names[4] == "N"
    assert dataset.node_names[-1] == "Ca"
    numbers = torch.cat([graph.atomic_number for graph in dataset.graphs])
    assert numbers.tolist() == [6, 8, 17, 1, 7, 9, 35, 16, 15, 20]
    assert dataset.edge_names == ("single", "double", "triple")


def test_names_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {**toy(), "graph_labels": ["0", "1", "2", "0"]}, "Mutagenicity")
    dataset = load("mutagenicity", root=tmp_path)
    assert dataset.class_names == ("0", "1", "2")
    assert dataset.node_names == dataset.edge_names == ()
    assert "atomic_number" not in dataset[0]


# Broken files


def without(part: str) -> Callable[[Files], object]:
    return lambda files: files.pop(part)


def cut(part: str) -> Callable[[Files], object]:
    return lambda files: files[part].pop()


def line(part: str, number: int, text: str) -> Callable[[Files], object]:
    return lambda files: files[part].__setitem__(number - 1, text)


def whole(part: str, *lines: str) -> Callable[[Files], object]:
    return lambda files: files.__setitem__(part, list(lines))


BROKEN = {
    "no graph labels": (without("graph_labels"), "Toy_graph_labels.txt is missing"),
    "no indicator": (without("graph_indicator"), "Toy_graph_indicator.txt is missing"),
    "empty": (whole("node_labels"), "Toy_node_labels.txt is empty"),
    "blank": (whole("A", "", ""), "Toy_A.txt is empty"),
    "one line": (whole("graph_labels", "1"), "Toy_graph_labels.txt has a single line"),
    "a word": (line("node_labels", 4, "carbon"), "Toy_node_labels.txt: line 4 is 'carbon', expected whole"),
    "first line": (line("graph_labels", 1, "x"), "Toy_graph_labels.txt: line 1 is 'x', expected one whole"),
    "last line": (line("graph_labels", 4, "x"), "Toy_graph_labels.txt: line 4 is 'x', expected one whole"),
    "blank line": (line("edge_labels", 3, ""), "Toy_edge_labels.txt: line 3 is ''"),
    "fraction": (line("graph_labels", 2, "0.5"), "Toy_graph_labels.txt: line 2 is '0.5', expected one whole"),
    "one end": (line("A", 9, "8"), "Toy_A.txt: line 9 is '8', expected 2 whole numbers separated by a comma"),
    "three ends": (whole("A", "1, 2, 1", "2, 1, 1"), "Toy_A.txt: line 1 is '1, 2, 1', expected 2 whole"),
    "two labels": (whole("graph_labels", *["1, 0"] * 4), "Toy_graph_labels.txt: line 1 is '1, 0', expected one"),
    "nan": (whole("node_attributes", *["1.5"] * 9, "nan"), "Toy_node_attributes.txt: line 10 is 'nan', .*finite"),
    "cut node labels": (cut("node_labels"), r"Toy_node_labels.txt has 9 lines, expected 10 as .* 10 nodes"),
    "cut edge labels": (cut("edge_labels"), r"Toy_edge_labels.txt has 13 lines, expected 14 as Toy_A.txt has 14"),
    "cut graph labels": (cut("graph_labels"), r"Toy_graph_labels.txt has 3 lines, expected 4 as .* 4 graphs"),
    "cut attributes": (whole("edge_attributes", "1.5", "2"), "Toy_edge_attributes.txt has 2 lines, expected 14"),
    "past the last": (line("A", 7, "4, 11"), "Toy_A.txt: line 7 is the edge 4, 11, expected nodes from 1 to 10"),
    "before the first": (line("A", 2, "0, 1"), "Toy_A.txt: line 2 is the edge 0, 1, expected nodes from 1 to 10"),
    "across": (line("A", 7, "4, 5"), "Toy_A.txt: line 7 is the edge 4, 5 from graph 1 to graph 2"),
    "mixed graphs": (line("graph_indicator", 3, "3"), "indicator.txt: line 3 is graph 3 after graph 1"),
    "back": (line("graph_indicator", 9, "2"), "indicator.txt: line 9 is graph 2 after graph 3"),
    "from zero": (line("graph_indicator", 1, "0"), "indicator.txt: line 1 is graph 0 after graph 0"),
    "regression": (whole("graph_attributes", *"1234"), "Toy is a regression set .* only graph classification"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_files_are_named(tmp_path: Path, damage: Callable[[Files], object], message: str) -> None:
    files = toy()
    damage(files)
    write(tmp_path, files)
    with pytest.raises(DatasetError, match=message):
        load("tu:Toy", root=tmp_path)


def test_a_file_cut_within_a_line_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, toy()) / "Toy_graph_indicator.txt"
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"Toy_graph_indicator.txt: the last line is '4' without a line break"):
        load("tu:Toy", root=tmp_path)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (write(tmp_path, toy()) / "Toy_node_labels.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DatasetError, match=r"Toy_node_labels.txt is not a text file"):
        load("tu:Toy", root=tmp_path)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (truth()[:-1], "edge_ground_truth.txt has 13 lines, expected 14 as Toy_A.txt has 14 edges"),
        ([*truth()[:-1], "2"], "edge_ground_truth.txt: line 14 is 2, expected 0 or 1"),
        (["yes", *truth()[1:]], "edge_ground_truth.txt: line 1 is 'yes', expected one whole number"),
    ],
)
def test_broken_ground_truth_is_named(tmp_path: Path, marks: list[str], message: str) -> None:
    write(tmp_path, toy(), marks=marks)
    with pytest.raises(DatasetError, match=message):
        load("tu:Toy", root=tmp_path)


@pytest.mark.parametrize(("name", "title"), [("mutagenicity", "Mutagenicity"), ("nci1", "NCI1")])
def test_known_sets_need_their_node_labels(tmp_path: Path, name: str, title: str) -> None:
    files = toy()
    del files["node_labels"]
    write(tmp_path, files, title)
    with pytest.raises(DatasetError, match=f"{title}_node_labels.txt is missing"):
        load(name, root=tmp_path)


# Where sets are found


def labels(dataset: GraphDataset) -> list[int]:
    return [int(graph.y) for graph in dataset]


def test_root_comes_before_the_data_folder_and_that_before_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, data = tmp_path / "root", tmp_path / "data"
    monkeypatch.setenv("RCEXPLAINER_DATA", str(data))
    monkeypatch.setattr(tu, "fetch", giving({**toy(), "graph_labels": list("0011")}))
    assert labels(load("tu:Toy", root=root)) == [0, 0, 1, 1]

    root = tmp_path / "another root"
    write(data, {**toy(), "graph_labels": list("0111")})
    before = listing(data)
    assert labels(load("tu:Toy", root=root)) == [0, 1, 1, 1]
    assert not root.exists()

    write(root, {**toy(), "graph_labels": list("0001")})
    assert labels(load("tu:Toy", root=root)) == [0, 0, 0, 1]
    assert listing(data) == before


def test_without_root_the_user_cache_is_used(tmp_path: Path) -> None:
    write(tmp_path / "cache" / "rcexplainer", toy())
    assert len(load("tu:Toy")) == 4


def test_a_download_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a folder in place of the server."""
    server, root = tmp_path / "server", tmp_path / "root"
    raw = write(tmp_path / "packed", toy())
    (raw / "README.txt").write_text("about the set\n", encoding="utf-8")
    server.mkdir()
    with zipfile.ZipFile(server / "Toy.zip", "w") as archive:
        for file in raw.iterdir():
            archive.write(file, f"Toy/{file.name}")
    monkeypatch.setattr(TUDataset, "url", str(server))
    monkeypatch.setattr(tu, "fetch", fetch)
    first = load("tu:Toy", root=root)
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == {
        f"Toy/raw/Toy_{part}.txt" for part in toy()
    }
    monkeypatch.setattr(tu, "fetch", failing(AssertionError("downloaded twice")))
    assert labels(load("tu:Toy", root=root)) == labels(first) == [1, 0, 1, 0]


@pytest.mark.parametrize("error", [URLError("unreachable"), TimeoutError("unreachable"), OSError("unreachable")])
def test_without_a_network_the_files_to_provide_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(tu, "fetch", failing(error))
    monkeypatch.setenv("RCEXPLAINER_DATA", str(tmp_path / "data"))
    with pytest.raises(DatasetError, match=r"'NCI1' could not be downloaded .*unreachable") as caught:
        load("nci1", root=tmp_path / "root")
    message = str(caught.value)
    assert "NCI1_A.txt, NCI1_graph_indicator.txt, NCI1_graph_labels.txt, NCI1_node_labels.txt" in message
    assert "optionally NCI1_edge_labels.txt" in message
    assert f"into {tmp_path / 'root' / 'NCI1' / 'raw'}" in message
    assert "set RCEXPLAINER_DATA to a folder that holds NCI1/raw" in message
    assert str(tmp_path / "data") in message
    assert caught.value.__cause__ is error


def test_a_failed_download_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetError, match="could not be downloaded"):
        load("tu:Toy", root=tmp_path / "root")
    assert listing(tmp_path / "root") == []
    monkeypatch.setattr(tu, "fetch", giving(toy()))
    assert len(load("tu:Toy", root=tmp_path / "root")) == 4


def test_a_download_killed_while_moving_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[str] = []
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if moved:
            raise KeyboardInterrupt
        moved.append(self.name)
        return replace(self, target)

    monkeypatch.setattr(tu, "fetch", giving(toy()))
    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        load("tu:Toy", root=tmp_path)
    monkeypatch.setattr(Path, "replace", replace)
    assert moved != ["Toy_A.txt"]
    assert len(load("tu:Toy", root=tmp_path)) == 4


@pytest.mark.parametrize(
    "error", [FileNotFoundError("somewhere/PROTEIN.zip"), HTTPError("somewhere", 404, "Not Found", None, None)]
)
def test_an_unknown_set_is_said_to_be_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(tu, "fetch", failing(error))
    with pytest.raises(DatasetError, match="the TU collection has no set 'PROTEIN'"):
        load("tu:PROTEIN", root=tmp_path)


@pytest.mark.parametrize("name", ["", "..", "../Toy", "a/b", "a b"])
def test_names_that_are_no_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(f"{name!r} cannot be the name of a TU set")):
        load(f"tu:{name}", root=tmp_path)


# The real sets

REAL = Path(os.environ.get("RCEXPLAINER_DATA") or Path(__file__).parents[3] / "shared" / "data")


def real(name: str, title: str, empty: Path) -> GraphDataset:
    if not (REAL / title / "raw" / f"{title}_A.txt").is_file():
        pytest.skip(f"{title}/raw is not in {REAL}; set RCEXPLAINER_DATA to a folder that has it")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RCEXPLAINER_DATA", str(REAL))
        before = listing(REAL / title)
        dataset = load(name, root=empty)
    assert listing(REAL / title) == before
    return dataset


@pytest.fixture(scope="module")
def mutagenicity(tmp_path_factory: pytest.TempPathFactory) -> GraphDataset:
    return real("mutagenicity", "Mutagenicity", tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module")
def nci1(tmp_path_factory: pytest.TempPathFactory) -> GraphDataset:
    return real("nci1", "NCI1", tmp_path_factory.mktemp("empty"))


def averages(dataset: GraphDataset) -> tuple[float, float]:
    nodes = sum(graph.num_nodes for graph in dataset)
    return round(nodes / len(dataset), 2), round(sum(g.num_edges for g in dataset) / 2 / len(dataset), 2)


def file(title: str, part: str) -> np.ndarray:
    return np.loadtxt(REAL / title / "raw" / f"{title}_{part}.txt", delimiter=",", dtype=np.int64)


def pairs(dataset: GraphDataset) -> np.ndarray:
    """All edges with the ids of the files."""
    first = np.cumsum([1, *(graph.num_nodes for graph in dataset)])
    return np.concatenate([graph.edge_index.T.numpy() + first[i] for i, graph in enumerate(dataset)])


def test_the_molecules_of_mutagenicity_can_be_restored(mutagenicity: GraphDataset) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    for graph in mutagenicity.graphs[::20]:
        mol = drawn_molecule(graph)
        chem.SanitizeMol(mol)  # raises if a charge is wrong
        assert [atom.GetAtomicNum() for atom in mol.GetAtoms()] == graph.atomic_number.tolist()


def test_mutagenicity_is_whole(mutagenicity: GraphDataset) -> None:
    check_graphs(mutagenicity.graphs)
    assert len(mutagenicity) == 4337
    assert averages(mutagenicity) == (30.32, 30.77)
    assert (mutagenicity.num_classes, len(mutagenicity.node_names), len(mutagenicity.edge_names)) == (2, 14, 3)
    assert sum(labels(mutagenicity)) == 1936
    assert [len(mutagenicity.subset(part)) for part in ("train", "val", "test")] == [3470, 434, 433]


def test_nci1_is_whole(nci1: GraphDataset) -> None:
    check_graphs(nci1.graphs)
    assert len(nci1) == 4110
    assert averages(nci1) == (29.87, 32.30)
    assert nci1.class_names == ("inactive", "active")
    assert len(nci1.node_names) == nci1.num_features == 37
    assert nci1.node_names[int(nci1[0].x[0].argmax())] == f"atom {file('NCI1', 'node_labels')[0]}"
    assert sum(labels(nci1)) == 2057
    assert not nci1.has_ground_truth


def test_mutagenicity_agrees_with_its_files(mutagenicity: GraphDataset) -> None:
    lines = file("Mutagenicity", "A")
    order = np.lexsort((lines[:, 1], lines[:, 0]))
    assert np.array_equal(pairs(mutagenicity), lines[order])
    bonds = torch.cat([graph.edge_attr for graph in mutagenicity]).argmax(1).numpy()
    assert np.array_equal(bonds, file("Mutagenicity", "edge_labels")[order])
    atoms = torch.cat([graph.x for graph in mutagenicity]).argmax(1).numpy()
    assert np.array_equal(atoms, file("Mutagenicity", "node_labels"))
    assert labels(mutagenicity) == file("Mutagenicity", "graph_labels").tolist()


def motifs(dataset: GraphDataset) -> Iterator[list[str]]:
    """The atoms of every motif, and how its bonds are named by their two ends."""
    for graph in dataset:
        names = [dataset.node_names[label] for label in graph.x.argmax(1).tolist()]
        for number in range(int(graph.edge_motif_id.max()) + 1):
            columns = graph.edge_index[:, graph.edge_motif_id == number].T.tolist()
            yield sorted(names[source] + names[target] for source, target in columns)


def test_every_motif_of_mutagenicity_is_a_nitro_or_amino_group(mutagenicity: GraphDataset) -> None:
    path = REAL / "Mutagenicity" / "edge_ground_truth.txt"
    if not path.is_file():
        pytest.skip(f"there is no ground truth in {path}")
    marked = sum(int(graph.edge_motif.sum()) for graph in mutagenicity)
    assert marked == np.loadtxt(path).sum() == 7352
    for graph in mutagenicity:
        assert torch.equal(graph.edge_motif, graph.edge_motif_id >= 0)
    found = list(motifs(mutagenicity))
    assert all(bonds in (["NO", "NO", "ON", "ON"], ["HN", "HN", "NH", "NH"]) for bonds in found)
    assert 4 * len(found) == marked


def test_a_published_set_that_was_cut_off(nci1: GraphDataset, tmp_path: Path) -> None:
    """NCI1 has no file of edge labels to compare with: only its known size tells."""
    raw = tmp_path / "NCI1" / "raw"
    raw.mkdir(parents=True)
    for source in (REAL / "NCI1" / "raw").iterdir():
        text = source.read_text(encoding="utf-8")
        (raw / source.name).write_text(
            "".join(text.splitlines(keepends=True)[:50_000]) if "_A" in source.name else text,
            encoding="utf-8",
        )
    with pytest.raises(DatasetError, match=r"NCI1_A.txt has 50000 lines, the published set has 265506: .*truncated"):
        load("nci1", root=tmp_path)


def test_edges_that_go_one_way_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = toy()
    files["A"], files["edge_labels"] = files["A"][:-1], files["edge_labels"][:-1]
    write(tmp_path, files)
    load("tu:Toy", root=tmp_path)
    assert "Toy: 1 edges have no reverse; the set is directed, or NAME_A.txt is truncated" in caplog.text
