"""Rows and columns that equal one another."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array


def row_keys(X: csr_array | csc_array) -> list[bytes]:
    """One key per row (of a csc_array: per column); equal rows have equal keys."""
    X = X.copy()
    X.eliminate_zeros()
    X.sort_indices()
    indices = X.indices.astype(np.int64)
    return [indices[a:b].tobytes() for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]


def coincidences(X: csr_array, y: NDArray[np.intp]) -> dict[str, Any]:
    """How many rows equal an earlier one, how many different rows come with several classes, and equal columns.

    >>> coincidences(csr_array(np.array([[1, 1], [1, 1], [0, 0]], dtype=np.uint8)), np.array([0, 1, 0]))
    {'repeated_rows': 1, 'contradictory_rows': 1, 'repeated_columns': 1}
    """
    rows = row_keys(X)
    classes_of = Counter(row for row, _ in set(zip(rows, y.tolist(), strict=True)))
    return {
        "repeated_rows": len(rows) - len(classes_of),
        "contradictory_rows": sum(count > 1 for count in classes_of.values()),
        "repeated_columns": X.shape[1] - len(set(row_keys(csc_array(X)))),
    }
