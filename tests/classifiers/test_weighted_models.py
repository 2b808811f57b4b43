"""What single models and ensembles make of weights of rows: importances, temperatures, votes, regressions."""

import numpy as np
import pytest
import sklearn
from imblearn.ensemble import RUSBoostClassifier
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import cross_validate

import hietan
from hietan import TAN, HieBAN, HieLogistic, HieTAN, LazySelection
from hietan.structure._counts import PairCounts
from hietan.structure._relevance import relevance
from support.families import BAYES, CLASSIFIERS, name_of
from support.weighted import HIERARCHY, NAMES, assert_same, literal_importances, made, problem

every_classifier = pytest.mark.parametrize("make", CLASSIFIERS, ids=name_of)
every_bayes = pytest.mark.parametrize("make", BAYES, ids=name_of)
pytestmark = pytest.mark.filterwarnings("ignore::hietan.HierarchyWarning")
IMPORTANT = [make for make in CLASSIFIERS if hasattr(make, "feature_importances_")]


@pytest.mark.parametrize("make", IMPORTANT, ids=name_of)
@pytest.mark.parametrize("scale", [1, 0.3])
def test_importances_are_mean_absolute_contributions_over_the_training_rows(make, scale):
    X, y, w = problem()
    y = X[:, 3] ^ (np.arange(40) % 5 == 0)
    for smoothing in ("laplace", "pooled", "odds"):
        model = made(make, smoothing=smoothing)
        assert not hasattr(model, "feature_importances_")
        model.fit(X, y, sample_weight=w * scale)
        expected = literal_importances(model, X, w)
        np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-6, atol=1e-12)
        assert model.feature_importances_.max() > 0.1
    model.fit(X, np.arange(40) % 3)
    with pytest.raises(AttributeError, match="feature_importances_ needs two classes, but there are 3"):
        _ = model.feature_importances_


@every_bayes
def test_log_probabilities_of_features_are_those_of_naive_bayes(make):
    X, y, w = problem()
    model = made(make, smoothing="laplace", alpha=0.7)
    assert not hasattr(model, "feature_log_prob_")
    model.fit(X, y, sample_weight=w)
    where = np.ones_like(X, dtype=bool)
    if make is HieBAN:  # only where all parents are 1
        parents = [[NAMES.index(p) for p in HIERARCHY.parents(name)] for name in NAMES]
        where = np.array([X[:, above].all(axis=1) for above in parents]).T
    for c in (0, 1):
        weight = (w * (y == c))[:, None] * where
        expected = ((weight * X).sum(axis=0) + 0.7) / (weight.sum(axis=0) + 1.4)
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[c]), expected, rtol=1e-12)


def test_the_temperature_of_whole_weights_is_that_of_copies():
    X, y, w = problem()
    for parameters in ({"alpha": None}, {"class_prior": [0.3, 0.7]}):
        model = made(HieBAN, calibrate=True, **parameters).fit(X, y, sample_weight=w)
        copies = made(HieBAN, calibrate=True, **parameters).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        assert model.temperature_ == copies.temperature_ != 1
        assert_same(model, copies, X)
    # Weights that are not whole numbers: the loss of each row, left out altogether, has its weight.
    w = w + 0.3
    model = made(HieBAN, calibrate=True).fit(X, y, sample_weight=w)

    def loss(temperature):
        plain = made(HieBAN).fit(X, y, sample_weight=w)
        plain.temperature_ = temperature
        joint = plain.leave_one_out_joint_log_proba(X, y, sample_weight=w)
        own = joint[np.arange(40), y] - np.logaddexp(*joint.T)
        return -np.average(own, weights=w)

    best = model.temperature_
    assert loss(best) < min(loss(best * 1.01), loss(best / 1.01))
    expected = literal_importances(model, X, w)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-6)


@pytest.mark.parametrize("selection", ["hip", "mr", "hip-mr", "hnb", "rnb"])
@pytest.mark.parametrize("model", ["naive-bayes", "tan"])
def test_whole_weights_are_copies_in_lazy_selections(selection, model, tmp_path):
    X, y, w = problem(n_classes=3)
    options = {"selection": selection, "model": model, "n_features": 3}
    weighed = made(LazySelection, **options).fit(X, y, sample_weight=w)
    copies = made(LazySelection, **options).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same(weighed, copies, X)
    assert weighed.selected(X) == copies.selected(X)
    hietan.save(weighed, tmp_path / "m")
    assert_same(hietan.load(tmp_path / "m"), copies, X)


def test_relevance_keeps_its_constants_in_rows():
    X, y, w = problem(n_classes=3)
    counts = made(TAN).fit(X, y, sample_weight=w).counts_
    halves = PairCounts(2 * counts.class_count, 2 * counts.ones, counts.pairs)
    np.testing.assert_array_equal(relevance(halves, 0.5), relevance(counts))
    assert (relevance(halves) != relevance(counts)).any()


@pytest.mark.patient
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("parameters", [{}, {"alpha": None, "ridge": None, "calibrate": True}])
def test_the_regression_of_whole_weights_is_that_of_copies(n_classes, parameters):
    X, y, w = problem(n_classes=n_classes)
    w = np.maximum(w, 1)
    model = made(HieLogistic, **parameters).fit(X, y, sample_weight=w)
    copies = made(HieLogistic, **parameters).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same(model, copies, X)
    for name in ("alpha_", "ridge_", "scale_", "temperature_"):
        assert getattr(model, name) == getattr(copies, name)


def test_many_copies_are_not_made_but_give_the_same_regression(monkeypatch):
    X, y, w = problem()
    copies = made(HieLogistic).fit(X, y, sample_weight=w * 2)
    monkeypatch.setattr("hietan.classifiers._fitting.MOST_COPIES", 0)
    weighed = made(HieLogistic).fit(X, y, sample_weight=w * 2)
    assert weighed.scale_ == pytest.approx(copies.scale_, rel=1e-12)
    np.testing.assert_allclose(weighed.predict_proba(X), copies.predict_proba(X), rtol=1e-6)


def test_other_weights_multiply_the_loss_and_leave_sigma_to_the_rows():
    X, y, _ = problem()
    w = np.linspace(0.2, 1.7, 40)
    model = made(HieLogistic).fit(X, y, sample_weight=w)
    network = made(HieBAN, class_prior=[0.5, 0.5]).fit(X, y, sample_weight=w)
    joint = network.leave_one_out_joint_log_proba(X, y, sample_weight=w)
    g = joint[:, 1] - joint[:, 0]
    assert model.scale_ == pytest.approx(g.std(), rel=1e-12)
    weight = w * np.where(y == 1, w.sum() / (2 * w[y == 1].sum()), w.sum() / (2 * w[y == 0].sum()))
    sign = np.where(y == 1, 1, -1)
    score = g / g.std() + X @ model.correction_coef_[0] + model.correction_intercept_[0]
    slope = -weight * sign / (1 + np.exp(sign * score))
    np.testing.assert_allclose(X.T @ slope + X.sum() / 40 * model.correction_coef_[0], 0, atol=1e-6)
    np.testing.assert_allclose(slope.sum() + 10 * model.correction_intercept_[0], 0, atol=1e-6)


def test_ensembles_that_weigh_rows():
    X, y, _ = problem(60)
    y = (X[:, 3] ^ (np.arange(60) % 7 == 0)).astype(int)
    base = made(HieTAN, alpha=0.01)
    for model in (
        AdaBoostClassifier(base, n_estimators=3, random_state=0),
        RUSBoostClassifier(base, n_estimators=3, random_state=0),
        BaggingClassifier(base, n_estimators=3, random_state=0),
    ):
        assert model.fit(X, y).score(X, y) > 0.7
        assert len(model.estimators_) > 1
    assert base.set_params(class_weight="balanced").fit(X, y).score(X, y, sample_weight=np.ones(60)) > 0.7


@pytest.mark.patient
@every_classifier
def test_weights_are_routed(make):
    X, y, w = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        model = made(make).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(model, X, y, params={"sample_weight": w + 1}, cv=2, return_estimator=True)
    half = clone(model).fit(X[20:], y[20:], sample_weight=w[20:] + 1)
    first = found["estimator"][0]
    assert first.score(X[:20], y[:20], sample_weight=w[:20] + 1) == found["test_score"][0]
    np.testing.assert_array_equal(first.predict_proba(X), half.predict_proba(X))
