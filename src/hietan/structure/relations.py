"""The hierarchy as the kernel reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
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
    rows: BinaryRows, hierarchy: Hierarchy, block_rows: int = VIOLATION_BLOCK
) -> Violation | None:
    """The first place where a feature is 1 and its parent is 0, or None if all rows agree with the hierarchy."""
    if not hierarchy.adjacency.nnz:
        return None
    children = kernel_lists(hierarchy.adjacency)
    for start in range(0, rows.n_rows, block_rows):
        stop = min(start + block_rows, rows.n_rows)
        found = _kernel.find_violation(*children, rows.words(np.arange(start, stop)), stop - start)
        if found is not None:
            row, parent, child = found
            return start + row, hierarchy.features[parent], hierarchy.features[child]
    return None
