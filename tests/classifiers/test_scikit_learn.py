"""The classifiers among scikit-learn's: its own checks, its tools, every container of data."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from hietan import Hierarchy, HieTAN, ProximalGraph
from hietan.datasets import make_hierarchical_classification
from support.families import BAYES, TREES, name_of, seeded


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")  # about numbers that are not 0 and 1
@parametrize_with_checks([classifier() for classifier in BAYES])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(150, 40, density=0.2, random_state=3)


@pytest.fixture(params=BAYES, ids=name_of)
def classifier(request, data):
    return request.param(hierarchy=data.hierarchy, **seeded(request.param))


@pytest.fixture(params=TREES, ids=name_of)
def tree_classifier(request, data):
    return request.param(hierarchy=data.hierarchy, random_state=0)


CONTAINERS = {
    "uint8": lambda X, names: X,
    "bool": lambda X, names: X.astype(bool),
    "float64": lambda X, names: X.astype(float),
    "float32, Fortran order": lambda X, names: np.asfortranarray(X.astype(np.float32)),
    "list": lambda X, names: X.tolist(),
    "every other column of a wider array": lambda X, names: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": lambda X, names: _read_only(X),
    "csr_array": lambda X, names: sp.csr_array(X),
    "csc_array": lambda X, names: sp.csc_array(X),
    "csr_matrix": lambda X, names: sp.csr_matrix(X.astype(float)),
    "csc_matrix": lambda X, names: sp.csc_matrix(X),
    "coo_array": lambda X, names: sp.coo_array(X),
    "csr with 64-bit indices": lambda X, names: _wide_indices(sp.csr_array(X)),
    "csr with stored zeros": lambda X, names: _stored_zeros(X),
    "csr unsorted, in halves": lambda X, names: _in_halves(X),
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "pandas, sparse columns": lambda X, names: pd.DataFrame.sparse.from_spmatrix(
        sp.csr_matrix(X), columns=names
    ),
    "pandas, mixed types": lambda X, names: pd.DataFrame(X, columns=names).astype(
        {names[0]: bool, names[1]: float}
    ),
    "polars": lambda X, names: pl.DataFrame(X, schema=list(names)),
}


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _wide_indices(X):
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return X


def _stored_zeros(X):
    full = sp.csr_array(np.ones_like(X))
    full.data = X.ravel().copy()
    return full


def _in_halves(X):
    """Each 1 stored as two entries of 0.5, the columns of a row from right to left."""
    _, columns = np.nonzero(X[:, ::-1])
    indices = np.repeat(X.shape[1] - 1 - columns, 2)
    indptr = np.concatenate([[0], 2 * np.cumsum(X.sum(axis=1))])
    return sp.csr_array((np.full(indices.size, 0.5), indices, indptr), shape=X.shape)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_model(classifier, data, container):
    X = data.X.toarray()
    expected = clone(classifier).fit(X, data.y).predict_joint_log_proba(X)
    held = CONTAINERS[container](X, data.feature_names)
    got = classifier.fit(held, data.y).predict_joint_log_proba(held)
    np.testing.assert_array_equal(got, expected)


def test_named_columns_are_matched_by_name(classifier, data):
    X = pd.DataFrame(data.X.toarray(), columns=data.feature_names)
    shuffled = X.sample(frac=1, axis=1, random_state=1)
    classifier.fit(shuffled, data.y)
    order = [shuffled.columns.get_loc(name) for name in X.columns]
    # The same problem with its columns in another order, unnamed, and a hierarchy in that order.
    twin = clone(classifier).set_params(hierarchy=data.hierarchy.restrict(shuffled.columns))
    twin.fit(shuffled.to_numpy(), data.y)
    np.testing.assert_array_equal(twin.predict_proba(shuffled.to_numpy()), classifier.predict_proba(shuffled))
    assert classifier.hierarchy_.features == tuple(shuffled.columns)
    assert list(classifier.feature_names_in_[order]) == list(X.columns)


def test_columns_that_the_hierarchy_does_not_know_are_related_to_nothing(tree_classifier, data):
    X = pd.DataFrame(data.X.toarray(), columns=data.feature_names)
    X.insert(5, "weight", np.arange(len(X)) % 3 == 0)
    tree_classifier.fit(X, data.y)
    assert not tree_classifier.hierarchy_.ancestors("weight") and not tree_classifier.hierarchy_.descendants(
        "weight"
    )
    assert all(
        "weight" in tree.features for tree in tree_classifier.trees(X)
    )  # nothing can make it redundant


def test_relations_run_through_terms_that_are_not_columns():
    hierarchy = Hierarchy.from_edges([("top", "hidden"), ("hidden", "leaf")])
    X = pd.DataFrame({"leaf": [1, 1, 0, 0, 0, 0], "top": [1, 1, 1, 1, 0, 0]})
    clf = HieTAN(hierarchy=hierarchy, random_state=0).fit(X, [1, 0, 1, 0, 1, 0])
    assert clf.tree_.edges == (("top", "leaf"),)


def test_pickle_round_trip(classifier, data):
    classifier.fit(data.X, data.y)
    before = classifier.predict_joint_log_proba(data.X)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_joint_log_proba(data.X), before)
    if isinstance(classifier, tuple(TREES)):
        assert again.trees(data.X) == classifier.trees(data.X)


@pytest.mark.slow
def test_grid_search_over_the_smoothing(classifier, data):
    grid = {"alpha": [0.1, 1.0], "smoothing": ["laplace", "pooled"]}
    with parallel_config("threading"):
        search = GridSearchCV(classifier, grid, cv=3, scoring="roc_auc", n_jobs=2).fit(data.X, data.y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.5
    assert len(set(search.cv_results_["mean_test_score"])) > 1


def test_pipeline_and_cross_val_score(classifier, data):
    steps = make_pipeline(Binarizer(), VarianceThreshold(), clone(classifier).set_params(hierarchy=None))
    assert cross_val_score(steps, data.X.toarray(), data.y, cv=5, scoring="roc_auc").mean() > 0.6
    assert cross_val_score(classifier, data.X, data.y, cv=5, scoring="roc_auc").mean() > 0.6


def test_random_state_draws_the_root_order(tree_classifier, data):
    tree_classifier.fit(data.X, data.y)
    expected = np.random.RandomState(0).permutation(data.X.shape[1])
    np.testing.assert_array_equal(tree_classifier.root_order_, expected)


def test_a_generator_is_a_random_state(data):
    for make in TREES:
        model = make(hierarchy=data.hierarchy, random_state=np.random.default_rng(7)).fit(data.X, data.y)
        expected = np.random.default_rng(7).permutation(data.X.shape[1])
        np.testing.assert_array_equal(model.root_order_, expected)
    chosen = [
        ProximalGraph(random_state=np.random.default_rng(7), tol=1e-2).fit(data.X[:60], data.y[:60]).lam_
        for _ in range(2)
    ]
    assert chosen[0] == chosen[1]
