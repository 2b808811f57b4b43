"""Logistic regression with the hierarchical max-norm penalty, fitted for one lambda after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class GraphFit:
    """The fit for one lambda: its weights, intercept, duality gap and number of steps.

    `relative_gap` is the duality gap, an upper bound on the distance from the minimum, as a fraction of the loss of the
    constant model.
    """

    coef: Vector
    intercept: float
    relative_gap: float
    n_iter: int


def kernel_rows(X: Any) -> _kernel.NumberRows:
    """Return rows in CSR form for the kernel. With several classes, the problem of each class uses these same rows."""
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    return _kernel.NumberRows(indptr, indices, X.data, X.shape[1])


class LogisticProblem:
    """Minimise sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lam * penalty(w), where the weights s sum to 1.

    `y` is boolean, and both values must occur. X has CSR form, and `rows` contains the same rows.
    """

    def __init__(
        self,
        X: Any,
        rows: _kernel.NumberRows,
        y: NDArray[np.bool_],
        weights: Vector,
        penalty: _kernel.GraphPenalty,
    ) -> None:
        self._X, self._y = X, y
        self._weight = weights / weights.sum()
        self._penalty = penalty
        self._path = _kernel.LogisticPath(rows, np.where(y, 1.0, -1.0), self._weight, penalty)

    def lam_max(self) -> float:
        """Return the smallest lam at which all weights are zero."""
        residual = self._weight * (self._weight @ self._y - self._y)
        return self._penalty.dual_norm(self._X.T @ residual - residual.sum() * (self._X.T @ self._weight))

    def solve(self, lam: float, max_iter: int, tol: float) -> GraphFit:
        """Fit until the relative duality gap is at most `tol`, starting from the last fit or from zero weights."""
        coef, summary, n_iter = self._path.solve(np.array([lam]), max_iter, tol)
        if not (np.isfinite(coef).all() and np.isfinite(summary).all()):
            raise ValueError(
                f"the fit produced values that are not finite. X contains absolute values up to {abs(self._X).max()}, "
                f"and lam is {lam}; scale the columns of X to similar sizes"
            )
        intercept, _, gap = summary[0].tolist()
        return GraphFit(coef[0], intercept, gap, int(n_iter[0]))
