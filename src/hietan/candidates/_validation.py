"""Validation of a model's quality and calibration on held-out rows, from a single split or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.model_selection import StratifiedShuffleSplit

from hietan._runtime.two_classes import rank_auc
from hietan.candidates._calibration import best_cutoff, cross_calibrated
from hietan.candidates._error_rate import HeldOutScores
from hietan.datasets import Dataset
from hietan.evaluation import PooledPredictions, reliability_curve
from hietan.evaluation._cross_validation import fold_of_rows, pool, predict_fold
from hietan.evaluation._metrics import gmean_score

FOLDS = 5
HELD_OUT = 50_000
"""The largest number of rows to hold out in a single split, unless a rare class needs more."""
LARGEST_ERROR = 0.01
"""The standard error of AUC below which a single split replaces cross-validation."""
Progress = Callable[[int, int], None]
"""A function that is called with the number of finished steps and the number of all steps."""

_SHARES = ("gmean", "auc", "average_precision", "calibration_error", "annotations_auc", "few_auc", "many_auc")
_LOSSES = ("log_loss", "calibrated_log_loss", "median_annotations")


@dataclass(frozen=True)
class Validation:
    """A model's quality on held-out rows.

    Attributes
    ----------
    folds : int
        The number of cross-validation folds, in which every row was predicted once; 1 if some of the rows were held out
        once and predicted by a model of all others.
    class_rows : tuple of int
        The number of predicted rows of each class, in the order of the classifier's classes.
    gmean : float or None
        The geometric mean of the recalls; None if a class is unlabelled.
    auc, average_precision, log_loss : float or None
        As in `hietan.evaluation`; None if the classifier has no probabilities. With unlabelled rows, only the AUC is
        measured.
    calibrated_log_loss, calibration_error : float or None
        The log loss of the calibrated probabilities, and their mean distance from the observed shares, weighted by
        rows. The sigmoid that calibrates a row was fitted to other folds or, if rows were held out once, to four fifths
        of them, without this row. None if there is no calibration.
    curve : tuple of (predicted, observed, rows)
        For each bin of calibrated probabilities of the positive class, the mean probability, the share of rows of this
        class, and the number of rows.
    annotations_auc : float or None
        The AUC of a row's number of annotations (features at 1) alone, for the positive class. Far from 0.5, the model
        may mostly recognise rows that have been studied more.
    annotations_correlation : float or None
        Spearman's correlation of the log-odds of the positive class with the number of annotations.
    few_auc, many_auc : float or None
        The AUC among rows with at most `median_annotations` annotations, and among the other rows.
    median_annotations : float or None
        The median number of annotations.
    positive : str
        The positive class that these numbers refer to; empty if there are more than two classes.
    """

    folds: int
    class_rows: tuple[int, ...]
    gmean: float | None
    auc: float | None = None
    average_precision: float | None = None
    log_loss: float | None = None
    calibrated_log_loss: float | None = None
    calibration_error: float | None = None
    curve: tuple[tuple[float, float, int], ...] = ()
    annotations_auc: float | None = None
    annotations_correlation: float | None = None
    few_auc: float | None = None
    many_auc: float | None = None
    median_annotations: float | None = None
    positive: str = ""

    def __post_init__(self) -> None:
        counts = (self.folds, *self.class_rows, *(rows for _, _, rows in self.curve))
        if not all(type(n) is int and 0 <= n <= 2**53 for n in counts):
            raise ValueError(
                f"the validation has {self.folds!r} folds and the row counts {counts[1:]!r:.80}; expected whole "
                "numbers of 0 or more"
            )
        if not 1 <= self.folds <= self.n_rows:
            raise ValueError(
                f"the validation has {self.folds} folds and {self.n_rows} rows; expected at least one fold, and "
                "at most as many as rows"
            )
        if not isinstance(self.positive, str):
            raise ValueError(f"the validation's positive class is {self.positive!r:.80}; expected a name")
        shares = [getattr(self, name) for name in _SHARES] + [p for bin_ in self.curve for p in bin_[:2]]
        if not all(share is None or 0 <= share <= 1 for share in shares):
            raise ValueError(
                f"the validation contains the shares {shares!r:.80}; expected only numbers from 0 to 1"
            )
        if not -1 <= (self.annotations_correlation or 0) <= 1:
            raise ValueError(
                f"annotations_correlation is {self.annotations_correlation}; expected a number from -1 to 1"
            )
        losses = [getattr(self, name) for name in _LOSSES]
        if not all(loss is None or 0 <= loss < np.inf for loss in losses):
            raise ValueError(
                f"the validation contains the losses {losses!r:.80}; expected only finite numbers of 0 or more"
            )
        if self.curve and sum(rows for _, _, rows in self.curve) != sum(self.class_rows):
            raise ValueError(
                f"the reliability curve has {sum(rows for _, _, rows in self.curve)} rows, but the classes have "
                f"{sum(self.class_rows)}; the two numbers must be equal"
            )

    @property
    def n_rows(self) -> int:
        """The number of predicted rows."""
        return sum(self.class_rows)

    @property
    def is_held_out_once(self) -> bool:
        """Whether the validation used a single split instead of cross-validation."""
        return self.folds == 1

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Validation:
        """Rebuild a validation from the output of `dataclasses.asdict`, and check the values.

        Raise TypeError or ValueError if it is invalid.
        """
        given = dict(content)
        given["class_rows"] = tuple(given["class_rows"])
        given["curve"] = tuple((float(p), float(share), n) for p, share, n in given.get("curve", ()))
        numbers = (*_SHARES, *_LOSSES, "annotations_correlation")
        given |= {name: float(given[name]) for name in numbers if given.get(name) is not None}
        return cls(**given)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for rows, made by models that were not trained on these rows.

    Attributes
    ----------
    predictions : PooledPredictions
        The predictions. Their `fold` divides the rows into parts, each of which is evaluated with values fitted to
        the others.
    folds : int
        The number of models that predicted them; 1 if the rows were held out once.
    annotations : array of int
        Each row's number of features that are 1.
    rows : bool array
        Which rows of the dataset these are.
    """

    predictions: PooledPredictions
    folds: int
    annotations: NDArray[np.int64]
    rows: NDArray[np.bool_]

    def scores(self, split: bool) -> HeldOutScores | None:
        """Return the held-out scores for false discovery rates, or None if the classifier has no probabilities."""
        said = self.predictions
        joint = said.log_proba if said.joint is None else said.joint
        fold = said.fold * (self.folds > 1)
        rows = np.flatnonzero(self.rows)
        return None if joint is None else HeldOutScores(joint, said.y_true, fold, rows, split)


def rows_to_hold_out(y: NDArray[Any]) -> tuple[int, bool]:
    """Return how many rows to hold out in a single split, and whether a single split can replace cross-validation.

    A fifth of the rows are held out, but at most `HELD_OUT`, or as many as a rare class needs. They are enough if the
    standard error of AUC is at most `LARGEST_ERROR` for any AUC.

    >>> rows_to_hold_out(np.arange(200_000) % 2), rows_to_hold_out(np.arange(2_000) % 2)
    ((40000, True), (400, False))
    """
    shares = np.sort(np.unique(y, return_counts=True)[1]) / len(y)
    # Hanley & McNeil (1982): with m and n rows of two classes, the variance is at most (1 / m + 1 / n) / 11.
    needed = float((1 / shares[:2]).sum()) / (11 * LARGEST_ERROR**2)
    fifth = len(y) // 5
    return min(fifth, max(HELD_OUT, int(np.ceil(needed)))), needed <= fifth


def predict_held_out(
    model: Any,
    data: Dataset,
    seed: int,
    progress: Progress | None = None,
    *,
    folds: int | None = None,
    split: bool = False,
) -> HeldOut | None:
    """Predict each row with a model that was fitted to other rows.

    Parameters
    ----------
    model : classifier
        The classifier; it is cloned.
    data : Dataset
        The rows with their classes.
    seed : int
        The seed for the folds.
    progress : callable, optional
        Called after each fit with the number of fits so far, and the number of all fits, including the final one.
    folds : int or None
        The number of folds; fewer if a class has fewer rows. 1 holds out some rows once. None means 1 if that is enough
        (see `rows_to_hold_out`), otherwise `FOLDS`.
    split : bool
        Whether to hold out a third of the rows, once.

    Returns
    -------
    HeldOut or None
        None if a class has fewer than two rows.
    """
    labels, counts = np.unique(data.y, return_counts=True)
    rarest = int(counts.min())
    if len(labels) < 2 or (rarest < 2 and not split):
        return None
    size, is_enough = rows_to_hold_out(data.y)
    folds = (1 if is_enough else FOLDS) if folds is None else int(folds)
    if folds == 1 or split:
        return _predict_once(model, data, len(data.y) // 3 if split else size, seed, progress)
    folds = min(folds, rarest)
    fold = fold_of_rows(data.y, folds, seed, names=data.target_names)
    parts = []
    for k in range(folds):
        parts.append(predict_fold(model, data.X, data.y, fold == k))
        if progress is not None:
            progress(k + 1, folds + 1)
    return HeldOut(pool(data.y, fold, parts), folds, _annotations(data.X), fold >= 0)


def _annotations(X: Any) -> NDArray[np.int64]:
    return np.asarray(X.sum(axis=1, dtype=np.int64)).ravel()


def _predict_once(model: Any, data: Dataset, size: int, seed: int, progress: Progress | None) -> HeldOut:
    labels, counts = np.unique(data.y, return_counts=True)
    if counts.min() < 10:  # two of them are held out: one for each half when the calibration is judged
        raise ValueError(
            "a single split needs 10 rows of each class, but class "
            f"{data.target_names[labels[counts.argmin()]]!r} has only {counts.min()}; cross-validate instead "
            "(omit --fdr-split or fdr='split', and set --folds to 2 or more)"
        )
    split = StratifiedShuffleSplit(1, test_size=size, random_state=seed)
    is_held_out = np.zeros(len(data.y), dtype=np.bool_)
    is_held_out[next(split.split(np.zeros((len(data.y), 1)), data.y))[1]] = True
    y = data.y[is_held_out]
    found = predict_fold(model, data.X, data.y, is_held_out)
    if progress is not None:
        progress(1, 2)
    parts = fold_of_rows(y, min(FOLDS, int(np.unique(y, return_counts=True)[1].min())), seed)
    pooled = PooledPredictions(y, found.y_pred, found.log_proba, parts, joint=found.joint)
    return HeldOut(pooled, 1, _annotations(data.X[np.flatnonzero(is_held_out)]), is_held_out)


def summarize_held_out(
    held_out: HeldOut, cutoff: float | None = None, *, tuned: bool = False, positive: Any = None
) -> Validation:
    """Return the quality of held-out predictions.

    Parameters
    ----------
    held_out : HeldOut
        The predictions, from `predict_held_out`.
    cutoff : float or None
        The lowest log-odds at which the second class is predicted; None for the classifier's own predictions.
    tuned : bool
        Whether the cutoff was chosen by `best_cutoff`; each part is then judged by the cutoff of the other parts.
    positive : label, optional
        The positive class [default: the second of two].
    """
    pooled, folds = replace(held_out.predictions, positive=positive), held_out.folds
    counts = tuple(np.unique(pooled.y_true, return_counts=True)[1].tolist())
    metrics = pooled.metrics()
    score = None if pooled.score is None else np.clip(pooled.score, -700, 700)
    if score is None or len(counts) != 2:
        names = ("gmean",) if score is None else ("gmean", "auc", "average_precision", "log_loss")
        measured: dict[str, Any] = {name: metrics[name] for name in names}
        return Validation(folds, counts, **measured)
    y, labels = pooled.y_true, np.unique(pooled.y_true)
    gmean, calibrated = metrics["gmean"], cross_calibrated(score, y, pooled.fold)
    predicted = pooled.y_pred.copy()
    for k in range(int(pooled.fold.max()) + 1):
        part, others = pooled.fold == k, pooled.fold != k
        limit = best_cutoff(score[others], y[others]) if tuned else cutoff
        if limit is not None:
            predicted[part] = labels[(score[part] >= limit).astype(np.intp)]
    if tuned or cutoff is not None:
        gmean = gmean_score(y, predicted)
    likelihood = np.where(y == labels[1], calibrated, 1 - calibrated)
    is_turned = positive == labels[0]
    curve = reliability_curve(y, 1 - calibrated if is_turned else calibrated, positive=positive)
    bias = study_bias((y == labels[1]) != is_turned, -score if is_turned else score, held_out.annotations)
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
        **bias,
    )


def study_bias(
    is_positive: NDArray[np.bool_], score: NDArray[np.float64], annotations: NDArray[np.int64]
) -> dict[str, Any]:
    """Return how well the annotation count alone separates the classes, and how much the model depends on the count.

    Parameters
    ----------
    is_positive : bool array of shape (n,)
        Whether each row belongs to the positive class.
    score : array of shape (n,)
        The log-odds of the positive class.
    annotations : int array of shape (n,)
        Each row's number of annotations.

    Returns
    -------
    dict
        The `Validation` fields that describe this bias, with None for undefined values.
    """
    median = float(np.median(annotations))
    few = annotations <= median
    constant = np.ptp(annotations) == 0 or np.ptp(score) == 0
    found = {
        "annotations_auc": rank_auc(is_positive, annotations.astype(np.float64)),
        "annotations_correlation": np.nan if constant else float(spearmanr(score, annotations).statistic),
        "few_auc": rank_auc(is_positive[few], score[few]),
        "many_auc": rank_auc(is_positive[~few], score[~few]),
        "median_annotations": median,
    }
    return {name: None if np.isnan(value) else value for name, value in found.items()}
