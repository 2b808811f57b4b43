"""The positive class: it changes metrics, rankings and what is shown, and nothing that a classifier computes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, recall_score, roc_auc_score

from hietan import HieBAN, HieLogistic, Hierarchy
from hietan.datasets import Dataset, load_ageing_genes, make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.models import Model, explain_rows_by_name, rank_rows, train_model
from hietan.models.fitting import score_held_out
from hietan.models.words import probability_note
from hietan.report._candidates_page import candidates_summary
from hietan.report._study_page import study_summary
from hietan.scores import Scores, cross_validate, metrics_of
from hietan.scores.cross_validation import configure
from hietan.scores.scores import normalised


@pytest.fixture(scope="module")
def data():
    """Two thirds of the rows are of the second class, which nobody states to be positive."""
    made = make_hierarchical_classification(150, 40, imbalance=1 / 3, random_state=1)
    return replace(made, target_names=("case", "healthy"), positive="")


@pytest.fixture(scope="module")
def models(data):
    return {name: train_model(HieBAN(), data, positive=name) for name in data.target_names}


def test_the_rarer_class_is_positive_unless_one_is_stated(data):
    sizes = dict(zip(data.target_names, np.bincount(data.y).tolist(), strict=True))
    assert sizes == {"healthy": 100, "case": 50} and data.positive == "case"
    assert replace(data, positive="healthy").positive == "healthy"
    tied = replace(data, y=np.arange(150) % 2, target_names=("case", "healthy"), positive="")
    assert tied.positive == "healthy"  # a tie: the last
    assert load_ageing_genes("worm", "CC").positive == "pro"
    three = replace(data, y=np.arange(150) % 3, target_names=("a", "b", "c"), positive="")
    assert three.positive == ""
    assert replace(three, y=2 - 2 * data.y).positive == "a"  # two of three are present
    with pytest.raises(ValueError, match="positive is 'ill'; expected one of the classes: healthy, case"):
        replace(data, positive="ill")


def test_it_is_the_last_class_and_each_row_keeps_its_own(data):
    made = make_hierarchical_classification(150, 40, imbalance=1 / 3, random_state=1)
    own = [("case", "healthy")[label] for label in made.y]  # as the fixture calls the classes
    three = replace(data, y=np.arange(150) % 3, target_names=("a", "b", "c"), positive="")
    assert three.target_names == ("a", "b", "c") and three.y.tolist() == (np.arange(150) % 3).tolist()
    for each, positive in ((data, "case"), (data, "healthy"), (three, "a"), (three, "b"), (three, "c")):
        turned = replace(each, positive=positive)
        others = [name for name in each.target_names if name != positive]
        assert turned.positive == positive and turned.target_names == (*others, positive)
        names = own if each is data else ["abc"[i % 3] for i in range(150)]
        assert [turned.target_names[label] for label in turned.y] == names
        again = replace(turned, positive=each.target_names[-1])
        assert [again.target_names[label] for label in again.y] == names


def test_it_is_kept_in_files(data, models, tmp_path):
    replace(data, positive="healthy").save(tmp_path / "d.hietan")
    assert Dataset.load(tmp_path / "d.hietan").positive == "healthy"
    models["case"].save(tmp_path / "m.hietan")
    again = Model.load(tmp_path / "m.hietan")
    assert again.positive == "case" and again.quality == models["case"].quality
    assert again.held_out.classes == again.classes == ("healthy", "case")


def test_metrics_are_those_of_scikit_learn(data):
    scores = cross_validate(HieBAN(), data, n_splits=5)
    assert scores.classes == ("healthy", "case")
    values, is_case, p = metrics_of(scores), scores.truth == 1, scores.proba[:, 1]
    assert values["average_precision"] == pytest.approx(average_precision_score(is_case, p))
    assert values["sensitivity"] == recall_score(scores.truth, scores.predicted, pos_label=1)
    assert values["specificity"] == recall_score(scores.truth, scores.predicted, pos_label=0)
    other = metrics_of(scores.with_positive("healthy"))
    changed = {name for name in values if values[name] != other[name]}
    assert changed == {"sensitivity", "specificity", "average_precision"}


def test_rankings_are_turned_around_and_the_classifier_is_not(data, models):
    case, healthy = (rank_rows(models[name], data) for name in ("case", "healthy"))
    assert np.array_equal(case.log_odds, -healthy.log_odds)
    predicted = [[each.scores.classes[k] for k in each.scores.predicted] for each in (case, healthy)]
    assert predicted[0] == predicted[1] and set(predicted[0]) == {"case", "healthy"}
    assert data.target_names == ("healthy", "case")
    for name, each in (("case", case), ("healthy", healthy)):
        fitted, k = models[name].classifier, data.target_names.index(name)
        assert fitted.classes_.tolist() == [0, 1] and models[name].class_names == data.target_names
        assert models[name].classes[-1] == models[name].held_out.classes[-1] == name
        joint = fitted.predict_joint_log_proba(data.X)
        assert np.array_equal(each.log_odds, joint[:, k] - joint[:, 1 - k])
    proba = [models[name].classifier.predict_proba(data.X) for name in ("case", "healthy")]
    assert np.array_equal(*proba)
    assert case.probabilities + healthy.probabilities == pytest.approx(np.ones(150))
    slope, shift = models["case"].calibration
    assert case.probabilities == pytest.approx(expit(slope * case.log_odds + shift))
    slope, shift = models["healthy"].calibration
    assert case.probabilities == pytest.approx(1 - expit(slope * -case.log_odds + shift))
    asked = rank_rows(models["healthy"], data, positive="case")
    assert asked.model.classifier is models["healthy"].classifier
    assert asked.rows == case.rows and asked.to_csv() == case.to_csv()
    assert "Rows are ranked by the log-odds of case." in case.to_csv().splitlines()[0]
    share = np.mean([data.target_names[label] == "case" for label in data.y])
    assert f"P(case) is calibrated on held-out rows, for data with {share:.1%}" in case.to_csv()
    with pytest.raises(ValueError, match="positive is 'ill'; expected one of the classes healthy, case"):
        rank_rows(models["case"], data, positive="ill")


def test_one_of_several_classes_can_be_ranked_by(data):
    three = replace(data, y=np.arange(150) % 3, target_names=("a", "b", "c"), positive="")
    trained = train_model(HieBAN(), three, positive="b")
    assert trained.class_names == ("a", "b", "c") and trained.classes == ("a", "c", "b")
    p = trained.classifier.predict_proba(three.X)[:, 1]
    assert expit(rank_rows(trained, three).log_odds) == pytest.approx(p)
    # Its average precision is the mean over the classes.
    each = [three.target_names.index(name) for name in trained.held_out.classes]
    precisions = [
        average_precision_score(three.y == label, trained.held_out.log_proba[:, k])
        for k, label in enumerate(each)
    ]
    assert sorted(each) == [0, 1, 2]
    assert trained.quality["average_precision"] == pytest.approx(np.mean(precisions))
    first = rank_rows(trained, three, positive="a")
    assert expit(first.log_odds) == pytest.approx(trained.classifier.predict_proba(three.X)[:, 0])
    assert first.model.classifier is trained.classifier
    assert first.model.quality["average_precision"] == pytest.approx(trained.quality["average_precision"])
    likeliest = rank_rows(train_model(HieBAN(), three), three)
    p = likeliest.model.classifier.predict_proba(three.X).max(axis=1)
    assert likeliest.positive == "" and expit(likeliest.log_odds) == pytest.approx(p)
    assert run_study([replace(three, positive="b")], {"BAN": HieBAN()}, cv=3).summary[0].positive == ""
    with pytest.raises(ValueError, match="positive is 'b'; expected one of the classes a, c"):
        train_model(HieBAN(), replace(three, y=data.y * 2), positive="b")


def test_the_validation_is_of_the_positive_class(data, models):
    model = configure(HieBAN(), data.hierarchy, 0)
    held_out = score_held_out(model, data, 0)
    case = held_out.classes.index("case")
    is_case = held_out.truth == case
    assert [data.target_names[label] == "case" for label in data.y] == is_case.tolist()
    score = held_out.log_proba[:, case] - held_out.log_proba[:, 1 - case]
    quality = models["case"].quality
    assert quality["auc"] == pytest.approx(roc_auc_score(is_case, score))
    assert quality["average_precision"] == pytest.approx(average_precision_score(is_case, score))
    predicted, observed, rows = np.array(quality["curve"]).T
    assert np.average(observed, weights=rows) == pytest.approx(is_case.mean())
    assert np.average(predicted, weights=rows) == pytest.approx(is_case.mean(), abs=0.03)


def test_a_threshold_is_one_of_the_positive_class(data):
    trained = train_model(HieBAN(), data, threshold=0.9, validate=False)
    p = trained.classifier.predict_proba(data.X)[:, trained.class_names.index("case")]
    ranked = rank_rows(trained, data)
    assert {row.instance for row in ranked.rows if row.predicted == "case"} == {
        name for name, value in zip(data.instance_names, p, strict=True) if value >= 0.9
    }
    assert 0 < (p >= 0.9).sum() < 150
    expected = {row.instance: row.predicted for row in ranked.rows}
    turned = rank_rows(trained, data, positive="healthy")
    assert {row.instance: row.predicted for row in turned.rows} == expected
    assert turned.model.border == pytest.approx(1 - trained.border) == pytest.approx(0.1)
    for found in explain_rows_by_name(trained, data, data.instance_names):
        explanation, predicted = found.explanation, expected[found.instance]
        assert explanation.predicted == explanation.to_dict()["predicted"] == predicted
        assert f"{found.instance}: {predicted}. P(case)" in found.text()


def test_explanations_and_pages_are_about_it(data, models):
    (explained,) = explain_rows_by_name(models["case"], data, ["row3"])
    ranked = rank_rows(models["case"], data)
    odds = dict(zip(data.instance_names, ranked.log_odds, strict=True))
    assert explained.explanation.target == "case"
    assert explained.explanation.log_odds == pytest.approx(odds["row3"])
    shown = dict(zip(data.instance_names, ranked.probabilities, strict=True))
    assert explained.explanation.calibrated == pytest.approx(shown["row3"])
    assert explained.explanation.to_dict()["calibrated"] == explained.explanation.calibrated
    page = candidates_summary(ranked)
    (shown,) = page["datasets"]
    assert shown["classes"] == ["healthy", "case"] and page["quality"]["positive"] == "case"
    own = [data.target_names[label] for label in data.y]
    assert page["quality"]["class_rows"] == [own.count("healthy"), own.count("case")] == [100, 50]
    predicted = [row.predicted for row in ranked.rows]
    assert [shown["classes"][c] for c in shown["predictions"][0]["predicted"]] == predicted
    for entry in shown["explained"]:
        why = entry["methods"][0]
        assert shown["classes"][shown["labels"].index(why["target"])] == "case"
        assert why["log_odds"] == pytest.approx(shown["predictions"][0]["log_odds"][entry["row"]], abs=1e-3)


def test_studies_and_their_reports_are_about_it(data, tmp_path):
    turned = replace(data, positive="healthy", name="turned")
    with pytest.warns(
        RuntimeWarning, match=r"different positive classes \(case in synthetic; healthy in turned\)"
    ):
        both = run_study([data, turned], {"BAN": HieBAN()}, cv=3)
    assert [row.positive for row in both.summary] == ["case", "healthy"]
    assert both.summary[0]["sensitivity"] == both.summary[1]["specificity"]
    results = run_study([turned], {"BAN": HieBAN()}, cv=3, output=tmp_path, positive="case")
    assert results.summary[0].metrics == both.summary[0].metrics
    page = study_summary(tmp_path)
    (shown,) = page["datasets"]
    assert page["metrics"]["average_precision"]["label"] == "average precision (case)"
    assert shown["labels"] == ["1", "0"]
    pooled = results.predictions["turned", "BAN @ tuned none", 0]
    assert shown["predictions"][0]["log_odds"] == pytest.approx(pooled.log_odds, abs=1e-3)
    scores = shown["quality"]["methods"][0]["scores"]
    assert scores["average_precision"][0] == pytest.approx(results.summary[0]["average_precision"], abs=1e-4)
    assert scores["sensitivity"][0] == pytest.approx(results.summary[0]["sensitivity"], abs=1e-4)


def test_study_bias_is_computed_from_the_held_out_rows():
    worm = load_ageing_genes("worm", "CC")
    assert worm.target_names[-1] == "pro"
    quality = train_model(HieLogistic(), worm).quality
    held_out = score_held_out(configure(HieLogistic(), worm.hierarchy, 0), worm, 0)
    score = held_out.log_proba[:, 1] - held_out.log_proba[:, 0]
    annotations = np.asarray(worm.X.sum(axis=1)).ravel()
    few = annotations <= np.median(annotations)
    assert quality["annotations_auc"] == pytest.approx(roc_auc_score(worm.y, annotations))
    assert quality["annotations_correlation"] == pytest.approx(spearmanr(score, annotations).statistic)
    assert quality["few_auc"] == pytest.approx(roc_auc_score(worm.y[few], score[few]))
    assert quality["many_auc"] == pytest.approx(roc_auc_score(worm.y[~few], score[~few]))
    assert worm.summary().annotations_auc == pytest.approx(quality["annotations_auc"])


def test_the_note_names_the_probability_from_which_the_class_is_predicted(data):
    for options in ({}, {"positive": "healthy"}, {"threshold": 0.3}):
        trained = train_model(HieLogistic(), data, **options)
        ranked = rank_rows(trained, data)
        border = float(probability_note(trained).rpartition("P is ")[2].removesuffix(" or more."))
        for row in ranked.rows:
            assert (row.predicted == trained.positive) == (row.probability > border) or row.probability == (
                pytest.approx(border, abs=0.006)
            )
        assert border == pytest.approx(options.get("threshold", border), abs=0.006)


def test_perfect_predictions_are_no_error():
    """Average precision may be rounded to more than 1."""
    for n in (200, 500):
        y = np.arange(n) % 2
        log_proba = normalised(np.column_stack([np.zeros(n), y + np.linspace(0, 0.5, n)]))
        assert metrics_of(Scores(("0", "1"), y, log_proba, y))["average_precision"] == 1
    made = make_hierarchical_classification(200, 6, random_state=0)
    X = np.zeros((200, 6), dtype=np.uint8)
    X[:, 0], X[:, 1] = made.y, 1 - made.y
    flat = Hierarchy.unrelated(made.feature_names)
    quality = train_model(HieBAN(), replace(made, X=csr_array(X), hierarchy=flat)).quality
    assert quality["auc"] == quality["average_precision"] == 1
    assert quality["calibrated_log_loss"] < 0.1


def test_a_page_of_another_class_shows_the_quality_for_that_class(data, models):
    new = replace(data, instance_names=tuple(f"new{i}" for i in range(150)))
    ranked = [rank_rows(models["case"], new, positive=name) for name in data.target_names]
    qualities = [candidates_summary(one, explained=0)["quality"] for one in ranked]
    annotations = np.asarray(data.X.sum(axis=1)).ravel()
    for name, one, quality in zip(data.target_names, ranked, qualities, strict=True):
        assert quality["positive"] == name
        expected = spearmanr(one.log_odds, annotations).statistic
        assert quality["ranking_correlation"] == pytest.approx(expected)
    first, second = (quality["annotations_correlation"] for quality in qualities)
    assert first == -second


def test_the_positive_class_does_not_change_what_a_class_prior_means(data):
    prior = {"healthy": 0.9, "case": 0.1}
    probabilities = []
    for positive in ("case", "healthy"):
        classifier = HieBAN(class_prior=tuple(prior[name] for name in data.target_names))
        model = train_model(classifier, data, positive=positive, validate=False)
        p = model.probabilities(model.score(data.X).log_odds)
        probabilities.append(p if positive == "case" else 1 - p)
    np.testing.assert_allclose(*probabilities)
    assert probabilities[0].mean() < 0.5


def test_a_positive_class_without_rows_is_replaced_by_the_rarer_class(data, tmp_path):
    three = replace(data, y=np.arange(150) % 3, target_names=("a", "b", "c"), positive="a")
    two = three.subset(rows=np.flatnonzero(three.y != 2)[10:])
    model = train_model(HieBAN(), two, validate=False)
    assert model.positive in ("b", "c") and model.class_sizes[model.positive] == min(
        model.class_sizes.values()
    )
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="target_names repeats a class"):
        replace(data, target_names=("x", "x"), positive="x")
