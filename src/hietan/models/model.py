"""A fitted classifier with the names and held-out scores needed to use it on other data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import persistence
from hietan._runtime.number_checks import check_integer
from hietan.datasets._building.options import check_provenance
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.models.names import KINDS, HashedNames, RowNames, match_rows
from hietan.models.serving import RowPrediction, closed_columns, predict_terms
from hietan.persistence._files import CLASSIFIERS
from hietan.scores.calibration import Sigmoid, best_cutoff, calibrate
from hietan.scores.cross_validation import score_rows
from hietan.scores.lifts import lifts, share_bound
from hietan.scores.quality import quality_of_model
from hietan.scores.rates import hash_features, p_value_ranks
from hietan.scores.scores import Floats, Scores, positive_last

BEST_GMEAN = "gmean"
"""The value of `threshold` that requests the threshold with the highest GMean."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What a model keeps of its training rows, including any that were held out.

    Attributes
    ----------
    names : RowNames or HashedNames
        The rows' names, or their hashes.
    labels : int array
        Each row's class, as an index into the classifier's classes.
    features : uint64 array
        A hash of each row's features. Rows with equal features are ties in false discovery rates, and a row with a
        known id but other features may be another row.
    annotations : int array
        Each row's number of features at 1.
    """

    names: RowNames | HashedNames
    labels: NDArray[np.intp]
    features: NDArray[np.uint64]
    annotations: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier with everything needed to use it on other data.

    Calibration, cutoff, quality, p-values and lifts are computed from `held_out`; the model does not store them.

    Attributes
    ----------
    classifier : classifier
        Fitted to the rows of a `Dataset`. `save` accepts the classifiers that `hietan.save` accepts.
    feature_names : tuple of str
        The names of its columns.
    class_names : tuple of str
        The names of its classes, in the order of ``classifier.classes_``.
    positive : str
        The positive class, which rankings, explanations and the quality refer to. If it is empty, there are more than
        two classes, and each row is ranked by the log-odds of its most probable class.
    training : TrainingRows
        The training rows.
    held_out : Scores or None
        The scores of held-out rows, with their positions among the training rows; None if none were held out.
    is_split : bool
        Whether the classifier was fitted without the held-out rows.
    threshold : float, "gmean" or None
        The lowest probability at which the positive of two classes is predicted, or "gmean" for the highest GMean on
        held-out rows; None for the classifier's own predictions.
    unlabelled : str
        The class whose rows are unlabelled: a mixture of positives and others. If it is empty, all classes are known.
    dataset, method : str
        The names of the dataset and the method.
    seed : int
        The seed for the classifier's random choices and the folds.
    row_noun : str
        The word for a row, in the singular.
    term_names : tuple of str
        The readable names of the features; empty if they are the same.
    provenance : dict
        How the training data were built: their files, versions and options. Empty if unknown.
    """

    classifier: Any
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    positive: str
    training: TrainingRows
    held_out: Scores | None = None
    is_split: bool = False
    threshold: float | str | None = None
    unlabelled: str = ""
    dataset: str = ""
    method: str = ""
    seed: int = 0
    row_noun: str = "row"
    term_names: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, the positive one last."""
        return positive_last(self.class_names, self.positive) if self.positive else self.class_names

    @property
    def positive_label(self) -> Any:
        """The classifier's label of the positive class, or None if there is none."""
        return self.classifier.classes_[self.class_names.index(self.positive)] if self.positive else None

    @cached_property
    def class_sizes(self) -> dict[str, int]:
        """The number of training rows of each class."""
        counts = np.bincount(self.training.labels, minlength=len(self.class_names)).tolist()
        of_class = dict(zip(self.class_names, counts, strict=True))
        return {name: of_class[name] for name in self.classes}

    @property
    def training_class(self) -> NDArray[Any]:
        """The class name of each training row."""
        return np.array(self.class_names, dtype=object)[self.training.labels]

    @cached_property
    def known_features(self) -> frozenset[int]:
        """The hashes of the training rows' features."""
        return frozenset(self.training.features.tolist())

    def with_positive(self, positive: str) -> Model:
        """Return the same model with another positive class."""
        if positive == self.positive:
            return self
        classes = positive_last(self.class_names, positive)
        threshold = self.threshold
        if isinstance(threshold, float) and len(classes) == 2:
            threshold = 1 - threshold
        held_out = self.held_out
        if held_out is not None:
            held_out = held_out.with_positive(positive)
        return replace(self, positive=positive, held_out=held_out, threshold=threshold)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_closed"}

    def __repr__(self) -> str:
        kind = type(self.classifier).__name__
        return f"<Model: {kind}, trained on {len(self.training):,} {self.row_noun}s of {self.dataset}>"

    # ------------------------------------------------------------------ what follows from the held-out scores

    @cached_property
    def calibration(self) -> Sigmoid | None:
        """Platt's sigmoid over the log-odds.

        None if no rows were held out, there are more than two classes, or the model does not separate the held-out
        rows, so that probabilities would not rise with the log-odds.
        """
        if self.held_out is None:
            return None
        prior = getattr(self.classifier, "class_prior", None)
        if prior is None or len(self.class_names) != 2:
            return calibrate(self.held_out)
        return calibrate(self.held_out, float(prior[self.class_names.index(self.positive)]))

    @cached_property
    def cutoff(self) -> float | None:
        """The lowest log-odds at which the positive class is predicted; None for the classifier's own predictions."""
        if self.threshold is None:
            return None
        if isinstance(self.threshold, str):
            assert self.held_out is not None
            return best_cutoff(self.held_out.log_odds, self.held_out.is_positive)
        return (self.calibration or Sigmoid(1.0, 0.0)).log_odds_at(self.threshold)

    @cached_property
    def quality(self) -> dict[str, Any] | None:
        """The model's quality on held-out rows, from `quality_of_model`; None if none were held out."""
        held_out = self.held_out
        if held_out is None:
            return None
        return quality_of_model(
            held_out,
            self.training.annotations[held_out.rows],
            seed=self.seed,
            cutoff=self.cutoff,
            is_tuned=self.threshold == BEST_GMEAN,
            is_calibrated=self.calibration is not None,
            is_unlabelled=bool(self.unlabelled),
        )

    @property
    def border(self) -> float | None:
        """The lowest probability at which the positive of two classes is predicted; None for other models.

        It may be far from 0.5, because a classifier with class weights decides at other odds.
        """
        if self.unlabelled or len(self.class_names) != 2:
            return None
        return float(self.probabilities(np.array(self.cutoff or 0.0)))

    @cached_property
    def unlabelled_bound(self) -> float | None:
        """A 95% upper confidence bound on the share of positives among unlabelled rows, or None for other models.

        The bound assumes that the known positives are a random sample of all positives.
        """
        if not self.unlabelled or self.held_out is None:
            return None
        return share_bound(self.held_out)

    def probabilities(self, log_odds: Floats) -> Floats:
        """Return the positive class's probability at these log-odds, calibrated if the model is."""
        return (self.calibration or Sigmoid(1.0, 0.0))(log_odds)

    def lifts(self, log_odds: Floats) -> Floats | None:
        """Return how many times more frequent rows with these log-odds are among positives than among unlabelled rows.

        Return None if the model has no unlabelled class or is not calibrated.
        """
        if not self.unlabelled or self.calibration is None:
            return None
        sizes = self.class_sizes
        return lifts(log_odds, self.calibration, sizes[self.positive], sizes[self.unlabelled])

    def p_value_ranks(self, log_odds: Floats, X: Any) -> NDArray[np.int64] | None:
        """Return rows' p-values, multiplied by the number of held-out rows plus 1.

        Return None if the model has no held-out log-odds, no positive class or an unlabelled class.
        """
        held_out = self.held_out
        if held_out is None or held_out.log_proba is None or not self.positive or self.unlabelled:
            return None
        known = self.training.features[held_out.rows]
        return p_value_ranks(log_odds, held_out, features=hash_features(X), held_out_features=known)

    # ------------------------------------------------------------------ new rows

    def score(self, X: Any) -> Scores:
        """Return the scores of rows with the model's columns. A model with a cutoff predicts by it.

        Raise ValueError if the classifier has no probabilities.
        """
        if not X.shape[0]:
            return Scores(self.classes, np.empty(0, dtype=np.intp), np.empty((0, len(self.classes))))
        scores = score_rows(self.classifier, X, self.class_names)
        if scores.log_proba is None:
            raise ValueError(
                f"{type(self.classifier).__name__} has no probabilities to score rows by; use a classifier with "
                "predict_proba"
            )
        if self.positive:
            scores = scores.with_positive(self.positive)
        if self.cutoff is None:
            return scores
        return replace(scores, predicted=(scores.log_odds >= self.cutoff).astype(np.intp))

    def log_odds(self, scores: Scores) -> Floats:
        """Return rows' log-odds of the positive class, or of their most probable class if there is none."""
        return scores.log_odds if self.positive else scores.most_probable_odds

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
        >>> from hietan.models import train_model
        >>> data = make_hierarchical_classification(100, 30, random_state=0)
        >>> model = train_model(HieLogistic(), data)
        >>> (found,) = model.predict([[data.feature_names[20], "something new"]])
        >>> found.predicted in data.target_names, found.unknown, model.unknown_terms["something new"]
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

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for `load` and `hietan.load`, or raise ModelFileError."""
        try:
            # `persistence.save` raises an error for any other classifier.
            if type(self.classifier).__name__ in CLASSIFIERS:
                _check(self)
            persistence.save(self.classifier, path, metadata=_content(self))
        except (TypeError, ValueError) as error:
            raise ModelFileError(str(error)) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model written by `save` or ``hietan fit``. Raise ModelFileError for any other file."""
        classifier = persistence.load(path)
        content = persistence.read_metadata(path)
        if "class_names" not in content:
            raise ModelFileError(
                f"{os.fspath(path)} contains only a classifier, without class names and held-out scores, as "
                "hietan.save writes it; read it with hietan.load, or write a model with `hietan fit` or Model.save"
            )
        try:
            model = _from_content(classifier, content)
            _check(model)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise ModelFileError(
                f"{os.fspath(path)} does not describe its model correctly ({error!r:.200}); write the model again with "
                "`hietan fit` or Model.save"
            ) from None
        return model


_TEXTS = ("positive", "unlabelled", "dataset", "method", "row_noun")
_LISTS = ("feature_names", "class_names", "term_names")


def _content(model: Model) -> dict[str, Any]:
    """Return everything but the classifier as plain values."""
    training, held_out = model.training, model.held_out
    content: dict[str, Any] = {name: getattr(model, name) for name in (*_TEXTS, *_LISTS)}
    content |= {name: getattr(model, name) for name in ("seed", "threshold", "is_split", "provenance")}
    kind = "hashed" if isinstance(training.names, HashedNames) else "plain"
    content["training"] = {
        "names": {"kind": kind, **asdict(training.names)},
        "labels": training.labels.tolist(),
        "features": training.features.tolist(),
        "annotations": training.annotations.tolist(),
    }
    content["held_out"] = None
    if held_out is not None:
        arrays = {
            name: getattr(held_out, name) for name in ("predicted", "log_proba", "truth", "fold", "rows")
        }
        content["held_out"] = {
            name: None if array is None else array.tolist() for name, array in arrays.items()
        }
    return content


def _from_content(classifier: Any, content: dict[str, Any]) -> Model:
    """Return the model with these plain values; `_check` checks that they fit together."""
    training = content["training"]
    names = dict(training["names"])
    kind = names.pop("kind")
    classes = _texts(content["class_names"])
    positive = str(content["positive"])
    texts: dict[str, Any] = {name: str(content[name]) for name in _TEXTS}
    texts |= {name: _texts(content[name]) for name in _LISTS}
    model = Model(
        classifier=classifier,
        training=TrainingRows(
            names=_hashed_names(names) if kind == "hashed" else _row_names(names),
            labels=np.array(_counts(training["labels"]), dtype=np.intp),
            features=np.array(_counts(training["features"], 2**64 - 1), dtype=np.uint64),
            annotations=np.array(_counts(training["annotations"]), dtype=np.int64),
        ),
        seed=int(content["seed"]),
        threshold=_threshold(content["threshold"]),
        is_split=_flag(content["is_split"]),
        provenance=dict(content["provenance"]),
        **texts,
    )
    stored = content["held_out"]
    if stored is None:
        return model
    held_out = Scores(
        positive_last(classes, positive) if positive else classes,
        log_proba=None if stored["log_proba"] is None else np.array(stored["log_proba"], dtype=np.float64),
        **{
            name: np.array(_counts(stored[name]), dtype=np.intp)
            for name in ("predicted", "truth", "fold", "rows")
        },
    )
    return replace(model, held_out=held_out)


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"expected a list of strings, got {values!r:.80}")
    return tuple(values)


def _counts(values: Any, most: int = 2**53) -> list[int]:
    if not all(type(value) is int and 0 <= value <= most for value in values):
        raise TypeError(f"expected a list of whole numbers from 0 to {most}, got {values!r:.80}")
    return list(values)


def _threshold(value: Any) -> float | str | None:
    if value is None or value == BEST_GMEAN:
        return None if value is None else BEST_GMEAN
    if not 0 < float(value) < 1:
        raise ValueError(f"the threshold is {value!r:.80}; expected a probability or {BEST_GMEAN!r}")
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {value!r:.80}")
    return value


def _row_names(content: Any) -> RowNames:
    synonyms = tuple(map(_texts, content["synonyms"]))
    return RowNames(_texts(content["ids"]), _texts(content["symbols"]), synonyms)


def _hashed_names(content: Any) -> HashedNames:
    names = HashedNames(content["salt"], *(_texts(content[f"{kind}s"]) for kind in KINDS))
    match_rows(RowNames(("a",)), names)  # an error for a salt that is not one
    return names


def _check(model: Model) -> None:
    """Raise ValueError if names, training rows or held-out scores do not match the classifier."""
    classifier, n_classes = model.classifier, len(model.class_names)
    check_provenance(model.provenance)
    features = tuple(getattr(classifier, "feature_names_in_", model.feature_names))
    if hasattr(classifier, "hierarchy_"):
        features = classifier.hierarchy_.features
    if model.feature_names != features or len(features) != classifier.n_features_in_:
        raise ValueError(
            f"feature_names differ from the classifier's {classifier.n_features_in_} feature names "
            f"({', '.join(features[:3])} ...); pass the same names in the same order"
        )
    if len(model.term_names) not in (0, len(features)):
        raise ValueError(
            f"there are {len(model.term_names)} term_names, but {len(features)} features; pass one name per "
            "feature, or none"
        )
    if n_classes != len(classifier.classes_) or len(set(model.class_names)) < n_classes:
        raise ValueError(
            f"class_names ({', '.join(model.class_names)}) does not name all of the classes "
            f"{classifier.classes_.tolist()!r:.80}; pass one name per class"
        )
    if model.positive not in model.class_names and (model.positive or n_classes == 2):
        raise ValueError(
            f"positive is {model.positive!r:.80}; expected one of the classes {', '.join(model.class_names)}"
        )
    _check_training(model.training, n_classes)
    if model.threshold is not None and (
        n_classes != 2
        or (model.threshold == BEST_GMEAN and (not model.held_out or model.held_out.log_proba is None))
    ):
        raise ValueError(
            f"the threshold is {model.threshold} in a model with {n_classes} classes; a threshold needs two, and "
            f"{BEST_GMEAN!r} also held-out rows"
        )
    if model.held_out is not None:
        _check_held_out(model.held_out, model)
    if model.unlabelled and not (
        n_classes == 2
        and model.unlabelled in model.class_names
        and model.unlabelled != model.positive
        and model.held_out is not None
        and model.held_out.log_proba is not None
        and len(model.held_out) == len(model.training)
    ):
        raise ValueError(
            f"the unlabelled class is {model.unlabelled!r:.80}; it must be the negative one of two classes, and "
            "all rows need held-out scores"
        )


def _check_training(training: TrainingRows, n_classes: int) -> None:
    n_rows = len(training)
    sizes = {"features": len(training.features), "annotations": len(training.annotations)}
    if isinstance(training.names, RowNames):
        sizes |= {"ids": len(training.names.ids)}
        for kind in ("symbols", "synonyms"):
            sizes[kind] = len(getattr(training.names, kind)) or n_rows
    for what, size in sizes.items():
        if size != n_rows:
            raise ValueError(
                f"the training rows have {size} {what}, but {n_rows} labels; pass one entry per row"
            )
    if np.unique(training.labels).tolist() != list(range(n_classes)):
        raise ValueError(
            f"the training rows have the classes {np.unique(training.labels).tolist()!r:.80}; expected every class "
            f"from 0 to {n_classes - 1}"
        )


def _check_held_out(held_out: Scores, model: Model) -> None:
    n, n_classes, n_training = len(held_out), len(model.class_names), len(model.training)
    assert held_out.truth is not None and held_out.fold is not None and held_out.rows is not None
    logs, rows, fold = held_out.log_proba, held_out.rows, held_out.fold
    known = held_out.truth.shape == fold.shape == rows.shape == (n,)
    is_sound = (
        0 < n <= n_training
        and known
        and (logs is None or (logs.shape == (n, n_classes) and bool(np.isfinite(logs).all())))
        and (
            logs is None
            or bool((logs < 1e-3).all() and (np.abs(np.logaddexp.reduce(logs, axis=1)) < 1e-3).all())
        )
        and max(held_out.predicted.max(), held_out.truth.max()) < n_classes
        and len(np.unique(held_out.truth)) == n_classes
        and np.bincount(held_out.truth).min() > 1
        and not (model.is_split and (fold.any() or n == n_training))
        and (fold.any() or 0 <= model.seed < 2**32)
        and fold.max() < n
        and len(np.unique(fold)) == fold.max() + 1
        and rows[-1] < n_training
        and bool((np.diff(rows) > 0).all())
        and bool((np.array(held_out.classes)[held_out.truth] == model.training_class[rows]).all())
    )
    if not is_sound:
        raise ValueError(
            f"the held-out scores do not match the {n_training} training rows; each of the {n} rows needs "
            f"{n_classes} finite numbers, its own class, a fold and a training row"
        )
