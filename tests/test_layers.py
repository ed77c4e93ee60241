"""Imports go down only: core ← gnn, tasks, datasets ← explainer, baselines, metrics ← viz, … ← experiments ← cli."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rcexplainer"

RANKS = {
    "errors": 0,
    "files": 1,
    "graphs": 1,
    "core": 1,
    "batching": 2,
    "gnn": 3,
    "tasks": 4,
    "datasets": 3,
    "explanation": 4,
    "config": 4,
    "packing": 6,
    "verification": 5,
    "candidates": 5,
    "streaming": 5,
    "recognising": 5,
    "explaining": 7,
    "fitted": 8,
    "known": 5,
    "resuming": 4,
    "taught": 9,
    "fitting": 10,
    "restarting": 11,
    "explainer": 12,
    "metrics": 8,
    "baselines": 13,
    "viz": 13,
    "integrations": 13,
    "experiments": 14,
    "cli": 15,
    "__main__": 16,
}
HEAVY = {"rdkit", "ray", "fastapi", "uvicorn", "pgmpy", "matplotlib", "scipy", "typer", "rich", "safetensors"}


def imports(path: Path) -> list[tuple[str, bool]]:
    """(imported module, whether at the top of the file) for every import, also under `if TYPE_CHECKING`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively: write the full name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found += [(name, node in tree.body) for name in names]
    return found


def part(module: str) -> str:
    """The part of the house a module of ours belongs to: `rcexplainer.gnn.split` → gnn."""
    return module.split(".")[1] if "." in module else "__init__"


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_only(path: Path) -> None:
    own = part(".".join(["rcexplainer", *path.relative_to(SOURCE).with_suffix("").parts]))
    if own == "__init__":
        return  # it names the parts, and loads them when they are used
    for module, _ in imports(path):
        root = module.split(".")[0]
        if root == "rcexplainer" and not part(module).startswith("__version"):
            other = part(module)
            assert other == own or RANKS[other] < RANKS[own], f"{path.name} imports {module}"
        if own == "core":
            allowed = {*sys.stdlib_module_names, "torch", "rcexplainer"}
            assert root in allowed, f"core knows torch alone, but {path.name} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    if path.name == "cli.py":
        return  # typer and rich are the command line's own
    top = {module.split(".")[0] for module, at_top in imports(path) if at_top}
    assert not top & HEAVY


def test_the_library_imports_without_the_optional_packages() -> None:
    """With torch, torch-geometric and numpy (and what these bring) alone."""
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY}:
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import rcexplainer as rc
rc.datasets.load("ba-2motifs", num_graphs=4); rc.gnn.GNN
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_every_public_name_resolves() -> None:
    import rcexplainer as rc

    for name in rc.__all__:
        assert getattr(rc, name).__name__.rsplit(".", 1)[-1] == name
    assert set(rc.__all__) <= set(dir(rc))
    with pytest.raises(AttributeError, match=r"has no attribute 'explane'; it has Counterfactual"):
        _ = rc.explane
