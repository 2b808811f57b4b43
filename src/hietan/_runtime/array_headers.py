"""What a file in the format of `numpy.save` says about its array, which a stranger may have written."""

from __future__ import annotations

import re
from typing import IO, Any

import numpy as np

_USUAL_HEADER = re.compile(  # of an array of up to two dimensions, as numpy writes it
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(([0-9]{1,15}),(?: ([0-9]{1,15}))?\), \} *\n"
)


def read_header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether the array is stored by columns, and the type; the file is then at the first entry.

    Raises ValueError or TypeError for anything but an array of booleans, numbers or texts.
    """
    found = _USUAL_HEADER.fullmatch(member.read(128))
    if (
        found is not None
    ):  # numpy compiles the header as Python code, which takes longer than reading a small array
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
