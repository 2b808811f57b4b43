"""Models for other data: train one, keep it in a file, rank the rows of any dataset by it, and explain rows by name.

>>> from hietan import HieTANLite
>>> from hietan.candidates import rank_rows, train_model
>>> from hietan.datasets import make_hierarchical_classification
>>> data = make_hierarchical_classification(120, 30, random_state=0)
>>> known, new = data.subset(rows=slice(100)), data.subset(rows=slice(100, None))
>>> trained = train_model(HieTANLite(), known)
>>> ranked = rank_rows(trained, new, calibrated=True)
>>> ranked.rows[0].instance, ranked.rows[0].predicted, round(ranked.rows[0].log_odds, 2)
('row114', 'class1', 1.39)
>>> ranked.to_csv().splitlines()[1]
'rank,instance,log_odds,probability,predicted,in_training,calibrated_probability'

`hietan.report.write_candidates` makes a page of them, with reasons.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from hietan import persistence
from hietan._runtime.optional import import_optional
from hietan.datasets import Dataset
from hietan.evaluation import pooled_predictions
from hietan.evaluation.cross_validation import configure, predict_rows, row_scores
from hietan.exceptions import DataError, ModelFileError
from hietan.explain import Explanation

__all__ = [
    "Candidate",
    "Candidates",
    "RowExplanation",
    "TrainedModel",
    "align_columns",
    "calibrate",
    "explain_rows_by_name",
    "find_rows",
    "rank_rows",
    "row_odds",
    "train_model",
]

CALIBRATION_FOLDS = 5


# ------------------------------------------------------------------ models


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A fitted classifier, with everything needed to use it on other data.

    Attributes
    ----------
    classifier : classifier of this package
        Fitted to the rows of a `Dataset`.
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
        kind = type(self.classifier).__name__
        return f"{kind}, trained on {len(self.training_rows)} rows of {self.dataset}"

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
        metadata = {
            "dataset": self.dataset,
            "method": self.method,
            "seed": self.seed,
            "feature_names": list(self.feature_names),
            "target_names": list(self.target_names),
            "training_rows": list(self.training_rows),
            "calibration": None if self.calibration is None else list(self.calibration),
        }
        try:
            persistence.save(self.classifier, path, metadata=metadata)
        except TypeError as error:
            raise ModelFileError(str(error)) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read a model that `save` or ``hietan fit`` wrote; raises ModelFileError if the file is anything else."""
        classifier, about = persistence.load(path), persistence.read_metadata(path)
        try:
            calibration = about.get("calibration")
            model = cls(
                classifier,
                _texts(about["feature_names"]),
                _texts(about["target_names"]),
                _texts(about.get("training_rows") or ()),
                str(about.get("dataset", "")),
                str(about.get("method", "")),
                int(about.get("seed", 0)),
                None if calibration is None else (float(calibration[0]), float(calibration[1])),
            )
            complete = len(model.feature_names) == classifier.n_features_in_ and model.class_names
        except (KeyError, IndexError, TypeError, ValueError):
            complete = False
        if not complete:
            raise ModelFileError(
                f"{os.fspath(path)} holds a model without the names of its features and classes; "
                "write it with `hietan fit` or TrainedModel.save, which keep them"
            )
        return model


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


# ------------------------------------------------------------------ ranked rows


@dataclass(frozen=True)
class Candidate:
    """A row of a dataset with its rank; `name` is its symbol, and `calibrated_probability` may be missing."""

    rank: int
    instance: str
    name: str
    log_odds: float
    probability: float
    predicted: str
    in_training: bool
    calibrated_probability: float | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """The rows of a dataset, ranked by a model.

    Attributes
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The dataset.
    X : matrix
        The rows of the dataset with the model's columns, in the model's order.
    log_odds, labels : arrays of shape (n,)
        The log-odds and the predicted labels of the rows, in the dataset's order.
    calibrated : bool
        Whether the table has calibrated probabilities.
    """

    trained: TrainedModel
    data: Dataset
    X: Any
    log_odds: NDArray[np.float64]
    labels: NDArray[Any]
    calibrated: bool = False

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows of the dataset from the highest log-odds to the lowest; ties in the dataset's order."""
        return np.argsort(-self.log_odds, kind="stable")

    @cached_property
    def rows(self) -> tuple[Candidate, ...]:
        """The ranked rows, the highest log-odds first."""
        data, targets = self.data, self.trained.target_names
        training_rows = set(self.trained.training_rows)
        n = len(data.instance_names)
        columns = (
            data.instance_names,
            data.symbols or ("",) * n,
            self.log_odds.tolist(),
            expit(self.log_odds).tolist(),
            [targets[label] for label in self.labels],
            [name in training_rows for name in data.instance_names],
            self._calibrated_probabilities(),
        )
        table = list(zip(*columns, strict=True))
        return tuple(Candidate(rank, *table[i]) for rank, i in enumerate(self.order, start=1))

    def _calibrated_probabilities(self) -> Sequence[float | None]:
        if not self.calibrated or self.trained.calibration is None:
            return [None] * len(self.log_odds)
        slope, shift = self.trained.calibration
        probabilities: list[float] = expit(slope * self.log_odds + shift).tolist()
        return probabilities

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; `name` and `calibrated_probability` are included only if the rows have them."""
        optional = {"name": bool(self.data.symbols), "calibrated_probability": self.calibrated}
        return tuple(field.name for field in fields(Candidate) if optional.get(field.name, True))

    def to_csv(self) -> str:
        """The ranked rows as CSV, below a line with the model's caution."""
        text = io.StringIO()
        text.write(f"# {self.trained.caution}\n")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([getattr(row, column) for column in self.columns] for row in self.rows)
        return text.getvalue()

    def to_frame(self) -> Any:
        """The ranked rows as a pandas frame, with the columns of `to_csv`."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        values = {column: [getattr(row, column) for row in self.rows] for column in self.columns}
        return pandas.DataFrame(values)


def rank_rows(trained: TrainedModel, data: Dataset, *, calibrated: bool = False) -> Candidates:
    """Rank the rows of a dataset by the log-odds that a model gives them.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The rows, labelled or not. Columns are matched by name, and all of the model's must be there.
    calibrated : bool
        Whether to add calibrated probabilities.

    Raises
    ------
    DataError
        If the dataset lacks features of the model.
    ValueError
        If calibrated probabilities are requested and the model has no calibration.
    """
    if calibrated and trained.calibration is None:
        raise ValueError(
            "this model has no calibration: it has more than two classes, or too few rows of one; "
            "rank without calibrated probabilities"
        )
    X = align_columns(data, trained.feature_names)
    predicted = predict_rows(trained.classifier, X)
    if predicted.log_proba is None:
        raise ValueError(f"{type(trained.classifier).__name__} has no probabilities to rank rows by")
    return Candidates(trained, data, X, row_odds(predicted.log_proba), predicted.y_pred, calibrated)


def align_columns(data: Dataset, features: Sequence[str]) -> Any:
    """The columns of a dataset that a model uses, in the model's order; raises DataError if some are missing."""
    if data.feature_names == tuple(features):
        return data.X
    index = {name: j for j, name in enumerate(data.feature_names)}
    missing = [name for name in features if name not in index]
    if missing:
        raise DataError(
            f"{data.name or 'the dataset'} lacks {len(missing)} of the model's {len(features)} features: "
            f"{', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}; use data with the same features"
        )
    return data.X[:, [index[name] for name in features]]


def row_odds(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-odds of the second of two classes; with more classes, of the most probable one against the rest.

    >>> row_odds(np.log([[0.25, 0.75]])).round(4).tolist(), row_odds(np.log([[0.2, 0.5, 0.3]])).round(4).tolist()
    ([1.0986], [0.0])
    """
    if log_proba.shape[1] == 2:
        return row_scores(log_proba)
    best = log_proba.max(axis=1)
    # At most -1e-16: a probability that is rounded to 1 has finite odds.
    return np.asarray(best - np.log(-np.expm1(np.minimum(best, -1e-16))), dtype=np.float64)


# ------------------------------------------------------------------ explained rows


@dataclass(frozen=True)
class RowExplanation:
    """The explanation of a row requested by name; `in_training` says whether the model was trained on it."""

    instance: str
    explanation: Explanation
    in_training: bool

    def text(self, limit: int = 15) -> str:
        """The explanation as text, with at most `limit` features listed individually."""
        known = "\n\nThe model was trained on this row and knew its class." if self.in_training else ""
        return self.explanation.text(limit) + known


def explain_rows_by_name(
    trained: TrainedModel, data: Dataset, names: Sequence[str]
) -> tuple[RowExplanation, ...]:
    """Explain rows of a dataset, with the readable names of features, rows and classes.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The dataset that has the rows; its columns are matched with the model's by name.
    names : sequence of str
        The names of the rows, or their symbols.

    Raises
    ------
    DataError
        If the dataset has no such row, or lacks features of the model.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> (found,) = explain_rows_by_name(train_model(HieTAN(), data), data, ["row3"])
    >>> found.explanation.target in data.target_names, found.in_training
    (True, True)
    """
    rows = find_rows(data, names)
    X = align_columns(data, trained.feature_names)[rows]
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    training_rows, classes = set(trained.training_rows), trained.class_names
    explained = []
    for i, found in zip(rows, trained.classifier.explain(X, term_names=terms), strict=True):
        name, symbol = data.instance_names[i], data.symbols[i] if data.symbols else ""
        named = replace(
            found,
            row=f"{name} ({symbol})" if symbol else name,
            classes=classes,
            target=classes[found.classes.index(found.target)],
        )
        explained.append(RowExplanation(name, named, name in training_rows))
    return tuple(explained)


def find_rows(data: Dataset, names: Sequence[str]) -> list[int]:
    """The positions of rows, by name or by a symbol that no other row has; raises DataError if there is no such row."""
    times = Counter(data.symbols)
    index = {symbol: i for i, symbol in enumerate(data.symbols) if symbol and times[symbol] == 1}
    index |= {name: i for i, name in enumerate(data.instance_names)}
    unknown = [name for name in names if name not in index]
    if unknown:
        example = f"; its rows have names such as {data.instance_names[0]!r}" if data.instance_names else ""
        raise DataError(f"{data.name or 'the dataset'} has no row {unknown[0]!r}{example}")
    return [index[name] for name in names]
