"""The rows of a dataset, ranked by the log-odds that a model gives them; those it was trained on are listed apart."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan._io.tables import comment_line, csv_text
from hietan._runtime.optional import import_optional
from hietan.candidates._models import TrainedModel
from hietan.candidates._names import KINDS, NameMatch, RowNames, match_rows
from hietan.datasets import Dataset
from hietan.evaluation._cross_validation import predict_rows, row_scores
from hietan.exceptions import DataError, DataWarning


@dataclass(frozen=True)
class Candidate:
    """A row of a dataset with its rank.

    `name` is its symbol. A row that the model was trained on has no rank; `training_name` is what it is called there,
    `shared_name` the name by which it was recognised, and `training_class` its class. `calibrated_probability` may be
    missing.
    """

    rank: int | None
    instance: str
    name: str
    log_odds: float
    probability: float
    predicted: str
    in_training: bool
    calibrated_probability: float | None = None
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
        The log-odds and the predicted labels of the rows, in the dataset's order.
    matches : tuple of NameMatch or None, length n
        The training row that shares a name with each row, if any.
    calibrated : bool
        Whether the table has calibrated probabilities.
    """

    trained: TrainedModel
    data: Dataset
    X: Any
    log_odds: NDArray[np.float64]
    labels: NDArray[Any]
    matches: tuple[NameMatch | None, ...]
    calibrated: bool = False

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
            expit(self.log_odds).tolist(),
            [targets[label] for label in self.labels],
            [match is not None for match in self.matches],
            self.calibrated_probabilities().tolist() if self.calibrated else [None] * len(self.log_odds),
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

    def calibrated_probabilities(self) -> NDArray[np.float64]:
        """The calibrated probabilities of the second class, in the dataset's order; ValueError if there are none."""
        if self.trained.calibration is None:
            raise ValueError(NO_CALIBRATION)
        slope, shift = self.trained.calibration
        return np.asarray(expit(slope * self.log_odds + shift), dtype=np.float64)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; some are included only if there are rows that have them."""
        any_known = self.n_new < len(self.matches)
        optional = {
            "name": bool(self.data.symbols),
            "calibrated_probability": self.calibrated,
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
        return comment_line(self.trained.caution) + csv_text(self.columns, rows)

    def to_frame(self) -> Any:
        """The ranked rows as a pandas frame, with the columns of `to_csv`."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        values = {column: [getattr(row, column) for row in self.rows] for column in self.columns}
        if self.n_new < len(self.matches):  # ranks that are missing must not turn the others into floats
            values["rank"] = pandas.array(values["rank"], dtype="Int64")
        return pandas.DataFrame(values)


NO_CALIBRATION = (
    "this model has no calibration: it has more than two classes, or too few rows of one, or was fitted without "
    "validation; rank without calibrated probabilities"
)


def rank_rows(
    trained: TrainedModel,
    data: Dataset,
    *,
    calibrated: bool = False,
    new_only: bool = False,
    exclude: Sequence[str] = (),
    match: Sequence[str] = KINDS,
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
    calibrated : bool
        Whether to add calibrated probabilities.
    new_only : bool
        Whether to leave out the rows that the model was trained on.
    exclude : sequence of str
        Names of rows to leave out: ids, symbols or synonyms.
    match : sequence of {"id", "symbol", "synonym"}
        The kinds of names that are compared.

    Warns
    -----
    DataWarning
        If no row has a name of a training row, or none of the names in `exclude`.

    Raises
    ------
    DataError
        If the dataset lacks features of the model.
    ValueError
        If calibrated probabilities are requested and the model has no calibration.
    """
    if calibrated and trained.calibration is None:
        raise ValueError(NO_CALIBRATION)
    X = align_columns(data, trained.feature_names)
    names = RowNames.of(data)
    matches = match_rows(names, trained.training_names, match)
    noun, what = data.row_noun, data.name or "the dataset"
    if trained.training_rows and names.ids and not any(matches):
        warnings.warn(
            f"none of the {len(matches)} {noun}s of {what} has a name of one of the model's "
            f"{len(trained.training_rows)} training {trained.row_noun}s, so all are ranked as new; compared were "
            f"{names.examples(match)} with {trained.training_names.examples(match)}",
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
        odds = row_odds(predicted.log_proba)
        labels = trained.predicted_labels(odds, predicted.y_pred)
    return Candidates(trained, data, X, odds, labels, matches, calibrated)


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
