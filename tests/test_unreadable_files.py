"""Files that exist and may not be read: the error says so, whoever runs the tests."""

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rcexplainer as rc
from rcexplainer.errors import CheckpointError, DatasetError
from tests.benchmark.toys import save_toy

Forbid = Callable[[str], None]


@pytest.fixture
def forbid(monkeypatch: pytest.MonkeyPatch) -> Forbid:
    """Let a function of `Path` fail as the system does where permissions are missing; to root they do not matter."""

    def fail(name: str) -> None:
        def refused(path: Path, *given: Any, **named: Any) -> Any:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        monkeypatch.setattr(Path, name, refused)

    return fail


@pytest.mark.parametrize("asked", ["open", "is_file"])
def test_networks_and_explainers(tmp_path: Path, forbid: Forbid, asked: str) -> None:
    file = save_toy(tmp_path, "ba-2motifs")
    model = rc.gnn.load_gnn(file).model
    forbid(asked)
    for load in (lambda: rc.gnn.load_gnn(file), lambda: rc.load(file, model)):
        with pytest.raises(CheckpointError, match=rf"^{re.escape(str(file))} cannot be read \(Permission denied\)$"):
            load()


@pytest.mark.parametrize("asked", ["open", "is_file"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_datasets(tmp_path: Path, forbid: Forbid, asked: str, suffix: str) -> None:
    pytest.importorskip("rdkit", reason="rdkit is not installed (extra chem)")
    file = tmp_path / f"molecules.{suffix}"
    file.write_text("smiles,label\nCCO,0\nCCN,1\n", encoding="utf-8")
    forbid(asked)
    for load in (lambda: rc.datasets.load(f"csv:{file}"), lambda: rc.datasets.GraphTable(file)):
        with pytest.raises(DatasetError, match=rf"^{re.escape(str(file))} cannot be read \(Permission denied\)$"):
            load()


def test_a_table_that_may_no_longer_be_read(tmp_path: Path, forbid: Forbid) -> None:
    pytest.importorskip("rdkit", reason="rdkit is not installed (extra chem)")
    file = tmp_path / "molecules.csv"
    file.write_text("smiles\nCCO\n", encoding="utf-8")
    table = rc.datasets.GraphTable(file)
    forbid("open")
    with pytest.raises(DatasetError, match=r"molecules.csv cannot be read \(Permission denied\)"):
        table.read(0, 1)


def test_folders(tmp_path: Path, forbid: Forbid) -> None:
    forbid("iterdir")
    with pytest.raises(DatasetError, match=r"cannot be read \(Permission denied\)"):
        rc.datasets.GraphTable(tmp_path)


def test_text_files_of_a_set(tmp_path: Path, forbid: Forbid) -> None:
    raw = tmp_path / "TOY" / "raw"
    raw.mkdir(parents=True)
    for part in ("A", "graph_indicator", "graph_labels"):
        (raw / f"TOY_{part}.txt").write_text("1\n", encoding="utf-8")
    forbid("read_text")
    with pytest.raises(DatasetError, match=r"TOY_.*\.txt cannot be read \(Permission denied\)"):
        rc.datasets.load("tu:TOY", root=tmp_path)
