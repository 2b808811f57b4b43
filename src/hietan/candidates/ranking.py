"""The rows of a dataset, ranked by the log-odds that a model gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan._io import comment_line, csv_text
from hietan._runtime.optional import import_optional
from hietan.candidates.models import TrainedModel
from hietan.datasets import Dataset
from hietan.evaluation.cross_validation import predict_rows, row_scores
from hietan.exceptions import DataError


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
        columns = (
            data.instance_names,
            data.symbols or ("",) * len(data.instance_names),
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
        """The ranked rows as CSV, below a comment line with the model's caution.

        Names that a spreadsheet would run are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        rows = ([getattr(row, column) for column in self.columns] for row in self.rows)
        return comment_line(self.trained.caution) + csv_text(self.columns, rows)

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
