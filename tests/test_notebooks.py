"""The notebooks of the documentation: their code runs, their pictures are there, and their pages show them."""

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch

import rcexplainer as rc
from rcexplainer import config
from rcexplainer.gnn import trainer

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
LARGEST = 300_000


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location("notebook_pages", ROOT / "tools" / "site" / "notebook_pages.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["molecules", "nodes", "your-own-model"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_has_its_outputs_and_its_page_shows_them(path, tool) -> None:
    notebook = read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))  # run from top to bottom
    assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]
    assert path.stat().st_size < LARGEST
    text, pictures = tool.page(notebook, path.stem)
    assert pictures
    assert path.with_suffix(".md").read_text(encoding="utf-8") == text
    folder = path.with_name(f"{path.stem}_files")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == pictures


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_code_runs_at_a_small_size(path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(config.PRESETS, "default", replace(config.PRESETS["default"], epochs=1))
    monkeypatch.setitem(config._NODES, "default", config._NODES["default"] | {"epochs": 1})
    monkeypatch.setitem(trainer.DEFAULT_TRAINING, "graph", replace(trainer.DEFAULT_TRAINING["graph"], epochs=20))
    load = rc.datasets.load
    small = {"nitro": {"num_graphs": 100}}
    monkeypatch.setattr(rc.datasets, "load", lambda name, **given: load(name, **(given | small.get(name, {}))))
    names: dict[str, Any] = {}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for cell in read(path).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source.replace("epochs=500", "epochs=60"), str(path), "exec"), names)
    assert isinstance(names["explanation"], rc.Explanation)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_in_a_kernel_and_says_the_same_again(path, tool, monkeypatch) -> None:
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    before = read(path)
    after = tool.run(read(path))
    for old, new in zip(before.cells, after.cells, strict=True):
        if old.cell_type == "code":
            assert [kind.output_type for kind in new.outputs] == [kind.output_type for kind in old.outputs]
            assert [out.get("text", "")[:60] for out in new.outputs] == [
                out.get("text", "")[:60] for out in old.outputs
            ]
