"""HieBAN's leave-one-out scores for training rows, from which smoothing and temperature are chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from hietan import _kernel
from hietan.classifiers._solvers.losses import best_temperature
from hietan.structure._openings import OpenCounts, Openings, OpenScores, leave_one_out_log_likelihood
from hietan.structure._rows import BinaryRows
from hietan.structure._weights import are_whole

ALPHA_GRID = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
"""The candidate values of alpha."""
HOTTEST = 1e4
"""The largest temperature of a network. The smallest temperature is its inverse."""
# Up to this total, losses are repeated like their rows, so that their mean is identical.
_MOST_REPEATED = 1 << 24


def log_shares(counts: NDArray[Any], alpha: float) -> NDArray[np.float64]:
    """Return ln P(c) = ln (n_c + alpha) / (n + C alpha), where the last axis contains the n_c."""
    total = counts.sum(axis=-1, keepdims=True) + counts.shape[-1] * alpha
    shares: NDArray[np.float64] = np.log((counts + alpha) / total)
    return shares


@dataclass(frozen=True, eq=False)
class Network:
    """A HieBAN network before its alpha is chosen.

    Attributes
    ----------
    openings : Openings
        The open features: all their parents are 1.
    counts : OpenCounts
        The counts of the training rows.
    smoothing : {"laplace", "pooled", "odds"}
        The kind of smoothing.
    unit : float
        The unit of the counts, in rows.
    """

    openings: Openings
    counts: OpenCounts
    smoothing: str
    unit: float

    def scores(self, alpha: float) -> OpenScores:
        """Return scores for rows that are not training rows."""
        return self.openings.scores(self.counts, self.smoothing, alpha, self.unit)

    def log_likelihood(self, rows: BinaryRows, codes: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
        """Return ln P(x | c) for training rows. The counts for each row leave out the row's own weight."""
        known = self.openings, self.counts, rows, codes, self.smoothing, alpha
        return leave_one_out_log_likelihood(*known, unit=self.unit)

    def joint_log(
        self,
        rows: BinaryRows,
        codes: NDArray[np.int64],
        alpha: float,
        log_prior: NDArray[np.float64] | None = None,
        temperature: float = 1.0,
    ) -> NDArray[np.float64]:
        """Return ln P(c, x) for training rows. By default, the other rows also determine the class probabilities.

        ln P(x | c) is divided by the temperature.
        """
        scores = self.log_likelihood(rows, codes, alpha) / temperature
        return scores + (self._log_priors(rows, codes, alpha) if log_prior is None else log_prior)

    def _log_priors(self, rows: BinaryRows, codes: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
        """Return, for each row, the logarithm of each class's share of the other rows."""
        others = np.tile(self.counts.class_count, (len(codes), 1))
        others[np.arange(len(codes)), codes] -= 1 if rows.weights is None else rows.weights
        return log_shares(others, _kernel.Smoothing(self.smoothing, alpha, self.unit).pseudo_count)

    def choose_alpha(
        self, rows: BinaryRows, codes: NDArray[np.int64], log_prior: NDArray[np.float64] | None = None
    ) -> float:
        """Return the alpha with the smallest leave-one-out log loss. If several alphas tie, return the smallest.

        Parameters
        ----------
        rows : BinaryRows
            The training rows.
        codes : array of shape (n_rows,)
            Each row's class, as a position among the classes.
        log_prior : array of shape (n_classes,) or None
            The log class probabilities; None estimates them from the other rows.
        """
        rows = rows.sparse()
        left_out = leave_one(rows, self.unit)

        def loss(alpha: float) -> float:
            return self._log_loss(self.joint_log(left_out, codes, alpha, log_prior), rows, codes)

        return ALPHA_GRID[int(np.argmin([loss(alpha) for alpha in ALPHA_GRID]))]

    def choose_temperature(
        self,
        rows: BinaryRows,
        codes: NDArray[np.int64],
        alpha: float,
        log_prior: NDArray[np.float64] | None = None,
    ) -> float:
        """Return the temperature with the smallest leave-one-out log loss over all training rows.

        Parameters
        ----------
        rows : BinaryRows
            The training rows.
        codes : array of shape (n_rows,)
            Each row's class, as a position among the classes.
        alpha : float
            The weight of the prior.
        log_prior : array of shape (n_classes,) or None
            The log class probabilities; None estimates them from the other rows.
        """
        rows = rows.sparse()
        left_out = leave_one(rows, self.unit)
        scores = self.log_likelihood(left_out, codes, alpha)
        log_priors = self._log_priors(left_out, codes, alpha) if log_prior is None else log_prior
        return best_temperature(
            lambda temperature: self._log_loss(log_priors + scores / temperature, rows, codes), HOTTEST
        )

    def _log_loss(self, joint: NDArray[np.float64], rows: BinaryRows, codes: NDArray[np.int64]) -> float:
        """Return the mean log loss of rows with these scores, weighted by their counts."""
        own = log_softmax(joint, axis=1)[np.arange(len(codes)), codes]
        if rows.weights is None:
            return -float(own.mean())
        if self.unit == 1 and rows.total <= _MOST_REPEATED:
            return -float(np.repeat(own, rows.weights).mean())
        return -float(np.average(own, weights=rows.weights))


def stand_for_copies(rows: BinaryRows, unit: float) -> bool:
    """Return whether the row weights are whole numbers, so that each weight counts copies of its row."""
    return unit <= 1 and (rows.weights is None or are_whole(rows.weights.astype(np.float64) * unit))


def leave_one(rows: BinaryRows, unit: float) -> BinaryRows:
    """Return the rows with the weight that each row loses when it is left out. Rows with fractional weights lose their
    whole weight.
    """
    if rows.weights is None or not stand_for_copies(rows, unit):
        return rows
    return replace(rows, weights=np.full(rows.n_rows, round(1 / unit), dtype=np.int32))
