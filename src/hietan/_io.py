"""Writing files: whole or not at all, the same bytes for the same content, under names that any disk takes."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import Any
from urllib.parse import quote

# Unfinished files begin with this, whoever writes them.
TEMPORARY = ".tmp-"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can hold


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file, which takes the place of `path` if the block succeeds.

    Whatever fails, what was at `path` stays, and the temporary file goes. Its name holds the process and the thread,
    so that two writers of one file do not meet in it.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{get_ident()}-{path.name}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def atomic_write(path: Path, data: str | bytes) -> None:
    """Write a file so that it is there whole or not at all; directories on the way to it are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def write_archive(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a zip archive atomically; its bytes depend on the names and contents of its members alone."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, compresslevel=6)


def to_json(value: Any) -> str:
    """JSON that is the same for the same value, and that people can read."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def safe_file_name(name: str) -> str:
    """A name as part of the name of a file: different names stay different, on every file system.

    >>> safe_file_name("CE-BP"), safe_file_name("tan @ alpha=1"), safe_file_name("../a/b")
    ('CE-BP', 'tan %40 alpha=1', '..%2Fa%2Fb')
    """
    return quote(name, safe="=,+ ")
