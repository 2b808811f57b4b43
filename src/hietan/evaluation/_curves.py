"""How good a method is on one dataset of two classes: curves, scores and confusions, with sampling error.

The sampling error is that of a bootstrap over rows: rows are drawn with replacement, the same ones for all methods, and
the classifiers are not fitted again. Row 0 of the weights of a draw is the data themselves, each row once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
GRID = np.linspace(0, 1, 41)
"""Where curves are evaluated: false positive rates for ROC, recalls for precision-recall."""
SCORES = ("gmean", "sensitivity", "specificity", "auc", "average_precision")
"""What `quality_of` computes for every draw; the first three depend on the threshold, the others do not."""
_FAR = 1e9  # infinite log-odds, of probabilities 0 and 1, lie this far away: there is a middle between them
_BATCH = 50  # draws that are evaluated together, which bounds the memory


@dataclass(frozen=True, eq=False)
class Band:
    """Values with the ends of the middle 95 % of the draws; all have the same shape."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def of_draws(cls, draws: Floats) -> Band:
        """The band of draws along the first axis, of which the first is the data themselves.

        >>> band = Band.of_draws(np.array([2.0, 1.0, 2.0, 3.0]))
        >>> float(band.value), round(float(band.low), 2), round(float(band.high), 2)
        (2.0, 1.05, 2.95)
        """
        drawn = draws[1:]
        drawn = drawn[
            ~np.isnan(drawn.reshape(len(drawn), -1)).any(axis=1)
        ]  # a class is missing in some draws
        if not len(drawn):
            return cls(draws[0], *np.full((2, *draws.shape[1:]), np.nan))
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        return cls(draws[0], low, high)


@dataclass(frozen=True, eq=False)
class Quality:
    """What a method achieves on a dataset, for the data and for every draw of rows.

    Attributes
    ----------
    draws : mapping of str to array of shape (1 + n_draws,)
        Each of `SCORES`; the first value is that of the data. Draws that lack a class have NaN for what needs its rows.
    roc : array of shape (1 + n_draws, len(GRID))
        The true positive rate at each false positive rate of `GRID`.
    precision : array of shape (1 + n_draws, len(GRID))
        The precision at each recall of `GRID`.
    """

    draws: Mapping[str, Floats]
    roc: Floats
    precision: Floats

    def band(self, score: str) -> Band:
        """A score and its sampling error."""
        return Band.of_draws(self.draws[score])

    def difference(self, other: Quality, score: str) -> tuple[Band, float]:
        """A score minus that of another method in the same draws, and the share of draws in which it is higher.

        A draw in which both are equal counts half.
        """
        difference = self.draws[score] - other.draws[score]
        drawn = difference[1:][~np.isnan(difference[1:])]
        return Band.of_draws(difference), float(np.mean((drawn > 0) + 0.5 * (drawn == 0)))


def draw_rows(n_rows: int, n_draws: int = 400, seed: int = 0) -> Floats:
    """How often each row is in each draw, of shape (1 + n_draws, n_rows); the first draw has every row once.

    >>> draws = draw_rows(5, 3)
    >>> draws.shape, draws[0].tolist(), draws.sum(axis=1).tolist()
    ((4, 5), [1.0, 1.0, 1.0, 1.0, 1.0], [5.0, 5.0, 5.0, 5.0])
    """
    drawn = np.random.default_rng(seed).multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_draws)
    return np.vstack([np.ones((1, n_rows)), drawn])


def quality_of(
    is_positive: NDArray[np.bool_], predicted: NDArray[np.bool_], score: Floats | None, weights: Floats
) -> Quality:
    """The scores and curves of a method for each draw of rows.

    Parameters
    ----------
    is_positive, predicted : bool arrays of shape (n_rows,)
        Whether each row belongs to the second class, and whether the method says so.
    score : array of shape (n_rows,), optional
        What the rows are ranked by, such as log-odds. Without it there are no curves, and their scores are NaN.
    weights : array of shape (1 + n_draws, n_rows)
        How often each row is in each draw, from `draw_rows`.

    Examples
    --------
    >>> truth = np.array([False, False, True, True])
    >>> quality = quality_of(truth, np.array([False, True, True, True]), np.array([-2.0, 0.5, 0.1, 3.0]), draw_rows(4))
    >>> {name: round(float(draws[0]), 3) for name, draws in quality.draws.items()}
    {'gmean': 0.707, 'sensitivity': 1.0, 'specificity': 0.5, 'auc': 0.75, 'average_precision': 0.833}
    """
    of_class = [weights @ (is_positive == label).astype(np.float64) for label in (True, False)]
    right = [
        weights @ ((is_positive == label) & (predicted == label)).astype(np.float64)
        for label in (True, False)
    ]
    sensitivity, specificity = (
        np.where(n > 0, hit / np.maximum(n, 1), np.nan) for hit, n in zip(right, of_class, strict=True)
    )
    draws = {
        "gmean": np.sqrt(sensitivity * specificity),
        "sensitivity": sensitivity,
        "specificity": specificity,
    }
    if score is None:
        missing = np.full(len(weights), np.nan)
        curves = np.full((len(weights), len(GRID)), np.nan)
        return Quality({**draws, "auc": missing, "average_precision": missing}, curves, curves)
    parts = [
        _curves(is_positive, score, weights[start : start + _BATCH])
        for start in range(0, len(weights), _BATCH)
    ]
    roc, precision, auc, average = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Quality({**draws, "auc": auc, "average_precision": average}, roc, precision)


def mean_quality(parts: Sequence[Quality]) -> Quality:
    """The mean of the qualities of several seeds, draw by draw: the draws must be of the same rows."""
    return Quality(
        {name: np.mean([part.draws[name] for part in parts], axis=0) for name in SCORES},
        np.mean([part.roc for part in parts], axis=0),
        np.mean([part.precision for part in parts], axis=0),
    )


def _curves(
    is_positive: NDArray[np.bool_], score: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Both curves on the grid and the areas below them, for each draw; rows of equal score share a point."""
    rank = np.unique(score, return_inverse=True)[1]  # scores that are infinite can be equal, too
    order = np.argsort(-rank, kind="stable")
    last = np.append(np.flatnonzero(np.diff(rank[order])), len(order) - 1)
    drawn, positive = weights[:, order], is_positive[order]
    hits = np.cumsum(drawn * positive, axis=1)[:, last]
    alarms = np.cumsum(drawn * ~positive, axis=1)[:, last]
    recall = hits / np.maximum(hits[:, -1:], 1)
    fallout = alarms / np.maximum(alarms[:, -1:], 1)
    precision = hits / np.maximum(hits + alarms, 1)
    start = np.zeros((len(weights), 1))
    tpr, fpr = np.hstack([start, recall]), np.hstack([start, fallout])
    auc = np.sum(np.diff(fpr) * (tpr[:, 1:] + tpr[:, :-1]) / 2, axis=1)
    average = np.sum(np.diff(tpr) * precision, axis=1)
    roc = np.array([np.interp(GRID, x, y) for x, y in zip(fpr, tpr, strict=True)])
    # At a recall between two points, the precision of the next one: a threshold reaches at least this recall. The
    # curve begins where the first positive row is found: before it, precision is 0 and says nothing.
    wanted = np.maximum(GRID, 1e-9) - 1e-12
    reached = [np.minimum(np.searchsorted(row, wanted), len(last) - 1) for row in recall]
    on_grid = np.array([row[k] for row, k in zip(precision, reached, strict=True)])
    lacks_positive, lacks_negative = hits[:, -1] == 0, alarms[:, -1] == 0
    roc[lacks_positive | lacks_negative] = auc[lacks_positive | lacks_negative] = np.nan
    on_grid[lacks_positive] = average[lacks_positive] = np.nan
    return roc, on_grid, auc, average


def cross_fitted_thresholds(is_positive: NDArray[np.bool_], score: Floats, fold: NDArray[np.int64]) -> Floats:
    """For each row, the threshold with the highest GMean on the rows of the other folds: its own fold has no say.

    Among equals, the one nearest to zero, the usual threshold of log-odds, is taken.

    >>> score = np.array([-3.0, -2.0, 1.0, -4.0, -3.0, 2.0])
    >>> truth = np.array([False, True, True, False, False, True])
    >>> cross_fitted_thresholds(truth, score, np.array([0, 0, 0, 1, 1, 1])).tolist()
    [-0.5, -0.5, -0.5, -2.5, -2.5, -2.5]
    """
    thresholds = np.zeros(len(score))
    for k in np.unique(fold):
        others = fold != k
        thresholds[fold == k] = _best_threshold(is_positive[others], score[others])
    return thresholds


def _best_threshold(is_positive: NDArray[np.bool_], score: Floats) -> float:
    values, place = np.unique(np.clip(score, -_FAR, _FAR), return_inverse=True)
    positives = np.bincount(place, weights=is_positive)
    negatives = np.bincount(place, weights=~is_positive)
    # A threshold between values k and k + 1 predicts the second class for all rows above it.
    missed, cleared = np.cumsum(positives)[:-1], np.cumsum(negatives)[:-1]
    if not len(missed) or not positives.sum() or not negatives.sum():
        return 0.0
    gmean = np.sqrt((1 - missed / positives.sum()) * (cleared / negatives.sum()))
    middles = (values[:-1] + values[1:]) / 2
    best = np.flatnonzero(gmean >= gmean.max() - 1e-12)
    return float(middles[best[np.argmin(np.abs(middles[best]))]])
