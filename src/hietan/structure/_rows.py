"""Rows of binary features and their hierarchy, in the kernel's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan import _kernel
from hietan._runtime.parallel import number_of_parts, run_ordered
from hietan.hierarchy import Hierarchy


@dataclass(frozen=True)
class BinaryRows:
    """A table of zeros and ones.

    Dense tables use a byte per cell; sparse tables list the columns that are 1 in each row.

    `weights` is how often each row counts; None means once.
    """

    shape: tuple[int, int]
    dense: NDArray[np.uint8] | None = None
    indptr: NDArray[Any] | None = None
    indices: NDArray[Any] | None = None
    weights: NDArray[np.int32] | None = None

    @classmethod
    def from_matrix(
        cls, X: Any, threshold: float | None = 0.0, weights: NDArray[np.int32] | None = None
    ) -> BinaryRows:
        """Read a finite ndarray or CSR matrix.

        Values above `threshold` become 1; if it is None, X must contain only 0 and 1.

        The rows of a CSR matrix are sorted and have no duplicates, as in any matrix that was validated.
        """
        if sp.issparse(X):
            return cls._from_sparse(X, threshold, weights)
        ones = X == 1 if threshold is None else X > threshold
        if threshold is None and not (ones | (X == 0)).all():
            _refuse_value(X[~(ones | (X == 0))][0])
        return cls(X.shape, dense=np.ascontiguousarray(ones).view(np.uint8), weights=weights)

    @classmethod
    def _from_sparse(cls, X: Any, threshold: float | None, weights: NDArray[np.int32] | None) -> BinaryRows:
        if threshold is not None and threshold < 0:
            raise ValueError(
                f"binarize={threshold} would turn the zeros of a sparse X, which are not stored, into ones; "
                f"use a threshold of 0 or more, or pass a dense X"
            )
        ones = X.data == 1 if threshold is None else X.data > threshold
        if threshold is None and not (ones | (X.data == 0)).all():
            _refuse_value(X.data[~(ones | (X.data == 0))][0])
        indptr, indices = X.indptr, X.indices
        if not ones.all():
            indptr, indices = np.concatenate([[0], np.cumsum(ones)])[indptr], indices[ones]
        index = np.int32 if max(indices.size, X.shape[1]) <= np.iinfo(np.int32).max else np.int64
        return cls(
            X.shape,
            indptr=indptr.astype(index, copy=False),
            indices=indices.astype(index, copy=False),
            weights=weights,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.shape[1]

    @property
    def total(self) -> int:
        """The total count of all rows, which is their number or the sum of their weights."""
        return self.n_rows if self.weights is None else int(self.weights.sum(dtype=np.int64))

    @property
    def n_ones(self) -> NDArray[np.int64]:
        """The number of ones in each row."""
        if self.dense is not None:
            counted: NDArray[np.int64] = np.count_nonzero(self.dense, axis=1).astype(np.int64)
            return counted
        assert self.indptr is not None
        return np.diff(self.indptr).astype(np.int64)

    def class_count(self, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
        """Return each class's weighted number of rows. `codes` contains each row's class."""
        # As floats, the sums are exact: they are whole numbers far below 2^53.
        return np.bincount(codes, weights=self.weights, minlength=n_classes).astype(np.int64)

    def sparse(self) -> BinaryRows:
        """Return the same table as lists: for each row, the columns that are 1."""
        if self.dense is None:
            return self
        n_ones = self.n_ones
        cells = np.flatnonzero(self.dense.view(np.bool_))  # several times as fast as rows and columns at once
        columns = cells - np.repeat(np.arange(self.n_rows) * self.n_features, n_ones)
        index = np.int32 if max(cells.size, self.n_features) <= np.iinfo(np.int32).max else np.int64
        indptr = np.concatenate([[0], np.cumsum(n_ones)])
        return BinaryRows(
            self.shape, indptr=indptr.astype(index), indices=columns.astype(index), weights=self.weights
        )

    def to_csr(self) -> Any:
        """Return the table as a CSR array of floats, without weights."""
        table = self.sparse()
        assert table.indices is not None
        stored: Any = np.ones(len(table.indices)), table.indices, table.indptr
        return sp.csr_array(stored, shape=self.shape)

    def between(self, start: int, stop: int) -> BinaryRows:
        """Return the rows from start to stop, without copying their cells."""
        weights = None if self.weights is None else self.weights[start:stop]
        shape = stop - start, self.n_features
        if self.dense is not None:
            return BinaryRows(shape, dense=self.dense[start:stop], weights=weights)
        assert self.indptr is not None and self.indices is not None
        first, last = self.indptr[start], self.indptr[stop]
        return BinaryRows(
            shape,
            indptr=self.indptr[start : stop + 1] - first,
            indices=self.indices[first:last],
            weights=weights,
        )

    def words(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the given rows, packed 64 to a machine word per feature: shape (ceil(len(rows) / 64), n_features)."""
        if self.dense is not None:
            return _kernel.pack_dense(self.dense, rows)
        assert self.indptr is not None and self.indices is not None
        return _kernel.pack_sparse(self.indptr, self.indices, self.n_features, rows)


def _refuse_value(value: object) -> None:
    raise ValueError(
        f"binarize=None needs X to contain only 0 and 1, but X contains {value}; use binarize=0.0, which "
        "accepts any number"
    )


def unpack(words: NDArray[np.uint64], n_rows: int) -> NDArray[np.uint8]:
    """Return the packed rows with a byte per cell, shape (n_rows, n_features)."""
    lanes = np.unpackbits(words.astype("<u8")[..., None].view(np.uint8), axis=-1, bitorder="little")
    return np.ascontiguousarray(lanes.transpose(0, 2, 1).reshape(-1, words.shape[1])[:n_rows])


# ------------------------------------------------------------------------------------------ the hierarchy


def kernel_relations(hierarchy: Hierarchy) -> _kernel.Relations:
    """Return every feature's ancestors and descendants as index arrays."""
    return _kernel.Relations(
        *kernel_lists(hierarchy.ancestor_matrix), *kernel_lists(hierarchy.descendant_matrix)
    )


def kernel_lists(matrix: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a CSR matrix's `indptr` and `indices` in the kernel's form."""
    indptr, indices = (np.ascontiguousarray(part, dtype=np.int32) for part in (matrix.indptr, matrix.indices))
    return indptr, indices


Violation = tuple[int, str, str]  # row, parent, child: the child is 1 and the parent 0


VIOLATION_BLOCK = 4096
"""The number of rows to search together for a violation. Within a block, violations are found in edge order."""


def first_violation(
    rows: BinaryRows,
    hierarchy: Hierarchy,
    block_rows: int = VIOLATION_BLOCK,
    *,
    n_jobs: int | None = None,
) -> Violation | None:
    """Return the first feature that is present without one of its parents, or None if all rows agree with the
    hierarchy.

    Parameters
    ----------
    rows : BinaryRows
        The rows; only their ones are read.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    block_rows : int
        The number of rows that are searched together. In the first block with a violation, the result is the first
        edge that a row contradicts, and the first such row.
    n_jobs : int or None
        The number of threads, as in joblib.
    """
    if not hierarchy.adjacency.nnz:
        return None
    parents, at_once = kernel_lists(parent_lists(hierarchy)), number_of_parts(n_jobs)

    def find(start: int, stop: int) -> tuple[int, int, int] | None:
        part = rows.between(start, stop).sparse()
        assert part.indptr is not None and part.indices is not None
        return _kernel.find_violation(*parents, part.indptr, part.indices, np.arange(part.n_rows), block_rows)

    starts = range(0, rows.n_rows, block_rows)
    for k in range(0, len(starts), at_once):  # then it is seen whether the search is over
        calls = [(start, min(start + block_rows, rows.n_rows)) for start in starts[k : k + at_once]]
        for (start, _), found in zip(calls, run_ordered(find, calls, n_jobs), strict=True):
            if found is not None:
                row, parent, child = found
                return start + row, hierarchy.features[parent], hierarchy.features[child]
    return None


def parent_lists(hierarchy: Hierarchy) -> Any:
    """Return a CSR matrix whose row v has a 1 for each parent of v, in column order."""
    return hierarchy.adjacency.T.tocsr()
