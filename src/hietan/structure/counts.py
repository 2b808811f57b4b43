"""The statistics that every method shares: how often features are 1, alone and in pairs, in each class."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan import _kernel
from hietan.structure.rows import BinaryRows

# Packed rows of a class are counted in blocks of this many: the words of a block stay in the cache.
_BLOCK_ROWS = 4096
# A pair of ones in a sparse row costs about as much as this many words of 64 packed rows (measured).
_SPARSE_PAIR_COST = 2.5
# Pairs that co-occur are kept alone where there are at least so many features and, judged by some of them, at most
# such a share co-occurs (quicker at 0.11 and below, slower at 0.36, where measured). Where all pairs would take
# much memory, with their keys, the share at which they take less decides. "dense" or "sparse" instead: always that.
_SPARSE_FROM_FEATURES = 4096
_SPARSE_UP_TO_SHARE = 0.2
_MUCH_MEMORY, _SMALLER_UP_TO_SHARE = 4e9, 0.7
_SAMPLED_FEATURES = 128
_STORAGE: str | None = None


@dataclass(frozen=True, eq=False)
class SparsePairs:
    """The pairs of ones that some row has: row i of an upper triangle lists the j > i.

    `values[k, c]` is how many rows of class c have both i and `indices[k]`, for k from `indptr[i]` to
    `indptr[i + 1]`; indices rise within a row.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.int32]

    @property
    def n_features(self) -> int:
        return self.indptr.size - 1

    def add_to(self, pairs: NDArray[np.int32]) -> None:
        """Add the counts to those of all pairs."""
        d = self.n_features
        i = np.repeat(np.arange(d), np.diff(self.indptr))
        pairs[:, i * d - i * (i + 1) // 2 + self.indices - i - 1] += self.values.T

    def both(self, i: int, j: int) -> NDArray[np.int32]:
        row = slice(*self.indptr[i : i + 2])
        k = row.start + int(np.searchsorted(self.indices[row], j))
        found = k < row.stop and self.indices[k] == j
        return self.values[k] if found else np.zeros(self.values.shape[1], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Per-class counts of ones and of pairs of ones; all other cells of the 2 x 2 tables follow from them.

    `class_count[c]` is the number of rows of class c, `ones[c, i]` how many of them have x_i = 1 and `pairs[c]` how
    many have x_i = x_j = 1, for i < j row after row of the upper triangle (or nothing, where pairs were not asked
    for). Wide, sparse data have `SparsePairs` instead: the numbers are the same. Counts are sums over rows: those of
    two parts of the data add up to those of the whole.
    """

    class_count: NDArray[np.int64]
    ones: NDArray[np.int32]
    pairs: NDArray[np.int32] | SparsePairs

    @property
    def n_classes(self) -> int:
        return int(self.ones.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.ones.shape[1])

    @property
    def n_rows(self) -> int:
        return int(self.class_count.sum())

    @property
    def is_dense(self) -> bool:
        """Whether all pairs are kept."""
        return not isinstance(self.pairs, SparsePairs)

    @cached_property
    def kernel(self) -> _kernel.Counts:
        """The same, for the kernel."""
        if not isinstance(self.pairs, SparsePairs):
            return _kernel.Counts(self.class_count, self.ones, self.pairs)
        sparse = self.pairs
        return _kernel.Counts(self.class_count, self.ones, sparse.values, sparse.indptr, sparse.indices)

    def both(self, i: int, j: int) -> NDArray[np.int32]:
        """How many rows of each class have x_i = x_j = 1, for two different features."""
        i, j = min(i, j), max(i, j)
        if isinstance(self.pairs, SparsePairs):
            return self.pairs.both(i, j)
        return self.pairs[:, i * self.n_features - i * (i + 1) // 2 + j - i - 1]

    def row(self, i: int) -> NDArray[np.int32]:
        """The pairs of feature i with every j > i, shape (n_classes, n_features - 1 - i)."""
        if isinstance(self.pairs, SparsePairs):
            row = np.zeros((self.n_classes, self.n_features - 1 - i), dtype=np.int32)
            held = slice(*self.pairs.indptr[i : i + 2])
            row[:, self.pairs.indices[held] - i - 1] = self.pairs.values[held].T
            return row
        start = i * self.n_features - i * (i + 1) // 2
        return self.pairs[:, start : start + self.n_features - 1 - i]

    def to_dense(self) -> PairCounts:
        """The same counts with those of all pairs."""
        if not isinstance(self.pairs, SparsePairs):
            return self
        pairs = np.zeros((self.n_classes, _all_pairs(self.n_features)), dtype=np.int32)
        self.pairs.add_to(pairs)
        return PairCounts(self.class_count, self.ones, pairs)

    def __add__(self, other: PairCounts) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        if self.ones.shape != other.ones.shape:
            raise ValueError(
                f"counts of {self.n_classes} classes and {self.n_features} features do not add to counts of "
                f"{other.n_classes} classes and {other.n_features} features"
            )
        _check_total(self.n_rows + other.n_rows)
        return PairCounts(
            self.class_count + other.class_count, self.ones + other.ones, _sum_of_pairs(self, other)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def count_ones(rows: BinaryRows, codes: NDArray[np.int64], n_classes: int) -> PairCounts:
    """Count the rows of each class and their ones, without the pairs; `codes` says which class each row has."""
    _check_total(rows.n_rows)
    if rows.dense is not None:
        ones = np.stack([rows.dense[codes == c].sum(axis=0, dtype=np.int32) for c in range(n_classes)])
    else:
        assert rows.indptr is not None and rows.indices is not None
        cells = np.repeat(codes, np.diff(rows.indptr)) * rows.n_features + rows.indices
        ones = np.bincount(cells, minlength=n_classes * rows.n_features).reshape(n_classes, -1)
    return PairCounts(
        class_count=np.bincount(codes, minlength=n_classes).astype(np.int64),
        ones=np.ascontiguousarray(ones, dtype=np.int32),
        pairs=np.zeros((n_classes, 0), dtype=np.int32),
    )


def count_pairs(rows: BinaryRows, codes: NDArray[np.int64], n_classes: int) -> PairCounts:
    """Count the rows of each class, their ones and their pairs of ones; the storage is the one that costs less."""
    _check_total(rows.n_rows)
    class_count = np.bincount(codes, minlength=n_classes).astype(np.int64)
    ones = np.zeros((n_classes, rows.n_features), dtype=np.int32)
    if _few_pairs_occur(rows, n_classes):
        table = rows.sparse()
        assert table.indptr is not None and table.indices is not None
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        found = _kernel.count_cooccurrences(table.indptr, table.indices, codes, ones)
        return PairCounts(class_count, ones, SparsePairs(*found))
    counts = PairCounts(class_count, ones, _count_all_pairs(rows, codes, class_count, ones))
    return counts


def _count_all_pairs(
    rows: BinaryRows, codes: NDArray[np.int64], class_count: NDArray[np.int64], ones: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The pairs of each class; adds to `ones`."""
    pairs = np.zeros((class_count.size, _all_pairs(rows.n_features)), dtype=np.int32)
    by_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(class_count)[:-1])
    by_row = _rows_are_cheaper(rows)
    for c, members in enumerate(by_class):
        if by_row:
            assert rows.indptr is not None and rows.indices is not None
            _kernel.count_sparse(rows.indptr, rows.indices, members, ones[c], pairs[c])
            continue
        for start in range(0, members.size, _BLOCK_ROWS):
            words = rows.words(members[start : start + _BLOCK_ROWS])
            _kernel.count_words(words, ones[c], pairs[c])
    return pairs


def _rows_are_cheaper(rows: BinaryRows) -> bool:
    """Whether to go through the ones of each row rather than through packed words."""
    if rows.indptr is None:
        return False
    ones = np.diff(rows.indptr).astype(np.float64)
    return float(_SPARSE_PAIR_COST * (ones @ ones)) < rows.n_features**2 * (rows.n_rows / 64)


def _few_pairs_occur(rows: BinaryRows, n_classes: int) -> bool:
    """Whether to keep the pairs that co-occur alone: judged by features at equal distances."""
    d = rows.n_features
    if _STORAGE is not None:
        return _STORAGE == "sparse"
    limit = _sparse_up_to(d, n_classes)
    if d < _SPARSE_FROM_FEATURES or (rows.dense is not None and rows.dense.mean() > limit):
        return False
    table = rows.sparse()
    assert table.indptr is not None and table.indices is not None
    ones = np.ones(table.indices.size, dtype=np.int32)
    X = sp.csr_array((ones, table.indices, table.indptr), shape=table.shape)
    some = X[:, :: -(-d // _SAMPLED_FEATURES)]
    return bool((some.T @ X).nnz <= limit * some.shape[1] * d)


def _sparse_up_to(n_features: int, n_classes: int) -> float:
    """The share of co-occurring pairs up to which they are kept alone."""
    much = _all_pairs(n_features) * (4 * n_classes + 8) > _MUCH_MEMORY
    return _SMALLER_UP_TO_SHARE if much else _SPARSE_UP_TO_SHARE


def _sum_of_pairs(a: PairCounts, b: PairCounts) -> NDArray[np.int32] | SparsePairs:
    if isinstance(a.pairs, SparsePairs) and isinstance(b.pairs, SparsePairs):
        both = SparsePairs(*_kernel.add_cooccurrences(a.kernel, b.kernel))
        full = both.indices.size > _sparse_up_to(a.n_features, a.n_classes) * _all_pairs(a.n_features)
        if not full or _STORAGE == "sparse":
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


def _check_total(n_rows: int) -> None:
    if n_rows > np.iinfo(np.int32).max:
        raise ValueError(f"{n_rows:,} rows are more than the counts can hold ({np.iinfo(np.int32).max:,})")
