"""Pair counts: dense, packed and sparse ways agree with counting one row after the other."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hietan.structure._counts import PairCounts, count_pairs
from hietan.structure._rows import BinaryRows
from support import twins


def literal(X, y, n_classes):
    """The twin's counts in the layout of PairCounts."""
    d = X.shape[1]
    twin = twins.count(X.tolist(), y.tolist(), n_classes, d)
    i, j = np.triu_indices(d, 1)
    table = np.array(twin.ones).reshape(n_classes, d, d)
    return PairCounts(np.array(twin.class_rows), table[:, range(d), range(d)], table[:, i, j])


def assert_same(a, b):
    a, b = a.to_dense(), b.to_dense()
    for field in ("class_count", "ones", "pairs"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


@st.composite
def tables(draw):
    seed, n, d = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 400)), draw(st.integers(1, 12))
    rng = np.random.default_rng(seed)
    n_classes = draw(st.integers(1, 4))
    return (rng.random((n, d)) < rng.random(d)).astype(np.uint8), rng.integers(0, n_classes, n), n_classes


@given(tables(), st.sampled_from([True, False, None]), st.sampled_from([64, 128, 4096]))
def test_all_ways_of_counting_agree(table, by_row, block_rows):
    X, y, n_classes = table
    expected = literal(X, y, n_classes)
    for rows in (BinaryRows.from_matrix(X), BinaryRows.from_matrix(sp.csr_array(X))):
        found = count_pairs(rows, y, n_classes, by_row=by_row, block_rows=block_rows)
        assert found.is_dense
        assert_same(found, expected)


@given(tables(), st.sampled_from([np.asarray, sp.csr_array, sp.csc_array]))
def test_sparse_storage_keeps_what_occurs(table, container):
    X, y, n_classes = table
    rows = BinaryRows.from_matrix(sp.csr_array(container(X)))
    found = count_pairs(rows, y, n_classes, storage="sparse")
    expected = literal(X, y, n_classes)
    assert_same(found, expected)
    assert not found.is_dense and expected.is_dense
    assert found.pairs.indices.size == expected.pairs.any(axis=0).sum()
    d = X.shape[1]
    for i, j in [(0, d - 1), (d - 1, 0), (d // 2, 0)]:
        if i != j:
            np.testing.assert_array_equal(found.both(i, j), expected.both(i, j))
    assert found.kernel is found.kernel  # kept from here on, and left behind by a pickle
    assert_same(pickle.loads(pickle.dumps(found)), expected)


@given(tables(), st.data(), st.tuples(*[st.sampled_from(["dense", "sparse"])] * 2))
def test_counts_of_parts_add_up(table, data, kinds):
    """Whichever way each part is kept."""
    X, y, n_classes = table
    cut = data.draw(st.integers(0, len(y)))
    whole = count_pairs(BinaryRows.from_matrix(X), y, n_classes)
    parts = []
    for kind, part in zip(kinds, (slice(cut), slice(cut, None)), strict=True):
        rows = BinaryRows.from_matrix(X[part])
        parts.append(count_pairs(rows, y[part], n_classes, storage=kind))
    assert_same(parts[0] + parts[1], whole)
    together = parts[0].add(parts[1], storage="sparse")
    assert_same(together, whole)
    assert together.is_dense == ("dense" in kinds)


@pytest.mark.slow
def test_storage_is_chosen_by_how_many_pairs_occur():
    """Wide data with few pairs are kept sparse, also when they come dense; sums that fill up become dense."""
    n, d = 60, 4200
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    few, many = ((rng.random((n, d)) < share).astype(np.uint8) for share in (0.01, 0.12))
    narrow = few[:, :1000]
    for X, dense in ((few, False), (sp.csr_array(few), False), (many, True), (narrow, True), (few + 2, True)):
        assert count_pairs(BinaryRows.from_matrix(X), y, 2).is_dense == dense
    half = [count_pairs(BinaryRows.from_matrix(many[k::6]), y[k::6], 2) for k in range(6)]
    assert not half[0].is_dense and sum(half[1:], half[0]).is_dense
    assert_same(sum(half[1:], half[0]), count_pairs(BinaryRows.from_matrix(many), y, 2))


def test_packing_puts_row_r_into_bit_r():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 7)).astype(np.uint8)
    rows = rng.permutation(150)[:130]
    for container in (np.asarray, sp.csr_array):
        words = BinaryRows.from_matrix(container(X)).words(rows)
        assert words.shape == (3, 7)
        bits = (words[:, None, :] >> np.arange(64, dtype=np.uint64)[None, :, None]) & np.uint64(1)
        np.testing.assert_array_equal(bits.reshape(192, 7)[:130], X[rows])
        assert not bits.reshape(192, 7)[130:].any()


def test_only_what_is_counted_adds():
    rows, y = BinaryRows.from_matrix(np.eye(2)), np.zeros(2, int)
    with pytest.raises(TypeError, match="unsupported operand"):
        count_pairs(rows, y, 1) + 1


def test_counts_of_other_shapes_do_not_add():
    small, wide = (count_pairs(BinaryRows.from_matrix(np.eye(d)), np.zeros(d, int), 1) for d in (2, 3))
    with pytest.raises(ValueError, match="2 features cannot be added to counts of 1 classes and 3 features"):
        small + wide


def test_more_rows_than_the_counts_can_hold():
    half = PairCounts(np.array([2**30]), np.zeros((1, 2), np.int32), np.zeros((1, 1), np.int32))
    with pytest.raises(ValueError, match="rows, but hietan can count at most"):
        half + half
