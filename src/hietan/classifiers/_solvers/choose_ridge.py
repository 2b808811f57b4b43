"""Choose the ridge and a temperature from the held-out scores of training rows.

They come from a cross-validation that repeats everything for the training rows of a fold: counts, offsets, their
spread, the regression. Approximate leave-one-out scores, one Newton step away from the fit to all rows, are not a
substitute. They keep the offsets of the other rows, which depend on the class of the row that is left out. Even with
exact fits to all other rows, large ridges then seem better than they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from hietan._runtime.parallel import run_ordered
from hietan.classifiers._solvers.hieban_offsets import NetworkRows
from hietan.classifiers._solvers.losses import Loss, Matrix, best_temperature
from hietan.classifiers._solvers.ridge import RidgeFit, RidgeProblem, solve_ridge

RIDGES = tuple(np.logspace(2, -2, 13).tolist())
"""The candidate values of the ridge, largest first."""
N_FOLDS = 5


def cross_validated_scores(rows: NetworkRows, ridges: tuple[float, ...], n_jobs: int | None) -> list[Matrix]:
    """Return each row's score for each ridge. The model that scores a row is fitted to the other folds.

    If a ridge other than the first is too small for a fold, the scores end before it.

    Parameters
    ----------
    rows : NetworkRows
        The training rows; every class has at least two.
    ridges : tuple of float
        The penalty weights, largest first.
    n_jobs : int or None
        The number of threads; the scores do not depend on it.
    """
    n_folds = min(N_FOLDS, int(np.bincount(rows.codes).min()))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)  # rows may be sorted
    parts = list(folds.split(rows.codes, rows.codes))

    def held_out(training: NDArray[np.intp], test: NDArray[np.intp]) -> list[Matrix]:
        regression = rows.take(training).regression()
        fit: RidgeFit | None = None
        scores: list[Matrix] = []
        for ridge in ridges:
            if scores and not regression.problem.accepts(ridge):
                break
            fit = solve_ridge(regression.problem, ridge, fit)
            scores.append(regression.scores(rows.take(test), fit))
        return scores

    by_fold = run_ordered(held_out, parts, n_jobs)
    gathered = [np.empty((len(rows.codes), rows.n_columns)) for _ in range(min(map(len, by_fold)))]
    for (_, test), found in zip(parts, by_fold, strict=True):
        for scores, part in zip(gathered, found, strict=False):  # a fold may have more ridges than others
            scores[test] = part
    return gathered


def choose_ridge(rows: NetworkRows, problem: RidgeProblem, n_jobs: int | None) -> float:
    """Return the ridge in `RIDGES` with the smallest held-out loss. If several ridges tie, return the largest.

    Ridges that are too small for a fold or for `problem`, which has all rows, are left out.
    """
    ridges = tuple(filter(problem.accepts, RIDGES))
    if not ridges:
        ridges = RIDGES[:1]  # the largest, which raises an error with its reason
    losses = [problem.loss.value(scores) for scores in cross_validated_scores(rows, ridges, n_jobs)]
    best: float = ridges[int(np.argmin(losses))]
    return best


def choose_temperature(rows: NetworkRows, loss: Loss, ridge: float, n_jobs: int | None) -> float:
    """Return the divisor that minimises the loss of held-out scores."""
    (scores,) = cross_validated_scores(rows, (ridge,), n_jobs)
    return best_temperature(lambda temperature: loss.value(scores / temperature))
