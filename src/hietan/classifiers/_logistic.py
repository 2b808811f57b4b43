"""Logistic regression with the hierarchical max-norm penalty, along a path of lambdas, up to a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan import _kernel

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class PathFit:
    """The fits along a path, one entry per lambda: weights (a row each), intercept, objective, gap, number of steps.

    `relative_gap` is the duality gap, an upper bound on the distance from the minimum, as a fraction of the loss of the
    constant model.
    """

    coef: NDArray[np.float64]
    intercept: Vector
    objective: Vector
    relative_gap: Vector
    n_iter: NDArray[np.int64]


class LogisticProblem:
    """Minimise sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lam * penalty(w), where the weights s sum to 1.

    `y` is boolean, and both values must occur.
    """

    def __init__(self, X: Any, y: NDArray[np.bool_], weights: Vector, penalty: _kernel.GraphPenalty) -> None:
        self._X: Any = sp.csr_array(X)
        self._y = y
        self._weight = weights / weights.sum()
        self._penalty = penalty

    def lam_max(self) -> float:
        """The smallest lam with all weights zero: the dual norm of the gradient at the constant model."""
        residual = self._weight * (self._weight @ self._y - self._y)
        mean = self._X.T @ self._weight
        return self._penalty.dual_norm(self._X.T @ residual - residual.sum() * mean)

    def solve(self, lams: Vector, max_iter: int, tol: float) -> PathFit:
        """Fit one lambda after another, each from the previous fit, until the relative gap is at most `tol`."""
        X = self._X
        coef, summary, n_iter = _kernel.logistic_path(
            indptr=X.indptr.astype(np.int64),
            indices=X.indices.astype(np.int32),
            values=X.data,
            sign=np.where(self._y, 1.0, -1.0),
            weight=self._weight,
            penalty=self._penalty,
            lambdas=lams,
            max_iter=max_iter,
            tol=tol,
        )
        intercept, objective, gap = summary.T
        return PathFit(coef, intercept, objective, gap, n_iter)
