"""Cross-validation in which each row is predicted once, by a model that never saw the row, and folds are pooled."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import get_tags

from hietan._runtime.parallel import run_ordered
from hietan._runtime.two_classes import positive_position
from hietan.evaluation._metrics import compute_metrics

Label = str | int | float | bool
"""A class label as a plain value."""
# How far the probabilities of a row may be from a sum of 1: far more than the error of single precision.
SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """A fitted classifier's predictions for some rows: labels and, if available, log-probabilities and log joints."""

    y_pred: NDArray[Any]
    log_proba: NDArray[np.float64] | None
    joint: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class PooledPredictions:
    """Predictions for all rows of a dataset. Each row is predicted in the fold that held it out.

    Attributes
    ----------
    y_true, y_pred : arrays of shape (n,)
        The true and the predicted class of each row.
    log_proba : array of shape (n, n_classes), or None
        ln P(c | x), in the sorted order of the classes; None if the classifier has no probabilities.
    fold : int array of shape (n,)
        The fold in which each row was held out.
    positive : label, or None
        The class that metrics refer to; None means the second of two.
    joint : array of shape (n, n_classes), or None
        ln P(c, x), if the classifier has it: `log_proba` before it is normalised.
    """

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    log_proba: NDArray[np.float64] | None
    fold: NDArray[np.int64]
    positive: Any = None
    joint: NDArray[np.float64] | None = None

    @property
    def proba(self) -> NDArray[np.float64] | None:
        """P(c | x), or None if the classifier has no probabilities."""
        return None if self.log_proba is None else np.exp(self.log_proba)

    @property
    def score(self) -> NDArray[np.float64] | None:
        """The values that rank the rows: the log-odds of the second of two classes, or `log_proba` for more classes."""
        return None if self.log_proba is None else row_scores(self.log_proba)

    def select(self, rows: NDArray[np.bool_]) -> PooledPredictions:
        """Return the predictions for some of the rows."""
        logs = None if self.log_proba is None else self.log_proba[rows]
        return PooledPredictions(self.y_true[rows], self.y_pred[rows], logs, self.fold[rows], self.positive)

    def metrics(self) -> dict[str, float]:
        """Return all metrics over the pooled rows."""
        return compute_metrics(self.y_true, self.y_pred, self.proba, score=self.score, positive=self.positive)


def pooled_predictions(
    estimator: Any,
    dataset: Any,
    *,
    n_splits: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
    positive: str | None = None,
) -> PooledPredictions:
    """Predict every row of a dataset by stratified cross-validation.

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
    positive : str, optional
        The name of the positive class [default: the dataset's, or the rarer of two classes].

    Returns
    -------
    PooledPredictions
        The predictions of all rows.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(300, 100, random_state=0)
    >>> result = pooled_predictions(HieTAN(smoothing="pooled"), data, n_splits=5)
    >>> result.y_pred.shape, sorted(set(result.fold.tolist()))
    ((300,), [0, 1, 2, 3, 4])
    >>> bool(result.metrics()["auc"] > 0.5)
    True
    """
    model = configure(estimator, getattr(dataset, "hierarchy", None), seed)
    fold = fold_of_rows(dataset.y, n_splits, seed)

    def predict(k: int) -> RowPredictions:
        return predict_fold(model, dataset.X, dataset.y, fold == k)

    parts = run_ordered(predict, [(k,) for k in range(n_splits)], n_jobs)
    return replace(pool(dataset.y, fold, parts), positive=positive_label(dataset, positive))


def positive_label(dataset: Any, stated: str | None = None) -> Label | None:
    """Return the label of the positive class. By default, it is the dataset's positive class or the rarer of two
    classes.

    Name the class, or give its label in `y` if there are no names. None if there are not two classes.

    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(y=np.array([0, 0, 1]), target_names=("no", "yes"))
    >>> positive_label(data), positive_label(data, "no")
    (1, 0)
    """
    by_name = {name: label for label, name in class_names(dataset).items()}
    wanted = stated or getattr(dataset, "positive", "")
    if wanted and wanted not in by_name:
        raise ValueError(f"positive is {wanted!r:.80}; expected one of the classes {', '.join(by_name)}")
    position = positive_position(np.unique(dataset.y, return_counts=True)[1].tolist())
    if position is None:
        return None
    return by_name[wanted] if wanted else list(by_name.values())[position]


def class_names(dataset: Any) -> dict[Label, str]:
    """Return a dataset's sorted labels with their class names, or with the labels as text if there are no names."""
    labels, names = np.unique(dataset.y).tolist(), getattr(dataset, "target_names", ())
    are_numbers = all(isinstance(label, Integral) and int(label) in range(len(names)) for label in labels)
    return {label: str(names[label] if are_numbers else label) for label in labels}


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


def predict_fold(model: Any, X: Any, y: Any, test: NDArray[np.bool_]) -> RowPredictions:
    """Fit a clone to the rows outside `test`, and predict the rows in `test`.

    Raise ValueError if a prediction is unusable.
    """
    fitted = clone(model).fit(rows_for(model, X, ~test), y[~test])
    return predict_checked(fitted, rows_for(model, X, test), class_labels(y), type(model).__name__)


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


def predict_checked(fitted: Any, X: Any, labels: Sequence[Label], name: str) -> RowPredictions:
    """Predict like `predict_rows`, and check everything that the classifier returns.

    Parameters
    ----------
    fitted : scikit-learn classifier
        The classifier, fitted to rows of all classes.
    X : matrix
        The rows.
    labels : sequence
        The classes of the dataset, sorted.
    name : str
        The classifier's name in errors.

    Raises
    ------
    ValueError
        If a label is not a class of the dataset, probabilities are not probabilities, or a shape is wrong.
    """
    rows = predict_rows(fitted, X)
    problem = prediction_problem(rows, labels, X.shape[0])
    if problem is None and rows.log_proba is not None and hasattr(fitted, "classes_"):
        # Columns follow `classes_`: another order would silently exchange the probabilities.
        found = np.asarray(fitted.classes_).tolist()
        if found != list(labels):
            problem = f"classes_ is {_listed(found)}; expected the classes of the dataset, {_listed(labels)}"
    if problem is not None:
        raise ValueError(f"method {name!r}: {problem}")
    return rows


def _listed(labels: Sequence[Any], most: int = 10) -> str:
    return ", ".join([*map(repr, labels[:most]), *(["..."] if len(labels) > most else [])])


def prediction_problem(rows: RowPredictions, labels: Sequence[Label], n_rows: int) -> str | None:
    """Return why these predictions are invalid for this number of rows and these classes, or None if they are valid."""
    if rows.y_pred.shape != (n_rows,):
        return f"predict returned an array of shape {rows.y_pred.shape}; expected {(n_rows,)}"
    known = list(labels)
    strange = [label for label in rows.y_pred.tolist() if label not in known]
    if strange:
        return f"predict returned {strange[0]!r}; expected one of the classes {_listed(known)}"
    if rows.log_proba is None:
        return None
    logs = np.asarray(rows.log_proba, dtype=np.float64)
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


def predict_rows(fitted: Any, X: Any) -> RowPredictions:
    """Return labels and log-probabilities. The classifier is called as rarely as its API allows."""
    if hasattr(
        fitted, "predict_joint_log_proba"
    ):  # such as naive Bayes: the label is the argmax of the joint
        joint = fitted.predict_joint_log_proba(X)
        return RowPredictions(fitted.classes_[joint.argmax(axis=1)], normalised(joint), joint)
    if hasattr(fitted, "_labels_and_logs"):
        return RowPredictions(*fitted._labels_and_logs(X))
    y_pred = np.asarray(fitted.predict(X))
    # A forest may give a class the probability 0; values below 0 become NaN and are detected.
    with np.errstate(divide="ignore", invalid="ignore"):
        if hasattr(fitted, "predict_log_proba"):
            return RowPredictions(y_pred, np.asarray(fitted.predict_log_proba(X), dtype=np.float64))
        if hasattr(fitted, "predict_proba"):
            return RowPredictions(y_pred, np.asarray(np.log(fitted.predict_proba(X))))
    return RowPredictions(y_pred, None)


def pool(y: Any, fold: NDArray[np.int64], parts: list[RowPredictions]) -> PooledPredictions:
    """Return the folds' predictions in row order."""
    order = np.argsort(fold, kind="stable")

    def placed(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if any(each is None for each in values) else np.concatenate(values)[np.argsort(order)]

    logs, joint = placed("log_proba"), placed("joint")
    return PooledPredictions(np.asarray(y), placed("y_pred"), logs, fold, joint=joint)


def normalised(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-probabilities, computed by normalising these log joints."""
    return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True), dtype=np.float64)


def row_scores(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds of the second of two classes, or the log-probabilities for more classes."""
    if log_proba.shape[1] != 2:
        return log_proba
    return np.asarray(log_proba[:, 1] - log_proba[:, 0], dtype=np.float64)
