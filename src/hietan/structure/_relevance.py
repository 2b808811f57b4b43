"""What single features say about the class: the numbers by which selections compare them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hietan.structure._counts import PairCounts


def relevance(counts: PairCounts, unit: float = 1.0) -> NDArray[np.float64]:
    """R(v), the sum over the classes of (P(c | x_v = 1) - P(c | x_v = 0))^2 (Wan & Freitas 2013).

    Probabilities have Laplace's correction, (n_ac + 1) / (n_a + C), where the counts are numbers of rows. The terms
    are added in the order of the classes, so that features with the same counts have the same relevance to the last
    bit.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows; those of pairs are not needed.
    unit : float
        The unit of the counts, in rows.

    Returns
    -------
    array of shape (n_features,)
        The relevance of each feature.
    """
    ones = counts.ones.astype(np.float64)
    zeros = counts.class_count[:, None] - ones
    n_one, n_zero = ones.sum(axis=0), zeros.sum(axis=0)
    total = np.zeros(counts.n_features)
    one, n_classes = 1 / unit, counts.n_classes / unit
    for c in range(counts.n_classes):
        difference = (ones[c] + one) / (n_one + n_classes) - (zeros[c] + one) / (n_zero + n_classes)
        total += difference * difference
    return total


def relevance_levels(counts: PairCounts, unit: float = 1.0) -> NDArray[np.int32]:
    """The relevance as small integers: larger for more relevant features, the same for equal ones; see `relevance`."""
    _, levels = np.unique(relevance(counts, unit), return_inverse=True)
    return levels.astype(np.int32)


def information_gain(counts: PairCounts) -> NDArray[np.float64]:
    """The mutual information of each feature and the class, by maximum likelihood, in nats.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows; those of pairs are not needed.

    Returns
    -------
    array of shape (n_features,)
        The information gain of each feature.
    """
    ones = counts.ones.astype(np.int64)
    zeros = counts.class_count[:, None] - ones
    cells = np.zeros(counts.n_features)
    classes = 0.0
    for c in range(counts.n_classes):
        cells += _k_log_k(ones[c]) + _k_log_k(zeros[c])
        classes += float(_k_log_k(counts.class_count[[c]])[0])
    values = _k_log_k(ones.sum(axis=0)) + _k_log_k(zeros.sum(axis=0))
    gain: NDArray[np.float64] = (
        cells + _k_log_k(np.array([counts.n_rows])) - values - classes
    ) / counts.n_rows
    return gain


def gain_ratio(counts: PairCounts) -> NDArray[np.float64]:
    """The information gain of each feature divided by its own entropy; 0 for a constant feature.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows; those of pairs are not needed.

    Returns
    -------
    array of shape (n_features,)
        The gain ratio of each feature.
    """
    n = counts.n_rows
    ones = counts.ones.sum(axis=0, dtype=np.int64)
    entropy = (_k_log_k(np.array([n])) - _k_log_k(ones) - _k_log_k(n - ones)) / n
    varies = (ones > 0) & (ones < n)
    return np.divide(information_gain(counts), entropy, out=np.zeros(len(ones)), where=varies)


def lift(counts: PairCounts) -> NDArray[np.float64]:
    """The largest lift of a class in the rows where a feature is 1: max of n_1c n / (n_1 n_c); 0 if it never is.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows; those of pairs are not needed.

    Returns
    -------
    array of shape (n_features,)
        The lift of each feature.
    """
    ones = counts.ones.astype(np.int64)
    n_one = ones.sum(axis=0)
    present = counts.class_count > 0
    expected = n_one * counts.class_count[present][:, None]
    ratios = np.divide(
        ones[present] * counts.n_rows, expected, out=np.zeros(expected.shape), where=expected > 0
    )
    best: NDArray[np.float64] = ratios.max(axis=0)
    return best


def comparison_keys(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores as integers, in units of 1e-12: comparisons then do not depend on the last bit of a sum."""
    return np.rint(scores * 1e12).astype(np.int64)


def _k_log_k(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """k ln k of each count, 0 for 0, with C's logarithm: NumPy's own may differ from it in the last bit."""
    known, place = np.unique(counts, return_inverse=True)
    table = np.array([k * math.log(k) if k else 0.0 for k in known.tolist()])
    found: NDArray[np.float64] = table[place.reshape(-1)]
    return found
