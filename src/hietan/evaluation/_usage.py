"""Feature usage, as in the paper's Table S1: how many rows keep each feature, and how many edges contain it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

# The "parent" of a feature that is not in a tree: the same number as `ABSENT` of `hietan.structure`, which evaluation
# does not import, because it works with any object that has an array `parent`.
ABSENT = -2
COUNTS = ("selected", "in_edges")
"""The counts that features are ranked by: *Freq. of Selection* and *Freq. in Edges*."""


@dataclass(frozen=True, eq=False)
class FeatureUsage:
    """For each feature, the number of trees and the number of edges that contain it, over some rows' trees.

    Usages of different rows can be added.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    selected : int array of shape (n_features,)
        The number of rows whose tree contains the feature.
    in_edges : int array of shape (n_features,)
        The number of tree edges that contain the feature.
    """

    n_rows: int
    selected: NDArray[np.int64]
    in_edges: NDArray[np.int64]

    def __add__(self, other: FeatureUsage) -> FeatureUsage:
        return FeatureUsage(
            self.n_rows + other.n_rows, self.selected + other.selected, self.in_edges + other.in_edges
        )

    def ranks(self, by: str = "selected") -> NDArray[np.int64]:
        """Return each feature's rank by one of the counts. The largest count has rank 1, and ties share the best rank.

        >>> FeatureUsage(4, np.array([4, 2, 4, 1]), np.array([3, 9, 5, 1])).ranks("selected").tolist()
        [1, 3, 1, 4]
        """
        return np.asarray(rankdata(-self._counts(by), method="min"), dtype=np.int64)

    def top(self, n: int | None = None, by: str = "selected") -> list[int]:
        """Return the `n` columns [default: all] with the largest counts.

        Ties are broken by the other count, then by column order.
        """
        other = next(name for name in COUNTS if name != by)
        order = np.lexsort((np.arange(len(self.selected)), -self._counts(other), -self._counts(by)))
        return [int(j) for j in order[:n]]

    def _counts(self, by: str) -> NDArray[np.int64]:
        if by not in COUNTS:
            raise ValueError(f"by is {by!r}; expected one of {', '.join(COUNTS)}")
        counts: NDArray[np.int64] = getattr(self, by)
        return counts


@dataclass(frozen=True)
class UsageRow:
    """How often a method uses a feature of a dataset, as in a line of `feature_usage.csv`.

    Attributes
    ----------
    dataset, method, setting, tuning : str
        The study's dataset and method.
    n_seeds : int
        The number of seeds over which it was counted: each predicts every row once.
    feature, name : str
        The feature and its readable name.
    selected : int
        *Freq. of Selection*: the number of rows that keep the feature in their tree.
    in_edges : int
        *Freq. in Edges*: the number of tree edges that contain it.
    n_rows : int
        The number of predicted rows, over all seeds.
    rank_selected, rank_in_edges : int
        The ranks of the feature by both counts, among all features of the dataset: 1 for the largest. Ties share the
        best rank.
    """

    dataset: str
    method: str
    setting: str
    tuning: str
    n_seeds: int
    feature: str
    name: str
    selected: int
    in_edges: int
    n_rows: int
    rank_selected: int
    rank_in_edges: int

    @classmethod
    def header(cls) -> tuple[str, ...]:
        """Return the column names of `feature_usage.csv`."""
        return tuple(field.name for field in fields(cls))

    def values(self) -> list[Any]:
        """Return the line's cells for `feature_usage.csv`, in the order of `header`."""
        return list(astuple(self))


def count_usage(trees: Iterable[Any]) -> FeatureUsage:
    """Count feature usage over trees.

    A tree is an object with `parent`: for each feature the index of its parent, -1 for the root, -2 if it is absent.

    >>> from hietan import Tree
    >>> usage = count_usage([Tree(np.array([1, -1, -2, 1]), ("A", "B", "C", "D"))])
    >>> usage.selected.tolist(), usage.in_edges.tolist()
    ([1, 1, 0, 1], [1, 2, 0, 1])
    """
    parents = np.array([tree.parent for tree in trees])
    n_rows, d = parents.shape
    has_parent = parents >= 0
    as_parent = np.bincount(parents[has_parent], minlength=d)
    return FeatureUsage(n_rows, (parents > ABSENT).sum(axis=0), has_parent.sum(axis=0) + as_parent)
