"""Cross-validation in which each row is scored once, by a model that never saw the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import get_tags

from hietan._runtime.number_checks import check_integer
from hietan._runtime.parallel import run_ordered
from hietan.scores.scores import Floats, Scores, normalised, positive_last

Label = str | int | float | bool
"""A class label as a plain value."""
# How far the probabilities of a row may be from a sum of 1: far more than the error of single precision.
SUM_TOLERANCE = 1e-3


def cross_validate(
    estimator: Any,
    dataset: Any,
    *,
    n_splits: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
    positive: str = "",
) -> Scores:
    """Score every row of a dataset by stratified cross-validation.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier, which is cloned. In it, in Pipeline steps and in wrapped estimators, a parameter `hierarchy`
        that is None is set to the dataset's hierarchy, and a `random_state` that is None to `seed`.
    dataset : object with X, y and, if the estimator needs one, hierarchy
        The rows and their classes.
    n_splits, seed : int
        The splits are ``StratifiedKFold(n_splits, shuffle=True, random_state=seed)``, the same for every method.
    n_jobs : int or None
        The number of folds to run at a time, in threads, as in joblib.
    positive : str
        The name of the positive class [default: the dataset's, or the last class in sorted order].

    Returns
    -------
    Scores
        The scores of all rows, with their classes and folds.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(300, 100, random_state=0)
    >>> scores = cross_validate(HieTAN(smoothing="pooled"), data, n_splits=5)
    >>> len(scores), sorted(set(scores.fold.tolist()))
    (300, [0, 1, 2, 3, 4])
    """
    check_integer("n_splits", n_splits, 2, 2**31 - 1)
    model = configure(estimator, getattr(dataset, "hierarchy", None), seed)
    names = class_names(dataset, positive)
    fold = fold_of_rows(dataset.y, n_splits, seed)

    def score(k: int) -> Scores:
        return score_fold(model, dataset.X, dataset.y, fold == k, names)

    parts = run_ordered(score, [(k,) for k in range(n_splits)], n_jobs)
    return pool(parts, fold, class_codes(dataset.y, names))


def class_names(dataset: Any, positive: str = "") -> dict[Label, str]:
    """Return a dataset's labels with their class names, or with the labels as text if there are no names.

    Labels are sorted, but the label of the positive class comes last: the named class, or the dataset's.

    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(y=np.array([0, 0, 1]), target_names=("no", "yes"))
    >>> class_names(data), class_names(data, "no")
    ({0: 'no', 1: 'yes'}, {1: 'yes', 0: 'no'})
    """
    labels, names = np.unique(dataset.y).tolist(), getattr(dataset, "target_names", ())
    are_numbers = all(isinstance(label, Integral) and int(label) in range(len(names)) for label in labels)
    found = {label: str(names[label] if are_numbers else label) for label in labels}
    positive = positive or getattr(dataset, "positive", "")
    if not positive:
        return found
    label_of = {name: label for label, name in found.items()}
    return {label_of[name]: name for name in positive_last(tuple(found.values()), positive)}


def class_codes(y: Any, names: Mapping[Label, str]) -> NDArray[np.intp]:
    """Return the position of each row's label among the labels of `names`."""
    labels, inverse = np.unique(np.asarray(y), return_inverse=True)
    order = list(names)
    return np.array([order.index(label) for label in labels.tolist()], dtype=np.intp)[inverse]


def configure(estimator: Any, hierarchy: Any, seed: int) -> Any:
    """Return a clone of an estimator. In it and its parts, each `hierarchy` or `random_state` that was None is set."""
    model = clone(estimator)
    missing = {
        name: hierarchy if name.endswith("hierarchy") else seed
        for name, value in model.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] in ("hierarchy", "random_state")
    }
    return model.set_params(**missing) if missing else model


def fold_of_rows(
    y: Any, cv: Any, seed: int, groups: Any = None, names: Sequence[str] = ()
) -> NDArray[np.int64]:
    """Return the fold in which each row is held out.

    Parameters
    ----------
    y : array of shape (n,)
        The rows' classes.
    cv : int or splitter of scikit-learn
        The number of stratified, shuffled folds, or a splitter. A random splitter without a `random_state` gets the
        seed.
    seed : int
        The seed for the splits.
    groups : array of shape (n,), optional
        Rows of the same group are held out in the same fold.
    names : sequence of str, optional
        Names of the classes 0, 1, ... in error messages.

    Raises
    ------
    ValueError
        If a row is not held out exactly once, or a fold leaves no training row of a class.
    """
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) < 2:
        raise ValueError(f"y has only one class, {labels.tolist()}; at least two are needed")
    splitter = cv
    if isinstance(cv, Integral):
        if counts.min() < cv:
            rarest = labels[counts.argmin()]
            named = isinstance(rarest, Integral) and int(rarest) in range(len(names))
            raise ValueError(
                f"class {names[rarest] if named else rarest!s} has {counts.min()} rows, fewer than the {cv} "
                f"folds; use at most {counts.min()} folds, or add rows of that class"
            )
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(int(cv), shuffle=True, random_state=seed)
    elif getattr(cv, "random_state", 0) is None and getattr(cv, "shuffle", True):
        splitter = copy(cv)
        splitter.random_state = seed
    fold = np.full(len(y), -1, dtype=np.int64)
    for k, (training, rows) in enumerate(splitter.split(np.zeros((len(y), 1)), y, groups)):
        _check_fold(k, training, rows, fold, y, groups)
        fold[rows] = k
    if (fold < 0).any():
        raise ValueError(
            f"the folds of {cv} never hold out row {int((fold < 0).argmax())}; pass a splitter that holds out "
            "every row once"
        )
    return fold


def _check_fold(
    k: int, training: NDArray[np.intp], rows: NDArray[np.intp], fold: NDArray[np.int64], y: Any, groups: Any
) -> None:
    """Raise ValueError for a fold whose predictions cannot be pooled."""
    if not len(rows):
        raise ValueError(f"fold {k} holds out no row; use fewer folds")
    if (fold[rows] >= 0).any():
        raise ValueError(
            f"row {int(rows[(fold[rows] >= 0).argmax()])} is in two folds, but every row must be held out once; "
            "pass a splitter without repetitions, and use several seeds to repeat the folds"
        )
    if not np.array_equal(np.sort(np.concatenate([training, rows])), np.arange(len(y))):
        raise ValueError(
            f"some rows are neither training rows nor held out in fold {k}; pass another splitter"
        )
    lost = np.setdiff1d(y, y[training])
    if lost.size:
        raise ValueError(
            f"fold {k} leaves no training row of class {lost[0]!s}; use other folds or smaller groups"
        )
    if groups is not None and np.intersect1d(groups[training], groups[rows]).size:
        split = np.intersect1d(groups[training], groups[rows])[0]
        raise ValueError(f"fold {k} splits the group {split!s}; pass a splitter that keeps groups together")


def score_fold(model: Any, X: Any, y: Any, test: NDArray[np.bool_], names: Mapping[Label, str]) -> Scores:
    """Fit a clone to the rows outside `test`, and score the rows in `test`. Raise ValueError for unusable scores."""
    fitted = clone(model).fit(rows_for(model, X, ~test), y[~test])
    return score_checked(fitted, rows_for(model, X, test), names, type(model).__name__)


def rows_for(model: Any, X: Any, chosen: NDArray[np.bool_] | None = None) -> Any:
    """Return the chosen rows [default: all], as an array if X is sparse and the classifier does not accept that.

    A classifier without scikit-learn's tags gets X as it is.
    """
    rows = X if chosen is None else X[np.flatnonzero(chosen)]
    is_refused = hasattr(model, "__sklearn_tags__") and not get_tags(model).input_tags.sparse
    return rows.toarray() if is_refused and hasattr(rows, "toarray") else rows


def class_labels(y: Any) -> list[Label]:
    """Return a dataset's sorted classes as plain values. Raise ValueError unless they are numbers or strings."""
    labels: list[Label] = np.unique(y).tolist()
    strange = [label for label in labels if not isinstance(label, Label)]
    if strange:
        raise ValueError(
            f"class {strange[0]!r} is a {type(strange[0]).__name__}; classes must be numbers or strings"
        )
    return labels


def score_checked(fitted: Any, X: Any, names: Mapping[Label, str], method: str) -> Scores:
    """Score rows like `score_rows`, and check everything that the classifier returns.

    Parameters
    ----------
    fitted : scikit-learn classifier
        The classifier, fitted to rows of all classes.
    X : matrix
        The rows.
    names : mapping of label to str
        The dataset's classes, from `class_names`.
    method : str
        The classifier's name in errors.

    Raises
    ------
    ValueError
        If a label is not a class of the dataset, probabilities are not probabilities, or a shape is wrong.
    """
    labels: list[Any] = sorted(names)
    y_pred, log_proba = _predictions(fitted, X)
    problem = prediction_problem(y_pred, log_proba, labels, X.shape[0])
    if problem is None and log_proba is not None and hasattr(fitted, "classes_"):
        # Columns follow `classes_`: another order would silently exchange the probabilities.
        found = np.asarray(fitted.classes_).tolist()
        if found != labels:
            problem = f"classes_ is {_listed(found)}; expected the classes of the dataset, {_listed(labels)}"
    if problem is not None:
        raise ValueError(f"method {method!r}: {problem}")
    predicted = np.array([labels.index(label) for label in y_pred.tolist()], dtype=np.intp)
    scores = Scores(tuple(names[label] for label in labels), predicted, log_proba)
    return scores.with_positive(list(names.values())[-1])


def _listed(labels: Sequence[Any], most: int = 10) -> str:
    return ", ".join([*map(repr, labels[:most]), *(["..."] if len(labels) > most else [])])


def prediction_problem(
    y_pred: NDArray[Any], log_proba: Floats | None, labels: Sequence[Label], n_rows: int
) -> str | None:
    """Return why these predictions are invalid for this number of rows and these classes, or None if they are valid."""
    if y_pred.shape != (n_rows,):
        return f"predict returned an array of shape {y_pred.shape}; expected {(n_rows,)}"
    known = list(labels)
    strange = [label for label in y_pred.tolist() if label not in known]
    if strange:
        return f"predict returned {strange[0]!r}; expected one of the classes {_listed(known)}"
    if log_proba is None:
        return None
    logs = np.asarray(log_proba, dtype=np.float64)
    if logs.shape != (n_rows, len(known)):
        return f"the probabilities have shape {logs.shape}; expected {(n_rows, len(known))}"
    # The logarithm of a negative number is NaN; the logarithm of 0, which is allowed, is -inf.
    bad = np.isnan(logs).any(axis=1) | np.isposinf(logs).any(axis=1)
    if bad.any():
        return f"row {bad.argmax()} of the fold has probabilities that are NaN, infinite or negative"
    off = np.abs(np.exp(np.minimum(logs, 1.0)).sum(axis=1) - 1) > SUM_TOLERANCE
    if off.any():
        row = int(off.argmax())
        shown = ", ".join(f"{p:.6g}" for p in np.exp(np.minimum(logs[row], 700.0)))
        return f"the probabilities of row {row} of the fold are {shown}; expected a sum of 1"
    return None


def score_rows(fitted: Any, X: Any, classes: tuple[str, ...]) -> Scores:
    """Return the scores of rows by a fitted classifier, whose classes have these names in its own order."""
    y_pred, log_proba = _predictions(fitted, X)
    return Scores(classes, np.searchsorted(fitted.classes_, y_pred), log_proba)


def _predictions(fitted: Any, X: Any) -> tuple[NDArray[Any], Floats | None]:
    """Return labels and log-probabilities. The classifier is called as rarely as its API allows."""
    if hasattr(fitted, "predict_joint_log_proba"):  # naive Bayes: the label is the argmax of the joint
        joint = fitted.predict_joint_log_proba(X)
        return fitted.classes_[joint.argmax(axis=1)], normalised(joint)
    if hasattr(fitted, "_labels_and_logs"):
        labels, logs = fitted._labels_and_logs(X)[:2]
        return labels, logs
    y_pred = np.asarray(fitted.predict(X))
    # A forest may give a class the probability 0; values below 0 become NaN and are detected.
    with np.errstate(divide="ignore", invalid="ignore"):
        if hasattr(fitted, "predict_log_proba"):
            return y_pred, np.asarray(fitted.predict_log_proba(X), dtype=np.float64)
        if hasattr(fitted, "predict_proba"):
            return y_pred, np.asarray(np.log(fitted.predict_proba(X)))
    return y_pred, None


def pool(parts: Sequence[Scores], fold: NDArray[np.int64], truth: NDArray[np.intp]) -> Scores:
    """Return the folds' scores in row order, with the rows' classes."""
    place = np.argsort(np.argsort(fold, kind="stable"))
    predicted = np.concatenate([part.predicted for part in parts])[place]
    log_proba = None
    if all(part.log_proba is not None for part in parts):
        log_proba = np.concatenate([np.asarray(part.log_proba) for part in parts])[place]
    return Scores(parts[0].classes, predicted, log_proba, truth, fold)
