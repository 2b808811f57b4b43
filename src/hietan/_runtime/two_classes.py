"""The area under the ROC curve from ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata


def rank_auc(is_positive: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve, computed from ranks (ties count half), or NaN if a class has no rows."""
    n, n_positive = len(is_positive), int(is_positive.sum())
    if n_positive in (0, n):
        return float("nan")
    above = rankdata(score)[is_positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (n - n_positive)))
