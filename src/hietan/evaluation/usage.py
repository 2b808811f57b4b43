"""Feature usage, as in the paper's Table S1: for how many rows a feature is kept, and how many edges contain it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The "parent" of a feature that is not in a tree: the same number as `hietan.structure.tree.ABSENT`. It is not imported
# from there because evaluation depends on no classifier of ours: any object with an array `parent` serves as a tree.
ABSENT = -2


@dataclass(frozen=True, eq=False)
class FeatureUsage:
    """How often features are used in the trees of some rows: *Freq. of Selection* and *Freq. in Edges*.

    Usages of different rows can be added.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    selected : int array of shape (n_features,)
        For how many rows a feature is in the tree.
    in_edges : int array of shape (n_features,)
        How many edges of the trees contain a feature.
    """

    n_rows: int
    selected: NDArray[np.int64]
    in_edges: NDArray[np.int64]

    def __add__(self, other: FeatureUsage) -> FeatureUsage:
        return FeatureUsage(
            self.n_rows + other.n_rows, self.selected + other.selected, self.in_edges + other.in_edges
        )

    def top(self, n: int) -> list[int]:
        """The `n` columns selected most often; ties are broken by the edges, then by the order of the columns."""
        order = np.lexsort((np.arange(len(self.selected)), -self.in_edges, -self.selected))
        return [int(j) for j in order[:n]]


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
