"""Curves, scores and thresholds on one dataset: they agree with scikit-learn, draw by draw."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from hietan.scores.calibration import cross_fitted_cutoffs
from hietan.scores.curves import (
    GRID,
    SCORES,
    draw_rows,
    mean_quality,
    quality_of,
)

RNG = np.random.default_rng(3)
TRUTH = RNG.random(80) < 0.35
SCORE = np.round(RNG.normal(size=80) + TRUTH, 1)  # with ties
WEIGHTS = draw_rows(80, 30, seed=1)


@pytest.fixture(scope="module")
def quality():
    return quality_of(TRUTH, SCORE > 0, SCORE, WEIGHTS)


def test_areas_are_those_of_scikit_learn_in_every_draw(quality):
    for k, weights in enumerate(WEIGHTS):
        rows = np.repeat(np.arange(80), weights.astype(int))
        assert quality.draws["auc"][k] == pytest.approx(roc_auc_score(TRUTH[rows], SCORE[rows]))
        expected = average_precision_score(TRUTH[rows], SCORE[rows])
        assert quality.draws["average_precision"][k] == pytest.approx(expected)
        sensitivity = np.mean(SCORE[rows][TRUTH[rows]] > 0)
        specificity = np.mean(SCORE[rows][~TRUTH[rows]] <= 0)
        assert quality.draws["gmean"][k] == pytest.approx(np.sqrt(sensitivity * specificity))
        assert quality.draws["sensitivity"][k] == pytest.approx(sensitivity)


def test_curves_are_those_of_scikit_learn(quality):
    fpr, tpr, _ = roc_curve(TRUTH, SCORE, drop_intermediate=False)
    assert quality.roc[0] == pytest.approx(np.interp(GRID, fpr, tpr))
    precision, recall, _ = precision_recall_curve(TRUTH, SCORE)
    for at, found in zip(GRID[1:], quality.precision[0, 1:], strict=True):
        reached = recall >= at - 1e-12
        assert found == pytest.approx(
            precision[reached][-1]
        )  # at the highest threshold that reaches the recall
    band = quality.band("auc")
    assert band.low < band.value < band.high


def test_a_method_does_not_differ_from_itself_and_a_perfect_one_is_better(quality):
    band, above = quality.difference(quality, "gmean")
    assert (band.low, band.value, band.high, above) == (0, 0, 0, 0.5)
    perfect = quality_of(TRUTH, TRUTH, TRUTH.astype(float), WEIGHTS)
    band, above = perfect.difference(quality, "auc")
    assert band.low > 0 and above == 1
    both = mean_quality([quality, perfect])
    assert all(np.allclose(both.draws[s], (quality.draws[s] + perfect.draws[s]) / 2) for s in SCORES)


def test_labels_alone_have_no_curves():
    found = quality_of(TRUTH, SCORE > 0, None, WEIGHTS)
    assert np.isnan(found.draws["auc"]).all() and np.isnan(found.roc).all()
    assert np.isfinite(found.draws["gmean"]).all()


def test_a_threshold_is_the_best_of_all_on_the_other_folds():
    fold = np.arange(80) % 4
    found = cross_fitted_cutoffs(SCORE, TRUTH, fold)

    def gmean(threshold, rows):
        said = SCORE[rows] > threshold
        return np.sqrt(said[TRUTH[rows]].mean() * (~said[~TRUTH[rows]]).mean())

    for k in range(4):
        others = np.flatnonzero(fold != k)
        (threshold,) = set(found[fold == k].tolist())
        best = max(gmean(t, others) for t in np.unique(SCORE))
        assert gmean(threshold, others) == pytest.approx(best)


def test_rows_of_one_class_leave_the_threshold_where_it_was():
    assert cross_fitted_cutoffs(np.arange(4.0), np.ones(4, bool), np.array([0, 0, 1, 1])).tolist() == [0] * 4


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_infinite_scores_are_equal_whatever_the_order_of_the_rows(order):
    certain = np.where(RNG.random(80) < 0.5, np.inf, -np.inf)[order]
    truth = np.sort(TRUTH)[order]
    found = quality_of(truth, certain > 0, certain, WEIGHTS)
    assert found.draws["auc"][0] == pytest.approx(roc_auc_score(truth, certain > 0))
    assert found.draws["average_precision"][0] == pytest.approx(average_precision_score(truth, certain > 0))
    thresholds = cross_fitted_cutoffs(certain, truth, np.arange(80) % 4)
    assert thresholds.tolist() == [0.0] * 80


def test_draws_without_a_class_say_nothing_about_it():
    truth = np.arange(30) < 2
    perfect = quality_of(truth, truth, np.where(truth, 1.0, -1.0), draw_rows(30))
    lacking = ~(draw_rows(30)[:, :2].any(axis=1))
    assert lacking.any()
    for name in ("gmean", "sensitivity", "auc", "average_precision"):
        assert np.isnan(perfect.draws[name][lacking]).all()
        band = perfect.band(name)
        assert (float(band.low), float(band.value), float(band.high)) == (1, 1, 1)
    assert perfect.draws["specificity"].tolist() == [1] * len(lacking)
    difference, above = perfect.difference(perfect, "auc")
    assert (float(difference.low), float(difference.high), above) == (0, 0, 0.5)


def test_a_precision_curve_begins_where_the_first_positive_row_is_found():
    truth, score = np.array([False, True, False, True]), np.array([4.0, 3.0, 2.0, 1.0])
    precision = quality_of(truth, score > 2.5, score, draw_rows(4, 3)).precision[0]
    assert precision[0] == 0.5 and precision[-1] == 0.5 and precision.min() == 0.5
