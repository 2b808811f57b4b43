"""The hierarchy as the kernel reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan.hierarchy import Hierarchy
from hietan.structure.rows import BinaryRows


def kernel_relations(hierarchy: Hierarchy) -> _kernel.Relations:
    """Who is whose ancestor, as index arrays."""
    above, below = hierarchy.ancestor_matrix, hierarchy.descendant_matrix
    return _kernel.Relations(*(_int32(part) for m in (above, below) for part in (m.indptr, m.indices)))


Violation = tuple[int, str, str]  # row, parent, child: the child is 1 and the parent 0


def first_violation(rows: BinaryRows, hierarchy: Hierarchy, block_rows: int = 4096) -> Violation | None:
    """The first place where a feature is 1 and its parent 0, or None where all rows are closed upwards."""
    children = hierarchy.adjacency
    if not children.nnz:
        return None
    for start in range(0, rows.n_rows, block_rows):
        stop = min(start + block_rows, rows.n_rows)
        found = _kernel.find_violation(
            _int32(children.indptr),
            _int32(children.indices),
            rows.words(np.arange(start, stop)),
            stop - start,
        )
        if found is not None:
            row, parent, child = found
            return start + row, hierarchy.features[parent], hierarchy.features[child]
    return None


def _int32(array: NDArray[Any]) -> NDArray[np.int32]:
    return np.ascontiguousarray(array, dtype=np.int32)
