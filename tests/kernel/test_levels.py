"""The levels of any directed graph, cycles included, are those that the definition gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hietan import _kernel


def plain_level(v, parents, seen=frozenset()):
    """The length of the longest path from a root; -1 if a walk upwards comes to a cycle."""
    if v in seen:
        return -1
    above = [plain_level(p, parents, seen | {v}) for p in parents[v]]
    return -1 if -1 in above else 1 + max(above, default=-1)


@given(n=st.integers(0, 7), data=st.data())
def test_levels_are_the_longest_paths_from_the_roots(n, data):
    vertex = st.integers(0, max(n - 1, 0))
    edges = data.draw(st.sets(st.tuples(vertex, vertex), max_size=3 * n if n else 0))
    if data.draw(st.booleans()):
        edges = {(a, b) for a, b in edges if a < b}
    children = [sorted(c for p, c in edges if p == v) for v in range(n)]
    parents = [sorted(p for p, c in edges if c == v) for v in range(n)]
    indptr = np.cumsum([0, *map(len, children)]).astype(np.int64)
    indices = np.array([c for listed in children for c in listed], dtype=np.int32)
    starts, found, levels = _kernel.find_levels(indptr, indices)
    assert [found[starts[v] : starts[v + 1]].tolist() for v in range(n)] == parents
    assert levels.tolist() == [plain_level(v, parents) for v in range(n)]
    assert len(starts) == n + 1 and len(found) == len(indices)
