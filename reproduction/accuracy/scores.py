"""From kept scores to metrics, and a bootstrap over rows for differences between methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.metrics import average_precision_score

from reproduction.accuracy.measure import Scores
from reproduction.accuracy.sets import Task

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
N_DRAWS, N_BINS = 1000, 10
METRICS = ("auc", "auc_within_folds", "gmean", "average_precision", "log_loss", "calibration_error")


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with their classes, scores and folds.

    Attributes
    ----------
    positive : bool array of shape (n,)
        Whether each row is of class 1.
    equal, natural : float arrays of shape (n,)
        The log-odds of class 1 if the classes had equal priors, and with the class shares of the training rows.
    fold : int array of shape (n,)
        The fold in which each row was predicted.
    """

    positive: Mask
    equal: Floats
    natural: Floats
    fold: NDArray[np.int64]

    @property
    def probability(self) -> Floats:
        """The probability of class 1, with the class shares of the training rows."""
        return np.asarray(expit(self.natural))

    def of(self, rows: Mask) -> Judged:
        """Return some of the rows."""
        return Judged(self.positive[rows], self.equal[rows], self.natural[rows], self.fold[rows])


def judged(task: Task, found: Scores, seed: int, balanced: bool, version: str | None = None) -> Judged:
    """Return the predicted rows of a task; a balanced method has log-odds for equal priors, others for class shares."""
    prior = prior_of(task, seed)
    score = next(iter(found.by_version.values())) if version is None else found.by_version[version]
    equal, natural = (score, score + prior) if balanced else (score - prior, score)
    return Judged(task.target == 1, equal, natural, found.fold).of(found.fold >= 0)


@cache
def prior_of(task: Task, seed: int) -> Floats:
    """Return the log-odds of class 1 among the training rows, for each row to predict."""
    prior = np.zeros(len(task.target))
    for inside, outside in task.splits(seed):
        share = np.mean(task.y[inside] == 1)
        prior[outside] = np.log(share / (1 - share))
    return prior


def auc_of(rows: Judged) -> float:
    """Return the AUC of some rows; they are ranked by the log-odds at equal priors."""
    return float(weighted_auc(rows, np.ones((1, len(rows.fold))))[0])


def metrics_of(rows: Judged) -> dict[str, float]:
    """Return all metrics of some rows."""
    once = np.ones((1, len(rows.fold)))
    signed = np.where(rows.positive, rows.natural, -rows.natural)
    return {
        "auc": auc_of(rows),
        "auc_within_folds": float(weighted_auc(rows, once, within_folds=True)[0]),
        "gmean": float(weighted_gmean(rows, once)[0]),
        "average_precision": float(average_precision_score(rows.positive, rows.equal)),
        "log_loss": float(np.mean(-log_expit(signed))),
        "calibration_error": calibration_error(rows.positive, rows.probability),
    }


def calibration_error(positive: Mask, probability: Floats) -> float:
    """Return the mean distance of the probability from the share of class 1, in ten bins of similar probability.

    >>> round(calibration_error(np.array([0, 1, 1, 1]) == 1, np.array([0.25, 0.25, 0.95, 0.95])), 12)
    0.15
    """
    gaps = np.bincount(bins_of(probability), weights=probability - positive, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(positive))


def bins_of(probability: Floats) -> NDArray[np.intp]:
    """Return the bin of each probability."""
    return np.minimum((probability * N_BINS).astype(np.intp), N_BINS - 1)


def weighted_auc(rows: Judged, weights: Floats, *, within_folds: bool = False) -> Floats:
    """Return the AUC for each line of weights; ties count half.

    Within folds, only rows of the same fold are compared, which one model scored.
    """
    pairs, total = np.zeros(len(weights)), np.zeros(len(weights))
    for k in np.unique(rows.fold) if within_folds else [None]:
        part = slice(None) if k is None else rows.fold == k
        values, group = np.unique(rows.equal[part], return_inverse=True)
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(len(values)))
        positive, times = rows.positive[part], weights[:, part]
        up = np.add.reduceat((times * positive)[:, order], starts, axis=1)
        down = np.add.reduceat((times * ~positive)[:, order], starts, axis=1)
        pairs += (up * (np.cumsum(down, axis=1) - down / 2)).sum(axis=1)
        total += up.sum(axis=1) * down.sum(axis=1)
    return np.asarray(pairs / np.maximum(total, 1))


def weighted_gmean(rows: Judged, weights: Floats) -> Floats:
    """Return the GMean at equal priors for each line of weights; a class without a row has recall 0."""
    up, down = weights @ rows.positive, weights @ ~rows.positive
    hit, rejected = (
        weights @ (rows.positive & (rows.equal > 0)),
        weights @ (~rows.positive & (rows.equal <= 0)),
    )
    return np.asarray(np.sqrt(hit / np.maximum(up, 1) * rejected / np.maximum(down, 1)))


DRAWN = {
    "auc": weighted_auc,
    "auc_within_folds": lambda rows, weights: weighted_auc(rows, weights, within_folds=True),
    "gmean": weighted_gmean,
}


class Draws:
    """Bootstrap draws of rows with replacement, each row in all sets of its group together; nothing is fitted again.

    Parameters
    ----------
    tasks : sequence of Task
        The sets.
    masks : mapping of str to bool array
        The rows of each set that count.
    n_draws, seed : int
        The number of draws and their seed.
    """

    def __init__(
        self, tasks: Sequence[Task], masks: Mapping[str, Mask], *, n_draws: int = N_DRAWS, seed: int = 0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.groups = [task.group for task in tasks]
        self.weights: dict[str, Floats] = {}
        for group in dict.fromkeys(self.groups):
            members = [task for task in tasks if task.group == group]
            place = {row: i for i, row in enumerate(dict.fromkeys(row for t in members for row in t.rows))}
            times = rng.multinomial(len(place), np.full(len(place), 1 / len(place)), size=n_draws)
            times = np.vstack([np.ones((1, len(place)), dtype=times.dtype), times]).astype(np.float64)
            for task in members:
                counted = np.flatnonzero(masks[task.name])
                self.weights[task.name] = times[:, [place[task.rows[i]] for i in counted]]

    def values(self, task: Task, seeds: Iterable[Judged], metric: str) -> Floats:
        """Return a metric of the rows that count for every draw, the data as they are first, averaged over seeds."""
        return np.asarray(np.mean([DRAWN[metric](rows, self.weights[task.name]) for rows in seeds], axis=0))


def interval(drawn: Floats) -> tuple[float, float, float]:
    """Return the value of the data and the 95% interval of the draws.

    >>> interval(np.array([5.0, *range(0, 1001)]))
    (5.0, 25.0, 975.0)
    """
    low, high = np.quantile(drawn[1:], [0.025, 0.975])
    return float(drawn[0]), float(low), float(high)
