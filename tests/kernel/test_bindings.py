"""The kernel's bindings refuse what they cannot use, and do not read what Python writes to their arrays later."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from hietan import HRETAN, TAN, Hierarchy, HieTAN, HieTANLite, _kernel
from hietan.structure._counts import PairCounts, SparsePairs, count_pairs
from hietan.structure._edges import EdgeRanking
from hietan.structure._rows import BinaryRows, kernel_relations
from support.processes import PROGRAMS

RNG = np.random.default_rng(0)
X = (RNG.random((60, 8)) < 0.4).astype(np.uint8)
Y = np.arange(60) % 2
CHAIN = Hierarchy.from_edges([(f"f{v}", f"f{v + 1}") for v in range(7)])


def counted(storage="dense"):
    """Counts in arrays that may be written to."""
    counts = count_pairs(BinaryRows.from_matrix(X), Y, 2, storage=storage)
    if counts.is_dense:
        return counts
    pairs = counts.pairs
    copy = SparsePairs(pairs.indptr.copy(), pairs.indices.copy(), pairs.values.copy())
    return PairCounts(counts.class_count, counts.ones, copy)


@pytest.mark.slow
def test_wrong_arguments_are_refused_and_never_crash():
    """In a process of its own, since that is where a crash would be seen."""
    command = [sys.executable, PROGRAMS / "fuzz_kernel.py", "--cases", "20000", "--seed", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.splitlines()[-1].split()[0]) >= 20_000


def test_parts_are_done_once_and_all_of_them():
    rows, d = sp.csr_array(X), X.shape[1]
    counting = _kernel.Cooccurrences(rows.indptr, rows.indices, Y, d, 2, n_parts=2)
    with pytest.raises(ValueError, match="there are 2 parts, got 2"):
        counting.count(2)
    counting.count(1)
    with pytest.raises(ValueError, match="part 1 was done before"):
        counting.count(1)
    with pytest.raises(ValueError, match=r"not all parts were counted; call count\(part\)"):
        counting.join(0)
    counting.count(0)
    counting.join(0)
    with pytest.raises(ValueError, match=r"not all parts are joined; call join\(part\)"):
        counting.take()
    counting.join(1)
    counting.take()
    with pytest.raises(ValueError, match="taken before"):
        counting.take()
    counts = counted("sparse")
    keys = _kernel.SparseKeys(counts.kernel, 3)
    with pytest.raises(ValueError, match=r"not all parts of the keys were computed; call compute\(part\)"):
        keys.row(0)
    for part in (2, 0):
        keys.compute(part)
    with pytest.raises(ValueError, match="not all parts of the keys"):
        _kernel.Ranking(keys, kernel_relations(Hierarchy.unrelated([f"x{j}" for j in range(d)])))
    keys.compute(1)
    for i in range(d):
        np.testing.assert_array_equal(keys.row(i), _kernel.SparseKeys(counts.kernel).row(i))
    for n_parts in (0, 1 << 20):
        with pytest.raises(ValueError, match="n_parts must be from 1 to 65536"):
            _kernel.SparseKeys(counts.kernel, n_parts)


def test_blocks_are_listed_in_parts_once_and_sorted_once():
    counts = counted("sparse")
    ranking = EdgeRanking(counts, Hierarchy.unrelated([f"x{j}" for j in range(X.shape[1])]), block=5).kernel
    assert ranking.plan(20, 4) > 2 and len(_kernel.ListedBlocks(ranking, 1 << 20, 100)) == 0
    assert len(_kernel.ListedBlocks(ranking, 0, 0)) == 1  # no fewer, however many edges it has
    blocks = _kernel.ListedBlocks(ranking, 1, 100, n_parts=2)
    blocks.list(1)
    with pytest.raises(ValueError, match="part 1 was done before"):
        blocks.list(1)
    with pytest.raises(ValueError, match=r"not all parts are listed; call list\(part\)"):
        blocks.sort(0)
    blocks.list(0)
    with pytest.raises(ValueError, match=f"there are {len(blocks)} parts, got {len(blocks)}"):
        blocks.sort(len(blocks))
    blocks.sort(1)
    with pytest.raises(ValueError, match="part 1 was done before"):
        blocks.sort(1)
    with pytest.raises(ValueError, match="n_parts must be from 1 to 65536"):
        _kernel.ListedBlocks(ranking, 0, 100, 0)


@pytest.mark.parametrize("step", [1, 3, 8, 1000])
def test_partners_of_some_features_are_those_that_share_a_row(step):
    ones = X.astype(np.int64)
    rows = sp.csr_array(X)
    counting = _kernel.Cooccurrences(rows.indptr, rows.indices, Y, X.shape[1], 2)
    assert counting.partners_of_some(step) == np.count_nonzero(ones[:, ::step].T @ ones)
    with pytest.raises(ValueError, match="step must be from 1 to 2147483647, got 0"):
        counting.partners_of_some(0)
    counting.count(0)
    counting.join(0)
    with pytest.raises(ValueError, match="the rows are no longer here"):
        counting.partners_of_some(step)


@pytest.mark.parametrize("kind", [TAN, HieTAN, HRETAN, HieTANLite])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_counts_that_no_rows_have_are_refused(kind, storage, monkeypatch):
    def count(rows, codes, n_classes, hierarchy, n_jobs):
        return count_pairs(rows, codes, n_classes, storage=storage), None

    monkeypatch.setattr(kind, "_count", staticmethod(count))
    model = kind(hierarchy=CHAIN, random_state=0).partial_fit(X, Y, classes=[0, 1])
    model.counts_ = replace(model.counts_, ones=np.full_like(model.counts_.ones, 2 * 10**9))
    with pytest.raises(
        ValueError, match="from 0 to the number of rows of its class, got 2000000000 for feature 0"
    ):
        model.predict(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n, ones, pairs: n.__setitem__(0, -1), "class_count must hold .* got -1 for class 0"),
        (lambda n, ones, pairs: n.__setitem__(1, 2**31), "at most 2147483647 in all, got 2147483648"),
        (lambda n, ones, pairs: n.__setitem__(slice(None), 2**30), "in all, got 1073741824 for class 1"),
        (lambda n, ones, pairs: ones.__setitem__((1, 3), -1), "ones .* got -1 for feature 3 and class 1"),
        (lambda n, ones, pairs: ones.__setitem__((0, 2), 31), "got 31 for feature 2 .* which has 30 rows"),
        (lambda n, ones, pairs: pairs.__setitem__((0, 0), -1), "pairs must fit .* got -1 rows"),
        (lambda n, ones, pairs: pairs.__setitem__((0, 0), 30), "got 30 rows with features 0 and 1"),
        (
            lambda n, ones, pairs: (ones.fill(30), pairs.fill(29)),
            "got 29 rows .* of whose 30 rows 30 have the one",
        ),
    ],
)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_counts_are_checked(storage, change, message):
    parts = [part.copy() for part in arguments(counted(storage))]
    change(*parts[:3])
    with pytest.raises(ValueError, match=message):
        keys_of(parts)
    smoothing, words = _kernel.Smoothing("laplace", 1.0), BinaryRows.from_matrix(X).words(np.arange(60))
    roots = np.full(8, -1, np.int32)
    with pytest.raises(ValueError, match=message):
        _kernel.tree_joint_log(roots, words, 60, _kernel.Counts(*parts), np.zeros(2), smoothing)


def keys_of(parts):
    held = _kernel.Counts(*parts)
    return _kernel.cmi_keys(held) if len(parts) == 3 else _kernel.SparseKeys(held)


def arguments(counts):
    if counts.is_dense:
        return counts.class_count, counts.ones, counts.pairs
    return counts.class_count, counts.ones, counts.pairs.values, counts.pairs.indptr, counts.pairs.indices


def test_counts_of_2_billion_rows_are_compared_without_overflow():
    """1.5e9 + 1.5e9 is more than 32 bits hold."""
    n = np.array([15 * 10**8])
    ones = np.full((1, 2), 15 * 10**8, np.int32)
    counts = _kernel.Counts(n, ones, np.zeros((1, 1), np.int32))
    with pytest.raises(ValueError, match="got 0 rows with features 0 and 1"):
        _kernel.pair_keys(np.array([0]), np.array([1]), counts)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: _kernel.Selector(r, "best", np.zeros(8, np.int32), 1), "selection must be one of"),
        (lambda r: _kernel.Selector(r, "hip", np.zeros(7, np.int32), 1), "entry per feature: got 7 for 8"),
        (lambda r: _kernel.Selector(r, "rnb", np.zeros(8, np.int32), 0), "n_features must be above 0"),
    ],
)
def test_wrong_selections_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(kernel_relations(CHAIN))


@pytest.mark.parametrize("n_features", [2**31, 2**62, 2**63, 2**64 - 2])
def test_sizes_do_not_wrap_around(n_features):
    rows = np.zeros(257, np.int32), np.zeros(0, np.int32)
    for n in (65, 256):
        with pytest.raises(ValueError, match=f"must be at most 2147483647, got {n_features}"):
            _kernel.pack_sparse(*rows, n_features, np.arange(n))
    with pytest.raises(ValueError, match="must be at most 2147483647"):
        _kernel.spanning_tree(np.zeros(3, np.int64), n_features, 0)


@pytest.mark.parametrize("block", [2**63, 2**64 - 1])
def test_a_block_larger_than_all_edges_holds_them_all(block):
    keys, relations = np.array([5, 0, 3]), kernel_relations(Hierarchy.unrelated(["a", "b", "c"]))
    assert _kernel.Ranking(keys, relations, block).edges(9).tolist() == [[0, 1], [1, 2], [0, 2]]
    assert _kernel.hierarchical_tree(keys, relations, np.arange(3), block).tolist() == [-1, 0, 1]


@pytest.mark.parametrize("key", [2**62, 2**63 - 1, -(2**63)])
def test_keys_that_the_ranking_could_not_tell_apart_are_refused(key):
    with pytest.raises(ValueError, match="keys must be from"):
        _kernel.Ranking(np.array([5, key, 3]), kernel_relations(Hierarchy.unrelated(["a", "b", "c"])))


def test_weights_that_overflow_are_refused():
    """Numbers that are not finite would reach a sort."""
    children = np.minimum(np.arange(9), 7).astype(np.int32), np.arange(1, 8, dtype=np.int32)
    columns = np.tile(np.arange(8, dtype=np.int32), 8)[:60]
    rows = _kernel.NumberRows(np.arange(61), columns, np.full(60, 1.7e308), 8)
    weights = np.where(Y, 1.0, -1.0), np.full(60, 1 / 60)
    path = _kernel.LogisticPath(rows, *weights, _kernel.GraphPenalty(*children))
    with pytest.raises(ValueError, match="the values are too large: the weights of the regression overflow"):
        path.solve(np.ones(1), max_iter=9, tol=0.0)
    with pytest.raises(ValueError, match="in use by another thread, or a fit of it failed: make another"):
        path.solve(np.ones(1), max_iter=9, tol=0.0)


def test_a_path_resumes_where_its_last_call_ended():
    rng = np.random.default_rng(0)
    dense, lambdas = rng.normal(size=(60, 8)), np.array([0.1, 0.05, 0.02, 0.01])
    sign = np.where(dense[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)

    def make():
        """The path outlives the rows and the penalty that it was made from."""
        columns = np.tile(np.arange(8, dtype=np.int32), 60)
        rows = _kernel.NumberRows(np.arange(0, 481, 8), columns, dense.ravel(), 8)
        children = np.minimum(np.arange(9), 7).astype(np.int32), np.arange(1, 8, dtype=np.int32)
        return _kernel.LogisticPath(rows, sign, np.full(60, 1 / 60), _kernel.GraphPenalty(*children))

    expected, resumed = make().solve(lambdas, 1000, 1e-9), make()
    parts = [resumed.solve(lambdas[k : k + 1], 1000, 1e-9) for k in range(4)]
    for k, array in enumerate(expected):
        np.testing.assert_array_equal(np.concatenate([part[k] for part in parts]), array)


@pytest.mark.parametrize(
    ("sign", "weight", "d", "message"),
    [
        (np.ones(59), np.ones(60), 8, "sign must have an entry per row: got 59 for 60"),
        (np.ones(60), np.ones(61), 8, "weight must have an entry per row: got 61 for 60"),
        (np.zeros(60), np.ones(60), 8, "sign must be 1 or -1, got 0"),
        (np.ones(60), np.full(60, np.inf), 8, "weight must be finite, 0 or more, got inf"),
        (np.ones(60), np.ones(60), 9, "the rows have 9 features, but the penalty 8"),
    ],
)
def test_a_path_refuses_what_does_not_match_its_rows(sign, weight, d, message):
    rows = _kernel.NumberRows(np.arange(61), np.zeros(60, np.int32), np.ones(60), d)
    penalty = _kernel.GraphPenalty(np.zeros(9, np.int32), np.zeros(0, np.int32))
    with pytest.raises(ValueError, match=message):
        _kernel.LogisticPath(rows, sign, weight, penalty)
    with pytest.raises(ValueError, match="indices and values do not match each other: got 60 and 59"):
        _kernel.NumberRows(np.arange(61), np.zeros(60, np.int32), np.ones(59), 8)


def test_other_values_than_0_and_1_are_not_packed():
    with pytest.raises(ValueError, match="values must be 0 or 1, got others in row 1"):
        _kernel.pack_dense(np.array([[0, 1], [2, 0]], np.uint8), np.arange(2))


def test_counts_that_would_overflow_are_refused():
    words = np.ones((1, 2), np.uint64)
    for full in (2**31 - 1, -1):
        with pytest.raises(ValueError, match=f"count of ones must be from 0 to .* got {full}"):
            _kernel.count_words(words, np.full(2, full, np.int32), np.zeros(1, np.int32))
