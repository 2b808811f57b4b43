"""The hierarchy as the kernel reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan.hierarchy import Hierarchy


def kernel_relations(hierarchy: Hierarchy) -> _kernel.Relations:
    """Who is whose ancestor, as index arrays."""
    above, below = hierarchy.ancestor_matrix, hierarchy.descendant_matrix
    return _kernel.Relations(*(_int32(part) for m in (above, below) for part in (m.indptr, m.indices)))


def _int32(array: NDArray[Any]) -> NDArray[np.int32]:
    return np.ascontiguousarray(array, dtype=np.int32)
