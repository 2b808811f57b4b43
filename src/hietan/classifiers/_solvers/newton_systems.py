"""The linear systems of Newton's method for a ridge: by conjugate gradients, or by a Cholesky factorisation.

With Z the rows in whitened coordinates, the Hessian is I + Z^T D Z. Where there are fewer rows than features, it is
solved through the kernel K = Z Z^T of the rows (Woodbury): a system of one equation per row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky

from hietan.classifiers._solvers.losses import Curvature, Matrix
from hietan.classifiers._solvers.ridge_problem import Whitened

DENSE_LIMIT = 4096
"""The largest system that is factorised; it takes 8 * 4096^2 bytes, and twice that while it is made."""


def conjugate_gradients(
    whitened: Whitened, curvature: Curvature, gradient: Matrix, accuracy: float, max_products: int
) -> tuple[Matrix, bool]:
    """The step of Newton's method, nearly: the residual is at most `accuracy` times the gradient.

    Preconditioned by the diagonal of the Hessian. The step descends wherever it ends; the second value says whether
    the accuracy was reached within `max_products` products with the Hessian.
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
    """The factorised Hessian of a ridge with two classes, in as many dimensions as there are rows or features.

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
        """Whether the system of a table of this shape is small enough to be factorised."""
        return min(shape[0], shape[1] + 1) <= DENSE_LIMIT

    def solve(self, gradient: Matrix) -> Matrix:
        """Minus the inverse of the Hessian times the gradient: the step of Newton's method."""
        if not self._by_rows:
            step: Matrix = -cho_solve((self._factor, True), gradient, check_finite=False)
            return step
        root = self._root[:, None]
        inner = cho_solve((self._factor, True), root * self._whitened.forward(gradient), check_finite=False)
        return self._whitened.backward(root * inner) - gradient
