"""The numbers of docs/benchmarks.md and docs/choosing-a-method.md come from their files, which a sample repeats."""

import math
import re
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from hietan import HIPNB, TAN, HieBAN
from hietan.cli._fit import fit
from hietan.datasets import load_ageing_genes, make_hierarchical_classification
from hietan.scores import auc_score, cross_validate, gmean_score, metrics_of
from reproduction.accuracy import collect, figures, measure, page, peers, scores, sets
from reproduction.accuracy.methods import (
    COMPARED,
    METHODS,
    PLAN,
    SMOOTHED,
    SMOOTHINGS,
    make_smoothed,
    planned_seeds,
)
from reproduction.pages import fill, read_csv

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in page.BLOCKS}
select = figures.select


@cache
def rows_of(name):
    return read_csv(collect.file_of(name))


# ------------------------------------------------------------------ files and the library


def test_the_help_of_fit_names_the_two_most_accurate_methods():
    words = " ".join(fit.__doc__.split())
    assert "On 28 real datasets, the default method and TAN have the highest mean AUC and GMean" in words
    assert signature(fit).parameters["method"].default == "hie-logistic"
    published = [row for row in rows_of("") if row["part"] == "published"]
    assert len({row["set"] for row in published}) == 28
    for metric in ("auc", "gmean"):
        means = {
            method: np.mean([float(row[metric]) for row in published if row["method"] == method])
            for method in {row["method"] for row in published}
        }
        assert set(sorted(means, key=means.get)[-2:]) == {"HieLogistic", "TAN"}


def recomputed(make, task, n_seeds, balanced=True, version="0", kind="all"):
    """The metrics of a method on a set, averaged over seeds, without any kept scores."""
    found = []
    for seed in range(n_seeds):
        rows = scores.judged(task, measure.measure(make, task, seed), seed, balanced, version)
        found.append(scores.metrics_of(rows.of(collect.mask_of(task, kind))))
    return {name: np.mean([each[name] for each in found]) for name in scores.METRICS}


def assert_same(row, values, names=scores.METRICS):
    for name in names:
        assert float(row[name]) == pytest.approx(values[name], abs=5.1e-5), name


CHEAP = (
    "HieLogistic",
    "HieBAN",
    "Hie-TAN",
    "TAN",
    "Hie-TAN-Lite",
    "HIP + NB",
    "simGIC neighbours",
    "naive Bayes",
)


@pytest.mark.parametrize("method", CHEAP)
def test_a_sample_is_recomputed(method):
    task = sets.cross_validated("packaged", "fly", load_ageing_genes("fly", "CC"))
    task = replace(task, versions=lambda seed: {"0": task.X})
    for kind in ("all", "without an equal"):
        (row,) = select(rows_of(""), part="packaged", set="fly-CC", method=method, rows=kind)
        measured, seeds = METHODS[method], planned_seeds("packaged", method)
        assert_same(row, recomputed(measured.make, task, seeds, measured.balanced, "0", kind))


def test_a_sample_with_lost_annotations_is_recomputed():
    found = []
    for namespaces in sets.NAMESPACES:
        data = load_ageing_genes("fly", namespaces)
        task = sets.cross_validated("packaged", "fly", data)
        task = replace(task, versions=lambda seed, d=data: sets.losses(d.hierarchy, d.X, seed, (0.7,)))
        found.append(
            recomputed(METHODS["HieBAN"].make, task, planned_seeds("packaged", "HieBAN"), version="0.7")[
                "auc"
            ]
        )
    (row,) = select(rows_of("lost"), part="packaged", organism="fly", rows="all", method="HieBAN", lost="0.7")
    assert float(row["auc"]) == pytest.approx(np.mean(found), abs=5.1e-5)


@pytest.mark.patient
def test_a_sample_of_published_sets_is_recomputed(real_data):
    for name, method in (("SC-MF", "HieBAN"), ("MM-CC", "HIP + NB"), ("DM-CC", "TAN")):
        (task,) = [task for task in sets.tasks("published") if task.name == name]
        task = replace(task, versions=lambda seed, X=task.X: {"0": X})
        (row,) = select(rows_of(""), part="published", set=name, method=method, rows="without an equal")
        assert_same(
            row, recomputed(METHODS[method].make, task, int(row["seeds"]), True, "0", "without an equal")
        )


@pytest.mark.parametrize(
    "key",
    ["hie-ban", "hip-nb", *(pytest.param(key, marks=pytest.mark.patient) for key in ("hie-tan", "mr-nb"))],
)
def test_a_sample_of_smoothings_is_recomputed(key):
    for smoothing in SMOOTHINGS:
        wanted = {"part": "packaged", "organism": "fly", "rows": "all", "smoothing": smoothing}
        (row,) = select(rows_of("smoothing"), method=SMOOTHED[key], **wanted)
        found = []
        for namespaces in sets.NAMESPACES:
            task = sets.cross_validated("packaged", "fly", load_ageing_genes("fly", namespaces))
            task = replace(task, versions=lambda seed, X=task.X: {"0": X})
            found.append(recomputed(lambda s=smoothing: make_smoothed(key, s), task, int(row["seeds"])))
        assert_same(row, {name: np.mean([each[name] for each in found]) for name in scores.METRICS})


@pytest.mark.patient
def test_equal_rows_are_counted(real_data, tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "DOCS", tmp_path)
    collect.equal_rows()
    assert read_csv(tmp_path / "accuracy-equal-rows.csv") == rows_of("equal-rows")


def test_the_files_have_what_is_planned():
    for part, (names, _) in PLAN.items():
        name = {"both years": "years", "curves": "curves"}.get(part, "")
        rows = rows_of(name) if name else select(rows_of(""), part=part)
        assert {row["method"] for row in rows} == set(names)
        for row in rows:
            assert int(row["repeats" if part == "curves" else "seeds"]) == planned_seeds(part, row["method"])
    assert len({row["set"] for row in select(rows_of(""), part="published")}) == 28
    assert {row["method"] for row in rows_of("smoothing")} == set(SMOOTHED.values())


# ------------------------------------------------------------------ page and files


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_what_their_files_say(name):
    assert fill(PAGES[name], page.BLOCKS[name]) == PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_no_result_stands_outside_of_the_marks(name):
    text = PAGES[name]
    for block in page.BLOCKS[name]:
        text = re.sub(rf"<!-- {block} -->.*?<!-- end of {block} -->", "", text, flags=re.DOTALL)
    allowed = {f"{share:g}" for share in sets.LOST} | {"95%"}
    assert set(re.findall(r"\d+\.\d+|\d+%", re.sub(r"\]\([^)]*\)|`[^`]*`|arXiv \S+", "", text))) <= allowed


def test_the_choice_fits_on_one_screen_and_the_evidence_is_short():
    assert all(len(PAGES[name].splitlines()) <= limit for name, limit in zip(PAGES, (80, 250), strict=True))


def test_figures_are_drawn_from_the_files(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "IMAGES", tmp_path)
    figures.draw()
    for drawn in tmp_path.iterdir():
        assert (DOCS / "images" / drawn.name).exists()
        assert f"images/{drawn.name}" in "".join(PAGES.values())
    assert len(list(tmp_path.iterdir())) == 3


def test_every_measured_method_can_be_made():
    for method in METHODS.values():
        assert hasattr(method.make(), "fit")
    for key in SMOOTHED:
        for smoothing in SMOOTHINGS:
            assert make_smoothed(key, smoothing).get_params()["smoothing"] == smoothing
    assert len(COMPARED) == 8 and set(COMPARED) <= set(METHODS)


# ------------------------------------------------------------------ sets and measurements


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(120, 40, random_state=0)


@pytest.fixture(scope="module")
def task(data):
    return sets.cross_validated("packaged", "group", data)


def test_scores_are_those_of_the_library(task, data):
    found = measure.measure(HIPNB, task, 3)
    expected = cross_validate(HIPNB(), data, seed=3)
    np.testing.assert_allclose(found.by_version["0"], expected.log_odds, rtol=1e-9)
    np.testing.assert_array_equal(found.fold, expected.fold)


def test_damaged_rows_are_scored_by_the_same_model(task, data):
    found = measure.measure(HieBAN, task, 0)
    damaged = data.hierarchy.lose_annotations(data.X, 0.5, 0)
    inside, outside = task.splits(0)[2]
    fitted = HieBAN(hierarchy=data.hierarchy).fit(data.X[inside], data.y[inside])
    np.testing.assert_allclose(found.by_version["0.5"][outside], measure.scores_of(fitted, damaged[outside]))


def test_scores_survive_a_file(task, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "OUT", tmp_path)
    assert measure.load(task, "HieBAN", 0) is None
    measure.run([(task, "HieBAN", HieBAN, 0)])
    kept, found = measure.load(task, "HieBAN", 0), measure.measure(HieBAN, task, 0)
    np.testing.assert_array_equal(kept.fold, found.fold)
    assert list(kept.by_version) == list(found.by_version)
    for version, score in found.by_version.items():
        np.testing.assert_array_equal(kept.by_version[version], score)
    measure.run([(task, "HieBAN", None, 0)])  # nothing is measured again


@pytest.mark.patient
def test_the_same_genes_and_terms_in_both_years(real_data):
    for first, second in zip(sets.tasks("both years")[::2], sets.tasks("both years")[1::2], strict=True):
        assert first.rows == second.rows and first.X.shape == second.X.shape
        versions = first.versions(0)
        assert all(first.hierarchy.is_closed(X) for X in versions.values())
        assert (versions["2014"].toarray() & versions["2019"].toarray() == versions["both"].toarray()).all()


# ------------------------------------------------------------------ metrics and the bootstrap


def judged(positive, score, fold=None):
    return scores.Judged(positive, score, score, np.zeros(len(score), dtype=int) if fold is None else fold)


def test_weights_count_rows():
    rng = np.random.default_rng(0)
    positive, times = rng.random(40) < 0.5, rng.integers(0, 4, size=(5, 40))
    score = np.round(rng.normal(size=40), 1)
    auc = scores.weighted_auc(judged(positive, score), times.astype(float))
    gmean = scores.weighted_gmean(judged(positive, score), times.astype(float))
    for draw in range(5):
        y, s = np.repeat(positive, times[draw]), np.repeat(score, times[draw])
        assert auc[draw] == pytest.approx(auc_score(y, s))
        assert gmean[draw] == pytest.approx(gmean_score(y, s > 0))


def test_the_auc_within_folds_does_not_compare_folds():
    rng = np.random.default_rng(0)
    positive, fold = rng.random(60) < 0.5, rng.integers(0, 3, 60)
    score = rng.normal(size=60) + positive
    before, after = (scores.metrics_of(judged(positive, s, fold)) for s in (score, score + 100 * fold))
    assert after["auc_within_folds"] == pytest.approx(before["auc_within_folds"])
    assert after["auc"] < before["auc"]
    pairs = [positive[fold == k].sum() * (~positive[fold == k]).sum() for k in range(3)]
    parts = [roc_auc_score(positive[fold == k], score[fold == k]) for k in range(3)]
    assert before["auc_within_folds"] == pytest.approx(np.average(parts, weights=pairs))


def test_priors_are_moved_by_the_class_shares(task, data):
    found = measure.measure(lambda: HieBAN(class_prior=(0.5, 0.5)), task, 0)
    other = measure.measure(HieBAN, task, 0)
    equal, natural = scores.judged(task, found, 0, True), scores.judged(task, other, 0, False)
    np.testing.assert_allclose(equal.natural, natural.natural, atol=0.02)  # P(c) has a pseudo-count
    np.testing.assert_allclose(equal.equal, natural.equal, atol=0.02)


def test_the_first_draw_is_the_data(task):
    draws = scores.Draws([task], {task.name: collect.mask_of(task, "all")}, n_draws=200)
    rows = [scores.judged(task, measure.measure(make, task, 0), 0, False) for make in (HieBAN, TAN)]
    for metric in scores.DRAWN:
        a, b = (draws.values(task, [each], metric) for each in rows)
        assert [a[0], b[0]] == pytest.approx([scores.metrics_of(each)[metric] for each in rows])
        middle, low, high = scores.interval(a - b)
        assert low <= middle <= high
        (line, *_) = collect.by_group(["group"], np.stack([a - a]))
        assert line == {"organism": "all", "difference": "0.0000", "low": "0.0000", "high": "0.0000"}


# ------------------------------------------------------------------ other methods


def test_sim_gic_is_its_definition():
    X = sp.csr_array(np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1], [1, 0, 0]], dtype=np.uint8))
    model = peers.SimGIC().fit(X, np.array([1, 0, 1, 0]))
    content = [0.0, math.log(2), math.log(2)]
    np.testing.assert_allclose(model.content_, content)
    similarity = model._similarity(X)
    assert similarity[0, 2] == pytest.approx(0.5)  # one of two terms with content is shared
    assert similarity[0, 1] == 0 and similarity[3, 3] == 0
    assert similarity[1, 1] == pytest.approx(1)


@pytest.mark.parametrize("make", [peers.RidgeLogistic, peers.SimGIC, peers.Forest, peers.ExtraTrees])
def test_other_methods_are_classifiers(data, make):
    values = metrics_of(cross_validate(make(), data, n_splits=3))
    assert 0.3 < values["auc"] <= 1 and np.isfinite(values["log_loss"])
