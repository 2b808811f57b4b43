"""The wrappers around our classifiers that can be stored: `MinSupport`, `SelectedColumns`, and some of scikit-learn's.

Objects of scikit-learn's private classes are never made by name: a wrapper of the same kind is fitted to a few rows by
its public constructor, and what that fit made is given the stored numbers.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import (
    FixedThresholdClassifier,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline

from hietan.persistence._checks import check_classes, check_names, is_array, require
from hietan.persistence._kinds import (
    Kind,
    column_names,
    is_count,
    is_estimator,
    is_finite,
    is_plain,
    one_of,
    require_classifier,
    require_keys,
)
from hietan.persistence._steps import STEPS, width_after
from hietan.selection import HierarchyEncoder, MinSupport, SelectedColumns

_FLAG = one_of(True, False)
_NAMES = frozenset({"feature_names_in_"})
# A few rows to fit a wrapper of scikit-learn to: two classes that a classifier can separate.
_ROWS, _CODES = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 1, 0, 1])


def _is_splitter(value: Any) -> bool:
    return is_plain(value) or type(value) in (KFold, StratifiedKFold)


def _attributes(model: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(model, name) for name in names if name in vars(model)}


def _set(model: Any, fitted: Mapping[str, Any]) -> None:
    for name, value in fitted.items():
        setattr(model, name, value)


def _take_columns_from(model: Any, inner: Any) -> None:
    """Give a wrapper what its classifier knows about the columns, as its `fit` does."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(inner, name):
            setattr(model, name, getattr(inner, name))


# ------------------------------------------------------------------ MinSupport and SelectedColumns

_OF_COLUMNS = ("estimator_", "support_", "hierarchy_", "classes_", "n_features_in_")


def _restore_columns(model: Any, fitted: Mapping[str, Any]) -> None:
    require_keys(fitted, set(_OF_COLUMNS), _NAMES)
    _set(model, fitted)


def _check_columns(model: Any) -> None:
    d, support, inner, name = model.n_features_in_, model.support_, model.estimator_, type(model).__name__
    require(is_count(d) and len(model.hierarchy_) == d, "the hierarchy and n_features_in_ disagree")
    require(
        is_array(support, "b", (d,)) and bool(support.any()), "support_ does not choose among the columns"
    )
    check_classes(model.classes_)
    require_classifier(inner, f"the classifier of {name}", model.classes_)
    require(inner.n_features_in_ == support.sum(), f"support_ and the classifier of {name} disagree")
    names = column_names(model)
    if names is not None:
        check_names(model.feature_names_in_, model.hierarchy_)
        names = [text for text, kept in zip(names, support, strict=True) if kept]
    within = column_names(inner)
    require(within is None or within == names, f"{name} and its classifier have other names of columns")
    own = getattr(inner, "hierarchy_", None)
    features = [model.hierarchy_.features[j] for j in np.flatnonzero(support)]
    if own is not None:
        right = own == model.hierarchy_.restrict(features)
        require(right, f"the hierarchies of {name} and of its classifier disagree")


# ------------------------------------------------------------------ pipelines


def _are_steps(value: Any) -> bool:
    """Whether these are named steps, all of which but the last are transformers that can be stored."""
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) for step in value):
        return False
    names = [name for name, _ in value]
    is_step = [_is_passed(step) or type(step).__name__ in STEPS for _, step in value]
    return (
        len(set(names)) == len(names)
        and all(name and "__" not in name for name in names)
        and all(is_step[:-1])
        and not is_step[-1]
        and is_estimator(value[-1][1])
    )


def _is_passed(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_selector(value: Any) -> bool:
    return type(value).__name__ in STEPS and hasattr(value, "get_support")


def _are_names(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value))


def _restore_pipeline(model: Any, fitted: Mapping[str, Any]) -> None:
    require_keys(fitted, set())


def _check_pipeline(model: Any) -> None:
    width = None
    for name, step in model.steps[:-1]:
        if _is_passed(step):
            continue
        if isinstance(step, HierarchyEncoder):  # it reads terms, so nothing else can come before it
            require(hasattr(step, "support_"), f"the step {name!r:.80} is not fitted")
            require(width is None, f"the step {name!r:.80} reads terms, but comes after another step")
            width = len(step.hierarchy_)
            continue
        require(hasattr(step, "n_features_in_"), f"the step {name!r:.80} is not fitted")
        seen = step.n_features_in_
        require(width in (None, seen), f"the step {name!r:.80} has another number of columns")
        width = width_after(step, seen)
    last = model.steps[-1][1]
    require_classifier(last, "the last step of a pipeline")
    require(width in (None, last.n_features_in_), "the last step has another number of columns")


# ------------------------------------------------------------------ calibration

_NUMBERS = {"sigmoid": ("a_", "b_"), "temperature": ("beta_",)}
_THRESHOLDS = ("X_thresholds_", "y_thresholds_")


@lru_cache
def _template(method: str) -> Any:
    """A calibrated classifier as this version of scikit-learn makes them."""
    frozen = FrozenEstimator(LogisticRegression().fit(_ROWS, _CODES))
    fitted = CalibratedClassifierCV(frozen, method=method, cv=2, ensemble=False).fit(_ROWS, _CODES)
    return fitted.calibrated_classifiers_[0]


def _calibrated_parts(model: Any) -> dict[str, Any]:
    names = _NUMBERS.get(model.method, _THRESHOLDS)
    pairs = [
        (pair.estimator, [{name: getattr(part, name) for name in names} for part in pair.calibrators])
        for pair in model.calibrated_classifiers_
    ]
    return {"classes_": model.classes_, "calibrated_classifiers_": pairs}


def _restore_calibrated(model: Any, fitted: Mapping[str, Any]) -> None:
    require_keys(fitted, {"classes_", "calibrated_classifiers_"})
    check_classes(fitted["classes_"])
    pairs = fitted["calibrated_classifiers_"]
    require(isinstance(pairs, list) and bool(pairs), "there are no calibrated classifiers")
    template = _template(model.method)
    made = []
    for estimator, numbers in pairs:
        pair = copy.copy(template)
        pair.estimator, pair.classes = estimator, fitted["classes_"]
        require(isinstance(numbers, list), "the calibrators are not a list")
        pair.calibrators = [_calibrator(model.method, template, values) for values in numbers]
        made.append(pair)
    model.classes_, model.calibrated_classifiers_ = fitted["classes_"], made
    require_classifier(made[0].estimator, "a calibrated classifier", fitted["classes_"])
    _take_columns_from(model, made[0].estimator)


def _calibrator(method: str, template: Any, values: Mapping[str, Any]) -> Any:
    require_keys(values, set(_NUMBERS.get(method, _THRESHOLDS)))
    if method != "isotonic":
        calibrator = copy.copy(template.calibrators[0])
        for name, value in values.items():
            require(is_finite(value), f"{name} of a calibrator is not a finite number")
            setattr(calibrator, name, np.float64(value))
        return calibrator
    x, y = (values[name] for name in _THRESHOLDS)
    _check_thresholds(x, y)
    calibrator = IsotonicRegression(out_of_bounds="clip")
    _set(calibrator, {**values, "X_min_": x[0], "X_max_": x[-1], "increasing_": True})
    calibrator.__setstate__(calibrator.__getstate__())  # makes the function that interpolates
    return calibrator


def _check_thresholds(x: Any, y: Any) -> None:
    """Check the steps of an isotonic calibrator: between them it interpolates, which must stay finite."""
    arrays = (
        is_array(x, "f", np.shape(y)) and is_array(y, "f", np.shape(x)) and np.ndim(x) == 1 and len(x) > 0
    )
    require(arrays and x.dtype == y.dtype, "the thresholds of a calibrator are not two arrays of numbers")
    require(bool((np.abs(x) <= 1e300).all()), "a threshold of a calibrator is not finite, or too large")
    require(bool((np.diff(x) > 1e-100).all()), "the thresholds of a calibrator are not sorted")
    right = bool((np.diff(y) >= 0).all() and (y >= 0).all() and (y <= 1).all())
    require(right, "the probabilities of a calibrator do not rise from 0 to 1")


def _check_calibrated(model: Any) -> None:
    classes = model.classes_
    check_classes(classes)
    first = model.calibrated_classifiers_[0].estimator
    single = len(classes) == 2 or model.method == "temperature"
    for pair in model.calibrated_classifiers_:
        require_classifier(pair.estimator, "a calibrated classifier", classes)
        same = pair.estimator.n_features_in_ == first.n_features_in_
        require(
            same and column_names(pair.estimator) == column_names(first), "the classifiers have other columns"
        )
        right = len(pair.calibrators) == (1 if single else len(classes)) and pair.method == model.method
        require(right, "there is not one calibrator for each class")
        for calibrator in pair.calibrators:
            if model.method == "isotonic":
                _check_thresholds(calibrator.X_thresholds_, calibrator.y_thresholds_)
            elif model.method == "temperature":
                # scikit-learn searches between exp(-10) and exp(10).
                require(1e-5 < calibrator.beta_ < 1e5, "beta_ is not an inverse temperature")


# ------------------------------------------------------------------ thresholds


def _is_threshold(value: Any) -> bool:
    return is_finite(value) or value == "auto"


def _are_thresholds(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    return is_count(value) or (
        isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf"
    )


def _is_scoring(value: Any) -> bool:
    return value in get_scorer_names() if isinstance(value, str) else callable(value)


def _check_threshold(model: Any) -> None:
    require_classifier(model.estimator_, "the classifier below a threshold")
    classes = model.estimator_.classes_
    require(len(classes) == 2, "a threshold needs two classes")
    label = getattr(model, "pos_label", None)
    require(label is None or bool(np.any(classes == label)), "pos_label is not one of the classes")
    if isinstance(model, TunedThresholdClassifierCV):
        require(is_finite(model.best_threshold_), "best_threshold_ is not a finite number")


def _restore_fixed(model: Any, fitted: Mapping[str, Any]) -> None:
    require_keys(fitted, {"estimator_"})
    require_classifier(fitted["estimator_"], "the classifier below a threshold")
    model.estimator_ = fitted["estimator_"]
    _take_columns_from(model, model.estimator_)


def _restore_tuned(model: Any, fitted: Mapping[str, Any]) -> None:
    require_keys(fitted, {"estimator_", "best_threshold_", "best_score_"}, frozenset({"cv_results_"}))
    inner = fitted["estimator_"]
    require_classifier(inner, "the classifier below a threshold")
    require(len(inner.classes_) == 2, "a threshold needs two classes")
    for name in ("best_threshold_", "best_score_"):
        require(isinstance(fitted[name], float), f"{name} is not a number")
    if "cv_results_" in fitted:
        _check_search(fitted["cv_results_"])
    parameters = model.get_params(deep=False)
    _fit_to_few_rows(model, inner.classes_)
    model.set_params(**parameters)
    _set(model, {name: np.float64(v) if isinstance(v, float) else v for name, v in fitted.items()})
    _take_columns_from(model, inner)


def _check_search(found: Any) -> None:
    require(isinstance(found, dict), "cv_results_ are not the results of a search")
    require_keys(found, {"thresholds", "scores"})
    thresholds, scores = found["thresholds"], found["scores"]
    right = is_array(thresholds, "iuf", np.shape(scores)) and is_array(scores, "f", np.shape(thresholds))
    require(right and thresholds.ndim == 1, "cv_results_ are not the results of a search")


def _fit_to_few_rows(model: Any, classes: NDArray[Any]) -> None:
    """Let a threshold be tuned to a few rows: it then has what it needs to predict, made by its own `fit`."""
    y = classes[_CODES]
    simple = LogisticRegression().fit(_ROWS, y)
    model.set_params(estimator=simple, cv="prefit", refit=False, thresholds=2, store_cv_results=False)
    model.set_params(n_jobs=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows may leave a score undefined
        model.fit(_ROWS, y)
    for name in [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]:
        delattr(model, name)


# ------------------------------------------------------------------ the table


def _nothing(model: Any) -> dict[str, Any]:
    return {}


def _check_frozen(model: Any) -> None:
    require_classifier(model.estimator, "what is frozen")


_RESPONSE = {"response_method": one_of("auto", "predict_proba", "decision_function")}
_JOBS = {"n_jobs": lambda value: value is None or (is_plain(value) and isinstance(value, int))}
WRAPPERS = {
    kind.type.__name__: kind
    for kind in (
        Kind(
            MinSupport,
            lambda model: _attributes(model, *_OF_COLUMNS, *_NAMES),
            _restore_columns,
            _check_columns,
            {"estimator": is_estimator, "min_support": is_count},
        ),
        Kind(
            SelectedColumns,
            lambda model: _attributes(model, *_OF_COLUMNS, *_NAMES),
            _restore_columns,
            _check_columns,
            {"estimator": is_estimator, "selector": _is_selector},
        ),
        Kind(
            Pipeline,
            _nothing,
            _restore_pipeline,
            _check_pipeline,
            # A memory is a directory of pickles.
            {"steps": _are_steps, "memory": one_of(None), "verbose": _FLAG, "transform_input": _are_names},
        ),
        Kind(
            CalibratedClassifierCV,
            _calibrated_parts,
            _restore_calibrated,
            _check_calibrated,
            {
                "estimator": is_estimator,
                "method": one_of("sigmoid", "isotonic", "temperature"),
                "cv": _is_splitter,
                "ensemble": one_of(True, False, "auto"),
                **_JOBS,
            },
        ),
        Kind(
            FixedThresholdClassifier,
            lambda model: _attributes(model, "estimator_"),
            _restore_fixed,
            _check_threshold,
            {"estimator": is_estimator, "threshold": _is_threshold, "pos_label": is_plain, **_RESPONSE},
        ),
        Kind(
            TunedThresholdClassifierCV,
            lambda model: _attributes(model, "estimator_", "best_threshold_", "best_score_", "cv_results_"),
            _restore_tuned,
            _check_threshold,
            {
                "estimator": is_estimator,
                "scoring": _is_scoring,
                "thresholds": _are_thresholds,
                "cv": _is_splitter,
                "refit": _FLAG,
                "random_state": is_plain,
                "store_cv_results": _FLAG,
                **_JOBS,
                **_RESPONSE,
            },
        ),
        Kind(FrozenEstimator, _nothing, _restore_pipeline, _check_frozen, {"estimator": is_estimator}),
    )
}
