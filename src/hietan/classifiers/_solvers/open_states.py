"""In which state each feature of a row is in a network that is the hierarchy: few states, so few different scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan.classifiers._solvers.network_regression import as_matrix
from hietan.explain.score_parts import TabledParts
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows

OPEN_ZERO, CLOSED_ONE, OPEN_ONE = 1, 2, 3
N_STATES = 4
"""The states, numbered from 0: that of a feature that is 0 and not open, which scores nothing, comes first."""
_BATCH = 512  # rows: what their ones reach should fit into the cache


def open_states(rows: BinaryRows, hierarchy: Hierarchy, factors: NDArray[np.float64]) -> TabledParts:
    """The scores of rows, given what each feature adds in each state.

    Parameters
    ----------
    rows : BinaryRows
        The rows.
    hierarchy : Hierarchy
        The hierarchy over the columns. A feature is open where all its parents are 1.
    factors : array of shape (N_STATES, n_features, n_classes)
        What each feature adds to the scores of the classes; NaN in the states in which it does not take part.
    """
    ones = as_matrix(rows.sparse()).astype(np.int32)
    ones.sort_indices()
    ones.data[:] = CLOSED_ONE  # a 1 that is open is both
    children = hierarchy.adjacency.astype(np.int32)
    n_parents = np.bincount(children.indices, minlength=len(hierarchy)).astype(np.int32)
    roots = np.flatnonzero(n_parents == 0)
    takes_part = ~np.isnan(factors[..., 0])

    def states(start: int) -> Any:
        batch = ones[start : start + _BATCH]
        reached = batch @ children
        below = _only(reached, reached.data == CLOSED_ONE * n_parents[reached.indices])
        below.sort_indices()
        below.data[:] = OPEN_ZERO
        n = batch.shape[0]
        stored: Any = (
            np.full(n * roots.size, OPEN_ZERO, dtype=np.int32),
            np.tile(roots.astype(np.int32), n),
            np.arange(n + 1, dtype=np.int32) * np.int32(roots.size),
        )
        both = below + sp.csr_array(stored, shape=batch.shape) + batch
        return _only(both, takes_part[both.data, both.indices])

    found = [states(start) for start in range(0, rows.n_rows, _BATCH)]
    return TabledParts(sp.vstack(found, format="csr"), factors)


def _only(matrix: Any, kept: NDArray[np.bool_]) -> Any:
    """The matrix with some of its entries."""
    indptr = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
