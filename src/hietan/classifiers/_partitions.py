"""Fitting and prediction for rows in a Dask collection.

A collection is treated as a list of delayed blocks of rows: the chunks of an array, the partitions of a data frame, or
the blocks themselves if a list of them is given. Dask is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hietan._runtime.optional import import_optional
from hietan.classifiers._checks import is_partitioned, read_weights, validated
from hietan.classifiers._fitting import Counting, RowsInMemory, class_totals
from hietan.hierarchy._tables import column_labels
from hietan.structure._rows import Violation

# The number of parts that one worker sums together.
_FAN_IN = 8


@dataclass(frozen=True, eq=False)
class RowsInBlocks:
    """Delayed blocks of rows and labels. This class is the Dask equivalent of `RowsInMemory`.

    Attributes
    ----------
    estimator : classifier
        The classifier that the blocks are validated for.
    X, y : lists of delayed blocks
        The rows and their labels, divided in the same way.
    weights : list of delayed blocks or None
        The row weights, divided in the same way.
    n_features : int
        The number of columns.
    names : array of str or None
        The column names, if they have any.
    labels : array
        The labels that occur, sorted; rows of weight 0 are ignored.
    totals : array
        The number of rows with each of these labels or, if they have weights, the sum of their weights.
    per_class : array of shape (n_classes,) or None
        Multiplier for the sample weights of each class.
    """

    estimator: Any
    X: list[Any]
    y: list[Any]
    weights: list[Any] | None
    n_features: int
    names: Any
    labels: NDArray[Any]
    totals: NDArray[np.float64]
    per_class: NDArray[np.float64] | None = None
    unit: float = 1.0

    def class_totals(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        """Return each label's number of rows, or its total weight if rows are weighted."""
        return class_totals(self.labels, self.totals, classes)

    def weighed(
        self,
        classes: NDArray[Any],
        per_class: NDArray[np.float64] | None = None,
        unit: float | None = None,
    ) -> RowsInBlocks:
        """Return the same blocks with weights. The workers apply the weights to the rows."""
        return replace(self, per_class=per_class)

    def counted(self, how: Counting, n_jobs: int | None) -> tuple[Any, Violation | None]:
        """Return the sum of all blocks' counts. Each worker counts its own blocks and sends only counts.

        The workers share the blocks. Each worker counts a block in a single thread.
        """
        lazy = _dask()
        shared = lazy.delayed((self._reader(), how, self.per_class), traverse=False)
        count = lazy.delayed(_count_block, pure=False)
        weights = self.weights or [None] * len(self.X)
        parts = [count(shared, *block) for block in zip(self.X, self.y, weights, strict=True)]
        total = _tree_sum(parts, _sum).compute()
        if total is None:
            raise ValueError("X has no rows; pass at least one row")
        counts, violation, _ = total
        return counts, violation

    def _reader(self) -> Any:
        """Return a copy that knows only the columns, with which scikit-learn compares each block's columns."""
        reader = clone(self.estimator).set_params(hierarchy=None)
        reader.n_features_in_ = self.n_features
        if self.names is not None:
            reader.feature_names_in_ = self.names
        return reader


def read_blocks(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> RowsInBlocks:
    """Divide rows, labels and weights into blocks, and find the features and the labels."""
    lazy = _dask()
    for name, value, expected in (("X", X, 2), ("y", y, 1), ("sample_weight", sample_weight, 1)):
        found = getattr(value, "ndim", None)  # a delayed block has every attribute, delayed
        if isinstance(found, int) and found != expected:
            raise ValueError(f"{name} has {found} dimension(s); expected {expected}")
    rows = _row_blocks(X)
    labels, weights = _label_blocks(y, X, len(rows)), None
    if sample_weight is not None:
        weights = _label_blocks(sample_weight, X, len(rows), name="sample_weight", what="weights")
    occurring = lazy.delayed(_label_totals, pure=False)
    (width, names), *occurred = lazy.compute(
        lazy.delayed(_columns, pure=False)(rows[0]),
        *(occurring(*block) for block in zip(labels, weights or [None] * len(labels), strict=True)),
    )
    if not any(n_rows for n_rows, _, _ in occurred):
        raise ValueError("X has no rows; pass at least one row")
    # A block without rows has no information, not even the label type.
    seen = [(block, sums) for _, block, sums in occurred if block.size]
    known = np.unique(np.concatenate([block for block, _ in seen])) if seen else np.empty(0)
    totals = np.zeros(len(known))
    for block, sums in seen:
        totals[np.searchsorted(known, block)] += sums
    return RowsInBlocks(estimator, rows, labels, weights, width, names, known, totals)


def also_lazily(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Extend a method to Dask collections, for which it returns a lazy result."""

    @wraps(method)
    def either_way(self: Any, X: Any) -> Any:
        if not is_partitioned(X):
            return method(self, X)
        check_is_fitted(self)
        name, n_classes = method.__name__, len(self.classes_)
        is_vector = name == "predict" or (name == "decision_function" and n_classes == 2)
        kind = self.classes_.dtype if name == "predict" else np.dtype(np.float64)
        width = None if is_vector else n_classes
        return _map_blocks(partial(_predict_block, name, width, kind), self, X, width, kind)

    return either_way


def _predict_block(method: str, width: int | None, kind: np.dtype[Any], model: Any, X: Any) -> NDArray[Any]:
    """Predict a block. An empty block, as in a filtered frame, gives an empty result."""
    if not X.shape[0]:
        return np.empty(0 if width is None else (0, width), dtype=kind)
    result: NDArray[Any] = getattr(model, method)(X)
    return result


def _columns(X: Any) -> tuple[int, NDArray[Any] | None]:
    names = column_labels(X)
    return int(X.shape[1]), None if names is None else np.asarray(names, dtype=object)


def _label_totals(y: Any, weights: Any) -> tuple[int, NDArray[Any], NDArray[np.float64]]:
    """Return the number of rows, the labels with a weight above 0, and each label's total weight."""
    y = np.asarray(y)
    if y.size:
        check_classification_targets(y)
    read = read_weights(weights, len(y))
    labels = np.unique(y if read is None else y[read > 0])
    return len(y), labels, class_totals(y, read, labels)


_Counted = tuple[Any, Violation | None, int]  # counts, the first contradiction, the number of rows


def _count_block(shared: tuple[Any, Counting, Any], X: Any, y: Any, weights: Any) -> _Counted | None:
    """Return a block's counts, or None if it has no rows."""
    reader, how, per_class = shared
    y = np.asarray(y)
    if X.shape[0] != len(y):
        raise ValueError(
            f"a block has {X.shape[0]} rows of X but {len(y)} labels; split X and y into the same blocks"
        )
    if not len(y):
        return None
    X, y = validated(reader, X, y, dtype="numeric", reset=False)
    rows = RowsInMemory(X, y, None, read_weights(weights, len(y))).weighed(how.classes, per_class, 1.0)
    return *rows.counted(how, 1), len(y)


def _sum(*parts: _Counted | None) -> _Counted | None:
    """Return the sum of some blocks in row order, with the first contradiction in any of them."""
    total: _Counted | None = None
    for part in parts:
        if total is None or part is None:
            total = total or part
            continue
        violation = total[1]
        if violation is None and part[1] is not None:
            row, parent, child = part[1]
            violation = total[2] + row, parent, child
        total = total[0] + part[0], violation, total[2] + part[2]
    return total


# ------------------------------------------------------------------------------------------ Dask


def _dask() -> Any:
    """Return the module `dask`, or raise an error that explains how to install it."""
    return import_optional("dask", extra="dask", purpose="a Dask collection")


def _row_blocks(X: Any) -> list[Any]:
    """Return the delayed blocks of rows, each with all columns."""
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


def _label_blocks(y: Any, X: Any, n_blocks: int, *, name: str = "y", what: str = "labels") -> list[Any]:
    """Return the labels for each block of rows of X.

    Like X, y may be a Dask collection; it may also be an array in memory.

    Weights are divided in the same way; `name` and `what` describe them in errors.
    """
    lengths = _block_lengths(X)
    if is_partitioned(y):
        if hasattr(type(y), "rechunk") and lengths is not None and not np.isnan(y.shape[0]):
            if sum(lengths) != y.shape[0]:
                raise ValueError(
                    f"X has {sum(lengths)} rows but {name} has {y.shape[0]} {what}; pass one for each row"
                )
            y = y.rechunk((tuple(lengths),))
        blocks = _row_blocks(y)
    else:
        if lengths is None:
            raise ValueError(
                f"the block lengths of X are unknown, so {name} cannot be split to match; pass {name} in the "
                "same blocks as X"
            )
        y = np.asarray(y)
        if sum(lengths) != len(y):
            raise ValueError(
                f"X has {sum(lengths)} rows but {name} has {len(y)} {what}; pass one for each row"
            )
        blocks = np.split(y, np.cumsum(lengths)[:-1])
    if len(blocks) != n_blocks:
        raise ValueError(
            f"X has {n_blocks} blocks of rows but {name} has {len(blocks)}; split both into the same blocks"
        )
    return blocks


def _block_lengths(X: Any) -> list[int] | None:
    """Return the number of rows in each block, or None if it is unknown until the blocks are computed."""
    chunks = X.chunks if hasattr(type(X), "chunks") else None
    return None if chunks is None or np.isnan(chunks[0]).any() else [int(rows) for rows in chunks[0]]


def _tree_sum(parts: Sequence[Any], add: Callable[..., Any]) -> Any:
    """Return a delayed sum. Call `add(*parts)` for a few parts at a time, then for their sums, until one is left."""
    delayed = _dask().delayed(add, pure=False)
    while len(parts) > 1:
        parts = [delayed(*parts[k : k + _FAN_IN]) for k in range(0, len(parts), _FAN_IN)]
    return parts[0]


def _map_blocks(
    function: Callable[[Any, Any], Any], model: Any, X: Any, columns: int | None, dtype: np.dtype[Any]
) -> Any:
    """Return a lazy Dask array of `function(model, block)` over all blocks; `columns` is None for a vector.

    The model is sent to each worker only once.
    """
    lazy = _dask()
    array = import_optional("dask.array", extra="dask", purpose="a Dask array")
    shared = lazy.delayed(model, name=f"hietan-model-{uuid4().hex}", traverse=False)
    apply = lazy.delayed(function, pure=False)
    blocks = _row_blocks(X)
    lengths: Sequence[float] = _block_lengths(X) or [np.nan] * len(blocks)
    return array.concatenate(
        [
            array.from_delayed(
                apply(shared, block), shape=(rows,) if columns is None else (rows, columns), dtype=dtype
            )
            for block, rows in zip(blocks, lengths, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )
