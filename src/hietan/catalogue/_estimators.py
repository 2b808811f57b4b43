"""Make classifiers from method names, set names or import paths, with parameters and tuning."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV

from hietan._runtime.spelling import suggest
from hietan.catalogue._methods import METHODS, method_sets
from hietan.classifiers._checks import SMOOTHINGS, is_positive, is_weight
from hietan.classifiers._proximal_graph import is_lambda_fraction
from hietan.classifiers._solvers.lambda_path import LAMBDA_CRITERIA
from hietan.classifiers._solvers.leave_one_out import ALPHA_GRID
from hietan.evaluation import Method
from hietan.exceptions import CatalogueError
from hietan.scores import gmean_scorer
from hietan.selection import MinSupport

# Lambda of a ProximalGraph if it is neither given nor tuned: a fraction of the smallest one with all weights zero.
LAMBDA_FRACTION = 0.1
MOST_SUPPORT = 2**31 - 1
# Thresholds of P(positive), dense near 0 and 1, where most probabilities of Bayesian networks are.
_LOG_ODDS = np.geomspace(0.1, 36, 40)
THRESHOLDS = expit(np.concatenate([-np.geomspace(600, 36, 12)[:-1], -_LOG_ODDS[::-1], [0.0], _LOG_ODDS]))


def make_estimator(
    spec: str,
    *,
    lam: float | str | None = None,
    lam_relative: float | None = None,
    lam_criterion: str = "log_loss",
) -> Any:
    """Make a classifier from a name or an import path, with optional parameters after a colon.

    Parameters
    ----------
    spec : str
        A catalogue name or a class's import path, optionally followed by a colon and comma-separated parameters
        (name=value).
    lam : float, "tuned" or None
        proximalGraph's lambda, unless its parameters already define it (`lam`, `lam_relative` or `criterion`).
        "tuned" chooses it by inner cross-validation; with None, `lam_relative` determines it.
    lam_relative : float or None
        Its lambda as a fraction of the smallest value with all weights zero, instead of `lam`. If both are
        None, it is 0.1.
    lam_criterion : str
        The criterion that chooses its lambda, one of `hietan.classifiers.LAMBDA_CRITERIA`.

    Raises
    ------
    CatalogueError
        If there is no such method, or it has no such parameter.

    Examples
    --------
    >>> make_estimator("hie-tan-lite:alpha=0.5")
    HieTANLite(alpha=0.5)
    >>> make_estimator("sklearn.linear_model.LogisticRegression:C=0.1,class_weight=balanced")
    LogisticRegression(C=0.1, class_weight='balanced')
    """
    name, _, parameters = spec.partition(":")
    entry = METHODS.get(name)
    estimator = _imported(name) if entry is None else entry.make()
    known = estimator.get_params(deep=True)
    values = dict(_parameter(item, spec) for item in parameters.split(",") if item)
    if entry is not None and "lam" in known:
        own = not values.keys().isdisjoint(("lam", "lam_relative", "criterion"))
        relative = LAMBDA_FRACTION if lam is None and lam_relative is None else lam_relative
        fixed = None if own or relative is not None or lam is None else parse_lambda(lam)
        estimator.set_params(lam=fixed, lam_relative=None if own else relative, criterion=lam_criterion)
    unknown = [key for key in values if key not in known]
    if unknown:
        raise CatalogueError(f"method {name!r} has no parameter {unknown[0]!r}{suggest(unknown[0], known)}")
    return estimator.set_params(**values)


def make_fitted_method(
    spec: str,
    *,
    alpha: float | None = None,
    smoothing: str | None = None,
    lam: float | str | None = None,
    class_prior: Sequence[float] | None = None,
) -> Any:
    """Make a classifier by name, like `make_estimator`, with parameters passed separately.

    Parameters
    ----------
    spec : str
        A name, or a name with parameters after a colon.
    alpha : float or None
        The weight of the prior guess in the smoothing.
    smoothing : str or None
        The kind of smoothing.
    lam : float, "tuned" or None
        proximalGraph's lambda; "tuned" chooses it by inner cross-validation.
    class_prior : sequence of float or None
        The probabilities of the classes.

    Raises
    ------
    CatalogueError
        If the method has no such parameter, the name already sets it, or the value is invalid.

    Examples
    --------
    >>> make_fitted_method("tan", alpha=0.5, smoothing="pooled")
    TAN(alpha=0.5, smoothing='pooled')
    """
    given: dict[str, Any] = {"alpha": alpha, "smoothing": smoothing, "lam": lam, "class_prior": class_prior}
    given = {name: value for name, value in given.items() if value is not None}
    estimator = make_estimator(spec)
    name, _, listed = spec.partition(":")
    known = estimator.get_params(deep=False)
    for parameter in given:
        if parameter not in known:
            having = [m for m, entry in METHODS.items() if parameter in entry.make().get_params(deep=False)]
            raise CatalogueError(
                f"method {name!r} has no parameter {parameter}; methods with this parameter: {', '.join(having)}"
            )
        if any(item.partition("=")[0] == parameter for item in listed.split(",")):
            raise CatalogueError(
                f"{parameter} is set twice, in the method {spec!r} and as an option; remove one of them"
            )
    if lam is not None:
        given |= {"lam": parse_lambda(lam), "lam_relative": None}
    return estimator.set_params(**given)


def parse_lambda(lam: float | str) -> float | None:
    """Return proximalGraph's lambda as a number, or None for "tuned". Raise CatalogueError for any other text."""
    if lam == "tuned":
        return None
    try:
        value = float(lam)
    except (ValueError, OverflowError):
        value = -1.0
    if not is_positive(value):
        raise CatalogueError(f"lam is {lam!r:.40}; expected a number above 0, or 'tuned' to choose it")
    return value


def make_methods(
    specs: Sequence[str],
    *,
    alphas: Sequence[float] = (1.0,),
    smoothings: Sequence[str] | None = None,
    lam: float | str | None = None,
    lam_relative: float | None = None,
    lam_criterion: str = "log_loss",
    tune_alpha: bool = False,
    tune_threshold: bool = False,
    min_support: int | None = None,
) -> list[Method]:
    """Make a study's methods. If a method has the parameters alpha and smoothing, make it once for each setting.

    Parameters
    ----------
    specs : sequence of str
        Names, names of sets, or import paths, each optionally followed by a colon and parameters.
    alphas, smoothings : sequences
        The values of alpha and smoothing for methods whose specs have no parameters of their own; every alpha is
        combined with every smoothing. With None, every method has the smoothing that its name implies. With another
        smoothing, the name gets its suffix. HieLogistic, whose network alone is smoothed, varies only if smoothings
        are given.
    lam : float, "tuned" or None
        proximalGraph's lambda; "tuned" chooses it by inner cross-validation.
    lam_relative : float or None
        proximalGraph's lambda as a fraction of the smallest value with all weights zero, which differs between
        training sets, instead of `lam`. If both are None, it is 0.1.
    lam_criterion : str
        The criterion that chooses proximalGraph's lambda: "log_loss", "auc" or "gmean".
    tune_alpha : bool
        Whether to choose alpha by the log loss of an inner 5-fold cross-validation instead.
    tune_threshold : bool
        Whether to choose the threshold that maximises GMean, on training rows, around everything else that is tuned.
    min_support : int or None
        Fit every method only to columns that have at least this many ones in its training rows and vary there. The
        columns are chosen innermost, so that parameters are tuned for these columns.

    Raises
    ------
    CatalogueError
        If there is no such method, parameter, smoothing or criterion.

    Examples
    --------
    >>> [method.key for method in make_methods(["tan"], alphas=[1, 0.5])]
    ['tan @ alpha=1 @ tuned none', 'tan @ alpha=0.5 @ tuned none']
    >>> [method.name for method in make_methods(["hie-tan"], smoothings=["odds", "laplace"])]
    ['hie-tan', 'hie-tan-laplace']
    """
    sets = method_sets()
    single = list(dict.fromkeys(name for spec in specs for name in sets.get(spec, (spec,))))
    unknown = [smoothing for smoothing in smoothings or () if smoothing not in SMOOTHINGS]
    if unknown:
        raise CatalogueError(f"unknown smoothing {unknown[0]!r}{suggest(unknown[0], SMOOTHINGS)}")
    # Raise now the errors that every job of a study would raise.
    for alpha in alphas:
        if not is_weight(alpha):
            raise CatalogueError(f"alpha is {alpha!r:.40}; expected a number from 1e-300 to 1e300")
    if lam is not None:
        parse_lambda(lam)
    if lam_relative is not None and not is_lambda_fraction(lam_relative):
        raise CatalogueError(f"lam_relative is {lam_relative!r:.40}; expected a number from 1e-10 to 1")
    if min_support is not None and not 1 <= min_support <= MOST_SUPPORT:
        raise CatalogueError(
            f"min_support is {min_support!r:.40}; expected a number from 1 to {MOST_SUPPORT}"
        )
    if lam_criterion not in LAMBDA_CRITERIA:
        raise CatalogueError(
            f"unknown criterion {lam_criterion!r:.40}{suggest(lam_criterion, LAMBDA_CRITERIA)}"
        )
    graph: dict[str, Any] = {"lam": lam, "lam_relative": lam_relative, "lam_criterion": lam_criterion}
    weights: Sequence[float | None] = [None] if tune_alpha else alphas
    kinds = smoothings or (None,)

    def variants(spec: str) -> list[Method]:
        settings = [(alpha, smoothing) for alpha in weights for smoothing in kinds]
        estimator = make_estimator(spec, **graph)
        if not smoothings and "ridge" in estimator.get_params(deep=False):
            settings = []
        return _variants(spec, estimator, settings, min_support)

    # With one smoothing for all, hie-tan and hie-tan-laplace are the same method.
    by_key: dict[str, Method] = {}
    for method in (method for spec in single for method in variants(spec)):
        same = by_key.setdefault(method.key, method)
        if type(same.estimator) is not type(method.estimator):
            raise CatalogueError(
                f"two classes have the name {method.name!r}, "
                f"{type(same.estimator).__module__} and {type(method.estimator).__module__}; rename one of them"
            )
    methods = list(by_key.values())
    return [_with_tuned_threshold(method) for method in methods] if tune_threshold else methods


def number_text(number: float) -> str:
    """Format a number with the fewest digits that identify the number exactly.

    >>> number_text(1.0), number_text(0.05), number_text(0.12345678)
    ('1', '0.05', '0.12345678')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def _variants(
    spec: str, estimator: Any, settings: Sequence[tuple[float | None, str | None]], min_support: int | None
) -> list[Method]:
    """Return a method once per setting, or once if it has no such parameters or they are already given."""
    parameters = estimator.get_params(deep=False)
    if ":" in spec or not settings or not {"alpha", "smoothing"} <= set(parameters):
        tunes_itself = any(parameters.get(key, 0) is None for key in ("lam", "alpha", "ridge"))
        tunes_itself = tunes_itself and parameters.get("lam_relative") is None
        tuning = _tuning_label(min_support, ["nested"] if tunes_itself else [])
        path, colon, parameters_text = spec.partition(":")
        name = path.rpartition(".")[2]
        return [Method(name + colon + parameters_text, _with_support(estimator, min_support), "", tuning)]
    methods = []
    for alpha, wanted in settings:
        smoothing = parameters["smoothing"] if wanted is None else wanted
        name = smoothed_name(spec, smoothing)
        smoothed = make_estimator(spec).set_params(smoothing=smoothing)
        if alpha is not None:
            setting = f"alpha={number_text(alpha)}"
            smoothed = _with_support(smoothed.set_params(alpha=float(alpha)), min_support)
            methods.append(Method(name, smoothed, setting, _tuning_label(min_support, [])))
        else:
            grid = {"alpha" if min_support is None else "estimator__alpha": list(ALPHA_GRID)}
            search = GridSearchCV(_with_support(smoothed, min_support), grid, scoring="neg_log_loss", cv=5)
            tuning = _tuning_label(min_support, ["nested"])
            methods.append(Method(name, search, "", tuning))
    return methods


def smoothed_name(spec: str, smoothing: str) -> str:
    """Return a method's name with this smoothing: without a suffix for the default smoothing of its class.

    >>> smoothed_name("hie-tan", "odds"), smoothed_name("hie-tan", "laplace")
    ('hie-tan', 'hie-tan-laplace')
    >>> smoothed_name("hie-tan-laplace", "pooled"), smoothed_name("hietan.HieTAN", "pooled")
    ('hie-tan-pooled', 'HieTAN-pooled')
    >>> smoothed_name("tan:alpha=2", "pooled")
    'tan:alpha=2,smoothing=pooled'
    """
    if ":" in spec:
        return f"{spec},smoothing={smoothing}"
    plain = spec.removesuffix("-laplace")
    default = make_estimator(plain).get_params(deep=False)["smoothing"]
    name = plain.rpartition(".")[2]
    return name if smoothing == default else f"{name}-{smoothing}"


def _with_support(estimator: Any, min_support: int | None) -> Any:
    return estimator if min_support is None else MinSupport(estimator, min_support)


def _tuning_label(min_support: int | None, tuned: list[str]) -> str:
    """Return a label for the tuned parameters. Only methods with the same label are ranked together."""
    columns = [] if min_support is None else [f"support={min_support}"]
    return "+".join(columns + tuned) or "none"


def _with_tuned_threshold(method: Method) -> Method:
    tuned = TunedThresholdClassifierCV(method.estimator, scoring=gmean_scorer, thresholds=THRESHOLDS, cv=5)
    tuning = "threshold" if method.tuning == "none" else f"{method.tuning}+threshold"
    return Method(method.name, tuned, method.setting, tuning)


def _imported(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if "," in path:
        raise CatalogueError(
            f"unknown method {path!r}; to use several methods, repeat the option: --methods A --methods B"
        )
    if not module:
        raise CatalogueError(f"unknown method {path!r}{suggest(path, [*METHODS, *method_sets()])}")
    try:
        found = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # a program is not a module to import: it may end itself
        raise CatalogueError(
            f"method {path!r} cannot be imported ({error}); check its import path"
        ) from error
    # Nothing is called before it is known to be a class of classifiers: a call of any other kind may do anything.
    if not isinstance(found, type) or not all(
        hasattr(found, part) for part in ("fit", "predict", "get_params")
    ):
        raise CatalogueError(
            f"method {path!r} is not a scikit-learn classifier; expected the import path of a class with fit, "
            "predict and get_params"
        )
    try:
        return found()
    except Exception as error:
        raise CatalogueError(
            f"method {path!r} cannot be created without arguments ({error}); give each parameter a default "
            "value"
        ) from error


def _parameter(item: str, spec: str) -> tuple[str, Any]:
    name, equals, text = item.partition("=")
    if not equals or not name:
        raise CatalogueError(f"method {spec!r}: expected parameters as name=value, found {item!r}")
    try:
        return name, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text
