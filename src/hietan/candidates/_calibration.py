"""Platt calibration of log-odds and the cutoff with the best GMean, both fitted to held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression


def fit_sigmoid(log_odds: NDArray[np.float64], y: NDArray[Any]) -> tuple[float, float]:
    """Return the slope and shift of Platt's sigmoid, in which ``expit(slope * log_odds + shift)`` is a probability.

    The targets are Platt's (1999): (n + 1) / (n + 2) instead of 1 for the n rows of the second class, and 1 / (n + 2)
    instead of 0 for the n rows of the first. Without them, a few perfectly separated rows would become certain.
    """
    odds = np.clip(log_odds, -700, 700)
    scale = float(np.abs(odds).max()) or 1.0
    positive = y == np.max(y)
    target = np.where(positive, (positive.sum() + 1) / (positive.sum() + 2), 1 / ((~positive).sum() + 2))
    # A row with the target t is one of the second class with the weight t, and one of the first with 1 - t.
    both, labels = np.tile(odds[:, None] / scale, (2, 1)), np.repeat([1, 0], len(odds))
    weights = np.concatenate([target, 1 - target])
    sigmoid = LogisticRegression(C=1e6, solver="newton-cholesky", tol=1e-10).fit(both, labels, weights)
    return float(sigmoid.coef_[0, 0]) / scale, float(sigmoid.intercept_[0])


def cross_calibrated(
    log_odds: NDArray[np.float64], y: NDArray[Any], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return calibrated probabilities for held-out rows. Each fold's sigmoid is fitted to the other folds."""
    odds, calibrated = np.clip(log_odds, -700, 700), np.empty(len(y))
    for k in np.unique(fold):
        here = fold == k
        slope, shift = fit_sigmoid(odds[~here], y[~here])
        calibrated[here] = expit(slope * odds[here] + shift)
    return calibrated


def best_cutoff(log_odds: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Return the lowest log-odds at which to predict the second class, chosen for the highest GMean.

    Of several cutoffs with this GMean, the one nearest to even odds is chosen, and then the one between the rows that
    come first. So the names of the classes, which decide their order, do not matter.

    >>> best_cutoff(np.array([-2.0, 1.0, 3.0, 5.0]), np.array([0, 0, 1, 1]))
    2.0
    """
    odds = np.clip(log_odds, -700, 700)
    values, first_row, place = np.unique(odds, return_index=True, return_inverse=True)
    if len(values) == 1:
        return 0.0
    positives = np.bincount(place, weights=y == y.max()).astype(np.int64)
    negatives = np.bincount(place, weights=y != y.max()).astype(np.int64)
    # A cutoff lies between two neighbouring values: the rows below are predicted negative, the others positive.
    right_negatives = np.cumsum(negatives)[:-1]
    right_positives = positives.sum() - np.cumsum(positives)[:-1]
    recalls = right_negatives * right_positives  # in proportion to the squared GMean, and exact
    cutoffs = (values[:-1] + values[1:]) / 2
    first, second = np.sort([first_row[:-1], first_row[1:]], axis=0)
    best = np.lexsort((second, first, np.abs(cutoffs), -recalls))[0]
    return float(max(cutoffs[best], np.nextafter(values[best], np.inf)))
