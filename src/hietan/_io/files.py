"""Files written whole or not at all, under names that every file system takes."""

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
"""The names of all unfinished files begin with this."""


@contextmanager
def replacing(path: Path, *, follow: bool = False) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` if the block succeeds.

    If anything fails, `path` stays as it was, and the temporary file is removed; only a killed process leaves one
    behind.

    With `follow`, for paths that a person chose, the file that a link leads to is replaced; and to what is neither a
    file nor a directory, such as /dev/null or a pipe, the content is written at the end. Otherwise the link or the
    pipe itself is replaced, so that nothing outside of a directory of our own is written, whatever was put into it.
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
        if error.filename == str(temporary):  # name the file that the caller asked for
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """Yield the path of a new directory, which is removed with its contents when the block ends."""
    with tempfile.TemporaryDirectory(prefix="hietan-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def atomic_write(path: Path, data: str | bytes, *, follow: bool = False) -> None:
    """Write a file whole or not at all; missing directories are created. For `follow`, see `replacing`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, follow=follow) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def refuse_special(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a device, a pipe or a socket: reading or opening one may never end. Nothing there is fine."""
    if _is_special(path):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def _is_special(path: str | os.PathLike[str]) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def lock_file(file: int) -> None:
    """Lock an open file until it is closed or the process ends; raise BlockingIOError if another process holds it."""
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
    """The value as JSON that people can read; the same value always gives the same text."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def safe_file_name(name: str) -> str:
    """A name made safe for use in a file name: different names stay different, and none leads to another directory.

    They may differ only in case; `find_same_but_for_case` tells whether they do.

    >>> safe_file_name("CE-BP"), safe_file_name("tan @ alpha=1"), safe_file_name("../a/b"), safe_file_name("..")
    ('CE-BP', 'tan %40 alpha=1', '..%2Fa%2Fb', '%2E%2E')
    """
    return quote(name, safe="=,+ ") if name.strip(".") else name.replace(".", "%2E")


def find_same_but_for_case(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two of the names whose files would be one where file systems ignore case; None if there are none.

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
    """Whether the file system of an existing file takes its name in upper and in lower case for the same."""
    return path.with_name(path.name.swapcase()).exists()
