"""Bounds on the share of positives among unlabelled rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

LEAST_POSITIVES = 10
ERROR = 0.05
"""The probability that the bound on the share of positives is too low."""


def share_bound(positives: NDArray[np.float64], unlabelled: NDArray[np.float64]) -> float:
    """Return an upper bound, with 95% confidence, on the share of positives among unlabelled rows.

    At every threshold, the share of positives is at most the share of unlabelled rows that reach the threshold, divided
    by the share of positives that do. The thresholds are the nine deciles of the positives' log-odds. Each of the 18
    shares has a one-sided Clopper-Pearson limit that fails with a probability of at most 0.05 / 18.

    Parameters
    ----------
    positives, unlabelled : arrays
        The log-odds of known positives and of unlabelled rows, from models that did not see them.

    Examples
    --------
    >>> round(share_bound(np.arange(100.0), np.arange(-900.0, 100.0)), 3)  # a tenth of them are like the positives
    0.149
    """
    thresholds = np.quantile(positives, np.arange(1, 10) / 10)
    limit = ERROR / (2 * len(thresholds))
    known, others = ((scores >= thresholds[:, None]).sum(axis=1) for scores in (positives, unlabelled))
    n, m = len(positives), len(unlabelled)
    least = beta.ppf(limit, known, n - known + 1)
    most = np.where(others == m, 1.0, beta.ppf(1 - limit, others + 1, np.maximum(m - others, 1)))
    return float(min(1.0, (most / least).min()))
