"""The levels of any directed graph, cycles included, are those that the definition gives."""

import numpy as np
import pytest
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
    ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2).T.copy()
    *lists, levels = _kernel.find_levels(*ends, n)
    for (starts, found), expected in zip((lists[:2], lists[2:]), (children, parents), strict=True):
        assert [found[starts[v] : starts[v + 1]].tolist() for v in range(n)] == expected
        assert len(starts) == n + 1 and len(found) == len(edges)
    assert levels.tolist() == [plain_level(v, parents) for v in range(n)]


@pytest.mark.parametrize("edges", [[(1, 0), (0, 2)], [(0, 2), (0, 1)], [(0, 1), (0, 1)]])
def test_edges_that_do_not_increase_are_left_to_the_caller(edges):
    assert _kernel.find_levels(*np.array(edges, dtype=np.int64).T.copy(), 3) is None


@pytest.mark.parametrize(
    ("parent", "child"), [([3], [0]), ([0], [3]), ([-1], [0]), ([0], [-1]), ([0, 1], [1])]
)
def test_edges_that_lead_nowhere_are_refused(parent, child):
    with pytest.raises(ValueError, match="out of range|entry per edge"):
        _kernel.find_levels(np.array(parent, dtype=np.int64), np.array(child, dtype=np.int64), 3)
