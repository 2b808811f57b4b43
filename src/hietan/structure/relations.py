"""The hierarchy as the kernel reads it."""

from __future__ import annotations

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


Violation = tuple[int, str, str]  # row, parent, child: the child is 1 and the parent 0


VIOLATION_BLOCK = 4096
"""The number of rows that are searched together for a violation: within a block, the first edge comes first."""


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
        The rows; only their ones are read.
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
    parents, at_once = kernel_lists(parent_lists(hierarchy)), number_of_parts(n_jobs)

    def find(start: int, stop: int) -> tuple[int, int, int] | None:
        part = rows.between(start, stop).sparse()
        assert part.indptr is not None and part.indices is not None
        return _kernel.find_violation(*parents, part.indptr, part.indices, np.arange(part.n_rows), block_rows)

    starts = range(0, rows.n_rows, block_rows)
    for k in range(0, len(starts), at_once):  # then it is seen whether the search is over
        calls = [(start, min(start + block_rows, rows.n_rows)) for start in starts[k : k + at_once]]
        for (start, _), found in zip(calls, run_ordered(find, calls, n_jobs), strict=True):
            if found is not None:
                row, parent, child = found
                return start + row, hierarchy.features[parent], hierarchy.features[child]
    return None


def parent_lists(hierarchy: Hierarchy) -> Any:
    """A CSR matrix whose row v has a 1 for each parent of v, in the order of the columns."""
    return hierarchy.adjacency.T.tocsr()
