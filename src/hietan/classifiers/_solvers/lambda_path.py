"""Choose proximalGraph's lambda by inner cross-validation, starting with the largest lambda."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp
from scipy.stats import rankdata

from hietan._runtime.parallel import run_ordered
from hietan.classifiers._solvers.graph_path import GraphFit, LogisticProblem

Matrix = NDArray[np.float64]
N_LAMBDAS, SMALLEST = 30, 1e-3
# A path by log loss ends at a rise above its minimum by this share of its first value, or by NOISE / sqrt(rows) of it
# if that is more, after N_RISES rises in a row. The training loss never rises along the path, so a rise of the held-out
# loss is the noise of few rows. The largest such rise before a new minimum was 2.4 / sqrt(rows) in 636 small problems
# whose best features only help together.
CLEAR_RISE, NOISE, N_RISES = 0.1, 3.0, 3


@dataclass(frozen=True, eq=False)
class LambdaPath:
    """The results of the inner cross-validation for each lambda, largest lambda first.

    It contains the tried values. With the log loss as criterion, the path ends after a clear rise. The log loss must
    exceed its minimum by more than a tenth of its first value, or by 3 / sqrt(n) of it if that is more, with n rows.
    Each of the last three values must also be above the value before. A smaller lambda could then be better only if
    the log loss fell by more than that again. The other criteria have no such trend, so all values are tried.

    Attributes
    ----------
    lam : array
        The tried values.
    log_loss : array
        The mean log loss of the held-out rows, weighted as in the fit.
    n_features : array
        The number of features that the fit to all rows uses.
    criterion : {"log_loss", "auc", "gmean"}
        The criterion that chooses between the values.
    score : array or None
        The AUC or the GMean of the held-out rows, of which the largest is best; None for the log loss.
    """

    lam: Matrix
    log_loss: Matrix
    n_features: NDArray[np.int64]
    criterion: str = "log_loss"
    score: Matrix | None = None

    @property
    def best(self) -> int:
        """The position of the best criterion value. If several tie, the largest lambda wins."""
        return int(np.argmin(self.log_loss) if self.score is None else np.argmax(self.score))

    def __len__(self) -> int:
        return len(self.lam)


# ------------------------------------------------------------------------------------------ criteria


def log_probabilities(scores: Matrix) -> Matrix:
    """Return ln P of each class. The input contains the second class's log-odds or, for several classes, each class's
    log-odds.
    """
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    logs = log_expit(scores)
    return logs - logsumexp(logs, axis=1, keepdims=True)


def area_under_curve(columns: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the second class's AUC. With several classes, return the mean of their AUCs against the other classes."""
    areas = []
    for c, column in enumerate(columns.T, start=1 if columns.shape[1] == 1 else 0):
        positive = codes == c
        n = int(positive.sum())
        # Halves of whole numbers: the same row order gives exactly the same area.
        above = rankdata(column)[positive].sum() - n * (n + 1) / 2
        areas.append(above / (n * (len(codes) - n)))
    return float(np.mean(areas))


def best_gmean(columns: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the highest GMean that any threshold gives on these rows of two classes."""
    order = np.argsort(-columns[:, 0], kind="stable")
    positive = codes[order] == 1
    found, wrong = np.cumsum(positive), np.cumsum(~positive)
    ends = np.append(np.diff(columns[order, 0]) != 0, True)  # no threshold separates equal scores
    products = (found * (wrong[-1] - wrong))[ends]
    return float(np.sqrt(products.max() / (found[-1] * wrong[-1])))


SCORES: dict[str, Callable[[Matrix, NDArray[np.intp]], float]] = {
    "auc": area_under_curve,
    "gmean": best_gmean,
}
LAMBDA_CRITERIA = ("log_loss", *SCORES)
"""The accepted values of ``criterion`` in ``ProximalGraph``."""


# ------------------------------------------------------------------------------------------ the walk


@dataclass(frozen=True)
class HeldOutRows:
    """The held-out rows of an inner fold, with one or more fitting problems for the other rows."""

    X: Any
    numbers: NDArray[np.intp]
    problems: Sequence[LogisticProblem]


@dataclass(frozen=True)
class Choice:
    """The result of a lambda search: the path, the fits to all rows at the best lambda, and all fits' relative duality
    gaps.
    """

    path: LambdaPath
    fits: list[GraphFit]
    gaps: list[float]


@dataclass(frozen=True)
class LambdaSearch:
    """The data for choosing a lambda: all rows with their classes and weights, and the folds to hold out in turn.

    `solve` fits a problem for a lambda, from its last fit.
    """

    problems: Sequence[LogisticProblem]
    folds: Sequence[HeldOutRows]
    codes: NDArray[np.intp]
    weights: Matrix
    solve: Callable[[LogisticProblem, float], GraphFit]

    def choose(self, lams: Matrix, criterion: str, n_jobs: int | None) -> Choice:
        """Choose the best lambda. Each lambda is used to fit all rows, and to fit the training rows of each fold."""
        losses: list[float] = []
        scores: list[float] = []
        gaps: list[float] = []
        fits: list[list[GraphFit]] = []
        calls = [self.problems, *(fold.problems for fold in self.folds)]
        n_rows = float(self.weights.sum() ** 2 / (self.weights**2).sum())  # effective number of rows
        for lam in lams.tolist():
            # The kernel releases the GIL, so that threads run side by side.
            everything, *parts = run_ordered(self._fit, [(problems, lam) for problems in calls], n_jobs)
            fits.append(everything)
            gaps += [fit.relative_gap for fits in (everything, *parts) for fit in fits]
            held_out = self._scores(parts)
            losses.append(self._log_loss(held_out))
            if criterion != "log_loss":
                columns = held_out if held_out.shape[1] == 1 else log_probabilities(held_out)
                # Otherwise, rounding alone would rank the rows of folds with equal models.
                scores.append(SCORES[criterion](np.round(columns, 9), self.codes))
            elif has_clearly_risen(losses, n_rows):
                break
        used = [np.any([fit.coef != 0 for fit in one], axis=0).sum() for one in fits]
        score = np.array(scores) if scores else None
        path = LambdaPath(lams[: len(losses)], np.array(losses), np.array(used, np.int64), criterion, score)
        return Choice(path, fits[path.best], gaps)

    def _fit(self, problems: Sequence[LogisticProblem], lam: float) -> list[GraphFit]:
        return [self.solve(problem, lam) for problem in problems]

    def _scores(self, parts: Sequence[Sequence[GraphFit]]) -> Matrix:
        """Return all rows' scores, each from the fit without the row's fold, with a column per problem."""
        scores = np.empty((len(self.codes), len(self.problems)))
        for fold, fits in zip(self.folds, parts, strict=True):
            scores[fold.numbers] = np.column_stack([fold.X @ fit.coef + fit.intercept for fit in fits])
        return scores

    def _log_loss(self, scores: Matrix) -> float:
        logs = log_probabilities(scores[:, 0] if scores.shape[1] == 1 else scores)
        own = logs[np.arange(len(logs)), self.codes]
        return float(-(self.weights @ own) / self.weights.sum())


def has_clearly_risen(losses: Sequence[float], n_rows: float) -> bool:
    """Return whether the last loss is far above the smallest loss, and the last few losses rose at every step."""
    last = losses[-N_RISES - 1 :]
    rising = len(last) > N_RISES and all(a < b for a, b in pairwise(last))
    return rising and losses[-1] > min(losses) + max(CLEAR_RISE, NOISE / n_rows**0.5) * losses[0]
