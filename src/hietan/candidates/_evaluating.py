"""Evaluate a trained model on labelled rows that it never saw, and compare the result with its validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from hietan.candidates._error_rate import row_odds
from hietan.candidates._models import TrainedModel
from hietan.candidates._names import KINDS, RowNames, match_rows
from hietan.candidates._ranking import align_columns, reused_ids
from hietan.datasets import Dataset
from hietan.evaluation import METRICS, compute_metrics, reliability_curve
from hietan.evaluation._cross_validation import normalised, predict_rows
from hietan.exceptions import DataError, DataWarning

DRAWS, LEAST_TO_COMPARE, RANKINGS = 500, 20, ("auc", "average_precision")


@dataclass(frozen=True)
class Measured:
    """A metric's value on new rows, its 95% bootstrap interval, and its value in the validation.

    `drifted` is true if the value on new rows is worse by more than sampling error, so that the bootstrap interval of
    the difference excludes 0. The interval's level is 99%, because several metrics are compared. A better value is no
    drift: the model was fitted to more rows than the models of its validation. With fewer than 20 rows in a class, no
    metric is called drifted. If the model has a `class_prior`, only AUC and average precision are compared.
    """

    value: float
    low: float
    high: float
    validated: float | None = None
    drifted: bool = False


@dataclass(frozen=True)
class Evaluation:
    """A model's quality on labelled rows that it never saw.

    Attributes
    ----------
    class_rows : dict of str to int
        The number of evaluated rows of each class.
    left_out : int
        The number of training rows, which were left out.
    metrics : dict of str to Measured
        All metrics of `hietan.evaluation.METRICS` that are defined, and the calibration error. Log loss and Brier score
        use calibrated probabilities if the model has them.
    curve : tuple of (predicted, observed, rows)
        For each bin of probabilities of the positive class, the mean probability, the share of positives and the number
        of rows; empty for more than two classes.
    positive_share, validated_share : float or None
        The share of the positive class here and in the validation.
    median_annotations, validated_annotations : float or None
        The median number of annotations of a row, here and in the validation.
    """

    class_rows: dict[str, int]
    left_out: int
    metrics: dict[str, Measured]
    curve: tuple[tuple[float, float, int], ...]
    positive_share: float | None
    validated_share: float | None
    median_annotations: float
    validated_annotations: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain values for JSON."""
        return asdict(self) | {"metrics": {name: asdict(m) for name, m in self.metrics.items()}}


def evaluate_model(
    trained: TrainedModel, data: Dataset, *, seed: int = 0, match: Sequence[str] = KINDS
) -> Evaluation:
    """Evaluate a model on labelled rows. Training rows are skipped.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        Rows with their classes. Columns and classes are matched by name.
    seed : int
        The seed for the bootstrap, which draws rows 500 times.
    match : sequence of {"id", "symbol", "synonym"}, or ("none",)
        The kinds of names by which training rows are recognised. With ("none",), all labelled rows are evaluated.

    Raises
    ------
    DataError
        If no labelled row is new, a class of the rows is not one of the model's, or a class has no row.
    ValueError
        If a class of the model is unlabelled, or the classifier has no probabilities.

    Examples
    --------
    >>> from hietan import HieLogistic
    >>> from hietan.candidates import train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(300, 30, random_state=0)
    >>> found = evaluate_model(train_model(HieLogistic(), data.subset(rows=slice(200))), data)
    >>> found.left_out, found.metrics["auc"].low < found.metrics["auc"].value
    (200, True)
    """
    if trained.unlabelled:
        raise ValueError(
            f"the model's class {trained.unlabelled} is unlabelled, so its predictions cannot be checked; "
            "evaluate a model with known classes"
        )
    names, classes = RowNames.of(data), trained.class_names
    matches = match_rows(names, trained.training_names, match)
    columns, what = align_columns(data, trained.feature_names), data.name or "the dataset"
    reused = reused_ids(trained, columns, matches, f"{data.row_noun}s of {what}")
    is_known = np.array([found is not None for found in matches], dtype=bool)
    rows = np.flatnonzero(~is_known & (data.y >= 0))
    if not len(rows):
        raise DataError(
            f"{what} has no labelled rows except the model's training rows; use a dataset with other labelled rows"
            f"{'. ' * bool(reused)}{reused}"
        )
    if reused:
        warnings.warn(reused, DataWarning, stacklevel=2)
    labels = [data.target_names[label] for label in data.y[rows]]
    strange, missing = sorted(set(labels) - set(classes)), sorted(set(classes) - set(labels))
    if strange or missing:
        problem = (
            f"has rows of class {strange[0]!r}" if strange else f"has no new rows of class {missing[0]!r}"
        )
        raise DataError(
            f"{data.name or 'the dataset'} {problem}; its new rows must have exactly the model's classes "
            f"({', '.join(classes)})"
        )
    X = columns[rows]
    said = predict_rows(trained.classifier, X)
    if said.log_proba is None:
        raise ValueError(
            f"{type(trained.classifier).__name__} has no probabilities to evaluate; use a classifier with "
            "predict_proba"
        )
    y = trained.classifier.classes_[[classes.index(label) for label in labels]]
    values, draws, proba = _measured(trained, y, said.log_proba, said.y_pred, seed)
    before: list[dict[str, float]] = []
    if trained.held_out is not None:
        logs = normalised(trained.held_out.joint)
        own = trained.classifier.classes_[logs.argmax(axis=1)]
        _, before, _ = _measured(trained, trained.held_out.labels, logs, own, seed + 1)
    sizes = dict(zip(classes, np.unique(y, return_counts=True)[1].tolist(), strict=True))
    enough = min(sizes.values()) >= LEAST_TO_COMPARE
    quality, metrics = trained.validation, dict[str, Measured]()
    # With a class prior, only the order of rows can be compared with the validation, which had other class frequencies.
    has_prior = getattr(trained.classifier, "class_prior", None) is not None
    for name, value in values.items():
        low, high = np.quantile([draw[name] for draw in draws], [0.025, 0.975]).tolist()
        stored = "calibrated_log_loss" if name == "log_loss" and trained.calibration else name
        validated = None if has_prior and name not in RANKINGS else getattr(quality, stored, None)
        # The calibration error of a bootstrap draw is larger than the error of its rows, so it is not compared.
        is_compared = enough and validated is not None and name != "calibration_error"
        drifted = False
        if is_compared:
            losses = [b[name] - a[name] for a, b in zip(draws, before, strict=False)]
            if METRICS[name].lower_is_better:
                losses = [-loss for loss in losses]
            drifted = bool(np.quantile(losses, 0.005) > 0)
        metrics[name] = Measured(value, low, high, validated, drifted)
    name = trained.positive_name
    curve: tuple[Any, ...] = ()
    if len(classes) == 2:
        bins = reliability_curve(y, proba, positive=trained.positive_label)
        curve = tuple(zip(bins.predicted.tolist(), bins.observed.tolist(), bins.count.tolist(), strict=True))
    annotations = np.asarray(X.sum(axis=1, dtype=np.int64)).ravel()
    return Evaluation(
        sizes,
        int((is_known & (data.y >= 0)).sum()),
        metrics,
        curve,
        sizes[name] / len(y) if name else None,
        None if quality is None or not name else quality.class_rows[classes.index(name)] / quality.n_rows,
        float(np.median(annotations)),
        None if quality is None else quality.median_annotations,
    )


def _measured(
    trained: TrainedModel, y: NDArray[Any], logs: NDArray[np.float64], own: NDArray[Any], seed: int
) -> tuple[dict[str, float], list[dict[str, float]], NDArray[np.float64]]:
    """Return metrics for the rows, metrics for their bootstrap draws, and probabilities, which are calibrated
    if the model is.
    """
    odds, n_classes, positive = row_odds(logs), logs.shape[1], trained.positive_label
    rank_by, predicted = odds if n_classes == 2 else logs, trained.predicted_labels(odds, own)
    if trained.calibration is not None:
        slope, shift = trained.calibration
        logs = np.column_stack([log_expit(-slope * odds - shift), log_expit(slope * odds + shift)])
    proba = np.exp(logs)

    def measure(at: Any) -> dict[str, float]:
        """Return all metrics for these rows."""
        found = compute_metrics(y[at], predicted[at], proba[at], score=rank_by[at], positive=positive)
        if n_classes == 2:
            bins = reliability_curve(y[at], proba[at], positive=positive)
            found["calibration_error"] = bins.expected_calibration_error
        return {name: value for name, value in found.items() if not np.isnan(value)}

    rng = np.random.default_rng(seed)
    drawn = (rng.integers(len(y), size=len(y)) for _ in range(DRAWS))
    values = measure(slice(None))
    draws = [measure(at) for at in drawn if len(np.unique(y[at])) == n_classes]
    return values, draws or [values], proba
