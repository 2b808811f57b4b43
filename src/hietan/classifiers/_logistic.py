"""Logistic regression under the hierarchical max-norm penalty, to a duality gap that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from hietan._kernel import GraphPenalty

Vector = NDArray[np.float64]

# The step length grows by this much per iteration and is cut where the loss curves more, with this to spare.
_GROW, _SPARE = 1.01, 1.05
_CHECK_EVERY = 10


@dataclass(frozen=True)
class Solution:
    """Weights, intercept, and how near they are: the duality gap as a fraction of the loss of the constant model."""

    coef: Vector
    intercept: float
    objective: float
    relative_gap: float
    n_iter: int


@dataclass(frozen=True)
class _Point:
    coef: Vector
    shift: float
    response: Vector  # (X - mean) coef + shift

    def beyond(self, last: _Point, momentum: float) -> _Point:
        return _Point(
            self.coef + momentum * (self.coef - last.coef),
            self.shift + momentum * (self.shift - last.shift),
            self.response + momentum * (self.response - last.response),
        )


class LogisticProblem:
    """Minimise sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lam * penalty(w), where the weights s sum to 1.

    FISTA with adaptive restart (O'Donoghue & Candès 2015). X is centred within the products, never in memory, so the
    intercept hardly interacts with the weights; and the step follows the curvature along the last step, mostly far
    below the global Lipschitz constant. `y` is boolean; both values must occur.
    """

    def __init__(self, X: Any, y: NDArray[np.bool_], weights: Vector, penalty: GraphPenalty) -> None:
        self._X = X
        self._sign = np.where(y, 1.0, -1.0)
        self._weight = weights / weights.sum()
        self._mean: Vector = X.T @ self._weight
        self._penalty = penalty
        positive = float(self._weight @ y)
        self._log_odds = float(np.log(positive) - np.log1p(-positive))
        self._null_loss = float(-xlogy(positive, positive) - xlogy(1 - positive, 1 - positive))
        self._curvature: float | None = None
        self._point = self._at(np.zeros(X.shape[1]), self._log_odds)

    def lam_max(self) -> float:
        """The smallest lam with all weights zero: the dual norm of the gradient at the constant model."""
        null = self._at(np.zeros(self._X.shape[1]), self._log_odds)
        return self._penalty.dual_norm(self._gradient(null)[0])

    def solve(self, lam: float, max_iter: int, tol: float) -> Solution:
        """Start from the last solution and go on until the gap is `tol` of the constant model's loss, or less."""
        point = ahead = self._point
        t = 1.0
        for n_iter in range(1, max_iter + 1):
            new = self._step(ahead, lam)
            if (ahead.coef - new.coef) @ (new.coef - point.coef) + (ahead.shift - new.shift) * (
                new.shift - point.shift
            ) > 0:
                t = 1.0  # the momentum points uphill
            next_t = (1 + np.sqrt(1 + 4 * t * t)) / 2
            ahead, point, t = new.beyond(point, (t - 1) / next_t), new, next_t
            if n_iter == 1 or n_iter % _CHECK_EVERY == 0 or n_iter == max_iter:
                best, objective, gap = self._certify(point, lam)
                if gap <= tol * self._null_loss:
                    break
        self._point = best
        intercept = best.shift - float(self._mean @ best.coef)
        return Solution(best.coef, intercept, objective, gap / self._null_loss, n_iter)

    def _at(self, coef: Vector, shift: float) -> _Point:
        return _Point(coef, shift, self._X @ coef + (shift - self._mean @ coef))

    def _gradient(self, point: _Point) -> tuple[Vector, float, Vector]:
        """By the weights and by the shift, and the second derivative of each row's loss."""
        wrong = expit(-self._sign * point.response)
        residual = -self._weight * self._sign * wrong
        total = residual.sum()
        return self._X.T @ residual - total * self._mean, float(total), wrong * (1 - wrong)

    def _step(self, at: _Point, lam: float) -> _Point:
        """A proximal gradient step whose length the loss's curvature allows."""
        slope, shift_slope, curved = self._gradient(at)
        if self._curvature is None:
            change = self._X @ slope - self._mean @ slope
            self._curvature = float(self._weight @ (curved * change**2) / max(slope @ slope, 1e-300)) or 1.0
        self._curvature /= _GROW
        while True:
            length = 1 / self._curvature
            coef = self._penalty.prox(at.coef - length * slope, length * lam)
            new = self._at(coef, at.shift - length * shift_slope)
            change = new.response - at.response
            # The second derivative of the logistic loss is at most 1/4, and grows by at most e^|change|.
            bound = np.minimum(0.25, curved * np.exp(np.minimum(np.abs(change), 30.0)))
            needed = float(self._weight @ (bound * change**2))
            moved = float(np.sum((coef - at.coef) ** 2) + (new.shift - at.shift) ** 2)
            if needed <= self._curvature * moved:
                return new
            self._curvature = _SPARE * needed / moved

    def _certify(self, point: _Point, lam: float) -> tuple[_Point, float, float]:
        """The point with its best shift, its objective value and its duality gap."""
        base, shift = point.response - point.shift, point.shift
        for _ in range(50):  # Newton's method; the dual point must sum to 0
            wrong = expit(-self._sign * (base + shift))
            residual = -self._weight * self._sign * wrong
            step = float(residual.sum() / max(self._weight @ (wrong * (1 - wrong)), 1e-12))
            if abs(step) < 1e-14:
                break
            shift -= float(np.clip(step, -4, 4))
        best = _Point(point.coef, shift, base + shift)
        loss = float(self._weight @ np.logaddexp(0, -self._sign * best.response))
        objective = loss + lam * float(self._penalty.maxima(point.coef).sum())
        norm = self._penalty.dual_norm(self._X.T @ residual - residual.sum() * self._mean)
        wrong *= min(1.0, lam / norm) if norm > 0 else 1.0
        dual = -float(self._weight @ (xlogy(wrong, wrong) + xlogy(1 - wrong, 1 - wrong)))
        return best, objective, objective - dual
