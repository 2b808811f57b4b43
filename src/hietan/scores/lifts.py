"""Lifts of unlabelled rows, and a bound on the share of positives among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from hietan.scores.calibration import FAR, Sigmoid
from hietan.scores.scores import Floats, Scores

LEAST_POSITIVES = 10
ERROR = 0.05
"""The probability that the bound on the share of positives is too low."""


def lifts(log_odds: Floats, sigmoid: Sigmoid, n_positive: int, n_unlabelled: int) -> NDArray[np.float64]:
    """Return how many times more frequent rows with these log-odds are among positives than among unlabelled rows.

    `sigmoid` is calibrated on `n_positive` known and `n_unlabelled` unlabelled rows.
    """
    odds = np.exp(np.clip(sigmoid.slope * log_odds + sigmoid.shift, -FAR, FAR))
    return np.asarray(odds * (n_unlabelled / n_positive), dtype=np.float64)


def share_bound(held_out: Scores) -> float:
    """Return an upper bound, with 95% confidence, on the share of positives among unlabelled rows.

    At every threshold, the share of positives is at most the share of unlabelled rows that reach the threshold, divided
    by the share of positives that do. The thresholds are the nine deciles of the positives' log-odds. Each of the 18
    shares has a one-sided Clopper-Pearson limit that fails with a probability of at most 0.05 / 18.

    >>> odds = np.concatenate([np.arange(100.0), np.arange(-900.0, 100.0)])  # a tenth of the latter like the former
    >>> logs = np.column_stack([np.zeros(len(odds)), odds])
    >>> truth = np.repeat([1, 0], [100, 1000])
    >>> round(share_bound(Scores(("unlabelled", "known"), truth, logs, truth)), 3)
    0.149
    """
    is_known = held_out.is_positive
    positives, unlabelled = held_out.log_odds[is_known], held_out.log_odds[~is_known]
    thresholds = np.quantile(positives, np.arange(1, 10) / 10)
    limit = ERROR / (2 * len(thresholds))
    known = (positives >= thresholds[:, None]).sum(axis=1)
    others = (unlabelled >= thresholds[:, None]).sum(axis=1)
    n, m = len(positives), len(unlabelled)
    least = beta.ppf(limit, known, n - known + 1)
    most = np.where(others == m, 1.0, beta.ppf(1 - limit, others + 1, np.maximum(m - others, 1)))
    return float(min(1.0, (most / least).min()))
