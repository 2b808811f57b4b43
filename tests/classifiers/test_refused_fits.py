"""A refused fit leaves no model, and no NaN or infinity comes out of one: the same for every estimator."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from hietan import Hierarchy, HieTAN, ProximalGraph
from hietan.exceptions import DataWarning, HierarchyWarning
from hietan.selection import MinSupport
from support.families import BAYES, CLASSIFIERS, name_of, seeded
from support.strategies import examples

pytestmark = pytest.mark.slow

HIERARCHY = Hierarchy.from_edges([("a", "b"), ("a", "c")])
X = np.tile([[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 0, 0]], (4, 1))
Y = np.tile([0, 1, 0, 1, 0, 1], 4)


def over_min_support(**options):
    return MinSupport(HieTAN(**options, random_state=0))


def over_proximal_graph(**options):
    return MinSupport(ProximalGraph(**options, random_state=0))


def with_hierarchy(make):
    return make(hierarchy=HIERARCHY, **(seeded(make) if make in CLASSIFIERS else {}))


ESTIMATORS = [*CLASSIFIERS, over_min_support, over_proximal_graph]


@pytest.fixture(params=ESTIMATORS, ids=name_of)
def make(request):
    return request.param


REFUSED = {
    "one class": (X, ["z"] * 24),
    "NaN": (np.where(X == 1, np.nan, 0), Y),
    "no rows": (X[:0], Y[:0]),
    "rows without labels": (X, Y[:5]),
    "numbers as labels": (X, Y + 0.5),
    "other columns": (X[:, :2], np.array(["c", "d"])[Y]),
    "text": (np.where(X == 1, "one", "none"), Y),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_refused_fit_leaves_no_model(make, why):
    model = with_hierarchy(make).fit(X, np.array(["a", "b"])[Y])
    with pytest.raises(ValueError):  # noqa: PT011 - many reasons, of which each has a test of its own
        model.fit(*REFUSED[why])
    methods = [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
        "explain",
        "contributions",
        "trees",
        "selected",
    ]
    for method in methods:
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(model, method)(X)
    for attribute in ("tree_", "selected_features_"):
        assert not hasattr(model, attribute)
    expected = with_hierarchy(make).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), expected)


def test_parameters_that_are_refused_leave_the_model_as_it_was():
    model = ProximalGraph(hierarchy=HIERARCHY, lam=0.01).fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="lam must be a number above 0"):
        model.set_params(lam=-1).fit(X, 1 - Y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


finite = st.one_of(
    st.sampled_from(
        [0.0, 1.0, -1.0, 1e-320, -5e-324, 1e-200, 1e20, -1e60, 1e77, 1e154, -1e160, 1e300, 1.79e308]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.parametrize("make", [m for m in ESTIMATORS if "roximal" not in m.__name__], ids=name_of)
@examples(25)
@given(
    values=st.lists(finite, min_size=3, max_size=18),
    others=st.lists(finite, min_size=3, max_size=6),
    data=st.data(),
)
def test_no_number_makes_a_model_that_is_not_finite(make, values, others, data):
    """Any finite floats, alone and among ordinary ones, in fits and in predictions, dense and sparse."""
    table = X[:12].astype(float)
    table.flat[data.draw(st.permutations(range(36)))[: len(values)]] = values
    rows = np.resize(others, (2, 3))
    if data.draw(st.booleans()):
        table, rows = sp.csr_array(table), sp.csr_array(rows)
    classes = data.draw(st.sampled_from([Y[:12], np.arange(12) % 3]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for expected in (ConvergenceWarning, HierarchyWarning, DataWarning):
            warnings.simplefilter("ignore", expected)
        try:
            model = make().fit(table, classes)
        except ValueError as refused:
            reason = str(refused)
            assert "columns of X" in reason
            return
        for made in (table, rows):
            answers = [model.predict_proba(made), model.predict_log_proba(made)]
            assert all(np.isfinite(answer).all() for answer in answers)
            np.testing.assert_allclose(answers[0].sum(axis=1), 1)
            assert set(model.predict(made)) <= set(classes)
            for found in model.explain(made):
                parts = [part.contribution for part in found.contributions]
                assert np.isfinite([found.log_odds, found.base, *parts]).all() and found.text()


@pytest.mark.parametrize("size", [1e61, 1e160, 1.7e308, 1e-61, 5e-324])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_numbers_beyond_the_range_of_a_fit_are_refused(size, storage):
    table = X * size if size < 1 else np.where((np.arange(24) == 3)[:, None], size, X)
    with pytest.raises(
        ValueError,
        match="largest absolute value in X is .*; it must be 0, or from 1e-60 to 1e60, so rescale X",
    ):
        ProximalGraph(lam=0.01).fit(storage(table), Y)


def test_a_score_that_overflows_is_refused():
    model = ProximalGraph(lam=0.001).fit(X, Y)
    model.coef_ = model.coef_ * 100
    with pytest.raises(
        ValueError,
        match=r"the log-odds of row 1 are not finite, because X contains absolute values up to 1\.7e\+308",
    ):
        model.predict_proba([[1, 0, 0], [1.7e308, -1.7e308, 1.7e308]])


@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
@pytest.mark.parametrize("alpha", [1e-300, 9e299])
@pytest.mark.parametrize("make", BAYES, ids=name_of)
def test_the_smallest_and_the_largest_alpha_give_probabilities(make, alpha, smoothing):
    model = make(alpha=alpha, smoothing=smoothing).partial_fit(X[:3], Y[:3], classes=[0, 1, 2])
    for answer in (model.predict_joint_log_proba(X), model.predict_log_proba(X), model.predict_proba(X)):
        assert np.isfinite(answer).all()
