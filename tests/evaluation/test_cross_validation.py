"""Pooled predictions: the stated splits, the right hierarchy, no leak."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from hietan import HieTAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.scores import cross_validate, metrics_of
from hietan.scores.cross_validation import configure

DATA = make_hierarchical_classification(120, 40, random_state=3)


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts the first class; what it was fitted with can be looked at."""

    seen: ClassVar = []

    def __init__(self, hierarchy=None):
        self.hierarchy = hierarchy

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Recorder.seen.append((self.hierarchy, X.shape[0]))
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


@pytest.mark.parametrize(
    "clf", [LogisticRegression(), RandomForestClassifier(20), HieTANLite(hierarchy=DATA.hierarchy)]
)
def test_equals_cross_val_predict_on_the_stated_splits(clf):
    clf.set_params(random_state=5)
    cv = StratifiedKFold(10, shuffle=True, random_state=2)
    expected = cross_val_predict(clf, DATA.X, DATA.y, cv=cv, method="predict_proba")
    result = cross_validate(clf, DATA, seed=2)
    assert result.proba == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(result.predicted, expected.argmax(axis=1))
    for k, (_, test) in enumerate(cv.split(DATA.X, DATA.y)):
        assert (result.fold[test] == k).all()


def test_the_hierarchy_and_the_seed_are_set_where_they_are_none():
    Recorder.seen.clear()
    cross_validate(make_pipeline(MaxAbsScaler(), Recorder()), DATA, n_splits=4)
    assert Recorder.seen == [(DATA.hierarchy, 90)] * 4
    own = HieTAN(hierarchy=DATA.hierarchy.unrelated(DATA.feature_names), random_state=7)
    configured = configure(own, DATA.hierarchy, 0)
    assert configured.hierarchy == own.hierarchy and configured.random_state == 7
    assert configure(HieTAN(), DATA.hierarchy, 4).random_state == 4


def test_without_probabilities():
    result = cross_validate(LinearSVC(), DATA, n_splits=3)
    assert result.proba is None and result.ranked_by is None
    assert np.isnan(metrics_of(result)["auc"]) and metrics_of(result)["gmean"] > 0.5
    with pytest.raises(ValueError, match="the classifier has no probabilities, so rows have no log-odds"):
        _ = result.log_odds


def test_threads_change_nothing():
    one, two = (cross_validate(HieTANLite(), DATA, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.log_proba, two.log_proba)


def test_too_small_a_class_is_refused():
    small = make_hierarchical_classification(50, 20, imbalance=0.1, random_state=0)
    with pytest.raises(ValueError, match="class 0 has 5 rows, fewer than the 10 folds; use at most 5 folds"):
        cross_validate(HieTAN(), small)
