"""The quality of a model: measured on rows that were held out, kept in its file, and not believed from any file."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.svm import LinearSVC

import hietan
from hietan.catalogue import load_dataset
from hietan.datasets import closest_features, load_ageing_genes, make_hierarchical_classification
from hietan.exceptions import ModelFileError
from hietan.models import Model, rank_rows, train_model
from hietan.models.fitting import rows_to_hold_out, score_held_out
from hietan.scores import cross_validate, gmean_score, metrics_of
from hietan.scores.calibration import best_cutoff, fit_sigmoid


@pytest.fixture(scope="module")
def data():
    return replace(
        load_dataset("synthetic-1"), synonyms=tuple((f"syn{i}",) for i in range(150)), row_noun="gene"
    )


@pytest.fixture(scope="module")
def trained(data):
    return train_model(hietan.HieTAN(), data, seed=4)


def test_the_measures_are_those_of_a_cross_validation(data, trained):
    scores = cross_validate(hietan.HieTAN(), data, n_splits=5, seed=4)
    metrics, quality = metrics_of(scores), trained.quality
    for name in ("gmean", "auc", "average_precision", "log_loss"):
        assert quality[name] == metrics[name]
    assert quality["folds"] == 5 and quality["class_rows"] == np.bincount(data.y).tolist()
    assert sum(rows for _, _, rows in quality["curve"]) == 150
    slope, shift = trained.calibration
    # Fitted to the rows that it is judged by, so it cannot be worse.
    p = expit(slope * scores.log_odds + shift)
    fitted_loss = -np.mean(np.log(np.where(data.y == 1, p, 1 - p)))
    assert fitted_loss < quality["calibrated_log_loss"] < metrics["log_loss"]


def test_three_classes_and_no_validation():
    three = make_hierarchical_classification(60, 15, n_classes=3, random_state=0)
    quality = train_model(hietan.TAN(), three).quality
    assert len(quality["class_rows"]) == 3 and 0 < quality["auc"] < 1 and quality["curve"] == []
    bare = train_model(hietan.TAN(), three, validate=False)
    assert bare.quality is None and bare.calibration is None and bare.held_out is None
    with pytest.raises(ValueError, match="a threshold needs two classes, but there are 3"):
        train_model(hietan.TAN(), three, threshold=0.5)


def test_progress_counts_the_fits(data):
    steps = []
    train_model(hietan.HIPNB(), data, progress=lambda *step: steps.append(step))
    assert steps == [(k, 6) for k in range(1, 6)]


def test_the_cutoff_has_the_best_gmean():
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 40):
        y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
        odds = rng.integers(-3, 4, n).astype(float)
        found = gmean_score(y, odds >= best_cutoff(odds, y == 1))
        tried = [gmean_score(y, odds >= limit) for limit in np.arange(-3.5, 4.5, 0.5)]
        assert found == pytest.approx(max(tried))


def test_a_threshold_decides_what_is_predicted(data):
    strict = train_model(hietan.HieTAN(), data, threshold=0.9)
    ranked = rank_rows(strict, data)
    assert {row.predicted == "class1" for row in ranked.rows if row.probability > 0.9} == {True}
    assert {row.predicted == "class0" for row in ranked.rows if row.probability < 0.9} == {True}
    tuned, own = (train_model(hietan.HieTAN(), data, threshold=t) for t in ("gmean", None))
    assert tuned.cutoff is not None and own.cutoff is None
    assert tuned.quality["auc"] == own.quality["auc"]


def test_everything_is_kept_in_the_file(data, trained, tmp_path):
    trained.save(tmp_path / "m")
    again = Model.load(tmp_path / "m")
    assert again.quality == trained.quality and again.row_noun == "gene"
    for name in ("class_sizes", "cutoff", "calibration", "border"):
        assert getattr(again, name) == getattr(trained, name)
    assert again.training.names.synonyms == trained.training.names.synonyms == data.synonyms
    assert again.training.labels.tolist() == trained.training.labels.tolist() == data.y.tolist()
    by_synonym = replace(data, instance_names=tuple(f"SYN{i}" for i in range(150)), synonyms=())
    assert rank_rows(again, by_synonym).n_new == 0


def platt(odds, is_positive):
    """Platt's sigmoid of log-odds, by another fit."""
    n, m = is_positive.sum(), (~is_positive).sum()
    target = np.where(is_positive, (n + 1) / (n + 2), 1 / (m + 2))
    return LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(
        np.tile(odds[:, None], (2, 1)),
        np.repeat([1, 0], len(odds)),
        sample_weight=np.concatenate([target, 1 - target]),
    )


def test_the_quality_follows_from_the_stored_scores(data, trained, tmp_path):
    """A few lines that share no code with the library, and nothing but what the file contains."""
    trained.save(tmp_path / "m")
    metadata = hietan.persistence.read_metadata(tmp_path / "m")
    assert not {"quality", "validation", "calibration", "cutoff"} & set(metadata)
    stored = {name: np.array(values) for name, values in metadata["held_out"].items()}
    annotations = np.array(metadata["training"]["annotations"])[stored["rows"]]
    np.testing.assert_array_equal(annotations, data.X.toarray().sum(axis=1))
    is_positive, fold = stored["truth"] == 1, stored["fold"]
    odds = stored["log_proba"][:, 1] - stored["log_proba"][:, 0]
    expected = {
        "folds": 5,
        "auc": roc_auc_score(is_positive, odds),
        "average_precision": average_precision_score(is_positive, odds),
        "log_loss": -np.mean(stored["log_proba"][np.arange(150), stored["truth"]]),
        "annotations_auc": roc_auc_score(is_positive, annotations),
        "annotations_correlation": spearmanr(odds, annotations).statistic,
        "median_annotations": np.median(annotations),
    }
    for name, rows in (
        ("few_auc", annotations <= np.median(annotations)),
        ("many_auc", annotations > np.median(annotations)),
    ):
        expected[name] = roc_auc_score(is_positive[rows], odds[rows])
    is_right = stored["predicted"] == stored["truth"]
    expected["gmean"] = np.sqrt(is_right[is_positive].mean() * is_right[~is_positive].mean())
    p = np.empty(150)
    for k in range(5):
        sigmoid = platt(odds[fold != k], is_positive[fold != k])
        p[fold == k] = sigmoid.predict_proba(odds[fold == k][:, None])[:, 1]
    expected["calibrated_log_loss"] = -np.mean(np.log(np.where(is_positive, p, 1 - p)))
    in_bins = [(p * 10).astype(int).clip(max=9) == k for k in range(10)]
    curve = [[p[rows].mean(), is_positive[rows].mean(), rows.sum()] for rows in in_bins if rows.any()]
    expected["calibration_error"] = sum(abs(a - b) * n for a, b, n in curve) / 150
    quality = Model.load(tmp_path / "m").quality
    np.testing.assert_allclose(quality["curve"], curve, rtol=1e-5)
    assert set(quality) == {*expected, "class_rows", "curve"}
    assert quality["class_rows"] == [int((~is_positive).sum()), int(is_positive.sum())]
    assert {name: quality[name] for name in expected} == pytest.approx(expected, rel=1e-5)
    whole = platt(odds, is_positive)
    assert trained.calibration == pytest.approx((whole.coef_[0, 0], whole.intercept_[0]), rel=1e-4)


def names(**entries):
    """A change of the stored names of the training rows."""
    return lambda content: content["training"]["names"].update(entries)


def training(**entries):
    return lambda content: content["training"].update(entries)


def held_out(change):
    """A change of each array of the held-out scores."""
    return lambda content: content.update(
        held_out={name: change(name, values) for name, values in content["held_out"].items()}
    )


def one_positive_row(content):
    """Held out once, with all negative rows, so that no part of the rows has another."""
    rows = [
        *np.flatnonzero(np.array(content["held_out"]["truth"]) == 0),
        content["held_out"]["truth"].index(1),
    ]
    kept = held_out(lambda name, values: [values[row] for row in sorted(rows)])
    kept(content)
    content["held_out"]["fold"] = [0] * len(rows)


FORGED = {
    "symbols of other rows": names(symbols=["a"]),
    "synonyms of other rows": names(synonyms=[["a"]]),
    "synonyms that are not lists": names(synonyms=["ab"] * 150),
    "synonyms that are not text": names(synonyms=[[1]] * 150),
    "labels of other rows": training(labels=[0, 1]),
    "labels of no class": training(labels=[0, 7] * 75),
    "labels below 0": training(labels=[0, -1] * 75),
    "labels that are not integers": training(labels=[0.0, 1.0] * 75),
    "labels that are yes or no": training(labels=[False, True] * 75),
    "labels that differ from the held-out ones": training(labels=[0, 1] * 75),
    "features of other rows": training(features=[1]),
    "annotations of other rows": training(annotations=[1, 2, 3]),
    "annotations below 0": training(annotations=[-1] * 150),
    "annotations by the half": training(annotations=[0.5] * 150),
    "a threshold that is infinite": {"threshold": float("inf")},
    "a threshold that is NaN": {"threshold": float("nan")},
    "a threshold that is a word": {"threshold": "high"},
    "a threshold that is a list": {"threshold": [0.5]},
    "a threshold of 0": {"threshold": 0},
    "a threshold of 1": {"threshold": 1.0},
    "a threshold below 0": {"threshold": -0.5},
    "a tuned threshold without scores": {"threshold": "gmean", "held_out": None},
    "a tuned threshold without log-odds": lambda content: content.update(
        threshold="gmean", held_out={**content["held_out"], "log_proba": None}
    ),
    "a provenance that is a number": {"provenance": 3},
    "scores that are a list": {"held_out": [1]},
    "scores of other classes": held_out(
        lambda name, v: [[*p, -9.0] for p in v] if name == "log_proba" else v
    ),
    "scores of one class": held_out(lambda name, v: [0] * len(v) if name == "truth" else v),
    "scores that are NaN": held_out(lambda name, v: [[float("nan")] * 2] * 150 if name == "log_proba" else v),
    "scores that overflow": held_out(lambda name, v: [[1e308, -1e308]] * 150 if name == "log_proba" else v),
    "probabilities above 1": held_out(lambda name, v: [[3.0, 4.0]] * 150 if name == "log_proba" else v),
    "probabilities of half": held_out(lambda name, v: [[-1.0, -2.0]] * 150 if name == "log_proba" else v),
    "scores of no rows": held_out(lambda name, v: []),
    "scores of more rows": held_out(lambda name, v: v + v),
    "folds below 0": held_out(lambda name, v: [-2] * len(v) if name == "fold" else v),
    "folds by the half": held_out(lambda name, v: [k / 2 for k in v] if name == "fold" else v),
    "a single row of a class": one_positive_row,
    "a seed below 0 for rows held out once": lambda content: (
        content.update(seed=-1),
        content["held_out"].update(fold=[0] * 150),
    ),
    "a seed of 80 bits for rows held out once": lambda content: (
        content.update(seed=2**80),
        content["held_out"].update(fold=[0] * 150),
    ),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_numbers_are_refused(trained, tmp_path, forge):
    trained.save(tmp_path / "m")
    about = hietan.persistence.read_metadata(tmp_path / "m")
    about.update(forge) if isinstance(forge, dict) else forge(about)
    hietan.save(trained.classifier, tmp_path / "m", metadata=about)
    with pytest.raises(ModelFileError, match="m does not describe its model correctly"):
        Model.load(tmp_path / "m")


def test_a_threshold_of_three_classes_is_refused(tmp_path):
    data = make_hierarchical_classification(60, 20, n_classes=3, random_state=0)
    trained = replace(train_model(hietan.HieTAN(), data, validate=False), threshold=0.5)
    with pytest.raises(
        ModelFileError, match="the threshold is 0.5 in a model with 3 classes; a threshold needs two"
    ):
        trained.save(tmp_path / "m")


def test_features_that_repeat_the_label_are_found():
    data = make_hierarchical_classification(200, 30, random_state=3)
    X = data.X.toarray()
    leaf = data.feature_names.index(data.hierarchy.leaves[0])
    X[:, leaf] = data.y
    leaking = replace(data, X=type(data.X)(X))
    named, strong = closest_features(leaking)
    assert named == () and strong[0].feature == data.feature_names[leaf]
    assert strong[0].information == pytest.approx(1) and strong[0].auc == 1 and strong[0].p_value < 1e-30
    assert strong[0].class_rows == (0, int(data.y.sum()))
    assert closest_features(data) == ((), ())
    assert closest_features(replace(data, y=data.y * 0 - 1, target_names=(), positive="")) == ((), ())


def test_a_term_is_found_whatever_the_classes_are_called():
    """By words that are stated, then or when the data were built, and by those of the column and the file."""
    worm = load_ageing_genes("worm")
    worm = replace(worm, target_names=("GenAge", "other"), positive="", provenance={}, name="")
    assert closest_features(worm)[0] == ()
    sources = [
        {"labels": {"file": "ageing.csv", "column": "x"}},
        {"labels": {"file": "", "column": "Longevity"}},
    ]
    for provenance in (*sources, {"options": {"label_words": ["lifespan"]}}):
        named, _ = closest_features(replace(worm, provenance=provenance))
        assert "GO:0008340" in [found.feature for found in named]
    assert closest_features(worm, words=["Ageing"])[0] == named


def test_many_rows_are_held_out_once_and_few_by_folds(data, trained, monkeypatch):
    """Where the rows of one part are enough; what is measured is what a model of the others predicts for them."""
    monkeypatch.setattr("hietan.models.fitting.LARGEST_ERROR", 0.2)
    steps = []
    once = train_model(hietan.HieTAN(), data, seed=4, progress=lambda *step: steps.append(step))
    quality = once.quality
    assert steps == [(1, 2)] and quality["folds"] == 1 and sum(quality["class_rows"]) == 30
    assert quality == train_model(hietan.HieTAN(), data, seed=4, folds=1).quality
    assert (once.classifier.counts_.ones == trained.classifier.counts_.ones).all()
    scores = score_held_out(hietan.HieTAN(hierarchy=data.hierarchy, random_state=4), data, 4)
    metrics, is_positive = metrics_of(scores), scores.truth == 1
    assert quality["class_rows"] == np.bincount(scores.truth).tolist()
    assert quality["auc"] == metrics["auc"] and quality["gmean"] == metrics["gmean"]
    odds = scores.log_proba[:, 1] - scores.log_proba[:, 0]
    assert once.calibration == fit_sigmoid(odds, is_positive) != trained.calibration
    # The same as before for those who ask for folds, bit for bit.
    by_folds = train_model(hietan.HieTAN(), data, seed=4, folds=5)
    assert by_folds.quality == trained.quality and by_folds.calibration == trained.calibration


def test_rows_that_are_held_out_are_predicted_by_a_model_of_the_others(data):
    """Found again among the rows: as many as were held out are predicted like this by a model of the rest."""
    model = hietan.HieTAN(hierarchy=data.hierarchy, random_state=0)
    size, _ = rows_to_hold_out(data.y)
    split = StratifiedShuffleSplit(1, test_size=size, random_state=0)
    others, rows = next(split.split(data.X, data.y))
    scores = score_held_out(model, data, 0, folds=1)
    rows.sort()
    model.fit(data.X[others], data.y[others])
    assert (scores.rows == rows).all() and set(scores.fold.tolist()) == {0}
    assert (scores.truth == data.y[rows]).all()
    assert (scores.predicted == model.predict(data.X[rows])).all()
    np.testing.assert_allclose(scores.log_proba, model.predict_log_proba(data.X[rows]), rtol=1e-12)


def test_how_many_rows_are_held_out():
    """A fifth, and at most 50,000, as the documentation says; but a rare class needs more of them, or the folds."""

    def of(n, share):
        return rows_to_hold_out((np.arange(n) < share * n).astype(int))

    assert of(18_000, 0.5) == (3_600, False) and of(18_200, 0.5) == (3_640, True)
    assert of(200_000, 0.166) == (40_000, True) and of(20_826, 0.1) == (4_165, False)
    assert of(1_000_000, 0.5) == (50_000, True)
    pages = [Path(hietan.__file__).parents[2] / "docs" / "candidates.md"]
    stated = [" ".join(page.read_text(encoding="utf-8").split()) for page in pages if page.exists()]
    for text in [*stated, " ".join(train_model.__doc__.split())]:
        assert re.search(r"fifth.{0,30}at most 50,000( rows)? unless a class is rare", text)
    size, is_enough = of(1_000_000, 0.01)
    assert is_enough and size == 91_828 and (1 / 918 + 1 / 90_910) / 11 < 1.001e-4
    assert of(100_000, 0.01) == (20_000, False)


def test_auc_of_held_out_rows_has_the_error_that_is_promised():
    """The bound of `rows_to_hold_out` against the formula of Hanley and McNeil, over all AUC and shares."""
    auc = np.linspace(0.5, 1, 501)
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    for m, n in ((500, 500), (50, 5000), (5000, 50)):
        variance = auc * (1 - auc) + (m - 1) * (q1 - auc**2) + (n - 1) * (q2 - auc**2)
        assert (variance / (m * n)).max() <= 1.001 * (1 / m + 1 / n) / 11


@pytest.mark.parametrize("folds", [0, -1, 2.5, "5", True])
def test_folds_are_a_number(data, folds):
    with pytest.raises(ValueError, match="expected 2 or more folds, or 1"):
        train_model(hietan.HieTAN(), data, folds=folds)


def test_folds_may_be_an_integer_of_numpy(data):
    found = [train_model(hietan.HieBAN(), data, folds=folds).quality for folds in (np.int64(3), 3)]
    assert found[0] == found[1] and found[0]["folds"] == 3


def test_folds_that_cannot_be_made_are_refused(data):
    with pytest.raises(
        ValueError,
        match="folds is 5, but validation is switched off; omit folds, or switch on validation",
    ):
        train_model(hietan.HieTAN(), data, folds=5, validate=False)
    few = data.subset(rows=np.concatenate([np.flatnonzero(data.y == 0), np.flatnonzero(data.y == 1)[:9]]))
    with pytest.raises(
        ValueError,
        match="needs 10 rows of each class, but class 'class1' has only 9; cross-validate instead",
    ):
        train_model(hietan.HieTAN(), few, folds=1)


def test_a_threshold_that_is_tuned_on_rows_held_out_once(data):
    tuned = train_model(hietan.HieTAN(), data, threshold="gmean", folds=1)
    scores = score_held_out(hietan.HieTAN(hierarchy=data.hierarchy, random_state=0), data, 0, folds=1)
    odds = scores.log_proba[:, 1] - scores.log_proba[:, 0]
    assert tuned.cutoff == best_cutoff(odds, scores.truth == 1)
    assert tuned.quality["folds"] == 1 and 0 < tuned.quality["gmean"] < 1


def test_a_dataset_of_one_class_is_refused_with_the_name_of_the_class(data):
    names = data.instance_names
    only = data.subset([name for name, label in zip(names, data.y, strict=True) if label == 1])
    with pytest.raises(
        ValueError, match=r"all \d+ genes in .* have the class 'class1'; add genes of another class"
    ):
        train_model(hietan.HieTAN(), only)


@given(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=30), st.integers(1, 3))
def test_the_best_cutoff_does_not_depend_on_the_names_of_the_classes(rows, scale):
    """Exchanged classes have the negative log-odds: the same rows are positive, and no cutoff has a higher GMean."""
    odds, y = np.array([k / scale for k, _ in rows]), np.array([label for _, label in rows]).astype(int)
    assume(len(set(y.tolist())) == 2)
    is_second = odds >= best_cutoff(odds, y == 1)
    np.testing.assert_array_equal(is_second, -odds < best_cutoff(-odds, y == 0))
    limits = [*np.unique(odds), 100]
    assert (
        gmean_score(y, is_second.astype(int))
        >= max(gmean_score(y, (odds >= limit).astype(int)) for limit in limits) - 1e-12
    )


def test_the_nearest_cutoff_to_even_odds_wins_a_tie():
    odds = np.array([-3.0, -1.0, 0.5, 2.0, 4.0])
    assert best_cutoff(odds, np.array([0, 1, 0, 1, 1]) == 1) == 1.25  # recalls of 2/3 and 1
    tied = np.array([-5.0, -3.0, 1.0, 1.5, 4.0, 5.0])  # between -5 and -3, or 4 and 5: recalls of 1/3 and 1
    assert best_cutoff(tied, np.array([0, 1, 1, 0, 0, 1]) == 1) == -4.0
    next_float = np.nextafter(1.0, 2.0)
    assert (
        best_cutoff(np.array([1.0, next_float]), np.array([False, True])) == next_float
    )  # nothing lies between


def test_renamed_classes_have_the_same_positive_rows(data):
    """A model with a threshold tuned for GMean, fitted to the same rows under exchanged names."""
    for seed in range(8):
        small = make_hierarchical_classification(60, 12, random_state=seed)
        renamed = replace(small, y=1 - small.y, target_names=small.target_names[::-1], positive="")
        found = []
        assert renamed.target_names == ("class1", "class0") and (renamed.y == 1 - small.y).all()
        for each in (replace(small, positive="class1"), renamed):
            for positive in ("class1", "class0"):
                trained = train_model(hietan.HieBAN(), each, threshold="gmean", positive=positive)
                for ranked_by in ("class1", "class0"):
                    ranked = rank_rows(trained, each, match=["none"], positive=ranked_by)
                    found.append({row.instance: row.predicted for row in ranked.rows})
        assert all(one == found[0] for one in found[1:]) and len(found) == 8


@pytest.mark.parametrize("threshold", ["gmean", 0.3])
def test_a_threshold_needs_probabilities(data, threshold):
    with pytest.raises(ValueError, match="LinearSVC has no probabilities, so a threshold cannot be used"):
        train_model(LinearSVC(), data, threshold=threshold, folds=2)
