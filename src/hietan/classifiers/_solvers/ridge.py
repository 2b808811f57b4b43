"""A ridge by Newton's method: conjugate gradients, or a factorisation where they are slow, to a bound on the gap."""

from __future__ import annotations

import numpy as np

from hietan.classifiers._solvers.losses import Loss, Matrix
from hietan.classifiers._solvers.newton_systems import DenseSystem, conjugate_gradients
from hietan.classifiers._solvers.ridge_problem import RidgeFit, RidgeProblem, Whitened

TOLERANCE = 1e-12
"""A fit ends when the bound on its distance from the minimum is at most this fraction of the objective."""
MAX_STEPS = 200
# Products with the Hessian in a step of Newton's method, before it is factorised if it is small enough for that: at
# least these, and more while they have cost less than the factorisation would.
PATIENCE = 60
MAX_PRODUCTS = 5000
# A rough measure of that: the cube of a system's size over this is the number of ones whose products take as long as
# its factorisation. With 4,000 rows, 2,500 features and a ridge of 0.01, a fit takes 0.4 s instead of 1.8 s.
FACTORISED_PER_ONE = 20


def solve_ridge(problem: RidgeProblem, ridge: float, start: RidgeFit | None = None) -> RidgeFit:
    """Fit a problem with a ridge, from an earlier fit or from weights of zero."""
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
    """How many products with the Hessian are tried before it is factorised."""
    X = whitened.problem.X
    size = min(X.shape[0], X.shape[1] + 1)
    return max(PATIENCE, min(MAX_PRODUCTS, int(size**3 // (FACTORISED_PER_ONE * max(1, X.nnz)))))


def _line_search(
    loss: Loss, U: Matrix, direction: Matrix, scores: Matrix, change: Matrix, value: float, slope: float
) -> float:
    """The length of a step that lowers the objective enough, halved from 1; 0 if there is none."""
    rounding = 8 * np.finfo(float).eps * value
    length = 1.0
    while length > 1e-10:
        moved = U + length * direction
        reached = loss.value(scores + length * change) + 0.5 * float(np.sum(moved * moved))
        if reached <= value + 1e-4 * length * slope + rounding:
            return length
        length /= 2
    return 0.0
