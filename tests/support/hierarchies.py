"""Hierarchies as plain sets, and random ones: what the tests of `hietan.hierarchy` compare with."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

WORKED_EDGES = [("F", "B"), ("F", "C"), ("E", "C"), ("E", "A"), ("C", "D"), ("A", "D")]


class Twin:
    """The same notions over plain sets, straight from their definitions."""

    def __init__(self, names, edges):
        self.names = names
        self.parents = {name: {p for p, c in edges if c == name} for name in names}

    def ancestors(self, name):
        found = set(self.parents[name])
        while more := {above for v in found for above in self.parents[v]} - found:
            found |= more
        return found

    def descendants(self, name):
        return {v for v in self.names if name in self.ancestors(v)}

    def depth(self, name):
        return max((1 + self.depth(p) for p in self.parents[name]), default=0)

    def close(self, row):
        ones = {v for v in self.names if row[self.names.index(v)]}
        ones = ones.union(*(self.ancestors(v) for v in ones))
        return [int(v in ones) for v in self.names]


@st.composite
def graphs(draw):
    """Names in an order that says nothing about the graph, and the edges of a DAG over them."""
    d = draw(st.integers(0, 9))
    names = draw(st.permutations([f"n{i}" for i in range(d)]))
    pairs = [(f"n{i}", f"n{j}") for i in range(d) for j in range(i + 1, d)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=16)) if pairs else []
    return names, edges


@st.composite
def tables(draw):
    names, edges = draw(graphs())
    n = draw(st.integers(0, 4))
    bits = draw(st.lists(st.integers(0, 1), min_size=n * len(names), max_size=n * len(names)))
    return names, edges, np.array(bits, dtype=np.int64).reshape(n, len(names))
