"""Logistic regression with the hierarchical max-norm penalty, along a path of lambdas, up to a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan import _kernel

Vector = NDArray[np.float64]
# The curvature of the loss is of the order of x^4, which a float holds for numbers of these sizes.
TINIEST, LARGEST = 1e-60, 1e60
# The log-odds of a class with a smaller share of the weights are lost in rounding.
SMALLEST_SHARE = 1e-15


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


def check_sizes(X: Any) -> None:
    """Refuse numbers with which a fit would overflow, or underflow until nothing is left."""
    largest = float(abs(X).max())
    if largest > LARGEST or 0 < largest < TINIEST:
        raise ValueError(
            f"the largest number of X is {largest} in size; it must be 0, or from {TINIEST} to {LARGEST}: rescale X"
        )


class LogisticProblem:
    """Minimise sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lam * penalty(w), where the weights s sum to 1.

    `y` is boolean, and both values must occur.
    """

    def __init__(self, X: Any, y: NDArray[np.bool_], weights: Vector, penalty: _kernel.GraphPenalty) -> None:
        self._X: Any = sp.csr_array(X)
        self._y = y
        with np.errstate(over="ignore", invalid="ignore"):  # refused just below
            share = weights[y].sum() / weights.sum()
        if not SMALLEST_SHARE <= share <= 1 - SMALLEST_SHARE:
            raise ValueError(
                f"class_weight makes the weights of the rows too large or too unequal: their sum must be finite, and "
                f"each class needs at least {SMALLEST_SHARE} of it, got weights from {weights.min()} to {weights.max()}"
            )
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
        try:
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
        except ValueError as error:  # of these arguments, only the values can be refused: they overflow
            raise self._not_finite(lams) from error
        if not (np.isfinite(coef).all() and np.isfinite(summary).all()):
            raise self._not_finite(lams)
        intercept, objective, gap = summary.T
        return PathFit(coef, intercept, objective, gap, n_iter)

    def _not_finite(self, lams: Vector) -> ValueError:
        return ValueError(
            f"the fit did not stay finite; X holds numbers up to {abs(self._X).max()} in size, and lam is up to "
            f"{lams.max()}: scale the columns of X to similar sizes"
        )
