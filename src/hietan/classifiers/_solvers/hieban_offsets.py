"""The regression that corrects HieBAN's scores, and its fit to the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.classifiers._checks import class_weights
from hietan.classifiers._solvers.leave_one_out import Network, leave_one, stand_for_copies
from hietan.classifiers._solvers.losses import Matrix, make_loss
from hietan.classifiers._solvers.ridge import RidgeFit, RidgeProblem
from hietan.structure._openings import OpenCounts, Openings, OpenScores, count_openings
from hietan.structure._rows import BinaryRows

# Differences between classes below this fraction of their scores are rounding errors.
ROUNDING = 1e-12


def offsets_of(joint: Matrix) -> Matrix:
    """Return the scores' offsets. For two classes, they are the second class's log-odds; otherwise, each class has a
    centred column.
    """
    if joint.shape[1] == 2:
        return joint[:, 1:] - joint[:, :1]
    centred: Matrix = joint - joint.mean(axis=1, keepdims=True)
    return centred


def spread_of(joint: Matrix, copies: NDArray[np.float64] | None = None) -> float:
    """Return the root mean square standard deviation of the log-odds over all class pairs, or 1 if it is zero.

    The variances of all pairs add up to C times the variances of the scores minus their mean in each row.

    Parameters
    ----------
    joint : array of shape (n_rows, n_classes)
        The scores.
    copies : array of shape (n_rows,) or None
        How many copies each row stands for; None means one.
    """
    n_classes = joint.shape[1]
    centred = joint - joint.mean(axis=1, keepdims=True)
    if copies is None:
        variance = centred.var(axis=0).sum()
    else:
        mean = np.average(centred, axis=0, weights=copies)
        variance = np.average((centred - mean) ** 2, axis=0, weights=copies).sum()
    spread = float(np.sqrt(2 / (n_classes - 1) * variance))
    return spread if spread > ROUNDING * float(np.abs(joint).max()) else 1.0


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Training rows, with methods that fit a network and a regression to them.

    Attributes
    ----------
    table : BinaryRows
        The rows, in lists of ones, with their weights in units.
    codes : array of shape (n_rows,)
        Each row's class, as a position among the classes.
    classes : array of shape (n_classes,)
        The labels, sorted.
    openings : Openings
        The network.
    alpha, smoothing : float and str
        The smoothing of its probabilities.
    class_weight : {"balanced"}, mapping or None
        The factor of each class's losses.
    unit : float
        The unit of the weights, in rows.
    """

    table: BinaryRows
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    openings: Openings
    alpha: float
    smoothing: str
    class_weight: Mapping[Any, float] | str | None
    unit: float = 1.0

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def n_columns(self) -> int:
        """The number of score columns."""
        return 1 if self.n_classes == 2 else self.n_classes

    def take(self, chosen: NDArray[np.intp]) -> NetworkRows:
        """Return a subset of the rows."""
        part = self.table.to_csr()[chosen]
        weights = None if self.table.weights is None else self.table.weights[chosen]
        table = BinaryRows(part.shape, indptr=part.indptr, indices=part.indices, weights=weights)
        return replace(self, table=table, codes=self.codes[chosen])

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The row weights, or None if every row counts once."""
        return None if self.table.weights is None else self.table.weights.astype(np.float64) * self.unit

    def _loss_weights(self) -> NDArray[np.float64]:
        """Return the factor of each row's loss."""
        weights = self.weights
        totals = np.bincount(self.codes, weights, minlength=self.n_classes).astype(np.float64)
        per_class = class_weights(self.class_weight, self.classes, totals)
        products = np.ones(len(self.codes)) if per_class is None else per_class[self.codes]
        return products if weights is None else products * weights

    def regression(self, counts: OpenCounts | None = None) -> NetworkRegression:
        """Fit a network, and then the regression that corrects the network. To save time, pass counts that are already
        known.
        """
        if counts is None:
            counts, _ = count_openings(self.table, self.codes, self.n_classes, self.openings.hierarchy)
        network = Network(self.openings, counts, self.smoothing, self.unit)
        joint = network.log_likelihood(leave_one(self.table, self.unit), self.codes, self.alpha)
        # Other weights are not numbers of rows: the spread and the mean number of ones are unweighted.
        copies = self.weights if stand_for_copies(self.table, self.unit) else None
        scale = spread_of(joint, copies)
        X = self.table.to_csr()
        ones = X.nnz / X.shape[0] if copies is None else copies @ np.diff(X.indptr) / copies.sum()
        loss = make_loss(self.codes, self.n_classes, self._loss_weights())
        # Without ones, nothing is penalised.
        problem = RidgeProblem(X, offsets_of(joint / scale), loss, ones or 1.0)
        return NetworkRegression(network.scores(self.alpha), scale, problem)


@dataclass(frozen=True, eq=False)
class NetworkRegression:
    """A fitted network, the spread of its leave-one-out log-odds, and the regression that uses these log-odds
    as offsets.
    """

    network: OpenScores
    scale: float
    problem: RidgeProblem

    def scores(self, rows: NetworkRows, fit: RidgeFit) -> Matrix:
        """Return scores for other rows, before division by a temperature."""
        offsets = offsets_of(self.network.log_likelihood(rows.table) / self.scale)
        scores: Matrix = offsets + rows.table.to_csr() @ fit.coef.T + fit.intercept
        return scores
