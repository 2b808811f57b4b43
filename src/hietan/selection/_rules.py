"""Which features the eager selections keep, given a number for each: pure functions over a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.hierarchy import Hierarchy
from hietan.structure import comparison_keys


def best_of_branches(ratio: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """GTD: in the branch of each child of a root, the best feature without relations to those already taken, and so on.

    Roots that have children are in no branch; a feature without relations is one by itself.

    Parameters
    ----------
    ratio : array of shape (n_features,)
        What features are compared by; the larger, the better. Ties go to the smaller column.
    hierarchy : Hierarchy
        The hierarchy over the features.
    """
    d = len(hierarchy)
    children, below, above = hierarchy.adjacency, hierarchy.descendant_matrix, hierarchy.ancestor_matrix
    is_root = np.diff(above.indptr) == 0
    chosen: NDArray[np.bool_] = is_root & (np.diff(children.indptr) == 0)
    place = np.empty(d, dtype=np.int64)  # of each feature among all, the best first
    place[np.lexsort((np.arange(d), -comparison_keys(ratio)))] = np.arange(d)
    left = np.zeros(d, dtype=np.bool_)
    for top in np.unique(children[np.flatnonzero(is_root)].indices).tolist():
        branch = np.append(_row(below, top), top)
        left[branch] = True
        for v in branch[np.argsort(place[branch])].tolist():
            if left[v]:
                chosen[v] = True
                left[_row(above, v)] = left[_row(below, v)] = left[v] = False
    return chosen


def above_some_path(gain: NDArray[np.float64], hierarchy: Hierarchy, threshold: float) -> NDArray[np.bool_]:
    """SHSEL: drop children that are like a parent; keep, of the rest, what is not below the mean of every path.

    Parameters
    ----------
    gain : array of shape (n_features,)
        The information gain of each feature.
    hierarchy : Hierarchy
        The hierarchy over the features.
    threshold : float
        A child is dropped where its similarity to a parent, 1 minus the distance of their gains, reaches it.
    """
    d, adjacency = len(hierarchy), hierarchy.adjacency
    parent = np.repeat(np.arange(d), np.diff(adjacency.indptr))
    child = adjacency.indices
    left = np.ones(d, dtype=np.bool_)
    left[child[1 - np.abs(gain[child] - gain[parent]) >= threshold]] = False
    inside = left[parent] & left[child]
    keys = comparison_keys(gain)
    order = np.argsort(hierarchy.depths, kind="stable")
    over = _lowest_excess(keys, parent[inside], child[inside], order)
    under = _lowest_excess(keys, child[inside], parent[inside], order[::-1])
    # The feature itself is in both halves of a path; its excess over itself is 0.
    kept: NDArray[np.bool_] = left & (over + under <= 0)
    return kept


def _lowest_excess(
    keys: NDArray[np.int64], source: NDArray[Any], target: NDArray[Any], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each feature v, the least of (sum of the keys on a path to v) - (its length) x (the key of v).

    Paths begin where no edge leads to, and run along the edges from `source` to `target`. A path through v is not above
    v on average if the excesses of its two halves add up to at most 0; so the least one of each half decides. Of the
    paths of one length, the one with the smallest sum is enough: for each feature, an array over the lengths.

    Parameters
    ----------
    keys : array of shape (n_features,)
        The gains as integers.
    source, target : arrays
        The ends of the edges.
    order : array of shape (n_features,)
        The features, sources before targets.
    """
    d = len(keys)
    by_target = np.argsort(target, kind="stable")
    start = np.searchsorted(target[by_target], np.arange(d + 1))
    source = source[by_target]
    shortest: list[int] = [1] * d
    sums: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * d  # of the lengths from `shortest` on
    excess = np.empty(d, dtype=np.int64)
    unreached = np.iinfo(np.int64).max
    for v in order.tolist():
        before = source[start[v] : start[v + 1]].tolist()
        if before:
            first = min(shortest[u] for u in before) + 1
            last = max(shortest[u] + len(sums[u]) for u in before)
            own = np.full(last - first + 1, unreached)
            for u in before:
                here = slice(shortest[u] + 1 - first, shortest[u] + 1 - first + len(sums[u]))
                own[here] = np.minimum(own[here], sums[u])
            reached = own != unreached
            own[reached] += keys[v]
        else:
            first, own, reached = 1, keys[[v]].copy(), np.array([True])
        lengths = np.arange(first, first + len(own))
        excess[v] = (own - lengths * keys[v])[reached].min()
        shortest[v], sums[v] = first, own
    return excess


def first_peaks(lift: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """TSEL: where the lift stops rising on a path from a root down, without those above another such feature.

    Parameters
    ----------
    lift : array of shape (n_features,)
        What features are compared by.
    hierarchy : Hierarchy
        The hierarchy over the features.
    """
    d, adjacency, below = len(hierarchy), hierarchy.adjacency, hierarchy.descendant_matrix
    parent = np.repeat(np.arange(d), np.diff(adjacency.indptr))
    rises = lift[adjacency.indices] > lift[parent]
    climbed = np.diff(hierarchy.ancestor_matrix.indptr) == 0  # reached by steps that all rise
    ends = np.diff(adjacency.indptr) == 0
    ends[parent[~rises]] = True
    for v in np.argsort(hierarchy.depths, kind="stable").tolist():
        if climbed[v]:
            steps = slice(adjacency.indptr[v], adjacency.indptr[v + 1])
            climbed[adjacency.indices[steps][rises[steps]]] = True
    peaks = climbed & ends
    is_above = np.asarray(below @ peaks.astype(np.int64)) > 0
    return np.asarray(peaks & ~is_above, dtype=np.bool_)


def _row(matrix: Any, v: int) -> NDArray[np.int32]:
    columns: NDArray[np.int32] = matrix.indices[matrix.indptr[v] : matrix.indptr[v + 1]]
    return columns
