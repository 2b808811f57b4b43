"""The TAN family on the 28 datasets of ageing-related genes: whole, in folds, in chunks, in threads."""

import itertools

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from hietan import HRETAN, TAN, HieTAN, HieTANLite
from hietan._runtime import parallel
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.structure._edges import EdgeRanking
from support import twins
from support.families import TREES
from support.storages import kept
from support.twins.quick_walks import walk

# The smallest and the largest dataset of each organism; those in between take patience.
DATASETS = [
    pytest.param(*names, marks=() if names[1] in ("CC", "BPMFCC") else pytest.mark.patient)
    for names in AGEING_DATASETS
]


@pytest.mark.parametrize(("organism", "namespaces"), DATASETS, ids=str)
def test_folds_whatever_the_chunks_and_threads(real_data, organism, namespaces, monkeypatch):
    """The first of ten folds of every dataset; all ten of the smallest ones."""
    data = fetch_ageing_genes(organism, namespaces)
    assert data.hierarchy.is_closed(data.X)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    n_folds = 10 if namespaces == "CC" else 1
    for fold, (training, test) in enumerate(itertools.islice(folds.split(data.X, data.y), n_folds)):
        for method in TREES:
            clf = method(hierarchy=data.hierarchy, random_state=0).fit(data.X[training], data.y[training])
            expected = clf.predict_joint_log_proba(data.X[test])
            assert np.isfinite(expected).all()
            everything = clf.predict_joint_log_proba(data.X)  # other neighbours in the batch, other chunks
            np.testing.assert_array_equal(everything[test], expected)
            with monkeypatch.context() as patch:
                patch.setattr(parallel, "MAX_CHUNK_ROWS", 64)
                np.testing.assert_array_equal(clf.predict_joint_log_proba(data.X), everything)
            if fold == 0:
                with kept("sparse"):
                    sparse = method(hierarchy=data.hierarchy, random_state=0)
                    sparse.fit(data.X[training], data.y[training])
                assert not sparse.counts_.is_dense
                np.testing.assert_array_equal(sparse.predict_joint_log_proba(data.X), everything)
            clf.set_params(n_jobs=2)
            np.testing.assert_array_equal(clf.predict_joint_log_proba(data.X), everything)
            half = len(training) // 3
            parts = method(hierarchy=data.hierarchy, random_state=0)
            parts.partial_fit(data.X[training[:half]], data.y[training[:half]], classes=[0, 1])
            parts.partial_fit(data.X[training[half:]].toarray(), data.y[training[half:]])
            np.testing.assert_array_equal(parts.predict_joint_log_proba(data.X[test]), expected)


@pytest.mark.parametrize("smoothing", [pytest.param("laplace", marks=pytest.mark.patient), "pooled", "odds"])
def test_real_rows_against_the_twins(real_data, smoothing):
    """The smallest dataset, every ninth gene: trees exactly, joint log-probabilities to 1e-9."""
    data = fetch_ageing_genes("fly", "CC")
    X, d = data.X.toarray(), data.X.shape[1]
    index = {name: v for v, name in enumerate(data.feature_names)}
    ancestors = [{index[a] for a in data.hierarchy.ancestors(name)} for name in data.feature_names]
    counts = twins.count(X.tolist(), data.y.tolist(), 2, d)
    ranked = twins.ranking(counts)
    rows = X[::9]
    for method in TREES:
        clf = method(hierarchy=data.hierarchy, smoothing=smoothing, random_state=0).fit(data.X, data.y)
        order = clf.root_order_.tolist()
        if method is TAN:
            expected_trees = [twins.tan_tree(d, ranked, order)] * len(rows)
        elif method is HieTAN:
            expected_trees = [twins.hie_tan_tree(ranked, ancestors, order)] * len(rows)
        else:
            learn = twins.hie_tan_lite_tree if method is HieTANLite else twins.hre_tan_tree
            expected_trees = [learn(x, ranked, ancestors, order, counts) for x in rows.tolist()]
        joint = clf.predict_joint_log_proba(rows)
        for x, tree, got, twin in zip(rows.tolist(), clf.trees(rows), joint, expected_trees, strict=True):
            assert tree.parent.tolist() == twin
            expected = twins.joint_log(x, tree.parent.tolist(), counts, 1.0, smoothing)
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


def test_real_trees_over_several_blocks_of_edges(real_data):
    """Worm BPMFCC: 708,645 edges, of which the kernel sorts what it needs, block after block."""
    data = fetch_ageing_genes("worm", "BPMFCC")
    index = {name: v for v, name in enumerate(data.feature_names)}
    ancestors = [{index[a] for a in data.hierarchy.ancestors(name)} for name in data.feature_names]
    rows = data.X[::90].toarray()
    for method, directed in ((HieTAN, True), (HieTANLite, True), (HRETAN, False)):
        clf = method(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
        ranking = EdgeRanking(clf.counts_, clf.hierarchy_)
        edges, lone, order = ranking.edges().tolist(), ranking.lone_feature, clf.root_order_.tolist()
        if method is HieTAN:
            assert clf.tree_.parent.tolist() == walk(edges, ancestors, order, directed=True)
            continue
        for x, tree in zip(rows.tolist(), clf.trees(rows), strict=True):
            assert tree.parent.tolist() == walk(edges, ancestors, order, directed=directed, x=x, lone=lone)
