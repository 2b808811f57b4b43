"""Dask collections of every kind give the bits of one machine, lazily, and outlive a worker."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from hietan import HIPNB, TAN, HieLogistic, Hierarchy, HierarchyWarning, HieTAN, HieTANLite, ProximalGraph
from hietan.datasets import make_hierarchical_classification
from hietan.selection import MinSupport
from support.comparison import estimator
from support.families import BAYES, name_of
from support.strategies import fixed_problems

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.usefixtures("one_thread")
PROBLEMS = sorted(fixed_problems(), key=lambda p: -len(p.y) * p.n_features)[:2]
PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")


@pytest.fixture(scope="module")
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def delayed_parts(table, size):
    return [dask.delayed(table[k : k + size]) for k in range(0, table.shape[0], size)]


def as_array(X, size):
    return da.from_array(X, chunks=(size, 2))  # more than one chunk of columns, too


def as_sparse_array(X, size):
    return da.from_array(X, chunks=(size, -1)).map_blocks(
        sp.csr_matrix, meta=sp.csr_matrix((0, 0), dtype=X.dtype)
    )


def as_delayed(X, size):
    return delayed_parts(sp.csr_array(X), size)


def as_frame(X, size):
    return dd.from_pandas(pd.DataFrame(X).add_prefix("x"), chunksize=size)


@pytest.mark.parametrize("container", [as_array, as_sparse_array, as_delayed])
@pytest.mark.parametrize("make", BAYES, ids=name_of)
def test_blocks_give_the_bits_of_one_machine(make, container):
    for problem in PROBLEMS:
        expected = estimator(problem, make).fit(problem.X_train, problem.y)
        for size in (4, 1000):
            y = (
                da.from_array(problem.y, chunks=5)
                if container is not as_delayed
                else delayed_parts(problem.y, size)
            )
            model = estimator(problem, make).fit(container(problem.X_train, size), y)
            np.testing.assert_array_equal(model.classes_, expected.classes_)
            np.testing.assert_array_equal(model.counts_.ones, expected.counts_.ones)
            blocks = container(problem.X_test, max(64, size))
            found = dask.compute(*(getattr(model, name)(blocks) for name in PREDICTIONS))
            for name, result in zip(PREDICTIONS, found, strict=True):
                np.testing.assert_array_equal(result, getattr(expected, name)(problem.X_test))


@pytest.mark.parametrize("make", [HieTANLite, HIPNB])
def test_frames_are_matched_by_name(make):
    data = make_hierarchical_classification(60, 20, random_state=0)
    frame = pd.DataFrame(data.X.toarray(), columns=data.feature_names)
    shuffled = frame[frame.columns[::-1]]
    labels = pd.Series(np.array(["no", "yes"])[data.y], index=frame.index)
    made = make(hierarchy=data.hierarchy)
    seeded = made.set_params(random_state=0) if "random_state" in made.get_params() else made
    expected = clone(seeded).fit(frame, labels)
    X, y = dd.from_pandas(frame, chunksize=13), dd.from_pandas(labels, chunksize=13)
    model = clone(seeded).fit(X, y)
    np.testing.assert_array_equal(model.feature_names_in_, expected.feature_names_in_)
    for name in PREDICTIONS:
        np.testing.assert_array_equal(getattr(model, name)(X).compute(), getattr(expected, name)(frame))
    some = X[X[data.feature_names[0]] > 5]  # nothing in any block
    assert model.predict(some).compute().shape == (0,)
    assert model.predict_proba(some).compute().shape == (0, 2)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(dd.from_pandas(shuffled, chunksize=13)).compute()


def test_predictions_stay_lazy():
    data = make_hierarchical_classification(50, 10, random_state=0)
    model = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)

    def never():
        raise RuntimeError("computed")

    for name in PREDICTIONS:
        result = getattr(model, name)([dask.delayed(never)()])
        assert isinstance(result, da.Array)
        with pytest.raises(RuntimeError, match="computed"):
            result.compute()
    known = model.predict_proba(da.from_array(data.X.toarray(), chunks=(20, -1)))
    assert known.shape == (50, 2) and known.chunks == ((20, 20, 10), (2,))


def test_labels_in_memory_are_divided_like_the_rows():
    data = make_hierarchical_classification(50, 10, random_state=0)
    X = da.from_array(data.X.toarray(), chunks=(20, -1))
    expected = TAN(random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(TAN(random_state=0).fit(X, data.y).predict(X), expected.predict(data.X))


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (lambda X: X, lambda y: y[:-1], ValueError, "50 rows but y has 49"),
        (lambda X: X, lambda y: da.from_array(y[:-1], chunks=20), ValueError, "50 rows but y has 49"),
        (lambda X: delayed_parts(X.compute(), 20), lambda y: y, ValueError, "cannot be split to match"),
        (lambda X: X, lambda y: delayed_parts(y, 25), ValueError, "3 blocks of rows but y has 2"),
        (lambda X: dask.delayed(X), lambda y: y, TypeError, "wrap a single delayed block in a list"),
        (lambda X: X, lambda y: np.zeros(50), ValueError, "only one class"),
        (lambda X: X, lambda y: y + 0.5, ValueError, "continuous"),
    ],
)
def test_what_does_not_fit_is_refused(X, y, error, message):
    data = make_hierarchical_classification(50, 10, random_state=0)
    rows = da.from_array(data.X.toarray(), chunks=(20, -1))
    with pytest.raises(error, match=message):
        TAN().fit(X(rows), y(data.y))


def test_only_fit_and_predictions_take_collections():
    data = make_hierarchical_classification(50, 10, random_state=0)
    X = da.from_array(data.X.toarray(), chunks=(20, -1))
    model = TAN().fit(X, data.y)
    with pytest.raises(TypeError, match="X.compute()"):
        model.trees(X)
    with pytest.raises(TypeError, match="partial_fit needs rows in memory"):
        model.partial_fit(X, data.y)


@pytest.mark.parametrize("container", [as_array, as_sparse_array, as_delayed, dask.delayed])
def test_proximal_graph_says_that_it_takes_no_collections(container):
    data = make_hierarchical_classification(50, 10, random_state=0)
    model = ProximalGraph(hierarchy=data.hierarchy, lam=0.01).fit(data.X, data.y)
    rows = data.X.toarray()
    X = container(rows) if container is dask.delayed else container(rows, 20)
    calls = [getattr(model, name) for name in ("decision_function", "explain", *PREDICTIONS[:3])]
    calls += [lambda X: model.fit(X, data.y), lambda X: ProximalGraph().fit(rows, X)]
    for call in calls:
        with pytest.raises(TypeError, match=r"ProximalGraph needs rows in memory, got a Dask \w+; "):
            call(X)


@pytest.mark.parametrize("container", [as_array, as_sparse_array, as_delayed, dask.delayed])
def test_hie_logistic_says_that_it_is_not_fitted_to_collections(container):
    data = make_hierarchical_classification(50, 10, random_state=0)
    model = HieLogistic(hierarchy=data.hierarchy).fit(data.X, data.y)
    rows = data.X.toarray()
    X = container(rows) if container is dask.delayed else container(rows, 20)
    with pytest.raises(
        TypeError, match=r"HieLogistic.explain needs rows in memory, got a Dask \w+; predictions can be lazy"
    ):
        model.explain(X)
    for call in (lambda X: model.fit(X, data.y), lambda X: HieLogistic().fit(rows, X)):
        with pytest.raises(TypeError, match=r"HieLogistic needs rows in memory, got a Dask \w+; every step"):
            call(X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("container", [as_array, as_sparse_array, as_delayed])
def test_hie_logistic_predicts_collections_lazily(container, n_classes):
    data = make_hierarchical_classification(50, 10, random_state=0)
    rows, y = data.X.toarray(), data.y if n_classes == 2 else np.arange(50) % 3
    model = HieLogistic(hierarchy=data.hierarchy).fit(rows, y)
    X = container(rows, 20)
    for name in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        lazy = getattr(model, name)(X)
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), getattr(model, name)(rows))


@pytest.mark.parametrize("container", [as_array, as_sparse_array, as_frame, as_delayed, dask.delayed])
def test_columns_are_chosen_in_memory(container):
    data = make_hierarchical_classification(60, 15, random_state=0)
    rows = data.X.toarray()
    model = MinSupport(HieTAN(), 2).fit(rows, data.y)
    before = model.predict_proba(rows)
    X = container(rows) if container is dask.delayed else container(rows, 20)
    calls = [model.predict, model.predict_proba, model.predict_log_proba, model.trees, model.explain]
    calls += [lambda X: MinSupport(HieTAN()).fit(X, data.y), lambda X: MinSupport(HieTAN()).fit(rows, X)]
    for call in calls:
        with pytest.raises(
            TypeError, match=r"MinSupport needs rows in memory, got a Dask \w+; .*\.compute\(\)"
        ):
            call(X)
    np.testing.assert_array_equal(model.predict_proba(rows), before)


def test_rows_that_contradict_the_hierarchy_are_told_as_in_memory():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    X = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    with pytest.warns(HierarchyWarning) as here:
        HieTAN(hierarchy=hierarchy).fit(X, y)
    with pytest.warns(HierarchyWarning) as there:
        HieTAN(hierarchy=hierarchy).fit(da.from_array(X, chunks=(2, 3)), y)
    assert "in row 3, 'b' is 1 but its parent 'a' is 0" in str(here[0].message)
    assert str(there[0].message) == str(here[0].message)


def test_empty_blocks_bring_neither_labels_nor_their_kind():
    X, y = np.eye(4, dtype=np.int64), np.array([0, 1, 0, 1])
    blocks = [*delayed_parts(X, 2), dask.delayed(X[:0])]
    model = TAN(random_state=0).fit(blocks, [dask.delayed(part) for part in (y[:2], y[2:], np.array([]))])
    assert model.classes_.dtype == y.dtype
    with pytest.raises(
        ValueError, match="a block has 0 rows of X but 2 labels; split X and y into the same blocks"
    ):
        TAN().fit(blocks, [dask.delayed(part) for part in (y[:2], y[2:], np.array([7, 7]))])
    with pytest.raises(ValueError, match="X has no rows"):
        TAN().fit([dask.delayed(X[:0])], [dask.delayed(y[:0])])


def test_dimensions_that_do_not_fit():
    with pytest.raises(ValueError, match="X has 1 dimension"):
        TAN().fit(da.ones(6, chunks=3), np.arange(6))
    with pytest.raises(ValueError, match="y has 2 dimension"):
        TAN().fit(da.ones((6, 2), chunks=3), da.ones((6, 1), chunks=3))
