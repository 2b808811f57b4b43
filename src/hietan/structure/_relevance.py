"""Measures of each feature's relevance for the class, which feature selections compare."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hietan.structure._counts import PairCounts


def relevance(counts: PairCounts, unit: float = 1.0) -> NDArray[np.float64]:
    """Return R(v), the sum over the classes of (P(c | x_v = 1) - P(c | x_v = 0))^2 (Wan & Freitas 2013).

    Probabilities have Laplace's correction, (n_ac + 1) / (n_a + C), where the counts are numbers of rows. The terms
    are added in the order of the classes, so that features with the same counts have the same relevance to the last
    bit.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows, without pairs.
    unit : float
        The unit of the counts, in rows.

    Returns
    -------
    array of shape (n_features,)
        Each feature's relevance.
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
    """Return the relevance as small integers. More relevant features have larger integers, and equally relevant
    features have equal integers.
    """
    _, levels = np.unique(relevance(counts, unit), return_inverse=True)
    return levels.astype(np.int32)


def information_gain(counts: PairCounts) -> NDArray[np.float64]:
    """Return the mutual information between each feature and the class, by maximum likelihood, in nats.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows, without pairs.

    Returns
    -------
    array of shape (n_features,)
        Each feature's information gain.
    """
    ones = counts.ones.astype(np.int64)
    zeros = counts.class_count[:, None] - ones
    cells = np.zeros(counts.n_features)
    classes = 0.0
    for c in range(counts.n_classes):
        cells += _k_log_k(ones[c]) + _k_log_k(zeros[c])
        classes += float(_k_log_k(counts.class_count[[c]])[0])
    values = _k_log_k(ones.sum(axis=0)) + _k_log_k(zeros.sum(axis=0))
    return (cells + _k_log_k(np.array([counts.n_rows])) - values - classes) / counts.n_rows


def gain_ratio(counts: PairCounts) -> NDArray[np.float64]:
    """Return each feature's information gain divided by its entropy, or 0 for a constant feature.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows, without pairs.

    Returns
    -------
    array of shape (n_features,)
        Each feature's gain ratio.
    """
    n = counts.n_rows
    ones = counts.ones.sum(axis=0, dtype=np.int64)
    entropy = (_k_log_k(np.array([n])) - _k_log_k(ones) - _k_log_k(n - ones)) / n
    varies = (ones > 0) & (ones < n)
    return np.divide(information_gain(counts), entropy, out=np.zeros(len(ones)), where=varies)


def lift(counts: PairCounts) -> NDArray[np.float64]:
    """Return each feature's largest lift over the classes, max of n_1c n / (n_1 n_c), or 0 if it is never 1.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows, without pairs.

    Returns
    -------
    array of shape (n_features,)
        Each feature's lift.
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
    """Return scores as integers in units of 1e-12, so that comparisons do not depend on a sum's last bit."""
    return np.rint(scores * 1e12).astype(np.int64)


def _k_log_k(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return k ln k for each count, and 0 for 0. C's logarithm is used, because NumPy's may differ in the last bit."""
    known, place = np.unique(counts, return_inverse=True)
    table = np.array([k * math.log(k) if k else 0.0 for k in known.tolist()])
    return table[place.reshape(-1)]
