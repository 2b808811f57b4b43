"""The figures of docs/accuracy.md come from its tables, and a sample of those from the library as it is."""

import csv
import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from hietan import (
    AODE,
    HIPNB,
    HRETAN,
    TAN,
    HieAODELite,
    HieBAN,
    HieLogistic,
    HieTAN,
    HieTANLite,
    ProximalGraph,
)
from hietan.datasets import fetch_ageing_genes, make_hierarchical_classification
from hietan.evaluation import auc_score, gmean_score, pooled_predictions
from reproduction.accuracy import collect, measure, page, peers, scores
from reproduction.accuracy.methods import METHODS as MEASURED
from reproduction.accuracy.methods import SEEDS, Measured

DOCS = Path(__file__).parents[2] / "docs"
with open(DOCS / "accuracy.csv", encoding="utf-8", newline="") as file:
    ROWS = {(row["dataset"], row["method"], row["seed"]): row for row in csv.DictReader(file)}


METHODS = {
    "TAN": TAN,
    "Hie-TAN": HieTAN,
    "Hie-TAN-Lite": HieTANLite,
    "HRE-TAN": HRETAN,
    "AODE": AODE,
    "Hie-AODE-Lite": HieAODELite,
    "HIP + NB": HIPNB,
}
# Every method with either smoothing, on each dataset in turn.
SAMPLE = [
    (dataset, f"{name}, {smoothing}", METHODS[name](smoothing=smoothing))
    for dataset, (name, smoothing) in zip(
        itertools.cycle(["DM-CC", "MM-MF", "SC-MFCC"]),
        itertools.product(METHODS, ["laplace", "pooled"]),
        strict=False,
    )
]
SAMPLE += [
    ("MM-BPMFCC", "HieLogistic", HieLogistic()),
    ("SC-MF", "HieBAN", HieBAN()),
    ("DM-BP", "HieBAN, equal priors", HieBAN(class_prior=(0.5, 0.5))),
]


@pytest.mark.parametrize(
    ("dataset", "name", "classifier"), SAMPLE, ids=[f"{dataset} {name}" for dataset, name, _ in SAMPLE]
)
def test_a_sample_is_recomputed(real_data, dataset, name, classifier):
    values = pooled_predictions(classifier, fetch_ageing_genes(*dataset.split("-")), seed=0).metrics()
    row = ROWS[dataset, name, "0"]
    for field in ("gmean", "sensitivity", "specificity", "auc", "average_precision", "log_loss"):
        assert float(row[field]) == pytest.approx(values[field], abs=5.1e-5)


def test_a_sample_of_proximal_graph_is_recomputed(real_data):
    values = pooled_predictions(ProximalGraph(lam=0.002), fetch_ageing_genes("fly", "CC"), seed=0).metrics()
    row = ROWS["DM-CC", "proximalGraph, lambda 0.002", "0"]
    assert float(row["gmean"]) == pytest.approx(values["gmean"], abs=0.02)  # a row on the threshold may turn
    assert float(row["auc"]) == pytest.approx(values["auc"], abs=0.002)


def test_a_sample_of_tuned_thresholds_is_recomputed(real_data):
    data = fetch_ageing_genes("mouse", "MF")
    for name in ("HieBAN", "TAN, pooled"):
        found = measure.measure(MEASURED[name], data, 0)
        tuned = gmean_score(data.y, found.tuned.astype(int))
        assert float(ROWS["MM-MF", name, "0"]["gmean_tuned"]) == pytest.approx(tuned, abs=5.1e-5)


# ------------------------------------------------------------------ page and tables


def test_the_page_shows_the_means_of_the_table():
    text = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    table = text.partition("<!-- means -->")[2].partition("<!-- end of means -->")[0]
    columns = (
        ("auc", 1, 3),
        ("auc_within_folds", 1, 3),
        ("gmean", 100, 1),
        ("gmean_tuned", 100, 1),
        ("average_precision", 1, 3),
        ("log_loss", 1, 3),
    )
    for method in {method for _, method, _ in ROWS}:
        own = [row for (_, m, _), row in ROWS.items() if m == method]
        (line,) = [
            line for line in table.splitlines() if line.startswith((f"| {method} |", f"| **{method}** |"))
        ]
        shown = [cell.strip() for cell in line.strip("|").split("|")][1:]
        assert int(shown[0]) * 28 == len(own)
        for cell, (field, scale, digits) in zip(shown[1:], columns, strict=False):
            values = [float(row[field]) for row in own if row[field]]
            assert cell == (f"{scale * sum(values) / len(values):.{digits}f}" if values else "")


def test_the_page_is_what_its_files_say():
    text = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    assert page.filled(text) == text


def test_the_script_measures_what_the_page_shows():
    """Each method of the page is one that the script still makes, with its seeds."""
    for _, method, seed in ROWS:
        assert method in MEASURED
        assert int(seed) in SEEDS
    assert len({dataset for dataset, _, _ in ROWS}) == 28


def test_every_measured_method_can_be_made():
    for method in MEASURED.values():
        assert hasattr(method.make(), "fit")


# ------------------------------------------------------------------ measuring


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(120, 40, random_state=0)


def test_scores_are_those_of_the_library(data):
    found = measure.measure(Measured("HIP", HIPNB), data, 3)
    expected = pooled_predictions(HIPNB(), data, seed=3)
    np.testing.assert_allclose(found.score, expected.score, rtol=1e-9)
    np.testing.assert_array_equal(found.natural, expected.y_pred == 1)
    np.testing.assert_array_equal(found.fold, expected.fold)
    assert np.isnan(found.train[found.fold, np.arange(120)]).all()
    assert np.isnan(found.train).sum() == 120


def test_scores_survive_a_file(data, tmp_path):
    found = measure.measure(Measured("HieBAN", HieBAN), data, 0)
    measure.save(found, tmp_path / "kept.npz")
    kept = measure.load_file(tmp_path / "kept.npz")
    for name in ("score", "train", "threshold", "fold", "seconds"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(found, name))
    assert measure.load_file(tmp_path / "other.npz") is None


def test_leave_one_out_scores_choose_the_threshold_of_hie_ban(data):
    fitted = HieBAN(hierarchy=data.hierarchy).fit(data.X, data.y)
    scores_ = measure.out_of_sample_scores(fitted, fitted, data.X, data.y, 0)
    others = np.arange(120) != 7
    without = HieBAN(hierarchy=data.hierarchy).fit(data.X[np.flatnonzero(others)], data.y[others])
    joint = without.predict_joint_log_proba(data.X[[7]])[0]
    assert scores_[7] == pytest.approx(joint[1] - joint[0], abs=1e-9)


def test_the_best_threshold_is_found():
    rng = np.random.default_rng(0)
    for _ in range(20):
        positive = rng.random(30) < 0.4
        score = np.round(rng.normal(size=30) + positive, 1)
        chosen = gmean_score(positive, score > measure.best_threshold(positive, score))
        assert chosen == max(gmean_score(positive, score > cut) for cut in np.unique(score) + 0.01)
    assert measure.best_threshold(np.array([True, False]), np.array([np.inf, -np.inf])) == 0
    assert measure.best_threshold(np.array([True, False]), np.zeros(2)) == 0


# ------------------------------------------------------------------ metrics and the bootstrap


def test_weights_count_rows():
    rng = np.random.default_rng(0)
    positive, times = rng.random(40) < 0.5, rng.integers(0, 4, size=(5, 40))
    score = np.round(rng.normal(size=40), 1)
    auc = scores.weighted_auc(positive, score, times.astype(float))
    gmean = scores.weighted_gmean(positive, score > 0, times.astype(float))
    for draw in range(5):
        y, s = np.repeat(positive, times[draw]), np.repeat(score, times[draw])
        assert auc[draw] == pytest.approx(auc_score(y, s))
        assert gmean[draw] == pytest.approx(gmean_score(y, s > 0))


def test_the_first_draw_is_the_data(data):
    found = measure.measure(Measured("HieBAN", HieBAN), data, 0)
    other = measure.measure(Measured("TAN", TAN), data, 0)
    labelled = {"a": scores.Labelled("group", data.instance_names, data.y)}
    draws = scores.bootstrap(labelled, {("a", "x"): [found], ("a", "y"): [other]}, ["x", "y"], n_draws=200)
    values = [scores.metrics_of(data.y, each) for each in (found, other)]
    for metric in scores.COMPARED:
        mean, low, high = draws.difference(metric, "x", "y", "group")
        assert mean == pytest.approx(values[0][metric] - values[1][metric])
        assert low <= mean <= high
        assert draws.difference(metric, "x", "x") == (0, 0, 0)


def test_the_auc_within_folds_does_not_compare_folds(data):
    found = measure.measure(Measured("HieBAN", HieBAN), data, 0)
    shifted = replace(found, score=found.score + 100 * found.fold)
    before, after = (scores.metrics_of(data.y, each) for each in (found, shifted))
    assert after["auc_within_folds"] == pytest.approx(before["auc_within_folds"])
    assert after["auc"] < before["auc"]


def test_differences_are_rows_of_their_file(data):
    found = measure.measure(Measured("HieBAN", HieBAN), data, 0)
    labelled = {"a": scores.Labelled("group", data.instance_names, data.y)}
    draws = scores.bootstrap(labelled, {("a", "x"): [found]}, ["x"], n_draws=20)
    rows = collect.differences("folds", draws, [("x", "x")])
    assert [(row["group"], row["metric"]) for row in rows] == [
        (group, metric) for metric in scores.COMPARED for group in ("all", "group")
    ]
    assert {row["difference"] for row in rows} == {"0.0000"}


# ------------------------------------------------------------------ peers


def test_sim_gic_is_its_definition():
    X = sp.csr_array(np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1], [1, 0, 0]], dtype=np.uint8))
    model = peers.SimGIC().fit(X, np.array([1, 0, 1, 0]))
    content = [0.0, math.log(2), math.log(2)]
    np.testing.assert_allclose(model.content_, content)
    similarity = model._similarity(X)
    assert similarity[0, 2] == pytest.approx(0.5)  # one of two terms with content is shared
    assert similarity[0, 1] == 0 and similarity[3, 3] == 0
    assert similarity[1, 1] == pytest.approx(1)


@pytest.mark.parametrize("make", [peers.RidgeLogistic, peers.SimGIC, peers.AnnotationCount])
def test_peers_are_classifiers(data, make):
    values = pooled_predictions(make(), data, n_splits=3).metrics()
    assert 0.3 < values["auc"] <= 1 and np.isfinite(values["log_loss"])


def test_out_of_bag_scores_come_from_other_trees(data):
    pytest.importorskip("imblearn", reason="the peers are not here: pip install --group peers")
    model = peers.BalancedForest(20, random_state=0).fit(data.X, data.y)
    found = model.out_of_sample_scores(data.X, data.y)
    dense = peers.to_dense(data.X)
    for row in (0, 50):
        trees = [
            tree
            for tree, sampler in zip(model.forest_.estimators_, model.forest_.samplers_, strict=True)
            if row not in sampler.sample_indices_
        ]
        share = np.mean([tree.predict_proba(dense[[row]])[0, 1] for tree in trees])
        assert found[row] == pytest.approx(peers.log_odds_of(np.array(share)))
