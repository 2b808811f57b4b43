"""Quality on a two-class dataset: curves, scores and confusion counts, with sampling errors.

The sampling error is a bootstrap over rows: rows are drawn with replacement, the same ones for all methods, and the
classifiers are not fitted again. Row 0 of the draw weights is the data themselves, each row once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
GRID = np.linspace(0, 1, 41)
"""The points at which curves are evaluated: false positive rates for ROC, recalls for precision-recall."""
SCORES = ("gmean", "sensitivity", "specificity", "auc", "average_precision")
"""The scores that `quality_of` computes for every draw; only the first three depend on the threshold."""
_BATCH = 50  # draws that are evaluated together, which bounds the memory


@dataclass(frozen=True, eq=False)
class Band:
    """Values with their 95% bootstrap intervals, all of the same shape."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def of_draws(cls, draws: Floats) -> Band:
        """Return the interval over draws along the first axis. The first draw contains the original data.

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
    """A method's scores and curves on a dataset, for the original rows and for each draw.

    Attributes
    ----------
    draws : mapping of str to array of shape (1 + n_draws,)
        Each of `SCORES`; the first value is for the data. Scores are NaN in draws that lack a class they need.
    roc : array of shape (1 + n_draws, len(GRID))
        The true positive rate at each false positive rate of `GRID`.
    precision : array of shape (1 + n_draws, len(GRID))
        The precision at each recall of `GRID`.
    """

    draws: Mapping[str, Floats]
    roc: Floats
    precision: Floats

    def band(self, score: str) -> Band:
        """Return a score and its sampling error."""
        return Band.of_draws(self.draws[score])

    def difference(self, other: Quality, score: str) -> tuple[Band, float]:
        """Return the difference from another method's score in the same draws, and the share of draws in which it is
        above 0.

        A draw in which both are equal counts half.
        """
        difference = self.draws[score] - other.draws[score]
        drawn = difference[1:][~np.isnan(difference[1:])]
        return Band.of_draws(difference), float(np.mean((drawn > 0) + 0.5 * (drawn == 0)))


def draw_rows(n_rows: int, n_draws: int = 400, seed: int = 0) -> Floats:
    """Return how often each draw contains each row, of shape (1 + n_draws, n_rows).

    The first draw contains every row once.

    >>> draws = draw_rows(5, 3)
    >>> draws.shape, draws[0].tolist(), draws.sum(axis=1).tolist()
    ((4, 5), [1.0, 1.0, 1.0, 1.0, 1.0], [5.0, 5.0, 5.0, 5.0])
    """
    drawn = np.random.default_rng(seed).multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_draws)
    return np.vstack([np.ones((1, n_rows)), drawn])


def quality_of(
    is_positive: NDArray[np.bool_], predicted: NDArray[np.bool_], score: Floats | None, weights: Floats
) -> Quality:
    """Compute a method's scores and curves for each draw of rows.

    Parameters
    ----------
    is_positive, predicted : bool arrays of shape (n_rows,)
        Whether each row belongs to the second class, and whether the method predicts it.
    score : array of shape (n_rows,), optional
        Values to rank the rows by, such as log-odds. Without them there are no curves, and their scores are NaN.
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
    """Return the mean quality over several seeds, draw by draw. All seeds must draw the same rows."""
    return Quality(
        {name: np.mean([part.draws[name] for part in parts], axis=0) for name in SCORES},
        np.mean([part.roc for part in parts], axis=0),
        np.mean([part.precision for part in parts], axis=0),
    )


def _curves(
    is_positive: NDArray[np.bool_], score: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return both curves on the grid and their areas, for each draw. Rows with equal scores share a point."""
    rank = np.unique(score, return_inverse=True)[1]  # infinite scores can also be equal
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
    # Between two recalls, the precision of the higher one applies: a threshold reaches at least this recall. The curve
    # begins at the first positive row: before it, precision is 0 and meaningless.
    wanted = np.maximum(GRID, 1e-9) - 1e-12
    reached = [np.minimum(np.searchsorted(row, wanted), len(last) - 1) for row in recall]
    on_grid = np.array([row[k] for row, k in zip(precision, reached, strict=True)])
    lacks_positive, lacks_negative = hits[:, -1] == 0, alarms[:, -1] == 0
    roc[lacks_positive | lacks_negative] = auc[lacks_positive | lacks_negative] = np.nan
    on_grid[lacks_positive] = average[lacks_positive] = np.nan
    return roc, on_grid, auc, average
