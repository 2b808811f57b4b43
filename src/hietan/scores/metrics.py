"""Prediction metrics: GMean, which the paper uses, and the metrics reported next to it.

A metric is a `Metric` in `METRICS`, with its label and direction for tables, figures, files and reports. To add one,
append it at the end of this module. Functions of arrays take the classes in sorted order, as scikit-learn does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, log_loss, make_scorer, matthews_corrcoef

from hietan._runtime.two_classes import rank_auc
from hietan.scores.scores import Scores


def recalls(y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the correctly predicted share of each class, in the order of `labels` [default: sorted]."""
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.shape != pred.shape:
        raise ValueError(
            f"y_true has {len(true)} entries but y_pred has {len(pred)}; pass one prediction per row"
        )
    wanted = np.unique(true) if labels is None else np.asarray(labels)
    absent = np.setdiff1d(wanted, true)
    if absent.size:
        raise ValueError(
            f"y_true has no row of class {absent.tolist()}, so the recall of this class is undefined; omit it "
            "from labels"
        )
    return np.array([np.mean(pred[true == label] == label) for label in wanted])


def sensitivity_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the recall of the second of two classes in sorted order."""
    return float(_two(recalls(y_true, y_pred))[1])


def specificity_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the recall of the first of two classes in sorted order."""
    return float(_two(recalls(y_true, y_pred))[0])


def gmean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the geometric mean of the recalls, which is sqrt(sensitivity * specificity) for two classes.

    It is 0 for a classifier that never predicts some class, even a rare one. It depends on the decision threshold and
    not on the ranking of the rows, so read it together with the AUC.

    >>> gmean_score([0, 0, 0, 0, 1], [0, 0, 0, 1, 1])
    0.8660254037844386
    >>> gmean_score([0, 0, 0, 0, 1], [0, 0, 0, 0, 0])
    0.0
    """
    values = recalls(y_true, y_pred)
    return float(np.prod(values) ** (1 / len(values)))


gmean_scorer: Any = make_scorer(gmean_score)
"""GMean as a scikit-learn scorer: ``GridSearchCV(clf, grid, scoring=gmean_scorer)``."""


def auc_score(y_true: ArrayLike, score: ArrayLike) -> float:
    """Return the area under the ROC curve. It is computed from ranks, with ties counting half, so scores may be
    infinite.

    `score` is the score of the positive class, or has a column per class. For more than two classes the result is the
    mean over the classes, each against the rest.

    >>> auc_score([0, 0, 1, 1], [-np.inf, 0.4, 0.4, np.inf])
    0.875
    """
    return float(
        np.mean([rank_auc(positive, column) for positive, column in _one_against_rest(y_true, score)])
    )


def average_precision(y_true: ArrayLike, score: ArrayLike) -> float:
    """Return the area under the precision-recall curve. With several classes, return the mean over the classes, each
    against all others.

    `score` is the score of the second of two classes in sorted order, or has a column per class.

    >>> average_precision([0, 0, 1, 1], [1, 2, 3, 4])
    1.0
    """
    parts = _one_against_rest(y_true, score)
    found = [average_precision_score(p, rankdata(s, method="dense")) for p, s in parts]
    return min(1.0, float(np.mean(found)))  # rounding may exceed 1


def brier_score(y_true: ArrayLike, proba: ArrayLike) -> float:
    """Return the mean squared error of P(positive). With several classes, the errors are summed over the classes."""
    classes, codes = np.unique(np.asarray(y_true), return_inverse=True)
    p = np.asarray(proba, dtype=np.float64)
    if len(classes) == 2:
        return float(np.mean((p[:, 1] - codes) ** 2))
    return float(np.mean(((p - np.eye(len(classes))[codes]) ** 2).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """The mean prediction, the share of positive rows and the number of rows in each bin of P(positive)."""

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    count: NDArray[np.int64]

    @property
    def expected_calibration_error(self) -> float:
        """The mean distance between predicted and observed shares, weighted by the number of rows."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.count))


def reliability_curve(y_true: ArrayLike, proba: Any, *, n_bins: int = 10) -> ReliabilityCurve:
    """Return a two-class classifier's reliability curve over bins of equal width. Empty bins are left out.

    `proba` is the probability of the second class in sorted order, or has a column per class.

    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist()
    ([0.2, 0.9], [0.5, 1.0], [2, 2])
    """
    p = np.asarray(proba, dtype=np.float64)
    p = p[:, 1] if p.ndim == 2 else p
    is_positive = np.asarray(y_true) == _two(np.unique(np.asarray(y_true)))[1]
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    kept = count > 0
    sums = [np.bincount(bins, weights=values, minlength=n_bins)[kept] for values in (p, is_positive)]
    return ReliabilityCurve(sums[0] / count[kept], sums[1] / count[kept], count[kept])


@dataclass(frozen=True)
class Metric:
    """A metric, with the properties that tables, figures and reports need to show it.

    Attributes
    ----------
    name : str
        Its name in files and on the command line.
    label : str
        Its name in figures and reports.
    compute : callable
        Computes the value from `Scores` whose rows have all classes; NaN if the metric does not apply.
    lower_is_better : bool
        Whether smaller values are better.
    ranks_methods : bool
        Whether studies rank and test methods by it, with separate tables and figures.
    is_of_positive : bool
        Whether its value depends on which of two classes is the positive one.
    """

    name: str
    label: str
    compute: Callable[[Scores], float]
    lower_is_better: bool = False
    ranks_methods: bool = False
    is_of_positive: bool = False

    def label_of(self, positive: str) -> str:
        """Return the metric's label, which includes the positive class if the metric depends on that class.

        >>> METRICS["average_precision"].label_of("pro"), METRICS["auc"].label_of("pro")
        ('average precision (pro)', 'AUC')
        """
        return f"{self.label} ({positive})" if positive and self.is_of_positive else self.label


def metrics_of(scores: Scores, names: Iterable[str] | None = None) -> dict[str, float]:
    """Return metrics [default: all `METRICS`] of rows with known classes. Metrics that do not apply are NaN.

    If the rows lack a class, only the recall of the other of two classes is defined.
    """
    truth = scores.truth
    if truth is None:
        raise ValueError("the classes of the rows are not known, so their scores have no metrics")
    present = np.unique(truth)
    if len(present) == len(scores.classes):
        return {name: METRICS[name].compute(scores) for name in names or METRICS}
    values = dict.fromkeys(names or METRICS, np.nan)
    if len(scores.classes) == 2 and len(present):
        name = "sensitivity" if present[0] else "specificity"
        values[name] = float(np.mean(scores.predicted == truth))
    return values


def compute_metrics(y_true: ArrayLike, y_pred: ArrayLike, proba: ArrayLike | None = None) -> dict[str, float]:
    """Compute all `METRICS`. Metrics that do not apply are NaN.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        The true and the predicted class of each row. Sensitivity, specificity and average precision refer to the
        second of two classes in sorted order.
    proba : array of shape (n, n_classes), or None
        The probabilities of the classes, in their sorted order. AUC and average precision rank the rows by log-odds.

    Examples
    --------
    >>> values = compute_metrics([0, 0, 1, 1], [0, 1, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> {name: round(value, 3) for name, value in values.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'gmean': 0.707, 'sensitivity': 1.0, 'specificity': 0.5, 'auc': 1.0, 'average_precision': 1.0,
     'balanced_accuracy': 0.75, 'mcc': 0.577, 'log_loss': 0.4, 'brier': 0.125}
    """
    labels, truth = np.unique(np.asarray(y_true), return_inverse=True)
    guesses = np.asarray(y_pred)
    predicted = np.where(np.isin(guesses, labels), np.searchsorted(labels, guesses), -1)
    log_proba = None
    if proba is not None:
        with np.errstate(divide="ignore"):
            log_proba = np.log(np.asarray(proba, dtype=np.float64))
    return metrics_of(Scores(tuple(map(str, labels.tolist())), predicted, log_proba, truth))


def _two(values: NDArray[Any]) -> NDArray[Any]:
    if len(values) != 2:
        raise ValueError(
            "sensitivity, specificity and a single score per row need two classes, but y_true has "
            f"{len(values)}; use GMean, or one score per class"
        )
    return values


def _one_against_rest(
    y_true: ArrayLike, score: ArrayLike
) -> list[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    """Return (whether each row has the class, its score) for the second of two classes, or for each of several."""
    true, scores = np.asarray(y_true), np.asarray(score, dtype=np.float64)
    classes = np.unique(true)
    if scores.ndim == 1:
        return [(true == _two(classes)[1], scores)]
    if scores.shape[1] != len(classes):
        raise ValueError(
            f"score has {scores.shape[1]} columns but y_true has {len(classes)} classes; pass one column per "
            "class"
        )
    if len(classes) == 2:
        return [(true == classes[1], scores[:, 1])]
    return [(true == label, scores[:, c]) for c, label in enumerate(classes)]


def _of_two(function: Callable[[Any, Any], float]) -> Callable[[Scores], float]:
    """Return a metric of predicted labels for two classes, or NaN for more classes."""
    return lambda scores: function(scores.truth, scores.predicted) if len(scores.classes) == 2 else np.nan


def _of_ranks(function: Callable[[Any, Any], float]) -> Callable[[Scores], float]:
    """Return a metric of the ranked rows, or NaN without probabilities."""
    return lambda scores: np.nan if scores.ranked_by is None else function(scores.truth, scores.ranked_by)


def _of_proba(function: Callable[[Any, Any], float]) -> Callable[[Scores], float]:
    """Return a metric of the probabilities, or NaN without them."""
    return lambda scores: np.nan if scores.proba is None else float(function(scores.truth, scores.proba))


def _of_labels(function: Callable[[Any, Any], float]) -> Callable[[Scores], float]:
    return lambda scores: float(function(scores.truth, scores.predicted))


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric("gmean", "GMean", _of_labels(gmean_score), ranks_methods=True),
            Metric("sensitivity", "sensitivity", _of_two(sensitivity_score), is_of_positive=True),
            Metric("specificity", "specificity", _of_two(specificity_score), is_of_positive=True),
            Metric("auc", "AUC", _of_ranks(auc_score), ranks_methods=True),
            Metric(
                "average_precision", "average precision", _of_ranks(average_precision), is_of_positive=True
            ),
            Metric(
                "balanced_accuracy",
                "balanced accuracy",
                _of_labels(lambda truth, predicted: recalls(truth, predicted).mean()),
            ),
            Metric("mcc", "MCC", _of_labels(matthews_corrcoef)),
            Metric("log_loss", "log loss", _of_proba(log_loss), lower_is_better=True),
            Metric("brier", "Brier score", _of_proba(brier_score), lower_is_better=True),
        )
    }
)
"""The metrics by name, in the column order of `summary.csv`. New metrics go at the end."""
