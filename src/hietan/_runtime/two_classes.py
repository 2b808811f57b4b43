"""Helpers for two-class data: choose the positive class, and compute the AUC."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata


def positive_position(counts: Sequence[int]) -> int | None:
    """Return the position of the rarer of two classes. If the classes tie, return 1.

    Return None unless there are two classes.

    >>> positive_position([3, 7]), positive_position([5, 5]), positive_position([1, 2, 3])
    (0, 1, None)
    """
    return None if len(counts) != 2 else int(counts[1] <= counts[0])


def rank_auc(is_positive: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve, computed from ranks (ties count half), or NaN if a class has no rows."""
    n, n_positive = len(is_positive), int(is_positive.sum())
    if n_positive in (0, n):
        return float("nan")
    above = rankdata(score)[is_positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (n - n_positive)))
