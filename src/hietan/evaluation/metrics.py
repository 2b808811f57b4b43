"""What a set of predictions is worth. GMean, the paper's measure, and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, log_loss, make_scorer, matthews_corrcoef

METRICS = (
    "gmean",
    "sensitivity",
    "specificity",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "mcc",
    "log_loss",
    "brier",
)
LOWER_IS_BETTER = frozenset({"log_loss", "brier"})


def recalls(y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None = None) -> NDArray[np.float64]:
    """The share of each class that is predicted as that class, in the order of `labels` (default: sorted)."""
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.shape != pred.shape:
        raise ValueError(f"y_true has {len(true)} entries but y_pred has {len(pred)}")
    wanted = np.unique(true) if labels is None else np.asarray(labels)
    absent = np.setdiff1d(wanted, true)
    if absent.size:
        raise ValueError(f"y_true holds no row of class {absent.tolist()}, so its recall is undefined")
    return np.array([np.mean(pred[true == label] == label) for label in wanted])


def sensitivity_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The recall of the positive class, the second of two in sorted order."""
    return float(_two(recalls(y_true, y_pred))[1])


def specificity_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The recall of the negative class, the first of two in sorted order."""
    return float(_two(recalls(y_true, y_pred))[0])


def gmean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The geometric mean of the recalls; for two classes, sqrt(sensitivity * specificity).

    It is 0 for a classifier that gives up a class, however rare, and it sees the threshold alone, not the ranking
    behind it: read it together with the AUC.

    >>> gmean_score([0, 0, 0, 0, 1], [0, 0, 0, 1, 1])
    0.8660254037844386
    >>> gmean_score([0, 0, 0, 0, 1], [0, 0, 0, 0, 0])
    0.0
    """
    return _geometric_mean(recalls(y_true, y_pred))


gmean_scorer = make_scorer(gmean_score)
"""For `scoring=` of scikit-learn's searches: ``GridSearchCV(clf, grid, scoring=gmean_scorer)``."""


def auc_score(y_true: ArrayLike, score: ArrayLike) -> float:
    """Area under the ROC curve by ranks (ties count half), so that infinite scores are welcome.

    `score` is that of the positive class, or has a column per class: then the mean over the classes, each against
    the rest.

    >>> auc_score([0, 0, 1, 1], [-np.inf, 0.4, 0.4, np.inf])
    0.875
    """
    return float(np.mean([_auc(positive, column) for positive, column in _one_against_rest(y_true, score)]))


def average_precision(y_true: ArrayLike, score: ArrayLike) -> float:
    """Area under the precision-recall curve; for several classes the mean, each against the rest."""
    parts = _one_against_rest(y_true, score)
    return float(np.mean([average_precision_score(p, rankdata(s, method="dense")) for p, s in parts]))


def brier_score(y_true: ArrayLike, proba: ArrayLike) -> float:
    """Mean squared error of P(positive); for several classes, summed over the classes."""
    classes, codes = np.unique(np.asarray(y_true), return_inverse=True)
    p = np.asarray(proba, dtype=np.float64)
    if len(classes) == 2:
        return float(np.mean((p[:, 1] - codes) ** 2))
    return float(np.mean(((p - np.eye(len(classes))[codes]) ** 2).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Predicted against observed: per bin of P(positive), the mean prediction, the share that is positive, the rows."""

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    count: NDArray[np.int64]

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance between the two, weighted by the rows."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.count))


def reliability_curve(y_true: ArrayLike, proba: ArrayLike, *, n_bins: int = 10) -> ReliabilityCurve:
    """The reliability curve of a classifier of two classes, over bins of equal width; empty ones are left out.

    `proba` is P(positive), or has a column per class.

    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist()
    ([0.2, 0.9], [0.5, 1.0], [2, 2])
    """
    p = np.asarray(proba, dtype=np.float64)
    p = p[:, 1] if p.ndim == 2 else p
    positive = np.asarray(y_true) == _two(np.unique(np.asarray(y_true)))[1]
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    kept = count > 0
    sums = [np.bincount(bins, weights=values, minlength=n_bins)[kept] for values in (p, positive)]
    return ReliabilityCurve(sums[0] / count[kept], sums[1] / count[kept], count[kept])


def compute_metrics(
    y_true: ArrayLike, y_pred: ArrayLike, proba: ArrayLike | None = None, *, score: ArrayLike | None = None
) -> dict[str, float]:
    """All of `METRICS`; those that do not apply are NaN.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
    proba : array of shape (n, n_classes), or None
        Probabilities, in the sorted order of the classes.
    score : array of shape (n,) or (n, n_classes), or None
        What AUC and average precision rank the rows by. Log-odds are the better choice: probabilities near 1 cannot
        be told apart. Default: `proba`.

    Examples
    --------
    >>> values = compute_metrics([0, 0, 1, 1], [0, 1, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> {name: round(value, 3) for name, value in values.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'gmean': 0.707, 'sensitivity': 1.0, 'specificity': 0.5, 'auc': 1.0, 'average_precision': 1.0,
     'balanced_accuracy': 0.75, 'mcc': 0.577, 'log_loss': 0.4, 'brier': 0.125}
    """
    recall = recalls(y_true, y_pred)
    values = dict.fromkeys(METRICS, np.nan)
    values["gmean"] = _geometric_mean(recall)
    if len(recall) == 2:
        values["specificity"], values["sensitivity"] = map(float, recall)
    values["balanced_accuracy"] = float(recall.mean())
    values["mcc"] = float(matthews_corrcoef(y_true, y_pred))
    if proba is not None:
        values["log_loss"] = float(log_loss(y_true, proba))
        values["brier"] = brier_score(y_true, proba)
    by = score if score is not None else proba
    if by is not None:
        values["auc"] = auc_score(y_true, by)
        values["average_precision"] = average_precision(y_true, by)
    return values


def _geometric_mean(values: NDArray[np.float64]) -> float:
    return float(np.prod(values) ** (1 / len(values)))


def _two(values: NDArray[Any]) -> NDArray[Any]:
    if len(values) != 2:
        raise ValueError(f"sensitivity and specificity need two classes, y_true holds {len(values)}")
    return values


def _one_against_rest(
    y_true: ArrayLike, score: ArrayLike
) -> list[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    """(whether a row is positive, its score) for the positive class, or for each of several classes."""
    true, scores = np.asarray(y_true), np.asarray(score, dtype=np.float64)
    classes = np.unique(true)
    if scores.ndim == 1:
        return [(true == _two(classes)[1], scores)]
    if scores.shape[1] != len(classes):
        raise ValueError(f"score has {scores.shape[1]} columns but y_true holds {len(classes)} classes")
    if len(classes) == 2:
        return [(true == classes[1], scores[:, 1])]
    return [(true == label, scores[:, c]) for c, label in enumerate(classes)]


def _auc(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    n, n_positive = len(positive), int(positive.sum())
    if n_positive in (0, n):
        return float("nan")
    above = rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (n - n_positive)))
