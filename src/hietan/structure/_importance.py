"""Measure how informative features are about the class, using only the training counts.

A feature's contribution to the log-odds of two classes depends only on its own value and its parent's, and the counts
show in how many training rows each combination occurs. So the mean absolute contribution is a sum of few terms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan.structure._counts import PairCounts
from hietan.structure._openings import OpenCounts, OpenScores
from hietan.structure._rows import BinaryRows


def root_log_prob(counts: PairCounts, smoothing: _kernel.Smoothing) -> NDArray[np.float64]:
    """Return ln P(x_v = 1 | c) for each feature, ignoring all other features, shape (n_classes, n_features)."""
    d = counts.n_features
    words = np.full((1, d), 1, dtype=np.uint64)
    parents = np.full((1, d), -1, dtype=np.int32)
    factors = _kernel.tree_factors(parents, words, 1, counts=counts.kernel, smoothing=smoothing)
    return np.ascontiguousarray(factors[0].T)


def mean_tree_contribution(
    parent: NDArray[np.int32], counts: PairCounts, smoothing: _kernel.Smoothing
) -> NDArray[np.float64]:
    """Return the mean of ``|ln P(x_v | x_parent, c_1) - ln P(x_v | x_parent, c_0)|`` over all training rows.

    Parameters
    ----------
    parent : array of shape (n_features,)
        The tree that scores every row.
    counts : PairCounts
        The counts of the training rows, of two classes.
    smoothing : Smoothing
        How probabilities are estimated from the counts.
    """
    ones = counts.ones.sum(axis=0, dtype=np.int64)
    total, is_child = counts.n_rows, parent >= 0
    above = np.where(is_child, ones[np.maximum(parent, 0)], 0)  # rows with the parent at 1
    both = np.zeros(counts.n_features, dtype=np.int64)
    for v in np.flatnonzero(is_child).tolist():
        both[v] = counts.both(v, int(parent[v])).sum(dtype=np.int64)
    sums = np.zeros(counts.n_features)
    factors = factors_by_state(parent, counts, smoothing)
    rows_by_state = (total - above - ones + both, above - both, ones - both, both)
    for rows, factor in zip(rows_by_state, factors, strict=True):
        sums += rows * np.abs(factor[:, 1] - factor[:, 0])
    return sums / total


def states_in_tree(parent: NDArray[np.int32], values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return each feature's state in the tree: twice its value, plus its parent's value if it has a parent.

    `values` has shape (n_rows, n_features).
    """
    above: NDArray[np.uint8] = np.where(parent >= 0, values[:, parent], 0).astype(np.uint8)
    return 2 * values + above


def factors_by_state(
    parent: NDArray[np.int32], counts: PairCounts, smoothing: _kernel.Smoothing
) -> NDArray[np.float64]:
    """Return each feature's log-probability for each state of `states_in_tree`, shape (4, n_features, n_classes).

    A feature's factor depends on its own and its parent's value. Colour the tree like a chessboard: four rows (even
    depths = a, odd depths = b) show every feature in all four states.
    """
    odd = _is_at_odd_depth(parent)
    rows = np.stack([np.where(odd, b, a) for a in (0, 1) for b in (0, 1)]).astype(np.uint8)
    words = BinaryRows.from_matrix(rows, None).words(np.arange(4))
    found = _kernel.tree_factors(np.tile(parent, (4, 1)), words, 4, counts=counts.kernel, smoothing=smoothing)
    factors = np.empty_like(found)
    np.put_along_axis(factors, states_in_tree(parent, rows)[..., None].astype(np.intp), found, axis=0)
    alone = parent < 0  # no parent's value: its state is 0 or 2
    factors[1, alone], factors[3, alone] = factors[0, alone], factors[2, alone]
    return factors


def _is_at_odd_depth(parent: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether each feature of a tree is an odd number of edges away from the root."""
    ancestor, odd = np.where(parent >= 0, parent, np.arange(parent.size)), parent >= 0
    for _ in range(parent.size.bit_length()):  # twice as far each time
        odd, ancestor = odd ^ odd[ancestor], ancestor[ancestor]
    return odd


def mean_open_contribution(
    scores: OpenScores, counts: OpenCounts, *, scale: float = 1.0, added: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return each feature's mean absolute contribution over all training rows in which the feature is open.

    A feature is open if all of its parents are 1.

    Parameters
    ----------
    scores : OpenScores
        The logarithms of P(x_v | v is open, c), of two classes.
    counts : OpenCounts
        The counts of the training rows.
    scale : float
        The number by which the log-odds are divided.
    added : array of shape (n_features,) or None
        The addition for a feature at 1.
    """
    ones, is_open = (part.sum(axis=0, dtype=np.int64) for part in (counts.ones, counts.open))
    at_one = (scores.on[:, 1] - scores.on[:, 0]) / scale
    at_zero = (scores.off[:, 1] - scores.off[:, 0]) / scale
    if added is not None:
        at_one = at_one + added
    sums: NDArray[np.float64] = ones * np.abs(at_one) + (is_open - ones) * np.abs(at_zero)
    return sums / counts.n_rows
