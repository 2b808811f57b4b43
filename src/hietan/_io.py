"""Writing files: whole or not at all, the same content as the same bytes, under names that any file system accepts."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

TEMPORARY = ".tmp-"
"""The names of all unfinished files begin with this."""
_numbers = count()  # of the temporary files of this process; counting is safe between threads
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can hold


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` if the block succeeds.

    If anything fails, `path` stays as it was, and the temporary file is removed. Only a process that is killed leaves
    one behind; `remove_leftovers` finds it by the number of its process, which is part of its name. The name is short,
    so that every name that a file may have can be written.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if path.is_dir():  # before anything is written: other files may be replaced together with this one
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{next(_numbers)}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.filename == str(temporary):  # an error is about the file that was asked for
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):
            temporary.unlink()


def remove_leftovers(directory: Path) -> None:
    """Remove the temporary files of killed processes from a directory and those below it."""
    for path in directory.rglob(f"{TEMPORARY}*"):
        process = path.name.removeprefix(TEMPORARY).partition("-")[0]
        if not (process.isdecimal() and _is_running(int(process))):
            with suppress(OSError):
                path.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or not a number of a process
        return True
    return True


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
