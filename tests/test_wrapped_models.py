"""Pipelines, calibrated classifiers, thresholds and MinSupport around our models, as files."""

import json
import re
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
from support import forgery, wrapped
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


@pytest.mark.parametrize("name", [name for name in NAMES if not re.search("frozen|prefit|ensemble", name)])
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
            fit(make_pipeline(SelectKBest(lambda X, y: np.ones(X.shape[1])), tan())),
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
