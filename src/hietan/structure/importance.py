"""How much features say about the class in the training rows, from the counts alone.

What a feature contributes to the log-odds of two classes depends only on its value and that of its parent, and the
counts say in how many training rows each combination occurs. So the mean absolute contribution is a sum of few terms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan.structure.counts import PairCounts
from hietan.structure.openings import OpenCounts, OpenScores

# The four combinations of the values of a feature and its parent, and how many rows have each.
_COMBINATIONS = ((0, 0), (0, 1), (1, 0), (1, 1))


def root_log_prob(counts: PairCounts, smoothing: _kernel.Smoothing) -> NDArray[np.float64]:
    """ln P(x_v = 1 | c) of every feature by itself, shape (n_classes, n_features)."""
    d = counts.n_features
    words = np.full((1, d), 1, dtype=np.uint64)
    parents = np.full((1, d), -1, dtype=np.int32)
    factors = _kernel.tree_factors(parents, words, 1, counts=counts.kernel, smoothing=smoothing)
    return np.ascontiguousarray(factors[0].T)


def mean_tree_contribution(
    parent: NDArray[np.int32], counts: PairCounts, smoothing: _kernel.Smoothing
) -> NDArray[np.float64]:
    """The mean over all training rows of ``|ln P(x_v | x_parent, c_1) - ln P(x_v | x_parent, c_0)|``, by feature.

    Parameters
    ----------
    parent : array of shape (n_features,)
        The tree that scores every row.
    counts : PairCounts
        The counts of the training rows, of two classes.
    smoothing : Smoothing
        How probabilities are estimated from the counts.
    """
    d = counts.n_features
    ones = counts.ones.sum(axis=0, dtype=np.int64)
    total, is_child = counts.n_rows, parent >= 0
    above = np.where(is_child, ones[np.maximum(parent, 0)], 0)  # rows where the parent is 1
    both = np.zeros(d, dtype=np.int64)
    for v in np.flatnonzero(is_child).tolist():
        both[v] = counts.both(v, int(parent[v])).sum(dtype=np.int64)
    rows = {(1, 1): both, (0, 1): above - both, (1, 0): ones - both, (0, 0): total - above - ones + both}
    sums = np.zeros(d)
    for value, parent_value in _COMBINATIONS:
        sums += rows[value, parent_value] * _differences(parent, value, parent_value, counts, smoothing)
    return sums / total


def _differences(
    parent: NDArray[np.int32], value: int, parent_value: int, counts: PairCounts, smoothing: _kernel.Smoothing
) -> NDArray[np.float64]:
    """|ln P(value | parent_value, c_1) - ln P(value | parent_value, c_0)| of every feature.

    The kernel takes rows, in which a feature is both a child and a parent. Features are scored level by level of the
    tree: those of even levels in one row, the others in a second one.
    """
    odd = _levels(parent) % 2 == 1
    values = np.where(np.stack([odd, ~odd]), parent_value, value).astype(
        np.uint64
    )  # row 0 scores the even levels
    words = values[:1] | values[1:] << np.uint64(1)
    factors = _kernel.tree_factors(
        np.stack([parent, parent]), words, 2, counts=counts.kernel, smoothing=smoothing
    )
    chosen = factors[odd.astype(np.intp), np.arange(len(parent))]
    difference: NDArray[np.float64] = np.abs(chosen[:, 1] - chosen[:, 0])
    return difference


def _levels(parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of edges between each feature and the root of its tree."""
    levels = np.zeros(len(parent), dtype=np.int64)
    above = parent.astype(np.int64)
    while (is_below := above >= 0).any():
        levels += is_below
        above = np.where(is_below, parent[np.maximum(above, 0)], -1)
    return levels


def mean_open_contribution(
    scores: OpenScores, counts: OpenCounts, *, scale: float = 1.0, added: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The mean over all training rows of what each feature contributes, in absolute value, where it is open.

    Parameters
    ----------
    scores : OpenScores
        The logarithms of P(x_v | v is open, c), of two classes.
    counts : OpenCounts
        The counts of the training rows.
    scale : float
        The number by which the log-odds are divided.
    added : array of shape (n_features,) or None
        What is added to them where a feature is 1.
    """
    ones, is_open = (part.sum(axis=0, dtype=np.int64) for part in (counts.ones, counts.open))
    at_one = (scores.on[:, 1] - scores.on[:, 0]) / scale
    at_zero = (scores.off[:, 1] - scores.off[:, 0]) / scale
    if added is not None:
        at_one = at_one + added
    sums: NDArray[np.float64] = ones * np.abs(at_one) + (is_open - ones) * np.abs(at_zero)
    return sums / counts.n_rows
