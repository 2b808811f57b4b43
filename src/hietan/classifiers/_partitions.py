"""Fitting to and predicting rows that lie in the partitions of a Dask collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from hietan._runtime import dask_blocks
from hietan.hierarchy.tables import column_labels
from hietan.structure import PairCounts, Violation

if TYPE_CHECKING:
    from hietan.classifiers._base import BaseBayes


def read_partitions(model: BaseBayes, X: Any, y: Any) -> tuple[NDArray[Any], list[Any], list[Any]]:
    """The labels that occur and the blocks of both; sets the names and the number of the columns."""
    lazy = dask_blocks.dask()
    for name, value, expected in (("X", X, 2), ("y", y, 1)):
        found = getattr(value, "ndim", None)  # a delayed block has every attribute, delayed
        if isinstance(found, int) and found != expected:
            raise ValueError(f"{name} has {found} dimension(s), expected {expected}")
    rows = dask_blocks.row_blocks(X)
    labels = dask_blocks.label_blocks(y, X, len(rows))
    occurring = lazy.delayed(_labels, pure=False)
    (width, names), *occurred = lazy.compute(
        lazy.delayed(_columns, pure=False)(rows[0]), *(occurring(block) for block in labels)
    )
    # An empty block says nothing, not even of the kind of labels.
    seen = [block for block in occurred if block.size]
    if not seen:
        raise ValueError("X has no rows")
    model.n_features_in_ = width
    if names is not None:
        model.feature_names_in_ = names
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return np.unique(np.concatenate(seen)), rows, labels


@dataclass(frozen=True)
class _Counted:
    """The counts of some blocks, and the first row that contradicts the hierarchy."""

    counts: PairCounts | None = None
    violation: Violation | None = None


def count_partitions(
    model: BaseBayes, rows: list[Any], labels: list[Any]
) -> tuple[PairCounts, Violation | None]:
    """The sum of all blocks' counts: each is counted where it lies, and what travels are counts."""
    lazy = dask_blocks.dask()
    counter = lazy.delayed(model._counter(), traverse=False)
    count = lazy.delayed(_count, pure=False)
    parts = [count(counter, X, y) for X, y in zip(rows, labels, strict=True)]
    total: _Counted = dask_blocks.tree_sum(parts, _sum).compute()
    if total.counts is None:
        raise ValueError("X has no rows")
    return total.counts, total.violation


def predict_partitions(model: BaseBayes, method: str, X: Any) -> Any:
    """A lazy Dask array of what `method` says about each row."""
    if method == "predict":
        return dask_blocks.map_blocks(_Call(method), model, X, None, model.classes_.dtype)
    return dask_blocks.map_blocks(_Call(method), model, X, len(model.classes_), np.dtype(np.float64))


class _Call:
    """Calls a method; a block without rows, which a filtered frame may have, gives an empty result."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __call__(self, model: BaseBayes, X: Any) -> NDArray[Any]:
        if X.shape[0]:
            result: NDArray[Any] = getattr(model, self.method)(X)
            return result
        if self.method == "predict":
            return model.classes_[:0]
        return np.empty((0, len(model.classes_)))


def _columns(X: Any) -> tuple[int, NDArray[Any] | None]:
    names = column_labels(X)
    return int(X.shape[1]), None if names is None else np.asarray(names, dtype=object)


def _labels(y: Any) -> NDArray[Any]:
    y = np.asarray(y)
    if y.size:
        check_classification_targets(y)
    return np.unique(y)


def _count(counter: BaseBayes, X: Any, y: Any) -> _Counted:
    y = np.asarray(y)
    if X.shape[0] != len(y):
        raise ValueError(f"a block has {X.shape[0]} rows of X but {len(y)} labels; divide both alike")
    return _Counted(*counter._count_rows(X, y)) if len(y) else _Counted()


def _sum(*parts: _Counted) -> _Counted:
    """In the order of the rows, so that the first contradiction is that of one machine."""
    counts, violation = None, None
    for part in parts:
        if violation is None and part.violation is not None:
            row, parent, child = part.violation
            violation = (row + (counts.n_rows if counts is not None else 0), parent, child)
        if part.counts is not None:
            counts = part.counts if counts is None else counts + part.counts
    return _Counted(counts, violation)
