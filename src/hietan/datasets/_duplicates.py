"""Identical rows, columns and names, which readers and builders count or reject."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from hietan._runtime.equal_rows import count_equal_rows, row_keys


def count_duplicates(X: csr_array, y: NDArray[np.intp]) -> dict[str, Any]:
    """Count identical rows, as in `EqualRows`, and columns that repeat an earlier column.

    >>> found = count_duplicates(csr_array(np.array([[1, 1], [1, 1], [0, 0]], dtype=np.uint8)), np.array([0, 1, 0]))
    >>> found["equal_rows"]["pairs"], found["repeated_columns"]
    (1, 1)
    """
    repeated_columns = X.shape[1] - len(set(row_keys(csc_array(X))))
    return {"equal_rows": asdict(count_equal_rows(X, y)), "repeated_columns": repeated_columns}


def first_of_each(X: csr_array, labels: Sequence[str]) -> list[int]:
    """Return the first row of each group of identical rows with the same label.

    >>> first_of_each(csr_array(np.array([[1, 1], [1, 1], [1, 1]])), ["a", "b", "a"])
    [0, 1]
    """
    first: dict[tuple[bytes, str], int] = {}
    for i, key in enumerate(zip(row_keys(X), labels, strict=True)):
        first.setdefault(key, i)
    return list(first.values())


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurred before, or None if all names differ.

    >>> first_repeated(["a", "b", "b", "a"])
    'b'
    """
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
