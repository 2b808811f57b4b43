"""A fitted classifier with the names needed to use it on other data, and functions to train and store it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from hietan import persistence
from hietan._runtime.number_checks import check_integer
from hietan.candidates._calibration import best_cutoff, fit_sigmoid
from hietan.candidates._error_rate import HeldOutScores, hash_features
from hietan.candidates._names import KINDS, HashedNames, RowNames, match_rows
from hietan.candidates._serving import RowPrediction, closed_columns, predict_terms
from hietan.candidates._unlabelled import LEAST_POSITIVES, share_bound
from hietan.candidates._validation import (
    FOLDS,
    Progress,
    Validation,
    predict_held_out,
    summarize_held_out,
)
from hietan.datasets import Dataset
from hietan.datasets._building.options import check_provenance
from hietan.evaluation._cross_validation import configure
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.persistence._files import CLASSIFIERS

_KEPT = ("origin", "files", "versions", "options", "aliases")  # of the provenance of the training data
BEST_GMEAN = "gmean"
"""The value of `threshold` that requests the threshold with the highest GMean."""


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A fitted classifier with everything needed to use it on other data.

    Attributes
    ----------
    classifier : classifier
        Fitted to the rows of a `Dataset`. `save` accepts the classifiers that `hietan.save` accepts.
    feature_names, target_names : tuple of str
        The names of its columns and classes.
    training_rows : tuple of str
        The names of the training rows; empty if they are not stored.
    dataset, method : str
        The names of the dataset and the method; empty if they are not known.
    seed : int
        The seed for the classifier's random choices and the folds.
    calibration : tuple of (slope, shift), or None
        Platt's sigmoid over the log-odds, with a slope above 0. None if it was not fitted, there are more than two
        classes, or the slope would not be above 0, because the model does not separate the held-out rows.
    training_symbols : tuple of str
        The symbols of the training rows; empty if they have none.
    training_synonyms : tuple of tuple of str
        The other names of the training rows; empty if they have none.
    training_labels : tuple of int
        The classes of the training rows, as indices into `target_names`; empty if they are not known.
    row_noun : str
        The word for a row, in the singular.
    cutoff : float or None
        The lowest log-odds at which the second of two classes is predicted; None for the classifier's own predictions.
    validation : Validation or None
        The model's quality on held-out rows; None if it was not measured.
    positive : str
        The positive class, which rankings, explanations and the validation refer to. If it is empty, it is the second
        of two classes, or the most probable of several.
    provenance : dict
        How the training data were built: their files, versions and options. Empty if unknown.
    held_out : HeldOutScores or None
        The validated rows' scores, from which p-values and false discovery rates are computed.
    unlabelled : str
        The class whose rows are unlabelled: a mixture of positives and others. If it is empty, all classes are known.
    training_features : tuple of int
        A hash of each training row's features. Rows with equal features are ties in false discovery rates, and a row
        with a known id but other features may be another row.
    hashed_names : HashedNames or None
        Hashes of the training rows' names, if the names themselves are not stored.
    term_names : tuple of str
        The readable names of the features; empty if they are the same.
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
    unlabelled: str = ""
    training_features: tuple[int, ...] = ()
    hashed_names: HashedNames | None = None
    term_names: tuple[str, ...] = ()

    @property
    def positive_name(self) -> str:
        """The positive class [default: the second of two classes].

        With several classes, "" means the most probable.
        """
        return self.positive or (self.class_names[1] if len(self.class_names) == 2 else "")

    @property
    def positive_sign(self) -> int:
        """-1 if the first of two classes is positive, otherwise 1."""
        return -1 if len(self.class_names) == 2 and self.positive_name == self.class_names[0] else 1

    @property
    def positive_label(self) -> Any:
        """The classifier's label for the positive class. With several classes, None means the most probable class."""
        name = self.positive_name
        return self.classifier.classes_[self.class_names.index(name)] if name else None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classifier's classes, in its order."""
        return tuple(self.target_names[label] for label in self.classifier.classes_)

    @property
    def training_names(self) -> RowNames | HashedNames:
        """All names of the training rows, or their hashes."""
        if self.hashed_names is not None:
            return self.hashed_names
        return RowNames(self.training_rows, self.training_symbols, self.training_synonyms)

    @cached_property
    def known_features(self) -> frozenset[int]:
        """The hashes of the training rows' features."""
        return frozenset(self.training_features)

    @property
    def n_training(self) -> int:
        """The number of training rows, including any that were held out."""
        return max(len(self.training_rows), len(self.training_labels))

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """The number of training rows in each class, or an empty tuple if the numbers are unknown."""
        if not self.training_labels:
            return ()
        counts = np.bincount(self.training_labels, minlength=len(self.target_names))
        return tuple(counts[self.classifier.classes_].tolist())

    @property
    def description(self) -> str:
        """A short description of the model."""
        kind, n, more = type(self.classifier).__name__, self.n_training, ""
        if self.held_out is not None and self.held_out.split:
            n, more = n - len(self.held_out.labels), f" ({len(self.held_out.labels):,} more were held out)"
        return f"{kind}, trained on {n:,} {self.row_noun}s of {self.dataset}{more}"

    @property
    def caution(self) -> str:
        """A caution about the limits of this model's ranks and probabilities."""
        if self.unlabelled:
            return (
                f"This model ranks unlabelled {self.row_noun}s ({self.unlabelled}) by how much they resemble "
                f"{self.positive_name}. Known {self.row_noun}s are often well studied, so check the study bias "
                f"first. {self.probability_note}"
            )
        names = self.target_names
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        listed = " from ".join(names) if len(names) == 2 else f"the classes {', '.join(names[:8])}{more}"
        rest = "neither" if len(names) == 2 else "none of them"
        of_class = "" if self.positive_name else " Log-odds and P refer to the most probable class."
        return (
            f"This model separates {listed}; {self.row_noun}s that are {rest} are also ranked.{of_class} "
            f"{self.probability_note}"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_closed"}

    def __repr__(self) -> str:
        return f"<TrainedModel: {self.description}>"

    @property
    def probability_note(self) -> str:
        """A sentence about the class frequencies that the probabilities assume, and about their calibration."""
        if self.unlabelled and self.calibration is not None:
            return (
                f"Lift is a ratio: how often {self.row_noun}s like this occur among {self.positive_name}, divided "
                f"by how often they occur among unlabelled {self.row_noun}s."
            )
        if self.unlabelled:
            return f"On held-out {self.row_noun}s, the model ranks no better than chance, so lifts are not shown."
        prior = getattr(self.classifier, "class_prior", None)
        if self.calibration is not None and self.validation is not None:
            name, quality = self.positive_name, self.validation
            k = self.class_names.index(name)
            share = quality.class_rows[k] / quality.n_rows if prior is None else float(prior[k])
            return (
                f"P({name}) is calibrated on held-out {self.row_noun}s, for data with {share:.1%} {name}. "
                f"The class {name} is predicted if P is {self.border:.2f} or more."
            )
        if self.validation is not None and self.validation.auc is not None and len(self.class_names) == 2:
            return f"On held-out {self.row_noun}s, the model ranks no better than chance. {self.raw_note}"
        return self.raw_note

    @property
    def border(self) -> float | None:
        """The lowest probability at which the positive of two classes is predicted; None for other models.

        It may be far from 0.5, because a classifier with class weights decides at other odds.
        """
        if self.unlabelled or len(self.class_names) != 2:
            return None
        return float(self.probabilities(np.array(self.positive_sign * (self.cutoff or 0.0))))

    def p_value_ranks(self, log_odds: NDArray[np.float64], X: Any) -> NDArray[np.int64] | None:
        """Return rows' p-values, multiplied by the number of calibration rows plus 1.

        Return None if the model has no held-out scores, no positive class or an unlabelled class.
        """
        if self.held_out is None or not self.positive_name or self.unlabelled:
            return None
        return self.held_out.ranks(
            log_odds,
            self.classifier.classes_,
            self.positive_label,
            features=hash_features(X),
            training_features=np.array(self.training_features, dtype=np.uint64),
        )

    @property
    def validation_note(self) -> str:
        """A note on the validation's class frequencies, or "" if the probabilities assume the same frequencies."""
        if self.calibration is None or getattr(self.classifier, "class_prior", None) is None:
            return ""
        return (
            "The calibrated log loss, the calibration error and the curve use the class frequencies of the "
            f"held-out {self.row_noun}s, not the frequencies in class_prior."
        )

    @property
    def raw_note(self) -> str:
        """A sentence about the class frequencies that the raw probabilities assume."""
        weight = getattr(self.classifier, "class_weight", None)
        frequencies = "the class frequencies of the training data" if weight is None else "weighted classes"
        if getattr(self.classifier, "class_prior", None) is not None:
            frequencies = "the class frequencies in class_prior"
        elif isinstance(weight, str):
            frequencies = "equally frequent classes"
        return f"P is not calibrated. It is the classifier's raw probability, which assumes {frequencies}."

    def lifts(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return how many times more frequent rows with these log-odds are among positives than among unlabelled rows.

        Return None if the model has no unlabelled class or is not calibrated.
        """
        if not self.unlabelled or self.calibration is None:
            return None
        (slope, shift), (n_unlabelled, n_positive) = self.calibration, self.class_sizes[:: self.positive_sign]
        odds = np.exp(np.clip(slope * log_odds + self.positive_sign * shift, -700, 700))
        return np.asarray(odds * (n_unlabelled / n_positive), dtype=np.float64)

    @cached_property
    def unlabelled_bound(self) -> float | None:
        """A 95% upper confidence bound on the share of positives among unlabelled rows, or None for other models.

        The bound assumes that the known positives are a random sample of all positives.
        """
        if not self.unlabelled or self.held_out is None:
            return None
        odds = self.held_out.odds(self.classifier.classes_, self.positive_label)
        is_known = self.held_out.labels == self.positive_label
        return share_bound(odds[is_known], odds[~is_known])

    @property
    def bound_note(self) -> str:
        """A sentence about the largest plausible share of positives among unlabelled rows."""
        share, noun = self.unlabelled_bound, self.row_noun
        if share is None or share >= 1:
            return f"The data give no upper bound for the share of {self.positive_name} among the unlabelled {noun}s."
        return (
            f"With 95% confidence, at most {share:.1%} of the unlabelled {noun}s belong to "
            f"{self.positive_name!r}, if the known {noun}s are a random sample of this class. If well-studied "
            f"{noun}s were labelled first, the share can be higher."
        )

    @property
    def calibrated_on(self) -> str:
        """The plural noun for the rows on which false discovery rates are based."""
        is_part = self.validation is not None and self.validation.is_held_out_once
        return f"{'held-out' if is_part else 'training'} {self.row_noun}s"

    @property
    def error_rate_note(self) -> str:
        """A short explanation of what a false discovery rate means for this model."""
        noun, others = self.row_noun, [name for name in self.class_names if name != self.positive_name]
        proof = "No theorem covers cross-validated scores; fit the model with --fdr-split for a proven rate."
        if self.held_out is not None and self.held_out.split:
            proof = f"For such rows, the rate is proven, because the model was fitted without the {self.calibrated_on}."
        return (
            f"A false discovery rate is the expected share of wrong {noun}s in the whole list, not in its first "
            f"rows. It applies to {noun}s like the training {noun}s. Here, wrong means {' or '.join(others[:8])}. "
            f"{proof}"
        )

    def probabilities(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the positive class's probability at these log-odds. A calibrated model returns calibrated
        probabilities.
        """
        slope, shift = self.calibration or (1.0, 0.0)  # of the second class
        return np.asarray(expit(slope * log_odds + self.positive_sign * shift), dtype=np.float64)

    def predicted_labels(self, log_odds: NDArray[np.float64], own: NDArray[Any]) -> NDArray[Any]:
        """Return each row's predicted label. If the model has a cutoff, the cutoff decides."""
        if self.cutoff is None:
            return own
        labels: NDArray[Any] = self.classifier.classes_[(log_odds >= self.cutoff).astype(np.intp)]
        return labels

    @cached_property
    def unknown_terms(self) -> Counter[str]:
        """How often `predict` has been given each term that the model does not contain.

        After 10,000 different terms, further terms are counted together as "".
        """
        return Counter()

    def predict(
        self, rows: Iterable[Any], *, hierarchy: Hierarchy | None = None, reasons: int = 0
    ) -> list[RowPrediction]:
        """Predict rows given as lists of terms. Ancestors are added automatically.

        If `build_dataset` built the training data, you can use any id that their annotations contain. These are
        alternative ids, the last name of a path, and terms too rare to be features.

        Parameters
        ----------
        rows : iterable of lists of str
            The terms of each row.
        hierarchy : Hierarchy, optional
            A newer or larger hierarchy. A term that is only in this hierarchy is replaced by its ancestors in the
            model. Terms that were left out of the training data by `drop_terms` stay unknown. A Hierarchy has no
            namespaces: if the training data use only some of the ontology's, restrict it to the terms in these.
        reasons : int
            Number of contributions to return with each row, strongest first.

        Returns
        -------
        list of RowPrediction
            Each row's class, probability, log-odds and unknown terms. `unknown_terms` counts the unknown terms of all
            rows.

        Examples
        --------
        >>> from hietan import HieLogistic
        >>> from hietan.datasets import make_hierarchical_classification
        >>> data = make_hierarchical_classification(100, 30, random_state=0)
        >>> trained = train_model(HieLogistic(), data)
        >>> (found,) = trained.predict([[data.feature_names[20], "something new"]])
        >>> found.predicted in data.target_names, found.unknown, trained.unknown_terms["something new"]
        (True, ('something new',), 1)
        """
        if not isinstance(hierarchy, Hierarchy | None):
            raise TypeError(
                f"hierarchy is {hierarchy!r:.80}; expected a Hierarchy, such as read_ontology(path).hierarchy"
            )
        check_integer("reasons", reasons, 0, 2**31 - 1)
        last = self.__dict__.get("_closed")
        if last is None or last[0] is not hierarchy:
            last = self.__dict__["_closed"] = hierarchy, closed_columns(self, hierarchy)
        return predict_terms(self, rows, last[1], self.unknown_terms, reasons)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for `load` and `hietan.load`, or raise ModelFileError."""
        try:
            # `persistence.save` raises an error for any other classifier.
            if type(self.classifier).__name__ in CLASSIFIERS:
                _check(self)
            metadata = {each.name: getattr(self, each.name) for each in fields(self)}
            del metadata["classifier"]
            metadata["validation"] = None if self.validation is None else asdict(self.validation)
            metadata["held_out"] = None if self.held_out is None else self.held_out.to_dict()
            metadata["hashed_names"] = None if self.hashed_names is None else asdict(self.hashed_names)
            persistence.save(self.classifier, path, metadata=metadata)
        except (TypeError, ValueError) as error:
            raise ModelFileError(str(error)) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read a model written by `save` or ``hietan fit``. Raise ModelFileError for any other file."""
        classifier = persistence.load(path)
        about: dict[str, Any] = {each.name: each.default for each in fields(cls)} | {"provenance": {}}
        stored = persistence.read_metadata(path)
        about |= stored
        if "target_names" not in stored:
            raise ModelFileError(
                f"{os.fspath(path)} contains only a classifier, without class names and calibration, as "
                "hietan.save writes it; read it with hietan.load, or write a model with `hietan fit` or "
                "TrainedModel.save"
            )
        try:
            pair, cutoff, quality = about["calibration"], about["cutoff"], about["validation"]
            scores, hashed = about["held_out"], about["hashed_names"]
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
                unlabelled=check_positive(str(about["unlabelled"] or ""), about["target_names"]),
                training_features=_counts(about["training_features"], 2**64 - 1),
                hashed_names=None if hashed is None else _hashed_names(hashed),
                term_names=_texts(about["term_names"]),
            )
            _check(model)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise ModelFileError(
                f"{os.fspath(path)} does not contain valid feature and class names for its model "
                f"({error!r:.200}); write the model with `hietan fit` or TrainedModel.save, which store these "
                "names"
            ) from None
        return model


def _check(model: TrainedModel) -> None:
    """Raise ValueError if names do not match the classifier, or if numbers are inconsistent."""
    classifier, classes = model.classifier, model.classifier.classes_
    check_provenance(model.provenance)
    features = tuple(getattr(classifier, "feature_names_in_", model.feature_names))
    if hasattr(classifier, "hierarchy_"):
        features = classifier.hierarchy_.features
    if model.feature_names != features:
        raise ValueError(
            f"feature_names differ from the classifier's feature names ({', '.join(features[:3])} ...); pass "
            "the same names in the same order"
        )
    if len(features) != classifier.n_features_in_:
        raise ValueError(
            f"there are {len(features)} feature_names, but the classifier has {classifier.n_features_in_} "
            "features; pass one name per feature"
        )
    if classes.dtype.kind not in "iu" or not 0 <= classes.min() <= classes.max() < len(model.target_names):
        raise ValueError(
            f"target_names does not name all of the classes {classes.tolist()!r:.80}; pass one name per class"
        )
    if not (np.isfinite(model.calibration or 0).all() and (model.calibration or (1,))[0] > 0):
        raise ValueError(
            f"the calibration is {model.calibration}; expected a finite slope above 0 and a finite shift"
        )
    if model.cutoff is not None and not (np.isfinite(model.cutoff) and len(classes) == 2):
        raise ValueError(
            f"the cutoff is {model.cutoff} in a model with {len(classes)} classes; expected finite log-odds and "
            "exactly two classes"
        )
    n_rows, n_classes = model.n_training, len(model.class_names)
    if model.hashed_names is not None and model.training_rows:
        raise ValueError("the model has both names of training rows and their hashes; store only one of them")
    for what in ("training_symbols", "training_synonyms", "training_labels", "training_features"):
        if len(getattr(model, what)) not in (0, n_rows):
            raise ValueError(
                f"{what} has {len(getattr(model, what))} entries, but there are {n_rows} training rows; pass "
                "one entry per row"
            )
    labels = set(model.training_labels)
    if labels and labels != set(model.classifier.classes_.tolist()):
        raise ValueError(
            f"training_labels contains the classes {sorted(labels)!r:.80}, but the classifier was trained on "
            f"{classes.tolist()!r:.80}; pass its training labels"
        )
    if model.validation is not None and len(model.validation.class_rows) != n_classes:
        raise ValueError(
            f"the validation describes {len(model.validation.class_rows)} classes, but the model has "
            f"{n_classes}; validate this model"
        )
    if model.held_out is not None:
        quality = model.validation
        class_rows, folds = (quality.class_rows, quality.folds) if quality else ((), 0)
        model.held_out.check(classes, class_rows, folds, len(model.training_features))
    if model.validation is not None and model.validation.positive not in ("", *model.class_names):
        raise ValueError(
            f"the validation's positive class is {model.validation.positive!r:.80}; expected one of "
            f"{', '.join(model.class_names)}"
        )
    if len(model.term_names) not in (0, len(features)):
        raise ValueError(
            f"there are {len(model.term_names)} term_names, but {len(features)} features; pass one name per "
            "feature, or none"
        )
    if model.unlabelled and not (
        n_classes == 2
        and model.unlabelled != model.positive_name
        and model.held_out is not None
        and model.held_out.labels.tolist() == list(model.training_labels)
    ):
        raise ValueError(
            f"the unlabelled class is {model.unlabelled!r:.80}; it must be the negative one of two classes, and "
            "all rows need held-out scores"
        )


def check_positive(positive: str, classes: Sequence[str]) -> str:
    """Return the positive class. Raise ValueError for a name that is neither empty nor a known class."""
    if positive and positive not in classes:
        raise ValueError(f"positive is {positive!r:.80}; expected one of the classes {', '.join(classes)}")
    return positive


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"expected a list of strings, got {values!r:.80}")
    return tuple(values)


def _counts(values: Any, most: int = 2**53) -> tuple[int, ...]:
    if not all(type(value) is int and 0 <= value <= most for value in values):
        raise TypeError(f"expected a list of whole numbers from 0 to {most}, got {values!r:.80}")
    return tuple(values)


def _hashed_names(content: Any) -> HashedNames:
    names = HashedNames(content["salt"], *(_texts(content[f"{kind}s"]) for kind in KINDS))
    match_rows(RowNames(("a",)), names)  # an error for a salt that is not one
    return names


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
    unlabelled: str | None = None,
    row_names: bool = True,
    progress: Progress | None = None,
) -> TrainedModel:
    """Fit a classifier to a dataset, then validate and calibrate it on held-out rows.

    Parameters
    ----------
    estimator : classifier of this package
        It is cloned. A `hierarchy` that is None is set to the dataset's, and a `random_state` that is None to the seed.
    data : Dataset
        The rows with their classes.
    method : str
        The method's name, stored with the model [default: the class name].
    seed : int
        The seed for the classifier's random choices and the folds.
    validate : bool
        Whether to hold out rows, from which the model's quality and calibration are computed. Without held-out rows,
        the model has neither.
    folds : int or None
        The number of cross-validation folds in which rows are held out. With 1, rows are held out once: a model of
        the other rows predicts a fifth of the rows, at most 50,000 unless a class is rare. None means 1 if
        the standard error of AUC is then below 0.01 (as with 18,200 rows of two classes of the same size), otherwise
        5.
    threshold : float, "gmean" or None
        The lowest probability (calibrated, if rows are held out) for predicting the positive of two classes, or
        "gmean" to choose the threshold with the highest GMean on held-out rows. With None, the classifier predicts
        its most probable class.
    row_noun : str, optional
        The word for a row [default: the dataset's word].
    positive : str, optional
        The positive class: rows are ranked by its log-odds, and the validation refers to it [default:
        `Dataset.positive_class`].
    fdr : {"cv", "split"}
        The source of false discovery rates. "cv": the validation, as specified by `folds`; the model is fitted to all
        rows. "split": a third of the rows, held out once, for the validation, the calibration and the rates; the
        model is fitted to the others, so that the rates are proven. All rows count as training rows of the model.
    unlabelled : str, optional
        The class whose rows are unlabelled: a mixture of positives and others. The model learns to distinguish the
        positives from this class. `rank_rows` ranks its rows, each with a model that did not see the row. Rows are
        always held out by folds, and no metric counts an unlabelled row as wrong.
    row_names : bool
        Whether the model stores the names of the training rows. If not, it stores sorted hashes of them, which are not
        linked to labels or scores, so that training rows are still recognised.
    progress : callable, optional
        Called with the number of finished fits and the total number of fits.

    Raises
    ------
    ValueError
        If the dataset has no labels; the threshold is not a probability, or is given for more than two classes; the
        folds are not a number above 0, or cannot be made; or an option does not apply to unlabelled rows.

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
            f"{data.name or 'the dataset'} has no labels to learn from; fit a model to a labelled dataset, and "
            "use that model to rank these rows"
        )
    n_classes = len(np.unique(data.y))
    if n_classes < 2:
        raise ValueError(
            f"all {len(data.y)} {data.row_noun}s in {data.name or 'the dataset'} have the class "
            f"{data.target_names[data.y[0]]!r}; add {data.row_noun}s of another class, because a model needs "
            "two classes"
        )
    check_threshold(threshold, n_classes, validate)
    check_folds(folds, validate, fdr)
    present = [data.target_names[label] for label in np.unique(data.y)]
    if unlabelled is not None:
        positive = _known_class(data, present, unlabelled, positive)
        prior = getattr(estimator, "class_prior", None)
        check_unlabelled(folds, validate, fdr, threshold, prior, row_names)
        folds = folds or FOLDS
    wanted = check_positive(data.positive_class if positive is None else positive, present)
    positive_label = data.target_names.index(wanted) if wanted else None
    model = configure(estimator, data.hierarchy, seed)
    held_out = (
        predict_held_out(model, data, seed, progress, folds=folds, split=fdr == "split") if validate else None
    )
    if unlabelled is not None and (held_out is None or held_out.scores(split=False) is None):
        raise ValueError(
            f"each unlabelled {data.row_noun} is ranked by a model that did not see it, which needs held-out "
            f"probabilities; use a classifier with predict_proba and at least two {data.row_noun}s of each "
            "class"
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
                f"the threshold {threshold} cannot be used, because the model does not separate the classes "
                "(calibrated probabilities do not rise with the log-odds); omit the threshold"
            )
        is_turned = positive_label == np.unique(data.y)[0]
        limit = (logit(1 - threshold if is_turned else threshold) - shift) / slope
        cutoff = float(np.clip(limit, -700, 700))
        if is_turned:  # rows exactly at the threshold are also positive here
            cutoff = float(np.nextafter(cutoff, np.inf))
    elif threshold is not None:
        if score is None:
            raise ValueError(
                "the threshold cannot be tuned, because a class has fewer than two rows; add rows of that "
                "class, or set a number"
            )
        cutoff = best_cutoff(score, y)
    if held_out is not None:
        tuned = threshold == BEST_GMEAN
        quality = summarize_held_out(held_out, cutoff, tuned=tuned, positive=positive_label)
        quality = replace(quality, positive=wanted if n_classes == 2 else "")
        if calibration is None or unlabelled is not None:
            quality = replace(quality, calibrated_log_loss=None, calibration_error=None, curve=())
        if unlabelled is not None:  # each of these would count unlabelled positives as wrong
            quality = replace(quality, gmean=None, average_precision=None, log_loss=None)
    rows = slice(None) if held_out is None or fdr == "cv" else np.flatnonzero(~held_out.rows)
    model.fit(data.X[rows], data.y[rows])
    return TrainedModel(
        classifier=model,
        feature_names=data.feature_names,
        target_names=data.target_names,
        training_rows=data.instance_names if row_names else (),
        dataset=data.name,
        method=method or type(model).__name__,
        seed=seed,
        calibration=calibration,
        training_symbols=data.symbols if row_names else (),
        training_synonyms=data.synonyms if row_names else (),
        training_labels=tuple(data.y.tolist()),
        row_noun=row_noun or data.row_noun,
        cutoff=cutoff,
        validation=quality,
        positive=wanted,
        provenance={key: data.provenance[key] for key in _KEPT if key in data.provenance},
        held_out=None if held_out is None else held_out.scores(fdr == "split"),
        unlabelled=unlabelled or "",
        training_features=tuple(hash_features(data.X).tolist()),
        hashed_names=None if row_names else HashedNames.of(RowNames.of(data)),
        term_names=() if data.term_names == data.feature_names else data.term_names,
    )


def _known_class(data: Dataset, present: Sequence[str], unlabelled: str, positive: str | None) -> str:
    """Return the class that is not the unlabelled class.

    Raise ValueError if it does not exist or has too few rows.
    """
    others = data.provenance.get("options", {}).get("others")
    if others in present and unlabelled in present and unlabelled != others:
        raise ValueError(
            f"unlabelled is {unlabelled!r:.80}, but rows without a label have the class {others!r:.80}; use that "
            "class (--unlabelled)"
        )
    if len(present) != 2 or unlabelled not in present:
        raise ValueError(
            f"unlabelled is {unlabelled!r:.80}; expected one of exactly two classes, but the dataset's classes "
            f"are {', '.join(present)}"
        )
    known = present[present[0] == unlabelled]
    if positive not in (None, known):
        raise ValueError(f"positive is {positive!r:.80}, but the known class is {known!r:.80}; omit positive")
    n_known = int(np.sum(data.y == data.target_names.index(known)))
    if n_known < LEAST_POSITIVES:
        raise ValueError(
            f"there are only {n_known} {data.row_noun}s of class {known!r:.80}; learning from positive and "
            f"unlabelled {data.row_noun}s needs at least {LEAST_POSITIVES}"
        )
    return known


def check_unlabelled(
    folds: int | None,
    validate: bool,
    fdr: str,
    threshold: float | str | None,
    class_prior: Any,
    row_names: bool = True,
) -> None:
    """Raise ValueError for options that do not apply to unlabelled rows."""
    reasons = {
        "--folds 1": folds == 1
        and "each unlabelled row is ranked by a model that did not see it; use 2 or more",
        "--no-validate": not validate and "each unlabelled row is ranked by a model that did not see it",
        "--fdr-split": fdr == "split"
        and "a false discovery rate would count undiscovered positives as wrong",
        "--threshold": threshold is not None
        and "a class is not predicted, because unlabelled is not a class",
        "--class-prior": class_prior is not None
        and "give the share of positives with `hietan predict --prior`",
        "--no-row-names": not row_names
        and "a row's name finds the log-odds from the model that did not see it",
    }
    for option, reason in reasons.items():
        if reason:
            raise ValueError(f"{option} does not apply to unlabelled rows, so omit it ({reason})")


def check_threshold(threshold: float | str | None, n_classes: int, validate: bool) -> None:
    """Raise ValueError for a threshold that `train_model` does not accept."""
    if threshold is None:
        return
    if threshold != BEST_GMEAN and (isinstance(threshold, str) or not 0 < threshold < 1):
        raise ValueError(
            f"threshold is {threshold!r}; expected a probability between 0 and 1, or {BEST_GMEAN!r} to choose "
            "the threshold"
        )
    if threshold == BEST_GMEAN and not validate:
        raise ValueError(
            f"the threshold {BEST_GMEAN!r} is chosen during validation, which is switched off; switch it on, or "
            "set a number"
        )
    if n_classes != 2:
        raise ValueError(f"a threshold needs two classes, but there are {n_classes}; omit the threshold")


def check_folds(folds: int | None, validate: bool, fdr: str = "cv") -> None:
    """Raise ValueError for folds or hold-out options that `train_model` does not accept."""
    if fdr not in ("cv", "split"):
        raise ValueError(f"fdr is {fdr!r}; expected 'cv', or 'split' to hold out a third of the rows")
    if fdr == "split" and (folds is not None or not validate):
        raise ValueError(
            "fdr='split' (--fdr-split) validates the model on a third of the rows; omit folds and "
            "--no-validate"
        )
    if folds is None:
        return
    if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 1:
        raise ValueError(
            f"folds is {folds!r}; expected 2 or more folds, or 1 to hold out a single part of the rows"
        )
    if not validate:
        raise ValueError(
            f"folds is {folds}, but validation is switched off; omit folds, or switch on validation"
        )


def _calibration(estimator: Any, score: NDArray[np.float64], y: NDArray[Any]) -> tuple[float, float] | None:
    """Fit Platt's sigmoid to held-out rows, at their class frequencies or the classifier's `class_prior`.

    Return None if probabilities would not rise with the log-odds.
    """
    slope, shift = fit_sigmoid(score, y)
    if slope <= 0:
        return None
    prior = getattr(estimator, "class_prior", None)
    if prior is not None:
        shift += float(logit(prior[1]) - logit(np.mean(y == y.max())))
    return slope, shift
