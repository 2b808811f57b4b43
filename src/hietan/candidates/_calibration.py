"""Platt's calibration of log-odds, and the cutoff with the best GMean; both are fitted to held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression


def fit_sigmoid(log_odds: NDArray[np.float64], y: NDArray[Any]) -> tuple[float, float]:
    """Slope and shift of Platt's sigmoid: ``expit(slope * log_odds + shift)`` is a calibrated probability."""
    odds = np.clip(log_odds, -700, 700)
    scale = float(np.abs(odds).max()) or 1.0
    sigmoid = LogisticRegression(C=1e6, max_iter=1000).fit(odds[:, None] / scale, y)
    return float(sigmoid.coef_[0, 0]) / scale, float(sigmoid.intercept_[0])


def best_cutoff(log_odds: NDArray[np.float64], y: NDArray[Any]) -> float:
    """The log-odds from which on rows are predicted as the second class, so that GMean is highest.

    >>> best_cutoff(np.array([-2.0, 1.0, 3.0, 5.0]), np.array([0, 0, 1, 1]))
    2.0
    """
    order = np.argsort(log_odds, kind="stable")
    odds, positive = np.clip(log_odds[order], -700, 700), (y == y.max())[order]
    # If the rows from position k on are positive: the shares of both classes that are then recognised.
    sensitivity = 1 - np.concatenate([[0], np.cumsum(positive)]) / positive.sum()
    specificity = np.concatenate([[0], np.cumsum(~positive)]) / (~positive).sum()
    gmean = np.sqrt(sensitivity * specificity)
    gmean[1:-1][odds[1:] == odds[:-1]] = -1  # no cutoff lies between rows with the same log-odds
    k = int(gmean.argmax())
    if k in (0, len(odds)):
        return float(odds[0] if k == 0 else odds[-1] + 1)
    return float((odds[k - 1] + odds[k]) / 2)
