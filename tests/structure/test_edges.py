"""The ranking of the edges: keys to the bit, blocks sorted on demand in exactly the stated order."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy, _kernel
from hietan.structure._counts import count_pairs
from hietan.structure._edges import EdgeRanking
from hietan.structure._rows import BinaryRows
from support import twins
from support.storages import WAYS


def no_relations(d):
    return EdgeRanking(None, Hierarchy.unrelated(f"x{j}" for j in range(d))).relations


def all_keys(ranking):
    if ranking.counts.is_dense:
        return ranking.keys
    return np.concatenate([ranking.keys.row(i) for i in range(ranking.counts.n_features)])


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 300), st.integers(1, 4))
def test_keys_are_the_twins_to_the_bit(seed, d, n, n_classes):
    rng = np.random.default_rng(seed)
    X, y = (rng.random((n, d)) < rng.random(d)).astype(np.uint8), rng.integers(0, n_classes, n)
    X[:, -1] = X[:, 0]  # ties
    twin = twins.count(X.tolist(), y.tolist(), n_classes, d)
    pairs = [(int(i), int(j)) for i, j in zip(*np.triu_indices(d, 1), strict=True)]
    expected = [twins.cmi_key(i, j, twin) for i, j in pairs]
    order = twins.ranking(twin)
    i, j = (np.array(side, dtype=np.int64) for side in np.triu_indices(d, 1))
    for storage, block in WAYS:
        counts = count_pairs(BinaryRows.from_matrix(X), y, n_classes, storage=storage)
        ranking = EdgeRanking(counts, Hierarchy.unrelated(f"x{j}" for j in range(d)), block=block)
        keys = all_keys(ranking)
        assert keys.tolist() == expected
        assert [tuple(edge) for edge in ranking.edges().tolist()] == order
        assert _kernel.pair_keys(j, i, counts.kernel).tolist() == expected
        assert ranking.lone_feature == max(range(d), key=lambda v: (twins.mi_key(v, twin), -v))
    cmi = [twins.cmi_equation_1(i, j, twin) for i, j in pairs]
    np.testing.assert_allclose(np.array(expected) / 1e12, cmi, rtol=0, atol=1e-12)


@pytest.mark.parametrize("density", [0.002, 0.02, 0.2])
def test_sparse_blocks_are_the_dense_order(density):
    """Enough features for several blocks, most of whose edges join features that never co-occur."""
    rng = np.random.default_rng(0)
    d, n = 500, 400
    X = (rng.random((n, d)) < rng.exponential(density, d)).astype(np.uint8)
    X[:, 3], X[:, 7] = 0, 1  # constant columns
    y = rng.integers(0, 3, n)
    edges = {}
    for kind in ("dense", "sparse"):
        counts = count_pairs(BinaryRows.from_matrix(X), y, 3, storage=kind)
        ranking = EdgeRanking(counts, Hierarchy.unrelated(map(str, range(d))))
        assert ranking.counts.is_dense == (kind == "dense")
        first = ranking.edges(10)
        assert ranking.kernel.n_sorted < d * (d - 1) / 4 or density < 0.01  # nearly all edges tie at 0
        edges[kind] = ranking.edges()
        np.testing.assert_array_equal(edges[kind][:10], first)
    np.testing.assert_array_equal(edges["sparse"], edges["dense"])


KEYS = {
    "everything ties": lambda rng, n: np.zeros(n, np.int64),
    "few values": lambda rng, n: rng.integers(0, 5, n),
    "all magnitudes": lambda rng, n: (2.0 ** rng.uniform(0, 39.3, n)).astype(np.int64),
    "one narrow band": lambda rng, n: 10**11 + rng.integers(0, 1000, n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.9, 0, rng.integers(0, 10**12, n)),
    "rounding below zero": lambda rng, n: rng.integers(-2, 3, n),
    "as large as keys can be": lambda rng, n: rng.integers(0, 2**62, n),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("d", [2, 17, 400])
def test_blocks_from_the_top_are_the_whole_sorted_order(kind, d):
    rng = np.random.default_rng(d)
    keys = KEYS[kind](rng, d * (d - 1) // 2).astype(np.int64)
    i, j = np.triu_indices(d, 1)
    order = np.lexsort((j, i, -keys))
    expected = np.stack([i[order], j[order]], axis=1)
    ranking = _kernel.Ranking(keys, no_relations(d))
    for limit in (1, 100, keys.size):
        np.testing.assert_array_equal(ranking.edges(limit), expected[:limit])


def test_only_what_is_read_is_sorted():
    keys = np.random.default_rng(0).integers(0, 10**12, 600 * 599 // 2)
    ranking = _kernel.Ranking(keys, no_relations(600))
    assert ranking.n_sorted == 0
    ranking.edges(10)
    assert 10 <= ranking.n_sorted < keys.size / 5
    ranking.edges(keys.size)
    assert ranking.n_sorted == keys.size


def test_threads_share_one_ranking():
    keys = np.random.default_rng(0).integers(0, 10**12, 500 * 499 // 2)
    expected = _kernel.Ranking(keys, no_relations(500)).edges(keys.size)
    for _ in range(5):
        shared = _kernel.Ranking(keys, no_relations(500))
        with ThreadPoolExecutor(8) as pool:
            for got in pool.map(shared.edges, [keys.size, 10, keys.size // 2, keys.size] * 4):
                np.testing.assert_array_equal(got, expected[: len(got)])


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_threads_count_rank_and_sort_the_same(storage):
    rng = np.random.default_rng(0)
    d, n = 300, 400
    X = (rng.random((n, d)) < rng.exponential(0.03, d)).astype(np.uint8)
    rows = BinaryRows.from_matrix(X, weights=rng.integers(1, 4, n, dtype=np.int32))
    y, unrelated = rng.integers(0, 3, n), Hierarchy.unrelated(map(str, range(d)))
    rankings = []
    for n_jobs in (1, 2, 3):
        counts = count_pairs(rows, y, 3, storage=storage, n_jobs=n_jobs)
        rankings.append(EdgeRanking(counts, unrelated, n_jobs=n_jobs))
        rankings[-1].prepare()
        assert rankings[-1].kernel.n_sorted > 0
    alone, *others = rankings
    for shared in others:
        np.testing.assert_array_equal(shared.counts.ones, alone.counts.ones)
        if storage == "sparse":
            for name in ("indptr", "indices", "values"):
                mine, other = (getattr(ranking.counts.pairs, name) for ranking in (alone, shared))
                np.testing.assert_array_equal(mine, other)
        else:
            np.testing.assert_array_equal(shared.counts.pairs, alone.counts.pairs)
        np.testing.assert_array_equal(all_keys(shared), all_keys(alone))
        np.testing.assert_array_equal(shared.edges(), alone.edges())
