"""Pipelines, calibrated classifiers, thresholds and MinSupport around our models, as files."""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, TunedThresholdClassifierCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import hietan
from hietan.candidates import TrainedModel, explain_rows_by_name, rank_rows, train_model
from hietan.exceptions import ModelFileError
from hietan.persistence import read_metadata
from hietan.selection import MinSupport
from support import wrapped
from support.faults import forgery
from support.wrapped import NAMES, TWO, tan


def answers(model, rows):
    """Everything that a model says about rows."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # rows without names, for a model that was fitted with some
        offered = ("predict", "predict_proba", "predict_log_proba", "decision_function")
        return {name: getattr(model, name)(rows) for name in offered if hasattr(model, name)}


def parameters(model):
    """All parameters, with estimators and splitters as text, which shows their own."""
    values = model.get_params(deep=True)
    plain = (str, int, float, type(None), hietan.Hierarchy)
    return {key: value if isinstance(value, plain) else repr(value) for key, value in values.items()}


def assert_same(again, model, rows):
    assert type(again) is type(model)
    expected = answers(model, rows)
    found = answers(again, rows)
    assert found.keys() == expected.keys() and "predict" in found
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == value.dtype
    assert parameters(again) == parameters(model)
    assert again.n_features_in_ == model.n_features_in_
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(
        getattr(again, "feature_names_in_", []), getattr(model, "feature_names_in_", [])
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in wrapped.ONLY_FRAMES])
def test_round_trip(name, tmp_path):
    path = tmp_path / "m"
    model, rows = wrapped.fitted(name)
    hietan.save(model, path, metadata={"note": "ä"})
    again = hietan.load(path)
    assert_same(again, model, rows)
    assert_same(again, model, rows.toarray())
    assert read_metadata(path) == {"note": "ä"}
    first = path.read_bytes()
    hietan.save(again, path)
    assert {k: v for k, v in forgery.unpack(path.read_bytes()).items() if k != "about.json"} == {
        k: v for k, v in forgery.unpack(first).items() if k != "about.json"
    }


@pytest.mark.parametrize(
    "name", [name for name in NAMES if wrapped.is_fresh(name) and "ensemble" not in name]
)
def test_frames_and_fitting_again(name, tmp_path):
    path = tmp_path / "m"
    model, rows = wrapped.fitted(name, wrapped.frame)
    data = wrapped.unfitted()[name][1]
    hietan.save(model, path)
    again = hietan.load(path)
    assert_same(again, model, rows)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(rows.rename(columns={rows.columns[0]: "other"}))
    fresh = clone(again).fit(rows, data.y)
    np.testing.assert_array_equal(fresh.predict_proba(rows), model.predict_proba(rows))


def test_explanations_of_the_model_within(tmp_path):
    for name, reach in (
        ("min_support", lambda m: m),
        ("pipeline", lambda m: m[-1]),
        ("frozen and calibrated", lambda m: m.calibrated_classifiers_[0].estimator),
        ("fixed threshold", lambda m: m.estimator_),
    ):
        model, rows = wrapped.fitted(name)
        hietan.save(model, tmp_path / "m")
        again = hietan.load(tmp_path / "m")
        part, other = reach(model), reach(again)
        rows = rows[:3, : part.n_features_in_]
        assert [e.text() for e in other.explain(rows)] == [e.text() for e in part.explain(rows)]
        assert other.trees(rows) == part.trees(rows)


def test_what_is_shared_stays_shared(tmp_path):
    model, _ = wrapped.fitted("frozen and calibrated")
    hietan.save(model, tmp_path / "m")
    again = hietan.load(tmp_path / "m")
    assert again.calibrated_classifiers_[0].estimator is again.estimator
    model, _ = wrapped.fitted("prefit threshold")
    hietan.save(model, tmp_path / "m")
    again = hietan.load(tmp_path / "m")
    assert again.estimator_ is again.estimator
    model, _ = wrapped.fitted("pipeline with a hierarchy")
    hietan.save(model, tmp_path / "m")
    members = forgery.unpack((tmp_path / "m").read_bytes())
    assert [name for name in members if name.startswith("hierarchy")] == ["hierarchy0.json"]


def test_text_classes_and_a_copied_scorer(tmp_path):
    y = np.array(["no", "yes"])[TWO.y]
    inner = CalibratedClassifierCV(tan(), method="isotonic", cv=KFold(3))
    model = TunedThresholdClassifierCV(inner, scoring=hietan.evaluation.gmean_scorer, cv=2)
    model = clone(model).fit(TWO.X, y)
    hietan.save(model, tmp_path / "m")
    again = hietan.load(tmp_path / "m")
    assert_same(again, model, TWO.X)
    assert again.best_threshold_ == model.best_threshold_ and again.best_score_ == model.best_score_
    assert again.scoring is hietan.evaluation.gmean_scorer


def of_others():
    """Models that are refused, with what the message says about them."""
    X, y = TWO.X, TWO.y
    fit = lambda model: model.fit(X, y)  # noqa: E731
    return [
        (fit(make_pipeline(VarianceThreshold(), BernoulliNB())), "got BernoulliNB. .* skops"),
        (fit(make_pipeline(FunctionTransformer(accept_sparse=True), tan())), "steps=.*FunctionTransformer"),
        (fit(make_pipeline(StandardScaler(with_mean=False), tan())), "steps=.*StandardScaler"),
        (
            fit(make_pipeline(SelectKBest(lambda X, y: np.ones(X.shape[1]), k=3), hietan.TAN())),
            "score_func=.* of SelectKBest",
        ),
        (fit(Pipeline([("tan", tan())], memory="/nowhere")), "memory='/nowhere' of Pipeline"),
        (fit(CalibratedClassifierCV(LogisticRegression(), cv=2)), "got LogisticRegression. .* skops"),
        (fit(CalibratedClassifierCV(cv=2)), "estimator=None of CalibratedClassifierCV"),
        (
            fit(CalibratedClassifierCV(tan(), cv=ShuffleSplit(2))),
            "cv=ShuffleSplit.* of CalibratedClassifierCV",
        ),
        (
            fit(GridSearchCV(tan(), {"alpha": [1.0]}, cv=2)),
            "got GridSearchCV; save its best_estimator_. .* skops",
        ),
        (fit(FrozenEstimator(fit(LogisticRegression()))), "got LogisticRegression. .* skops"),
        (fit(VarianceThreshold()), "VarianceThreshold is only stored as a step of a pipeline"),
    ]


def test_what_is_not_stored_is_named(tmp_path):
    for model, message in of_others():
        with pytest.raises((TypeError, ModelFileError), match=message):
            hietan.save(model, tmp_path / "m")
    deep = tan()
    for _ in range(8):
        deep = MinSupport(deep)
    with pytest.raises(TypeError, match="nested deeper than 8"):
        hietan.save(deep.fit(TWO.X, TWO.y), tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        hietan.save(make_pipeline(VarianceThreshold(), tan()), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_search_is_stored_as_its_best_estimator(tmp_path):
    search = GridSearchCV(MinSupport(tan()), {"min_support": [1, 3]}, cv=2).fit(TWO.X, TWO.y)
    hietan.save(search.best_estimator_, tmp_path / "m")
    np.testing.assert_array_equal(
        hietan.load(tmp_path / "m").predict_proba(TWO.X), search.predict_proba(TWO.X)
    )


def test_the_version_of_scikit_learn_is_kept_and_named_in_errors(tmp_path):
    path = tmp_path / "m"
    model, rows = wrapped.fitted("pipeline")
    hietan.save(model, path)
    members = forgery.unpack(path.read_bytes())
    about = json.loads(members["about.json"])
    about["scikit-learn"] = "0.99"
    path.write_bytes(forgery.pack({**members, "about.json": json.dumps(about).encode()}))
    np.testing.assert_array_equal(hietan.load(path).predict(rows), model.predict(rows))
    about["estimators"][0]["parameters"]["newer"] = 1
    path.write_bytes(forgery.pack({**members, "about.json": json.dumps(about).encode()}))
    with pytest.raises(
        ModelFileError, match=r"'newer' of VarianceThreshold.*written with scikit-learn '0.99'"
    ):
        hietan.load(path)


# ------------------------------------------------------------------------------------------ forged


SAVED = {}  # the members of files that were written once, and the rows of their models


def forge(path, name, edit, **arrays):
    """Write the file of a wrapper with other descriptions of its estimators, the last of which is the model."""
    if name not in SAVED:
        model, rows = wrapped.fitted(name, wrapped.frame if wrapped.is_fresh(name) else wrapped.dense)
        hietan.save(model, path)
        SAVED[name] = forgery.unpack(path.read_bytes()), rows
    members, rows = SAVED[name]
    about = json.loads(members["about.json"])
    edit(about["estimators"])
    new = {f"{key}.npy": forgery.npy(array) for key, array in arrays.items()}
    path.write_bytes(forgery.pack({**members, **new, "about.json": json.dumps(about).encode()}))
    return rows


def fitted_of(name, **changes):
    """An edit of the fitted attributes of the last estimator of a class."""

    def edit(estimators):
        last = [node for node in estimators if node["class"] == name and node["fitted"] is not None][-1]
        last["fitted"].update(changes)

    return edit


def parameters_of(name, **changes):
    def edit(estimators):
        [node for node in estimators if node["class"] == name][-1]["parameters"].update(changes)

    return edit


def calibrators(change):
    """An edit of the list of calibrators of the first of the calibrated classifiers."""

    def edit(estimators):
        pairs = estimators[-1]["fitted"]["calibrated_classifiers_"]["items"]
        change(pairs[0]["items"][1]["items"])

    return edit


def numbers(**changes):
    def change(found):
        found[0]["items"] = [[key, changes.get(key, value)] for key, value in found[0]["items"]]

    return calibrators(change)


def array(*values, dtype=float):
    """An array in place of another, as a member that `forge` adds."""
    return {"new": np.array(values, dtype=dtype)}


NEW = {"kind": "array", "member": "new.npy"}
OTHER_CLASSES = array(0, 7, dtype=int)
SIGMOID, ISOTONIC = "sigmoid, ensemble=True, 2 classes", "isotonic, ensemble=False, 3 classes"
FORGED = [
    # the list of estimators
    ("pipeline", lambda e: e.clear(), {}, "there is no list of estimators"),
    ("pipeline", lambda e: e.pop(0), {}, "there is no estimator 1 before number 1"),
    ("pipeline", lambda e: e.reverse(), {}, "there is no estimator . before number 0"),
    ("pipeline", lambda e: e.pop(), {}, None),  # the classifier of the pipeline alone is a model, too
    ("pipeline", lambda e: e.append(e[0]), {}, "VarianceThreshold is not a classifier"),
    ("pipeline", lambda e: e[-1].update({"class": "os.system"}), {}, "unknown classifier 'os.system'"),
    ("pipeline", lambda e: e[-1].update({"class": ["Pipeline"]}), {}, r"unknown classifier \['Pipeline'\]"),
    ("pipeline", parameters_of("TAN", alpha={"kind": "estimator", "number": 0}), {}, "unknown kind of value"),
    ("pipeline", parameters_of("TAN", alpha={"kind": "function", "name": "chi2"}), {}, "unknown kind of value"),
    ("pipeline", lambda e: e[1].update(fitted=None), {}, "not fitted"),
    # pipelines and their steps
    ("pipeline", parameters_of("Pipeline", memory="/tmp"), {}, "memory='/tmp' of Pipeline"),
    ("pipeline", parameters_of("Pipeline", extra=1), {}, "the parameter 'extra' of Pipeline"),
    ("pipeline", parameters_of("Pipeline", steps={"kind": "list", "items": []}), {}, "steps="),
    ("pipeline", parameters_of("Pipeline", steps={"kind": "estimator", "number": 1}), {}, "steps="),
    ("pipeline", fitted_of("VarianceThreshold", variances_=NEW), array(1, 1), "number for each of 9 columns"),
    ("pipeline", fitted_of("VarianceThreshold", variances_=NEW), array(*[1] * 9), "another number of columns"),
    ("pipeline", fitted_of("VarianceThreshold", n_features_in_=10), {}, "number for each of 10 columns"),
    ("pipeline", fitted_of("VarianceThreshold", transform=1), {}, "has other fitted attributes"),
    ("pipeline", fitted_of("VarianceThreshold", output="os"), {}, "a step cannot return 'os'"),
    ("pipeline", lambda e: e[0].update(fitted=None), {}, "is not fitted"),
    ("pipeline with a hierarchy", fitted_of("MaxAbsScaler", scale_=NEW), array(*[0] * 9), "scale of a MaxAbsScaler"),
    ("pipeline of frames", parameters_of("SelectKBest", score_func={"kind": "function", "name": "exec"}), {}, "exec"),
    ("pipeline of frames", parameters_of("SelectKBest", k=-1), {}, "k=-1 of SelectKBest"),
    ("pipeline of frames", parameters_of("SelectKBest", k=3), {}, "another number of columns"),
    # MinSupport
    ("min_support", fitted_of("MinSupport", support_=NEW), array(*[1] * 9, dtype=bool), "support_ and the classifier"),
    ("min_support", fitted_of("MinSupport", support_=NEW), array(1, 0, dtype=bool), "choose among the columns"),
    ("min_support", fitted_of("MinSupport", support_=NEW), array(*range(9)), "choose among the columns"),
    ("min_support", fitted_of("MinSupport", support_=NEW), array(*[1] * 5, *[0] * 4, dtype=bool), "other names of"),
    ("min_support", fitted_of("MinSupport", classes_=NEW), OTHER_CLASSES, "has other classes"),
    ("min_support", fitted_of("MinSupport", n_features_in_=8), {}, "the hierarchy and n_features_in_ disagree"),
    ("min_support", fitted_of("MinSupport", estimator_=3), {}, "the classifier of MinSupport is not a classifier"),
    ("min_support", fitted_of("MinSupport", predict=3), {}, "the fitted attributes are not"),
    ("min_support", parameters_of("MinSupport", min_support=0), {}, "min_support=0 of MinSupport"),
    ("min_support", lambda e: e[1].update(fitted=None), {}, "the classifier of MinSupport is not fitted"),
    # calibration
    (SIGMOID, numbers(a_=float("nan")), {}, "a_ of a calibrator is not a finite number"),
    (SIGMOID, numbers(b_="x"), {}, "b_ of a calibrator is not a finite number"),
    (SIGMOID, calibrators(lambda c: c.append(c[0])), {}, "not one calibrator for each class"),
    (SIGMOID, calibrators(lambda c: c.clear()), {}, "not one calibrator for each class"),
    (SIGMOID, fitted_of("CalibratedClassifierCV", classes_=NEW), OTHER_CLASSES, "has other classes"),
    (SIGMOID, parameters_of("CalibratedClassifierCV", method="isotonic"), {}, "the fitted attributes are not"),
    (SIGMOID, parameters_of("CalibratedClassifierCV", method="exec"), {}, "method='exec'"),
    (SIGMOID, parameters_of("CalibratedClassifierCV", cv={"kind": "splitter", "type": "x"}), {}, "do not fit together"),
    (ISOTONIC, calibrators(lambda c: c.pop()), {}, "not one calibrator for each class"),
    (ISOTONIC, numbers(X_thresholds_=NEW), array(1, 0), "calibrator are not"),
    (ISOTONIC, numbers(X_thresholds_=NEW, y_thresholds_=NEW), array(1, 0), "thresholds of a calibrator are not sorted"),
    (ISOTONIC, numbers(X_thresholds_=NEW, y_thresholds_=NEW), array(0, 0), "thresholds of a calibrator are not sorted"),
    (ISOTONIC, numbers(X_thresholds_=NEW, y_thresholds_=NEW), array(0, 2), "do not rise from 0 to 1"),
    (ISOTONIC, numbers(X_thresholds_=NEW, y_thresholds_=NEW), array(-1, 1), "do not rise from 0 to 1"),
    (ISOTONIC, numbers(X_thresholds_=NEW, y_thresholds_=NEW), array(0, np.nan), "is not finite"),
    (ISOTONIC, numbers(X_thresholds_=NEW, y_thresholds_=NEW), array(), "are not two arrays"),
    # thresholds
    ("fixed threshold", parameters_of("FixedThresholdClassifier", threshold=float("inf")), {}, "threshold=inf"),
    ("fixed threshold", parameters_of("FixedThresholdClassifier", pos_label=9), {}, "pos_label is not one"),
    ("tuned threshold", fitted_of("TunedThresholdClassifierCV", best_threshold_=None), {}, "best_threshold_ is not"),
    ("tuned threshold", fitted_of("TunedThresholdClassifierCV", best_threshold_=float("nan")), {}, "not a finite"),
    ("tuned threshold", fitted_of("TunedThresholdClassifierCV", cv_results_=1), {}, "results of a search"),
    ("tuned threshold", parameters_of("TunedThresholdClassifierCV", scoring="exec"), {}, "scoring='exec'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "edit", "arrays", "message"), FORGED, ids=range(len(FORGED)))
def test_forged_wrappers(tmp_path, name, edit, arrays, message):
    rows = forge(tmp_path / "m", name, edit, **arrays)
    if message is None:
        model = hietan.load(tmp_path / "m")
        assert model.predict_proba(rows.to_numpy()[:, : model.n_features_in_]).shape == (60, 2)
        return
    with pytest.raises(ModelFileError, match=message):
        hietan.load(tmp_path / "m")


def test_estimators_that_multiply_are_refused_at_once(tmp_path):
    """Each of seven calibrated classifiers names the one before it a hundred times."""

    def edit(estimators):
        last = estimators.pop()
        for _ in range(7):
            pair = json.loads(json.dumps(last["fitted"]["calibrated_classifiers_"]["items"][0]))
            pair["items"][0]["number"] = len(estimators) - 1
            node = json.loads(json.dumps(last))
            node["fitted"]["calibrated_classifiers_"]["items"] = [pair] * 100
            estimators.append(node)

    forge(tmp_path / "m", "sigmoid, ensemble=False, 2 classes", edit)
    with pytest.raises(ModelFileError, match="would pass through more than 10,000 estimators"):
        hietan.load(tmp_path / "m")


def test_nesting_is_limited_in_files_as_well(tmp_path):
    def edit(estimators):
        for _ in range(8):
            frozen = {"estimator": {"kind": "estimator", "number": len(estimators) - 1}}
            estimators.append({"class": "FrozenEstimator", "parameters": frozen, "fitted": {}})

    forge(tmp_path / "m", "frozen", edit)
    with pytest.raises(ModelFileError, match="nested deeper than 8"):
        hietan.load(tmp_path / "m")


# ------------------------------------------------------------------------------------------ with names


@pytest.mark.parametrize(
    "name", ["min_support", "calibrated in a pipeline", "pipeline with a hierarchy", "frozen and calibrated"]
)
def test_a_trained_model_may_be_wrapped(tmp_path, name):
    model = wrapped.unfitted()[name][0]
    trained = train_model(model, TWO)
    trained.save(tmp_path / "m")
    again = TrainedModel.load(tmp_path / "m")
    assert (
        rank_rows(again, TWO, calibrated=True).to_csv() == rank_rows(trained, TWO, calibrated=True).to_csv()
    )
    if name == "min_support":
        (found,) = explain_rows_by_name(again, TWO, ["row3"])
        assert found.explanation.hierarchy == TWO.hierarchy
    else:
        with pytest.raises(ValueError, match=r"cannot be explained .* explain the classifier within it"):
            explain_rows_by_name(again, TWO, ["row3"])
    hietan.save(
        again.classifier, tmp_path / "m", metadata={"feature_names": ["a"], "target_names": ["a", "b"]}
    )
    with pytest.raises(ModelFileError, match="without the names of its features"):
        TrainedModel.load(tmp_path / "m")
