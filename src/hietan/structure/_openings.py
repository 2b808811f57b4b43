"""Open features, whose parents are all 1: their counts, and the scores that follow from these counts.

A feature is *open* in a row if all of its parents are 1 in it; a feature without parents is always open. In a row
that agrees with the hierarchy, a feature can be 1 only if it is open, so it is informative only then.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan._runtime.parallel import number_of_parts, run_ordered
from hietan.hierarchy import Hierarchy
from hietan.structure._counts import RowCounts, RowsBehind, check_total
from hietan.structure._rows import VIOLATION_BLOCK, BinaryRows, Violation, kernel_lists, parent_lists
from hietan.structure._tree import ROOT


class Openings:
    """The parents of every feature, built once for the kernel and shared by all chunks of rows.

    A feature is open in a row if all of its parents are 1.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy over the columns.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        depths = np.ascontiguousarray(hierarchy.depths, dtype=np.int64)
        self._parents = parent_lists(hierarchy)
        self.kernel = _kernel.Openings(*kernel_lists(self._parents), depths)
        self._last: tuple[Any, OpenScores] | None = None

    def scores(self, counts: OpenCounts, smoothing: str, alpha: float, unit: float) -> OpenScores:
        """Return scores for rows that were not counted. The last result is kept for row-by-row predictions."""
        key, last = (counts, smoothing, alpha, unit), self._last
        if last is None or last[0] != key:
            last = self._last = key, OpenScores(self, counts, smoothing, alpha, unit=unit)
        return last[1]

    @property
    def first_parents(self) -> NDArray[np.int32]:
        """Each feature's first parent in column order, or `ROOT` for features without parents."""
        parents = self._parents
        first = np.full(len(self.hierarchy), ROOT, dtype=np.int32)
        has_parents = np.diff(parents.indptr) > 0
        first[has_parents] = parents.indices[parents.indptr[:-1][has_parents]]
        return first

    def open_in(self, values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return whether each feature is open (all of its parents are 1) in each row of `values`, which are
        zeros and ones.
        """
        parents = self._parents.astype(np.int32)
        is_open: NDArray[np.bool_] = (parents @ values.T.astype(np.int32)).T == np.diff(parents.indptr)
        return is_open

    def open_words(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return, in packed form, whether each feature is open in each packed row."""
        parents = self._parents
        is_open = np.full(words.shape, np.iinfo(np.uint64).max, dtype=np.uint64)
        has_parents = np.diff(parents.indptr) > 0
        if parents.nnz:
            starts = parents.indptr[:-1][has_parents]
            is_open[:, has_parents] = np.bitwise_and.reduceat(words[:, parents.indices], starts, axis=1)
        return is_open


@dataclass(frozen=True, eq=False)
class OpenCounts(RowCounts):
    """Per-class counts of the rows in which a feature is open (all of its parents are 1), and in which it is also 1.

    `class_count[c]` is the number of rows of class c, `open[c, v]` how many of them have all parents of v at 1, and
    `ones[c, v]` how many have v at 1 as well. Counts are sums over rows, so the counts of two parts of the data add
    up to the counts of the whole.
    """

    open: NDArray[np.int32]

    def __add__(self, other: OpenCounts) -> OpenCounts:
        if not isinstance(other, OpenCounts):
            return NotImplemented
        self.require_addable(other)
        return OpenCounts(
            self.class_count + other.class_count, self.ones + other.ones, self.open + other.open
        )

    def behind(self, values: NDArray[np.uint8], is_open: NDArray[np.bool_]) -> RowsBehind:
        """For each feature of one row, count the training rows with all of its parents and, among these, with its own
        value.

        A feature that is not open in the row has no such rows.
        """
        ones, among = (np.where(is_open, part, 0).T.astype(np.int64) for part in (self.ones, self.open))
        return np.where(values[:, None] == 1, ones, among - ones), among

    def include(self, part: OpenCounts) -> bool:
        """Return whether `part` could be the counts of some of the counted rows."""
        # Counts are at least 0, so a difference of two does not overflow.
        rest = OpenCounts(self.class_count - part.class_count, self.ones - part.ones, self.open - part.open)
        zeros = rest.open - rest.ones
        return all(bool((counts >= 0).all()) for counts in (rest.class_count, rest.ones, zeros))


def count_openings(
    rows: BinaryRows,
    codes: NDArray[np.int64],
    n_classes: int,
    hierarchy: Hierarchy,
    *,
    n_jobs: int | None = None,
) -> tuple[OpenCounts, Violation | None]:
    """Count each class's rows and their open features (all parents are 1), and check the rows while counting.

    Parameters
    ----------
    rows : BinaryRows
        The rows to count.
    codes : array of shape (n_rows,)
        Each row's class, from 0 to `n_classes` - 1.
    n_classes : int
        The number of classes; some may have no rows.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    n_jobs : int or None
        The number of threads, as in joblib; each counts some of the rows. The numbers are the same.

    Returns
    -------
    counts : OpenCounts
        The counts. A feature that is 1 although a parent is 0 is not open, and its 1 is not counted.
    violation : tuple or None
        The same as `first_violation`: the first feature at 1 whose parent is 0.
    """
    check_total(rows.total)
    table, openings = rows.sparse(), Openings(hierarchy).kernel
    codes = np.ascontiguousarray(codes, dtype=np.int64)

    def count(start: int, stop: int) -> tuple[OpenCounts, tuple[int, int, int] | None]:
        part = table if stop - start == table.n_rows else table.between(start, stop)
        assert part.indptr is not None and part.indices is not None
        own = codes[start:stop]
        ones, is_open, found = _kernel.count_openings(
            openings, part.indptr, part.indices, own, n_classes, VIOLATION_BLOCK, part.weights
        )
        return OpenCounts(part.class_count(own, n_classes), ones, is_open), found

    # Whole blocks, so that each part finds the violation that a single search finds in it.
    size = max(1, -(-rows.n_rows // (number_of_parts(n_jobs) * VIOLATION_BLOCK))) * VIOLATION_BLOCK
    calls = [(start, min(start + size, rows.n_rows)) for start in range(0, rows.n_rows, size)]
    parts = run_ordered(count, calls or [(0, 0)], n_jobs)
    violation = None
    for (start, _), (_, found) in zip(calls, parts, strict=False):
        if found is not None:
            row, parent, child = found
            violation = start + row, hierarchy.features[parent], hierarchy.features[child]
            break
    return reduce(add, (counts for counts, _ in parts)), violation


class OpenScores:
    """The logarithms of P(x_v | v is open, c), and their sums over a row's open features (all parents are 1).

    Parameters
    ----------
    openings : Openings
        The open features.
    counts : OpenCounts
        The counts of the training rows.
    smoothing : {"laplace", "pooled", "odds"}
        The kind of smoothing.
    alpha : float
        The strength of the smoothing.
    unit : float
        The unit of the counts, in rows.
    left_out : int or None
        If it is a class, the scores are for training rows of that class, each computed from the counts of all other
        training rows.
    left_weight : int
        The weight of these training rows, in units.

    Attributes
    ----------
    openings : Openings
        The open features.
    on, off : arrays of shape (n_features, n_classes)
        The logarithms for the values 1 and 0.
    """

    def __init__(
        self,
        openings: Openings,
        counts: OpenCounts,
        smoothing: str,
        alpha: float,
        *,
        unit: float = 1.0,
        left_out: int | None = None,
        left_weight: int = 1,
    ) -> None:
        self.openings = openings
        self._kernel = _kernel.OpenScorer(
            openings.kernel,
            counts.ones,
            counts.open,
            _kernel.Smoothing(smoothing, alpha, unit),
            -1 if left_out is None else left_out,
            left_weight,
        )
        self.on, self.off = self._kernel.on(), self._kernel.off()

    def log_likelihood(
        self, rows: BinaryRows, chosen: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return ln P(x | c) for each row, summed over the open features, shape (n_rows, n_classes).

        Parameters
        ----------
        rows : BinaryRows
            The rows. Lists of ones are read directly; rows of bytes are turned into lists first.
        chosen : array of int or None
            The rows to score, in this order. None means all.
        """
        table = rows.sparse()
        assert table.indptr is not None and table.indices is not None
        chosen = np.arange(rows.n_rows) if chosen is None else chosen
        return self._kernel.log_likelihood(table.indptr, table.indices, chosen)

    def factors(self, values: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return each feature's contribution to ln P(x | c), shape (n_rows, n_features, n_classes).

        Features that are not open contribute 0.

        Parameters
        ----------
        values : array of shape (n_rows, n_features)
            The rows, a byte per cell.
        """
        logs = np.where(values[:, :, None] == 1, self.on, self.off)
        return np.where(self.openings.open_in(values)[:, :, None], logs, 0.0)


def leave_one_out_log_likelihood(
    openings: Openings,
    counts: OpenCounts,
    rows: BinaryRows,
    codes: NDArray[np.int64],
    smoothing: str,
    alpha: float,
    *,
    unit: float = 1.0,
) -> NDArray[np.float64]:
    """Return ln P(x | c) for each training row, computed exactly from the counts of all other rows.

    A row's part of a feature's counts depends only on the row's class, weight and value of the feature. So one set of
    tables scores all rows with the same class and weight.

    Parameters
    ----------
    openings : Openings
        The open features: all their parents are 1.
    counts : OpenCounts
        The counts of all training rows, these included.
    rows : BinaryRows
        Training rows, none of them more often than it was counted. Each is left out with its weight.
    codes : array of shape (n_rows,)
        Each row's class, from 0 to `counts.n_classes` - 1.
    smoothing : {"laplace", "pooled", "odds"}
        The kind of smoothing.
    alpha : float
        The strength of the smoothing.
    unit : float
        The unit of the counts, in rows.

    Raises
    ------
    ValueError
        If the counts show that these rows cannot all be training rows.
    """
    rows = rows.sparse()
    if not counts.include(count_openings(rows, codes, counts.n_classes, openings.hierarchy)[0]):
        raise ValueError(
            "these rows are not training rows, because the model's counts do not include them; pass training "
            "rows with their labels, each at most as often as it occurs in the training data"
        )
    scores = np.empty((rows.n_rows, counts.n_classes))
    weights = np.ones(rows.n_rows, dtype=np.int32) if rows.weights is None else rows.weights
    kinds, kind = np.unique(np.stack([codes, weights]), axis=1, return_inverse=True)
    for k, (c, weight) in enumerate(kinds.T.tolist()):
        own = np.flatnonzero(kind.ravel() == k)
        tables = OpenScores(openings, counts, smoothing, alpha, unit=unit, left_out=c, left_weight=weight)
        scores[own] = tables.log_likelihood(rows, own)
    return scores


_EXPECTED = (
    "expected 0 <= ones <= open <= rows of the class",
    "features with the same parents are open in the same rows, and features without parents are open in all rows",
    "a feature is open in the rows in which its parents are 1, and in no other rows",
)


def check_open_counts(counts: OpenCounts, n_classes: int, hierarchy: Hierarchy) -> None:
    """Raise ValueError for row counts that are impossible over a hierarchy, as in a forged file."""
    n, ones, is_open = counts.class_count, counts.ones, counts.open
    if not all(isinstance(part, np.ndarray) for part in (n, ones, is_open)):
        raise ValueError("the stored counts must be numpy arrays; fit and save the model again")
    if n.dtype != np.int64 or ones.dtype != np.int32 or is_open.dtype != np.int32:
        raise ValueError(
            f"the counts have the types {n.dtype}, {ones.dtype} and {is_open.dtype}; expected int64, int32 and "
            "int32"
        )
    shape = n_classes, len(hierarchy)
    if n.shape != (n_classes,) or ones.shape != shape or is_open.shape != shape:
        raise ValueError(
            f"the counts have the shapes {n.shape}, {ones.shape} and {is_open.shape}; expected ({n_classes},), "
            f"{shape} and {shape}"
        )
    if (n < 0).any() or int(n.astype(object).sum()) > np.iinfo(np.int32).max:
        raise ValueError(
            f"the classes have {n.tolist()!r:.80} rows; expected numbers of 0 or more, and at most "
            f"{np.iinfo(np.int32).max:,} rows in total"
        )
    lists, (ones, is_open) = kernel_lists(hierarchy.adjacency), map(np.ascontiguousarray, (ones, is_open))
    wrong = _kernel.find_impossible_opening(*lists, np.ascontiguousarray(n), ones, is_open)
    if wrong:
        raise ValueError(f"impossible counts: {_EXPECTED[wrong - 1]}")
