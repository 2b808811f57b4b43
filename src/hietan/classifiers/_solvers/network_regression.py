"""From training rows to the regression that corrects the network of the hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan.classifiers._solvers.losses import Matrix, make_loss
from hietan.classifiers._solvers.ridge_problem import RidgeFit, RidgeProblem
from hietan.structure import (
    BinaryRows,
    OpenCounts,
    Openings,
    OpenScores,
    count_openings,
    leave_one_out_log_likelihood,
)

SMOOTHING = "pooled"
"""The prior guess of the network: the same conditional probability over all classes together."""
# Differences between classes below this fraction of their scores are rounding.
ROUNDING = 1e-12


def as_matrix(rows: BinaryRows) -> Any:
    """Rows in lists of ones as a CSR array of floats."""
    assert rows.indices is not None
    stored: Any = np.ones(len(rows.indices)), rows.indices, rows.indptr
    return sp.csr_array(stored, shape=rows.shape)


def offsets_of(joint: Matrix) -> Matrix:
    """What is added to the scores: log-odds of the second of two classes, or a column per class, centred in a row."""
    if joint.shape[1] == 2:
        return joint[:, 1:] - joint[:, :1]
    centred: Matrix = joint - joint.mean(axis=1, keepdims=True)
    return centred


def spread_of(joint: Matrix) -> float:
    """The root of the mean, over all pairs of classes, of the variance of their log-odds; 1 if there is none.

    The variances of all pairs add up to C times those of the scores minus their mean in each row.
    """
    n_classes = joint.shape[1]
    centred = joint - joint.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(2 / (n_classes - 1) * centred.var(axis=0).sum()))
    return spread if spread > ROUNDING * float(np.abs(joint).max()) else 1.0


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Training rows, and how a network and a regression are fitted to them.

    Attributes
    ----------
    table : BinaryRows
        The rows, in lists of ones.
    codes : array of shape (n_rows,)
        The class of each row, as a position among the classes.
    n_classes : int
        The number of classes.
    openings : Openings
        The network.
    alpha : float
        The weight of its prior guess.
    weigh : callable
        The weights of rows with given codes.
    """

    table: BinaryRows
    codes: NDArray[np.intp]
    n_classes: int
    openings: Openings
    alpha: float
    weigh: Callable[[NDArray[np.intp]], NDArray[np.float64]]

    @property
    def n_columns(self) -> int:
        """The number of columns of the scores."""
        return 1 if self.n_classes == 2 else self.n_classes

    def take(self, chosen: NDArray[np.intp]) -> NetworkRows:
        """Some of the rows."""
        part = as_matrix(self.table)[chosen]
        table = BinaryRows(part.shape, indptr=part.indptr, indices=part.indices)
        return NetworkRows(table, self.codes[chosen], self.n_classes, self.openings, self.alpha, self.weigh)

    def regression(self, counts: OpenCounts | None = None) -> NetworkRegression:
        """The network of these rows, and the regression that corrects it; their counts may be known already."""
        if counts is None:
            counts, _ = count_openings(self.table, self.codes, self.n_classes, self.openings.hierarchy)
        joint = leave_one_out_log_likelihood(
            self.openings, counts, self.table, self.codes, SMOOTHING, self.alpha
        )
        scale = spread_of(joint)
        X = as_matrix(self.table)
        unit = X.nnz / X.shape[0] or 1.0  # without ones, nothing is penalised
        loss = make_loss(self.codes, self.n_classes, self.weigh(self.codes))
        problem = RidgeProblem(X, offsets_of(joint / scale), loss, unit)
        return NetworkRegression(OpenScores(self.openings, counts, SMOOTHING, self.alpha), scale, problem)


@dataclass(frozen=True, eq=False)
class NetworkRegression:
    """A fitted network, the spread of its leave-one-out log-odds, and the regression with these as offsets."""

    network: OpenScores
    scale: float
    problem: RidgeProblem

    def scores(self, rows: NetworkRows, fit: RidgeFit) -> Matrix:
        """The scores of other rows, before any temperature."""
        offsets = offsets_of(self.network.log_likelihood(rows.table) / self.scale)
        scores: Matrix = offsets + as_matrix(rows.table) @ fit.coef.T + fit.intercept
        return scores
