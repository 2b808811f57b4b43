"""What the report of one dataset says about the methods agrees with the study."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.naive_bayes import BernoulliNB

from hietan import HieTANLite
from hietan.catalogue import load_datasets
from hietan.evaluation import run_study
from hietan.report._study_page import _scores, study_summary


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    methods = {"lite": HieTANLite(), "NB": BernoulliNB()}
    results = run_study(load_datasets(["synthetic-0"]), methods, cv=3, seeds=2, output=folder)
    return results, study_summary(folder)["datasets"][0]["quality"]


def test_scores_are_the_means_over_the_seeds(study):
    results, quality = study
    for i, method in enumerate(results.study.methods.values()):
        rows = [row for row in results.summary if row.method == method.name]
        for name, (value, low, high) in quality["methods"][i]["scores"].items():
            metric = dict(zip(rows[0].header(), np.transpose([row.values() for row in rows]), strict=True))[
                name
            ]
            assert value == pytest.approx(np.mean(metric.astype(float)), abs=1e-4)
            assert low <= value <= high


def test_confusions_count_every_row_of_the_first_seed(study):
    results, quality = study
    for i, key in enumerate(results.study.methods):
        pooled = results.predictions["synthetic-0", key, 0]
        shown = quality["methods"][i]
        expected = [
            [int(np.sum((pooled.truth == t) & (pooled.predicted == p))) for p in (0, 1)] for t in (0, 1)
        ]
        assert shown["confusion"] == expected
        assert np.sum(shown["tuned"]["counts"]) == len(pooled.truth) and shown["tuned"]["by"] == "other folds"


def test_every_method_is_compared_with_the_best(study):
    _, quality = study
    for score, lines in quality["pairs"].items():
        ((method, best, difference, low, high, above),) = lines
        scores = [quality["methods"][i]["scores"][score][0] for i in (method, best)]
        assert scores[0] <= scores[1] and difference == pytest.approx(scores[0] - scores[1], abs=2e-4)
        assert low <= difference <= high and 0 <= above <= 1


@pytest.mark.parametrize("labels", [(-1, 1), (9, 10), ("cancer", "no"), (False, True)])
@pytest.mark.parametrize("with_details", [True, False])
def test_classes_are_in_the_order_of_the_classifier(labels, with_details, tmp_path):
    (data,) = load_datasets(["synthetic-0"])
    relabelled = SimpleNamespace(
        X=data.X, y=np.array(labels)[data.y], hierarchy=data.hierarchy, name="set", target_names=("A", "B")
    )
    results = run_study(
        [relabelled], {"NB": BernoulliNB()}, cv=3, output=tmp_path / "out", explain=with_details
    )
    (row,) = results.summary
    shown = study_summary(tmp_path / "out")["datasets"][0]
    # Plain labels have scikit-learn's order, and the last of them is positive.
    order = sorted(range(2), key=lambda c: labels[c])
    assert shown["labels"] == [str(labels[c]) for c in order]
    known = dict(zip(row.header(), row.values(), strict=True))
    assert shown["quality"]["methods"][0]["scores"]["auc"][0] == pytest.approx(known["auc"], abs=1e-4)
    assert known["positive"] in ("AB"[order[1]], str(labels[order[1]]))
    assert np.bincount(shown["truth"]).tolist() == np.bincount(data.y)[order].tolist()


def test_methods_that_do_not_separate_the_classes_are_not_calibrated():
    odds, truth = ("-2", "-1", "1", "2"), ("a", "b", "a", "b")
    for order, is_calibrated in (("ab", True), ("ba", False)):
        lines = [{"log_odds": x, "y_true": y, "y_pred": "a"} for x, y in zip(odds, truth, strict=True)]
        assert ("calibrated" in _scores(lines, order, True)) == is_calibrated


def test_probabilities_of_rows_are_calibrated(study):
    """By Platt's sigmoid, whose targets leave room for an error in the next row."""
    results, _ = study
    shown = study_summary(results.directory)["datasets"][0]
    for i, key in enumerate(results.study.methods):
        pooled = results.predictions["synthetic-0", key, 0]
        p, y, sizes = (
            np.array(shown["predictions"][i]["calibrated"]),
            pooled.truth,
            np.bincount(pooled.truth),
        )
        slope, shift = np.polyfit(pooled.log_odds, logit(np.clip(p, 1e-9, 1 - 1e-9)), 1)
        target = np.where(y == 1, (sizes[1] + 1) / (sizes[1] + 2), 1 / (sizes[0] + 2))

        def loss(line, score=pooled.log_odds, target=target):
            return np.logaddexp(0, line[0] * score + line[1]).sum() - target @ (line[0] * score + line[1])

        found = minimize(loss, [0, 0])
        assert (slope, shift) == pytest.approx(found.x, abs=2e-3)
