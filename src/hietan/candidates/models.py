"""A fitted classifier with the names that make it usable on other data, and how it is calibrated and stored."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from hietan import persistence
from hietan.datasets import Dataset
from hietan.evaluation import pooled_predictions
from hietan.evaluation.cross_validation import configure
from hietan.exceptions import ModelFileError

CALIBRATION_FOLDS = 5
_METADATA = ["dataset", "method", "seed", "feature_names", "target_names", "training_rows", "calibration"]


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A fitted classifier, with everything needed to use it on other data.

    Attributes
    ----------
    classifier : classifier
        Fitted to the rows of a `Dataset`. `save` takes what `hietan.save` takes.
    feature_names, target_names : tuple of str
        The names of its columns and of its classes.
    training_rows : tuple of str
        The names of the rows that it was fitted to.
    dataset, method : str
        The names of the dataset and of the method; empty if they are not known.
    seed : int
        The seed of the classifier's random choices and of the calibration folds.
    calibration : tuple of (slope, shift), or None
        Platt's sigmoid over the log-odds; None if it could not be fitted.
    """

    classifier: Any
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    training_rows: tuple[str, ...] = ()
    dataset: str = ""
    method: str = ""
    seed: int = 0
    calibration: tuple[float, float] | None = None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes of the classifier, in its order."""
        return tuple(self.target_names[label] for label in self.classifier.classes_)

    @property
    def description(self) -> str:
        """What the model is, in a few words."""
        return (
            f"{type(self.classifier).__name__}, trained on {len(self.training_rows)} rows of {self.dataset}"
        )

    @property
    def caution(self) -> str:
        """A caution about what a rank by this model does not mean."""
        classes = " from ".join(self.target_names) if len(self.target_names) == 2 else "its classes"
        return (
            f"This model separates {classes}, the classes it was trained on; most genes may belong to none of "
            "them, and a high rank does not say that a gene belongs to one."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for `load` and `hietan.load`; raises ModelFileError if it cannot be stored."""
        try:
            if (
                type(self.classifier).__name__ in persistence.STORABLE
            ):  # any other is refused by `persistence.save`
                _check_names(self)
            metadata = {name: getattr(self, name) for name in _METADATA}
            persistence.save(self.classifier, path, metadata=metadata)
        except (TypeError, ValueError) as error:
            raise ModelFileError(str(error)) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read a model that `save` or ``hietan fit`` wrote; raises ModelFileError if the file is anything else."""
        classifier, about = persistence.load(path), persistence.read_metadata(path)
        try:
            pair = about.get("calibration")
            model = cls(
                classifier,
                _texts(about["feature_names"]),
                _texts(about["target_names"]),
                _texts(about.get("training_rows") or ()),
                str(about.get("dataset", "")),
                str(about.get("method", "")),
                int(about.get("seed", 0)),
                None if pair is None else (float(pair[0]), float(pair[1])),
            )
            _check_names(model)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise ModelFileError(
                f"{os.fspath(path)} holds a model without the names of its features and classes, or with others "
                f"({error!r:.200}); write it with `hietan fit` or TrainedModel.save, which keep them"
            ) from None
        return model


def _check_names(model: TrainedModel) -> None:
    """Refuse names that are not those of the classifier, and a calibration that gives no probabilities."""
    classifier, classes = model.classifier, model.classifier.classes_
    features = tuple(getattr(classifier, "feature_names_in_", model.feature_names))
    if hasattr(classifier, "hierarchy_"):
        features = classifier.hierarchy_.features
    if model.feature_names != features:
        raise ValueError(f"feature_names are not those of the classifier, {', '.join(features[:3])} ...")
    if len(features) != classifier.n_features_in_:
        raise ValueError(
            f"there are {len(features)} feature_names, but the classifier has {classifier.n_features_in_} columns"
        )
    if classes.dtype.kind not in "iu" or not 0 <= classes.min() <= classes.max() < len(model.target_names):
        raise ValueError(f"target_names are not names of the classes {classes.tolist()!r:.80}")
    if not np.isfinite(model.calibration or 0).all():
        raise ValueError(f"the calibration {model.calibration} is not finite")


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"expected a list of strings, got {values!r:.80}")
    return tuple(values)


def train_model(estimator: Any, data: Dataset, *, method: str = "", seed: int = 0) -> TrainedModel:
    """Fit a classifier to a dataset, and calibrate its probabilities by cross-validation.

    Parameters
    ----------
    estimator : classifier of this package
        It is cloned. A `hierarchy` that is None is set to the dataset's, and a `random_state` that is None to the seed.
    data : Dataset
        The rows with their classes.
    method : str
        The name of the method, kept with the model. If it is empty, the name of the class is used.
    seed : int
        The seed of the classifier's random choices and of the calibration folds.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> trained = train_model(HieTAN(), make_hierarchical_classification(100, 30, random_state=0))
    >>> trained.description
    'HieTAN, trained on 100 rows of synthetic'
    """
    model = configure(estimator, data.hierarchy, seed)
    calibration = calibrate(model, data, seed=seed)
    return TrainedModel(
        model.fit(data.X, data.y),
        data.feature_names,
        data.target_names,
        data.instance_names,
        data.name,
        method or type(model).__name__,
        seed,
        calibration,
    )


def calibrate(estimator: Any, data: Dataset, *, seed: int = 0) -> tuple[float, float] | None:
    """Slope and shift of Platt's sigmoid, fitted to the log-odds of rows that were set aside.

    Parameters
    ----------
    estimator : classifier
        The classifier; it is cloned, and fitted once for each fold.
    data : Dataset
        The rows with their classes.
    seed : int
        The seed of the folds.

    Returns
    -------
    (slope, shift), or None
        ``expit(slope * log_odds + shift)`` is a calibrated probability. None if there are not two classes with at
        least two rows each, or the classifier has no probabilities.
    """
    labels, counts = np.unique(data.y, return_counts=True)
    folds = min(CALIBRATION_FOLDS, int(counts.min()))
    if len(labels) != 2 or folds < 2:
        return None
    pooled = pooled_predictions(estimator, data, n_splits=folds, seed=seed)
    if pooled.score is None:
        return None
    odds = np.clip(pooled.score, -700, 700)
    scale = float(np.abs(odds).max()) or 1.0
    sigmoid = LogisticRegression(C=1e6, max_iter=1000).fit(odds[:, None] / scale, data.y)
    return float(sigmoid.coef_[0, 0]) / scale, float(sigmoid.intercept_[0])
