"""A fitted classifier with the names that make it usable on other data, and how it is trained and stored."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from hietan import persistence
from hietan.candidates._calibration import best_cutoff, fit_sigmoid
from hietan.candidates._names import RowNames
from hietan.candidates._validation import (
    Progress,
    Validation,
    predict_held_out,
    summarize_held_out,
)
from hietan.datasets import Dataset
from hietan.evaluation._cross_validation import configure
from hietan.exceptions import ModelFileError
from hietan.persistence._files import CLASSIFIERS

BEST_GMEAN = "gmean"
"""The threshold that asks for the one with the highest GMean."""


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
        The seed of the classifier's random choices and of the folds.
    calibration : tuple of (slope, shift), or None
        Platt's sigmoid over the log-odds; None if it could not be fitted.
    training_symbols : tuple of str
        The symbols of the training rows; empty if they have none.
    training_synonyms : tuple of tuple of str
        The other names of the training rows; empty if they have none.
    training_labels : tuple of int
        The classes of the training rows, as indices into `target_names`; empty if they are not known.
    row_noun : str
        What a row is called, in the singular.
    term_counts : tuple of tuple of int
        For each class of the classifier, how many of its training rows have each feature; empty if not known.
    cutoff : float or None
        The log-odds from which on rows are predicted as the second of two classes; None for the classifier's own
        predictions.
    validation : Validation or None
        The quality of the model on rows that were held out; None if it was not measured.
    """

    classifier: Any
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    training_rows: tuple[str, ...] = ()
    dataset: str = ""
    method: str = ""
    seed: int = 0
    calibration: tuple[float, float] | None = None
    training_symbols: tuple[str, ...] = ()
    training_synonyms: tuple[tuple[str, ...], ...] = ()
    training_labels: tuple[int, ...] = ()
    row_noun: str = "row"
    term_counts: tuple[tuple[int, ...], ...] = ()
    cutoff: float | None = None
    validation: Validation | None = None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes of the classifier, in its order."""
        return tuple(self.target_names[label] for label in self.classifier.classes_)

    @property
    def training_names(self) -> RowNames:
        """All names of the training rows."""
        return RowNames(self.training_rows, self.training_symbols, self.training_synonyms)

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """The number of training rows of each class of the classifier; empty if it is not known."""
        if not self.training_labels:
            return ()
        counts = np.bincount(self.training_labels, minlength=len(self.target_names))
        return tuple(counts[self.classifier.classes_].tolist())

    @property
    def description(self) -> str:
        """What the model is, in a few words."""
        kind, n = type(self.classifier).__name__, len(self.training_rows)
        return f"{kind}, trained on {n} {self.row_noun}s of {self.dataset}"

    @property
    def caution(self) -> str:
        """A caution about what a rank by this model does not mean."""
        two, noun = len(self.target_names) == 2, self.row_noun
        classes = " from ".join(self.target_names) if two else "its classes"
        return (
            f"This model separates {classes}, the classes it was trained on; most {noun}s may belong to "
            f"{'neither' if two else 'none of them'}, whatever their rank."
        )

    def predicted_labels(self, log_odds: NDArray[np.float64], own: NDArray[Any]) -> NDArray[Any]:
        """The predicted labels of rows: the classifier's own, unless the model has a cutoff."""
        if self.cutoff is None:
            return own
        labels: NDArray[Any] = self.classifier.classes_[(log_odds >= self.cutoff).astype(np.intp)]
        return labels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for `load` and `hietan.load`; raises ModelFileError if it cannot be stored."""
        try:
            # `persistence.save` refuses any other classifier.
            if type(self.classifier).__name__ in CLASSIFIERS:
                _check(self)
            metadata = {field.name: getattr(self, field.name) for field in fields(self)}
            del metadata["classifier"]
            metadata["validation"] = None if self.validation is None else asdict(self.validation)
            persistence.save(self.classifier, path, metadata=metadata)
        except (TypeError, ValueError) as error:
            raise ModelFileError(str(error)) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read a model that `save` or ``hietan fit`` wrote; raises ModelFileError if the file is anything else."""
        classifier = persistence.load(path)
        about: dict[str, Any] = {field.name: field.default for field in fields(cls)}
        about |= persistence.read_metadata(path)
        try:
            pair, cutoff, quality = about["calibration"], about["cutoff"], about["validation"]
            model = cls(
                classifier=classifier,
                feature_names=_texts(about["feature_names"]),
                target_names=_texts(about["target_names"]),
                training_rows=_texts(about["training_rows"]),
                dataset=str(about["dataset"]),
                method=str(about["method"]),
                seed=int(about["seed"]),
                calibration=None if pair is None else (float(pair[0]), float(pair[1])),
                training_symbols=_texts(about["training_symbols"]),
                training_synonyms=tuple(map(_texts, about["training_synonyms"])),
                training_labels=_counts(about["training_labels"]),
                row_noun=str(about["row_noun"]),
                term_counts=tuple(map(_counts, about["term_counts"])),
                cutoff=None if cutoff is None else float(cutoff),
                validation=None if quality is None else Validation.from_dict(quality),
            )
            _check(model)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise ModelFileError(
                f"{os.fspath(path)} holds a model without the names of its features and classes, or with others "
                f"({error!r:.200}); write it with `hietan fit` or TrainedModel.save, which keep them"
            ) from None
        return model


def _check(model: TrainedModel) -> None:
    """Refuse names that are not those of the classifier, and numbers that do not fit together."""
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
    if model.cutoff is not None and not (np.isfinite(model.cutoff) and len(classes) == 2):
        raise ValueError(f"the cutoff {model.cutoff} is not a log-odds of two classes")
    n_rows, n_classes = len(model.training_rows), len(model.class_names)
    for what in ("training_symbols", "training_synonyms", "training_labels"):
        if len(getattr(model, what)) not in (0, n_rows):
            raise ValueError(f"{what} has {len(getattr(model, what))} entries for {n_rows} training rows")
    labels = set(model.training_labels)
    if labels and labels != set(model.classifier.classes_.tolist()):
        raise ValueError(
            f"training_labels has the classes {sorted(labels)!r:.80}, not those of the classifier"
        )
    if model.validation is not None and len(model.validation.class_rows) != n_classes:
        raise ValueError(f"the validation is not one of {n_classes} classes")
    lengths = [len(row) for row in model.term_counts]
    if lengths and (lengths != [len(model.feature_names)] * n_classes or not labels):
        raise ValueError("term_counts does not have a number for each class and feature")
    if lengths and any(
        max(row, default=0) > n for row, n in zip(model.term_counts, model.class_sizes, strict=True)
    ):
        raise ValueError("term_counts has more rows than there are in a class")


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"expected a list of strings, got {values!r:.80}")
    return tuple(values)


def _counts(values: Any) -> tuple[int, ...]:
    if not all(type(value) is int and 0 <= value <= 2**53 for value in values):
        raise TypeError(f"expected a list of counts, got {values!r:.80}")
    return tuple(values)


def train_model(
    estimator: Any,
    data: Dataset,
    *,
    method: str = "",
    seed: int = 0,
    validate: bool = True,
    folds: int | None = None,
    threshold: float | str | None = None,
    row_noun: str | None = None,
    progress: Progress | None = None,
) -> TrainedModel:
    """Fit a classifier to a dataset; measure and calibrate it on rows that are held out.

    Parameters
    ----------
    estimator : classifier of this package
        It is cloned. A `hierarchy` that is None is set to the dataset's, and a `random_state` that is None to the seed.
    data : Dataset
        The rows with their classes.
    method : str
        The name of the method, kept with the model. If it is empty, the name of the class is used.
    seed : int
        The seed of the classifier's random choices and of the folds.
    validate : bool
        Whether to hold rows out. The same rows give the quality of the model and the calibration of its
        probabilities; without them, the model has neither.
    folds : int or None
        How rows are held out: by a cross-validation in this many folds, or once, if it is 1: then a fifth of the rows,
        or 5,000 if that is fewer and no class is rare, are predicted by a model of the others. None means 1 if that is
        enough for a standard error of AUC below 0.01 (as with 18,200 rows of two classes of the same size), and else 5.
    threshold : float, "gmean" or None
        The probability from which on a row is predicted as the second of two classes, or "gmean" to choose the one
        with the highest GMean of held-out rows. None leaves it to the classifier, which takes the more probable class.
    row_noun : str, optional
        What a row is called; what the dataset says unless given.
    progress : callable, optional
        Called with the number of fits that are done and the number of all fits.

    Raises
    ------
    ValueError
        If the dataset has no labels; the threshold is not a probability, or is given for more than two classes; or
        the folds are not a number above 0, or cannot be made.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> trained = train_model(HieTAN(), make_hierarchical_classification(100, 30, random_state=0))
    >>> trained.description, trained.validation.class_rows
    ('HieTAN, trained on 100 rows of synthetic', (50, 50))
    """
    if not data.is_labelled:
        raise ValueError(
            f"{data.name or 'the dataset'} has no labels to learn from; build a dataset with labels to fit a model, "
            "and rank the rows of this one with it"
        )
    n_classes = len(np.unique(data.y))
    check_threshold(threshold, n_classes, validate)
    check_folds(folds, validate)
    model = configure(estimator, data.hierarchy, seed)
    held_out = predict_held_out(model, data, seed, progress, folds=folds) if validate else None
    score, y = None, data.y
    if held_out is not None and n_classes == 2:
        score, y = held_out.predictions.score, held_out.predictions.y_true
    cutoff, calibration, quality = None, None, None
    if isinstance(threshold, int | float):
        cutoff = float(np.clip(logit(threshold), -700, 700))
    elif threshold is not None:
        if score is None:
            raise ValueError("the threshold cannot be tuned: a class has fewer than two rows")
        cutoff = best_cutoff(score, y)
    if score is not None:
        calibration = fit_sigmoid(score, y)
    if held_out is not None:
        quality = summarize_held_out(held_out, cutoff, tuned=threshold == BEST_GMEAN)
    model.fit(data.X, data.y)
    by_class = (data.X[np.flatnonzero(data.y == label)] for label in model.classes_)
    term_counts = (rows.sum(axis=0, dtype=np.int64) for rows in by_class)
    return TrainedModel(
        classifier=model,
        feature_names=data.feature_names,
        target_names=data.target_names,
        training_rows=data.instance_names,
        dataset=data.name,
        method=method or type(model).__name__,
        seed=seed,
        calibration=calibration,
        training_symbols=data.symbols,
        training_synonyms=data.synonyms,
        training_labels=tuple(data.y.tolist()),
        row_noun=row_noun or data.row_noun,
        term_counts=tuple(tuple(np.asarray(ones).ravel().tolist()) for ones in term_counts),
        cutoff=cutoff,
        validation=quality,
    )


def check_threshold(threshold: float | str | None, n_classes: int, validate: bool) -> None:
    """Refuse a threshold that `train_model` cannot use; raises ValueError."""
    if threshold is None:
        return
    if threshold != BEST_GMEAN and (isinstance(threshold, str) or not 0 < threshold < 1):
        raise ValueError(
            f"threshold is {threshold!r}; expected a probability between 0 and 1, or {BEST_GMEAN!r} to choose it"
        )
    if threshold == BEST_GMEAN and not validate:
        raise ValueError(
            f"the threshold {BEST_GMEAN!r} is chosen by the validation of the model, which is switched off"
        )
    if n_classes != 2:
        raise ValueError(f"a threshold needs two classes, and there are {n_classes}")


def check_folds(folds: int | None, validate: bool) -> None:
    """Refuse a number of folds that `train_model` cannot use; raises ValueError."""
    if folds is None:
        return
    if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 1:
        raise ValueError(
            f"folds is {folds!r}; expected the number of folds, or 1 to hold one part of the rows out"
        )
    if not validate:
        raise ValueError(f"folds is {folds}, but the validation of the model is switched off")


def calibrate(
    estimator: Any, data: Dataset, *, seed: int = 0, folds: int | None = None
) -> tuple[float, float] | None:
    """Slope and shift of Platt's sigmoid, fitted to the log-odds of rows that were held out.

    Parameters
    ----------
    estimator : classifier
        The classifier; it is cloned, and fitted once for each fold.
    data : Dataset
        The rows with their classes.
    seed : int
        The seed of the folds.
    folds : int or None
        How rows are held out, as in `train_model`.

    Returns
    -------
    (slope, shift), or None
        ``expit(slope * log_odds + shift)`` is a calibrated probability. None if there are not two classes with at
        least two rows each, or the classifier has no probabilities.
    """
    if len(np.unique(data.y)) != 2:
        return None
    check_folds(folds, validate=True)
    held_out = predict_held_out(configure(estimator, data.hierarchy, seed), data, seed, folds=folds)
    if held_out is None or held_out.predictions.score is None:
        return None
    return fit_sigmoid(held_out.predictions.score, held_out.predictions.y_true)
