"""What `tools/release_check.py` compares, and the workflows that use it. Building and installing is the tool's."""

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import rcexplainer as rc

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location("release_check", ROOT / "tools" / "release_check.py")
    module = module_from_spec(spec)
    sys.modules["release_check"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_one_version_with_an_entry_in_the_changelog(tool) -> None:
    assert tool.version() == rc.__version__
    assert tool.version_problems() == []
    assert tool.version_problems(f"v{rc.__version__}") == []


def test_another_version_anywhere_is_a_problem(tool, monkeypatch) -> None:
    assert tool.version_problems("v9.9.9") == [f"the tag says 9.9.9, the package {rc.__version__}"]
    assert tool.version_problems(rc.__version__) == [f"the tag {rc.__version__} does not begin with v"]
    files = {
        "CHANGELOG.md": "## 9.1\n\n## 9.0\n- x",
        "CITATION.cff": "version: 9.2\n",
        "pyproject.toml": 'version = "9"\n',
    }
    monkeypatch.setattr(tool, "text", files.__getitem__)
    assert tool.version_problems() == [
        f"the top of CHANGELOG.md says 9.1, the package {rc.__version__}",
        f"CITATION.cff says 9.2, the package {rc.__version__}",
        f"CHANGELOG.md has no entry under {rc.__version__}",
        "pyproject.toml has a version of its own",
    ]


README = """# A package

It is not on PyPI. [Paper](https://example.org), [below](#more), [docs](docs/index.md#more).
![A picture](docs/figures/a.svg)
"""


def test_what_is_wrong_with_the_long_description_stops_a_release_alone(tool, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(tool, "text", {"README.md": README}.__getitem__)
    assert tool.readme_problems() == [
        "README.md, line 3: docs/index.md#more is relative and leads nowhere on PyPI",
        "README.md, line 4: docs/figures/a.svg is relative and leads nowhere on PyPI",
        "README.md, line 3: it says that it is not on PyPI",
    ]
    said = tool.check_description(tool.Trial(tmp_path))
    assert said.startswith("to settle before a release, see CONTRIBUTING.md: README.md, line 3: docs/index.md#more is")
    assert said.endswith("nowhere on PyPI, and 2 more")
    with pytest.raises(
        tool.CheckFailedError, match=r"leads nowhere on PyPI(?s:.*)write these links with the repository"
    ):
        tool.check_description(tool.Trial(tmp_path, "v1"))


def test_a_long_description_that_is_whole(tool, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(tool, "text", {"README.md": "[Paper](https://example.org), [below](#more)\n"}.__getitem__)
    assert tool.check_description(tool.Trial(tmp_path)) == "fit for PyPI"
    assert tool.check_description(tool.Trial(tmp_path, "v1")) == "every link and picture of README.md is whole"


def test_what_is_missing_and_what_should_not_be_there(tool) -> None:
    assert tool.differences(["a", "c"], ["a", "b"]) == ["missing: b", "not expected: c"]
    assert {"rcexplainer/py.typed", "rcexplainer/benchmark/tuned.toml"} <= tool.package_files()


@pytest.mark.parametrize(
    ("html", "loads"),
    [
        ('<a href="https://example.org">paper</a><style>a{fill:url(#grey)}</style>', 0),
        ('<script src="https://example.org/x.js"></script>', 1),
        ('<link rel="stylesheet" href="page.css"><img alt="" src="a.png">', 2),
        ("<style>@import 'x.css'; b{background:url(x.png)}</style>", 2),
        ('<img src="data:image/png;base64,AA">', 0),
    ],
)
def test_a_page_that_loads_something(tool, html, loads) -> None:
    assert len(tool.foreign(html)) == loads


def test_a_users_script_passes_mypy_strict(tool) -> None:
    """Only the script is judged: with the library's own annotations, as an installed package has them."""
    words = [
        "--strict",
        f"--cache-dir={ROOT / '.mypy_cache' / 'user'}",
        "--config-file=",
        "--follow-imports=silent",
        str(tool.SCRIPT),
    ]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=ROOT / "tests",
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout


def test_every_action_is_pinned_by_its_commit() -> None:
    uses = [line for path in WORKFLOWS for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert len(uses) > 10
    assert [line for line in uses if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []
