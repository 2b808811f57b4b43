"""The logistic and multinomial loss functions of a ridge regression, with their derivatives.

Scores have a row per training row, and one column for two classes, or a column per class for more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp, softmax

Matrix = NDArray[np.float64]
HOTTEST = 20.0
"""The default of the largest temperature. The smallest temperature is its inverse."""


@dataclass(frozen=True, eq=False)
class _Diagonal:
    """The second derivatives of a logistic loss, one number per row."""

    diagonal: Matrix

    def times(self, direction: Matrix) -> Matrix:
        return self.diagonal * direction


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The logistic loss, sum_i m_i ln(1 + exp(-y_i f_i)), with signs y and weights m of shape (n_rows, 1)."""

    signs: Matrix
    weights: Matrix

    @property
    def n_columns(self) -> int:
        """The number of columns: one, for the log-odds of the second class."""
        return 1

    def value(self, scores: Matrix) -> float:
        """Return the loss summed over all rows."""
        return float(np.sum(self.weights * np.logaddexp(0, -self.signs * scores)))

    def gradient(self, scores: Matrix) -> Matrix:
        """Return the first derivatives with respect to the scores."""
        return -self.weights * self.signs * expit(-self.signs * scores)

    def curvature(self, scores: Matrix) -> _Diagonal:
        """Return the second derivatives with respect to the scores."""
        return _Diagonal(self.weights * expit(scores) * expit(-scores))


@dataclass(frozen=True, eq=False)
class _Softmax:
    """The second derivatives of a multinomial loss, one classes-by-classes block per row."""

    weights: Matrix
    probabilities: Matrix

    @property
    def diagonal(self) -> Matrix:
        return self.weights * self.probabilities * (1 - self.probabilities)

    def times(self, direction: Matrix) -> Matrix:
        mean = np.sum(self.probabilities * direction, axis=1, keepdims=True)
        product: Matrix = self.weights * self.probabilities * (direction - mean)
        return product


@dataclass(frozen=True, eq=False)
class MultinomialLoss:
    """The multinomial loss, sum_i m_i (ln sum_c exp(f_ic) - f_ik), where k is the class of row i."""

    member: Matrix
    weights: Matrix

    @property
    def n_columns(self) -> int:
        """The number of classes."""
        return int(self.member.shape[1])

    def value(self, scores: Matrix) -> float:
        """Return the loss summed over all rows."""
        own = np.sum(self.member * scores, axis=1)
        return float(np.sum(self.weights[:, 0] * (logsumexp(scores, axis=1) - own)))

    def gradient(self, scores: Matrix) -> Matrix:
        """Return the first derivatives with respect to the scores."""
        return self.weights * (softmax(scores, axis=1) - self.member)

    def curvature(self, scores: Matrix) -> _Softmax:
        """Return the second derivatives with respect to the scores."""
        return _Softmax(self.weights, softmax(scores, axis=1))


Loss = LogisticLoss | MultinomialLoss
Curvature = _Diagonal | _Softmax


def make_loss(codes: NDArray[np.intp], n_classes: int, weights: NDArray[np.float64]) -> Loss:
    """Return the loss for rows with these weights and class positions. The second of two classes is positive."""
    column = weights[:, None]
    if n_classes == 2:
        return LogisticLoss(np.where(codes == 1, 1.0, -1.0)[:, None], column)
    return MultinomialLoss(np.eye(n_classes)[codes], column)


def best_temperature(loss: Callable[[float], float], hottest: float = HOTTEST) -> float:
    """Return the temperature with the smallest loss, from 1 / `hottest` to `hottest`.

    The loss must be convex in the inverse of the temperature, as every log loss is.
    """
    limit = np.log(hottest)
    found = minimize_scalar(
        lambda log_temperature: loss(float(np.exp(log_temperature))),
        bounds=(-limit, limit),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))
