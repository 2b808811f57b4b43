"""Evaluate a trained model on labelled rows that it never saw, and compare the result with its validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_expit

from hietan.datasets import Dataset
from hietan.exceptions import DataError, DataWarning
from hietan.models.model import Model
from hietan.models.names import KINDS, RowNames, match_rows
from hietan.models.ranking import align_columns, reused_ids
from hietan.scores import METRICS, metrics_of, reliability_curve
from hietan.scores.scores import Scores

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
        All metrics of `hietan.scores.METRICS` that are defined, and the calibration error. Log loss and Brier score
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


def evaluate_model(model: Model, data: Dataset, *, seed: int = 0, match: Sequence[str] = KINDS) -> Evaluation:
    """Evaluate a model on labelled rows. Training rows are skipped.

    Parameters
    ----------
    model : Model
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
    >>> from hietan.models import train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(300, 30, random_state=0)
    >>> found = evaluate_model(train_model(HieLogistic(), data.subset(rows=slice(200))), data)
    >>> found.left_out, found.metrics["auc"].low < found.metrics["auc"].value
    (200, True)
    """
    if model.unlabelled:
        raise ValueError(
            f"the model's class {model.unlabelled} is unlabelled, so its predictions cannot be checked; "
            "evaluate a model with known classes"
        )
    names, classes = RowNames.of(data), model.classes
    matches = match_rows(names, model.training.names, match)
    columns, what = align_columns(data, model.feature_names), data.name or "the dataset"
    reused = reused_ids(model, columns, matches, f"{data.row_noun}s of {what}")
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
    truth = np.array([classes.index(label) for label in labels])
    scores = _calibrated(model, replace(model.score(X), truth=truth))
    values, draws = _measured(scores, seed)
    before: list[dict[str, float]] = []
    quality = model.quality
    sizes = dict(zip(classes, np.bincount(truth).tolist(), strict=True))
    enough = min(sizes.values()) >= LEAST_TO_COMPARE
    if enough and model.held_out is not None and model.held_out.log_proba is not None:
        _, before = _measured(_calibrated(model, model.held_out), seed + 1)
    metrics = dict[str, Measured]()
    # With a class prior, only the order of rows can be compared with the validation, which had other class frequencies.
    has_prior = getattr(model.classifier, "class_prior", None) is not None
    for name, value in values.items():
        low, high = np.quantile([draw[name] for draw in draws], [0.025, 0.975]).tolist()
        stored = "calibrated_log_loss" if name == "log_loss" and model.calibration else name
        validated = None
        if quality is not None and (name in RANKINGS or not has_prior):
            validated = quality.get(stored)
        # The calibration error of a bootstrap draw is larger than the error of its rows, so it is not compared.
        is_compared = enough and validated is not None and name != "calibration_error"
        drifted = False
        if is_compared and before:
            losses = [b[name] - a[name] for a, b in zip(draws, before, strict=False)]
            if METRICS[name].lower_is_better:
                losses = [-loss for loss in losses]
            drifted = bool(np.quantile(losses, 0.005) > 0)
        metrics[name] = Measured(value, low, high, validated, drifted)
    name = model.positive
    curve: tuple[Any, ...] = ()
    if len(classes) == 2:
        bins = reliability_curve(truth, scores.proba)
        curve = tuple(zip(bins.predicted.tolist(), bins.observed.tolist(), bins.count.tolist(), strict=True))
    annotations = np.asarray(X.sum(axis=1, dtype=np.int64)).ravel()
    return Evaluation(
        sizes,
        int((is_known & (data.y >= 0)).sum()),
        metrics,
        curve,
        sizes[name] / len(scores) if name else None,
        None if model.held_out is None or not name else float(model.held_out.is_positive.mean()),
        float(np.median(annotations)),
        None if quality is None else quality["median_annotations"],
    )


def _calibrated(model: Model, scores: Scores) -> Scores:
    """Return the scores with calibrated probabilities if the model is calibrated, and predictions by its cutoff."""
    if model.cutoff is not None:
        scores = replace(scores, predicted=(scores.log_odds >= model.cutoff).astype(np.intp))
    if model.calibration is None:
        return scores
    slope, shift = model.calibration
    odds = slope * scores.log_odds + shift
    return replace(scores, log_proba=np.column_stack([log_expit(-odds), log_expit(odds)]))


def _measured(scores: Scores, seed: int) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Return the metrics of scored rows with known classes, and of their bootstrap draws."""
    n, n_classes = len(scores), len(scores.classes)

    def measure(rows: Scores) -> dict[str, float]:
        """Return all metrics for these rows."""
        found = metrics_of(rows)
        if n_classes == 2:
            found["calibration_error"] = reliability_curve(rows.truth, rows.proba).expected_calibration_error
        return {name: value for name, value in found.items() if not np.isnan(value)}

    rng = np.random.default_rng(seed)
    drawn = (rng.integers(n, size=n) for _ in range(DRAWS))
    values = measure(scores)
    draws = [measure(scores.select(at)) for at in drawn if len(np.unique(scores.truth[at])) == n_classes]
    return values, draws or [values]
