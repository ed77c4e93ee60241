"""Imports go down only: core ← gnn, datasets ← tasks ← method ← fit ← explainer ← baselines ← … ← paper ← cli."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rcexplainer"

# The floors of the house, the lowest first; parts of one floor do not import each other. A module named here with a dot
# stands on a floor of its own, apart from its package.
FLOORS = (
    ("errors",),
    ("arguments", "short_repr"),
    ("saving.header_claims",),
    ("saving.seal", "saving.lock"),
    ("core", "saving.files"),
    ("saving.documents", "sources"),
    ("saving.checkpoint",),
    ("gnn", "datasets"),
    ("counterfactual_graph", "disclosure", "field_check"),
    ("explanation", "config"),
    ("tasks",),
    ("method", "saving"),
    ("fit", "metrics"),
    ("explainer",),
    ("baselines", "engine"),
    ("viz", "integrations", "testing"),
    ("server",),
    ("benchmark",),
    ("paper",),
    ("cli",),
    ("__main__",),
)
# The one import that goes up, inside a function: an explanation can draw itself.
UPWARD = {("rcexplainer.explanation", "rcexplainer.viz")}
RANKS = {part: rank for rank, floor in enumerate(FLOORS) for part in floor}
HEAVY = {"rdkit", "ray", "pyarrow", "fastapi", "uvicorn", "matplotlib", "scipy", "typer", "rich", "safetensors"}
FILES = sorted(SOURCE.rglob("*.py"))


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
    names = module.split(".")[1:]
    own = ".".join(names[:2])
    return own if own in RANKS else names[0] if names else "__init__"


def dotted(path: Path) -> str:
    return ".".join(["rcexplainer", *path.relative_to(SOURCE).with_suffix("").parts])


def test_imports_go_down_only() -> None:
    wrong = []
    for path in FILES:
        own = part(dotted(path))
        if own == "__init__":
            continue  # it names the parts, and loads them when they are used
        for module, at_top in imports(path):
            other = part(module)
            if (dotted(path), module) in UPWARD:
                assert not at_top, f"{dotted(path)} may import {module} inside a function only"
                continue
            if module.split(".")[0] != "rcexplainer" or other.startswith("__version"):
                continue
            if other != own and RANKS[other] >= RANKS[own]:
                wrong.append(f"{dotted(path)} ({own}) imports {module} ({other})")
    assert not wrong


def test_the_import_that_goes_up_is_one_line() -> None:
    found = [(dotted(path), module) for path in FILES for module, _ in imports(path)]
    assert {one: found.count(one) for one in UPWARD} == dict.fromkeys(UPWARD, 1)


def test_core_knows_torch_alone() -> None:
    allowed = {*sys.stdlib_module_names, "torch", "rcexplainer"}
    files = [path for path in FILES if part(dotted(path)) == "core"]
    wrong = [
        f"{path.name}: {module}" for path in files for module, _ in imports(path) if module.split(".")[0] not in allowed
    ]
    assert len(files) > 10
    assert not wrong


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    files = [path for path in FILES if part(dotted(path)) != "cli"]  # typer and rich are the command line's own
    wrong = [
        f"{dotted(path)}: {module}"
        for path in files
        for module, at_top in imports(path)
        if at_top and module.split(".")[0] in HEAVY
    ]
    assert not wrong


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
rc.datasets.load("ba-2motifs", num_graphs=4); rc.gnn.GNN; rc.viz.compare; rc.viz.draw
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_every_public_name_resolves() -> None:
    import rcexplainer as rc

    for name in rc.__all__:
        assert getattr(rc, name).__name__.rsplit(".", 1)[-1] == name
    assert set(rc.__all__) <= set(dir(rc))
    with pytest.raises(AttributeError, match=r"has no attribute 'explane'; it has Counterfactual"):
        _ = rc.explane
