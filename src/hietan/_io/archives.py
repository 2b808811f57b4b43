"""Zip archives of JSON and arrays, which are reproducible and safe to read from any source."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hietan._io.files import replacing

_NPY_HEADER = 1 << 16  # no header of an array is longer
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can store
MAX_UNPACKED = 8 << 30
"""The largest number of bytes to unpack from one archive."""
# All JSON of an archive, and all its arrays, may unpack to this many bytes, and this many more for each byte of the
# file. Files written by `write_archive` stay far below; deflate alone would let a byte become a thousand.
_JSON_BYTES, _JSON_RATIO = 16 << 20, 20
_ARRAY_BYTES, _ARRAY_RATIO = 64 << 20, 100


def write_archive(
    path: Path, members: Mapping[str, bytes | NDArray[Any]], *, compressed: bool = True
) -> None:
    """Write a zip archive atomically. The bytes depend only on the members' names and contents.

    Arrays are written as by `numpy.save`.
    """
    with replacing(path, follow=True) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            size = content.nbytes if isinstance(content, np.ndarray) else len(content)
            with archive.open(info, "w", force_zip64=size + _NPY_HEADER > zipfile.ZIP64_LIMIT) as file:
                if isinstance(content, np.ndarray):
                    np.lib.format.write_array(file, content, allow_pickle=False)
                else:
                    file.write(content)


class ArchiveReader:
    """A reader for zip archives that may be forged.

    Sizes are checked before memory is allocated, and objects are never unpickled. A member that is missing, damaged
    or too large raises an exception. Callers should expect any kind, because `zipfile`, `json` and `numpy` raise
    many.

    Parameters
    ----------
    file : binary file
        The archive, open for reading.
    """

    def __init__(self, file: IO[bytes]) -> None:
        length = file.seek(0, os.SEEK_END)
        self._archive = zipfile.ZipFile(file)
        self._left = {
            "JSON": _JSON_BYTES + _JSON_RATIO * length,
            "arrays": _ARRAY_BYTES + _ARRAY_RATIO * length,
            "all": MAX_UNPACKED,
        }

    def read_json(self, name: str) -> Any:
        """Return a JSON member's value."""
        info = self._archive.getinfo(name)
        self._spend("JSON", info, info.file_size)
        with self._archive.open(info) as member:  # never more than the size that was counted
            return json.loads(member.read(info.file_size))

    def read_array(self, name: str, *, expected: int = 0) -> NDArray[Any]:
        """Return the array that a member stores in `numpy.save` format.

        Its items may be booleans, numbers or texts.

        Parameters
        ----------
        name : str
            The member's name.
        expected : int
            A plausible size in bytes; only bytes beyond it count towards the limit.
        """
        info = self._archive.getinfo(name)
        self._spend("arrays", info, max(info.file_size - expected, 0))
        with self._archive.open(info) as member:
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[np.lib.format.read_magic(member)]
            shape, _, dtype = read_header(member)
            if dtype.kind not in "biufU" or dtype.itemsize == 0:
                raise ValueError(f"{name} must contain booleans, numbers or strings, got {dtype}")
            if (
                min(shape, default=0) < 0
                or math.prod(shape) * dtype.itemsize != info.file_size - member.tell()
            ):
                raise ValueError(
                    f"{name} should contain an array of shape {shape}, but its size does not match; write or "
                    "download the file again"
                )
            member.seek(0)
            array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        if dtype.kind == "U":
            array.tolist()  # raises ValueError for invalid characters
        if dtype.kind == "b":
            return np.asarray(array.view(np.uint8) != 0)  # any other byte would be a third truth value
        return array.astype(dtype.newbyteorder("="), copy=False)

    def _spend(self, kind: str, info: zipfile.ZipInfo, counted: int) -> None:
        """Raise ValueError if this member and the earlier ones are together too large for the file."""
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{info.filename} uses an unsupported compression; expected deflate or none")
        self._left[kind] -= counted
        self._left["all"] -= info.file_size
        if min(self._left.values()) < 0:
            raise ValueError(
                f"{info.filename} would unpack to {info.file_size:,} bytes, which is too much for a file of "
                "this size; write or download the file again"
            )
