"""Counts of open features: checks of the hierarchy on the way, sums, and what cannot be counts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy, _kernel
from hietan.structure import _openings as module
from hietan.structure._openings import OpenCounts, Openings, OpenScores, check_open_counts, count_openings
from hietan.structure._rows import VIOLATION_BLOCK, BinaryRows, first_violation, kernel_lists
from support.hierarchies import graphs, tables
from support.twins import openings as twin

FORK = Hierarchy.from_edges(
    [("a", "c"), ("b", "c"), ("a", "d"), ("b", "d"), ("a", "e"), ("e", "f")], list("abcdef")
)
ROWS = (np.random.default_rng(0).random((300, 6)) < 0.2).astype(np.uint8)
ROWS = FORK.close(ROWS)
CODES = np.arange(300) % 3


def counted(rows=ROWS, codes=CODES):
    return count_openings(BinaryRows.from_matrix(np.asarray(rows)), codes, 3, FORK)[0]


@given(graph=graphs(), data=st.data())
def test_counts_are_impossible_where_the_definition_says(graph, data):
    names, edges = graph
    if not names:
        return
    hierarchy = Hierarchy.from_edges(edges, names)
    X = np.random.default_rng(data.draw(st.integers(0, 99))).random((8, len(names))) < data.draw(
        st.floats(0.2, 0.9)
    )
    if data.draw(st.booleans()):
        X = hierarchy.close(X)
    parents = [{names.index(parent) for parent in hierarchy.parents(name)} for name in names]
    counts = twin.count_open(X.astype(int).tolist(), [0, 1] * 4, 2, parents)
    assert twin.impossible(counts, parents) == 0
    for _ in range(data.draw(st.integers(0, 2))):
        part = data.draw(st.sampled_from([counts.ones, counts.open]))
        part[data.draw(st.integers(0, 1))][data.draw(st.integers(0, len(names) - 1))] += data.draw(
            st.sampled_from([-1, 1, 2])
        )
    arrays = (np.array(part, dtype=np.int32) for part in (counts.ones, counts.open))
    lists = kernel_lists(hierarchy.adjacency)
    found = _kernel.find_impossible_opening(*lists, np.array(counts.class_rows), *arrays)
    assert found == twin.impossible(counts, parents)


@given(table=tables(), block=st.sampled_from([1, 2, 4096]))
def test_the_check_on_the_way_finds_the_same_violation(table, block):
    names, edges, X = table
    if not names or not len(X):
        return
    hierarchy = Hierarchy.from_edges(edges, features=names)
    rows = BinaryRows.from_matrix(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "VIOLATION_BLOCK", block)
        found = count_openings(rows, np.zeros(len(X), dtype=np.int64), 1, hierarchy)[1]
    assert found == first_violation(rows, hierarchy, block)
    assert found == first_violation(rows.sparse(), hierarchy, block) == literal_violation(X, hierarchy, block)


def literal_violation(X, hierarchy, block):
    """Block after block, edge after edge, row after row."""
    edges = [(hierarchy.features.index(p), hierarchy.features.index(c)) for p, c in hierarchy.edges]
    for start in range(0, len(X), block):
        for parent, child in sorted(edges):
            for row in range(start, min(start + block, len(X))):
                if X[row, child] and not X[row, parent]:
                    return row, hierarchy.features[parent], hierarchy.features[child]
    return None


@pytest.mark.parametrize("is_sparse", [False, True])
def test_threads_find_the_same_violation_and_count_the_same(is_sparse, monkeypatch):
    monkeypatch.setattr(module, "VIOLATION_BLOCK", 16)
    for place in ([], [(0, 5)], [(299, 5), (150, 2)], [(140, 3), (130, 5), (131, 3)]):
        X = ROWS.copy()
        for row, child in place:
            X[row], X[row, child] = 0, 1
        rows = BinaryRows.from_matrix(X, weights=1 + np.arange(300, dtype=np.int32) % 3)
        rows = rows.sparse() if is_sparse else rows
        expected = first_violation(rows, FORK, 16)
        assert expected == literal_violation(X, FORK, 16) == first_violation(rows, FORK, 16, n_jobs=3)
        whole, found = count_openings(rows, CODES, 3, FORK)
        threads, same = count_openings(rows, CODES, 3, FORK, n_jobs=3)
        assert found == same == expected
        for name in ("class_count", "ones", "open"):
            np.testing.assert_array_equal(getattr(threads, name), getattr(whole, name))


def test_a_later_block_does_not_take_the_place_of_the_first_violation():
    X = np.zeros((2 * VIOLATION_BLOCK, 6), dtype=np.uint8)
    X[5, 5] = X[7, 3] = X[VIOLATION_BLOCK + 1, 2] = 1
    rows = BinaryRows.from_matrix(X)
    found = count_openings(rows, np.zeros(len(X), dtype=np.int64), 1, FORK)[1]
    assert found == first_violation(rows, FORK) == (7, FORK.features[0], FORK.features[3])


@given(graph=graphs(), seed=st.integers(0, 1000))
def test_open_features_of_rows_are_those_that_are_counted(graph, seed):
    names, edges = graph
    if not names:
        return
    hierarchy = Hierarchy.from_edges(edges, features=names)
    X = (np.random.default_rng(seed).random((30, len(names))) < 0.6).astype(np.uint8)
    counts = count_openings(BinaryRows.from_matrix(X), np.zeros(30, dtype=np.int64), 1, hierarchy)[0]
    is_open = Openings(hierarchy).open_in(X)
    np.testing.assert_array_equal(counts.open[0], is_open.sum(axis=0))
    np.testing.assert_array_equal(counts.ones[0], (is_open & (X == 1)).sum(axis=0))
    check_open_counts(counts, 1, hierarchy)


def test_factors_add_up_to_the_log_likelihood():
    scores = OpenScores(Openings(FORK), counted(), "pooled", 0.5)
    rows = np.vstack([ROWS[:20], 1 - ROWS[:20]])
    total = scores.factors(rows).sum(axis=1)
    np.testing.assert_allclose(
        scores.log_likelihood(BinaryRows.from_matrix(rows)), total, rtol=1e-12, atol=1e-12
    )


def test_counts_of_parts_add_up():
    one, two = counted(ROWS[:100], CODES[:100]), counted(ROWS[100:], CODES[100:])
    both, whole = one + two, counted()
    for name in ("class_count", "ones", "open"):
        np.testing.assert_array_equal(getattr(both, name), getattr(whole, name))
    assert whole.include(one) and not one.include(whole)
    with pytest.raises(ValueError, match="3 classes and 6 features cannot be added to counts of 2 classes"):
        whole + OpenCounts(np.zeros(2, np.int64), *np.zeros((2, 2, 6), np.int32))
    with pytest.raises(TypeError):
        whole + 1
    many = OpenCounts(np.array([2**31 - 1, 0, 0]), whole.ones, whole.open)
    with pytest.raises(ValueError, match="rows, but hietan can count at most"):
        whole + many


@pytest.mark.parametrize(
    ("part", "place", "change", "message"),
    [
        ("ones", (0, 0), -1000, "impossible counts: expected 0 <= ones"),
        ("open", (0, 2), 1000, "impossible counts: expected 0 <= ones"),
        ("class_count", 0, 2**40, "rows; expected numbers of 0 or more"),
        ("class_count", 0, -(2**40), "rows; expected numbers of 0 or more"),
        ("class_count", 0, 1, "features with the same parents are open in the same rows"),
        ("open", (1, 0), -1, "impossible counts"),
        ("open", (1, 2), 1, "features with the same parents are open in the same rows"),
        ("open", (1, 4), 1, "a feature is open in the rows in which its parents are 1, and in no other rows"),
        ("open", (1, 4), -1, "impossible counts"),
        ("ones", (1, 0), 1, "a feature is open in the rows in which its parents are 1, and in no other rows"),
        (
            "ones",
            (1, 0),
            -1,
            "a feature is open in the rows in which its parents are 1, and in no other rows",
        ),
    ],
)
def test_counts_that_no_rows_have_are_refused(part, place, change, message):
    counts = counted()
    check_open_counts(counts, 3, FORK)
    changed = getattr(counts, part).copy()
    changed[place] += change
    counts = replace(counts, **{part: changed})
    with pytest.raises(ValueError, match=message):
        check_open_counts(counts, 3, FORK)


def test_counts_of_the_wrong_kind_are_refused():
    counts = counted()
    n, ones, is_open = counts.class_count, counts.ones, counts.open
    for wrong, message in (
        (OpenCounts(n.tolist(), ones, is_open), "must be numpy arrays"),
        (OpenCounts(n.astype(np.int32), ones, is_open), "expected int64, int32 and int32"),
        (OpenCounts(n, ones.astype(np.int64), is_open), "expected int64, int32 and int32"),
        (OpenCounts(n, ones, is_open.astype(float)), "expected int64, int32 and int32"),
        (OpenCounts(n, ones[:, :5], is_open), "have the shapes"),
        (OpenCounts(n[:2], ones, is_open), "have the shapes"),
    ):
        with pytest.raises(ValueError, match=message):
            check_open_counts(wrong, 3, FORK)
