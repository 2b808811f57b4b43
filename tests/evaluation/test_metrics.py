"""Metrics against scikit-learn's, and against hand-made cases."""

import numpy as np
import pytest
from sklearn import metrics as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from hietan import scores as ours
from hietan.scores import metrics


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    p = np.clip(0.3 * y + 0.7 * rng.random(200), 0.01, 0.99)
    return y, (p > 0.5).astype(int), np.column_stack([1 - p, p])


def test_all_metrics_agree_with_scikit_learn(predictions):
    y, pred, proba = predictions
    values = ours.compute_metrics(y, pred, proba)
    tn, fp, fn, tp = theirs.confusion_matrix(y, pred).ravel()
    expected = {
        "gmean": np.sqrt(tp / (tp + fn) * tn / (tn + fp)),
        "sensitivity": tp / (tp + fn),
        "specificity": tn / (tn + fp),
        "auc": theirs.roc_auc_score(y, proba[:, 1]),
        "average_precision": theirs.average_precision_score(y, proba[:, 1]),
        "balanced_accuracy": theirs.balanced_accuracy_score(y, pred),
        "mcc": theirs.matthews_corrcoef(y, pred),
        "log_loss": theirs.log_loss(y, proba),
        "brier": theirs.brier_score_loss(y, proba[:, 1]),
    }
    assert list(values) == list(ours.METRICS)
    assert values == pytest.approx(expected)


def test_several_classes():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 150)
    proba = rng.dirichlet([1, 1, 1], 150)
    pred = proba.argmax(axis=1)
    values = ours.compute_metrics(y, pred, proba)
    assert values["gmean"] == pytest.approx(np.prod(theirs.recall_score(y, pred, average=None)) ** (1 / 3))
    assert values["auc"] == pytest.approx(theirs.roc_auc_score(y, proba, multi_class="ovr"))
    assert np.isnan(values["sensitivity"]) and np.isnan(values["specificity"])


def test_what_needs_probabilities_is_nan_without_them(predictions):
    y, pred, _ = predictions
    values = ours.compute_metrics(y, pred)
    assert {name for name, value in values.items() if np.isnan(value)} == {
        "auc",
        "average_precision",
        "log_loss",
        "brier",
    }


def test_log_odds_tell_apart_what_probabilities_near_one_cannot():
    y, score = [0, 1, 0, 1], np.array([-3.0, 900.0, 800.0, 1000.0])
    assert ours.auc_score(y, 1 / (1 + np.exp(-score))) == 0.75
    assert ours.auc_score(y, score) == 1.0


def test_reliability_curve_against_scikit_learn(predictions):
    from sklearn.calibration import calibration_curve

    y, _, proba = predictions
    curve = ours.reliability_curve(y, proba)
    observed, predicted = calibration_curve(y, proba[:, 1], n_bins=10)
    assert curve.observed == pytest.approx(observed)
    assert curve.predicted == pytest.approx(predicted)
    assert curve.count.sum() == len(y)
    assert 0 < curve.expected_calibration_error < 0.5


def test_gmean_scorer_steers_a_search():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 1.8).astype(int)
    grid = {"class_weight": [None, "balanced"]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=ours.gmean_scorer, cv=3).fit(X, y)
    assert search.best_params_ == {"class_weight": "balanced"}


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="y_true has 2 entries but y_pred has 3"):
        ours.gmean_score([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="y_true has no row of class \\[2\\]"):
        metrics.recalls([0, 1], [0, 1], labels=[0, 1, 2])
    with pytest.raises(ValueError, match="need two classes, but y_true has 3"):
        ours.sensitivity_score([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="score has 2 columns but y_true has 3 classes"):
        ours.auc_score([0, 1, 2], [[0, 1], [0, 1], [1, 0]])


def test_a_metric_has_a_name_a_label_and_a_direction():
    assert list(ours.METRICS)[:4] == ["gmean", "sensitivity", "specificity", "auc"] and "mcc" in ours.METRICS
    assert all(metric.name == name and metric.label for name, metric in ours.METRICS.items())
    assert {name for name, metric in ours.METRICS.items() if metric.lower_is_better} == {"log_loss", "brier"}


def test_each_metric_can_be_computed_on_its_own(predictions):
    y, pred, proba = predictions
    together = ours.compute_metrics(y, pred, proba)
    alone = ours.Scores(("no", "yes"), pred, np.log(proba), y)
    assert {name: metric.compute(alone) for name, metric in ours.METRICS.items()} == together


def test_rows_without_a_class_have_the_recall_of_the_other(predictions):
    y, pred, proba = predictions
    scores = ours.Scores(("no", "yes"), pred, np.log(proba), y)
    for k, name in enumerate(("specificity", "sensitivity")):
        values = ours.metrics_of(scores.select(y == k))
        assert values[name] == ours.metrics_of(scores)[name]
        assert all(np.isnan(value) for other, value in values.items() if other != name)


def test_another_positive_class_changes_what_refers_to_it_alone(predictions):
    y, pred, proba = predictions
    scores = ours.Scores(("no", "yes"), pred, np.log(proba), y)
    values, turned = ours.metrics_of(scores), ours.metrics_of(scores.with_positive("no"))
    assert turned["sensitivity"] == values["specificity"] and turned["specificity"] == values["sensitivity"]
    assert turned["average_precision"] == pytest.approx(theirs.average_precision_score(y == 0, proba[:, 0]))
    same = set(values) - {"sensitivity", "specificity", "average_precision"}
    assert {name: turned[name] for name in same} == pytest.approx({name: values[name] for name in same})
    assert scores.with_positive("no").with_positive("yes").log_odds.tolist() == scores.log_odds.tolist()
