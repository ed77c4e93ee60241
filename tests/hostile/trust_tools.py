"""The scripts of `tools/trust` as modules: they are no package, and import each other by their file names."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "tools" / "trust"


def trust_tool(name: str) -> ModuleType:
    """One of the scripts."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
