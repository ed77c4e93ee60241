"""The example of a user's own package: its commands, as the README, the documentation and the package show them."""

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from rcexplainer.cli.app import main

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?:```sh|its graphs\.\n)\n(.*?)(?:```|\"\"\")", re.S)  # in Markdown, or in a docstring
PAGES = ("README.md", "docs/your-model.md", "examples/my_package/__init__.py")


def commands(page: str) -> list[list[str]]:
    """The commands of the first block about the package, as words."""
    text = (ROOT / page).read_text(encoding="utf-8")
    block = next(block for block in BLOCK.findall(text) if "my_package" in block)
    return [shlex.split(line) for line in block.replace("\\\n", " ").splitlines()]


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """A copy of the package with a trained model."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(ROOT / "examples" / "my_package", folder / "my_package")
    (folder / "my_package" / "weights.safetensors").unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        runpy.run_module("my_package.train", run_name="__main__")
        yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_package"]:
        del sys.modules[name]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(page, examples, monkeypatch, capsys):
    monkeypatch.chdir(examples)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    first, *rest = commands(page)
    assert first == ["cd", "examples", "&&", "python", "-m", "my_package.train"]  # the fixture
    for _, *words in rest:
        quick = ["--set", "epochs=5"] if words[0] == "fit" else []
        with pytest.raises(SystemExit) as left:
            main([*words, *quick, "--quiet"])
        captured = capsys.readouterr()
        assert left.value.code == 0, captured.err
        if words[0] == "explain":
            assert "alarm" in captured.out
            assert "foreign-" in captured.out
