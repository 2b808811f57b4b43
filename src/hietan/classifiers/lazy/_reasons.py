"""Why a selection left features out of a row: for each of them, one that made it redundant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hietan.explain import RemovalKind, RemovedFeature
from hietan.hierarchy import Hierarchy


def removed_features(
    selection: str,
    kept: NDArray[np.uint8],
    value: NDArray[np.uint8],
    hierarchy: Hierarchy,
    levels: NDArray[np.int32],
) -> tuple[RemovedFeature, ...]:
    """Each feature that a row does not keep, with the one that removed it.

    Parameters
    ----------
    selection : str
        The name of the selection.
    kept, value : arrays of shape (n_features,)
        Which features the row keeps, and their values.
    hierarchy : Hierarchy
        The hierarchy over the features.
    levels : array of shape (n_features,)
        The relevance of the features as integers.
    """
    above, below = hierarchy.ancestor_matrix, hierarchy.descendant_matrix
    find = {"mr": _outranked_by, "rnb": _unjudged}.get(selection, _implied_by)
    last = _last_kept(kept, levels)
    found = []
    for u in np.flatnonzero(kept == 0).tolist():
        ancestors = above.indices[above.indptr[u] : above.indptr[u + 1]]
        descendants = below.indices[below.indptr[u] : below.indptr[u + 1]]
        reason = find(u, ancestors, descendants, value, levels, hierarchy.depths)
        if reason is None:
            reason = last, RemovalKind.BEYOND_THE_LAST
        found.append(RemovedFeature(u, *reason))
    return tuple(found)


_Reason = tuple[int, RemovalKind] | None
_Columns = NDArray[np.int32]


def _implied_by(
    u: int,
    ancestors: _Columns,
    descendants: _Columns,
    value: NDArray[np.uint8],
    levels: NDArray[np.int32],
    depths: NDArray[np.int64],
) -> _Reason:
    """The nearest relative that implies u and is not less relevant (for HIP, all are equally relevant)."""
    ones = descendants[(value[descendants] == 1) & (levels[descendants] >= levels[u])]
    if ones.size:
        return int(ones[np.argmin(depths[ones])]), RemovalKind.IMPLIED_BY_DESCENDANT
    zeros = ancestors[(value[ancestors] == 0) & (levels[ancestors] >= levels[u])]
    if zeros.size:
        return int(zeros[np.argmax(depths[zeros])]), RemovalKind.IMPLIED_BY_ANCESTOR
    return None


def _outranked_by(
    u: int,
    ancestors: _Columns,
    descendants: _Columns,
    value: NDArray[np.uint8],
    levels: NDArray[np.int32],
    depths: NDArray[np.int64],
) -> _Reason:
    """The most relevant of the relatives that MR prefers to u."""
    is_one = value[u] == 1
    # Among equals, MR prefers the most specific 1 and the most general 0.
    over = levels[ancestors] - levels[u] >= np.where((value[ancestors] == 0) & ~is_one, 0, 1)
    under = levels[descendants] - levels[u] >= np.where((value[descendants] == 1) & is_one, 0, 1)
    # A relative with the other value competes only on the side where all have the same value in a closed row.
    over &= is_one | (value[ancestors] == 0)
    under &= ~is_one | (value[descendants] == 1)
    above, below = ancestors[over], descendants[under]
    best = np.concatenate([above, below])
    by = int(best[np.argmax(levels[best])])
    kind = RemovalKind.OUTRANKED_BY_ANCESTOR if by in above else RemovalKind.OUTRANKED_BY_DESCENDANT
    return by, kind


def _unjudged(
    u: int,
    ancestors: _Columns,
    descendants: _Columns,
    value: NDArray[np.uint8],
    levels: NDArray[np.int32],
    depths: NDArray[np.int64],
) -> _Reason:
    """RNB does not look at relatives."""
    return None


def _last_kept(kept: NDArray[np.uint8], levels: NDArray[np.int32]) -> int:
    """The least relevant feature that is kept, the last of several; -1 if none is."""
    columns = np.flatnonzero(kept)
    if not columns.size:
        return -1
    return int(columns[np.flatnonzero(levels[columns] == levels[columns].min())[-1]])
