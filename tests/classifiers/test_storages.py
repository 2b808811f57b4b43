"""Dense or sparse pair counts, edges sorted at once or in blocks: no number that follows from them differs in a bit.

Whatever other tests show of one way of keeping counts therefore holds of all of them.
"""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.structure._counts import count_pairs
from hietan.structure._edges import EdgeRanking
from hietan.structure._rows import BinaryRows
from support.comparison import estimator, fitted, frame, own_hierarchy
from support.families import LAZY_TREES, OF_PAIRS, TREES, name_of, seeded
from support.storages import WAYS, kept
from support.strategies import examples, fixed_problems, larger_problems, problems

EITHER_SIZE = st.one_of(problems(min_features=1), larger_problems())
FIXED = fixed_problems(16)
every_classifier = pytest.mark.parametrize("make", OF_PAIRS, ids=name_of)


def statistics(problem, storage, block):
    """Counts, keys and ranking of a problem, as one way of keeping them has it."""
    rows = BinaryRows.from_matrix(problem.X_train)
    counts = count_pairs(rows, problem.y, problem.n_classes, storage=storage)
    assert counts.is_dense == (storage == "dense")
    ranking = EdgeRanking(counts, own_hierarchy(problem), block=block)
    features = range(problem.n_features)
    pairs = [(i, j) for i in features for j in features if i < j]
    keys = ranking.keys if counts.is_dense else np.concatenate([ranking.keys.row(i) for i in features])
    roots = np.random.default_rng(problem.seed).permutation(problem.n_features)
    return {
        "ones": counts.ones.tolist(),
        "rows": [counts.row(i).tolist() for i in features],
        "pairs": [counts.both(i, j).tolist() for i, j in pairs],
        "dense": counts.to_dense().pairs.tolist(),
        "keys": keys.tolist(),
        "edges": ranking.edges().tolist(),
        "first edges": EdgeRanking(counts, own_hierarchy(problem), block=block).edges(2).tolist(),
        "lone feature": ranking.lone_feature,
        "trees": [ranking.tree(roots, directed=directed).tolist() for directed in (True, False)],
    }


def results(model, rows):
    """All that a fitted model says of some rows, to the last bit."""
    found = {
        "counts": model.counts_.to_dense().pairs.tolist(),
        "joint": model.predict_joint_log_proba(rows).tolist(),
        "explanations": [explanation.to_dict() for explanation in model.explain(rows)],
    }
    if type(model) in TREES:
        found["trees"] = [tree.parent.tolist() for tree in model.trees(rows)]
    return found


def as_kept(way, make, problem, rows):
    with kept(*way):
        model = fitted(problem, make)
        assert model.counts_.is_dense == (way[0] == "dense")
        return results(model, rows)


@given(problem=EITHER_SIZE)
@examples(80)
def test_counts_keys_and_rankings(problem):
    expected, *others = (statistics(problem, *way) for way in WAYS)
    for way, found in zip(WAYS[1:], others, strict=True):
        assert found == expected, way


@given(problem=EITHER_SIZE)
@examples(30)
def test_trees_joints_and_explanations(problem):
    rows = frame(problem, np.unique(problem.X_test, axis=0)[:6])
    for make in OF_PAIRS:
        expected, *others = (as_kept(way, make, problem, rows) for way in WAYS)
        for way, found in zip(WAYS[1:], others, strict=True):
            assert found == expected, (make, way)


@pytest.mark.patient
@every_classifier
def test_fixed_problems(make):
    for problem in FIXED:
        rows = frame(problem, np.unique(problem.X_test, axis=0))
        expected, *others = (as_kept(way, make, problem, rows) for way in WAYS)
        for way, found in zip(WAYS[1:], others, strict=True):
            assert found == expected, way


@every_classifier
def test_parts_blocks_and_files(make, tmp_path):
    """Counts that are added up, of parts or of Dask's blocks, and counts that come back from a file."""
    for problem in FIXED[-4:]:
        X, y, rows = problem.X_train, problem.y, np.unique(problem.X_test, axis=0)
        expected = results(estimator(problem, make).fit(X, y), rows)
        for way in WAYS:
            with kept(*way), dask.config.set(scheduler="synchronous"):
                parts = estimator(problem, make)
                for part in (slice(None, len(y) // 2), slice(len(y) // 2, None)):
                    parts.partial_fit(sp.csr_array(X[part]), y[part], classes=range(problem.n_classes))
                blocks = estimator(problem, make).fit(da.from_array(X, chunks=(4, -1)), y)
                hietan.save(blocks, tmp_path / "model")
                loaded = hietan.load(tmp_path / "model")
                for model in (parts, blocks, loaded):
                    assert model.counts_.is_dense == (way[0] == "dense")
                    assert results(model, rows) == expected, way


@pytest.mark.slow
@pytest.mark.parametrize("make", LAZY_TREES, ids=name_of)
def test_wide_data_that_are_kept_sparse_unasked(make):
    data = make_hierarchical_classification(60, 4200, density=0.004, random_state=0)
    model, dense = (make(hierarchy=data.hierarchy, **seeded(make)) for _ in range(2))
    model.fit(data.X, data.y)
    with kept("dense"):
        dense.fit(data.X, data.y)
    assert not model.counts_.is_dense and dense.counts_.is_dense
    rows = data.X[:3]
    np.testing.assert_array_equal(model.predict_joint_log_proba(rows), dense.predict_joint_log_proba(rows))
    assert model.trees(rows) == dense.trees(rows)
