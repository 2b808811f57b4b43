"""Dask collections, recognised by the module of their type, so that Dask is not imported before it is used.

A collection is treated as a list of delayed blocks of rows: the chunks of an array, the partitions of a data frame, or
the blocks themselves if a list of them is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from hietan._runtime.optional import import_optional

# This many parts are summed together, on one worker.
_FAN_IN = 8


def is_partitioned(X: object) -> bool:
    """Whether X is a Dask collection, or a list of delayed blocks."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(_is_dask(block) for block in X)
    return _is_dask(X)


def _is_dask(value: object) -> bool:
    return any(kind.__module__.partition(".")[0] in ("dask", "dask_expr") for kind in type(value).__mro__)


def dask() -> Any:
    """The module `dask`, or an error that says how to install it."""
    return import_optional("dask", extra="dask", purpose="a Dask collection")


def row_blocks(X: Any) -> list[Any]:
    """The delayed blocks of rows, each with all columns."""
    if isinstance(X, list | tuple):
        return list(X)
    if not hasattr(type(X), "to_delayed"):
        raise TypeError(
            f"expected a Dask array, data frame or list of delayed blocks, got {type(X).__name__}; "
            f"wrap a single delayed block in a list"
        )
    if hasattr(type(X), "numblocks") and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def label_blocks(y: Any, X: Any, n_blocks: int, *, name: str = "y", what: str = "labels") -> list[Any]:
    """The labels of each block of rows of X; y may be a Dask collection like X or an array in memory.

    Weights are divided in the same way; `name` and `what` say in errors what they are.
    """
    lengths = block_lengths(X)
    if is_partitioned(y):
        if hasattr(type(y), "rechunk") and lengths is not None and not np.isnan(y.shape[0]):
            if sum(lengths) != y.shape[0]:
                raise ValueError(f"X has {sum(lengths)} rows but {name} has {y.shape[0]} {what}")
            y = y.rechunk((tuple(lengths),))
        blocks = row_blocks(y)
    else:
        if lengths is None:
            raise ValueError(
                f"the lengths of the blocks of X are not known, so {name} cannot be divided; pass {name} in matching "
                f"blocks"
            )
        y = np.asarray(y)
        if sum(lengths) != len(y):
            raise ValueError(f"X has {sum(lengths)} rows but {name} has {len(y)} {what}")
        blocks = np.split(y, np.cumsum(lengths)[:-1])
    if len(blocks) != n_blocks:
        raise ValueError(
            f"X has {n_blocks} blocks of rows but {name} has {len(blocks)}; divide both in the same way"
        )
    return blocks


def block_lengths(X: Any) -> list[int] | None:
    """The number of rows in each block; None if they are not known before the blocks are computed."""
    chunks = X.chunks if hasattr(type(X), "chunks") else None
    if chunks is None or np.isnan(chunks[0]).any():
        return None
    return [int(rows) for rows in chunks[0]]


def tree_sum(parts: Sequence[Any], add: Callable[..., Any]) -> Any:
    """A delayed sum: `add(*parts)` of a few parts at a time, then of their sums, until one is left."""
    delayed = dask().delayed(add, pure=False)
    while len(parts) > 1:
        parts = [delayed(*parts[k : k + _FAN_IN]) for k in range(0, len(parts), _FAN_IN)]
    return parts[0]


def map_blocks(
    function: Callable[[Any, Any], Any], model: Any, X: Any, columns: int | None, dtype: np.dtype[Any]
) -> Any:
    """A lazy Dask array of `function(model, block)` over all blocks; `columns` is None if the result is a vector.

    The model is sent to each worker once, however many blocks there are.
    """
    lazy = dask()
    array = import_optional("dask.array", extra="dask", purpose="a Dask array")
    shared = lazy.delayed(model, name=f"hietan-model-{uuid4().hex}", traverse=False)
    apply = lazy.delayed(function, pure=False)
    blocks = row_blocks(X)
    lengths: Sequence[float] = block_lengths(X) or [np.nan] * len(blocks)
    return array.concatenate(
        [
            array.from_delayed(
                apply(shared, block), shape=(rows,) if columns is None else (rows, columns), dtype=dtype
            )
            for block, rows in zip(blocks, lengths, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )
