"""`tools/trust/mutants.py --since`: which lines are not as they were at a commit."""

import subprocess
from pathlib import Path

from tests.hostile.trust_tools import trust_tool

PERSON = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *PERSON, *words], cwd=folder, check=True, capture_output=True)


def test_changed_and_new_lines_since_a_commit(tmp_path):
    changed_lines = trust_tool("mutants").changed_lines
    file = tmp_path / "module.py"
    file.write_text("a = 1\nb = 2\nc = 3\nd = 4\n", encoding="utf-8")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    assert changed_lines(file, "HEAD") == set()
    file.write_text("a = 1\nb = 5\nd = 4\ne = 6\nf = 7\n", encoding="utf-8")  # one changed, one gone, two new
    assert changed_lines(file, "HEAD") == {2, 4, 5}
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "second")
    assert changed_lines(file, "HEAD~1") == {2, 4, 5}
    assert changed_lines(file, None) is None
    new = tmp_path / "new.py"
    new.write_text("a = 1\nb = 2\n", encoding="utf-8")
    git(tmp_path, "add", "new.py")
    assert changed_lines(new, "HEAD") == {1, 2}
