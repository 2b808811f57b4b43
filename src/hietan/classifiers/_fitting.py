"""From rows to counts, the step that all fits share, for rows in memory, in parts or in Dask's blocks.

The rows are read first (`read_rows` here, `read_blocks` for Dask): this gives the number and names of the columns, and
the labels that occur. With them, the model describes the `Columns` and makes a `RowCounter`, which turns rows into
`Counted`, wherever the rows are. Nothing here changes the model: the model itself stores the outcome, or nothing if a
step refuses the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from hietan.classifiers.checks import validated
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, Violation


class RowCounts(Protocol):
    """Counts of rows that add up over parts of the data."""

    @property
    def class_count(self) -> NDArray[np.int64]:
        """The number of rows of each class."""

    @property
    def n_rows(self) -> int:
        """The number of rows that were counted, of all classes."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known about the data before any row is counted.

    Attributes
    ----------
    n_features : int
        The number of columns.
    names : array of str or None
        The names of the columns, if they have any.
    classes : array
        The labels, sorted.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    """

    n_features: int
    names: Any
    classes: NDArray[Any]
    hierarchy: Hierarchy


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of some rows, and the first place among them that contradicts the hierarchy."""

    counts: RowCounts
    violation: Violation | None

    def __add__(self, later: Counted) -> Counted:
        """The sum with the rows that follow; the contradiction is the first one in all rows together."""
        violation = self.violation
        if violation is None and later.violation is not None:
            row, parent, child = later.violation
            violation = (self.counts.n_rows + row, parent, child)
        return Counted(self.counts + later.counts, violation)


# Counts rows and checks them against the hierarchy, given which class each of them has.
CountFunction = Callable[[BinaryRows, NDArray[np.int64], Columns], Counted]


@dataclass(frozen=True, eq=False)
class RowCounter:
    """Counts validated rows; small and picklable, because it is sent to the workers of a cluster.

    Attributes
    ----------
    columns : Columns
        The columns and classes of the rows.
    threshold : float or None
        A feature is 1 above it; see the parameter `binarize` of the classifiers.
    count : callable
        The function that counts: a static method of the classifier.
    """

    columns: Columns
    threshold: float | None
    count: CountFunction

    def __call__(self, X: Any, y: NDArray[Any]) -> Counted:
        """The counts of rows X, whose labels y are among the classes."""
        rows = BinaryRows.from_matrix(X, self.threshold)
        return self.count(rows, np.searchsorted(self.columns.classes, y), self.columns)


class TrainingRows(Protocol):
    """Rows and labels that were read, wherever they are."""

    @property
    def n_features(self) -> int:
        """The number of columns."""

    @property
    def names(self) -> Any:
        """The names of the columns, if they have any."""

    @property
    def labels(self) -> NDArray[Any]:
        """The labels that occur, sorted."""

    def counted(self, counter: RowCounter) -> Counted:
        """The counts of all rows."""


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Validated rows and labels in memory; see `TrainingRows`."""

    X: Any
    y: NDArray[Any]
    names: Any

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    @property
    def labels(self) -> NDArray[Any]:
        """The labels that occur, sorted."""
        return np.unique(self.y)

    def counted(self, counter: RowCounter) -> Counted:
        """The counts of all rows."""
        return counter(self.X, self.y)


def read_rows(estimator: Any, X: Any, y: Any, *, reset: bool) -> RowsInMemory:
    """Validate rows and labels with scikit-learn.

    With `reset`, the estimator learns the columns of X (`n_features_in_` and `feature_names_in_`); otherwise, X must
    have the columns that the estimator has already learned.
    """
    X, y = validated(estimator, X, y, accept_sparse="csr", dtype="numeric", reset=reset)
    check_classification_targets(y)
    return RowsInMemory(X, y, getattr(estimator, "feature_names_in_", None))
