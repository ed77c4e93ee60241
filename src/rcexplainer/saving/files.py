"""Files that are written completely or not at all, and safetensors with JSON in the header: nothing is unpickled."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

from torch import Tensor

from rcexplainer.errors import CheckpointError, RCExplainerError, WriteError
from rcexplainer.saving.header_claims import check_nesting
from rcexplainer.saving.seal import check_seal, sealed_file

TEMPORARY = ".half"  # how names end of files that are being written
TRIES = 10  # to write a file whose temporary one vanishes


def named_file(path: object, call: str, argument: str = "path", kind: str = "file") -> Path:
    """The file, or folder, that a user named.

    Args:
        path: As it was given.
        call: The function it was given to, for the error message.
        argument: Its name there.
        kind: "file" or "folder".

    Raises:
        CheckpointError: It is no path, or one that no file can have.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(text := os.fspath(path), str):
        raise CheckpointError(f"{call}: {argument} must name a {kind}, got {type(path).__name__}")
    if not text:
        raise CheckpointError(f"{call}: {argument} must name a {kind}, got an empty text")
    if not _possible(text):
        raise CheckpointError(f"{call}: {argument} must name a {kind}, got {text!r}, which cannot be a path")
    return Path(text)


def _possible(path: str) -> bool:
    """Whether the system could have a file of this name: none has a NUL, or half of a character."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def write_tensors(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, str]) -> Path:
    """Write tensors and texts to one safetensors file, with a checksum over all of it.

    The same tensors and texts give the same bytes.

    Args:
        path: The file; its folder is made if needed.
        tensors: The tensors by name.
        header: The texts by name; "format" names the format.

    Returns:
        The path.

    Raises:
        CheckpointError: The path is a folder.
    """
    from safetensors.torch import save

    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return write_whole(path, sealed_file(save(plain), header))


def read_tensors(path: Path, wanted: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a file written by `write_tensors`.

    Args:
        path: The file.
        wanted: The format that its header must name.

    Returns:
        The tensors and the texts by name.

    Raises:
        CheckpointError: The file is missing, damaged, of another format, or of a later version.
    """
    with _opened(path) as file:  # what its header says of sizes is compared with the file's own before anything is read
        header = file.metadata() or {}
        check_seal(path, header)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if header.get("format") != wanted:
        raise CheckpointError(f"{path} is not a {wanted} file: its format is {header.get('format')!r}")
    check_nesting(path, header)
    return tensors, header


def read_format(path: Path) -> str | None:
    """The format that the header of a file names, if any."""
    with _opened(path) as file:
        return (file.metadata() or {}).get("format")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    _check_readable(path)
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise CheckpointError(
            f"{path} cannot be read as safetensors ({error}): it is damaged or of another kind"
        ) from error


def _check_readable(path: Path) -> None:
    """Open a file once: of one that may not be read safetensors says that it does not exist."""
    try:
        folder, regular = path.is_dir(), path.is_file()
        if regular:
            path.open("rb").close()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read ({error.strerror or error})") from error
    if folder:
        raise CheckpointError(f"{path} is a folder: name a file in it")
    if not regular:
        raise CheckpointError(f"there is no file {path}")


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Whatever the content of a file makes go wrong, in the block that makes sense of it, becomes one error of ours.

    Args:
        path: The file.

    Raises:
        CheckpointError: Values of the file are missing, of another type or shape, or impossible.
    """
    try:
        yield
    except RCExplainerError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged or was written by another version: {error}") from error


@contextmanager
def writing_told(path: Path) -> Iterator[None]:
    """Whatever the system refuses in the block that writes something becomes one error that names it.

    Args:
        path: The file or folder.

    Raises:
        WriteError: It cannot be written, as on a full disk.
    """
    try:
        yield
    except RCExplainerError:
        raise
    except OSError as error:
        cause = error.strerror or str(error)
        raise WriteError(
            f"{path} could not be written ({cause}): make room, or name another place", error.errno, cause
        ) from error


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary file beside the place of a file, moved there when the block is done, gone if the block fails.

    Each writer has its own: of two that write one file, the last to finish wins.

    Args:
        path: The file; its folder is made if needed.

    Yields:
        The temporary file, empty.

    Raises:
        CheckpointError: The path is a folder, or in a file.
        WriteError: The file cannot be written; an older one is left as it was.
    """
    with writing_told(path):
        _prepare(path)
        temporary = _temporary(path)
    try:
        yield temporary
        with writing_told(path):
            _move(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file so that nobody ever sees half of it: under a temporary name beside its place, then moved there.

    Args:
        path: The file; its folder is made if needed.
        content: Its bytes.

    Returns:
        The path.

    Raises:
        CheckpointError: The path is a folder, or in a file, or in a folder that takes no new files.
        WriteError: The file cannot be written, as on a full disk; an older one is left as it was.
    """
    with writing_told(path):
        _prepare(path)
        for _ in range(TRIES):
            # Another machine, to which our process is unknown, may take the temporary file for an abandoned one.
            with suppress(FileNotFoundError):
                return _written(path, content)
    raise CheckpointError(f"{path} cannot be written: {path.parent} is gone or takes no new file; name another folder")


def remove_file(path: Path) -> None:
    """Delete a file that `write_whole` wrote, and what processes that were killed left of it.

    Args:
        path: The file; it need not exist.
    """
    path.unlink(missing_ok=True)
    _remove_abandoned(path)


def make_folder_of(path: Path) -> None:
    """Make the folder that a file or folder is to be in.

    Args:
        path: The file or folder.

    Raises:
        CheckpointError: It would be in a file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise CheckpointError(f"{path} cannot be written: {path.parent} is a file, or in one; name a folder") from error


def _prepare(path: Path) -> None:
    """Make the folder of a file, and remove what killed processes left of the file there."""
    if path.is_dir():
        raise CheckpointError(f"{path} is a folder: name a file in it")
    make_folder_of(path)
    _remove_abandoned(path)


def _written(path: Path, content: bytes) -> Path:
    temporary = _temporary(path)
    try:
        temporary.write_bytes(content)
        _move(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


def _temporary(path: Path) -> Path:
    """A new file beside the place of another, of this process alone."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.{os.getpid()}-", suffix=TEMPORARY)
    os.close(handle)
    temporary = Path(name)
    temporary.chmod(0o600)  # whatever new files may be: this one is written
    return temporary


def _move(temporary: Path, path: Path) -> None:
    """Put a file in its place once all of it is on the disk."""
    with temporary.open("r+b") as file:
        os.fsync(file.fileno())
    temporary.chmod(0o666 & ~_umask())  # as for any new file; temporary ones are private
    temporary.replace(path)


def _remove_abandoned(path: Path) -> None:
    """Delete temporary files of processes that were killed while they wrote this file."""
    for found in path.parent.glob(f".{escape(path.name)}.*{TEMPORARY}"):
        writer = found.name.removeprefix(f".{path.name}.").partition("-")[0]
        if writer.isdigit() and not _runs(int(writer)):
            with suppress(OSError):  # another process was quicker; or, on Windows, it is being written
                found.unlink()


def _runs(process: int) -> bool:
    """Whether a process of this machine runs; on Windows, where asking would end it, files in use cannot be deleted."""
    if sys.platform == "win32":
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


def _umask() -> int:
    """The permissions that new files do not get. They can only be read by setting them."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
