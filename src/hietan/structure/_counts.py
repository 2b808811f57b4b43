"""The statistics that all methods share: how often features are 1, alone and in pairs, in each class."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan._runtime.parallel import number_of_parts, run_ordered
from hietan.structure._rows import BinaryRows

# Packed rows of a class are counted in blocks of this many: the words of a block stay in the cache.
_BLOCK_ROWS = 4096
# A pair of ones in a sparse row costs about as much as this many words of 64 packed rows (measured).
_SPARSE_PAIR_COST = 2.5
# With more rows than this, or larger weights, packed rows are not counted: the kernel keeps room for the rows that fill
# up the last word.
_PACKED_UP_TO = 1 << 30
# Only the pairs that co-occur are kept where there are at least this many features and, judged by a sample of them,
# at most this share of the pairs co-occurs (faster at 0.11 and below, slower at 0.36, where measured). Where all pairs
# and their keys would take much memory, the share at which the sparse form is smaller decides.
_SPARSE_FROM_FEATURES = 4096
_SPARSE_UP_TO_SHARE = 0.2
_MUCH_MEMORY, _SMALLER_UP_TO_SHARE = 4e9, 0.7
_SAMPLED_FEATURES = 128


RowsBehind = tuple[NDArray[Any], NDArray[Any]]
"""Two arrays of shape (n_features, n_classes): the rows with each feature's value, and all rows that were
considered.
"""


class _ReadOnly:
    """A dataclass with read-only arrays, so that they always match what was learned from them."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):  # a forged file may hold anything
                value.flags.writeable = False


@dataclass(frozen=True, eq=False)
class SparsePairs(_ReadOnly):
    """The pairs of ones that occur in at least one row. Row i of an upper triangle lists the features j > i.

    `values[k, c]` is how many rows of class c have both i and `indices[k]`, for k from `indptr[i]` to
    `indptr[i + 1]`; indices rise within a row.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.int32]

    @property
    def n_features(self) -> int:
        """The number of features whose pairs are counted."""
        return self.indptr.size - 1

    def add_to(self, pairs: NDArray[np.int32]) -> None:
        """Add these counts to the counts of all pairs."""
        d = self.n_features
        i = np.repeat(np.arange(d), np.diff(self.indptr))
        pairs[:, i * d - i * (i + 1) // 2 + self.indices - i - 1] += self.values.T

    def both(self, i: int, j: int) -> NDArray[np.int32]:
        """Return how many rows of each class have x_i = x_j = 1, for i < j."""
        row = slice(*self.indptr[i : i + 2])
        k = row.start + int(np.searchsorted(self.indices[row], j))
        found = k < row.stop and self.indices[k] == j
        return self.values[k] if found else np.zeros(self.values.shape[1], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class RowCounts(_ReadOnly):
    """Per-class counts. `class_count[c]` is the number of rows in class c, and `ones[c, i]` of these have x_i = 1."""

    class_count: NDArray[np.int64]
    ones: NDArray[np.int32]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.ones.shape[0])

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.ones.shape[1])

    @property
    def n_rows(self) -> int:
        """The number of counted rows, over all classes."""
        return int(self.class_count.sum())

    def require_addable(self, other: RowCounts) -> None:
        """Raise an error unless the added counts have the same classes and features, and the total number of rows is
        allowed.
        """
        if self.ones.shape != other.ones.shape:
            raise ValueError(
                f"counts of {self.n_classes} classes and {self.n_features} features cannot be added to counts "
                f"of {other.n_classes} classes and {other.n_features} features; the numbers must be equal"
            )
        check_total(self.n_rows + other.n_rows)


@dataclass(frozen=True, eq=False)
class PairCounts(RowCounts):
    """Per-class counts of ones and of pairs of ones. All other cells of the 2 x 2 tables follow from these counts.

    `class_count[c]` is the number of rows of class c, and `ones[c, i]` is how many of them have x_i = 1. `pairs[c]`
    is how many have x_i = x_j = 1, for i < j row after row of the upper triangle (or nothing, if pairs were not
    requested). Wide, sparse data use `SparsePairs` instead, with the same numbers. Counts are sums over rows, so the
    counts of two parts of the data add up to the counts of the whole.
    """

    pairs: NDArray[np.int32] | SparsePairs

    @property
    def is_dense(self) -> bool:
        """Whether all pairs are kept."""
        return not isinstance(self.pairs, SparsePairs)

    @cached_property
    def kernel(self) -> _kernel.Counts:
        """The counts in the kernel's form."""
        if not isinstance(self.pairs, SparsePairs):
            return _kernel.Counts(self.class_count, self.ones, self.pairs)
        sparse = self.pairs
        return _kernel.Counts(self.class_count, self.ones, sparse.values, sparse.indptr, sparse.indices)

    def both(self, i: int, j: int) -> NDArray[np.int32]:
        """Return how many rows of each class have x_i = x_j = 1, for two different features."""
        i, j = min(i, j), max(i, j)
        if isinstance(self.pairs, SparsePairs):
            return self.pairs.both(i, j)
        return self.pairs[:, i * self.n_features - i * (i + 1) // 2 + j - i - 1]

    def behind(self, values: NDArray[np.uint8], parents: NDArray[np.int32]) -> RowsBehind:
        """For each feature of one row, count the training rows with its parent's value and, among these, with its own
        value.

        Parameters
        ----------
        values : array of shape (n_features,)
            The row.
        parents : array of shape (n_features,)
            The column of each feature's parent; below 0 for a feature that is counted among all rows.
        """
        ones = self.ones.T.astype(np.int64)
        among = np.tile(self.class_count, (self.n_features, 1))
        v = np.flatnonzero(parents >= 0)
        p = parents[v]
        if v.size:
            if isinstance(self.pairs, SparsePairs):
                both = np.array([self.both(i, j) for i, j in zip(v.tolist(), p.tolist(), strict=True)])
            else:
                i, j = np.minimum(v, p).astype(np.int64), np.maximum(v, p)
                both = self.pairs[:, i * self.n_features - i * (i + 1) // 2 + j - i - 1].T
            has_parent = values[p, None] == 1
            with_parent, own = ones[p], ones[v]
            among[v] = np.where(has_parent, with_parent, among[v] - with_parent)
            ones[v] = np.where(has_parent, both, own - both)
        return np.where(values[:, None] == 1, ones, among - ones), among

    def row(self, i: int) -> NDArray[np.int32]:
        """Return the pair counts of feature i with every j > i, shape (n_classes, n_features - 1 - i)."""
        if isinstance(self.pairs, SparsePairs):
            row = np.zeros((self.n_classes, self.n_features - 1 - i), dtype=np.int32)
            held = slice(*self.pairs.indptr[i : i + 2])
            row[:, self.pairs.indices[held] - i - 1] = self.pairs.values[held].T
            return row
        start = i * self.n_features - i * (i + 1) // 2
        return self.pairs[:, start : start + self.n_features - 1 - i]

    def to_dense(self) -> PairCounts:
        """Return the counts with all pairs, including pairs that never occur."""
        if not isinstance(self.pairs, SparsePairs):
            return self
        pairs = np.zeros((self.n_classes, _all_pairs(self.n_features)), dtype=np.int32)
        self.pairs.add_to(pairs)
        return PairCounts(self.class_count, self.ones, pairs)

    def add(self, other: PairCounts, *, storage: str | None = None) -> PairCounts:
        """Return the counts over both sets of rows.

        Parameters
        ----------
        other : PairCounts
            Counts of other rows of the same features and classes.
        storage : {"dense", "sparse"} or None
            How the sum of two sparse counts is stored. With None, it becomes dense once so many pairs co-occur that
            this is cheaper. The numbers are the same.
        """
        self.require_addable(other)
        return PairCounts(
            self.class_count + other.class_count, self.ones + other.ones, _sum_of_pairs(self, other, storage)
        )

    def __add__(self, other: PairCounts) -> PairCounts:
        return self.add(other) if isinstance(other, PairCounts) else NotImplemented

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def count_ones(rows: BinaryRows, codes: NDArray[np.int64], n_classes: int) -> PairCounts:
    """Count each class's rows and their ones, without pairs. `codes` contains each row's class."""
    check_total(rows.total)
    rows = rows.sparse()
    assert rows.indices is not None
    cells = np.repeat(codes, rows.n_ones) * rows.n_features + rows.indices
    weights = None if rows.weights is None else np.repeat(rows.weights, rows.n_ones)
    ones = np.bincount(cells, weights, minlength=n_classes * rows.n_features).reshape(n_classes, -1)
    return PairCounts(
        class_count=rows.class_count(codes, n_classes),
        ones=np.ascontiguousarray(ones, dtype=np.int32),
        pairs=np.zeros((n_classes, 0), dtype=np.int32),
    )


def count_pairs(
    rows: BinaryRows,
    codes: NDArray[np.int64],
    n_classes: int,
    *,
    storage: str | None = None,
    by_row: bool | None = None,
    block_rows: int = _BLOCK_ROWS,
    n_jobs: int | None = None,
) -> PairCounts:
    """Count each class's rows, their ones and their pairs of ones.

    Parameters
    ----------
    rows : BinaryRows
        The rows to count, each by its weight.
    codes : array of shape (n_rows,)
        Each row's class, from 0 to `n_classes` - 1.
    n_classes : int
        The number of classes; some may have no rows.
    storage : {"dense", "sparse"} or None
        How the pairs are kept: all of them, or those that co-occur. None chooses the cheaper way. The numbers are the
        same.
    by_row : bool or None
        Whether to count dense pairs by walking through the ones of each sparse row rather than through packed words.
        None chooses the cheaper way. Rows that are dense arrays are always packed.
    block_rows : int
        How many packed rows are counted at a time, a multiple of 64.
    n_jobs : int or None
        The number of threads, as in joblib; they share the counting of pairs that co-occur. The numbers are the same.
    """
    check_total(rows.total)
    class_count = rows.class_count(codes, n_classes)
    if storage == "sparse" or (storage is None and _pairs_may_be_few(rows, n_classes)):
        counts = _count_cooccurring(rows, codes, class_count, may_refuse=storage is None, n_jobs=n_jobs)
        if counts is not None:
            return counts
    ones = np.zeros((n_classes, rows.n_features), dtype=np.int32)
    members = np.split(
        np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes, minlength=n_classes))[:-1]
    )
    if by_row is None:
        by_row = _rows_are_cheaper(rows)
    if by_row and (rows.indptr is not None or rows.weights is not None):
        return PairCounts(class_count, ones, _count_by_row(rows.sparse(), members, ones))
    return PairCounts(class_count, ones, _count_by_word(rows, members, ones, block_rows))


def _count_cooccurring(
    rows: BinaryRows,
    codes: NDArray[np.int64],
    class_count: NDArray[np.int64],
    *,
    may_refuse: bool,
    n_jobs: int | None,
) -> PairCounts | None:
    """Return the pairs that co-occur, or None if there are so many that counting all pairs costs less."""
    table, n_classes = rows.sparse(), len(class_count)
    assert table.indptr is not None and table.indices is not None
    found = _kernel.Cooccurrences(
        table.indptr,
        table.indices,
        np.ascontiguousarray(codes, dtype=np.int64),
        table.n_features,
        n_classes,
        table.weights,
        parts := number_of_parts(n_jobs),
    )
    if may_refuse and not _few_pairs_occur(found, table.n_features, n_classes):
        return None
    for step in found.count, found.join:
        run_ordered(step, [(part,) for part in range(parts)], n_jobs)
    ones, indptr, indices, values = found.take()
    return PairCounts(class_count, ones, SparsePairs(indptr, indices, values))


def _count_by_row(
    rows: BinaryRows, members: list[NDArray[np.intp]], ones: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return all pairs from the ones in each sparse row, and add to `ones`. `members` contains each class's rows."""
    assert rows.indptr is not None and rows.indices is not None
    pairs = np.zeros((len(members), _all_pairs(rows.n_features)), dtype=np.int32)
    for c, own in enumerate(members):
        weights = None if rows.weights is None else rows.weights[own]
        _kernel.count_sparse(rows.indptr, rows.indices, own, ones[c], pairs[c], weights)
    return pairs


def _count_by_word(
    rows: BinaryRows, members: list[NDArray[np.intp]], ones: NDArray[np.int32], block_rows: int
) -> NDArray[np.int32]:
    """Return all pairs from words of 64 packed rows, and add to `ones`. `members` contains each class's rows.

    Weights are counted bit by bit from the highest: the counts are doubled, then the rows whose weight has the next bit
    are added.
    """
    pairs = np.zeros((len(members), _all_pairs(rows.n_features)), dtype=np.int32)
    for c, own in enumerate(members):
        for bit, chosen in enumerate(_bits_of_weights(rows, own)):
            if bit:
                ones[c] *= 2
                pairs[c] *= 2
            for start in range(0, chosen.size, block_rows):
                words = rows.words(chosen[start : start + block_rows])
                _kernel.count_words(words, ones[c], pairs[c])
    return pairs


def _bits_of_weights(rows: BinaryRows, own: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return, for each weight bit from the highest down, the rows in `own` that have it.

    Without weights, return all rows.
    """
    if rows.weights is None:
        return [own]
    weights = rows.weights[own]
    n_bits = int(weights.max(initial=0)).bit_length()
    return [own[(weights >> bit & 1) == 1] for bit in reversed(range(n_bits))]


def _rows_are_cheaper(rows: BinaryRows) -> bool:
    """Return whether to count by the ones in each row instead of by packed words."""
    if rows.indptr is None and rows.weights is None:
        return False
    if rows.total > _PACKED_UP_TO:
        return True
    ones = rows.n_ones.astype(np.float64)
    # A packed row is counted once for each bit of its weight.
    n_rows = rows.n_rows if rows.weights is None else int(np.unpackbits(rows.weights.view(np.uint8)).sum())
    return float(_SPARSE_PAIR_COST * (ones @ ones)) < rows.n_features**2 * (n_rows / 64)


def _pairs_may_be_few(rows: BinaryRows, n_classes: int) -> bool:
    """Return whether to check how many pairs co-occur. Pairs are left out only if there are many features."""
    d = rows.n_features
    return d >= _SPARSE_FROM_FEATURES and (
        rows.dense is None or bool(rows.dense.mean() <= _sparse_up_to(d, n_classes))
    )


def _few_pairs_occur(found: _kernel.Cooccurrences, n_features: int, n_classes: int) -> bool:
    """Return whether to keep only the pairs that co-occur, estimated from a sample of evenly spaced features."""
    step = -(-n_features // _SAMPLED_FEATURES)
    n_sampled = -(-n_features // step)
    limit = _sparse_up_to(n_features, n_classes) * n_sampled * n_features
    return found.partners_of_some(step) <= limit


def _sparse_up_to(n_features: int, n_classes: int) -> float:
    """Return the largest share of co-occurring pairs at which only these pairs are kept."""
    much = _all_pairs(n_features) * (4 * n_classes + 8) > _MUCH_MEMORY
    return _SMALLER_UP_TO_SHARE if much else _SPARSE_UP_TO_SHARE


def _sum_of_pairs(a: PairCounts, b: PairCounts, storage: str | None) -> NDArray[np.int32] | SparsePairs:
    if isinstance(a.pairs, SparsePairs) and isinstance(b.pairs, SparsePairs):
        both = SparsePairs(*_kernel.add_cooccurrences(a.kernel, b.kernel))
        full = both.indices.size > _sparse_up_to(a.n_features, a.n_classes) * _all_pairs(a.n_features)
        if storage == "sparse" or (storage is None and not full):
            return both
        return PairCounts(a.class_count, a.ones, both).to_dense().pairs
    if isinstance(a.pairs, SparsePairs):
        a, b = b, a
    assert not isinstance(a.pairs, SparsePairs)
    if not isinstance(b.pairs, SparsePairs):
        return a.pairs + b.pairs
    pairs = a.pairs.copy()
    b.pairs.add_to(pairs)
    return pairs


def _all_pairs(n_features: int) -> int:
    return n_features * (n_features - 1) // 2


def check_total(n_rows: int) -> None:
    """Raise an error if there are too many rows to count."""
    if n_rows > np.iinfo(np.int32).max:
        raise ValueError(
            f"there are {n_rows:,} rows, but hietan can count at most {np.iinfo(np.int32).max:,}; use fewer "
            "rows"
        )
