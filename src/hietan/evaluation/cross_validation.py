"""Cross-validation as in the paper: every row is predicted once, by a model that never saw it; then rows are pooled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from hietan._runtime.parallel import run_unordered
from hietan.evaluation.metrics import compute_metrics


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """What a fitted classifier predicts for some rows: labels, and log-probabilities if it has any."""

    y_pred: NDArray[Any]
    log_proba: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class PooledPredictions:
    """The predictions of all rows of a dataset, each made in the fold where the row was set aside.

    Attributes
    ----------
    y_true, y_pred : arrays of shape (n,)
        The true and the predicted class of each row.
    log_proba : array of shape (n, n_classes), or None
        ln P(c | x), in the sorted order of the classes; None if the classifier has no probabilities.
    fold : int array of shape (n,)
        The fold in which each row was set aside.
    """

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    log_proba: NDArray[np.float64] | None
    fold: NDArray[np.int64]

    @property
    def proba(self) -> NDArray[np.float64] | None:
        """P(c | x), or None."""
        return None if self.log_proba is None else np.exp(self.log_proba)

    @property
    def score(self) -> NDArray[np.float64] | None:
        """What the rows are ranked by: the log-odds of the second of two classes, or `log_proba` for more classes."""
        return None if self.log_proba is None else row_scores(self.log_proba)

    def metrics(self) -> dict[str, float]:
        """All metrics, over the pooled rows."""
        return compute_metrics(self.y_true, self.y_pred, self.proba, score=self.score)


def pooled_predictions(
    estimator: Any, dataset: Any, *, n_splits: int = 10, seed: int = 0, n_jobs: int | None = None
) -> PooledPredictions:
    """Predict every row of a dataset by stratified cross-validation.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier, which is cloned. In it, in the steps of a Pipeline and in wrapped estimators, a parameter
        `hierarchy` that is None is set to the hierarchy of the dataset, and a `random_state` that is None to `seed`.
    dataset : object with X, y and, if the estimator needs one, hierarchy
        The rows and their classes.
    n_splits, seed : int
        The splits are ``StratifiedKFold(n_splits, shuffle=True, random_state=seed)``, the same for every method.
    n_jobs : int or None
        The number of folds to run at a time, in threads, as in joblib.

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

    def predict(k: int) -> tuple[int, RowPredictions]:
        return k, predict_fold(model, dataset.X, dataset.y, fold == k)

    parts = dict(run_unordered(predict, ((k,) for k in range(n_splits)), n_jobs, "threads"))
    return pool(dataset.y, fold, [parts[k] for k in range(n_splits)])


def configure(estimator: Any, hierarchy: Any, seed: int) -> Any:
    """A clone in which every `hierarchy` and `random_state` that is None is set, however deep in the estimator."""
    model = clone(estimator)
    missing = {
        name: hierarchy if name.endswith("hierarchy") else seed
        for name, value in model.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] in ("hierarchy", "random_state")
    }
    return model.set_params(**missing) if missing else model


def fold_of_rows(y: Any, n_splits: int, seed: int) -> NDArray[np.int64]:
    """The fold in which each row is set aside."""
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) < 2:
        raise ValueError(f"y has only one class, {labels.tolist()}; at least two are needed")
    if counts.min() < n_splits:
        raise ValueError(
            f"class {labels[counts.argmin()]!s} has {counts.min()} rows, fewer than the {n_splits} folds; "
            f"use at most {counts.min()} folds"
        )
    fold = np.empty(len(y), dtype=np.int64)
    splits = StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    for k, (_, rows) in enumerate(splits):
        fold[rows] = k
    return fold


def predict_fold(model: Any, X: Any, y: Any, test: NDArray[np.bool_]) -> RowPredictions:
    """Fit a clone to the rows outside `test`, and predict those inside."""
    fitted = clone(model).fit(X[np.flatnonzero(~test)], y[~test])
    return predict_rows(fitted, X[np.flatnonzero(test)])


def predict_rows(fitted: Any, X: Any) -> RowPredictions:
    """Labels and log-probabilities, with as few passes over the rows as the classifier's API allows."""
    if hasattr(
        fitted, "predict_joint_log_proba"
    ):  # such as naive Bayes: the label is the argmax of the joint
        joint = fitted.predict_joint_log_proba(X)
        normaliser = np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return RowPredictions(fitted.classes_[joint.argmax(axis=1)], joint - normaliser)
    y_pred = fitted.predict(X)
    with np.errstate(divide="ignore"):  # a forest may give a class the probability 0
        if hasattr(fitted, "predict_log_proba"):
            return RowPredictions(y_pred, np.asarray(fitted.predict_log_proba(X), dtype=np.float64))
        if hasattr(fitted, "predict_proba"):
            return RowPredictions(y_pred, np.log(fitted.predict_proba(X)))
    return RowPredictions(y_pred, None)


def pool(y: Any, fold: NDArray[np.int64], parts: list[RowPredictions]) -> PooledPredictions:
    """Put the predictions of the folds, in the order of the folds, back into the order of the rows."""
    order = np.argsort(fold, kind="stable")
    y_pred = np.empty_like(np.concatenate([part.y_pred for part in parts]))
    y_pred[order] = np.concatenate([part.y_pred for part in parts])
    logs = [part.log_proba for part in parts if part.log_proba is not None]
    log_proba = None
    if len(logs) == len(parts):
        log_proba = np.empty((len(y), logs[0].shape[1]))
        log_proba[order] = np.concatenate(logs)
    return PooledPredictions(np.asarray(y), y_pred, log_proba, fold)


def row_scores(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-odds of the second of two classes; the log-probabilities themselves for more classes."""
    if log_proba.shape[1] != 2:
        return log_proba
    return np.asarray(log_proba[:, 1] - log_proba[:, 0], dtype=np.float64)
