"""Counts of identical rows, and of identical rows with different classes, compared with chance."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array


@dataclass(frozen=True)
class EqualRows:
    """Counts of identical rows, and of pairs of identical rows with different classes.

    Attributes
    ----------
    rows : int
        The number of rows with at least one identical row.
    pairs, contradictions : int
        The number of pairs of identical rows, and how many of these pairs have different classes.
    expected : float
        The number of contradictions to expect if classes were random: for two classes, pairs * 2 p (1 - p).
    deviation : float
        The standard deviation of that number.

    Examples
    --------
    >>> from hietan.datasets import load_ageing_genes
    >>> print(load_ageing_genes("fly", "CC").equal_rows)
    54 rows have an equal: 101 pairs, 29 with different classes (expected by chance: 47.5)
    """

    rows: int
    pairs: int
    contradictions: int
    expected: float
    deviation: float

    @property
    def warning(self) -> str:
        """A warning if far more identical rows have different classes than expected by chance, otherwise "".

        A warning needs at least 10 contradictions, so that single mislabelled rows do not matter. The number must
        also be more than 3 standard deviations above chance, which happens in about 1 of 1,000 datasets with random
        classes.
        """
        if self.contradictions < 10 or self.contradictions <= self.expected + 3 * self.deviation:
            return ""
        return (
            f"{self.contradictions:,} of {self.pairs:,} pairs of equal rows have different classes; "
            f"{self.expected:,.1f} would be expected by chance. Perhaps equal rows of one class were merged. "
            "Methods that memorise rows then look worse than they are; compare methods with hietan study "
            "--equal-rows not-tested"
        )

    def __str__(self) -> str:
        if not self.pairs:
            return "no rows are equal"
        classes = (
            f", {self.contradictions:,} with different classes (expected by chance: {self.expected:,.1f})"
        )
        pairs = f"{self.pairs:,} pair{'s' * (self.pairs != 1)}"
        return f"{self.rows:,} rows have an equal: {pairs}{classes if self.expected else ''}"


def count_equal_rows(X: Any, y: NDArray[Any]) -> EqualRows:
    """Count identical rows, and pairs of identical rows with different classes.

    >>> found = count_equal_rows(np.array([[1, 1], [1, 1], [0, 0], [1, 1]]), np.array([0, 1, 0, 0]))
    >>> found.rows, found.pairs, found.contradictions, found.expected
    (3, 3, 2, 1.125)
    """
    groups, (_, classes) = row_groups(X), np.unique(y, return_inverse=True)
    sizes = np.bincount(groups).astype(np.float64)
    shares = np.bincount(classes) / max(1, len(classes))
    alike = np.unique(groups * len(shares) + classes, return_counts=True)[1]  # rows of a group and class
    chance = 1 - (shares**2).sum()
    pairs = (sizes * (sizes - 1)).sum() / 2
    # Two pairs that share a row are not independent; a group of k rows has k (k - 1) (k - 2) such combinations.
    shared = (sizes * (sizes - 1) * (sizes - 2)).sum() * ((shares * (1 - shares) ** 2).sum() - chance**2)
    return EqualRows(
        rows=int(sizes[sizes > 1].sum()),
        pairs=int(pairs),
        contradictions=int(pairs - (alike * (alike - 1)).sum() / 2),
        expected=float(pairs * chance),
        deviation=float(np.sqrt(max(0.0, pairs * chance * (1 - chance) + shared))),
    )


def has_equal(X: Any) -> NDArray[np.bool_]:
    """Return whether each row is identical to another row."""
    groups = row_groups(X)
    return np.asarray(np.bincount(groups)[groups] > 1)


def row_groups(X: Any) -> NDArray[np.intp]:
    """Return a number for each row. Identical rows have the same number.

    >>> row_groups(np.array([[1, 0], [0, 1], [1, 0]])).tolist()
    [0, 1, 0]
    """
    number: dict[bytes, int] = {}
    table: Any = X
    return np.array(
        [number.setdefault(key, len(number)) for key in row_keys(csr_array(table))], dtype=np.intp
    )


def row_keys(X: csr_array | csc_array) -> list[bytes]:
    """Return one key per row, or per column of a csc_array. Identical rows have identical keys.

    The keys are 128-bit BLAKE2 hashes, because the rows themselves may take more memory than everything else
    together.
    """
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    indices = X.indices.astype("<i4", copy=False)  # of any type before: files contain the keys
    stored = [indices] if (X.data == 1).all() else [indices, X.data]
    parts = [np.ascontiguousarray(array).data for array in stored]
    return [
        blake2b(b"".join(part[a:b] for part in parts), digest_size=16).digest()
        for a, b in pairwise(X.indptr.tolist())
    ]
