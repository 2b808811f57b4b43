"""Archives of JSON and arrays: the same bytes for the same content, and read as if a stranger had written them."""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

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
_USUAL_HEADER = re.compile(  # of an array of up to two dimensions, as numpy writes it
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(([0-9]{1,15}),(?: ([0-9]{1,15}))?\), \} *\n"
)


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
            shape, in_columns, dtype = _read_header(member)
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


def _read_header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether the array is stored by columns, and the type; the file is then at the first entry.

    Raises ValueError or TypeError for anything but an array of booleans, numbers or texts.
    """
    found = _USUAL_HEADER.fullmatch(member.read(128))
    if found is not None:  # numpy takes longer to parse a header than to read a small array
        kind, *lengths = found.groups()
        return tuple(int(length) for length in lengths if length is not None), False, np.dtype(kind.decode())
    member.seek(0)
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        shape, in_columns, dtype = np.lib.format.read_array_header_1_0(member)
    elif version == (2, 0):
        shape, in_columns, dtype = np.lib.format.read_array_header_2_0(member)
    else:
        raise ValueError(f"version {version} of the format of arrays is not known")
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise ValueError(f"an array must hold booleans, numbers or texts, got {dtype}")
    if any(length < 0 for length in shape):
        raise ValueError(f"an array cannot have the shape {shape}")
    return shape, in_columns, dtype
