"""The methods by name, and by import path, as the command line takes them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from hietan import classifiers
from hietan.cli.names import exact, suggest
from hietan.cli.study import UNTUNED_LAMBDA
from hietan.evaluation import Method, StudyError, gmean_scorer
from hietan.selection import MinSupport

# What a nested search for alpha tries.
ALPHA_GRID = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
# Thresholds of P(positive), dense where the probabilities of Bayesian networks are: near 0 and 1.
_LOG_ODDS = np.geomspace(0.1, 36, 40)
THRESHOLDS = expit(np.concatenate([-np.geomspace(600, 36, 12)[:-1], -_LOG_ODDS[::-1], [0.0], _LOG_ODDS]))


def to_dense(X: Any) -> Any:
    """For classifiers that take no sparse matrices."""
    return X.toarray() if hasattr(X, "toarray") else X


def _logistic(l1_ratio: float, **options: Any) -> LogisticRegression:
    """Balanced logistic regression; scikit-learn 1.8 replaced `penalty` by `l1_ratio`."""
    default = inspect.signature(LogisticRegression).parameters["penalty"].default
    if default != "deprecated":
        options["penalty"] = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
    if default == "deprecated" or 0 < l1_ratio < 1:
        options["l1_ratio"] = l1_ratio
    return LogisticRegression(class_weight="balanced", **options)


_OURS = {
    "tan": "TAN",
    "hie-tan": "HieTAN",
    "hie-tan-lite": "HieTANLite",
    "hre-tan": "HRETAN",
    "aode": "AODE",
    "hie-aode": "HieAODE",
    "hie-aode-lite": "HieAODELite",
    "hip-nb": "HIPNB",
    "proximal-graph": "ProximalGraph",
}
_MODERN: dict[str, Callable[[], Any]] = {
    "logistic-l2": lambda: _logistic(0.0, max_iter=5000),
    "logistic-l1": lambda: _logistic(1.0, solver="liblinear", max_iter=5000),
    "logistic-elastic-net": lambda: _logistic(0.5, solver="saga", max_iter=5000, tol=1e-3),
    "random-forest": lambda: RandomForestClassifier(300),
    "balanced-random-forest": lambda: RandomForestClassifier(300, class_weight="balanced_subsample"),
    "gradient-boosting": lambda: make_pipeline(
        FunctionTransformer(to_dense, accept_sparse=True), HistGradientBoostingClassifier()
    ),
    "bernoulli-nb": BernoulliNB,
}
_BAYES = ("tan", "hie-tan", "hie-tan-lite", "hre-tan", "hie-aode-lite")


def method_names() -> tuple[str, ...]:
    """The names of single methods."""
    return (*(name for name, kind in _OURS.items() if hasattr(classifiers, kind)), *_MODERN)


def method_sets() -> dict[str, tuple[str, ...]]:
    """Names that stand for several methods."""
    known = method_names()
    sets = {"bayes": _BAYES, "paper": (*_BAYES, "proximal-graph"), "modern": tuple(_MODERN), "all": known}
    return {name: tuple(m for m in members if m in known) for name, members in sets.items()}


def make_estimator(spec: str, *, lam: float | None = UNTUNED_LAMBDA) -> Any:
    """The classifier of a name or an import path, with parameters after a colon.

    >>> make_estimator("hie-tan-lite:alpha=0.5")
    HieTANLite(alpha=0.5)
    >>> make_estimator("sklearn.linear_model.LogisticRegression:C=0.1,class_weight=balanced")
    LogisticRegression(C=0.1, class_weight='balanced')
    """
    name, _, parameters = spec.partition(":")
    if name in method_names():
        estimator = _MODERN[name]() if name in _MODERN else getattr(classifiers, _OURS[name])()
        if name == "proximal-graph":
            estimator.set_params(lam=lam)
    else:
        estimator = _imported(name)
    known = estimator.get_params(deep=True)
    values = dict(_parameter(item, spec) for item in parameters.split(",") if item)
    unknown = [key for key in values if key not in known]
    if unknown:
        raise StudyError(f"method {name!r} has no parameter {unknown[0]!r}{suggest(unknown[0], known)}")
    return estimator.set_params(**values)


def make_methods(
    specs: Sequence[str],
    *,
    alphas: Sequence[float] = (1.0,),
    smoothings: Sequence[str] = ("laplace",),
    lam: float | None = UNTUNED_LAMBDA,
    tune_alpha: bool = False,
    tune_threshold: bool = False,
    min_support: int | None = None,
) -> list[Method]:
    """The methods of a study. Those with alpha and smoothing come once for each setting.

    Parameters
    ----------
    specs : sequence of str
        Names, names of sets, or import paths.
    alphas, smoothings : sequences
        The settings, unless a spec brings its own parameters.
    lam : float or None
        Of proximalGraph; None: tuned by its own inner cross-validation.
    tune_alpha : bool
        Choose alpha by inner 5-fold log loss instead.
    tune_threshold : bool
        Choose the threshold for GMean, on training rows, outermost.
    min_support : int or None
        Fit every method to those columns alone that have so many ones in its training rows and vary there, innermost:
        what is tuned is tuned for that.
    """
    sets = method_sets()
    single = list(dict.fromkeys(name for spec in specs for name in sets.get(spec, (spec,))))
    weights: Sequence[float | None] = [None] if tune_alpha else alphas
    settings = [(alpha, smoothing) for alpha in weights for smoothing in smoothings]
    return [
        _tuned(method, tune_threshold)
        for spec in single
        for method in _variants(spec, make_estimator(spec, lam=lam), settings, min_support)
    ]


def _variants(
    spec: str, estimator: Any, settings: Sequence[tuple[float | None, str]], min_support: int | None
) -> list[Method]:
    path, colon, parameters_text = spec.partition(":")
    name = path.rpartition(".")[2] + colon + parameters_text
    parameters = estimator.get_params(deep=False)
    if ":" in spec or not {"alpha", "smoothing"} <= set(parameters):
        own = "lam" in parameters and parameters["lam"] is None  # it chooses lambda itself
        tuning = ["nested"] if own else []
        return [Method(name, _supported(estimator, min_support), "", _tuning(min_support, tuning))]
    methods = []
    for alpha, smoothing in settings:
        smoothed = make_estimator(spec).set_params(smoothing=smoothing)
        if alpha is not None:
            setting = f"alpha={exact(alpha)},smoothing={smoothing}"
            smoothed = _supported(smoothed.set_params(alpha=float(alpha)), min_support)
            methods.append(Method(name, smoothed, setting, _tuning(min_support, [])))
        else:
            grid = {"alpha" if min_support is None else "estimator__alpha": list(ALPHA_GRID)}
            search = GridSearchCV(_supported(smoothed, min_support), grid, scoring="neg_log_loss", cv=5)
            methods.append(Method(name, search, f"smoothing={smoothing}", _tuning(min_support, ["nested"])))
    return methods


def _supported(estimator: Any, min_support: int | None) -> Any:
    return estimator if min_support is None else MinSupport(estimator, min_support)


def _tuning(min_support: int | None, tuned: list[str]) -> str:
    """What is chosen within the training rows, by which methods are kept apart in rankings."""
    columns = [] if min_support is None else [f"support={min_support}"]
    return "+".join(columns + tuned) or "none"


def _tuned(method: Method, tune_threshold: bool) -> Method:
    if not tune_threshold:
        return method
    tuned = TunedThresholdClassifierCV(method.estimator, scoring=gmean_scorer, thresholds=THRESHOLDS, cv=5)
    tuning = "threshold" if method.tuning == "none" else f"{method.tuning}+threshold"
    return Method(method.name, tuned, method.setting, tuning)


def _imported(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if "," in path and ":" not in path:
        raise StudyError(f"unknown method {path!r}; several are given one by one: --methods A --methods B")
    if not module:
        raise StudyError(f"unknown method {path!r}{suggest(path, [*method_names(), *method_sets()])}")
    try:
        estimator = getattr(import_module(module), name)()
    except Exception as error:
        raise StudyError(f"method {path!r} cannot be imported and made: {error}") from error
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise StudyError(f"method {path!r} is no scikit-learn classifier")
    return estimator


def _parameter(item: str, spec: str) -> tuple[str, Any]:
    name, equals, text = item.partition("=")
    if not equals or not name:
        raise StudyError(f"method {spec!r}: expected parameters as name=value, found {item!r}")
    try:
        return name, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text
