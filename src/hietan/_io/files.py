"""Files written completely or not at all, under portable names."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

TEMPORARY = ".tmp-"
"""The prefix of the names of unfinished files."""


@contextmanager
def replacing(path: Path, *, follow: bool = False) -> Iterator[Path]:
    """Yield the path of a temporary file. The file replaces `path` if the block succeeds.

    If anything fails, `path` is not changed, and the temporary file is removed. Only a killed process leaves a
    temporary file behind.

    Use `follow` for paths that a person chose. If `path` is a link, its target is then replaced. If `path` is neither
    a file nor a directory, such as /dev/null or a pipe, the content is written to it at the end. Without `follow`,
    the link or pipe itself is replaced, so that nothing outside hietan's own directory is written.
    """
    if follow and _is_special(path):
        with temporary_directory() as folder:
            yield folder / "content"
            with open(folder / "content", "rb") as content, open(path, "wb") as file:
                shutil.copyfileobj(content, file)
        return
    path = Path(os.path.realpath(path)) if follow else path
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if path.is_dir():  # before anything is written: other files may be replaced together with this one
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = path.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.filename == str(temporary):  # name the requested file
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """Yield the path of a new directory. The directory and its contents are removed when the block ends."""
    with tempfile.TemporaryDirectory(prefix="hietan-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def atomic_write(path: Path, data: str | bytes, *, follow: bool = False) -> None:
    """Write a file completely or not at all, and create missing directories. For `follow`, see `replacing`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, follow=follow) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def refuse_special(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a device, pipe or socket, because opening or reading one may block forever.

    A missing file is accepted.
    """
    if _is_special(path):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def _is_special(path: str | os.PathLike[str]) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def lock_file(file: int) -> None:
    """Lock an open file until it is closed or the process ends.

    Raise BlockingIOError if another process holds the lock.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        msvcrt = import_module("msvcrt")
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def to_json(value: Any) -> str:
    """Return the value as readable JSON. The same value always gives the same text."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def safe_file_name(name: str) -> str:
    """Return a name that is safe as a file name.

    Different names stay different, and no name points to another directory.

    Names may differ only in case; `find_same_but_for_case` detects this.

    >>> safe_file_name("CE-BP"), safe_file_name("tan @ alpha=1"), safe_file_name("../a/b"), safe_file_name("..")
    ('CE-BP', 'tan %40 alpha=1', '..%2Fa%2Fb', '%2E%2E')
    """
    return quote(name, safe="=,+ ") if name.strip(".") else name.replace(".", "%2E")


def find_same_but_for_case(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two names that would share a file on a file system that ignores case, or None.

    >>> find_same_but_for_case(["CE-BP", "tan", "ce-bp"]), find_same_but_for_case(["a", "b"])
    (('CE-BP', 'ce-bp'), None)
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(safe_file_name(name).casefold(), name)
        if other != name:
            return other, name
    return None


def ignores_case(path: Path) -> bool:
    """Return whether the file system that contains an existing file ignores case in file names."""
    return path.with_name(path.name.swapcase()).exists()
