"""Writing files: whole or not at all, the same content as the same bytes, under names that any file system accepts."""

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

TEMPORARY = ".tmp-"
"""The names of all unfinished files begin with this."""
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can hold


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` if the block succeeds.

    If anything fails, `path` stays as it was, and the temporary file is removed. Its name contains the process and the
    thread, so that two writers of one file do not write into the same temporary file.
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
    """Write a file whole or not at all; missing directories are created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def write_archive(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a zip archive atomically; its bytes depend only on the names and contents of its members."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, compresslevel=6)


def to_json(value: Any) -> str:
    """The value as JSON that people can read; the same value always gives the same text."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def safe_file_name(name: str) -> str:
    """A name made safe for use in a file name: different names stay different, and no directory separator is left.

    >>> safe_file_name("CE-BP"), safe_file_name("tan @ alpha=1"), safe_file_name("../a/b")
    ('CE-BP', 'tan %40 alpha=1', '..%2Fa%2Fb')
    """
    return quote(name, safe="=,+ ")
