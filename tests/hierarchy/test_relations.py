"""Relations mean what plain sets say they mean; see `support.hierarchies.Twin`."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hietan.hierarchy import Hierarchy
from support.hierarchies import Twin, graphs


def names_in_row(matrix, hierarchy, name):
    return {hierarchy.features[j] for j in matrix[[hierarchy.index(name)]].indices}


@given(graphs())
def test_relations_are_those_of_the_sets(graph):
    names, edges = graph
    twin, hierarchy = Twin(names, edges), Hierarchy.from_edges(edges, names)
    assert hierarchy.features == tuple(names)
    assert set(hierarchy.edges) == set(edges)
    assert len(hierarchy.edges) == len(set(edges))
    for name in names:
        assert set(hierarchy.parents(name)) == twin.parents[name]
        assert set(hierarchy.children(name)) == {c for p, c in edges if p == name}
        assert hierarchy.ancestors(name) == twin.ancestors(name)
        assert hierarchy.descendants(name) == twin.descendants(name)
        assert names_in_row(hierarchy.ancestor_matrix, hierarchy, name) == twin.ancestors(name)
        assert names_in_row(hierarchy.descendant_matrix, hierarchy, name) == twin.descendants(name)
        assert hierarchy.depths[hierarchy.index(name)] == twin.depth(name)
        for other in names:
            assert hierarchy.related(name, other) == (other in twin.ancestors(name) | twin.descendants(name))
    assert set(hierarchy.roots) == {v for v in names if not twin.ancestors(v)}
    assert set(hierarchy.leaves) == {v for v in names if not twin.descendants(v)}


@given(graphs(), st.data())
def test_restriction_keeps_exactly_the_relations_of_what_it_keeps(graph, data):
    names, edges = graph
    twin, hierarchy = Twin(names, edges), Hierarchy.from_edges(edges, names)
    kept = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    restricted = hierarchy.restrict(kept)
    assert restricted.features == tuple(kept)
    for name in kept:
        assert restricted.ancestors(name) == twin.ancestors(name) & set(kept)
    for parent, child in restricted.edges:  # some path meets no third kept feature
        assert parent in Twin(names, [(p, c) for p, c in edges if p == parent or p not in kept]).ancestors(
            child
        )


def test_worked_example(worked):
    assert worked.features == ("F", "B", "C", "E", "A", "D")
    assert worked.ancestors("D") == {"A", "C", "E", "F"}
    assert worked.descendants("E") == {"C", "A", "D"}
    assert worked.related("F", "D")
    assert worked.related("D", "F")
    assert not worked.related("C", "A")
    assert not worked.related("D", "D")
    assert worked.depths.tolist() == [0, 1, 1, 0, 1, 2]
    assert (worked.roots, worked.leaves) == (("F", "E"), ("B", "D"))
    assert repr(worked) == "Hierarchy(6 features, 6 edges, 2 roots, depth 2)"
    assert (len(worked), "D" in worked, "G" in worked, 3 in worked) == (6, True, False, False)


def test_long_chains_need_no_recursion():
    names = [f"n{i}" for i in range(2000)]
    chain = Hierarchy.from_edges(pairwise(names))
    assert len(chain.ancestors(names[-1])) == 1999
    assert chain.ancestor_matrix.nnz == 2000 * 1999 // 2
    assert chain.restrict([names[-1], names[0]]).edges == ((names[0], names[-1]),)


def test_many_parents_do_not_overflow_small_integers():
    """300 paths from one root: a count of them in 8 bits would come out wrong, 256 of them as none."""
    for n in (256, 300):
        middle = [f"m{i}" for i in range(n)]
        hierarchy = Hierarchy.from_edges([("top", m) for m in middle] + [(m, "end") for m in middle])
        assert hierarchy.ancestors("end") == {"top", *middle}
        assert hierarchy.ancestor_matrix[[hierarchy.index("end")]].data.tolist() == [1] * (n + 1)
        x = np.zeros((1, n + 2), dtype=np.int8)
        x[0, hierarchy.index("end")] = 1
        assert hierarchy.close(x).all()
        x[0, [hierarchy.index(m) for m in middle]] = 1
        assert hierarchy.violations(x)[0] == (0, "top", "m0")


@pytest.mark.parametrize("which", ["adjacency", "ancestor_matrix", "descendant_matrix"])
def test_matrices_are_canonical_and_read_only(worked, which):
    matrix = getattr(worked, which)
    assert isinstance(matrix, sp.csr_array)
    assert (matrix.dtype, matrix.shape, matrix.indices.dtype) == (np.uint8, (6, 6), np.int32)
    fresh = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
    assert fresh.has_canonical_format
    for array in (matrix.data, matrix.indices, matrix.indptr, worked.depths):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    matrix.data = np.zeros_like(matrix.data)  # spoils what was handed out, not what the hierarchy keeps
    assert getattr(worked, which).data.all()
