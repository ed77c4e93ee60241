"""An array in a file, of which only the rows that are asked for are read."""

import mmap
from pathlib import Path
from tokenize import TokenError

import numpy as np
import torch
from torch import Tensor

from rcexplainer.errors import GraphError


def _check_header(path: Path) -> None:
    """Refuse a header that is longer than its file: numpy would take the memory before it reads.

    Raises:
        ValueError: It is.
    """
    with path.open("rb") as file:
        begin = file.read(12)
    long = begin[6:7] >= b"\x02"  # since version 2 of the format its length has four bytes, not two
    length = int.from_bytes(begin[8 : 12 if long else 10], "little")
    if begin.startswith(b"\x93NUMPY") and length > path.stat().st_size:
        raise ValueError(f"its header should have {length} bytes, and the file has {path.stat().st_size}")


class MappedArray:
    """A `.npy` file, mapped read-only; `array[places]` reads these rows as a tensor.

    Args:
        path: The file.

    Raises:
        GraphError: It is missing, cut short, or holds values that torch has no type for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise GraphError(f"there is no file {path}")
        try:
            _check_header(path)
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, TypeError, EOFError, OSError, SyntaxError, TokenError) as error:
            raise GraphError(
                f"{path} cannot be read as an array: {error}; it is damaged, cut short, or not a .npy file of numbers"
            ) from error
        if (handle := getattr(mapped, "_mmap", None)) is not None and hasattr(mmap, "MADV_RANDOM"):
            handle.madvise(mmap.MADV_RANDOM)  # rows are far apart: the pages around them are not needed
        self.array: np.ndarray = np.asarray(mapped)
        if self.array.ndim == 0:
            raise GraphError(f"{path} holds a single number: an array with a row for each entry is needed")
        try:
            self.dtype: torch.dtype = torch.from_numpy(np.empty(0, self.array.dtype)).dtype
        except (TypeError, ValueError) as error:  # also numbers in the other byte order
            raise GraphError(f"{path} holds values of type {self.array.dtype}, which torch does not have") from error

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return self.array.shape

    def __getitem__(self, places: Tensor) -> Tensor:
        return torch.from_numpy(self.array[places.numpy()])
