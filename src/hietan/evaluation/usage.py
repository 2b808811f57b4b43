"""Feature usage, the paper's Table S1: how often a feature is kept for a row, and how many edges contain it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FeatureUsage:
    """Over the trees of some rows: *Freq. of Selection* and *Freq. in Edges* of each feature.

    Usages of different rows add up.
    """

    n_rows: int
    selected: NDArray[np.int64]
    in_edges: NDArray[np.int64]

    def __add__(self, other: FeatureUsage) -> FeatureUsage:
        return FeatureUsage(
            self.n_rows + other.n_rows, self.selected + other.selected, self.in_edges + other.in_edges
        )

    def top(self, n: int) -> list[int]:
        """The columns that are selected most often; ties by the edges, then in column order."""
        order = np.lexsort((np.arange(len(self.selected)), -self.in_edges, -self.selected))
        return [int(j) for j in order[:n]]


def count_usage(trees: Iterable[Any]) -> FeatureUsage:
    """Count over trees, each an object with `parent`: per feature its parent's index, -1 the root, -2 absent.

    >>> from hietan import Tree
    >>> usage = count_usage([Tree(np.array([1, -1, -2, 1]), ("A", "B", "C", "D"))])
    >>> usage.selected.tolist(), usage.in_edges.tolist()
    ([1, 1, 0, 1], [1, 2, 0, 1])
    """
    parents = np.array([tree.parent for tree in trees])
    n_rows, d = parents.shape
    has_parent = parents >= 0
    as_parent = np.bincount(parents[has_parent], minlength=d)
    return FeatureUsage(n_rows, (parents > -2).sum(axis=0), has_parent.sum(axis=0) + as_parent)
