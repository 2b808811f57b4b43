"""Equal rows, columns and names, which readers and builders both count or refuse."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array


def count_duplicates(X: csr_array, y: NDArray[np.intp]) -> dict[str, Any]:
    """Count the rows that repeat an earlier row, the distinct rows that occur in several classes, and equal columns.

    >>> count_duplicates(csr_array(np.array([[1, 1], [1, 1], [0, 0]], dtype=np.uint8)), np.array([0, 1, 0]))
    {'repeated_rows': 1, 'contradictory_rows': 1, 'repeated_columns': 1}
    """
    rows = _row_keys(X)
    classes_of = Counter(row for row, _ in set(zip(rows, y.tolist(), strict=True)))
    return {
        "repeated_rows": len(rows) - len(classes_of),
        "contradictory_rows": sum(count > 1 for count in classes_of.values()),
        "repeated_columns": X.shape[1] - len(set(_row_keys(csc_array(X)))),
    }


def first_of_each(X: csr_array, labels: Sequence[str]) -> list[int]:
    """The first of all rows that are identical and have the same label.

    >>> first_of_each(csr_array(np.array([[1, 1], [1, 1], [1, 1]])), ["a", "b", "a"])
    [0, 1]
    """
    first: dict[tuple[bytes, str], int] = {}
    for i, key in enumerate(zip(_row_keys(X), labels, strict=True)):
        first.setdefault(key, i)
    return list(first.values())


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that occurred before, or None if all are different.

    >>> first_repeated(["a", "b", "b", "a"])
    'b'
    """
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _row_keys(X: csr_array | csc_array) -> list[bytes]:
    """One key per row (of a csc_array: per column); equal rows have equal keys.

    The keys are 128 bits of BLAKE2, and not the rows themselves, which may be larger than everything else together.
    """
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    rows = np.ascontiguousarray(X.indices).data
    return [blake2b(rows[a:b], digest_size=16).digest() for a, b in pairwise(X.indptr.tolist())]
