"""Scores of training rows by models that have not seen them, and what is chosen with them: the ridge, a temperature.

With two classes, and as long as the Hessian can be factorised, the scores are approximately those of leaving out one
row at a time: one step of Newton's method away from the fit to all rows, which needs no further fit. Otherwise they
come from a cross-validation. The offsets of the rows stay as they are, because they leave out their own row already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.model_selection import KFold, StratifiedKFold

from hietan._runtime.parallel import run_ordered
from hietan.classifiers._solvers.losses import Matrix
from hietan.classifiers._solvers.newton_systems import DenseSystem
from hietan.classifiers._solvers.ridge import solve_ridge
from hietan.classifiers._solvers.ridge_problem import RidgeFit, RidgeProblem

RIDGES = np.logspace(3, -2, 16)
"""The values among which a ridge is chosen, the largest first."""
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class RidgeChoice:
    """The fit with the ridge whose held-out log loss is smallest; the largest of several."""

    ridge: float
    fit: RidgeFit
    losses: NDArray[np.float64]


def leave_one_out_scores(problem: RidgeProblem, ridge: float, fit: RidgeFit) -> Matrix:
    """Approximate scores of each row by the fit to all others: one step of Newton's method for each, at once.

    With H the Hessian at the fit, leaving out row z moves its own score by v l' / (1 - l'' v), v = z^T H^-1 z.
    """
    whitened = problem.at(ridge)
    curvature = problem.loss.curvature(fit.scores)
    variances = DenseSystem(whitened, curvature).row_variances()
    diagonal = curvature.diagonal[:, 0]
    # 1 - l'' v, which is at least what it would be without the other rows: rounding must not make it 0.
    remaining = np.maximum(1 - diagonal * variances, 1 / (1 + diagonal * whitened.kernel_diagonal))
    return fit.scores + (variances / remaining)[:, None] * problem.loss.gradient(fit.scores)


def cross_validated_scores(
    problem: RidgeProblem, ridge: float, fit: RidgeFit, codes: NDArray[np.intp], n_jobs: int | None
) -> Matrix:
    """Scores of each row by a fit to the other folds, started from the fit to all rows."""
    fewest = int(np.bincount(codes).min())
    kind = StratifiedKFold if fewest >= 2 else KFold
    folds = kind(max(2, min(N_FOLDS, fewest)), shuffle=True, random_state=0)
    parts = list(folds.split(codes, codes))

    def held_out(training: NDArray[np.intp], test: NDArray[np.intp]) -> Matrix:
        part = solve_ridge(problem.take(training), ridge, fit)
        scores: Matrix = problem.offsets[test] + problem.X[test] @ part.coef.T + part.intercept
        return scores

    scores = np.empty_like(problem.offsets)
    for (_, test), found in zip(parts, run_ordered(held_out, parts, n_jobs), strict=True):
        scores[test] = found
    return scores


def held_out_scores(
    problem: RidgeProblem, ridge: float, fit: RidgeFit, codes: NDArray[np.intp], n_jobs: int | None
) -> Matrix:
    """Scores of the rows by models that have not seen them; see the head of this module.

    Parameters
    ----------
    problem : RidgeProblem
        The training rows.
    ridge : float
        The weight of the penalty.
    fit : RidgeFit
        The fit to all rows with this ridge.
    codes : array of shape (n_rows,)
        The class of each row, as a position among the classes.
    n_jobs : int or None
        The number of threads of a cross-validation; the scores do not depend on it.
    """
    if problem.loss.n_columns == 1 and DenseSystem.fits(problem.X.shape):
        return leave_one_out_scores(problem, ridge, fit)
    return cross_validated_scores(problem, ridge, fit, codes, n_jobs)


def choose_ridge(problem: RidgeProblem, codes: NDArray[np.intp], n_jobs: int | None) -> RidgeChoice:
    """Fit with each of `RIDGES` and keep the fit with the smallest held-out log loss, weighted as in the fit."""
    fits: list[RidgeFit] = []
    losses = []
    for ridge in RIDGES.tolist():
        fits.append(solve_ridge(problem, ridge, fits[-1] if fits else None))
        losses.append(problem.loss.value(held_out_scores(problem, ridge, fits[-1], codes, n_jobs)))
    best = int(np.argmin(losses))
    return RidgeChoice(float(RIDGES[best]), fits[best], np.array(losses))


def choose_temperature(problem: RidgeProblem, scores: Matrix) -> float:
    """The positive number by which held-out scores are divided for the smallest log loss, from 1/20 to 20."""

    def loss(log_temperature: float) -> float:
        return problem.loss.value(scores / np.exp(log_temperature))

    limit = np.log(20)
    found = minimize_scalar(loss, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
