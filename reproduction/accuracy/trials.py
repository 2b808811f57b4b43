"""Variants of HieLogistic that were tried: other offsets and other kernels, over a small network in numpy.

The network is HieBAN with alpha 1 and equal priors, taken apart into what each feature contributes, so that the parts
can be weighed in other ways; "as HieLogistic" must agree with the library's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fold:
    """Training and test rows of a fold, dense, with the parents of each column and its namespace."""

    X: Floats
    y: NDArray[np.intp]
    X_test: Floats
    parents: Floats
    namespace: NDArray[np.int64]

    @cached_property
    def terms(self) -> tuple[Floats, Floats]:
        """What each feature adds to the log-odds: of training rows, each left out, and of test rows."""
        (ones, opened), (ones_test, opened_test) = self._opened(self.X), self._opened(self.X_test)
        N = np.stack([ones[self.y == c].sum(axis=0) for c in (0, 1)])
        M = np.stack([opened[self.y == c].sum(axis=0) for c in (0, 1)])
        left_out = np.empty_like(self.X)
        for c in (0, 1):
            rows, own = self.y == c, np.eye(2)[c][:, None]
            _, closed = _log_ratios(N, np.maximum(M - own, 0))
            one, _ = _log_ratios(np.maximum(N - own, 0), np.maximum(M - own, 0))
            left_out[rows] = ones[rows] * one + (opened - ones)[rows] * closed
        one, closed = _log_ratios(N, M)
        return left_out, ones_test * one + (opened_test - ones_test) * closed

    def _opened(self, X: Floats) -> tuple[Floats, Floats]:
        opened = (X @ self.parents >= self.parents.sum(axis=0)).astype(np.float64)
        return X * opened, opened

    @cached_property
    def offset(self) -> tuple[Floats, Floats]:
        """HieLogistic's offset."""
        left_out, test = (part.sum(axis=1) for part in self.terms)
        return scaled(left_out, test)

    @cached_property
    def residuals(self) -> tuple[Floats, Floats]:
        """x minus its share among the rows where it is open; 0 elsewhere."""
        (ones, opened), (ones_test, opened_test) = self._opened(self.X), self._opened(self.X_test)
        share = (ones.sum(axis=0) + 0.5) / (opened.sum(axis=0) + 1)
        return ones - opened * share, ones_test - opened_test * share

    @cached_property
    def content(self) -> Floats:
        """The information content of each feature in the training rows."""
        share = self.X.mean(axis=0)
        return np.where(share > 0, -np.log(np.maximum(share, 1e-12)), 0.0)


def _log_ratios(N: Floats, M: Floats) -> tuple[Floats, Floats]:
    """ln of the ratio of the classes' probabilities of a 1, and of a 0, where a feature is open; alpha 1, pooled."""
    q = (N.sum(axis=0) + 0.5) / (M.sum(axis=0) + 1)
    one = np.log((N + 2 * q) / (M + 2))
    zero = np.log(np.maximum(M - N + 2 * (1 - q), 1e-12) / (M + 2))
    return one[1] - one[0], zero[1] - zero[0]


def scaled(left_out: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Offsets over the standard deviation of those of the training rows."""
    sigma = left_out.std() or 1.0
    return left_out / sigma, test / sigma


def corrected(
    fold: Fold, offset: tuple[Floats, Floats], kernel: Callable[[Floats, Floats], Floats], ridge: float = 1.0
) -> Floats:
    """Scores of the test rows: an offset, corrected by a balanced logistic regression with this kernel."""
    own = kernel(fold.X, fold.X) / ridge + 0.1
    sign = 2.0 * fold.y - 1
    weight = len(fold.y) / (2 * np.bincount(fold.y)[fold.y])
    dual = np.zeros(len(sign))
    for _ in range(50):  # Newton's method
        share = expit(-sign * (offset[0] + own @ dual))
        slope, root = -weight * sign * share, np.sqrt(weight * share * (1 - share))
        target = root**2 * (own @ dual) - slope
        inner = np.eye(len(sign)) + root[:, None] * own * root
        step = target - root * np.linalg.solve(inner, root * (own @ target)) - dual
        dual = dual + step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(offset[1] + (kernel(fold.X_test, fold.X) / ridge + 0.1) @ dual)


# ------------------------------------------------------------------ kernels


def linear(fold: Fold) -> Callable[[Floats, Floats], Floats]:
    """The ridge of HieLogistic."""
    unit = fold.X.sum(axis=1).mean()
    return lambda a, b: a @ b.T / unit


def cosine(a: Floats, b: Floats) -> Floats:
    """The same for rows of length 1."""
    lengths = [np.maximum(np.linalg.norm(part, axis=1), 1e-12) for part in (a, b)]
    return np.asarray(a @ b.T / np.outer(*lengths))


def tanimoto(weights: Floats) -> Callable[[Floats, Floats], Floats]:
    """Shared terms over all terms of two rows; with weights of information content, simGIC."""

    def kernel(a: Floats, b: Floats) -> Floats:
        both = (a * weights) @ b.T
        either = (a @ weights)[:, None] + (b @ weights)[None, :] - both
        return np.asarray(both / np.maximum(either, 1e-12))

    return kernel


def residual(fold: Fold) -> Floats:
    """A ridge on what is new in a feature, given its parents."""
    train, test = fold.residuals
    unit = (train**2).sum(axis=1).mean() or 1.0
    parts = {len(fold.X): train, len(fold.X_test): test}
    return corrected(fold, fold.offset, lambda a, b: parts[len(a)] @ train.T / unit)


# ------------------------------------------------------------------ offsets


def by_namespace(fold: Fold) -> tuple[Floats, Floats]:
    """Each namespace's log-odds over a standard deviation of its own, added."""
    parts = [
        scaled(*(part[:, fold.namespace == each].sum(axis=1) for part in fold.terms))
        for each in np.unique(fold.namespace)
    ]
    return scaled(sum(part[0] for part in parts), sum(part[1] for part in parts))


def by_gain(fold: Fold) -> tuple[Floats, Floats]:
    """Each feature's log-ratio times a factor from 0 to 1: by how much the leave-one-out score gains from it.

    The factor maximises the feature's own balanced log-likelihood to second order; that of a training row leaves the
    row itself out.
    """
    left_out, test = fold.terms
    weight = (len(fold.y) / (2 * np.bincount(fold.y)[fold.y]))[:, None]
    gain = weight * (2.0 * fold.y - 1)[:, None] * left_out
    size = weight * left_out**2
    own = 2 * (gain.sum(axis=0) - gain) / np.maximum(size.sum(axis=0) - size, 1e-12)
    factor = 2 * gain.sum(axis=0) / np.maximum(size.sum(axis=0), 1e-12)
    shrunk = (left_out * np.clip(own, 0, 1)).sum(axis=1), (test * np.clip(factor, 0, 1)).sum(axis=1)
    return scaled(*shrunk)


def _times(offset: tuple[Floats, Floats], factor: float) -> tuple[Floats, Floats]:
    return factor * offset[0], factor * offset[1]


Trial = Callable[[Fold], Floats]
TRIALS: Mapping[str, Trial] = {
    "as HieLogistic": lambda f: corrected(f, f.offset, linear(f)),
    "no offset: a ridge alone": lambda f: corrected(f, _times(f.offset, 0), linear(f)),
    "half the offset": lambda f: corrected(f, _times(f.offset, 0.5), linear(f)),
    "one and a half times the offset": lambda f: corrected(f, _times(f.offset, 1.5), linear(f)),
    "half the ridge": lambda f: corrected(f, f.offset, linear(f), 0.5),
    "twice the ridge": lambda f: corrected(f, f.offset, linear(f), 2.0),
    "a scale for each namespace": lambda f: corrected(f, by_namespace(f), linear(f)),
    "log-ratios shrunk by their leave-one-out gain": lambda f: corrected(f, by_gain(f), linear(f)),
    "ridge on rows of length 1": lambda f: corrected(f, f.offset, cosine),
    "ridge on features given their parents": residual,
    "Tanimoto kernel": lambda f: corrected(f, f.offset, tanimoto(np.ones(f.X.shape[1]))),
    "simGIC kernel": lambda f: corrected(f, f.offset, tanimoto(f.content)),
}


def parents_of(hierarchy: Any) -> Floats:
    """A matrix with a 1 where the row is a direct parent of the column."""
    place = {name: i for i, name in enumerate(hierarchy.features)}
    matrix = np.zeros((len(place), len(place)))
    for parent, child in hierarchy.edges:
        matrix[place[parent], place[child]] = 1
    return matrix
