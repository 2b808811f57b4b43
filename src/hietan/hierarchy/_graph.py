"""Directed acyclic graphs as index arrays: levels, cycles, closure and restriction.

Most functions work on one level of the graph at a time, so the number of numpy calls grows with the graph's depth,
not with its size. Nothing much larger than the answer is ever built.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan import _kernel

Index = NDArray[np.int64]

_ONES_AT_ONCE = 1 << 23  # of a table that is closed


@dataclass(frozen=True, slots=True)
class IndexLists:
    """A sorted list of indices for each vertex. The list for v is `indices[indptr[v] : indptr[v + 1]]`."""

    indptr: Index
    indices: NDArray[np.int32]

    def __getitem__(self, v: int) -> NDArray[np.int32]:
        """Return a vertex's list."""
        return self.indices[self.indptr[v] : self.indptr[v + 1]]

    @property
    def lengths(self) -> Index:
        """The length of each vertex's list."""
        return np.diff(self.indptr)


def transpose(lists: IndexLists) -> IndexLists:
    """Return, for each vertex, the vertices whose lists contain that vertex.

    Parents become children, and ancestors descendants.
    """
    turned = as_matrix(lists).tocsc()
    return IndexLists(turned.indptr.astype(np.int64), turned.indices.astype(np.int32))


def as_matrix(lists: IndexLists) -> sp.csr_array[np.uint8]:
    """Return a square matrix whose row v has a 1 for each index in v's list. The matrix is read-only."""
    n, size = len(lists.indptr) - 1, len(lists.indices)
    index: Any = np.int32 if size < 2**31 else np.int64
    parts: Any = (
        np.ones(size, dtype=np.uint8),
        lists.indices.astype(index, copy=False),
        lists.indptr.astype(index),
    )
    matrix: sp.csr_array[np.uint8] = sp.csr_array(parts, shape=(n, n))
    matrix.has_canonical_format = True
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def reachable(lists: IndexLists, start: int) -> set[int]:
    """Return all vertices that can be reached from `start` by following the lists."""
    seen, waiting = set[int](), [start]
    while waiting:
        fresh = set(lists[waiting.pop()].tolist()) - seen
        seen |= fresh
        waiting += fresh
    return seen


def expand_ranges(start: Index, length: Index) -> Index:
    """Return the positions in all ranges, one range after another, in one array.

    >>> expand_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    skipped = np.cumsum(length) - length
    positions: Index = np.repeat(start - skipped, length)
    positions += np.arange(len(positions))
    return positions


def find_levels(
    parent: NDArray[np.integer], child: NDArray[np.integer], n: int
) -> tuple[IndexLists, IndexLists, Index]:
    """Return the children, parents and levels of `n` vertices, given the edges. Repeated edges count once.

    The level of a vertex is the length of the longest path to it from a root: -1 on a cycle and below one.
    """
    above, below = np.divmod(np.unique(parent.astype(np.int64) * n + child), max(n, 1))
    found = _kernel.find_levels(above, below, n)
    assert found is not None  # the edges are sorted
    child_indptr, children, parent_indptr, parents, depth = found
    return IndexLists(child_indptr, children), IndexLists(parent_indptr, parents), depth


def find_cycle(parents: IndexLists, depth: Index) -> list[int]:
    """Return the vertices of a cycle, parent before child, given the levels from `find_levels`."""
    v, path = int(np.flatnonzero(depth < 0)[0]), dict[int, None]()
    while v not in path:  # every vertex without a depth has a parent without one
        path[v] = None
        v = next(int(p) for p in parents[v] if depth[p] < 0)
    walked = list(path)
    cycle = walked[walked.index(v) :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def ancestors(parents: IndexLists, depth: Index, most: int | None = None) -> IndexLists:
    """Return all proper ancestors of each vertex. Raise ValueError if there are more than `most` pairs."""
    everything = np.ones(len(depth), dtype=bool)
    return _union_over_parents(parents, depth, taken=everything, passed=everything, most=most)


def nearest_ancestors(parents: IndexLists, depth: Index, kept: NDArray[np.bool_]) -> IndexLists:
    """Return each vertex's nearest kept ancestors, which a path without any other kept vertex reaches.

    The kept vertices, with these as their parents, have the ancestor relation of the whole graph.
    """
    return _union_over_parents(parents, depth, taken=kept, passed=~kept)


def spread_upwards(
    children: IndexLists, depth: Index, table: sp.csr_array[np.bool_]
) -> sp.csr_array[np.bool_]:
    """Return the closed table, in which each row also has a 1 at all ancestors of every 1.

    A large table is treated in groups of rows, whose intermediate results are small.
    """
    ends = np.unique(np.searchsorted(table.indptr, np.arange(0, table.nnz, _ONES_AT_ONCE)))
    bounds = [0, *ends[(ends > 0) & (ends < table.shape[0])].tolist(), table.shape[0]]
    parts = [_spread(children, depth, table[a:b].tocsc()) for a, b in itertools.pairwise(bounds)]
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


def _spread(children: IndexLists, depth: Index, holders: sp.csc_array[np.bool_]) -> sp.csr_array[np.bool_]:
    """Return the same table for rows that are given by column.

    From the deepest vertex to the roots, each vertex collects the rows of its children, which are then complete. The
    ancestor lists are not needed for this, and may be far larger than the answer. The lists of a chain of n vertices
    have n^2 / 2 entries.
    """
    rows = [holders.indices[a:b] for a, b in itertools.pairwise(holders.indptr.tolist())]
    for v in np.argsort(-depth, kind="stable").tolist():
        found = [each for each in (rows[v], *(rows[c] for c in children[v].tolist())) if each.size]
        if found:
            rows[v] = found[0] if len(found) == 1 else np.unique(np.concatenate(found))
    indices = np.concatenate([holders.indices[:0], *rows])
    index: Any = np.int32 if len(indices) < 2**31 else np.int64
    indptr = np.cumsum([0, *map(len, rows)]).astype(index)
    ones: Any = (np.ones(len(indices), dtype=np.bool_), indices.astype(index, copy=False), indptr)
    return sp.csc_array(ones, shape=holders.shape).tocsr()


def _union_over_parents(
    parents: IndexLists,
    depth: Index,
    *,
    taken: NDArray[np.bool_],
    passed: NDArray[np.bool_],
    most: int | None = None,
) -> IndexLists:
    """Return list(v), the union over the parents p of v of {p}, if p is included, and list(p), if p is passed through.

    The levels are processed in order, so that the lists of all parents are complete when they are needed. All
    vertices of a level are processed together: each member of a list becomes the number `owner * n + member`, where
    `owner` is the position of the vertex in its level. Sorting these numbers joins the lists of all vertices of the
    level, sorts them and drops repetitions in one call. Finished lists are appended to one array, which doubles when
    it is full. They are in level order, so the last line puts them into vertex order.
    """
    n = len(depth)
    start, length = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    stored, used = np.empty(4 * n, dtype=np.int32), 0
    by_level = np.flatnonzero(depth > 0)
    by_level = by_level[np.argsort(depth[by_level], kind="stable")]
    ends = np.flatnonzero(np.diff(depth[by_level], append=-1)) + 1
    for vertices in np.split(by_level, ends[:-1]):
        n_parents = parents.indptr[vertices + 1] - parents.indptr[vertices]
        above = parents.indices[expand_ranges(parents.indptr[vertices], n_parents)].astype(np.int64)
        owner = np.repeat(np.arange(len(vertices)), n_parents)
        taken_from, passed_from = taken[above], passed[above]
        through = above[passed_from]
        if most is not None and used + len(above) + int(length[through].sum()) > most:
            raise ValueError(
                f"the hierarchy has more than {most:,} (feature, ancestor) pairs, the limit for a model file of "
                "this size; store the model with skops, which has no limit"
            )
        near = owner[taken_from] * n + above[taken_from]
        far = np.repeat(owner[passed_from] * n, length[through])
        far += stored[expand_ranges(start[through], length[through])]
        pairs = np.unique(np.concatenate([near, far]))
        row = pairs // max(n, 1)
        while used + len(pairs) > len(stored):
            stored = np.concatenate([stored, np.empty_like(stored)])
        stored[used : used + len(pairs)] = pairs - row * n
        length[vertices] = np.bincount(row, minlength=len(vertices))
        start[vertices] = used + np.cumsum(length[vertices]) - length[vertices]
        used += len(pairs)
    return IndexLists(np.concatenate([[0], np.cumsum(length)]), stored[expand_ranges(start, length)])
