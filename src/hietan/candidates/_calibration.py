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

    >>> best_cutoff(np.array([-2.0, 1.0, 3.0, 5.0]), np.array([0, 0, 1, 1]))
    2.0
    """
    order = np.argsort(log_odds, kind="stable")
    odds, positive = np.clip(log_odds[order], -700, 700), (y == y.max())[order]
    # If the rows from position k are positive, the recalls of both classes.
    sensitivity = 1 - np.concatenate([[0], np.cumsum(positive)]) / positive.sum()
    specificity = np.concatenate([[0], np.cumsum(~positive)]) / (~positive).sum()
    gmean = np.sqrt(sensitivity * specificity)
    gmean[1:-1][odds[1:] == odds[:-1]] = -1  # no cutoff lies between rows with the same log-odds
    k = int(gmean.argmax())
    if k in (0, len(odds)):
        return float(odds[0] if k == 0 else odds[-1] + 1)
    return float((odds[k - 1] + odds[k]) / 2)
