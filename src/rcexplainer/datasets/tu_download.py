"""A set of the TU collection, downloaded and unpacked here, file by file.

PyG's own class would also write the set to a processed file and unpickle that: nothing is unpickled here.
"""

import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from torch_geometric.datasets import TUDataset
from torch_geometric.io import fs

from rcexplainer.errors import DatasetError

MOST_BYTES = 1 << 32  # of all files of a set, unpacked; an archive of a few megabytes can hold more
UNPACKED_AT_ONCE = 1 << 20  # bytes


def fetch(folder: Path, name: str) -> None:
    """Download a set.

    Args:
        folder: Where it goes: its text files are put into `folder/NAME/raw`, whatever else is in the archive is not.
        name: Its name in the collection.

    Raises:
        DatasetError: The archive holds more than `MOST_BYTES`.
        Exception: It cannot be downloaded, in one of many ways.
    """
    fs.cp(f"{TUDataset.url}/{name}.zip", str(folder))
    raw, left = folder / name / "raw", MOST_BYTES
    raw.mkdir(parents=True)
    own = re.compile(rf"{re.escape(name)}_\w+\.txt")
    with zipfile.ZipFile(folder / f"{name}.zip") as archive:
        for member in archive.infolist():
            file = PurePosixPath(member.filename).name  # never a path: an archive can name any place
            if own.fullmatch(file):
                with archive.open(member) as packed, (raw / file).open("wb") as target:
                    left -= _copied(packed, target, left, name)


def _copied(packed: IO[bytes], target: IO[bytes], most: int, name: str) -> int:
    """Unpack a file, piece by piece: the size that its header claims is not trusted."""
    size = 0
    while piece := packed.read(UNPACKED_AT_ONCE):
        size += len(piece)
        if size > most:
            raise DatasetError(f"the archive of {name} holds more than {MOST_BYTES:,} bytes: it is not unpacked")
        target.write(piece)
    return size
