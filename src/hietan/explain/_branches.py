"""Contributions summed along the hierarchy into a few branches and the rest, for one row or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan._runtime.number_checks import check_integer
from hietan._runtime.optional import import_optional
from hietan._runtime.spelling import refuse_unknown
from hietan.hierarchy import Hierarchy

# A branch has at most this share of all features below it, and at least this share of the sum of all sizes.
MOST_BELOW, LEAST = 0.25, 0.03
Floats = NDArray[np.float64]


class Cut(NamedTuple):
    """A set of branches chosen from a hierarchy.

    Attributes
    ----------
    columns : list of int
        The features at the top of the branches, largest amount first.
    shares : array of shape (n_features, n_branches)
        The share of each feature that reaches each branch. The rest reaches none.
    """

    columns: list[int]
    shares: Floats


class Flow:
    """The flow of each feature's contribution to its direct parents, in equal shares along the reduced edges."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        edges: Any = hierarchy.adjacency.T.astype(np.bool_)
        edges = (edges > edges @ hierarchy.ancestor_matrix.astype(np.bool_)).astype(np.float64).tocsr()
        n_parents = edges.sum(axis=1)
        up = sp.diags_array(1 / np.maximum(n_parents, 1)) @ edges
        depth, self.is_root = hierarchy.depths, n_parents == 0
        # The features of each depth, and the shares that they pass on.
        levels = [np.flatnonzero(depth == k) for k in range(1, depth.max(initial=0) + 1)]
        self.levels = [(level, up[level], up[level].T.tocsr()) for level in levels]
        below = np.diff(hierarchy.descendant_matrix.indptr)
        self.is_small = below <= MOST_BELOW * len(depth)

    def totals(self, amounts: Floats, is_branch: NDArray[np.bool_]) -> Floats:
        """Return the amount that reaches each feature. Nothing flows further up from a branch."""
        found = amounts.copy()
        for level, _, down in reversed(self.levels):
            found += down @ np.where(is_branch[level], 0.0, found[level])
        return found

    def shares(self, columns: Sequence[int]) -> Floats:
        """Return, for each feature, the share of its contribution that reaches each of these branches."""
        found = np.zeros((len(self.is_root), len(columns)))
        own = np.zeros(len(found), dtype=np.bool_)
        own[columns] = True
        found[columns, range(len(columns))] = 1.0
        for level, up, _ in self.levels:
            found[level] = np.where(own[level, None], found[level], up @ found)
        return found

    def choose(self, amounts: Floats, limit: int) -> list[int]:
        """Return the branches, chosen greedily: each time, the branch with the largest remaining contribution is added.

        The next branch is the feature that receives most, excluding the branches below it. A branch is dropped if
        branches below it, found later, leave it with less than `LEAST` of all sizes.
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


def cut_branches(hierarchy: Hierarchy, amounts: Floats, terms: str | Sequence[str] | None, limit: int) -> Cut:
    """Divide contributions among these branches or, if they are None, among at most `limit` chosen branches."""
    check_integer("limit", limit, 1, 2**31 - 1)
    terms = [terms] if isinstance(terms, str) else terms
    flow = _flow(hierarchy)
    if terms is None:
        columns = flow.choose(amounts, limit)
    else:
        refuse_unknown(terms, hierarchy.features, "by_branch names")
        columns = list(dict.fromkeys(map(hierarchy.index, terms)))
    shares = flow.shares(columns)
    order = np.argsort(-np.abs(amounts @ shares), kind="stable")
    return Cut([columns[k] for k in order], shares[:, order])


@dataclass(frozen=True, eq=False)
class BranchSums:
    """The contributions of many rows, summed along the hierarchy. One part is shared by all rows; the other differs by
    row.

    Attributes
    ----------
    rows : tuple of str
        The row labels.
    features : tuple of (str or None)
        The features at the top of the branches, largest mean first; None for the rest, which is last.
    names : tuple of str
        Their readable names.
    amounts : array of shape (n_rows, n_branches)
        Each branch's contribution to each row's log-odds.
    base : array of shape (n_rows,)
        The base value of each row, including terms that belong to no feature. With it, a row of `amounts` adds up to
        the log-odds.
    """

    rows: tuple[str, ...] = field(repr=False)
    features: tuple[str | None, ...]
    names: tuple[str, ...]
    amounts: Floats = field(repr=False)
    base: Floats = field(repr=False)

    @property
    def mean(self) -> Floats:
        """Each branch's mean contribution."""
        return np.asarray(self.amounts.mean(axis=0))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with an entry per explained row, and columns for the base value and each branch."""
        pandas = import_optional("pandas", extra="frames", purpose="BranchSums.to_frame")
        table = np.column_stack([self.base, self.amounts])
        columns = ["base value", *(feature or "the rest" for feature in self.features)]
        return pandas.DataFrame(table, index=list(self.rows), columns=columns)

    def __str__(self) -> str:
        both = zip(self.features, self.names, strict=True)
        labels = [name if feature in (None, name) else f"{name} ({feature})" for feature, name in both]
        above = (self.amounts > 0).sum(axis=0).tolist()
        lines = [("base value", float(self.base.mean()), "")]
        lines += zip(labels, self.mean.tolist(), (f"  above 0 in {n}" for n in above), strict=True)
        lines += [("log-odds", sum(amount for _, amount, _ in lines), "")]
        width = max(len(label) for label, _, _ in lines)
        head = f"Mean of {len(self.rows)} rows, by branch of the hierarchy"
        return "\n".join(
            [head, "", *(f"  {label:<{width}}  {amount:+9.3f}{words}" for label, amount, words in lines)]
        )


def sum_by_branch(
    hierarchy: Hierarchy,
    contributions: sp.csr_array,
    base: Floats,
    *,
    rows: Sequence[str],
    features: Sequence[str],
    names: Sequence[str],
    terms: str | Sequence[str] | None = None,
    limit: int = 8,
) -> BranchSums:
    """Sum the rows' contributions over a common set of branches; see `hietan.explain.Explanations.by_branch`.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy over the columns.
    contributions : CSR array of shape (n_rows, n_features)
        Each feature's contribution to each row's log-odds.
    base : array of shape (n_rows,)
        The base value of each row.
    rows, features, names : sequence of str
        The labels of the rows and of the features, and the readable names of the features.
    terms, limit
        The branches, or the largest number to choose.
    """
    cut = cut_branches(hierarchy, np.asarray(contributions.mean(axis=0)).ravel(), terms, limit)
    shares = np.column_stack([cut.shares, 1 - cut.shares.sum(axis=1)])
    tops = (*(features[v] for v in cut.columns), None)
    labels = (*(names[v] for v in cut.columns), "the rest")
    return BranchSums(tuple(rows), tops, labels, np.asarray(contributions @ shares), base)
