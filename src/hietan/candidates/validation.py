"""How good a model is on rows that it never saw: one cross-validation, for its quality and for its calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from hietan.datasets import Dataset
from hietan.evaluation import PooledPredictions, reliability_curve
from hietan.evaluation.cross_validation import fold_of_rows, pool, predict_fold
from hietan.evaluation.metrics import gmean_score

FOLDS = 5
Progress = Callable[[int, int], None]
"""Called with the number of steps that are done, and the number of all steps."""

_SHARES = ("auc", "gmean", "average_precision", "calibration_error")
_LOSSES = ("log_loss", "calibrated_log_loss")


@dataclass(frozen=True)
class Validation:
    """The quality of a model, by cross-validation: every row was predicted once, by a model that never saw it.

    Attributes
    ----------
    folds : int
        The number of folds.
    class_rows : tuple of int
        The number of rows of each class, in the order of the classifier's classes.
    gmean : float
        The geometric mean of the recalls.
    auc, average_precision, log_loss : float or None
        As in `hietan.evaluation`; None if the classifier has no probabilities.
    calibrated_log_loss, calibration_error : float or None
        The log loss of the calibrated probabilities, and their mean distance from the observed shares, weighted by
        rows. The sigmoid that calibrates a row was fitted to other folds. None if there is no calibration.
    curve : tuple of (predicted, observed, rows)
        For each bin of calibrated probabilities, the mean probability, the share of rows of the second class, and the
        number of rows.
    """

    folds: int
    class_rows: tuple[int, ...]
    gmean: float
    auc: float | None = None
    average_precision: float | None = None
    log_loss: float | None = None
    calibrated_log_loss: float | None = None
    calibration_error: float | None = None
    curve: tuple[tuple[float, float, int], ...] = ()

    def __post_init__(self) -> None:
        counts = (self.folds, *self.class_rows, *(rows for _, _, rows in self.curve))
        if not all(type(n) is int and 0 <= n <= 2**53 for n in counts):
            raise ValueError("a number of rows or folds is not a count")
        shares = [getattr(self, name) for name in _SHARES] + [p for bin_ in self.curve for p in bin_[:2]]
        if not all(share is None or 0 <= share <= 1 for share in shares):
            raise ValueError("a share of the validation is not between 0 and 1")
        losses = [getattr(self, name) for name in _LOSSES]
        if not all(loss is None or 0 <= loss < np.inf for loss in losses):
            raise ValueError("a loss of the validation is not a finite number above 0")
        if self.curve and sum(rows for _, _, rows in self.curve) != sum(self.class_rows):
            raise ValueError("the rows of the reliability curve are not those of the classes")

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.class_rows)

    def as_dict(self) -> dict[str, Any]:
        """The numbers as JSON can hold them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Validation:
        """The numbers that `as_dict` returned; raises TypeError or ValueError if they are anything else."""
        given = dict(content)
        given["class_rows"] = tuple(given["class_rows"])
        given["curve"] = tuple((float(p), float(share), rows) for p, share, rows in given.get("curve", ()))
        names = ("gmean", *_SHARES, *_LOSSES)
        given |= {name: float(given[name]) for name in names if given.get(name) is not None}
        return cls(**given)


def predict_held_out(
    model: Any, data: Dataset, seed: int, progress: Progress | None = None
) -> PooledPredictions | None:
    """Predict every row by a model that was fitted to the rows of the other folds.

    Returns None if a class has fewer than two rows. With fewer rows than `FOLDS`, there are fewer folds.
    """
    labels, counts = np.unique(data.y, return_counts=True)
    folds = min(FOLDS, int(counts.min()))
    if len(labels) < 2 or folds < 2:
        return None
    fold = fold_of_rows(data.y, folds, seed)
    parts = []
    for k in range(folds):
        parts.append(predict_fold(model, data.X, data.y, fold == k))
        if progress is not None:
            progress(k + 1, folds + 1)
    return pool(data.y, fold, parts)


def fit_sigmoid(log_odds: NDArray[np.float64], y: NDArray[Any]) -> tuple[float, float]:
    """Slope and shift of Platt's sigmoid: ``expit(slope * log_odds + shift)`` is a calibrated probability."""
    odds = np.clip(log_odds, -700, 700)
    scale = float(np.abs(odds).max()) or 1.0
    sigmoid = LogisticRegression(C=1e6, max_iter=1000).fit(odds[:, None] / scale, y)
    return float(sigmoid.coef_[0, 0]) / scale, float(sigmoid.intercept_[0])


def best_cutoff(log_odds: NDArray[np.float64], y: NDArray[Any]) -> float:
    """The log-odds from which on rows are predicted as the second class, so that GMean is highest.

    >>> best_cutoff(np.array([-2.0, 1.0, 3.0, 5.0]), np.array([0, 0, 1, 1]))
    2.0
    """
    order = np.argsort(log_odds, kind="stable")
    odds, positive = np.clip(log_odds[order], -700, 700), (y == y.max())[order]
    # If the rows from position k on are positive: the shares of both classes that are then recognised.
    sensitivity = 1 - np.concatenate([[0], np.cumsum(positive)]) / positive.sum()
    specificity = np.concatenate([[0], np.cumsum(~positive)]) / (~positive).sum()
    gmean = np.sqrt(sensitivity * specificity)
    gmean[1:-1][odds[1:] == odds[:-1]] = -1  # no cutoff lies between rows with the same log-odds
    k = int(gmean.argmax())
    if k in (0, len(odds)):
        return float(odds[0] if k == 0 else odds[-1] + 1)
    return float((odds[k - 1] + odds[k]) / 2)


def summarize_held_out(
    pooled: PooledPredictions, cutoff: float | None = None, *, tuned: bool = False
) -> Validation:
    """The quality of predictions of rows that were held out.

    Parameters
    ----------
    pooled : PooledPredictions
        The predictions, from `predict_held_out`.
    cutoff : float or None
        The log-odds from which on rows are predicted as the second class; None for the classifier's own predictions.
    tuned : bool
        Whether the cutoff was chosen by `best_cutoff`; then each fold is judged by the cutoff of the other folds.
    """
    counts = tuple(np.unique(pooled.y_true, return_counts=True)[1].tolist())
    folds = int(pooled.fold.max()) + 1
    metrics = pooled.metrics()
    score = None if pooled.score is None else np.clip(pooled.score, -700, 700)
    if score is None or len(counts) != 2:
        if score is None:
            return Validation(folds, counts, metrics["gmean"])
        gmean, auc, precision = metrics["gmean"], metrics["auc"], metrics["average_precision"]
        return Validation(folds, counts, gmean, auc, precision, metrics["log_loss"])
    y, labels = pooled.y_true, np.unique(pooled.y_true)
    gmean, calibrated = metrics["gmean"], np.empty(len(y))
    predicted = pooled.y_pred.copy()
    for k in range(folds):
        held_out, others = pooled.fold == k, pooled.fold != k
        slope, shift = fit_sigmoid(score[others], y[others])
        calibrated[held_out] = expit(slope * score[held_out] + shift)
        limit = best_cutoff(score[others], y[others]) if tuned else cutoff
        if limit is not None:
            predicted[held_out] = labels[(score[held_out] >= limit).astype(np.intp)]
    if tuned or cutoff is not None:
        gmean = gmean_score(y, predicted)
    likelihood = np.where(y == labels[1], calibrated, 1 - calibrated)
    curve = reliability_curve(y, calibrated)
    return Validation(
        folds,
        counts,
        gmean,
        metrics["auc"],
        metrics["average_precision"],
        metrics["log_loss"],
        float(-np.log(np.maximum(likelihood, 1e-300)).mean()),
        curve.expected_calibration_error,
        tuple(zip(curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist(), strict=True)),
    )
