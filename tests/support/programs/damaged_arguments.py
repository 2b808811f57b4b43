"""Arguments that are wrong in some way, made from right ones."""

import numpy as np

# No number of features or rows between 2**16 and 2**31: they are valid, and take gigabytes.
INTEGERS = (
    -1,
    0,
    1,
    2,
    63,
    64,
    65,
    1000,
    2**31,
    2**32,
    2**33 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 63,
    2**64 - 2,
)
FLOATS = (float("nan"), float("inf"), -1.0, 0.0, 1e308, 5e-324)
DTYPES = (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_, object)
# What is no argument at all.
STRANGERS = (
    None,
    "",
    b"",
    0,
    1.5,
    True,
    [],
    (),
    {},
    object,
    np.int64(1),
    np.float64(1),
    memoryview(b"abc"),
    range(3),
)


def unaligned(array):
    """The same entries, at addresses that are no multiple of their size."""
    space = np.empty(array.nbytes + 1, np.uint8)
    moved = space[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def far_apart(array):
    """One entry, and strides that lead out of all memory; valid, since no stride is ever taken."""
    first = np.ascontiguousarray(array[(slice(0, 1),) * array.ndim])
    return np.lib.stride_tricks.as_strided(first, first.shape, (2**40,) * first.ndim)


def of_another_type(rng, array):
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(rng.choice(DTYPES))


def scribbled(rng, array):
    array = array.copy()
    scribble(rng, array)
    return array


DAMAGE = (
    of_another_type,
    scribbled,
    scribbled,
    lambda rng, array: array[: int(rng.integers(0, len(array) + 1))],
    lambda rng, array: np.concatenate([array, array[-1:]]),
    lambda rng, array: array[None] if rng.random() < 0.5 else array.reshape(-1),
    lambda rng, array: np.repeat(array, 2, axis=0)[::2],  # not contiguous
    lambda rng, array: np.asfortranarray(array[..., ::-1]),
    lambda rng, array: array[::-1],  # the strides are negative
    lambda rng, array: np.broadcast_to(np.zeros(1, array.dtype), array.shape),  # all entries in one place
    lambda rng, array: np.zeros((0, *array.shape[1:]), array.dtype),
    lambda rng, array: np.zeros((*array.shape[:-1], 0), array.dtype),
    lambda rng, array: np.zeros((0, 2**40), array.dtype),
    lambda rng, array: np.array(array.reshape(-1)[:1].sum(), array.dtype),  # no dimension
    lambda rng, array: array.astype(array.dtype.newbyteorder()),
    lambda rng, array: far_apart(array),
    lambda rng, array: unaligned(array) if array.dtype != object else array,
    lambda rng, array: read_only(array),
    lambda rng, array: memoryview(np.ascontiguousarray(array)),
    lambda rng, array: array.tolist(),
)


def damaged_array(rng, array):
    """The array with another type, shape, order or content."""
    return DAMAGE[int(rng.integers(0, len(DAMAGE)))](rng, array)


def scribble(rng, array):
    """Write to some entries, if that is allowed."""
    if not array.size or not array.flags.writeable or not array.flags.c_contiguous or array.dtype == object:
        return
    flat = array.reshape(-1)
    where = rng.random(flat.size) < rng.choice([0.1, 0.5, 1.0])
    if array.dtype.kind == "f":
        flat[where] = rng.choice(FLOATS)
    elif array.dtype.kind in "iu":
        span = np.iinfo(array.dtype)
        special = [v for v in (span.min, span.max, span.max - 1, -1, 0, 1, 2, 5, 100) if v >= span.min]
        flat[where] = np.array(special, dtype=array.dtype)[int(rng.integers(0, len(special)))]


def damaged(rng, value):
    """Another argument than `value`."""
    if rng.random() < 0.05:
        return STRANGERS[int(rng.integers(0, len(STRANGERS)))]
    if isinstance(value, np.ndarray):
        return damaged_array(rng, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return INTEGERS[int(rng.integers(0, len(INTEGERS)))]
    if isinstance(value, float):
        return FLOATS[int(rng.integers(0, len(FLOATS)))]
    return str(rng.choice(["", "naive", "pooled"])) if isinstance(value, str) else None
