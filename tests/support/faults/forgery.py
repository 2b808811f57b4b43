"""Files of models and datasets with one thing wrong: damaged bytes, or a consistent archive with a forged content."""

from __future__ import annotations

import io
import json
import struct
import zipfile

import numpy as np

ODD = [
    None, True, 0, 1, -1, 2, 7, 10**9, 2**31, 2**63, 10**300, 0.5, 1e308, float("nan"), float("inf"), "", "x", "0",
    [], [1], {}, {"kind": "list", "items": []}, {"kind": "array"}, {"kind": "tuple", "items": [1, 2]}, [[[[]]]],
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 3, 100, 2**31 - 1, -(2**31), 2**31, 2**32, 2**62, -(2**63)]


def unpack(content: bytes) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members: dict[str, bytes]) -> bytes:
    """An archive of these members, with checksums that fit."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    """An array as `numpy.save` writes it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def npy_with_header(header: str, data: bytes = b"") -> bytes:
    """An array whose header says anything."""
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def flip_bits(rng, content: bytes) -> bytes:
    """Some bits of the file are others."""
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), size=rng.integers(1, 4)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def cut(rng, content: bytes) -> bytes:
    """A piece of the file is missing."""
    start, stop = sorted(rng.integers(0, len(content), size=2).tolist())
    return content[:start] + content[stop + 1 :]


def cut_member(rng, content: bytes) -> bytes:
    """A member is shorter, or missing; the checksums fit."""
    members = unpack(content)
    name = str(rng.choice(list(members)))
    members[name] = members[name][: rng.integers(0, len(members[name]))]
    if rng.random() < 0.2:
        del members[name]
    return pack(members)


def flip_member(rng, content: bytes) -> bytes:
    """Some bits of a member are others; the checksums fit."""
    members = unpack(content)
    name = str(rng.choice(list(members)))
    members[name] = flip_bits(rng, members[name])
    return pack(members)


def swap_arrays(rng, content: bytes) -> bytes:
    """Two members have each other's content."""
    members = unpack(content)
    arrays = [name for name in members if name.endswith(".npy")]
    a, b = rng.choice(arrays, size=2, replace=False).tolist()
    members[a], members[b] = members[b], members[a]
    return pack(members)


def change_array(rng, content: bytes) -> bytes:
    """An array has another number, type or shape."""
    members = unpack(content)
    name = str(rng.choice([name for name in members if name.endswith(".npy")]))
    array = np.load(io.BytesIO(members[name]))
    kind = rng.integers(4)
    if kind == 0 and array.size and array.dtype.kind in "iuf":
        array = array.astype(np.int64) if array.dtype.kind != "f" else array
        value = NUMBERS[rng.integers(len(NUMBERS))]
        array.flat[rng.integers(array.size)] = value
        if rng.random() < 0.5:
            array = array.astype(np.load(io.BytesIO(members[name])).dtype)
    elif kind == 1:
        with np.errstate(invalid="ignore"):  # there may be NaN
            array = array.astype(str(rng.choice(["i1", "u8", "f8", ">i8", ">i4", "U3", "?", "f2"])))
    elif kind == 2:
        array = [array.ravel()[:-1], array[None], array.T, array[:0], np.concatenate([array, array])][
            rng.integers(5)
        ]
    else:
        array = rng.permutation(array.ravel()).reshape(array.shape)
    members[name] = npy(np.ascontiguousarray(array))
    return pack(members)


def change_shape(rng, content: bytes) -> bytes:
    """The header of an array promises what is not there."""
    members = unpack(content)
    name = str(rng.choice([name for name in members if name.endswith(".npy")]))
    shapes = [
        "(10**9,)",
        "(1000000000,)",
        "(1099511627776, 1048576)",
        "(-1,)",
        "(0, 9223372036854775807)",
        "(" * 300,
    ]
    types = [
        "'<i8'",
        "'<i4'",
        "'|O'",
        "'<U1000000000'",
        "'<U0'",
        "'|V8'",
        "[('a', '<i8')]",
        "'<m8[s]'",
        "None",
    ]
    shape, kind = str(rng.choice(shapes)), str(rng.choice(types))
    header = f"{{'descr': {kind}, 'fortran_order': {rng.random() < 0.5}, 'shape': {shape}, }}"
    members[name] = npy_with_header(header, members[name][128:])
    return pack(members)


def _places(node, path=()):
    yield path
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from _places(node[key], (*path, key))


def change_json(rng, content: bytes) -> bytes:
    """A value somewhere in the descriptions is another, or gone."""
    members = unpack(content)
    name = str(rng.choice([name for name in members if name.endswith(".json") and name != "provenance.json"]))
    value = json.loads(members[name])
    places = list(_places(value))[1:]
    *path, last = places[rng.integers(len(places))]
    parent = value
    for key in path:
        parent = parent[key]
    if rng.random() < 0.2:
        del parent[last]
    else:
        parent[last] = ODD[rng.integers(len(ODD))]
    members[name] = json.dumps(value).encode()
    return pack(members)


def nest_json(rng, content: bytes) -> bytes:
    """A description is nested deeper than any parser goes."""
    members = unpack(content)
    name = str(rng.choice([name for name in members if name.endswith(".json")]))
    members[name] = b"[" * 100_000 + members[name] + b"]" * int(rng.integers(2)) * 100_000
    return pack(members)


WAYS = [
    flip_bits,
    cut,
    cut_member,
    flip_member,
    swap_arrays,
    change_array,
    change_shape,
    change_json,
    nest_json,
]
