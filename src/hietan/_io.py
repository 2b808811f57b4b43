"""Files written whole or not at all, names that every file system takes, neutral tables, forged archives."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import platform
import re
import shutil
import stat
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.array_headers import read_header
from hietan._runtime.locks import MOVES_OPEN_FILES, lock_file

TEMPORARY = ".tmp-"
"""The names of all unfinished files begin with this."""
_unfinished: set[Path] = set()  # the temporary files and directories of this process
_numbers = count()  # of the temporary files of this process; counting is safe between threads
_swept: set[str] = set()  # the directories from which this process has removed what others left behind
_OURS = re.compile(r"\.tmp-[0-9]+-(?P<host>[0-9a-f]{8})-[0-9]+")
_OLD_SECONDS = 24 * 60 * 60
_CLOEXEC, _NOFOLLOW, _NONBLOCK = (getattr(os, f"O_{name}", 0) for name in ("CLOEXEC", "NOFOLLOW", "NONBLOCK"))
_NPY_HEADER = 1 << 16  # no header of an array is longer
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can hold

MAX_UNPACKED = 8 << 30
"""The most bytes that are unpacked from one archive."""
# A member may unpack to this many bytes for each byte that it takes in the archive, and all members of a kind together
# to this many more. What `json` and `numpy` write stays far below; deflate alone would let a byte become a thousand.
_JSON_BYTES, _JSON_RATIO = 16 << 20, 20
_ARRAY_BYTES, _ARRAY_RATIO = 64 << 20, 100
_PIECE = 1 << 20


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


def write_archive(
    path: Path, members: Mapping[str, bytes | NDArray[Any]], *, compressed: bool = True
) -> None:
    """Write a zip archive atomically; its bytes depend only on the names and contents of its members.

    Arrays are written as by `numpy.save`. Unless `compressed`, all is written as it is, in a fraction of the time.
    """
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            if not isinstance(content, np.ndarray):
                archive.writestr(info, content, info.compress_type, compresslevel=6)
                continue
            is_large = content.nbytes + _NPY_HEADER > zipfile.ZIP64_LIMIT
            with archive.open(info, "w", force_zip64=is_large) as file:
                np.lib.format.write_array(file, content, allow_pickle=False)


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


# ------------------------------------------------------------------ tables as CSV

# Spreadsheets take a cell that begins with one of = + - @ (also in full width), a tab or a line break for a formula,
# quoted or not. Such a *text* gets an apostrophe in front of it, which spreadsheets show as text. So does a text that
# would look as if it were marked already, so that `restore_text` gives back every text exactly. Numbers are never
# marked: what is text is decided by the type of a cell, not by what is in it.
MARK = "'"
DANGEROUS = "=+-@＝＋－＠\t\r\n"
"""A text that begins with one of these is marked."""
_SUSPECT = (MARK, *DANGEROUS)  # no other text needs a mark
_LINE_BREAKS = {ord(c): repr(c)[1:-1] for c in map(chr, [*range(32), 127, 0x85, 0x2028, 0x2029])}


def neutralise_text(text: str) -> str:
    """A text with an apostrophe in front of it if a spreadsheet would take it for a formula.

    >>> neutralise_text("=1+1"), neutralise_text("daf-2"), neutralise_text("'='")
    ("'=1+1", 'daf-2', "''='")
    """
    if (text and text[0] in DANGEROUS) or _is_marked(text):
        return MARK + text
    return text


def restore_text(text: str) -> str:
    """The text that `neutralise_text` was given; the inverse, for cells that were read from a file.

    >>> restore_text("'=1+1"), restore_text("daf-2"), restore_text("''='"), restore_text("'tis")
    ('=1+1', 'daf-2', "'='", "'tis")
    """
    return text[1:] if _is_marked(text) else text


def _is_marked(text: str) -> bool:
    return text.startswith(MARK) and text[1:2] in (MARK, *DANGEROUS)


def csv_text(header: Sequence[str] | None, rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV: floats in full, None and NaN as empty cells, and texts that are neutral.

    Parameters
    ----------
    header : sequence of str or None
        The names of the columns, if they are to be written.
    rows : iterable of iterables
        The cells of each row. Text is what is a str, so numbers must be given as numbers.
    """
    text = io.StringIO()
    # Up to Python 3.12, a carriage return is quoted only if the line ending has one.
    writer = csv.writer(_Lines(text), lineterminator="\r\n")
    if header is not None:
        writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def comment_line(text: str) -> str:
    """A line that begins with #, for the top of a table; whatever is in the text, it stays one harmless line.

    >>> comment_line("classes a\\nb and c,=d")
    "# classes a\\\\nb and c,'=d\\n"
    """
    line = text.translate(_LINE_BREAKS).replace('"', MARK)  # a quote might make cells of several lines
    return f"# {','.join(map(neutralise_text, line.split(',')))}\n"


def read_csv(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a table that `csv_text` made, or an earlier version without marks, as {column: text}."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = [restore_text(name) for name in next(rows, [])]
        for row in filter(None, rows):
            # Without cells beyond the columns, and without those that are missing.
            cells = zip(header, row, strict=False)
            yield {name: restore_text(cell) if cell[:1] == MARK else cell for name, cell in cells}


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return neutralise_text(value) if value[:1] in _SUSPECT else value
    return None if value != value else value  # NaN


class _Lines:
    """What the csv module writes lines to: it changes their ends from two characters to one."""

    def __init__(self, file: io.StringIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        """Write a line, of which the csv module makes one call each."""
        return self._file.write(line.removesuffix("\r\n") + "\n")


# ------------------------------------------------------------------ archives


class ArchiveReader:
    """Reads the members of a zip archive that are asked for, and unpacks no more than they may hold.

    The archive may be forged. Sizes are checked before memory is taken for them, and objects are never unpickled. A
    member that is missing, damaged or too large raises an exception; `zipfile`, `json` and `numpy` raise many kinds,
    so callers should expect any.

    Parameters
    ----------
    file : binary file
        The archive, open for reading.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._length = file.seek(0, os.SEEK_END)
        self._archive = zipfile.ZipFile(file)
        self._left = MAX_UNPACKED
        self._free = {"json": _JSON_BYTES, "array": _ARRAY_BYTES}

    def read_json(self, name: str) -> Any:
        """The value of a member that holds JSON."""
        info = self._archive.getinfo(name)
        self._spend(info, _JSON_RATIO * self._packed(info), "json")
        return json.loads(self._archive.read(info))

    def read_array(self, name: str, *, expected: int = 0) -> NDArray[Any]:
        """The array of a member in the format of `numpy.save`: booleans, numbers or texts.

        Parameters
        ----------
        name : str
            The name of the member.
        expected : int
            A size in bytes that is plausible, however well the member is compressed.
        """
        info = self._archive.getinfo(name)
        self._spend(info, max(_ARRAY_RATIO * self._packed(info), expected), "array")
        with self._archive.open(info) as member:
            shape, in_columns, dtype = read_header(member)
            size = math.prod(shape) * dtype.itemsize
            if size != info.file_size - member.tell():
                raise ValueError(f"{name} should hold an array of shape {shape}, but its size does not fit")
            array: NDArray[Any] = np.empty(shape, dtype, order="F" if in_columns else "C")
            _fill(array, member, name)
        if dtype.kind == "U":
            array.tolist()  # refuses what is not a character
        if dtype.kind == "b":
            return np.asarray(array.view(np.uint8) != 0)  # any other byte would be a third truth value
        return array.astype(dtype.newbyteorder("="), copy=False)

    def _packed(self, info: zipfile.ZipInfo) -> int:
        return min(info.compress_size, self._length)  # the archive may claim more than there is

    def _spend(self, info: zipfile.ZipInfo, fair: int, kind: str) -> None:
        """Refuse a member that is too large by itself or together with those that were read before.

        What is beyond a fair size is taken from the bytes that all members of a kind have in common: otherwise many
        small members could each unpack to a large one.
        """
        limit = fair + self._free[kind]
        self._free[kind] -= max(info.file_size - fair, 0)
        self._left -= info.file_size
        if info.file_size > limit or self._left < 0:
            raise ValueError(
                f"{info.filename} would unpack to {info.file_size:,} bytes; the limit is {limit:,} for it and "
                f"{MAX_UNPACKED:,} for all that is read"
            )


def _fill(array: NDArray[Any], member: IO[bytes], name: str) -> None:
    """Read all bytes of an array piece by piece: the memory of what is not there is never touched."""
    target = array.reshape(-1, order="A").view(np.uint8).data
    position = 0
    while position < len(target):
        piece = member.read(min(_PIECE, len(target) - position))
        if not piece:
            raise ValueError(f"{name} ends early")
        target[position : position + len(piece)] = piece
        position += len(piece)
