"""Contributions summed along the hierarchy: a few branches and the rest, without remainder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan._runtime.spelling import refuse_unknown
from hietan.hierarchy import Hierarchy

# A branch has at most this share of all features below it, and at least this share of the sum of all sizes.
MOST_BELOW, LEAST = 0.25, 0.03
Floats = NDArray[np.float64]


class Cut(NamedTuple):
    """Some branches of a hierarchy.

    Attributes
    ----------
    columns : list of int
        The features at the top of the branches, from the largest amount to the smallest.
    shares : array of shape (n_features, n_branches)
        The share of each feature that reaches each branch. The rest reaches none.
    """

    columns: list[int]
    shares: Floats


class Flow:
    """What each feature passes on to its direct parents: equal shares, along the transitively reduced edges."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        edges: Any = hierarchy.adjacency.T.astype(np.bool_)
        edges = (edges > edges @ hierarchy.ancestor_matrix.astype(np.bool_)).astype(np.float64).tocsr()
        n_parents = edges.sum(axis=1)
        up = sp.diags_array(1 / np.maximum(n_parents, 1)) @ edges
        depth, self.is_root = hierarchy.depths, n_parents == 0
        # The features of each depth, and what they pass on.
        levels = [np.flatnonzero(depth == k) for k in range(1, depth.max(initial=0) + 1)]
        self.levels = [(level, up[level], up[level].T.tocsr()) for level in levels]
        below = np.diff(hierarchy.descendant_matrix.indptr)
        self.is_small = below <= MOST_BELOW * len(depth)

    def totals(self, amounts: Floats, is_branch: NDArray[np.bool_]) -> Floats:
        """What reaches each feature if nothing flows beyond a branch."""
        found = amounts.copy()
        for level, _, down in reversed(self.levels):
            found += down @ np.where(is_branch[level], 0.0, found[level])
        return found

    def shares(self, columns: Sequence[int]) -> Floats:
        """The share of each feature that reaches each of these branches."""
        found = np.zeros((len(self.is_root), len(columns)))
        own = np.zeros(len(found), dtype=np.bool_)
        own[columns] = True
        found[columns, range(len(columns))] = 1.0
        for level, up, _ in self.levels:
            found[level] = np.where(own[level, None], found[level], up @ found)
        return found

    def choose(self, amounts: Floats, limit: int) -> list[int]:
        """The branches with the largest amounts, found one by one.

        The next branch is the feature that most flows to, past the branches below it. A branch that is left with less
        than `LEAST` of all sizes, because branches below it were found later, is given up.
        """
        least, is_open = LEAST * np.abs(amounts).sum(), self.is_small.copy()
        is_branch = np.zeros(len(amounts), dtype=np.bool_)
        while is_branch.sum() < limit:
            sizes = np.where(is_open, np.abs(self.totals(amounts, is_branch)), -1.0)
            best = int(np.argmax(sizes))
            if sizes[best] <= 0 or sizes[best] < least:
                break
            is_branch[best] = True
            is_branch &= np.abs(self.totals(amounts, is_branch)) >= least
            is_open[best] = False
        return np.flatnonzero(is_branch).tolist()


_flow = lru_cache(maxsize=1)(Flow)


def cut_branches(hierarchy: Hierarchy, amounts: Floats, terms: Sequence[str] | None, limit: int) -> Cut:
    """Divide contributions among these branches or, if they are None, among at most `limit` that are chosen."""
    flow = _flow(hierarchy)
    if terms is None:
        columns = flow.choose(amounts, limit)
    else:
        refuse_unknown(terms, hierarchy.features, "by_branch names")
        columns = list(dict.fromkeys(map(hierarchy.index, terms)))
    shares = flow.shares(columns)
    order = np.argsort(-np.abs(amounts @ shares), kind="stable")
    return Cut([columns[k] for k in order], shares[:, order])
