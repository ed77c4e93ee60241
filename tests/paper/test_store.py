"""A folder of results: what it says when it cannot be used, and which source its numbers come from."""

import os
import subprocess
from pathlib import Path

import pytest

from rcexplainer.errors import RCExplainerError
from rcexplainer.paper import origin
from rcexplainer.paper.reproduce import reproduce
from rcexplainer.paper.store import Store


def test_impossible_folders(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(RCExplainerError, match="is a file: name a folder"):
        Store(file)
    with pytest.raises(RCExplainerError, match="cannot be made"):
        Store(file / "inside")


def test_a_read_only_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(RCExplainerError, match=r"^the folder .* cannot be written, it is read-only: name another, or"):
        Store(tmp_path)


def test_a_folder_is_of_one_profile(tmp_path) -> None:
    assert Store(tmp_path).profile is None
    Store(tmp_path).claim("standard")
    Store(tmp_path).claim("standard")
    assert Store(tmp_path).profile == "standard"
    with pytest.raises(RCExplainerError, match=r"holds profile standard: name another --out for profile quick"):
        reproduce("lambda", "quick", tmp_path, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["profile.json"]


def git(folder: Path, *words: str) -> None:
    person = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True)


def test_the_commit_is_the_one_of_the_source_and_says_whether_it_was_edited(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RCEXPLAINER_COMMIT", "told")
    source = tmp_path / "package"
    source.mkdir()
    (source / "__init__.py").write_text("", encoding="utf-8")
    git(tmp_path, "init")
    (tmp_path / "other").write_text("", encoding="utf-8")
    git(tmp_path, "add", "other")
    git(tmp_path, "commit", "-m", "first")
    assert origin.commit(source) == "told"  # it only lies within a checkout of something else
    git(tmp_path, "add", "package")
    git(tmp_path, "commit", "-m", "second")
    commit = origin.commit(source)
    assert commit not in ("told", None)
    (tmp_path / "other").write_text("edited", encoding="utf-8")  # outside the package
    (source / "new").write_text("", encoding="utf-8")
    assert origin.commit(source) == commit
    (source / "__init__.py").write_text("edited", encoding="utf-8")
    assert origin.commit(source) == f"{commit}+changes"


def test_the_source_is_the_package() -> None:
    assert origin.SOURCE.name == "rcexplainer"
    assert (origin.SOURCE / "__init__.py").is_file()
