"""Files of fitted explainers name their format, and each format is read by the class that wrote it.

The classes are named, not imported: a method's code is loaded when a file of it is read.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from rcexplainer.errors import CheckpointError
from rcexplainer.saving.files import read_format

READERS = {
    "rcexplainer-explainer": ("rcexplainer.explainer", "FittedRCExplainer"),
    "rcexplainer-pgexplainer": ("rcexplainer.baselines.pgexplainer", "FittedPGExplainer"),
}


def reader(path: Path) -> Any:
    """The class whose `load(path, model)` reads a file.

    Raises:
        CheckpointError: The file is missing, damaged, or not one of a fitted explainer.
    """
    found = read_format(path)
    if found not in READERS:
        raise CheckpointError(f"{path} holds no fitted explainer: its format is {found!r}, not {' or '.join(READERS)}")
    module, name = READERS[found]
    return getattr(import_module(module), name)
