"""From rows to counts, the step that all fits share, for rows in memory, in parts or in Dask's blocks.

The rows are read first (`read_rows` here, `read_blocks` for Dask): this gives the number and names of the columns, and
the labels that occur. With them, the model describes the `Columns` and makes a `RowCounter`, which turns rows into
`Counted`, wherever the rows are. Nothing here changes the model: the model itself stores the outcome, or nothing if a
step refuses the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, PairCounts, Violation, first_violation

# Counts rows, given which class each of them has and the number of classes.
CountFunction = Callable[[BinaryRows, NDArray[np.int64], int], PairCounts]


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

    counts: PairCounts
    violation: Violation | None

    def __add__(self, later: Counted) -> Counted:
        """The sum with the rows that follow; the contradiction is the first one in all rows together."""
        violation = self.violation
        if violation is None and later.violation is not None:
            row, parent, child = later.violation
            violation = (self.counts.n_rows + row, parent, child)
        return Counted(self.counts + later.counts, violation)


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
        The function that counts: `count_pairs` or `count_ones`.
    """

    columns: Columns
    threshold: float | None
    count: CountFunction

    def __call__(self, X: Any, y: NDArray[Any]) -> Counted:
        """The counts of rows X, whose labels y are among the classes."""
        rows = BinaryRows.from_matrix(X, self.threshold)
        classes = self.columns.classes
        counts = self.count(rows, np.searchsorted(classes, y), len(classes))
        return Counted(counts, first_violation(rows, self.columns.hierarchy))


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
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype="numeric", reset=reset)
    check_classification_targets(y)
    return RowsInMemory(X, y, getattr(estimator, "feature_names_in_", None))
