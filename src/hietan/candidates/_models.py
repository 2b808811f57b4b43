"""A fitted classifier with the names that make it usable on other data, and how it is trained and stored."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from hietan import persistence
from hietan.candidates._calibration import best_cutoff, fit_sigmoid
from hietan.candidates._error_rate import HeldOutScores
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

_KEPT = ("origin", "files", "versions", "options")  # of the provenance of the training data
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
        Platt's sigmoid over the log-odds, with a slope above 0. None if it was not fitted, there are more than two
        classes, or the slope would not be above 0: the model does not separate the held-out rows.
    training_symbols : tuple of str
        The symbols of the training rows; empty if they have none.
    training_synonyms : tuple of tuple of str
        The other names of the training rows; empty if they have none.
    training_labels : tuple of int
        The classes of the training rows, as indices into `target_names`; empty if they are not known.
    row_noun : str
        What a row is called, in the singular.
    cutoff : float or None
        The log-odds from which on rows are predicted as the second of two classes; None for the classifier's own
        predictions.
    validation : Validation or None
        The quality of the model on rows that were held out; None if it was not measured.
    positive : str
        The positive class, which rankings, explanations and the validation refer to. If it is empty, that is the second
        of two classes, or the most probable one of several.
    provenance : dict
        How the training data were built: the files, versions and options of their provenance; empty if not known.
    held_out : HeldOutScores or None
        The scores of the validated rows, from which p-values and false discovery rates are computed.
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
    cutoff: float | None = None
    validation: Validation | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    positive: str = ""
    held_out: HeldOutScores | None = None

    @property
    def positive_name(self) -> str:
        """The positive class, or the second of two if none is stated; "" for the most probable of several."""
        return self.positive or (self.class_names[1] if len(self.class_names) == 2 else "")

    @property
    def positive_sign(self) -> int:
        """-1 if the first of two classes is the positive one, otherwise 1."""
        return -1 if len(self.class_names) == 2 and self.positive_name == self.class_names[0] else 1

    @property
    def positive_label(self) -> Any:
        """The label of the positive class in the classifier; None for the most probable of several classes."""
        name = self.positive_name
        return self.classifier.classes_[self.class_names.index(name)] if name else None

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
        kind, n, more = type(self.classifier).__name__, len(self.training_rows), ""
        if self.held_out is not None and self.held_out.split:
            n, more = n - len(self.held_out.labels), f", without {len(self.held_out.labels)} held out"
        return f"{kind}, trained on {n} {self.row_noun}s of {self.dataset}{more}"

    @property
    def caution(self) -> str:
        """A caution about what a rank by this model does not mean, and what its probabilities mean."""
        names = self.target_names
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        listed = " from ".join(names) if len(names) == 2 else f"the classes {', '.join(names[:8])}{more}"
        rest = "neither" if len(names) == 2 else "none of them"
        of_class = "" if self.positive_name else " Log-odds and P are those of the most probable class."
        return (
            f"This model separates {listed}; a {self.row_noun} that is {rest} gets a rank as well.{of_class} "
            f"{self.probability_note}"
        )

    def __repr__(self) -> str:
        return f"<TrainedModel: {self.description}>"

    @property
    def probability_note(self) -> str:
        """For which class frequencies the probabilities hold, and whether they are calibrated, in a sentence."""
        prior = getattr(self.classifier, "class_prior", None)
        if self.calibration is not None and self.validation is not None:
            name, quality = self.positive_name, self.validation
            k = self.class_names.index(name)
            share = quality.class_rows[k] / quality.n_rows if prior is None else float(prior[k])
            # The classifier weighs the classes as it was told to, so it may decide far from a probability of 0.5.
            border = float(self.probabilities(np.array(self.positive_sign * (self.cutoff or 0.0))))
            return (
                f"P({name}) is calibrated on held-out {self.row_noun}s: it holds where {share:.1%} are {name}. "
                f"The class {name} is predicted from P = {border:.2f} on."
            )
        if self.validation is not None and self.validation.auc is not None and len(self.class_names) == 2:
            return f"On held-out {self.row_noun}s, it ranks no better than chance. {self.raw_note}"
        return self.raw_note

    @property
    def validation_note(self) -> str:
        """For which class frequencies the validation of the probabilities holds, if they hold for others; else ""."""
        if self.calibration is None or getattr(self.classifier, "class_prior", None) is None:
            return ""
        return (
            "Calibrated log loss, calibration error and curve are measured at the class frequencies of the held-out "
            f"{self.row_noun}s, not at those in class_prior."
        )

    @property
    def raw_note(self) -> str:
        """For which class frequencies the classifier's own probabilities hold, in a sentence."""
        weight = getattr(self.classifier, "class_weight", None)
        frequencies = "classes as frequent as in the training data" if weight is None else "weighted classes"
        if getattr(self.classifier, "class_prior", None) is not None:
            frequencies = "the class frequencies in class_prior"
        elif isinstance(weight, str):
            frequencies = "equally frequent classes"
        return f"P is not calibrated: it is the classifier's own, for {frequencies}."

    @property
    def calibrated_on(self) -> str:
        """What the rows are called from which false discovery rates are computed, in the plural."""
        is_part = self.validation is not None and self.validation.is_held_out_once
        return f"{'held-out' if is_part else 'training'} {self.row_noun}s"

    @property
    def error_rate_note(self) -> str:
        """What a false discovery rate of a list by this model means, in a few sentences."""
        noun, others = self.row_noun, [name for name in self.class_names if name != self.positive_name]
        proof = "No theorem covers cross-validated scores; a model fitted with --fdr-split has one."
        if self.held_out is not None and self.held_out.split:
            proof = f"If so, it is a theorem: the model was fitted without the {self.calibrated_on}."
        return (
            f"A false discovery rate is the share of wrong {noun}s to expect in the whole list, not in its first rows. "
            f"It holds for {noun}s like the training {noun}s; wrong means {' or '.join(others[:8])}. {proof}"
        )

    def probabilities(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of rows with these log-odds of the positive class, calibrated if the model is."""
        slope, shift = self.calibration or (1.0, 0.0)  # of the second class
        return np.asarray(expit(slope * log_odds + self.positive_sign * shift), dtype=np.float64)

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
            metadata = {each.name: getattr(self, each.name) for each in fields(self)}
            del metadata["classifier"]
            metadata["validation"] = None if self.validation is None else asdict(self.validation)
            metadata["held_out"] = None if self.held_out is None else self.held_out.to_dict()
            persistence.save(self.classifier, path, metadata=metadata)
        except (TypeError, ValueError) as error:
            raise ModelFileError(str(error)) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read a model that `save` or ``hietan fit`` wrote; raises ModelFileError if the file is anything else."""
        classifier = persistence.load(path)
        about: dict[str, Any] = {each.name: each.default for each in fields(cls)} | {"provenance": {}}
        about |= persistence.read_metadata(path)
        try:
            pair, cutoff, quality = about["calibration"], about["cutoff"], about["validation"]
            scores = about["held_out"]
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
                cutoff=None if cutoff is None else float(cutoff),
                validation=None if quality is None else Validation.from_dict(quality),
                positive=check_positive(str(about["positive"] or ""), about["target_names"]),
                provenance=dict(about["provenance"]),
                held_out=None if scores is None else HeldOutScores.from_dict(scores),
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
    if not (np.isfinite(model.calibration or 0).all() and (model.calibration or (1,))[0] > 0):
        raise ValueError(f"the calibration {model.calibration} is not finite, with a slope above 0")
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
    if model.held_out is not None:
        quality = model.validation
        model.held_out.check(classes, quality.class_rows if quality else (), quality.folds if quality else 0)


def check_positive(positive: str, classes: Sequence[str]) -> str:
    """Return the positive class if it is empty or one of the classes; raises ValueError otherwise."""
    if positive and positive not in classes:
        raise ValueError(f"positive is {positive!r:.80}; expected one of the classes {', '.join(classes)}")
    return positive


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
    positive: str | None = None,
    fdr: str = "cv",
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
        The probability (calibrated, if rows are held out) from which on a row is predicted as the positive of two
        classes, or "gmean" to choose the one with the highest GMean of held-out rows. None leaves it to the
        classifier, which takes the class that its own probabilities favour.
    row_noun : str, optional
        What a row is called; what the dataset says unless given.
    positive : str, optional
        The positive class: rows are ranked by its log-odds, and the validation refers to it. If not given,
        `Dataset.positive_class`.
    fdr : {"cv", "split"}
        Where false discovery rates come from. "cv": from the validation, as `folds` states it; the model is fitted to
        all rows. "split": a third of the rows is held out once, for the validation, the calibration and the rates; the
        model is fitted to the others, so that the rates have a proof. The training rows of the model are all of them.
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
    if n_classes < 2:
        raise ValueError(
            f"all {len(data.y)} {data.row_noun}s of {data.name or 'the dataset'} have the class "
            f"{data.target_names[data.y[0]]!r}; add {data.row_noun}s of another class, since a model needs two"
        )
    check_threshold(threshold, n_classes, validate)
    check_folds(folds, validate, fdr)
    present = [data.target_names[label] for label in np.unique(data.y)]
    wanted = check_positive(data.positive_class if positive is None else positive, present)
    positive_label = data.target_names.index(wanted) if wanted else None
    model = configure(estimator, data.hierarchy, seed)
    held_out = (
        predict_held_out(model, data, seed, progress, folds=folds, split=fdr == "split") if validate else None
    )
    score, y = None, data.y
    if held_out is not None and n_classes == 2:
        score, y = held_out.predictions.score, held_out.predictions.y_true
    cutoff, calibration, quality = None, None, None
    if score is not None:
        calibration = _calibration(model, score, y)
    if isinstance(threshold, int | float):
        slope, shift = calibration or (1.0, 0.0)
        if score is not None and calibration is None:
            raise ValueError(
                f"the threshold {threshold} cannot be used: calibrated probabilities do not rise with the log-odds, "
                f"so the model does not separate the classes; leave the threshold out"
            )
        is_turned = positive_label == np.unique(data.y)[0]
        limit = (logit(1 - threshold if is_turned else threshold) - shift) / slope
        cutoff = float(np.clip(limit, -700, 700))
        if is_turned:  # rows exactly at the threshold are positive here, too
            cutoff = float(np.nextafter(cutoff, np.inf))
    elif threshold is not None:
        if score is None:
            raise ValueError("the threshold cannot be tuned: a class has fewer than two rows")
        cutoff = best_cutoff(score, y)
    if held_out is not None:
        tuned = threshold == BEST_GMEAN
        quality = summarize_held_out(held_out, cutoff, tuned=tuned, positive=positive_label)
        quality = replace(quality, positive=wanted if n_classes == 2 else "")
        if calibration is None:
            quality = replace(quality, calibrated_log_loss=None, calibration_error=None, curve=())
    rows = slice(None) if held_out is None or fdr == "cv" else np.flatnonzero(~held_out.rows)
    model.fit(data.X[rows], data.y[rows])
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
        cutoff=cutoff,
        validation=quality,
        positive=wanted,
        provenance={key: data.provenance[key] for key in _KEPT if key in data.provenance},
        held_out=None if held_out is None else held_out.scores(fdr == "split"),
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


def check_folds(folds: int | None, validate: bool, fdr: str = "cv") -> None:
    """Refuse a number of folds, or a way to hold rows out, that `train_model` cannot use; raises ValueError."""
    if fdr not in ("cv", "split"):
        raise ValueError(f"fdr is {fdr!r}; expected 'cv', or 'split' to hold out a third of the rows")
    if fdr == "split" and (folds is not None or not validate):
        raise ValueError(
            "a split validates the model on a third of the rows: leave out folds and --no-validate"
        )
    if folds is None:
        return
    if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 1:
        raise ValueError(
            f"folds is {folds!r}; expected the number of folds, or 1 to hold one part of the rows out"
        )
    if not validate:
        raise ValueError(f"folds is {folds}, but the validation of the model is switched off")


def _calibration(estimator: Any, score: NDArray[np.float64], y: NDArray[Any]) -> tuple[float, float] | None:
    """Platt's sigmoid of held-out rows: at their class frequencies, or at those of the classifier's `class_prior`.

    None if probabilities would fall, or stay the same, as the log-odds rise.
    """
    slope, shift = fit_sigmoid(score, y)
    if slope <= 0:
        return None
    prior = getattr(estimator, "class_prior", None)
    if prior is not None:
        shift += float(logit(prior[1]) - logit(np.mean(y == y.max())))
    return slope, shift
