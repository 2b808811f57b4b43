"""Estimate sampling errors by the bootstrap. A row is resampled together in all datasets of its group.

Datasets of a group describe the same rows (genes) in several ways, so they are not independent. The 28 ageing-gene
datasets are 4 gene sets described in 7 ways. Seeds are not replicates either: a score is the mean over the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hietan.scores.scores import Scores


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Bootstrap draws of the mean GMean and the average rank, each of shape (n_draws, n_methods)."""

    methods: tuple[str, ...]
    mean_gmean: NDArray[np.float64]
    average_rank: NDArray[np.float64]

    def interval(self, draws: NDArray[np.float64], level: float = 0.95) -> NDArray[np.float64]:
        """Return each method's central interval over the draws, of shape (2, n_methods)."""
        tail = (1 - level) / 2
        return np.quantile(draws, [tail, 1 - tail], axis=0)

    def difference(self, method: str, control: str, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the difference between two methods' mean GMean in the same draws."""
        a, b = (self.mean_gmean[:, self.methods.index(name)] for name in (method, control))
        low, high = self.interval(a - b, level).tolist()
        return low, high


def bootstrap_gmean(
    predictions: Mapping[tuple[str, str, int], Scores],
    rows: Mapping[str, Sequence[str]],
    methods: Sequence[str],
    *,
    groups: Mapping[str, str] | None = None,
    n_draws: int = 1000,
    seed: int = 0,
) -> Bootstrap:
    """Resample rows with replacement, and compute GMean and ranks for each draw without refitting the classifiers.

    Parameters
    ----------
    predictions : mapping of (dataset, method, seed) to Scores
        The scores of all rows.
    rows : mapping of dataset to the names of its rows
        Rows with the same name in datasets of one group are drawn together.
    methods : sequence of str
        The keys of the methods to compare.
    groups : mapping of dataset to group, optional
        Each dataset's group; a dataset without one is its own group.
    n_draws : int
        The number of draws.
    seed : int
        The seed for the draws.
    """
    datasets = list(dict.fromkeys(dataset for dataset, method, _ in predictions if method in methods))
    group_of = {dataset: (groups or {}).get(dataset, dataset) for dataset in datasets}
    rng = np.random.default_rng(seed)
    scores = np.empty((n_draws, len(datasets), len(methods)))
    for group in dict.fromkeys(group_of.values()):
        members = [dataset for dataset in datasets if group_of[dataset] == group]
        names = {name: i for i, name in enumerate(dict.fromkeys(n for d in members for n in rows[d]))}
        times = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=n_draws).astype(
            np.float64
        )
        for dataset in members:
            weights = times[:, [names[name] for name in rows[dataset]]]
            for k, method in enumerate(methods):
                pooled = [p for (d, m, _), p in predictions.items() if (d, m) == (dataset, method)]
                scores[:, datasets.index(dataset), k] = np.mean([_gmeans(p, weights) for p in pooled], axis=0)
    return Bootstrap(tuple(methods), scores.mean(axis=1), rankdata(-scores, axis=2).mean(axis=1))


def _gmeans(scores: Scores, weights: NDArray[np.float64]) -> Any:
    """Return the GMean of each draw. A class without rows in a draw has recall 0."""
    product = np.ones(len(weights))
    for k in range(len(scores.classes)):
        of_class = scores.truth == k
        total = weights @ of_class.astype(np.float64)  # sums of integers: exact in any order
        hit = weights @ (of_class & (scores.predicted == k)).astype(np.float64)
        product *= hit / np.maximum(total, 1)
    return product ** (1 / len(scores.classes))
