"""Documents as text and in files, and the checks of paths before the work."""

import json
from pathlib import Path

import pytest

from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.saving.documents import readable_file, to_text, writable_file, writable_folder, write_document


def test_numbers_json_cannot_hold_are_null():
    document = {"nan": float("nan"), "list": [float("inf"), 1.5], "tuple": (float("-inf"),), "text": "→"}
    assert json.loads(to_text(document)) == {"nan": None, "list": [None, 1.5], "tuple": [None], "text": "→"}
    assert "→" in to_text(document)


def test_a_file_is_written_with_its_folder(tmp_path):
    path = write_document(tmp_path / "new" / "a.json", {"a": 1})
    assert path.read_text(encoding="utf-8") == '{\n  "a": 1\n}\n'
    assert [file.name for file in path.parent.iterdir()] == ["a.json"]


def test_paths_that_can_be_used(tmp_path):
    file = tmp_path / "file"
    assert writable_file(file) == file
    assert writable_file(tmp_path / "new" / "file").parent.is_dir()
    assert writable_folder(tmp_path / "newer" / "folder").is_dir()
    file.touch()
    assert readable_file(file, "--model", "rcexplainer train") == file


def test_paths_that_cannot_be_used(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RCExplainerError, match=r"^--out .* is a folder, not a file: name a file in it$"):
        writable_file(tmp_path)
    with pytest.raises(RCExplainerError, match=r"^--keep .*file is a file, not a folder: name a folder$"):
        writable_folder(file, "--keep")
    with pytest.raises(RCExplainerError, match=r"^--out: the folder .* cannot be created \(.*\)$"):
        writable_folder(file / "folder")
    with pytest.raises(CheckpointError, match=r"^--model: there is no file .*none; `rcexplainer train` writes one$"):
        readable_file(tmp_path / "none", "--model", "rcexplainer train")
    with pytest.raises(CheckpointError, match=r"^--model .* is a folder, not a file: name a file that `x` wrote$"):
        readable_file(tmp_path, "--model", "x")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no /proc, which takes no files")
def test_a_folder_that_takes_no_file_is_said_before_the_work():
    with pytest.raises(RCExplainerError, match=r"^--html: the folder /proc takes no new file \(.+\); choose another"):
        writable_file(Path("/proc/page.html"), "--html")
