"""What a call of the kernel must return: the same as another kernel, and of the right type and shape."""

import numpy as np


def require_same(mine, other, where):
    """The same bits, types and shapes."""
    assert type(mine) is type(other) or not isinstance(mine, np.ndarray | tuple | float | int), where
    if isinstance(mine, tuple):
        assert len(mine) == len(other), where
        for a, b in zip(mine, other, strict=True):
            require_same(a, b, where)
    elif isinstance(mine, np.ndarray):
        assert mine.dtype == other.dtype and mine.shape == other.shape, (where, mine.shape, other.shape)
        if mine.dtype != object and mine.tobytes() != other.tobytes():
            assert np.array_equal(mine, other, equal_nan=mine.dtype.kind == "f"), (where, mine, other)
    elif isinstance(mine, float | int):
        assert mine == other or mine != mine, (where, mine, other)


def require_given(result, gives, where):
    """`gives` is a type; or the dtype and the shape of an array; or a list of these, of a tuple."""
    if isinstance(gives, list):
        assert isinstance(result, tuple) and len(result) == len(gives), (where, result)
        for part, expected in zip(result, gives, strict=True):
            require_given(part, expected, where)
    elif isinstance(gives, tuple):
        dtype, *shape = gives
        assert isinstance(result, np.ndarray) and result.dtype == dtype, (where, result)
        right = len(shape) == result.ndim and all(
            s in (None, r) for s, r in zip(shape, result.shape, strict=True)
        )
        assert right, (where, shape, result.shape)
    else:
        assert isinstance(result, gives), (where, result)
