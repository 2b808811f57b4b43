"""Counts by looking at every pair in every row, and the information computed from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """`class_rows[c]` rows of class c; `ones[c][i][j]` of them have x_i = x_j = 1."""

    class_rows: list[int]
    ones: list[list[list[int]]]
    n_features: int

    @property
    def n_classes(self) -> int:
        return len(self.class_rows)

    @property
    def n_rows(self) -> int:
        return sum(self.class_rows)

    def value(self, c: int, i: int, a: int) -> int:
        """Rows of class c with x_i = a."""
        with_one = self.ones[c][i][i]
        return with_one if a == 1 else self.class_rows[c] - with_one

    def pair(self, c: int, i: int, a: int, j: int, b: int) -> int:
        """Rows of class c with x_i = a and x_j = b."""
        if a == 1 and b == 1:
            return self.ones[c][i][j]
        if a == 1:
            return self.value(c, i, 1) - self.ones[c][i][j]
        return self.value(c, j, b) - self.pair(c, i, 1, j, b)

    def value_all(self, i: int, a: int) -> int:
        return sum(self.value(c, i, a) for c in range(self.n_classes))

    def pair_all(self, i: int, a: int, j: int, b: int) -> int:
        return sum(self.pair(c, i, a, j, b) for c in range(self.n_classes))


def count(X: Sequence[Sequence[int]], y: Sequence[int], n_classes: int, n_features: int) -> Counts:
    """Count by looking at every pair of features in every row."""
    class_rows = [0] * n_classes
    ones = [[[0] * n_features for _ in range(n_features)] for _ in range(n_classes)]
    for row, c in zip(X, y, strict=True):
        class_rows[c] += 1
        for i in range(n_features):
            for j in range(n_features):
                if row[i] == 1 and row[j] == 1:
                    ones[c][i][j] += 1
    return Counts(class_rows, ones, n_features)


def k_log_k(k: int) -> float:
    return 0.0 if k == 0 else float(k) * math.log(float(k))


def cmi(i: int, j: int, counts: Counts) -> float:
    """CMI(i, j | class), with the additions in the one order that is laid down."""
    L = k_log_k
    total = 0.0
    for c in range(counts.n_classes):
        n11, n10 = counts.pair(c, i, 1, j, 1), counts.pair(c, i, 1, j, 0)
        n01, n00 = counts.pair(c, i, 0, j, 1), counts.pair(c, i, 0, j, 0)
        gain = (L(n11) + L(n00)) + (L(n10) + L(n01)) + L(counts.class_rows[c])
        loss = (L(n11 + n10) + L(n01 + n00)) + (L(n11 + n01) + L(n10 + n00))
        total += gain - loss
    return total / counts.n_rows


def cmi_key(i: int, j: int, counts: Counts) -> int:
    """The integer by which edges are ranked: CMI in units of 1e-12, halves to even."""
    return round(cmi(i, j, counts) * 1e12)


def cmi_equation_1(i: int, j: int, counts: Counts) -> float:
    """Equation 1 as printed: sum of P(x_i, x_j, y) log [P(x_i, x_j | y) / (P(x_i | y) P(x_j | y))]."""
    terms = []
    for c in range(counts.n_classes):
        n_c = counts.class_rows[c]
        for a in (0, 1):
            for b in (0, 1):
                together = counts.pair(c, i, a, j, b)
                if together == 0:
                    continue
                p_i = counts.value(c, i, a) / n_c
                p_j = counts.value(c, j, b) / n_c
                terms.append(together / counts.n_rows * math.log(together / n_c / (p_i * p_j)))
    return math.fsum(terms)


def mi(i: int, counts: Counts) -> float:
    """Mutual information of feature i and the class."""
    L = k_log_k
    cells = 0.0
    classes = 0.0
    for c in range(counts.n_classes):
        cells += L(counts.value(c, i, 1)) + L(counts.value(c, i, 0))
        classes += L(counts.class_rows[c])
    values = L(counts.value_all(i, 1)) + L(counts.value_all(i, 0))
    return (cells + L(counts.n_rows) - values - classes) / counts.n_rows


def mi_key(i: int, counts: Counts) -> int:
    return round(mi(i, counts) * 1e12)


def mi_textbook(i: int, counts: Counts) -> float:
    """Sum of P(x_i, y) log [P(x_i, y) / (P(x_i) P(y))]."""
    n = counts.n_rows
    terms = []
    for c in range(counts.n_classes):
        for a in (0, 1):
            together = counts.value(c, i, a)
            if together:
                p = counts.value_all(i, a) / n * (counts.class_rows[c] / n)
                terms.append(together / n * math.log(together / n / p))
    return math.fsum(terms)
