"""The statistics that every method shares: how often features are 1, alone and in pairs, in each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan.structure.rows import BinaryRows

# Packed rows of a class are counted in blocks of this many: the words of a block stay in the cache.
_BLOCK_ROWS = 4096
# A pair of ones in a sparse row costs about as much as this many words of 64 packed rows (measured).
_SPARSE_PAIR_COST = 2.5


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Per-class counts of ones and of pairs of ones; all other cells of the 2 x 2 tables follow from them.

    `class_count[c]` is the number of rows of class c, `ones[c, i]` how many of them have x_i = 1 and `pairs[c]` how
    many have x_i = x_j = 1, for i < j row after row of the upper triangle (or nothing, where pairs were not asked
    for). Counts are sums over rows: those of two
    parts of the data add up to those of the whole.
    """

    class_count: NDArray[np.int64]
    ones: NDArray[np.int32]
    pairs: NDArray[np.int32]

    @property
    def n_classes(self) -> int:
        return int(self.ones.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.ones.shape[1])

    @property
    def n_rows(self) -> int:
        return int(self.class_count.sum())

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
            self.class_count + other.class_count, self.ones + other.ones, self.pairs + other.pairs
        )


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
    """Count the rows of each class, their ones and their pairs of ones."""
    _check_total(rows.n_rows)
    d = rows.n_features
    counts = PairCounts(
        class_count=np.bincount(codes, minlength=n_classes).astype(np.int64),
        ones=np.zeros((n_classes, d), dtype=np.int32),
        pairs=np.zeros((n_classes, d * (d - 1) // 2), dtype=np.int32),
    )
    by_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts.class_count)[:-1])
    sparse = _sparse_is_cheaper(rows)
    for c, members in enumerate(by_class):
        if sparse:
            assert rows.indptr is not None and rows.indices is not None
            _kernel.count_sparse(rows.indptr, rows.indices, members, counts.ones[c], counts.pairs[c])
            continue
        for start in range(0, members.size, _BLOCK_ROWS):
            words = rows.words(members[start : start + _BLOCK_ROWS])
            _kernel.count_words(words, counts.ones[c], counts.pairs[c])
    return counts


def _sparse_is_cheaper(rows: BinaryRows) -> bool:
    if rows.indptr is None:
        return False
    ones = np.diff(rows.indptr).astype(np.float64)
    return float(_SPARSE_PAIR_COST * (ones @ ones)) < rows.n_features**2 * (rows.n_rows / 64)


def _check_total(n_rows: int) -> None:
    if n_rows > np.iinfo(np.int32).max:
        raise ValueError(f"{n_rows:,} rows are more than the counts can hold ({np.iinfo(np.int32).max:,})")
