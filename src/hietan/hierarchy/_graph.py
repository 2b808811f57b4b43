"""Directed acyclic graphs as index arrays: levels, cycles, closure and restriction.

Most functions work on one level of the graph at a time, so the number of numpy calls grows with the graph's depth and
not with its size; nothing much larger than the answer is ever built.
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
    """A sorted list of indices for each vertex; that of v is `indices[indptr[v] : indptr[v + 1]]`."""

    indptr: Index
    indices: NDArray[np.int32]

    def __getitem__(self, v: int) -> NDArray[np.int32]:
        """The list of one vertex."""
        return self.indices[self.indptr[v] : self.indptr[v + 1]]

    @property
    def lengths(self) -> Index:
        """The length of the list of each vertex."""
        return np.diff(self.indptr)


def transpose(lists: IndexLists) -> IndexLists:
    """The vertices whose lists hold each vertex: parents become children, and ancestors descendants."""
    turned = as_matrix(lists).tocsc()
    return IndexLists(turned.indptr.astype(np.int64), turned.indices.astype(np.int32))


def as_matrix(lists: IndexLists) -> sp.csr_array[np.uint8]:
    """A square matrix whose row v has a 1 for each index of the list of v; its arrays are read-only."""
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
    """All vertices that can be reached from `start` by following the lists, step by step."""
    seen, waiting = set[int](), [start]
    while waiting:
        fresh = set(lists[waiting.pop()].tolist()) - seen
        seen |= fresh
        waiting += fresh
    return seen


def expand_ranges(start: Index, length: Index) -> Index:
    """The positions of all ranges, one range after the other, in one array.

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
    """The children and the parents of each of `n` vertices, and their levels, from edges; a repeated edge counts once.

    The level of a vertex is the length of the longest path to it from a root: -1 on a cycle and below one.
    """
    above, below = np.divmod(np.unique(parent.astype(np.int64) * n + child), max(n, 1))
    found = _kernel.find_levels(above, below, n)
    assert found is not None  # the edges are sorted
    child_indptr, children, parent_indptr, parents, depth = found
    return IndexLists(child_indptr, children), IndexLists(parent_indptr, parents), depth


def find_cycle(parents: IndexLists, depth: Index) -> list[int]:
    """The vertices of one cycle, parent before child, given the levels of `find_levels`."""
    v, path = int(np.flatnonzero(depth < 0)[0]), dict[int, None]()
    while v not in path:  # every vertex without a depth has a parent without one
        path[v] = None
        v = next(int(p) for p in parents[v] if depth[p] < 0)
    walked = list(path)
    cycle = walked[walked.index(v) :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def ancestors(parents: IndexLists, depth: Index, most: int | None = None) -> IndexLists:
    """All proper ancestors of each vertex; ValueError if it takes more than `most` pairs to find them."""
    everything = np.ones(len(depth), dtype=bool)
    return _union_over_parents(parents, depth, taken=everything, passed=everything, most=most)


def nearest_ancestors(parents: IndexLists, depth: Index, kept: NDArray[np.bool_]) -> IndexLists:
    """The kept ancestors of each vertex that are reached by a path without any other kept vertex.

    The kept vertices, with these as their parents, have the ancestor relation of the whole graph.
    """
    return _union_over_parents(parents, depth, taken=kept, passed=~kept)


def spread_upwards(
    children: IndexLists, depth: Index, table: sp.csr_array[np.bool_]
) -> sp.csr_array[np.bool_]:
    """The table in which every row that has a 1 at a vertex (a column) has a 1 at all its ancestors, too.

    A large table is treated in groups of rows, whose intermediate results are small.
    """
    ends = np.unique(np.searchsorted(table.indptr, np.arange(0, table.nnz, _ONES_AT_ONCE)))
    bounds = [0, *ends[(ends > 0) & (ends < table.shape[0])].tolist(), table.shape[0]]
    parts = [_spread(children, depth, table[a:b].tocsc()) for a, b in itertools.pairwise(bounds)]
    spread: sp.csr_array[np.bool_] = parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")
    return spread


def _spread(children: IndexLists, depth: Index, holders: sp.csc_array[np.bool_]) -> sp.csr_array[np.bool_]:
    """The same for rows that are given by column.

    From the deepest vertex to the roots: each vertex takes over the rows of its children, which are complete by then.
    The ancestor lists are not needed for this, and may be far larger than the answer: those of a chain of n vertices
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
    spread: sp.csr_array[np.bool_] = sp.csc_array(ones, shape=holders.shape).tocsr()
    return spread


def _union_over_parents(
    parents: IndexLists,
    depth: Index,
    *,
    taken: NDArray[np.bool_],
    passed: NDArray[np.bool_],
    most: int | None = None,
) -> IndexLists:
    """list(v) = union over the parents p of v of {p}, if p is taken, and list(p), if p is passed through.

    Level by level, so that the lists of all parents are complete when they are needed, and all vertices of a level at
    once: each member of a list becomes the number `owner * n + member`, where `owner` is the position of the vertex in
    its level. Sorting these numbers joins the lists of all vertices of the level, sorts them and drops repetitions in
    one call. Finished lists are appended to one array, which doubles when it is full; they come in the order of the
    levels, so the last line puts them into the order of the vertices.
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
                f"the hierarchy has more than {most:,} pairs of a feature and an ancestor, the limit for a model file "
                "of this size; store the model with skops instead, which has no limit"
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
