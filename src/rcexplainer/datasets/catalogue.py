"""The catalogue of datasets: a name becomes a dataset."""

from difflib import get_close_matches
from pathlib import Path

from rcexplainer.datasets.dataset import GraphDataset, check_seed
from rcexplainer.datasets.entries import DATASETS, FAMILIES, TaskName
from rcexplainer.errors import DatasetError


def names() -> list[str]:
    """List the names that `load` takes, apart from the families `tu:NAME` and `csv:PATH`."""
    return list(DATASETS)


def task_of(name: str) -> TaskName:
    """Return the task of a dataset without loading it.

    Args:
        name: Its name.

    Returns:
        "graph", "node" or "link"; "graph" for families and unknown names.
    """
    entry = DATASETS.get(str(name).lower())
    return "graph" if entry is None else entry.task


def load(name: str, root: str | Path | None = None, seed: int = 0, **options: object) -> GraphDataset:
    """Load or generate a dataset with its split.

    Args:
        name: One of `names()`, or `tu:NAME`, or `csv:PATH`.
        root: The folder of downloaded sets (default: the user's cache folder).
        seed: Random seed of what is generated and of the split.
        **options: Options of the set, such as `num_graphs` for `ba-2motifs`.

    Returns:
        The dataset.

    Raises:
        DatasetError: If the name, the seed or an option is unknown or impossible, or the files are corrupt.
        MissingDataError: If the set is not on disk and cannot be downloaded.
        MissingExtraError: If a set needs a package that is not installed.
    """
    if not isinstance(name, str):
        raise DatasetError(f"load(name) takes the name of a dataset, such as mutag, got {type(name).__name__}")
    if not isinstance(root, str | Path | None):
        raise DatasetError(f"root must be a folder, got {root!r}")
    check_seed(seed)
    folder = None if root is None else Path(root)
    prefix, colon, rest = name.partition(":")
    try:
        for family, entry in FAMILIES.items():
            if colon and family.startswith(f"{prefix}:"):
                return entry.build(rest, folder, seed, **options)
        if name.lower() in DATASETS:
            return DATASETS[name.lower()].build(folder, seed, **options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error):
            raise DatasetError(f"dataset {name!r}: {error}") from error
        raise
    near = get_close_matches(name.lower(), names(), n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(names())}"
    raise DatasetError(f"unknown dataset {name!r}; {hint} Also tu:NAME and csv:PATH.")
