"""Arrays in the format of `numpy.save`, whose headers numpy takes longer to write and to parse than small arrays."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LENGTH = 128  # of the header of nearly every array
_BEGINNING = b"\x93NUMPY\x01\x00v\x00"  # version 1.0, and how many bytes follow
_NUMPY_LEAVES_ROOM = 21  # for another number of rows
_USUAL_TYPE = re.compile("[<|][biuf][1248]")
_USUAL_HEADER = re.compile(  # of an array of up to two dimensions, as numpy writes it
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(([0-9]{1,15}),(?: ([0-9]{1,15}))?\), \} *\n"
)


def as_npy(array: NDArray[Any]) -> Sequence[bytes | memoryview]:
    """The bytes that `numpy.save` writes, in pieces; those of a usual array are not copied."""
    kind = array.dtype.str
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {array.shape}, }}".encode()
    fits = len(_BEGINNING) + len(text) + _NUMPY_LEAVES_ROOM < _LENGTH
    if fits and array.ndim in (1, 2) and array.flags.c_contiguous and _USUAL_TYPE.fullmatch(kind):
        header = (_BEGINNING + text).ljust(_LENGTH - 1) + b"\n"
        return header, array.reshape(-1).view(np.uint8).data
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return (file.getvalue(),)


def read_header(member: io.BufferedIOBase) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether the array is stored by columns, and the type; the file is then at the first entry.

    Raises ValueError or TypeError for anything but an array of booleans, numbers or texts.
    """
    found = _USUAL_HEADER.fullmatch(member.read(_LENGTH))
    if found is not None:
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
