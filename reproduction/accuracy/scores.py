"""From kept scores to metrics, and a bootstrap over genes for differences between methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from hietan.evaluation import auc_score, compute_metrics
from reproduction.accuracy.measure import FoldScores

Floats = NDArray[np.float64]
COMPARED = ("auc", "gmean", "gmean_tuned")
N_DRAWS = 1000


def metrics_of(y: NDArray[np.intp], found: FoldScores) -> dict[str, float]:
    """All metrics of the pooled rows; GMean at the tuned threshold (NaN if there is none); the mean AUC of a fold."""
    proba = np.exp(np.stack([log_expit(-found.score), log_expit(found.score)], axis=1))
    values = compute_metrics(y, found.natural.astype(np.intp), proba, score=found.score)
    tuned = found.tuned
    values["gmean_tuned"] = (
        float("nan") if tuned is None else compute_metrics(y, tuned.astype(np.intp))["gmean"]
    )
    folds = [found.fold == k for k in np.unique(found.fold)]
    values["auc_within_folds"] = float(np.mean([auc_score(y[rows], found.score[rows]) for rows in folds]))
    values["seconds"] = found.seconds
    equal = np.where(y == 1, 0.5 / np.mean(y == 1), 0.5 / np.mean(y == 0))
    values["calibration_error"] = calibration_error(y, proba[:, 1], np.ones(len(y)))
    values["calibration_error_equal"] = calibration_error(y, proba[:, 1], equal)
    signed = np.where(y == 1, found.score, -found.score)
    values["log_loss_equal"] = float(np.mean(-equal * log_expit(signed)))
    values["brier_equal"] = float(np.mean(equal * (proba[:, 1] - y) ** 2))
    return values


def calibration_error(y: NDArray[np.intp], proba: Floats, weights: Floats, n_bins: int = 10) -> float:
    """The mean distance of the probability from the share of class 1, over rows in bins of similar probability.

    >>> calibration_error(np.array([0, 1, 1, 1]), np.array([0.25, 0.25, 0.95, 0.95]), np.ones(4))
    0.15
    """
    bins = np.minimum((proba * n_bins).astype(np.intp), n_bins - 1)
    gaps = np.bincount(bins, weights=weights * (proba - y), minlength=n_bins)
    return float(np.abs(gaps).sum() / weights.sum())


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows of a dataset as the bootstrap needs them; rows of one group are drawn together, by their names."""

    group: str
    rows: Sequence[str]
    y: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Draws:
    """Bootstrap draws.

    Attributes
    ----------
    datasets, methods : tuple of str
        What the last two axes are.
    values : dict of str to array of shape (n_draws + 1, n_datasets, n_methods)
        Each metric of `COMPARED`, averaged over the seeds; the first draw is the data as they are.
    groups : tuple of str
        The group of each dataset.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: Mapping[str, Floats]
    groups: tuple[str, ...]

    def difference(self, metric: str, a: str, b: str, group: str | None = None) -> tuple[float, float, float]:
        """Method a minus method b, averaged over the datasets (of a group): as measured, and a 95 % interval."""
        chosen = [group in (None, each) for each in self.groups]
        values = self.values[metric][:, chosen, :]
        drawn = values[:, :, self.methods.index(a)] - values[:, :, self.methods.index(b)]
        mean = drawn.mean(axis=1)
        low, high = np.quantile(mean[1:], [0.025, 0.975])
        return float(mean[0]), float(low), float(high)

    def interval(self, metric: str, method: str, group: str | None = None) -> tuple[float, float, float]:
        """A method's mean over the datasets (of a group): as measured, and a 95 % interval."""
        chosen = [group in (None, each) for each in self.groups]
        mean = self.values[metric][:, chosen, self.methods.index(method)].mean(axis=1)
        low, high = np.quantile(mean[1:], [0.025, 0.975])
        return float(mean[0]), float(low), float(high)


def bootstrap(
    data: Mapping[str, Labelled],
    found: Mapping[tuple[str, str], Sequence[FoldScores]],
    methods: Sequence[str],
    *,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Draws:
    """Draw genes with replacement, each in all datasets of its group together; no classifier is fitted again.

    Parameters
    ----------
    data : mapping of str to Labelled
        The datasets by name.
    found : mapping of (dataset, method) to sequence of FoldScores
        The scores, one for each seed.
    methods : sequence of str
        The methods to compare.
    n_draws, seed : int
        The number of draws and their seed.
    """
    rng = np.random.default_rng(seed)
    names = tuple(data)
    values = {metric: np.empty((n_draws + 1, len(names), len(methods))) for metric in COMPARED}
    for group in dict.fromkeys(each.group for each in data.values()):
        members = [name for name in names if data[name].group == group]
        genes = {gene: i for i, gene in enumerate(dict.fromkeys(g for m in members for g in data[m].rows))}
        times = rng.multinomial(len(genes), np.full(len(genes), 1 / len(genes)), size=n_draws)
        times = np.vstack([np.ones((1, len(genes)), dtype=times.dtype), times]).astype(np.float64)
        for name in members:
            weights = times[:, [genes[gene] for gene in data[name].rows]]
            for k, method in enumerate(methods):
                drawn = [_drawn(data[name].y == 1, each, weights) for each in found[name, method]]
                for metric in COMPARED:
                    values[metric][:, names.index(name), k] = np.mean([d[metric] for d in drawn], axis=0)
    return Draws(names, tuple(methods), values, tuple(each.group for each in data.values()))


def _drawn(positive: NDArray[np.bool_], found: FoldScores, weights: Floats) -> dict[str, Any]:
    nan = np.full(len(weights), np.nan)
    tuned = found.tuned
    return {
        "auc": weighted_auc(positive, found.score, weights),
        "gmean": weighted_gmean(positive, found.natural, weights),
        "gmean_tuned": nan if tuned is None else weighted_gmean(positive, tuned, weights),
    }


def weighted_auc(positive: NDArray[np.bool_], score: Floats, weights: Floats) -> Floats:
    """The AUC for each row of weights; ties count half.

    >>> positive, score = np.array([False, True, True, False]), np.array([0.0, 0.0, 1.0, -1.0])
    >>> weighted_auc(positive, score, np.array([[1.0, 1, 1, 1], [2.0, 1, 0, 0]])).tolist()
    [0.875, 0.5]
    """
    values, group = np.unique(score, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(values)))
    up = np.add.reduceat((weights * positive)[:, order], starts, axis=1)
    down = np.add.reduceat((weights * ~positive)[:, order], starts, axis=1)
    below = np.cumsum(down, axis=1) - down / 2
    total = np.maximum(up.sum(axis=1) * down.sum(axis=1), 1)
    return np.asarray((up * below).sum(axis=1) / total)


def weighted_gmean(positive: NDArray[np.bool_], predicted: NDArray[np.bool_], weights: Floats) -> Floats:
    """The GMean for each row of weights; a class without a row has recall 0."""
    up, down = weights @ positive, weights @ ~positive
    hit, rejected = weights @ (positive & predicted), weights @ (~positive & ~predicted)
    return np.asarray(np.sqrt(hit / np.maximum(up, 1) * rejected / np.maximum(down, 1)))
