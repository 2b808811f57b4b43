"""Files written whole or not at all, under names that every file system takes."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from hietan._runtime.locks import MOVES_OPEN_FILES, lock_file

TEMPORARY = ".tmp-"
"""The names of all unfinished files begin with this."""
_unfinished: set[Path] = set()  # the temporary files and directories of this process
_numbers = count()  # of the temporary files of this process; counting is safe between threads
_swept: set[str] = set()  # the directories from which this process has removed what others left behind
_OURS = re.compile(r"\.tmp-[0-9]+-(?P<host>[0-9a-f]{8})-[0-9]+")
_OLD_SECONDS = 24 * 60 * 60
_CLOEXEC, _NOFOLLOW, _NONBLOCK = (getattr(os, f"O_{name}", 0) for name in ("CLOEXEC", "NOFOLLOW", "NONBLOCK"))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` if the block succeeds.

    If anything fails, `path` stays as it was, and the temporary file is removed. Only a process that is killed leaves
    one behind; the next that writes to the directory removes it. The name is short, so that every name that a file may
    have can be written.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if path.is_dir():  # before anything is written: other files may be replaced together with this one
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    _remove_leftovers_beside(path)
    with _temporary_file(path) as (temporary, locked):
        try:
            yield temporary
            if temporary.stat().st_mtime_ns == 0:
                raise FileNotFoundError(errno.ENOENT, "nothing was written", str(path))
            if not MOVES_OPEN_FILES:
                locked.close()
            os.replace(temporary, path)
            _unfinished.discard(temporary)
        except OSError as error:
            if error.filename == str(temporary):  # an error is about the file that was asked for
                error.filename, error.filename2 = str(path), None
            raise


@contextmanager
def _temporary_file(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield a new, empty and locked file next to a path, and remove it at the end if it is still there.

    Its time is 0, which shows whether it is written to. The lock ends with the process, even if it is killed: so other
    processes know whether somebody still writes to the file. Whatever is written must go into this very file.
    """
    while True:
        temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{_host()}-{next(_numbers)}")
        _unfinished.add(temporary)
        try:
            file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _CLOEXEC, 0o666)
        except FileExistsError:  # of a killed process with the same number
            _unfinished.discard(temporary)
            continue
        except OSError as error:
            _unfinished.discard(temporary)
            error.filename = str(path)
            raise
        locked = open(file, "r+b", buffering=0)  # noqa: SIM115 - closed below, on some systems before it is moved
        try:
            _lock(file, wait=True)
            # Before it was locked, somebody may have taken it for left behind, and removed it.
            if os.fstat(file).st_nlink:
                os.utime(temporary, ns=(0, 0))
                yield temporary, locked
                return
        finally:
            if not MOVES_OPEN_FILES:
                locked.close()
            if temporary in _unfinished:
                with suppress(OSError):
                    temporary.unlink()
            locked.close()
            _unfinished.discard(temporary)


def _lock(file: int, *, wait: bool = False) -> bool:
    """Lock an open file, if this system and the file system can; whether it is locked now."""
    try:
        return lock_file(file, wait=wait)
    except OSError:
        return False


@lru_cache(maxsize=1)
def _host() -> str:
    """A few digits that tell this machine from others that write to the same directories."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


@contextmanager
def temporary_directory(parent: str | Path | None = None) -> Iterator[Path]:
    """Yield the path of a new directory, which is removed with all that is in it when the block ends.

    Parameters
    ----------
    parent : str or path, optional
        The directory to make it in; that of the platform for temporary files unless given.
    """
    path = Path(tempfile.mkdtemp(prefix="hietan-", dir=parent))
    _unfinished.add(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _unfinished.discard(path)


def remove_unfinished() -> None:
    """Remove the temporary files and directories of this process, which is about to end in the middle of its work."""
    for path in list(_unfinished):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def remove_leftovers(directory: Path) -> None:
    """Remove the temporary files of killed processes, of earlier versions too, from a directory of ours and all below.

    A file that is locked is still being written. Where files cannot be locked, all of them are left.
    """
    for path in directory.rglob(f"{TEMPORARY}*"):
        _remove_if_free(path)


def _remove_leftovers_beside(path: Path) -> None:
    """Remove what killed processes left in the directory of a file, once in the life of this process.

    The directory may be anybody's, so only names count that nobody else would choose.
    """
    directory = os.path.abspath(path.parent)
    if directory in _swept:
        return
    _swept.add(directory)
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if found := _OURS.fullmatch(entry.name):
                # Locks do not reach other machines on every network file system: their files must be old as well.
                is_old = time.time() - entry.stat(follow_symlinks=False).st_ctime > _OLD_SECONDS
                if found["host"] == _host() or is_old:
                    _remove_if_free(Path(entry.path))


def _remove_if_free(path: Path) -> None:
    """Remove a file unless somebody has locked it; neither links nor anything but files."""
    with suppress(OSError):
        file = os.open(path, os.O_RDWR | _NOFOLLOW | _NONBLOCK | _CLOEXEC)
        is_free = False
        try:
            is_free = stat.S_ISREG(os.fstat(file).st_mode) and _lock(file)
            if is_free and MOVES_OPEN_FILES:
                path.unlink()
        finally:
            os.close(file)
        if is_free and not MOVES_OPEN_FILES:
            path.unlink()  # where open files cannot be removed, nobody removes one that is being written


def atomic_write(path: Path, data: str | bytes) -> None:
    """Write a file whole or not at all; missing directories are created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


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
