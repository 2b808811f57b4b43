"""Tables of zeros and ones in any container, read as sparse booleans and returned in the input's container type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan._runtime.optional import import_optional


def column_labels(X: Any) -> list[Any] | None:
    """Return a frame's column labels. Return None if X is not a frame or, as in scikit-learn, no label is a string."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return None
    labels = list(X.columns)
    return labels if any(isinstance(label, str) for label in labels) else None


def n_columns(X: Any) -> int:
    """Return a table's number of columns."""
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X must be a table of rows and columns, got shape {shape}")
    return int(shape[1])


def read_ones(X: Any, at: Sequence[int] | None = None) -> sp.csr_array[np.bool_]:
    """Return which cells of X are 1. If X is a frame, only the columns `at` are read. A sparse X stays sparse."""
    if sp.issparse(X):
        return _read_sparse(X)
    values = np.asarray(X) if at is None else _columns(X, at).to_numpy()
    good = _is_binary(values)
    if not good.all():
        i, j = np.argwhere(~good)[0].tolist()
        raise _not_binary(i, j if at is None else list(X.columns)[at[j]], values[i, j])
    return sp.csr_array(values.astype(np.bool_))


def _read_sparse(X: Any) -> sp.csr_array[np.bool_]:
    table: sp.csr_array[Any] = sp.csr_array(X)  # it may share arrays with X, which are not changed
    if not table.has_canonical_format or not table.data.all():
        table = table.copy()
        table.sum_duplicates()
        table.eliminate_zeros()
    wrong = np.flatnonzero(~_is_binary(table.data))
    if wrong.size:
        entries, k = table.tocoo(), wrong[0]
        raise _not_binary(int(entries.row[k]), int(entries.col[k]), entries.data[k])
    parts = (table.data.astype(np.bool_), table.indices, table.indptr)
    return sp.csr_array(parts, shape=table.shape)


def missing_ones(ones: sp.csr_array[np.bool_], parents: sp.csr_array[np.uint8]) -> sp.coo_array[np.int8]:
    """For every row, return the features that are 0 although one of their children is 1."""
    due = ones @ parents.astype(np.bool_)
    due.sort_indices()  # otherwise scipy multiplies in a slower way
    zeros = sp.csr_array(due.astype(np.int8) - due.multiply(ones).astype(np.int8))
    zeros.eliminate_zeros()
    return zeros.tocoo()


def write_like(X: Any, ones: sp.csr_array[np.bool_], at: Sequence[int] | None = None) -> Any:
    """Return the table in a container of X's type. If X is a frame, its columns other than `at` are copied."""
    if sp.issparse(X):
        table, filled = cast("Any", X), cast("Any", ones)
        filled.data = filled.data.astype(table.dtype)  # `astype` of the table would also copy its indices
        return type(table)(filled)
    values = ones.toarray().astype(np.uint8)
    if not hasattr(X, "columns"):
        return values.astype(np.asarray(X).dtype)
    at = range(values.shape[1]) if at is None else at
    if hasattr(X, "iloc"):
        return _pandas_like(X, values, at)
    names = [X.columns[j] for j in at]
    filled = type(X)(values, schema=names).cast({name: X.schema[name] for name in names})
    return X.with_columns(filled.get_columns())


def _columns(X: Any, at: Sequence[int]) -> Any:
    return X.iloc[:, list(at)] if hasattr(X, "iloc") else X[:, list(at)]


def _pandas_like(X: Any, values: NDArray[np.uint8], at: Sequence[int]) -> Any:
    # Columns are numbered while they are put together, because labels that the hierarchy does not know may repeat.
    pd = import_optional("pandas", extra="frames", purpose="filling a data frame")
    known = dict.fromkeys(at)
    others = [j for j in range(X.shape[1]) if j not in known]
    filled = pd.DataFrame(values, index=X.index, columns=list(at)).astype({j: X.dtypes.iloc[j] for j in at})
    together = pd.concat([filled, X.iloc[:, others].set_axis(others, axis=1)], axis=1)
    return together[list(range(X.shape[1]))].set_axis(X.columns, axis=1)


def _is_binary(values: Any) -> NDArray[np.bool_]:
    if values.dtype.kind in "biuf":
        good: NDArray[np.bool_] = (values == 0) | (values == 1)
        return good
    # A frame that mixes integers and booleans becomes an array of objects.
    each = (isinstance(v, int | float | np.number | np.bool_) and v in (0, 1) for v in values.flat)
    return np.fromiter(each, dtype=np.bool_, count=values.size).reshape(values.shape)


def _not_binary(row: int, column: object, value: object) -> ValueError:
    value = value.item() if isinstance(value, np.generic) else value
    return ValueError(f"X must contain only 0 and 1, but row {row}, column {column!r} contains {value!r}")
