"""Opening text files, plain or compressed, and naming them in errors."""

import gzip
import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

TextSource: TypeAlias = str | os.PathLike[str] | TextIO

# A stray byte should spoil one name, not the whole file.
_ENCODING: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "replace"}


def source_name(source: TextSource) -> str:
    """What to call `source` in an error."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<text stream>"))


def sha256_of(path: Path) -> str:
    """The SHA-256 of the file as it lies on disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def open_text(source: TextSource) -> Iterator[TextIO]:
    """Open a path, unpacking `.gz` and `.zip` on the fly; an open text file is passed on and left open."""
    if not isinstance(source, (str, os.PathLike)):
        if not isinstance(source.read(0), str):
            raise TypeError(f"{source_name(source)} is open in binary mode; expected a path or a text file")
        yield source
        return
    path = Path(source)
    if path.suffix == ".gz":
        with gzip.open(path, "rt", **_ENCODING) as file:
            yield file
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(archive, path)) as member:
            yield io.TextIOWrapper(member, **_ENCODING)
    else:
        with path.open(**_ENCODING) as file:
            yield file


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    # Archives packed on a Mac carry a shadow tree of resource forks.
    members = [
        name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise ValueError(f"{path}: expected an archive of one file, found {len(members)}: {members[:5]}")
    return members[0]
