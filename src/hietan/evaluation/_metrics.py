"""Prediction metrics: GMean, which the paper uses, and the metrics reported next to it.

A metric is a `Metric` in `METRICS`, with its label and direction for tables, figures, files and reports. To add one,
append it at the end of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, log_loss, make_scorer, matthews_corrcoef

from hietan._runtime.two_classes import rank_auc


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


def sensitivity_score(y_true: ArrayLike, y_pred: ArrayLike, positive: Any = None) -> float:
    """Return the recall of the positive class [default: the second of two in sorted order]."""
    return float(_two(recalls(y_true, y_pred))[_position(y_true, positive)])


def specificity_score(y_true: ArrayLike, y_pred: ArrayLike, positive: Any = None) -> float:
    """Return the recall of the negative class. For `positive`, see `sensitivity_score`."""
    return float(_two(recalls(y_true, y_pred))[1 - _position(y_true, positive)])


def gmean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the geometric mean of the recalls, which is sqrt(sensitivity * specificity) for two classes.

    It is 0 for a classifier that never predicts some class, even a rare one. It depends on the decision threshold and
    not on the ranking of the rows, so read it together with the AUC.

    >>> gmean_score([0, 0, 0, 0, 1], [0, 0, 0, 1, 1])
    0.8660254037844386
    >>> gmean_score([0, 0, 0, 0, 1], [0, 0, 0, 0, 0])
    0.0
    """
    return _geometric_mean(recalls(y_true, y_pred))


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


def average_precision(y_true: ArrayLike, score: ArrayLike, positive: Any = None) -> float:
    """Return the area under the precision-recall curve. With several classes, return the mean over the classes, each
    against all others.

    `score` is the score of the second of two classes in sorted order, or has a column per class. Precision and recall
    refer to the class `positive`; None means the second of two.

    >>> average_precision([0, 0, 1, 1], [1, 2, 3, 4]), average_precision([0, 0, 1], [1, 3, 2], positive=0)
    (1.0, 0.8333333333333333)
    """
    parts = _one_against_rest(y_true, score)
    if len(parts) == 1 and not _position(y_true, positive):
        parts = [(~is_second, -column) for is_second, column in parts]
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


def reliability_curve(
    y_true: ArrayLike, proba: ArrayLike, *, n_bins: int = 10, positive: Any = None
) -> ReliabilityCurve:
    """Return a two-class classifier's reliability curve over bins of equal width. Empty bins are left out.

    `proba` is P(positive), or has a column per class. `positive` is None for the second of two classes.

    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist()
    ([0.2, 0.9], [0.5, 1.0], [2, 2])
    """
    p = np.asarray(proba, dtype=np.float64)
    k = _position(y_true, positive)
    p = p[:, k] if p.ndim == 2 else p
    is_positive = np.asarray(y_true) == _two(np.unique(np.asarray(y_true)))[k]
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    kept = count > 0
    sums = [np.bincount(bins, weights=values, minlength=n_bins)[kept] for values in (p, is_positive)]
    return ReliabilityCurve(sums[0] / count[kept], sums[1] / count[kept], count[kept])


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions from which metrics are computed. For `proba`, `score` and `positive`, see `compute_metrics`."""

    y_true: ArrayLike
    y_pred: ArrayLike
    proba: ArrayLike | None = None
    score: ArrayLike | None = None
    positive: Any = None

    @cached_property
    def recalls(self) -> NDArray[np.float64]:
        """Each class's recall, in sorted class order."""
        return recalls(self.y_true, self.y_pred)

    @property
    def ranked_by(self) -> ArrayLike | None:
        """The values that rank the rows: `score` if given, otherwise `proba`."""
        return self.score if self.score is not None else self.proba


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
        Computes the value from `Predictions`; NaN if the metric does not apply.
    lower_is_better : bool
        Whether smaller values are better.
    ranks_methods : bool
        Whether studies rank and test methods by it, with separate tables and figures.
    is_of_positive : bool
        Whether its value depends on which of two classes is the positive one.
    """

    name: str
    label: str
    compute: Callable[[Predictions], float]
    lower_is_better: bool = False
    ranks_methods: bool = False
    is_of_positive: bool = False

    def label_of(self, positive: str) -> str:
        """Return the metric's label, which includes the positive class if the metric depends on that class.

        >>> METRICS["average_precision"].label_of("pro"), METRICS["auc"].label_of("pro")
        ('average precision (pro)', 'AUC')
        """
        return f"{self.label} ({positive})" if positive and self.is_of_positive else self.label


def compute_metrics(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    proba: ArrayLike | None = None,
    *,
    score: ArrayLike | None = None,
    positive: Any = None,
) -> dict[str, float]:
    """Compute all `METRICS`. Metrics that do not apply are NaN.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        The true and the predicted class of each row.
    proba : array of shape (n, n_classes), or None
        The probabilities of the classes, in their sorted order.
    score : array of shape (n,) or (n, n_classes), or None
        Values by which AUC and average precision rank the rows [default: `proba`]. Log-odds are the better choice,
        because probabilities near 1 cannot be distinguished from each other. A single column belongs to the second of
        two classes in sorted order.
    positive : label, or None
        The class that sensitivity, specificity and average precision refer to; None means the second of two.

    Examples
    --------
    >>> values = compute_metrics([0, 0, 1, 1], [0, 1, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> {name: round(value, 3) for name, value in values.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'gmean': 0.707, 'sensitivity': 1.0, 'specificity': 0.5, 'auc': 1.0, 'average_precision': 1.0,
     'balanced_accuracy': 0.75, 'mcc': 0.577, 'log_loss': 0.4, 'brier': 0.125}
    """
    predictions = Predictions(y_true, y_pred, proba, score, positive)
    return {name: metric.compute(predictions) for name, metric in METRICS.items()}


def _geometric_mean(values: NDArray[np.float64]) -> float:
    return float(np.prod(values) ** (1 / len(values)))


def _two(values: NDArray[Any]) -> NDArray[Any]:
    if len(values) != 2:
        raise ValueError(
            "sensitivity, specificity and a single score per row need two classes, but y_true has "
            f"{len(values)}; use GMean, or one score per class"
        )
    return values


def _position(y_true: ArrayLike, positive: Any) -> int:
    """Return the positive class's position among the sorted classes. None means the second of two classes."""
    classes = np.unique(np.asarray(y_true)).tolist()
    if positive is not None and positive not in classes:
        raise ValueError(f"positive is {positive!r}; expected one of the classes {classes!r:.200}")
    return 1 if positive is None else classes.index(positive)


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


def _for_two(function: Callable[[ArrayLike, ArrayLike, Any], float]) -> Callable[[Predictions], float]:
    """Return a label-based metric for two classes, or NaN for more classes."""
    return lambda p: function(p.y_true, p.y_pred, p.positive) if len(p.recalls) == 2 else np.nan


def _from_proba(function: Callable[[ArrayLike, ArrayLike], float]) -> Callable[[Predictions], float]:
    return lambda p: np.nan if p.proba is None else float(function(p.y_true, p.proba))


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric("gmean", "GMean", lambda p: _geometric_mean(p.recalls), ranks_methods=True),
            Metric("sensitivity", "sensitivity", _for_two(sensitivity_score), is_of_positive=True),
            Metric("specificity", "specificity", _for_two(specificity_score), is_of_positive=True),
            Metric(
                "auc",
                "AUC",
                lambda p: np.nan if p.ranked_by is None else auc_score(p.y_true, p.ranked_by),
                ranks_methods=True,
            ),
            Metric(
                "average_precision",
                "average precision",
                lambda p: (
                    np.nan if p.ranked_by is None else average_precision(p.y_true, p.ranked_by, p.positive)
                ),
                is_of_positive=True,
            ),
            Metric("balanced_accuracy", "balanced accuracy", lambda p: float(p.recalls.mean())),
            Metric("mcc", "MCC", lambda p: float(matthews_corrcoef(p.y_true, p.y_pred))),
            Metric("log_loss", "log loss", _from_proba(log_loss), lower_is_better=True),
            Metric("brier", "Brier score", _from_proba(brier_score), lower_is_better=True),
        )
    }
)
"""The metrics by name, in the column order of `summary.csv`. New metrics go at the end."""
