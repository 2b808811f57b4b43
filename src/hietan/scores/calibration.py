"""Platt's calibration of log-odds and the cutoff with the best GMean, both fitted to held-out rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from hietan.scores.scores import Floats, Scores

FAR = 700.0
"""Log-odds beyond which a probability is 0 or 1 in floating-point arithmetic."""


class Sigmoid(NamedTuple):
    """Platt's sigmoid, ``expit(slope * log_odds + shift)``, the calibrated probability of the positive class."""

    slope: float
    shift: float

    def __call__(self, log_odds: Floats) -> Floats:
        """Return the calibrated probabilities."""
        return np.asarray(expit(self.slope * log_odds + self.shift), dtype=np.float64)

    def log_odds_at(self, probability: float) -> float:
        """Return the log-odds at which the calibrated probability has this value."""
        return float(np.clip((logit(probability) - self.shift) / self.slope, -FAR, FAR))


def fit_sigmoid(log_odds: Floats, is_positive: NDArray[np.bool_]) -> Sigmoid:
    """Fit Platt's sigmoid to the log-odds of the positive class.

    The targets are Platt's (1999): (n + 1) / (n + 2) instead of 1 for the n positive rows, and 1 / (n + 2) instead of
    0 for the n others. Without them, a few perfectly separated rows would become certain.
    """
    odds = np.clip(log_odds, -FAR, FAR)
    scale = float(np.abs(odds).max()) or 1.0
    n_positive, n_other = int(is_positive.sum()), int((~is_positive).sum())
    target = np.where(is_positive, (n_positive + 1) / (n_positive + 2), 1 / (n_other + 2))
    # A row with the target t is a positive row with the weight t, and another one with 1 - t.
    both = np.tile(odds[:, None] / scale, (2, 1))
    labels = np.repeat([1, 0], len(odds))
    weights = np.concatenate([target, 1 - target])
    fitted = LogisticRegression(C=1e6, solver="newton-cholesky", tol=1e-10).fit(both, labels, weights)
    return Sigmoid(float(fitted.coef_[0, 0]) / scale, float(fitted.intercept_[0]))


def calibrate(held_out: Scores, prior: float | None = None) -> Sigmoid | None:
    """Fit Platt's sigmoid to held-out rows of two classes.

    `prior` is the share of the positive class for which probabilities are calibrated [default: the observed share].
    Return None if there are no log-odds or more classes, or if probabilities would not rise with the log-odds.
    """
    if held_out.log_proba is None or len(held_out.classes) != 2:
        return None
    sigmoid = fit_sigmoid(held_out.log_odds, held_out.is_positive)
    if sigmoid.slope <= 0:
        return None
    if prior is None:
        return sigmoid
    observed = float(held_out.is_positive.mean())
    return Sigmoid(sigmoid.slope, sigmoid.shift + float(logit(prior) - logit(observed)))


def cross_calibrated(log_odds: Floats, is_positive: NDArray[np.bool_], part: NDArray[Any]) -> Floats:
    """Return calibrated probabilities for held-out rows. Each part's sigmoid is fitted to the other parts."""
    odds = np.clip(log_odds, -FAR, FAR)
    calibrated = np.empty(len(odds))
    for k in np.unique(part):
        here = part == k
        calibrated[here] = fit_sigmoid(odds[~here], is_positive[~here])(odds[here])
    return calibrated


def best_cutoff(log_odds: Floats, is_positive: NDArray[np.bool_]) -> float:
    """Return the lowest log-odds at which to predict the positive class, chosen for the highest GMean.

    Of several cutoffs with this GMean, the one nearest to even odds is chosen, and then the one between the rows that
    come first. So it does not matter which class is the positive one. Without rows of both classes, it is 0.

    >>> best_cutoff(np.array([-2.0, 1.0, 3.0, 5.0]), np.array([False, False, True, True]))
    2.0
    """
    odds = np.clip(log_odds, -FAR, FAR)
    values, first_row, place = np.unique(odds, return_index=True, return_inverse=True)
    if len(values) == 1 or is_positive.all() or not is_positive.any():
        return 0.0
    positives = np.bincount(place, weights=is_positive).astype(np.int64)
    negatives = np.bincount(place, weights=~is_positive).astype(np.int64)
    # A cutoff lies between two neighbouring values: the rows below are predicted negative, the others positive.
    right_negatives = np.cumsum(negatives)[:-1]
    right_positives = positives.sum() - np.cumsum(positives)[:-1]
    recalls = right_negatives * right_positives  # in proportion to the squared GMean, and exact
    cutoffs = (values[:-1] + values[1:]) / 2
    first, second = np.sort([first_row[:-1], first_row[1:]], axis=0)
    best = np.lexsort((second, first, np.abs(cutoffs), -recalls))[0]
    return float(max(cutoffs[best], np.nextafter(values[best], np.inf)))


def cross_fitted_cutoffs(log_odds: Floats, is_positive: NDArray[np.bool_], part: NDArray[Any]) -> Floats:
    """Return, for each row, the cutoff with the highest GMean on the other parts.

    >>> odds = np.array([-3.0, -2.0, 1.0, -4.0, -3.0, 2.0])
    >>> truth = np.array([False, True, True, False, False, True])
    >>> cross_fitted_cutoffs(odds, truth, np.array([0, 0, 0, 1, 1, 1])).tolist()
    [-0.5, -0.5, -0.5, -2.5, -2.5, -2.5]
    """
    cutoffs = np.empty(len(log_odds))
    for k in np.unique(part):
        here = part == k
        cutoffs[here] = best_cutoff(log_odds[~here], is_positive[~here])
    return cutoffs
