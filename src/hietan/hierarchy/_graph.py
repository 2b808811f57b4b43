"""Directed acyclic graphs as index arrays: levels, cycles, closure and restriction.

Everything works a level of the graph at a time, so the number of numpy calls grows with the graph's depth and
not with its size; nothing much larger than the answer is ever built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Lists of indices, one after the other: row v is `indices[indptr[v] : indptr[v + 1]]`, sorted."""

    indptr: Index
    indices: NDArray[np.int32]

    def __getitem__(self, v: int) -> NDArray[np.int32]:
        return self.indices[self.indptr[v] : self.indptr[v + 1]]

    @property
    def lengths(self) -> Index:
        return np.diff(self.indptr)


def rows_from_pairs(row: Index, column: Index, n: int) -> Rows:
    """Collect pairs into `n` sorted rows; a repeated pair counts once."""
    pairs = distinct(row * n + column)
    row, column = np.divmod(pairs, max(n, 1))
    return Rows(np.searchsorted(row, np.arange(n + 1)), column.astype(np.int32))


def transpose(rows: Rows) -> Rows:
    turned = as_matrix(rows).tocsc()
    return Rows(turned.indptr.astype(np.int64), turned.indices.astype(np.int32))


def as_matrix(rows: Rows) -> sp.csr_array[np.uint8]:
    """Square, with a 1 for each index; its arrays are read-only."""
    n, size = len(rows.indptr) - 1, len(rows.indices)
    index: Any = np.int32 if size < 2**31 else np.int64
    parts: Any = (
        np.ones(size, dtype=np.uint8),
        rows.indices.astype(index, copy=False),
        rows.indptr.astype(index),
    )
    matrix: sp.csr_array[np.uint8] = sp.csr_array(parts, shape=(n, n))
    matrix.has_canonical_format = True
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def walk(rows: Rows, start: int) -> set[int]:
    """Everything that the rows lead to from `start`, step by step."""
    seen, waiting = set[int](), [start]
    while waiting:
        fresh = set(rows[waiting.pop()].tolist()) - seen
        seen |= fresh
        waiting += fresh
    return seen


def distinct(values: Index) -> Index:
    """Sorted, each once: np.unique, without its hashing, which makes the closure take twice as long."""
    values = np.sort(values)
    return values[np.diff(values, prepend=-1) > 0]


def spans(start: Index, length: Index) -> Index:
    """The positions start[0], start[0] + 1, ... of each span, all spans in one array."""
    skipped = np.cumsum(length) - length
    positions: Index = np.repeat(start - skipped, length)
    positions += np.arange(len(positions))
    return positions


def gather(rows: Rows, which: NDArray[np.integer]) -> Index:
    """The chosen rows, one after the other."""
    start = rows.indptr[which]
    return rows.indices[spans(start, rows.indptr[which + 1] - start)].astype(np.int64)


def longest_paths(parents: Rows, children: Rows) -> Index:
    """Length of the longest path from a root to each vertex; -1 on a cycle and below one."""
    depth = np.full(len(parents.indptr) - 1, -1)
    waiting = parents.lengths
    level, ready = 0, np.flatnonzero(waiting == 0)
    while ready.size:
        depth[ready] = level
        reached, times = np.unique(gather(children, ready), return_counts=True)
        waiting[reached] -= times
        level, ready = level + 1, reached[waiting[reached] == 0]
    return depth


def find_cycle(parents: Rows, depth: Index) -> list[int]:
    """The vertices of one cycle, parent before child, given the answer of `longest_paths`."""
    v, path = int(np.flatnonzero(depth < 0)[0]), dict[int, None]()
    while v not in path:  # whoever has no depth has a parent that has none
        path[v] = None
        v = next(int(p) for p in parents[v] if depth[p] < 0)
    walked = list(path)
    cycle = walked[walked.index(v) :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def ancestors(parents: Rows, depth: Index) -> Rows:
    """All proper ancestors of each vertex."""
    everything = np.ones(len(depth), dtype=bool)
    return _union_over_parents(parents, depth, everything, taken=everything, passed=everything)


def nearest_ancestors(parents: Rows, depth: Index, kept: NDArray[np.bool_]) -> Rows:
    """The kept ancestors of each kept vertex that a path through vertices not kept leads to.

    The vertices that are kept, with these as their parents, have the ancestor relation of the whole graph.
    """
    concerned = np.zeros(len(depth), dtype=bool)
    fresh = np.flatnonzero(kept)
    while fresh.size:
        concerned[fresh] = True
        above = distinct(gather(parents, fresh))
        fresh = above[~concerned[above]]
    return _union_over_parents(parents, depth, concerned, taken=kept, passed=~kept)


def _union_over_parents(
    parents: Rows,
    depth: Index,
    concerned: NDArray[np.bool_],
    *,
    taken: NDArray[np.bool_],
    passed: NDArray[np.bool_],
) -> Rows:
    """row(v) = union over the parents p of v of {p}, if p is taken, and row(p), if p is passed through."""
    n = len(depth)
    start, length = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    stored, used = np.empty(4 * n, dtype=np.int32), 0
    by_level = np.flatnonzero(concerned & (depth > 0))
    by_level = by_level[np.argsort(depth[by_level], kind="stable")]
    ends = np.flatnonzero(np.diff(depth[by_level], append=-1)) + 1
    for vertices in np.split(by_level, ends[:-1]):
        above = gather(parents, vertices)
        owner = np.repeat(np.arange(len(vertices)), parents.indptr[vertices + 1] - parents.indptr[vertices])
        taken_from, passed_from = taken[above], passed[above]
        through = above[passed_from]
        near = owner[taken_from] * n + above[taken_from]
        far = np.repeat(owner[passed_from] * n, length[through])
        far += stored[spans(start[through], length[through])]
        pairs = distinct(np.concatenate([near, far]))
        row = pairs // max(n, 1)
        while used + len(pairs) > len(stored):
            stored = np.concatenate([stored, np.empty_like(stored)])
        stored[used : used + len(pairs)] = pairs - row * n
        length[vertices] = np.bincount(row, minlength=len(vertices))
        start[vertices] = used + np.cumsum(length[vertices]) - length[vertices]
        used += len(pairs)
    return Rows(np.concatenate([[0], np.cumsum(length)]), stored[spans(start, length)])
