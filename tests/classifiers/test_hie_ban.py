"""HieBAN against its plain Python twin, and its leave-one-out scores against really leaving rows out."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import BernoulliNB

from hietan import HieBAN, Hierarchy, HierarchyWarning
from hietan._runtime import parallel
from hietan.classifiers._solvers.leave_one_out import ALPHA_GRID
from hietan.datasets import fetch_ageing_genes, make_hierarchical_classification
from hietan.evaluation._outputs.report_data import Reasons, compact
from support import twins
from support.comparison import estimator, frame, ontology
from support.comparison import fitted as fitted_over_columns
from support.strategies import larger_problems, problems

pytestmark = pytest.mark.filterwarnings("ignore::hietan.HierarchyWarning")
EXACT = {"rtol": 1e-12, "atol": 1e-12}
DATA = make_hierarchical_classification(200, 60, n_classes=3, density=0.2, random_state=0)


def fitted(problem, **options):
    return fitted_over_columns(problem, HieBAN, hierarchy=ontology(problem), **options)


def twin_of(problem):
    """The parents and the counts of the twin."""
    parents = twins.direct_parents(problem.names, problem.edges)
    rows, labels = problem.X_train.tolist(), problem.y.tolist()
    return parents, twins.count_open(rows, labels, problem.n_classes, parents)


def priors_of(problem):
    """None, and a prior that is not that of the data."""
    weights = np.arange(1, problem.n_classes + 1)
    return None, weights / weights.sum()


def assert_agrees(problem):
    parents, counts = twin_of(problem)
    rows = np.unique(problem.X_test, axis=0)
    for prior in priors_of(problem):
        found = fitted(problem, class_prior=prior)
        np.testing.assert_array_equal(found.counts_.ones, counts.ones)
        np.testing.assert_array_equal(found.counts_.open, counts.open)
        settings = parents, problem.alpha, problem.smoothing, prior
        expected = [twins.ban_joint_log(x, counts, *settings) for x in rows.tolist()]
        np.testing.assert_allclose(found.predict_joint_log_proba(frame(problem, rows)), expected, **EXACT)


@given(problem=problems(min_features=1))
def test_small_problems_agree_with_the_twin(problem):
    assert_agrees(problem)


@given(problem=larger_problems())
def test_larger_problems_agree_with_the_twin(problem):
    assert_agrees(problem)


@given(problem=problems(min_features=1))
def test_leaving_one_out_is_what_is_left_without_the_row(problem):
    parents, _ = twin_of(problem)
    rows, labels = problem.X_train.tolist(), problem.y.tolist()
    for prior in priors_of(problem):
        model = fitted(problem, class_prior=prior)
        found = model.leave_one_out_joint_log_proba(frame(problem, problem.X_train), problem.y)
        settings = problem.n_classes, parents, problem.alpha, problem.smoothing, prior
        np.testing.assert_allclose(found, twins.ban_leave_one_out(rows, labels, *settings), **EXACT)


@given(problem=problems(min_features=1))
def test_rows_give_the_same_bits_however_they_are_stored_and_divided(problem):
    X, whole = problem.X_test, fitted(problem)
    expected = whole.predict_joint_log_proba(frame(problem, X))
    parts = estimator(problem, HieBAN, hierarchy=ontology(problem))
    for start in range(0, len(problem.y), 7):
        rows = slice(start, start + 7)
        parts.partial_fit(frame(problem, problem.X_train[rows]), problem.y[rows], classes=whole.classes_)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        patch.setattr(parallel, "MAX_CHUNK_ROWS", 64)
        for model in (whole, parts, whole.set_params(n_jobs=2)):
            for table in (X, X.astype(float), sp.csr_matrix(X), sp.csc_array(X * 2.5)):
                np.testing.assert_array_equal(model.predict_joint_log_proba(table), expected)
    single = [whole.predict_joint_log_proba(frame(problem, X[k : k + 1])) for k in range(min(5, len(X)))]
    np.testing.assert_array_equal(np.concatenate(single), expected[:5])


def test_without_a_hierarchy_it_is_naive_bayes():
    X, y = DATA.X.toarray(), DATA.y
    found = HieBAN(smoothing="laplace", class_prior=[1 / 3] * 3).fit(X, y).predict_log_proba(X)
    expected = BernoulliNB(class_prior=[1 / 3] * 3).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_feature_counts_only_where_all_its_parents_are_1():
    hierarchy = Hierarchy.from_edges([("a", "c"), ("b", "c")], ["a", "b", "c"])
    rows = [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 0]]  # the fourth is not closed
    with pytest.warns(HierarchyWarning, match="in row 3, 'c' is 1 but its parent 'a' is 0"):
        model = HieBAN(hierarchy=hierarchy).fit(np.array(rows), [0, 1, 0, 1, 0])
    assert model.counts_.open.tolist() == [[3, 3, 1], [2, 2, 1]]
    assert model.counts_.ones.tolist() == [[2, 1, 1], [1, 2, 0]]
    explained = model.explain(np.array(rows))
    kept = [[part.feature for part in explanation.contributions] for explanation in explained]
    assert kept == [["a", "b", "c"], ["a", "b", "c"], ["a", "b"], ["a", "b"], ["a", "b"]]
    assert explained[0].contributions[2].parent == "a" and explained[0].contributions[2].parent_value == 1


@pytest.mark.parametrize("shown", [None, 2])
def test_explanations_of_rows_that_are_not_closed_can_be_stored(shown):
    """The parent that is named must be among the features that are shown, even where it is not open itself."""
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("c", "d")], ["d", "c", "b", "a"])
    rows = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1]])
    model = HieBAN(hierarchy=hierarchy).fit(rows, [0, 1, 0, 1])
    for explanation in model.explain(rows):
        stored = compact(explanation, Reasons(), **({} if shown is None else {"shown": shown}))
        assert not stored["tree"] and max(stored["parents"]) < len(stored["features"])
        assert explanation.total() == pytest.approx(explanation.log_odds, abs=1e-12)
        named = {part.parent for part in explanation.contributions} - {None}
        assert named <= {part.feature for part in explanation.contributions}


@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
def test_real_rows_agree_with_the_twin(real_data, smoothing):
    data = fetch_ageing_genes("fly", "CC")
    parents = twins.direct_parents(data.feature_names, data.hierarchy.edges)
    rows, labels = data.X.toarray().tolist(), data.y.tolist()
    counts = twins.count_open(rows, labels, 2, parents)
    expected = [twins.ban_joint_log(x, counts, parents, 1.0, smoothing) for x in rows[::9]]
    model = HieBAN(hierarchy=data.hierarchy, smoothing=smoothing).fit(data.X, data.y)
    np.testing.assert_allclose(model.predict_joint_log_proba(data.X)[::9], expected, **EXACT)


@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
@pytest.mark.parametrize("alpha", [1e-300, 1e-9, 1e9, 1e299])
def test_scores_stay_finite_for_every_alpha(alpha, smoothing):
    model = HieBAN(hierarchy=DATA.hierarchy, alpha=alpha, smoothing=smoothing).fit(DATA.X, DATA.y)
    assert np.isfinite(model.predict_joint_log_proba(1 - DATA.X.toarray())).all()
    assert np.isfinite(model.leave_one_out_joint_log_proba(DATA.X, DATA.y)).all()


# --------------------------------------------------------------------------------- leaving one out


def test_leaving_one_out_takes_some_of_the_training_rows():
    model = HieBAN(hierarchy=DATA.hierarchy).fit(DATA.X, DATA.y)
    all_rows = model.leave_one_out_joint_log_proba(DATA.X, DATA.y)
    some = np.array([150, 3, 77])
    found = model.leave_one_out_joint_log_proba(DATA.X[some], np.asarray(DATA.y)[some])
    np.testing.assert_array_equal(found, all_rows[some])


def test_leaving_one_out_refuses_rows_that_are_not_training_rows():
    X, y = DATA.X.toarray(), np.asarray(DATA.y)
    model = HieBAN(hierarchy=DATA.hierarchy).fit(X[:100], y[:100])
    for rows, labels in (
        (1 - X[:100], y[:100]),
        (X[:100], np.full(100, y[0])),
        (np.repeat(X[:100], 2, axis=0), np.repeat(y[:100], 2)),
    ):
        with pytest.raises(ValueError, match="these rows are not training rows"):
            model.leave_one_out_joint_log_proba(rows, labels)
    with pytest.raises(ValueError, match=r"y contains the labels \[7\], which are not among the classes"):
        model.leave_one_out_joint_log_proba(X[:2], [7, y[1]])
    with pytest.raises(ValueError, match="features"):
        model.leave_one_out_joint_log_proba(X[:2, :5], y[:2])


def test_alpha_is_chosen_by_the_leave_one_out_log_loss():
    y = np.asarray(DATA.y)

    def loss(alpha):
        model = HieBAN(hierarchy=DATA.hierarchy, alpha=alpha).fit(DATA.X, y)
        log_proba = log_softmax(model.leave_one_out_joint_log_proba(DATA.X, y), axis=1)
        return -log_proba[np.arange(len(y)), y].mean()

    model = HieBAN(hierarchy=DATA.hierarchy, alpha=None).fit(DATA.X, y)
    assert model.alpha_ == min(ALPHA_GRID, key=loss)
    fixed = HieBAN(hierarchy=DATA.hierarchy, alpha=model.alpha_).fit(DATA.X, y)
    assert fixed.alpha_ == model.alpha_
    np.testing.assert_array_equal(model.predict_proba(DATA.X), fixed.predict_proba(DATA.X))
    np.testing.assert_array_equal(
        model.leave_one_out_joint_log_proba(DATA.X, y), fixed.leave_one_out_joint_log_proba(DATA.X, y)
    )


@pytest.mark.parametrize(
    ("prior", "smoothing", "least"),
    [(None, "pooled", 1.5), ((0.2, 0.3, 0.5), "pooled", 1.5), ((0.2, 0.3, 0.5), "odds", 1.2)],
)
def test_the_temperature_has_the_smallest_leave_one_out_log_loss(prior, smoothing, least):
    X, y = DATA.X[:100], np.asarray(DATA.y)[:100]
    plain = HieBAN(hierarchy=DATA.hierarchy, class_prior=prior, smoothing=smoothing).fit(X, y)
    model = clone(plain).set_params(calibrate=True).fit(X, y)
    assert plain.temperature_ == 1 and model.temperature_ > least
    parents = twins.direct_parents(DATA.feature_names, DATA.hierarchy.edges)
    joint = np.array(
        twins.ban_leave_one_out(X.toarray().tolist(), y.tolist(), 3, parents, 1.0, smoothing, prior)
    )
    class_rows = np.bincount(y) - np.eye(3)
    left = (
        np.log((class_rows + 1) / (class_rows.sum(axis=1, keepdims=True) + 3))[y]
        if prior is None
        else np.log(prior)
    )

    def loss(temperature):
        log_proba = log_softmax(left + (joint - left) / temperature, axis=1)
        return -log_proba[np.arange(len(y)), y].mean()

    best = loss(model.temperature_)
    assert all(
        best <= loss(model.temperature_ * factor) + 1e-12 for factor in (0.01, 0.9, 0.999, 1.001, 1.1, 100)
    )
    found = model.leave_one_out_joint_log_proba(X, y)
    np.testing.assert_allclose(found, left + (joint - left) / model.temperature_, **EXACT)
    for explanation, row in zip(model.explain(X[:20]), model.predict_log_proba(X[:20]), strict=True):
        p = row[list(model.classes_).index(explanation.target)]
        assert explanation.total() == pytest.approx(p - np.log1p(-np.exp(p)), abs=1e-9)


@pytest.mark.parametrize("options", [{"alpha": None}, {"calibrate": True}])
def test_what_needs_all_rows_does_not_take_parts_of_the_data(options):
    array = pytest.importorskip("dask.array")
    model, (name,) = HieBAN(**options), options
    with pytest.raises(ValueError, match=f"{name}=.*fit needs all rows in memory"):
        model.partial_fit(DATA.X, DATA.y, classes=[0, 1, 2])
    rows, labels = array.from_array(DATA.X.toarray(), chunks=(50, 60)), array.from_array(DATA.y, chunks=50)
    with pytest.raises(ValueError, match=f"{name}=.*fit needs all rows in memory"):
        model.fit(rows, labels)


def test_calibrate_is_true_or_false():
    with pytest.raises(ValueError, match="calibrate must be True or False; got 'yes'"):
        HieBAN(calibrate="yes").fit(DATA.X, DATA.y)


def test_an_interrupted_choice_of_alpha_leaves_no_model(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hietan.classifiers._solvers.leave_one_out.Network.choose_alpha", interrupted)
    model = HieBAN(hierarchy=DATA.hierarchy, alpha=None)
    with pytest.raises(KeyboardInterrupt):
        model.fit(DATA.X, DATA.y)
    with pytest.raises(NotFittedError):
        model.predict(DATA.X)
