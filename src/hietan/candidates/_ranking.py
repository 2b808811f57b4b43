"""The rows of a dataset, ranked by the log-odds that a model gives them; those it was trained on are listed apart."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan._io.tables import comment_line, csv_text
from hietan._runtime.optional import import_optional
from hietan.candidates._models import TrainedModel, check_positive
from hietan.candidates._names import KINDS, NameMatch, RowNames, match_rows
from hietan.datasets import Dataset
from hietan.datasets._building.options import build_differences
from hietan.evaluation._cross_validation import predict_rows, row_scores
from hietan.exceptions import DataError, DataWarning


@dataclass(frozen=True)
class Candidate:
    """A row of a dataset with its rank.

    `name` is its symbol. A row that the model was trained on has no rank; `training_name` is what it is called there,
    `shared_name` the name by which it was recognised, and `training_class` its class. `probability` is calibrated if
    the model is; `raw_probability` is the classifier's own, if requested.
    """

    rank: int | None
    instance: str
    name: str
    log_odds: float
    probability: float
    predicted: str
    in_training: bool
    raw_probability: float | None = None
    training_name: str = ""
    shared_name: str = ""
    training_class: str = ""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The rows of a dataset, ranked by a model.

    Attributes
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The dataset, without the rows that were left out.
    X : matrix
        The rows of the dataset with the model's columns, in the model's order.
    log_odds, labels : arrays of shape (n,)
        The log-odds of the positive class and the predicted labels of the rows, in the dataset's order.
    matches : tuple of NameMatch or None, length n
        The training row that shares a name with each row, if any.
    raw : bool
        Whether the table also has the classifier's own probabilities.
    unrecognised : str
        If no row has a name of a training row, a sentence with examples of both; else empty.
    """

    trained: TrainedModel
    data: Dataset
    X: Any
    log_odds: NDArray[np.float64]
    labels: NDArray[Any]
    matches: tuple[NameMatch | None, ...]
    raw: bool = False
    unrecognised: str = ""

    @property
    def positive(self) -> str:
        """The class whose log-odds and probabilities these are; "" for the most probable of several classes."""
        return self.trained.positive_name

    @property
    def sign(self) -> int:
        """-1 if the first of two classes is the positive one, otherwise 1."""
        return self.trained.positive_sign

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probabilities of the positive class, calibrated if the model is, in the dataset's order."""
        return self.trained.probabilities(self.log_odds)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows of the dataset as they are listed: first the candidates, then the rows that the model knows.

        Each part is in the order of the log-odds, the highest first; ties are in the dataset's order.
        """
        is_known = np.array([match is not None for match in self.matches], dtype=bool)
        return np.lexsort((-self.log_odds, is_known))

    @cached_property
    def n_new(self) -> int:
        """The number of candidates: of the rows that the model was not trained on."""
        return sum(match is None for match in self.matches)

    @cached_property
    def rows(self) -> tuple[Candidate, ...]:
        """The candidates, the highest log-odds first, and after them the rows that the model was trained on."""
        data, targets = self.data, self.trained.target_names
        columns = (
            data.instance_names,
            data.symbols or ("",) * len(data.instance_names),
            self.log_odds.tolist(),
            self.probabilities.tolist(),
            [targets[label] for label in self.labels],
            [match is not None for match in self.matches],
            expit(self.log_odds).tolist() if self.raw else [None] * len(self.log_odds),
            *zip(*map(self._in_training, self.matches), strict=True),
        )
        table = list(zip(*columns, strict=True))
        ranks = [*range(1, self.n_new + 1), *[None] * (len(table) - self.n_new)]
        return tuple(Candidate(rank, *table[i]) for rank, i in zip(ranks, self.order, strict=True))

    @property
    def new_rows(self) -> tuple[Candidate, ...]:
        """The candidates alone."""
        return self.rows[: self.n_new]

    def _in_training(self, match: NameMatch | None) -> tuple[str, str, str]:
        if match is None:
            return "", "", ""
        labels = self.trained.training_labels
        label = self.trained.target_names[labels[match.row]] if labels else ""
        return self.trained.training_rows[match.row], match.name, label

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; some are included only if there are rows that have them."""
        any_known = self.n_new < len(self.matches)
        optional = {
            "name": bool(self.data.symbols),
            "raw_probability": self.raw,
            "training_name": any_known,
            "shared_name": any_known,
            "training_class": any_known,
        }
        return tuple(field.name for field in fields(Candidate) if optional.get(field.name, True))

    def to_csv(self) -> str:
        """The ranked rows as CSV, below a comment line with the model's caution.

        Names that a spreadsheet would run are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        cells = attrgetter(*self.columns)
        rows = (cells(row) for row in self.rows)
        of_class = f" Rows are ranked by the log-odds of {self.positive}." if self.positive else ""
        return comment_line(self.trained.caution + of_class) + csv_text(self.columns, rows)

    def to_frame(self) -> Any:
        """The ranked rows as a pandas frame, with the columns of `to_csv`."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        values = {column: [getattr(row, column) for row in self.rows] for column in self.columns}
        if self.n_new < len(self.matches):  # ranks that are missing must not turn the others into floats
            values["rank"] = pandas.array(values["rank"], dtype="Int64")
        return pandas.DataFrame(values)


def rank_rows(
    trained: TrainedModel,
    data: Dataset,
    *,
    raw: bool = False,
    new_only: bool = False,
    exclude: Sequence[str] = (),
    match: Sequence[str] = KINDS,
    positive: str | None = None,
) -> Candidates:
    """Rank the rows of a dataset by the log-odds that a model gives them.

    Rows that the model was trained on are no candidates: they are recognised by any of their names, and listed after
    the others, without a rank.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The rows, labelled or not. Columns are matched by name, and all of the model's must be there.
    raw : bool
        Whether to add the classifier's own probabilities to those of the model, which are calibrated if it can be.
    new_only : bool
        Whether to leave out the rows that the model was trained on.
    exclude : sequence of str
        Names of rows to leave out: ids, symbols or synonyms.
    match : sequence of {"id", "symbol", "synonym"}
        The kinds of names that are compared.
    positive : str, optional
        The class by whose log-odds the rows are ranked; the model's positive class if not given.

    Warns
    -----
    DataWarning
        If no row has any of the names in `exclude`, or if the dataset was not built with the options of the training
        data.

    Raises
    ------
    DataError
        If the dataset lacks features of the model.
    ValueError
        If the classifier has no probabilities.
    """
    wanted = check_positive(trained.positive_name if positive is None else positive, trained.class_names)
    trained = replace(trained, positive=wanted)
    X = align_columns(data, trained.feature_names)
    names = RowNames.of(data)
    matches = match_rows(names, trained.training_names, match)
    noun, what = data.row_noun, data.name or "the dataset"
    unrecognised = ""
    if trained.training_rows and names.ids and not any(matches):
        unrecognised = (
            f"all {len(matches)} {noun}s of {what} are new: none has a name of one of the "
            f"{len(trained.training_rows)} training {trained.row_noun}s; compared were "
            f"{names.examples(match)} with {trained.training_names.examples(match)}"
        )
    if different := build_differences(data.provenance, trained.provenance):
        warnings.warn(
            f"{what} was built differently from the model's training data: {different}. Its features may mean "
            "something else; build it with the same options (like=, --like)",
            DataWarning,
            stacklevel=2,
        )
    is_kept = np.array([not (new_only and found) for found in matches], dtype=bool)
    if exclude:
        is_kept &= ~_excluded(names, exclude, match, noun, what)
    if not is_kept.all():
        data, X = data.subset(rows=is_kept), X[np.flatnonzero(is_kept)]
        matches = tuple(found for found, kept in zip(matches, is_kept, strict=True) if kept)
    odds, labels = np.empty(0), trained.classifier.classes_[:0]
    if X.shape[0]:
        predicted = predict_rows(trained.classifier, X)
        if predicted.log_proba is None:
            raise ValueError(f"{type(trained.classifier).__name__} has no probabilities to rank rows by")
        labels = trained.predicted_labels(row_odds(predicted.log_proba), predicted.y_pred)
        odds = row_odds(predicted.log_proba, trained.class_names.index(wanted) if wanted else None)
    return Candidates(trained, data, X, odds, labels, matches, raw, unrecognised)


def _excluded(
    names: RowNames, exclude: Sequence[str], match: Sequence[str], noun: str, what: str
) -> NDArray[np.bool_]:
    """Whether each row has one of the names to leave out."""
    listed = RowNames(tuple(exclude))
    found = match_rows(names, listed, match if "id" in match else ("id", *match))
    if not any(found):
        warnings.warn(
            f"none of the {len(exclude)} names to exclude is a name of a {noun} of {what}; compared were "
            f"{names.examples(match)} with names such as {', '.join(map(repr, exclude[:2]))}",
            DataWarning,
            stacklevel=3,
        )
    return np.array([each is not None for each in found], dtype=bool)


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


def row_odds(log_proba: NDArray[np.float64], position: int | None = None) -> NDArray[np.float64]:
    """Return the log-odds of one class against the rest: the class at this position.

    None means the second of two classes, or the most probable one of several.

    >>> row_odds(np.log([[0.25, 0.75]])).round(4).tolist(), row_odds(np.log([[0.2, 0.5, 0.3]])).round(4).tolist()
    ([1.0986], [0.0])
    >>> row_odds(np.log([[0.25, 0.75]]), 0).round(4).tolist()
    [-1.0986]
    """
    if log_proba.shape[1] == 2:
        return -row_scores(log_proba) if position == 0 else row_scores(log_proba)
    log_p = log_proba.max(axis=1) if position is None else log_proba[:, position]
    # At most -1e-16: a probability that is rounded to 1 has finite odds.
    return np.asarray(log_p - np.log(-np.expm1(np.minimum(log_p, -1e-16))), dtype=np.float64)
