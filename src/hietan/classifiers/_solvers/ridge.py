"""Ridge regression with offsets, fitted by Newton's method to a guaranteed accuracy.

Minimises loss(G + X W + b) + (p / 2) |W|^2 + (q / 2) |b|^2. For two classes the loss is logistic, p = ridge * s and
q = 10. For more it is multinomial with twice these penalties: with W = (-w/2, w/2) and b likewise, two classes are a
special case, because |W|^2 = |w|^2 / 2.

In the coordinates U = (sqrt(p) W, sqrt(q) b) the penalty is |U|^2 / 2, so the objective is strongly convex with
constant 1: |gradient|^2 / 2 bounds its distance from the minimum, at any U.

The linear systems of Newton's method for a ridge: by conjugate gradients, or by a Cholesky factorisation.

With Z the rows in whitened coordinates, the Hessian is I + Z^T D Z. If there are fewer rows than features, it is solved
through the kernel K = Z Z^T of the rows (Woodbury): a system of one equation per row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky

from hietan.classifiers._solvers.losses import Curvature, Loss, Matrix

INTERCEPT_PENALTY = 10.0
"""Twice the coefficient of b^2 in the objective for two classes."""
STIFFEST_OF_TWO, STIFFEST_OF_MORE = 2e9, 2e6
"""The largest curvature of a row's loss, in units of the penalty, at which a fit is accurate and finishes.

The limits are twice a power of ten, so that small differences do not decide whether a ridge such as 1e-6 is
accepted.
"""
BLOCK = 4096
"""The number of columns to convert to dense form together."""
DENSE_LIMIT = 4096
"""The largest system to factorise. The system needs 8 * 4096^2 bytes, and twice as much while it is set up."""
TOLERANCE = 1e-12
"""A fit ends when the bound on its distance from the minimum is at most this fraction of the objective."""
MAX_STEPS = 200
# Products with the Hessian in a step of Newton's method, before it is factorised if it is small enough for that: at
# least these, and more while they have cost less than the factorisation would.
PATIENCE = 60
MAX_PRODUCTS = 5000
# A rough measure of that: the cube of a system's size over this is the number of ones whose products cost as much as
# its factorisation. With 4,000 rows, 2,500 features and a ridge of 0.01, a fit takes 0.4 s instead of 1.8 s.
FACTORISED_PER_ONE = 20


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The minimum for one ridge: weights (one row per score column), constants and scores, with their accuracy.

    `gap` is an upper bound on the distance of the objective from its minimum, as a fraction of the objective.
    """

    coef: Matrix
    intercept: NDArray[np.float64]
    scores: Matrix
    objective: float
    gap: float
    n_iter: int


class RidgeProblem:
    """The regression problem for some training rows. The method `at` sets the ridge.

    Parameters
    ----------
    X : CSR array of shape (n_rows, n_features)
        The features; only zeros and ones.
    offsets : array of shape (n_rows, n_columns)
        The offsets of the training rows' scores.
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
        """The number of ones in each row, which equals the row's squared length."""
        ones: NDArray[np.float64] = np.diff(self.X.indptr).astype(np.float64)
        return ones

    @cached_property
    def gram(self) -> Matrix:
        """The inner products between rows. They are whole numbers, so they are exact.

        Blocks limit the memory use.
        """
        n, d = self.X.shape
        columns = self.X.tocsc()
        gram = np.zeros((n, n))
        for start in range(0, d, BLOCK):
            block = columns[:, start : start + BLOCK].astype(np.float32).toarray()
            gram += block @ block.T
        return gram

    def at(self, ridge: float) -> Whitened:
        """Return the problem with this ridge, in coordinates in which the penalty is |U|^2 / 2.

        Raises
        ------
        ValueError
            If the ridge is too small, compared with the weights of the rows, for a fit in double precision.
        """
        stiffness, limit = self._stiffness(ridge), self._stiffest
        if not stiffness <= limit:
            raise ValueError(
                f"ridge={ridge} is too small for row weights up to {self.loss.weights.max():.3g}. The loss "
                f"outweighs the penalty by a factor of {stiffness:.3g}, but the limit is {limit:.3g}; raise "
                "ridge or lower class_weight"
            )
        penalty = self._doubled * ridge * self.unit
        return Whitened(self, penalty, self._doubled * INTERCEPT_PENALTY)

    def accepts(self, ridge: float) -> bool:
        """Return whether `at` accepts this ridge. If it does, it also accepts every larger ridge."""
        return self._stiffness(ridge) <= self._stiffest

    @property
    def _stiffest(self) -> float:
        return STIFFEST_OF_TWO if self.loss.n_columns == 1 else STIFFEST_OF_MORE

    def _stiffness(self, ridge: float) -> float:
        """Return the largest curvature of a row's loss, in units of the penalty."""
        penalty = self._doubled * ridge * self.unit
        with np.errstate(over="ignore"):  # infinite values raise an error later
            return float(np.max(self.loss.weights[:, 0] * (self.ones / penalty + 1 / INTERCEPT_PENALTY)))


class Whitened:
    """A ridge problem in the coordinates U, whose last row contains the constants; see the module docstring."""

    def __init__(self, problem: RidgeProblem, penalty: float, intercept_penalty: float) -> None:
        self.problem = problem
        self.penalty = penalty
        self.scale = 1 / np.sqrt(penalty)
        self.intercept_penalty = intercept_penalty
        self.intercept_scale = 1 / np.sqrt(intercept_penalty)

    def forward(self, U: Matrix) -> Matrix:
        """Return the scores that the coordinates U give."""
        product: Matrix = self.problem.X @ (self.scale * U[:-1]) + self.intercept_scale * U[-1]
        return product

    def backward(self, slopes: Matrix) -> Matrix:
        """Return the product with the transpose of `forward`."""
        weights = self.scale * (self.problem.transposed @ slopes)
        return np.vstack([weights, self.intercept_scale * slopes.sum(axis=0)])

    def hessian_diagonal(self, curvature: Curvature) -> Matrix:
        """Return the diagonal of the Hessian, for features that are 0 or 1."""
        weights = self.scale**2 * (self.problem.transposed @ curvature.diagonal)
        return 1 + np.vstack([weights, self.intercept_scale**2 * curvature.diagonal.sum(axis=0)])

    def zeros(self) -> Matrix:
        """Return the coordinates of zero weights."""
        return np.zeros((self.problem.X.shape[1] + 1, self.problem.loss.n_columns))

    def from_weights(self, fit: RidgeFit) -> Matrix:
        """Return the coordinates of a fit."""
        return np.vstack([fit.coef.T / self.scale, fit.intercept / self.intercept_scale])

    def to_fit(self, U: Matrix, scores: Matrix, objective: float, gap: float, n_iter: int) -> RidgeFit:
        """Return the weights at these coordinates."""
        coef = np.ascontiguousarray(self.scale * U[:-1].T)
        return RidgeFit(coef, self.intercept_scale * U[-1], scores, objective, gap, n_iter)


# ------------------------------------------------------------------------------------------ Newton's method


def solve_ridge(problem: RidgeProblem, ridge: float, start: RidgeFit | None = None) -> RidgeFit:
    """Fit a ridge problem, starting from an earlier fit or from zero weights."""
    whitened = problem.at(ridge)
    return _minimise(whitened, whitened.from_weights(start) if start else whitened.zeros())


def _minimise(whitened: Whitened, U: Matrix) -> RidgeFit:
    loss = whitened.problem.loss
    scores = whitened.problem.offsets + whitened.forward(U)
    value = loss.value(scores) + 0.5 * float(np.sum(U * U))
    can_factorise = DenseSystem.fits(whitened.problem.X.shape) and loss.n_columns == 1
    patience = _patience(whitened) if can_factorise else MAX_PRODUCTS
    is_slow = False
    first = 0.0
    for step in range(MAX_STEPS + 1):
        gradient = whitened.backward(loss.gradient(scores)) + U
        size = float(np.linalg.norm(gradient))
        gap = 0.5 * size**2
        first = first or size
        if gap <= TOLERANCE * value or step == MAX_STEPS:
            break
        curvature = loss.curvature(scores)
        if not is_slow:
            accuracy = min(0.1, size / first)  # fast convergence at the end, without accuracy wasted before
            direction, reached = conjugate_gradients(whitened, curvature, gradient, accuracy, patience)
            is_slow = can_factorise and not reached
        if is_slow:
            direction = DenseSystem(whitened, curvature).solve(gradient)
        change = whitened.forward(direction)
        slope = float(np.sum(gradient * direction))
        length = _line_search(loss, U, direction, scores, change, value, slope)
        if length == 0:  # rounding leaves nothing to gain
            break
        U = U + length * direction
        scores = whitened.problem.offsets + whitened.forward(U)
        value = loss.value(scores) + 0.5 * float(np.sum(U * U))
    return whitened.to_fit(U, scores, value, gap / value if value > 0 else 0.0, step)


def _patience(whitened: Whitened) -> int:
    """Return how many Hessian products to try before the Hessian is factorised."""
    X = whitened.problem.X
    size = min(X.shape[0], X.shape[1] + 1)
    return max(PATIENCE, min(MAX_PRODUCTS, int(size**3 // (FACTORISED_PER_ONE * max(1, X.nnz)))))


def _line_search(
    loss: Loss, U: Matrix, direction: Matrix, scores: Matrix, change: Matrix, value: float, slope: float
) -> float:
    """Return a step length, halved from 1, that lowers the objective enough, or 0 if there is none."""
    rounding = 8 * np.finfo(float).eps * value
    length = 1.0
    while length > 1e-10:
        moved = U + length * direction
        reached = loss.value(scores + length * change) + 0.5 * float(np.sum(moved * moved))
        if reached <= value + 1e-4 * length * slope + rounding:
            return length
        length /= 2
    return 0.0


def conjugate_gradients(
    whitened: Whitened, curvature: Curvature, gradient: Matrix, accuracy: float, max_products: int
) -> tuple[Matrix, bool]:
    """Return an approximate Newton step, whose residual is at most `accuracy` times the gradient.

    Preconditioned by the diagonal of the Hessian. The step always descends; the second value is whether the accuracy
    was reached within `max_products` products with the Hessian.
    """
    inverse = 1 / whitened.hessian_diagonal(curvature)
    direction = np.zeros_like(gradient)
    residual = -gradient
    scaled = inverse * residual
    search = scaled
    fit = float(np.sum(residual * scaled))
    enough = accuracy * float(np.linalg.norm(gradient))
    for _ in range(max_products):
        product = search + whitened.backward(curvature.times(whitened.forward(search)))
        length = fit / float(np.sum(search * product))
        direction = direction + length * search
        residual = residual - length * product
        if np.linalg.norm(residual) <= enough:
            return direction, True
        scaled = inverse * residual
        fit, last = float(np.sum(residual * scaled)), fit
        search = scaled + (fit / last) * search
    return direction, False


class DenseSystem:
    """A two-class ridge's factorised Hessian, with one dimension per row or per feature.

    Parameters
    ----------
    whitened : Whitened
        The problem.
    curvature : Curvature
        The second derivatives of the loss, a number for each row.
    """

    def __init__(self, whitened: Whitened, curvature: Curvature) -> None:
        self._whitened = whitened
        self._diagonal: NDArray[np.float64] = curvature.diagonal[:, 0]
        self._root = np.sqrt(self._diagonal)
        problem = whitened.problem
        n, d = problem.X.shape
        self._by_rows = n <= d
        if self._by_rows:
            system = problem.gram / whitened.penalty + 1 / whitened.intercept_penalty
            system *= self._root
            system *= self._root[:, None]
        else:
            X, transposed, off = problem.X, problem.transposed, whitened.scale * whitened.intercept_scale
            system = np.empty((d + 1, d + 1))
            system[:d, :d] = (transposed @ (X * self._diagonal[:, None])).toarray() / whitened.penalty
            system[d, :d] = system[:d, d] = off * (transposed @ self._diagonal)
            system[d, d] = self._diagonal.sum() / whitened.intercept_penalty
        system.flat[:: len(system) + 1] += 1
        self._factor = cholesky(system, lower=True, overwrite_a=True, check_finite=False)

    @staticmethod
    def fits(shape: tuple[int, int]) -> bool:
        """Return whether the system for a table of this shape is small enough to factorise."""
        return min(shape[0], shape[1] + 1) <= DENSE_LIMIT

    def solve(self, gradient: Matrix) -> Matrix:
        """Return the Newton step: minus the inverse Hessian times the gradient."""
        if not self._by_rows:
            return -cho_solve((self._factor, True), gradient, check_finite=False)
        root = self._root[:, None]
        inner = cho_solve((self._factor, True), root * self._whitened.forward(gradient), check_finite=False)
        return self._whitened.backward(root * inner) - gradient
