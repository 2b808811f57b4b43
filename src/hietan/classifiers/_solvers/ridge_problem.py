"""A ridge with offsets, and the coordinates in which it is solved.

Minimises loss(G + X W + b) + (p / 2) |W|^2 + (q / 2) |b|^2. For two classes the loss is logistic, p = ridge * s and
q = 10. For more it is multinomial with twice these penalties: with W = (-w/2, w/2) and b likewise, two classes are a
special case, because |W|^2 = |w|^2 / 2.

In the coordinates U = (sqrt(p) W, sqrt(q) b) the penalty is |U|^2 / 2, so the objective is strongly convex with
constant 1: |gradient|^2 / 2 bounds its distance from the minimum, at any U.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan.classifiers._solvers.losses import Curvature, Loss, Matrix

INTERCEPT_PENALTY = 10.0
"""Twice the factor of b^2 in the objective of two classes."""
STIFFEST_OF_TWO, STIFFEST_OF_MORE = 1e9, 1e6
"""The largest curvature of a row's loss, in units of the penalty, at which a fit is accurate and takes finite time."""
BLOCK = 4096
"""The number of columns that are made dense at a time."""


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The minimum of a ridge: weights (a row per column of scores), constants, scores, and how accurate they are.

    `gap` is an upper bound on the distance of the objective from its minimum, as a fraction of the objective.
    """

    coef: Matrix
    intercept: NDArray[np.float64]
    scores: Matrix
    objective: float
    gap: float
    n_iter: int


class RidgeProblem:
    """The problem of some training rows; `at` gives it a ridge.

    Parameters
    ----------
    X : CSR array of shape (n_rows, n_features)
        The features; it holds only zeros and ones.
    offsets : array of shape (n_rows, n_columns)
        What is added to the scores of the training rows.
    loss : Loss
        The loss of the rows.
    unit : float
        The factor s of the penalty, which is `ridge` times this number.
    """

    def __init__(self, X: Any, offsets: Matrix, loss: Loss, unit: float) -> None:
        self.X: Any = sp.csr_array(X, dtype=np.float64)
        self.transposed: Any = self.X.T  # made once: making it costs as much as a product
        self.offsets = offsets
        self.loss = loss
        self.unit = unit
        self._doubled = 1.0 if loss.n_columns == 1 else 2.0

    @cached_property
    def ones(self) -> NDArray[np.float64]:
        """The number of ones in each row, which is also its squared length."""
        ones: NDArray[np.float64] = np.diff(self.X.indptr).astype(np.float64)
        return ones

    @cached_property
    def gram(self) -> Matrix:
        """The inner products of the rows, exact because they are whole numbers; in blocks, to bound the memory."""
        n, d = self.X.shape
        columns = self.X.tocsc()
        gram = np.zeros((n, n))
        for start in range(0, d, BLOCK):
            block = columns[:, start : start + BLOCK].astype(np.float32).toarray()
            gram += block @ block.T
        return gram

    def at(self, ridge: float) -> Whitened:
        """The problem with this ridge, in coordinates in which the penalty is |U|^2 / 2.

        Raises
        ------
        ValueError
            If the ridge is too small, compared with the weights of the rows, for a fit in double precision.
        """
        stiffness, limit = self._stiffness(ridge), self._stiffest
        if not stiffness <= limit:
            raise ValueError(
                f"ridge={ridge} is too small for rows of weight up to {self.loss.weights.max():.3g}: their loss "
                f"outweighs the penalty {stiffness:.1e} times, and a fit needs at most {limit:.0e}; "
                f"raise ridge or lower class_weight"
            )
        penalty = self._doubled * ridge * self.unit
        return Whitened(self, penalty, self._doubled * INTERCEPT_PENALTY)

    def accepts(self, ridge: float) -> bool:
        """Whether `at` takes this ridge; it then takes every larger one."""
        return self._stiffness(ridge) <= self._stiffest

    @property
    def _stiffest(self) -> float:
        return STIFFEST_OF_TWO if self.loss.n_columns == 1 else STIFFEST_OF_MORE

    def _stiffness(self, ridge: float) -> float:
        """The largest curvature of a row's loss, in units of the penalty."""
        penalty = self._doubled * ridge * self.unit
        with np.errstate(over="ignore"):  # what is infinite is refused
            return float(np.max(self.loss.weights[:, 0] * (self.ones / penalty + 1 / INTERCEPT_PENALTY)))


class Whitened:
    """A ridge in the coordinates U, the last row of which are the constants; see the head of this module."""

    def __init__(self, problem: RidgeProblem, penalty: float, intercept_penalty: float) -> None:
        self.problem = problem
        self.penalty = penalty
        self.scale = 1 / np.sqrt(penalty)
        self.intercept_penalty = intercept_penalty
        self.intercept_scale = 1 / np.sqrt(intercept_penalty)

    def forward(self, U: Matrix) -> Matrix:
        """What U adds to the scores of the rows."""
        product: Matrix = self.problem.X @ (self.scale * U[:-1]) + self.intercept_scale * U[-1]
        return product

    def backward(self, slopes: Matrix) -> Matrix:
        """The transpose of `forward`."""
        weights = self.scale * (self.problem.transposed @ slopes)
        return np.vstack([weights, self.intercept_scale * slopes.sum(axis=0)])

    def hessian_diagonal(self, curvature: Curvature) -> Matrix:
        """The diagonal of the Hessian; zeros and ones are their own squares."""
        weights = self.scale**2 * (self.problem.transposed @ curvature.diagonal)
        return 1 + np.vstack([weights, self.intercept_scale**2 * curvature.diagonal.sum(axis=0)])

    def zeros(self) -> Matrix:
        """The coordinates of weights of zero."""
        return np.zeros((self.problem.X.shape[1] + 1, self.problem.loss.n_columns))

    def from_weights(self, fit: RidgeFit) -> Matrix:
        """The coordinates of a fit."""
        return np.vstack([fit.coef.T / self.scale, fit.intercept / self.intercept_scale])

    def to_fit(self, U: Matrix, scores: Matrix, objective: float, gap: float, n_iter: int) -> RidgeFit:
        """The weights at these coordinates."""
        coef = np.ascontiguousarray(self.scale * U[:-1].T)
        return RidgeFit(coef, self.intercept_scale * U[-1], scores, objective, gap, n_iter)
