"""Archives of JSON and arrays: the same bytes for the same content, and read as if a stranger had written them."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from hietan._io._npy import as_npy, read_header
from hietan._io._zip import StoredInfo, can_store, open_stored, read_directory, write_stored
from hietan._io.files import replacing

_NPY_HEADER = 1 << 16  # no header of an array is longer
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can hold
MAX_UNPACKED = 8 << 30
"""The most bytes that are unpacked from one archive."""
# A member may unpack to this many bytes for each byte that it takes in the archive, and all members of a kind together
# to this many more. What `json` and `numpy` write stays far below; deflate alone would let a byte become a thousand.
_JSON_BYTES, _JSON_RATIO = 16 << 20, 20
_ARRAY_BYTES, _ARRAY_RATIO = 64 << 20, 100
_PIECE = 1 << 20


def write_archive(
    path: Path, members: Mapping[str, bytes | NDArray[Any]], *, compressed: bool = True
) -> None:
    """Write a zip archive atomically; its bytes depend only on the names and contents of its members.

    Arrays are written as by `numpy.save`. Unless `compressed`, all is written as it is, in a fraction of the time.
    """
    n_bytes = sum(part.nbytes if isinstance(part, np.ndarray) else len(part) for part in members.values())
    with replacing(path) as temporary:
        if compressed or not can_store(list(members), n_bytes):
            _write_by_zipfile(temporary, members, zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED)
            return
        with open(temporary, "r+b") as file:
            write_stored(file, ((name, _pieces(content)) for name, content in members.items()))


def _pieces(content: bytes | NDArray[Any]) -> Sequence[bytes | memoryview]:
    return as_npy(content) if isinstance(content, np.ndarray) else (content,)


def _write_by_zipfile(path: Path, members: Mapping[str, bytes | NDArray[Any]], method: int) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr, info.compress_type = 3, 0o644 << 16, method
            if not isinstance(content, np.ndarray):
                archive.writestr(info, content, info.compress_type, compresslevel=6)
                continue
            is_large = content.nbytes + _NPY_HEADER > zipfile.ZIP64_LIMIT
            with archive.open(info, "w", force_zip64=is_large) as file:
                np.lib.format.write_array(file, content, allow_pickle=False)


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
        self._file, self._stored = file, read_directory(file, self._length)
        self._archive = zipfile.ZipFile(file) if self._stored is None else None
        self._left = MAX_UNPACKED
        self._free = {"json": _JSON_BYTES, "array": _ARRAY_BYTES}

    def read_json(self, name: str) -> Any:
        """The value of a member that holds JSON."""
        return json.loads(self.read_text(name))

    def read_text(self, name: str) -> bytes:
        """The bytes of a member that holds JSON."""
        info = self._info(name)
        self._spend(info, _JSON_RATIO * self._packed(info), "json")
        with self._open(info) as member:
            return member.read()

    def read_array(self, name: str, *, expected: int = 0) -> NDArray[Any]:
        """The array of a member in the format of `numpy.save`: booleans, numbers or texts.

        Parameters
        ----------
        name : str
            The name of the member.
        expected : int
            A size in bytes that is plausible, however well the member is compressed.
        """
        info = self._info(name)
        self._spend(info, max(_ARRAY_RATIO * self._packed(info), expected), "array")
        with self._open(info) as member:
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

    def _info(self, name: str) -> zipfile.ZipInfo | StoredInfo:
        if self._stored is not None and name in self._stored:
            return self._stored[name]
        return self._by_zipfile().getinfo(name)

    def _open(self, info: zipfile.ZipInfo | StoredInfo) -> io.BufferedIOBase:
        stored = open_stored(self._file, self._length, info) if isinstance(info, StoredInfo) else None
        return stored or cast(io.BufferedIOBase, self._by_zipfile().open(info.filename))

    def _by_zipfile(self) -> zipfile.ZipFile:
        if self._archive is None:
            self._archive = zipfile.ZipFile(self._file)
        return self._archive

    def _packed(self, info: zipfile.ZipInfo | StoredInfo) -> int:
        return min(info.compress_size, self._length)  # the archive may claim more than there is

    def _spend(self, info: zipfile.ZipInfo | StoredInfo, fair: int, kind: str) -> None:
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


def _fill(array: NDArray[Any], member: io.BufferedIOBase, name: str) -> None:
    """Read all bytes of an array piece by piece: the memory of what is not there is never touched."""
    target = array.reshape(-1, order="A").view(np.uint8).data
    position = 0
    while position < len(target):
        read = member.readinto(target[position : position + _PIECE])
        if not read:
            raise ValueError(f"{name} ends early")
        position += read
