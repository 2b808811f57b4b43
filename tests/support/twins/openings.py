"""HieBAN word by word: a feature is scored where all its parents are 1, by counts of the rows where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from support.twins.smoothing import odds_log_share, pseudo_count

Rows = Sequence[Sequence[int]]
Parents = Sequence[set[int]]


def direct_parents(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[set[int]]:
    """The features that lead to each feature by a path on which no other feature lies."""
    column = {name: v for v, name in enumerate(names)}
    found: list[set[int]] = [set() for _ in names]
    for name, v in column.items():
        waiting = [parent for parent, child in edges if child == name]
        while waiting:
            term = waiting.pop()
            if term in column:
                found[v].add(column[term])
            else:
                waiting += [parent for parent, child in edges if child == term]
    return found


def is_open(v: int, x: Sequence[int], parents: Parents) -> bool:
    return all(x[p] == 1 for p in parents[v])


@dataclass(frozen=True)
class OpenCounts:
    """`ones[c][v]` rows of class c have v open and 1, `open[c][v]` have v open, of `class_rows[c]`."""

    class_rows: list[int]
    ones: list[list[int]]
    open: list[list[int]]


def count_open(X: Rows, y: Sequence[int], n_classes: int, parents: Parents) -> OpenCounts:
    d = len(parents)
    ones, opened = ([[0] * d for _ in range(n_classes)] for _ in range(2))
    for x, c in zip(X, y, strict=True):
        for v in range(d):
            if is_open(v, x, parents):
                opened[c][v] += 1
                ones[c][v] += x[v]
    return OpenCounts([list(y).count(c) for c in range(n_classes)], ones, opened)


def impossible(counts: OpenCounts, parents: Parents) -> int:
    """What no rows can have: 1 a number, 2 that of features with the same parents, 3 that below a parent; 0 if none."""
    classes, d = range(len(counts.class_rows)), range(len(parents))
    cells = [(counts.class_rows[c], counts.ones[c], counts.open[c]) for c in classes]
    if not all(0 <= ones[v] <= opened[v] <= n for n, ones, opened in cells for v in d):
        return 1
    for n, _, opened in cells:
        if any(opened[v] != n for v in d if not parents[v]):
            return 2
        if any(opened[u] != opened[v] for u in d for v in d if parents[u] == parents[v]):
            return 2
    for n, ones, opened in cells:
        for v in d:
            if any(opened[v] > n - (opened[p] - ones[p]) for p in parents[v]):
                return 3
            if len(parents[v]) == 1 and any(opened[v] < ones[p] for p in parents[v]):
                return 3
    return 0


def log_theta(xv: int, c: int, v: int, counts: OpenCounts, alpha: float, smoothing: str) -> float:
    """ln P(x_v | v is open, c), from exact numbers: 1 - theta may be tiny, and a float would lose its digits."""
    hits, rows = counts.ones[c][v], counts.open[c][v]
    all_hits, all_rows = sum(n[v] for n in counts.ones), sum(m[v] for m in counts.open)
    if not xv:
        hits, all_hits = rows - hits, all_rows - all_hits
    if smoothing == "odds":
        return odds_log_share(hits, rows, all_hits, all_rows, alpha)
    q = Fraction(1, 2)
    if smoothing == "pooled":
        q = (all_hits + q) / (all_rows + 1)
    pseudo = 2 * Fraction(alpha)
    return math.log((hits + pseudo * q) / (rows + pseudo))


def ban_joint_log(
    x: Sequence[int],
    counts: OpenCounts,
    parents: Parents,
    alpha: float,
    smoothing: str,
    class_prior: Sequence[float] | None = None,
) -> list[float]:
    """ln P(c) + the sum over the open features, for each class."""
    n, n_classes = sum(counts.class_rows), len(counts.class_rows)
    joint = []
    for c in range(n_classes):
        pseudo = pseudo_count(alpha, smoothing)
        prior = (counts.class_rows[c] + pseudo) / (n + n_classes * pseudo)
        terms = [math.log(prior if class_prior is None else class_prior[c])]
        for v in range(len(parents)):
            if is_open(v, x, parents):
                terms.append(log_theta(x[v], c, v, counts, alpha, smoothing))
        joint.append(math.fsum(terms))
    return joint


def ban_leave_one_out(
    X: Rows,
    y: Sequence[int],
    n_classes: int,
    parents: Parents,
    alpha: float,
    smoothing: str,
    class_prior: Sequence[float] | None = None,
) -> list[list[float]]:
    """The joint log-probabilities of each row, counted again without it."""
    joint = []
    for i, x in enumerate(X):
        others = [k for k in range(len(X)) if k != i]
        counts = count_open([X[k] for k in others], [y[k] for k in others], n_classes, parents)
        joint.append(ban_joint_log(x, counts, parents, alpha, smoothing, class_prior))
    return joint
