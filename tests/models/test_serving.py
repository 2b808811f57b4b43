"""Predictions from lists of terms: the same numbers as in bulk, unknown terms, newer hierarchies; and evaluations."""

import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

import hietan
from hietan import Hierarchy
from hietan.datasets import build_dataset, make_hierarchical_classification
from hietan.exceptions import DataError, DataWarning
from hietan.models import Model, evaluate_model, rank_rows, train_model
from hietan.models.serving import MOST_UNKNOWN

METHODS = [hietan.HieLogistic, hietan.HieBAN, hietan.HieTAN, hietan.HieTANLite]


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(300, 60, random_state=2)


@pytest.fixture(scope="module", params=METHODS, ids=lambda method: method.__name__)
def trained(request, data):
    return train_model(request.param(), data.subset(rows=slice(200)), positive="class0", folds=2)


def leaves_of(data, i):
    """The most specific terms of a row, as an annotation would list them."""
    present = [data.feature_names[j] for j in np.flatnonzero(data.X[[i]].toarray()[0])]
    above = {a for term in present for a in data.hierarchy.ancestors(term)}
    return [term for term in present if term not in above]


def test_one_row_has_the_numbers_of_all_rows_to_the_last_bit(trained, data):
    rows = [leaves_of(data, i) for i in range(300)]
    bulk = trained.predict(rows)
    assert [trained.predict([row])[0] for row in rows] == bulk
    ranked = rank_rows(trained, data, match=("id",))
    assert [found.log_odds for found in bulk] == ranked.log_odds.tolist()
    assert [found.probability for found in bulk] == ranked.probabilities.tolist()
    assert {found.positive for found in bulk} == {"class0"} == {bulk[0].to_dict()["positive"]}
    assert trained.classes == ranked.scores.classes == ("class1", "class0")
    predicted = [ranked.scores.classes[k] for k in ranked.scores.predicted]
    assert [found.predicted for found in bulk] == predicted and set(predicted) == {"class0", "class1"}
    own = [trained.class_names[label] for label in trained.classifier.predict(data.X)]
    assert predicted == own  # without a threshold, the classifier's own predictions


def test_probabilities_are_those_of_the_classifier_and_its_calibration(trained, data):
    (found,) = trained.predict([leaves_of(data, 7)])
    logs = trained.classifier.predict_log_proba(data.X[[7]])[0]
    of_class = dict(zip(trained.class_names, logs, strict=True))
    assert found.log_odds == pytest.approx(of_class["class0"] - of_class["class1"], abs=1e-9)
    slope, shift = trained.calibration
    assert found.probability == pytest.approx(expit(slope * found.log_odds + shift), abs=1e-9)


def test_reasons_are_the_strongest_contributions(trained, data):
    (found,) = trained.predict([leaves_of(data, 3)], reasons=4)
    target = trained.class_names.index("class0")
    explanation = trained.classifier.explain(data.X[[3]], target=target)[0]
    assert found.log_odds == pytest.approx(explanation.log_odds, abs=1e-9)
    assert found.reasons == tuple(explanation.strongest[:4]) and len(found.reasons) == 4
    sizes = [abs(part.contribution) for part in found.reasons]
    assert sizes == sorted(sizes, reverse=True)
    shown = json.loads(json.dumps(found.to_dict()))
    assert shown["reasons"][0]["feature"] == found.reasons[0].feature and shown["unknown"] == []


def test_unknown_terms_are_counted_in_the_result_and_in_total(data):
    trained = train_model(hietan.HieBAN(), data, validate=False)
    known = leaves_of(data, 0)
    first, second = trained.predict([[*known, "new"], ["other", "new"]])
    assert first.unknown == ("new",) and second.unknown == ("other", "new")
    assert first.log_odds == trained.predict([known])[0].log_odds
    trained.predict([["new"]])
    assert trained.unknown_terms == {"new": 3, "other": 1}
    for k in range(0, 2 * MOST_UNKNOWN, 1000):
        trained.predict([[f"x{i}" for i in range(k, k + 1000)]])
    assert (
        len(trained.unknown_terms) == MOST_UNKNOWN + 1
        and sum(trained.unknown_terms.values()) == 4 + 2 * MOST_UNKNOWN
    )


def test_a_new_leaf_counts_as_its_known_parents(data):
    trained = train_model(hietan.HieLogistic(), data, validate=False)
    first, second = data.hierarchy.leaves[:2]
    newer = Hierarchy.from_edges(
        [*data.hierarchy.edges, (first, "new"), (second, "new"), ("new", "newest"), ("a", "b")]
    )
    expected = trained.predict([[first, second]])[0]
    for term in ("new", "newest"):
        found = trained.predict([[term]], hierarchy=newer)[0]
        assert found.log_odds == expected.log_odds and found.unknown == ()
    nothing, known_to_it, strange = trained.predict([[], ["b"], ["c"]], hierarchy=newer)
    assert nothing.log_odds == known_to_it.log_odds == strange.log_odds
    assert known_to_it.unknown == () and strange.unknown == ("c",)
    assert trained.predict([["new"]])[0].unknown == ("new",)  # without the newer hierarchy again


def test_a_newer_hierarchy_does_not_change_terms_of_the_model(data):
    first, second, third = data.hierarchy.leaves[:3]
    trained = train_model(hietan.HieLogistic(), data, validate=False)
    trained = replace(trained, provenance={"aliases": {"merged": [first]}})
    newer = Hierarchy.from_edges([(second, first), (third, "merged"), (first, "new")])
    for term in (first, "merged"):
        assert trained.predict([[term]], hierarchy=newer) == trained.predict([[first]])
    (new,) = trained.predict([["new"]], hierarchy=newer)
    assert new == trained.predict([[first, second]])[0] != trained.predict([[first]])[0]


def test_terms_left_out_of_the_training_data_do_not_return_with_a_newer_hierarchy():
    edges = [("top", "a"), ("top", "b"), ("a", "a1"), ("b", "b1"), ("a", "repeats the label")]
    rows = {f"r{i}": [["a1"], ["b1"]][i % 2] for i in range(20)}
    labels = {name: "yn"[i % 2] for i, name in enumerate(rows)}
    data = build_dataset(edges, rows, labels, drop_terms="repeats the label", drop_roots=False)
    trained = train_model(hietan.HieLogistic(), data, validate=False)
    new = [
        ("repeats the label", "below"),
        ("repeats the label", "below both"),
        ("b", "below both"),
        ("a", "a2"),
    ]
    newer = Hierarchy.from_edges([*edges, *new])
    (nothing,), (a,) = trained.predict([[]]), trained.predict([["a"]])
    for term in ("repeats the label", "below", "below both"):
        assert trained.predict([[term]], hierarchy=newer) == [replace(nothing, unknown=(term,))]
    assert trained.predict([["a2"]], hierarchy=newer) == [a] != [nothing]


def test_wrong_arguments_are_named(data):
    trained = train_model(hietan.HieBAN(), data, validate=False)
    with pytest.raises(TypeError, match="hierarchy is 'newer.obo'; expected a Hierarchy"):
        trained.predict([[]], hierarchy="newer.obo")
    with pytest.raises(ValueError, match="reasons is 1.5; expected a whole number"):
        trained.predict([[]], reasons=1.5)


def test_an_edge_that_the_newer_hierarchy_lost_still_counts(data):
    """Rows stay closed under the hierarchy that the model was trained with."""
    trained = train_model(hietan.HieLogistic(), data, validate=False)
    term = data.hierarchy.leaves[0]
    flat = Hierarchy.from_edges([("root", name) for name in data.feature_names])
    assert trained.predict([[term]], hierarchy=flat) == trained.predict([[term]])


def test_unlabelled_models_return_lifts(data):
    trained = train_model(hietan.HieLogistic(), data, unlabelled="class0")
    (found,) = trained.predict([data.feature_names[:1]])
    assert found.lift == trained.lifts(np.array([found.log_odds]))[0]
    assert found.probability is None and found.predicted == ""
    assert set(found.to_dict()) == {"log_odds", "lift", "unknown", "positive"} and found.cutoff is None


def test_an_answer_says_where_the_border_is_and_whether_it_knew_a_term(trained, data):
    rows = [leaves_of(data, i) for i in range(300)]
    found = trained.predict(rows)
    border = found[0].cutoff
    assert {row.cutoff for row in found} == {border} == {found[0].to_dict()["cutoff"]}
    assert {row.probability >= border for row in found if row.predicted == "class0"} == {True}
    assert {row.probability >= border for row in found if row.predicted == "class1"} == {False}
    warning = "no term of this row is known to the model"
    for terms, has_none in (([], True), (["strange"], True), (["strange", data.feature_names[3]], False)):
        answer = trained.predict([terms])[0].to_dict()
        assert (answer.get("warning") == warning) == has_none and "no_known_term" not in answer


def test_a_threshold_is_the_border(data):
    trained = train_model(hietan.HieLogistic(), data, threshold=0.3, positive="class0")
    found = trained.predict([leaves_of(data, i) for i in range(300)])
    assert found[0].cutoff == pytest.approx(0.3)
    assert {row.probability >= 0.3 for row in found if row.predicted == "class0"} == {True}


def test_reasons_have_names_and_branches_that_add_up(data):
    named = replace(data, term_names=tuple(f"name of {name}" for name in data.feature_names))
    trained = train_model(hietan.HieLogistic(), named, folds=2)
    answer = json.loads(json.dumps(trained.predict([leaves_of(data, 3)], reasons=3)[0].to_dict()))
    assert [reason["name"] for reason in answer["reasons"]] == [
        f"name of {reason['feature']}" for reason in answer["reasons"]
    ]
    *branches, rest = answer["branches"]
    assert branches and rest["feature"] is None and rest["name"] == "the rest"
    assert all(branch["name"] == f"name of {branch['feature']}" for branch in branches)
    total = answer["base"] + sum(branch["amount"] for branch in answer["branches"])
    assert total == pytest.approx(answer["log_odds"], abs=1e-9)


@pytest.mark.parametrize("method", [hietan.HieBAN, hietan.ProximalGraph, hietan.AODE])
def test_reasons_add_up_for_several_classes(method):
    data = make_hierarchical_classification(200, 30, n_classes=3, random_state=0)
    trained = train_model(method(), data, folds=2)
    for i, found in enumerate(trained.predict([leaves_of(data, i) for i in range(40)], reasons=2)):
        total = found.base + sum(branch.amount for branch in found.branches)
        assert total == pytest.approx(found.log_odds, abs=1e-9)
        p = trained.classifier.predict_proba(data.X[[i]])[0].max()
        assert found.log_odds == pytest.approx(np.log(p / (1 - p)), abs=1e-9)


def test_several_classes_and_no_rows():
    data = make_hierarchical_classification(150, 30, n_classes=3, random_state=0)
    trained = train_model(hietan.HieBAN(), data, folds=2)
    found = trained.predict([leaves_of(data, i) for i in range(20)])
    assert [each.predicted for each in found] == [
        data.target_names[label] for label in trained.classifier.predict(data.X[:20])
    ]
    assert trained.predict([]) == []


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (["T1"], TypeError, "expected a list of terms in row 0, got 'T1'; split it"),
        ([["T1"], None], TypeError, "expected a list of terms in row 1, got None"),
        ([[["T1"]]], TypeError, r"expected terms as text in row 0, got \['T1'\]"),
        ([[None]], ValueError, r"row 0 contains a missing term \(None\); remove it"),
        ([[float("nan")]], ValueError, r"row 0 contains a missing term \(nan\)"),
    ],
)
def test_bad_rows(data, rows, error, message):
    trained = train_model(hietan.HieBAN(), data, validate=False)
    with pytest.raises(error, match=message):
        trained.predict(rows)
    assert not trained.unknown_terms


def test_numbers_are_not_text(data):
    """Ids that are numbers are not taken for text: 12 is not "12"."""
    names = tuple(str(j) for j in range(60))
    hierarchy = Hierarchy.unrelated(names)
    renamed = replace(data, feature_names=names, term_names=names, hierarchy=hierarchy)
    trained = train_model(hietan.HieBAN(), renamed, validate=False)
    assert trained.predict([[12]])[0].unknown == ("12",) and trained.predict([["12"]])[0].unknown == ()


def test_a_stored_model_predicts_the_same(trained, data, tmp_path):
    trained.save(tmp_path / "model")
    rows = [leaves_of(data, i) for i in range(50)]
    assert Model.load(tmp_path / "model").predict(rows) == trained.predict(rows)


# ------------------------------------------------------------------------------------ evaluations


@pytest.fixture
def few_draws(monkeypatch):
    monkeypatch.setattr("hietan.models.evaluating.DRAWS", 100)


@pytest.mark.usefixtures("few_draws")
def test_an_evaluation_by_hand(trained, data):
    found = evaluate_model(trained, data)
    assert found.left_out == 200
    new = data.subset(rows=slice(200, 300))
    assert found.class_rows == {name: int(np.sum(new.y == c)) for c, name in enumerate(new.target_names)}
    ranked = rank_rows(trained, new)
    p, truth = ranked.probabilities, new.y == 0
    assert found.metrics["auc"].value == pytest.approx(roc_auc_score(truth, ranked.log_odds))
    assert found.metrics["average_precision"].value == pytest.approx(
        average_precision_score(truth, ranked.log_odds)
    )
    assert found.metrics["log_loss"].value == pytest.approx(log_loss(truth, p))
    predicted = np.array(ranked.scores.classes)[ranked.scores.predicted]
    recalls = [np.mean((predicted == name)[new.y == c]) for c, name in enumerate(new.target_names)]
    assert found.metrics["gmean"].value == pytest.approx(np.sqrt(np.prod(recalls)))
    assert sum(n for _, _, n in found.curve) == 100
    distance = sum(n * abs(a - b) for a, b, n in found.curve) / 100
    assert found.metrics["calibration_error"].value == pytest.approx(distance)
    assert found.metrics["auc"].validated == trained.quality["auc"]
    assert found.metrics["log_loss"].validated == trained.quality["calibrated_log_loss"]
    assert found.positive_share == pytest.approx(truth.mean())
    for measured in found.metrics.values():
        assert measured.low <= measured.value <= measured.high or measured.value == pytest.approx(
            measured.low, abs=0.05
        )
    json.dumps(found.to_dict())


@pytest.mark.patient
def test_intervals_are_bootstrap_quantiles(data):
    trained = train_model(hietan.HieBAN(), data.subset(rows=slice(200)), folds=2)
    found, new = evaluate_model(trained, data, seed=5).metrics["auc"], data.subset(rows=slice(200, 300))
    odds, rng = trained.classifier.predict_joint_log_proba(new.X), np.random.default_rng(5)
    score, drawn = odds[:, 1] - odds[:, 0], []
    for _ in range(500):
        rows = rng.integers(100, size=100)
        drawn.append(roc_auc_score(new.y[rows], score[rows]))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=1e-9)


def test_a_few_rows_show_no_drift(data):
    trained = train_model(hietan.HieBAN(), data.subset(rows=slice(200)), folds=2)
    wrong = replace(data, y=1 - trained.classifier.predict(data.X))  # every prediction is wrong
    few = [row for k in (0, 1) for row in (200 + np.flatnonzero(wrong.y[200:] == k))[:19]]
    for rows, drifted in ((np.sort(few), False), (slice(200, 300), True)):
        found = evaluate_model(trained, wrong.subset(rows=rows))
        assert (min(found.class_rows.values()) >= 20) == drifted
        assert found.metrics["gmean"].value == 0 and found.metrics["gmean"].drifted == drifted
        assert any(measured.drifted for measured in found.metrics.values()) == drifted


def test_better_rows_have_not_drifted(data):
    trained = train_model(hietan.HieBAN(), data.subset(rows=slice(200)), folds=2)
    right = replace(data, y=trained.classifier.predict(data.X))  # every prediction is right
    found = evaluate_model(trained, right.subset(rows=slice(200, 300)))
    assert found.metrics["auc"].value == found.metrics["gmean"].value == 1
    assert found.metrics["log_loss"].value < found.metrics["log_loss"].validated
    assert not any(measured.drifted for measured in found.metrics.values())


def test_with_a_class_prior_only_rankings_are_compared(data):
    trained = train_model(hietan.HieBAN(class_prior=(0.9, 0.1)), data.subset(rows=slice(200)), folds=2)
    metrics = evaluate_model(trained, data).metrics
    assert {name for name, m in metrics.items() if m.validated is not None} == {"auc", "average_precision"}


@pytest.mark.patient
@pytest.mark.usefixtures("few_draws")
def test_no_drift_is_reported_for_rows_of_the_same_kind():
    """10 pairs of training and new rows, drawn from one set: the validation also has a sampling error."""
    data, flagged = make_hierarchical_classification(600, 40, random_state=8), 0
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(600)
        trained = train_model(hietan.HieBAN(), data.subset(rows=np.sort(order[:300])), seed=seed)
        found = evaluate_model(trained, data.subset(rows=np.sort(order[300:])), seed=seed)
        flagged += any(measured.drifted for measured in found.metrics.values())
    assert flagged <= 2


CODES = pd.DataFrame({"parent": ["K56", "K56", "J00", ""], "child": ["K56.3", "K56.7", "J00.4", "K56"]})
CLAIMS = pd.DataFrame({"item": ["p1", "p2", "p3", "p4"], "term": ["K563", "K567", "j00.4", "J00"]})
OUTCOMES = pd.DataFrame({"item": ["p1", "p2", "p3", "p4"], "label": ["yes", "yes", "no", "no"]})


def test_codes_without_dots_are_those_with_dots_on_request():
    with pytest.raises(
        DataError, match=r"the ontology has 'K56.3' for 'K563', so ignore case and punctuation"
    ):
        build_dataset(CODES, CLAIMS[:2], OUTCOMES, min_support=1)
    with pytest.warns(DataWarning) as caught:
        build_dataset(CODES, CLAIMS, min_support=1, drop_roots=False)
    assert re.search(
        r"75.0% of the annotations .*'K56.3' for 'K563'.*--ignore-punctuation", str(caught[0].message)
    )
    dotted = CLAIMS.assign(term=["K56.3", "K56.7", "J00.4", "J00"])
    expected = build_dataset(CODES, dotted, OUTCOMES, min_support=1)
    data = build_dataset(CODES, CLAIMS, OUTCOMES, min_support=1, ignore_punctuation=True)
    assert data.feature_names == expected.feature_names and (data.X != expected.X).nnz == 0
    changed = data.provenance["account"]["annotations"]["changed"]
    assert changed == {"mapped to an id with other punctuation": 3}
    trained, plain = (train_model(hietan.HieBAN(), each, validate=False) for each in (data, expected))
    answers = trained.predict([["K563"], ["k56-3"], ["J004"], ["K56.3"]])
    assert [each.log_odds for each in answers[:2]] == [answers[3].log_odds] * 2
    assert not any(each.unknown for each in answers)
    assert [each.unknown for each in plain.predict([["K563"], ["J004"]])] == [("K563",), ("J004",)]


def test_codes_that_differ_only_in_dots_stay_apart():
    edges = pd.DataFrame({"parent": ["root", "root", "root"], "child": ["A1.0", "A.10", "B2"]})
    pairs = pd.DataFrame({"item": ["p1", "p2", "p3", "p4"], "term": ["A10", "A1.0", "A.10", "b-2"]})
    pairs = pd.concat([pairs, pd.DataFrame({"item": ["p1"] * 100, "term": ["B2"] * 100})])
    data = build_dataset(edges, pairs, min_support=1, ignore_punctuation=True)
    assert data.X.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_models_can_be_sent_to_processes_after_a_prediction(data):
    trained = train_model(hietan.HieBAN(), data, validate=False)
    newer = Hierarchy.from_edges([*data.hierarchy.edges, (data.feature_names[0], "new")])
    expected = trained.predict([["new"]], hierarchy=newer)
    assert pickle.loads(pickle.dumps(trained)).predict([["new"]], hierarchy=newer) == expected


def test_rows_may_be_generators(data):
    trained = train_model(hietan.HieBAN(), data, validate=False)
    assert trained.predict(iter([iter(["new"])]))[0].unknown == ("new",)
    with pytest.raises(ValueError, match="reasons is -1"):
        trained.predict([[]], reasons=-1)


@pytest.mark.usefixtures("few_draws")
def test_drift_is_noticed():
    data = make_hierarchical_classification(900, 80, random_state=0)
    trained = train_model(hietan.HieLogistic(), data.subset(rows=slice(600)))
    assert trained.quality["auc"] > 0.7
    turned = data.subset(rows=slice(600, 900))
    assert not evaluate_model(trained, turned).metrics["auc"].drifted
    assert evaluate_model(trained, replace(turned, y=1 - turned.y)).metrics["auc"].drifted


def test_what_cannot_be_evaluated(data):
    trained = train_model(hietan.HieBAN(), data.subset(rows=slice(200)), folds=2)
    with pytest.raises(
        DataError,
        match="has no labelled rows except the model's training rows; use a dataset with other labelled rows",
    ):
        evaluate_model(trained, data.subset(rows=slice(200)))
    one = data.subset(rows=slice(200, 300))
    with pytest.raises(DataError, match="has no new rows of class 'class1'"):
        evaluate_model(trained, one.subset(rows=one.y == 0))
    with pytest.raises(
        DataError,
        match="has rows of class 'strange'; its new rows must have exactly the model's classes \\(class0, class1\\)",
    ):
        evaluate_model(trained, replace(one, target_names=("class0", "strange"), positive=""))
    unlabelled = train_model(hietan.HieBAN(), data, unlabelled="class0")
    with pytest.raises(
        ValueError,
        match="is unlabelled, so its predictions cannot be checked; evaluate a model with known classes",
    ):
        evaluate_model(unlabelled, data)


def test_an_exact_id_of_a_newer_hierarchy_wins_over_punctuation():
    pairs = CLAIMS.assign(term=["K56.3", "K56.7", "J00.4", "J00"])
    data = build_dataset(CODES, pairs, OUTCOMES, min_support=1, ignore_punctuation=True)
    model = train_model(hietan.HieBAN(), data, validate=False)
    newer = Hierarchy.from_edges([*data.hierarchy.edges, ("J00.4", "K-563")])
    old, new = (model.predict([["K-563"]], hierarchy=h)[0].log_odds for h in (None, newer))
    assert old == model.predict([["K56.3"]])[0].log_odds != model.predict([["J00.4"]])[0].log_odds == new
    assert model.predict([["K5-6.3"]], hierarchy=newer)[0].log_odds == old
