"""Fitting to and predicting rows that lie in the partitions of a Dask collection."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from hietan import _dask
from hietan._binary import column_labels
from hietan.structure import PairCounts

if TYPE_CHECKING:
    from hietan.classifiers._base import BaseBayes


def read_partitions(model: BaseBayes, X: Any, y: Any) -> tuple[NDArray[Any], list[Any], list[Any]]:
    """The labels that occur and the blocks of both; sets the names and the number of the columns."""
    lazy = _dask.dask()
    rows = _dask.row_blocks(X)
    labels = _dask.label_blocks(y, X, len(rows))
    occurring = lazy.delayed(_labels, pure=False)
    (width, names), *found = lazy.compute(
        lazy.delayed(_columns, pure=False)(rows[0]), *(occurring(block) for block in labels)
    )
    model.n_features_in_ = width
    if names is not None:
        model.feature_names_in_ = names
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return np.unique(np.concatenate(found)), rows, labels


def count_partitions(model: BaseBayes, rows: list[Any], labels: list[Any]) -> PairCounts:
    """The sum of all blocks' counts: each is counted where it lies, and what travels are counts."""
    lazy = _dask.dask()
    counter = lazy.delayed(model._counter(), traverse=False)
    count = lazy.delayed(_count, pure=False)
    parts = [count(counter, X, y) for X, y in zip(rows, labels, strict=True)]
    total: PairCounts | None = _dask.tree_sum(parts, _sum).compute()
    if total is None:
        raise ValueError("X has no rows")
    return total


def predict_partitions(model: BaseBayes, method: str, X: Any) -> Any:
    """A lazy Dask array of what `method` says about each row."""
    if method == "predict":
        return _dask.map_blocks(_Call(method), model, X, None, model.classes_.dtype)
    return _dask.map_blocks(_Call(method), model, X, len(model.classes_), np.dtype(np.float64))


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


def _count(counter: BaseBayes, X: Any, y: Any) -> PairCounts | None:
    return counter._count_rows(X, np.asarray(y)) if X.shape[0] else None


def _sum(*parts: PairCounts | None) -> PairCounts | None:
    some = [part for part in parts if part is not None]
    return reduce(add, some) if some else None
