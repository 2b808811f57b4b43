"""The hierarchy as the kernel reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan._runtime.parallel import number_of_parts, run_ordered
from hietan.hierarchy import Hierarchy
from hietan.structure.rows import BinaryRows


def kernel_relations(hierarchy: Hierarchy) -> _kernel.Relations:
    """The ancestors and descendants of every feature, as index arrays."""
    return _kernel.Relations(
        *kernel_lists(hierarchy.ancestor_matrix), *kernel_lists(hierarchy.descendant_matrix)
    )


def kernel_lists(matrix: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The `indptr` and `indices` of a CSR matrix, as the kernel expects them."""
    indptr, indices = (np.ascontiguousarray(part, dtype=np.int32) for part in (matrix.indptr, matrix.indices))
    return indptr, indices


# The first violation of the rows from start to stop: row (from start on), parent, child.
_Search = Callable[[int, int], tuple[int, int, int] | None]

Violation = tuple[int, str, str]  # row, parent, child: the child is 1 and the parent 0


VIOLATION_BLOCK = 4096
"""The number of rows that are searched together for a violation: within a block, the first edge comes first."""

_ROWS_AT_ONCE = 1 << 15  # of sparse rows: their ones are copied, and the hierarchy as well


def first_violation(
    rows: BinaryRows,
    hierarchy: Hierarchy,
    block_rows: int = VIOLATION_BLOCK,
    *,
    n_jobs: int | None = None,
) -> Violation | None:
    """The first place where a feature is 1 and its parent is 0, or None if all rows agree with the hierarchy.

    Parameters
    ----------
    rows : BinaryRows
        The rows. Of lists of ones, only the ones are read; rows of bytes are packed.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    block_rows : int
        The number of rows that are searched together: of the first block that has a violation, this is the first edge
        that a row contradicts, and the first such row.
    n_jobs : int or None
        The number of threads, as in joblib.
    """
    if not hierarchy.adjacency.nnz:
        return None
    at_once = number_of_parts(n_jobs)  # chunks; then it is seen whether the search is over
    find, chunk = _in_words(rows, hierarchy), block_rows
    if rows.dense is None:
        at_most = min(_ROWS_AT_ONCE, -(-rows.n_rows // at_once))
        find, chunk = _in_lists(rows, hierarchy, block_rows), block_rows * max(1, at_most // block_rows)
    starts = range(0, rows.n_rows, chunk)
    for k in range(0, len(starts), at_once):
        calls = [(start, min(start + chunk, rows.n_rows)) for start in starts[k : k + at_once]]
        for (start, _), found in zip(calls, run_ordered(find, calls, n_jobs), strict=True):
            if found is not None:
                row, parent, child = found
                return start + row, hierarchy.features[parent], hierarchy.features[child]
    return None


def _in_words(rows: BinaryRows, hierarchy: Hierarchy) -> _Search:
    children = kernel_lists(hierarchy.adjacency)
    return lambda start, stop: _kernel.find_violation(
        *children, rows.words(np.arange(start, stop)), stop - start
    )


def _in_lists(rows: BinaryRows, hierarchy: Hierarchy, block_rows: int) -> _Search:
    parents = kernel_lists(parent_lists(hierarchy))
    indptr, indices = rows.indptr, rows.indices
    assert indptr is not None and indices is not None
    return lambda start, stop: _kernel.find_violation_in_lists(
        *parents, indptr, indices, np.arange(start, stop), block_rows
    )


def parent_lists(hierarchy: Hierarchy) -> Any:
    """A CSR matrix whose row v has a 1 for each parent of v, in the order of the columns."""
    return hierarchy.adjacency.T.tocsr()
