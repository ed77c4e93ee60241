"""Files that the system does not let us read: the reason becomes one error of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rcexplainer.errors import DatasetError


@contextmanager
def access_told(path: Path) -> Iterator[None]:
    """Whatever the system refuses in this block is told of a file.

    Args:
        path: The file.

    Raises:
        DatasetError: It, or its folder, may not be read.
    """
    try:
        yield
    except OSError as error:
        raise DatasetError(f"{path} cannot be read ({error.strerror or error})") from error
