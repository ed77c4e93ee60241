"""Disks that are full or read-only, processes that share a folder or were killed while they wrote, clocks set back."""

import errno
import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.core.budget import Seconds
from rcexplainer.errors import CheckpointError, RCExplainerError, WriteError
from rcexplainer.saving import files
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.saving.documents import write_document
from rcexplainer.saving.files import remove_file, write_whole
from rcexplainer.saving.lock import claimed

RUN = {"seed": 0}
LIMITED = """
import resource, signal, sys
import torch
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.checkpoint import FitFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = FitFile(sys.argv[1], {"seed": 0})
file.put("small", {"x": torch.ones(3)})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    file.put("large", {"x": torch.ones(100_000)})
except RCExplainerError as error:
    print(error)
"""

LIMITED_CALLS = """
import resource, signal, sys
from pathlib import Path
import torch
from torch_geometric.data import Data
import rcexplainer as rc
from rcexplainer.datasets.nitro_file import write_nitro
from rcexplainer.errors import WriteError
from rcexplainer.saving.documents import write_document
from rcexplainer.saving.files import write_tensors
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
graph = Data(x=torch.rand(20_000, 4), edge_index=torch.randint(20_000, (2, 20_000)))
calls = {
    "tensors": lambda path: write_tensors(path, {"x": graph.x}, {}),
    "document": lambda path: write_document(path, graph.x.tolist()),
    "table": lambda path: rc.datasets.to_parquet([graph], path),
    "molecules": lambda path: write_nitro(path, 2_000),
    "mapped": lambda path: rc.datasets.map_graph(graph, path),
}
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
for name, call in calls.items():
    try:
        call(folder / name)
    except WriteError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_full_disk_is_told_with_the_name_of_the_file_and_leaves_nothing(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    code = [sys.executable, "-W", "ignore", "-c", LIMITED_CALLS, tmp_path]
    run = subprocess.run(code, capture_output=True, text=True, check=True, timeout=120)
    names = ("tensors", "document", "table", "molecules", "mapped")
    for name, line in zip(names, run.stdout.splitlines(), strict=True):
        assert line.startswith(f"{tmp_path / name} could not be written (")
        assert line.endswith("): make room, or name another place")
    assert "tensors could not be written (File too large)" in run.stdout
    assert run.stderr == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_full_disk_leaves_the_last_checkpoint(tmp_path):
    path = tmp_path / "fit.safetensors"
    run = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=True, timeout=120)
    assert "could not be written (File too large); the one before it is whole: make room" in run.stdout
    assert FitFile(path, RUN).get("small")[0]["x"].tolist() == [1, 1, 1]
    assert [one.name for one in tmp_path.iterdir()] == ["fit.safetensors"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_an_explainer_that_cannot_be_written_leaves_the_old_one(case, tmp_path, monkeypatch, number):
    path = case[2].save(tmp_path / "explainer.safetensors")
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(files.os, "fsync", full)
    said = rf"^{re.escape(str(path))} could not be written \({os.strerror(number)}\): make room, or name another place$"
    with pytest.raises(WriteError, match=said) as told:
        case[2].save(path)
    assert isinstance(told.value, RCExplainerError | OSError)
    assert (told.value.errno, told.value.strerror) == (number, os.strerror(number))
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["explainer.safetensors"]


@pytest.mark.parametrize("name", ["page.html", "table.parquet", "figure.svg", "result.json"])
def test_other_files_that_cannot_be_written_leave_the_old_ones(case, tmp_path, monkeypatch, name):
    for package in ("pyarrow", "matplotlib"):
        pytest.importorskip(package)
    data, _, fitted = case
    one, path = fitted.explain(data.subset("test")[0]), tmp_path / name
    calls = {
        "page.html": lambda: rc.viz.page(one, path),
        "table.parquet": lambda: rc.datasets.to_parquet(data.graphs[:3], path),
        "figure.svg": lambda: one.draw(path),
        "result.json": lambda: write_document(path, {"a": 1}),
    }
    path.write_text("old", encoding="utf-8")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(WriteError, match=rf"{re.escape(name)} could not be written \(No space left on device\): make"):
        calls[name]()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_graph_that_cannot_be_mapped_leaves_nothing(tmp_path, monkeypatch):
    graph = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))

    def full(*given) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(WriteError, match=r"mapped could not be written \(No space left on device\): make room"):
        rc.datasets.map_graph(graph, tmp_path / "mapped")
    assert not list(tmp_path.iterdir())


def test_what_the_graphs_of_a_table_raise_is_not_taken_for_a_full_disk(case, tmp_path):
    pytest.importorskip("pyarrow")

    def broken():
        yield from case[0].graphs[:3]
        raise OSError("their file is cut short")

    with pytest.raises(OSError, match=r"^their file is cut short$") as told:
        rc.datasets.to_parquet(broken(), tmp_path / "table.parquet")
    assert not isinstance(told.value, WriteError)
    assert not list(tmp_path.iterdir())


def test_a_read_only_folder_is_named_before_the_fit(case, tmp_path, monkeypatch):
    """As it is where `chmod` does not bind: root may write anywhere but on a read-only file system."""
    data, model, _ = case

    def read_only(self: Path, *args, **kwargs) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "open", read_only)
    with pytest.raises(CheckpointError, match=r"fit\.safetensors cannot be written \(Read-only file system\): name"):
        rc.RCExplainer(epochs=1).fit(
            model, data.subset("train"), checkpoint=tmp_path / "fit.safetensors", progress=False
        )


def test_two_fits_do_not_share_a_checkpoint(tmp_path):
    path = tmp_path / "fit.safetensors"
    with FitFile(path, RUN), pytest.raises(CheckpointError, match="another process is writing the checkpoint"):
        FitFile(path, RUN).__enter__()
    with FitFile(path, RUN) as again:
        again.put("a", {"x": torch.ones(1)})
    assert [one.name for one in tmp_path.iterdir()] == ["fit.safetensors"]


def test_a_checkpoint_that_no_user_named_does_not_stand_in_the_way(tmp_path):
    path = tmp_path / "explainer.unfinished"
    with FitFile(path, RUN), FitFile(path, RUN) as second:
        second.put("a", {"x": torch.ones(1)})
        assert not path.exists()


def test_a_lock_ends_with_its_process(tmp_path):
    path = tmp_path / "file"
    script = (
        "import os, sys; from pathlib import Path; from rcexplainer.saving.lock import claimed\n"
        "with claimed(Path(sys.argv[1])) as ours:\n    print(ours, flush=True); os._exit(9)"
    )
    run = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=120)
    assert run.stdout == "True\n"
    with claimed(path) as ours:
        assert ours
    assert not list(tmp_path.iterdir())


def test_an_evaluation_holds_its_folder(tmp_path):
    from rcexplainer.benchmark.archive import Archive

    archive = Archive.of(tmp_path / "out", {"a": 1})
    with archive.held(), pytest.raises(RCExplainerError, match="another process is writing to"), archive.held():
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o277])
def test_a_file_has_the_permissions_of_any_new_one(tmp_path, monkeypatch, mask):
    """They are given when it is whole: it is written also where new files may only be read."""
    modes, opened = [], Path.open

    def noted(self: Path, *args, **kwargs):
        modes.append(self.stat().st_mode & 0o777)
        return opened(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", noted)
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "file", b"whole")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask
    assert set(modes) == {0o600}


@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked up as POSIX has it")
def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    left = tmp_path / f".file.{int(gone.stdout)}-abc.half"
    alive = tmp_path / f".file.{os.getpid()}-abc.half"
    for path in (left, alive):
        path.write_text("half")
    write_whole(tmp_path / "file", b"whole")
    assert sorted(one.name for one in tmp_path.iterdir()) == [alive.name, "file"]
    left.write_text("half")
    remove_file(tmp_path / "file")
    assert [one.name for one in tmp_path.iterdir()] == [alive.name]


def test_a_temporary_file_that_vanishes_is_written_again_but_not_for_ever(tmp_path, monkeypatch):
    gone, made = [2], files.tempfile.mkstemp

    def vanishing(**where) -> tuple[int, str]:
        gone[0] -= 1
        if gone[0] >= 0:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return made(**where)

    monkeypatch.setattr(files.tempfile, "mkstemp", vanishing)
    assert write_whole(tmp_path / "file", b"whole").read_bytes() == b"whole"
    gone[0] = 1000
    with pytest.raises(CheckpointError, match=r"other cannot be written: .* is gone or takes no new file"):
        write_whole(tmp_path / "other", b"whole")


def test_a_clock_that_goes_back_puts_no_checkpoint_off(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    file = FitFile(tmp_path / "fit.safetensors", RUN)
    file.put("a", {"x": torch.zeros(1)}, at_once=False)
    now[0] = 10.0  # 990 s back
    file.put("a", {"x": torch.ones(1)}, at_once=False)
    assert float(FitFile(tmp_path / "fit.safetensors", RUN).get("a")[0]["x"]) == 1.0


@pytest.mark.parametrize("step", [-3600.0, -0.001])
def test_budgets_and_progress_bars_bear_a_clock_that_goes_back(case, monkeypatch, step):
    data, _, fitted = case
    now = [1e6]

    def back() -> float:
        now[0] += step
        return now[0]

    for name in ("monotonic", "time", "perf_counter"):
        monkeypatch.setattr(time, name, back)
    found = fitted.explain(data.subset("test"), budget=Seconds(5), progress=True)
    assert len(found) == len(data.subset("test"))
    assert all(one.counterfactual is not None for one in found)
