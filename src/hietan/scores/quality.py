"""The quality of a model, computed from its scores of held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from hietan._runtime.two_classes import rank_auc
from hietan.scores.calibration import cross_calibrated, cross_fitted_cutoffs
from hietan.scores.cross_validation import fold_of_rows
from hietan.scores.metrics import gmean_score, metrics_of, reliability_curve
from hietan.scores.scores import Floats, Scores

PARTS = 5
"""The largest number of parts into which rows that were held out together are divided to calibrate each part."""


def calibration_parts(held_out: Scores, seed: int) -> NDArray[np.int64]:
    """Return the part of each held-out row, for which a sigmoid or a cutoff is fitted to the other parts.

    Parts are the folds. Rows that were held out together are divided at random.
    """
    if held_out.fold.any():
        return np.asarray(held_out.fold)
    rarest = int(np.unique(held_out.truth, return_counts=True)[1].min())
    return fold_of_rows(held_out.truth, min(PARTS, rarest), seed)


def quality_of_model(
    held_out: Scores,
    annotations: NDArray[np.int64],
    *,
    seed: int,
    cutoff: float | None = None,
    is_tuned: bool = False,
    is_calibrated: bool = True,
    is_unlabelled: bool = False,
) -> dict[str, Any]:
    """Return a model's quality on held-out rows as plain values; None stands for values that do not apply.

    Parameters
    ----------
    held_out : Scores
        The rows, with their classes and folds.
    annotations : int array
        Each held-out row's number of features at 1.
    seed : int
        The seed that divides rows that were held out together; see `calibration_parts`.
    cutoff : float, optional
        The lowest log-odds at which the positive class is predicted [default: the classifier's own predictions].
    is_tuned : bool
        Whether the cutoff was chosen on these rows. Each part is then judged by the cutoff of the other parts.
    is_calibrated : bool
        Whether the model has calibrated probabilities.
    is_unlabelled : bool
        Whether the negative class is unlabelled. Metrics that would count unlabelled positives as wrong are left out.

    Returns
    -------
    dict
        - `folds`: the number of folds, or 1 if rows were held out once; `class_rows`: the rows of each class
        - `gmean`, `auc`, `average_precision`, `log_loss`: as in `hietan.scores`
        - `calibrated_log_loss`, `calibration_error`: the log loss of calibrated probabilities and their mean distance
          from the observed shares. The sigmoid that calibrates a row was fitted without the row.
        - `curve`: for each bin of calibrated probabilities, the mean probability, the share of positives, and the rows
        - `annotations_auc`: the AUC of the number of annotations alone; far from 0.5, the model may mostly recognise
          rows that have been studied more. `annotations_correlation`: Spearman's correlation of the log-odds with this
          number. `few_auc`, `many_auc`: the AUC among rows with at most, or more than, `median_annotations`.
    """
    class_rows = np.bincount(held_out.truth, minlength=len(held_out.classes)).tolist()
    quality: dict[str, Any] = {"folds": int(held_out.fold.max()) + 1, "class_rows": class_rows}
    quality |= dict.fromkeys(NUMBERS) | {"curve": []}
    metrics = metrics_of(held_out)
    quality["gmean"] = metrics["gmean"]
    if held_out.log_proba is None:
        return quality
    for name in ("auc", "average_precision", "log_loss"):
        quality[name] = metrics[name]
    if len(held_out.classes) != 2:
        return quality
    is_positive = held_out.is_positive
    log_odds = np.clip(held_out.log_odds, -700, 700)
    parts = calibration_parts(held_out, seed)
    if is_tuned:
        quality["gmean"] = gmean_score(
            is_positive, log_odds >= cross_fitted_cutoffs(log_odds, is_positive, parts)
        )
    elif cutoff is not None:
        quality["gmean"] = gmean_score(is_positive, log_odds >= cutoff)
    if is_calibrated and not is_unlabelled:
        calibrated = cross_calibrated(log_odds, is_positive, parts)
        likelihood = np.where(is_positive, calibrated, 1 - calibrated)
        curve = reliability_curve(held_out.truth, calibrated)
        columns = (curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist())
        quality["calibrated_log_loss"] = float(-np.log(np.maximum(likelihood, 1e-300)).mean())
        quality["calibration_error"] = curve.expected_calibration_error
        quality["curve"] = [list(each) for each in zip(*columns, strict=True)]
    if is_unlabelled:
        for name in ("gmean", "average_precision", "log_loss"):
            quality[name] = None
    return quality | study_bias(is_positive, log_odds, annotations)


NUMBERS = (
    "gmean",
    "auc",
    "average_precision",
    "log_loss",
    "calibrated_log_loss",
    "calibration_error",
    "annotations_auc",
    "annotations_correlation",
    "few_auc",
    "many_auc",
    "median_annotations",
)
"""The names of the numbers of `quality_of_model`."""


def study_bias(
    is_positive: NDArray[np.bool_], log_odds: Floats, annotations: NDArray[np.int64]
) -> dict[str, Any]:
    """Return how well the annotation count alone separates the classes, and how much the model depends on the count.

    Values that are not defined are None; see `quality_of_model`.
    """
    median = float(np.median(annotations))
    few = annotations <= median
    is_constant = np.ptp(annotations) == 0 or np.ptp(log_odds) == 0
    quality = {
        "annotations_auc": rank_auc(is_positive, annotations.astype(np.float64)),
        "annotations_correlation": np.nan
        if is_constant
        else float(spearmanr(log_odds, annotations).statistic),
        "few_auc": rank_auc(is_positive[few], log_odds[few]),
        "many_auc": rank_auc(is_positive[~few], log_odds[~few]),
        "median_annotations": median,
    }
    return {name: None if np.isnan(value) else value for name, value in quality.items()}
