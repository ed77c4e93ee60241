"""Which sources figures were made from; nothing has to be installed for it."""

import hashlib
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def source_digest(source: Path = SOURCE) -> str:
    """A digest of the library's sources: what was tried with other ones is tried again."""
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*.py")):
        digest.update(path.relative_to(source).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
