"""From rows to counts, the step that all fits share, for rows in memory, in parts or in Dask's blocks.

The rows are read first (`read_rows` here, `read_blocks` for Dask): this gives the number and names of the columns, and
the labels that occur. With them, the model decides how the rows are weighed, describes the `Columns` and makes a
`RowCounter`, which turns rows into `Counted`, wherever the rows are. Nothing here changes the model: the model itself
stores the outcome, or nothing if a step refuses the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from hietan.classifiers.checks import class_weights, read_weights, validated
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, Violation, Weighing, choose_unit, weigh

MOST_COPIES = 4096
"""Whole weights with up to this total, or twice the number of rows, become copies of rows where a fit needs these."""


class RowCounts(Protocol):
    """Counts of rows that add up over parts of the data."""

    @property
    def class_count(self) -> NDArray[np.int64]:
        """The number of rows of each class, each as often as it counts."""

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
    """The counts of some rows, the first place among them that contradicts the hierarchy, and their number.

    Rows with a weight are counted more than once, but are one row here.
    """

    counts: RowCounts
    violation: Violation | None
    n_rows: int = 0

    def __add__(self, later: Counted) -> Counted:
        """The sum with the rows that follow; the contradiction is the first one in all rows together."""
        violation = self.violation
        if violation is None and later.violation is not None:
            row, parent, child = later.violation
            violation = (self.n_rows + row, parent, child)
        return Counted(self.counts + later.counts, violation, self.n_rows + later.n_rows)


# Counts rows and checks them against the hierarchy in a number of threads, given which class each of the rows has.
CountFunction = Callable[[BinaryRows, NDArray[np.int64], Columns, int | None], Counted]


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
    n_jobs : int or None
        The number of threads that count, as in joblib.
    """

    columns: Columns
    threshold: float | None
    count: CountFunction
    n_jobs: int | None = None

    def __call__(self, rows: RowsInMemory) -> Counted:
        """The counts of rows, whose labels are among the classes."""
        table = BinaryRows.from_matrix(rows.X, self.threshold, rows.units)
        codes = np.searchsorted(self.columns.classes, rows.y)
        counted = self.count(table, codes, self.columns, self.n_jobs)
        return Counted(counted.counts, rows.as_given(counted.violation), rows.n_given)


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
        """The labels that occur, sorted; rows of weight 0 do not."""

    def class_totals(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        """The number of rows with each label or, if they have weights, the sum of these."""

    def weighed(self, weighing: Weighing) -> TrainingRows:
        """The same rows with their weights as whole numbers, without those that weigh nothing."""

    def counted(self, counter: RowCounter) -> Counted:
        """The counts of all rows, each as often as it was weighed."""


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Validated rows and labels in memory; see `TrainingRows`.

    Attributes
    ----------
    X, y : arrays
        The rows and their labels.
    names : array of str or None
        The names of the columns, if they have any.
    weights : array of shape (n_rows,) or None
        The weights of the rows, as they were given.
    units : array of shape (n_rows,) or None
        How often each row counts, once they are weighed; None means once.
    numbers : array of shape (n_rows,) or None
        The numbers of the rows among those that were given, if some weigh nothing and were dropped.
    n_given : int
        The number of rows that were given.
    """

    X: Any
    y: NDArray[Any]
    names: Any
    weights: NDArray[np.float64] | None
    n_given: int
    units: NDArray[np.int32] | None = None
    numbers: NDArray[np.intp] | None = None

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    @property
    def labels(self) -> NDArray[Any]:
        """The labels that occur, sorted; rows of weight 0 do not."""
        return np.unique(self.y if self.weights is None else self.y[self.weights > 0])

    def class_totals(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        """The number of rows with each label or, if they have weights, the sum of these."""
        return class_totals(self.y, self.weights, classes)

    def weighed(self, weighing: Weighing) -> RowsInMemory:
        """The same rows with their weights as whole numbers, without those that weigh nothing."""
        units = weighing.units(self.y, self.weights)
        if units is None or units.all():
            return replace(self, units=units)
        weighing.refuse_lost_classes(self.y, self.weights, units)
        kept = np.flatnonzero(units)
        numbers = kept if self.numbers is None else self.numbers[kept]
        weights = None if self.weights is None else self.weights[kept]
        return replace(
            self, X=self.X[kept], y=self.y[kept], weights=weights, units=units[kept], numbers=numbers
        )

    def as_given(self, violation: Violation | None) -> Violation | None:
        """A contradiction with the number that its row had when it was given."""
        if violation is None or self.numbers is None:
            return violation
        row, parent, child = violation
        return int(self.numbers[row]), parent, child

    def with_copies(self) -> tuple[RowsInMemory, float]:
        """The rows weighed, and the unit of their weights, for a fit that sums floating-point numbers over rows.

        Whole weights stand for copies of a row. As long as these are few, they are made, so that the fit to them has
        the same bits.
        """
        if self.weights is None:
            return self, 1.0
        unit = choose_unit(self.weights)
        weighed = self.weighed(Weighing(self.labels, None, unit, rounds=True))
        units = weighed.units
        assert units is not None
        if unit != 1 or units.sum(dtype=np.int64) > max(MOST_COPIES, 2 * len(units)):
            return weighed, unit
        places = np.repeat(np.arange(len(units)), units)
        numbers = places if weighed.numbers is None else weighed.numbers[places]
        X, y = weighed.X[places], weighed.y[places]
        return replace(weighed, X=X, y=y, weights=None, units=None, numbers=numbers), unit

    def counted(self, counter: RowCounter) -> Counted:
        """The counts of all rows, each as often as it was weighed."""
        return counter(self)


def check_known_classes(
    y: NDArray[Any], classes: NDArray[Any], so_far: NDArray[Any] | None, class_weight: Any
) -> None:
    """Refuse a part of the data that does not go with the classes given, or these with those of earlier parts."""
    if so_far is not None and not np.array_equal(classes, so_far):
        raise ValueError(
            f"classes {classes.tolist()} are not those of the first call, {so_far.tolist()}; pass the same or none"
        )
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(
            f"y holds the labels {unknown.tolist()}, which are not among the classes {classes.tolist()}"
        )
    if isinstance(class_weight, str):
        raise ValueError(
            'class_weight="balanced" needs all training rows at once, which partial_fit does not have; pass a dict of '
            "class: weight"
        )


def choose_weighing(
    rows: TrainingRows,
    classes: NDArray[Any],
    *,
    class_weight: Mapping[Any, float] | str | None,
    weight_unit: float | None,
    unit_so_far: float | None,
    at_once: bool,
) -> Weighing:
    """How rows are weighed.

    Parameters
    ----------
    rows : TrainingRows
        The rows.
    classes : array of shape (n_classes,)
        The labels, sorted.
    class_weight, weight_unit
        The parameters of the classifier.
    unit_so_far : float or None
        The unit of the rows that were counted before, if there are any.
    at_once : bool
        Whether these are all rows, and in memory. Otherwise, the unit cannot be chosen by their weights.
    """
    if unit_so_far is not None and weight_unit not in (None, unit_so_far):
        raise ValueError(f"weight_unit={weight_unit!r} is not the unit of the counts so far, {unit_so_far!r}")
    per_class = class_weights(class_weight, classes, rows.class_totals(classes))
    unit = weight_unit if unit_so_far is None else unit_so_far
    if unit is None:
        unit = 1.0
        if at_once and isinstance(rows, RowsInMemory) and (rows.weights is not None or per_class is not None):
            unit = choose_unit(weigh(rows.y, rows.weights, classes, per_class))
    given = weight_unit is not None
    return Weighing(classes, per_class, float(unit), rounds=at_once or given or unit != 1, given=given)


def class_totals(
    y: NDArray[Any], weights: NDArray[np.float64] | None, classes: NDArray[Any]
) -> NDArray[np.float64]:
    """The number of rows with each label or, if they have weights, the sum of these; labels are among the classes.

    Rows of weight 0 may have other labels.
    """
    if weights is not None:
        y, weights = y[weights > 0], weights[weights > 0]
    totals = np.bincount(np.searchsorted(classes, y), weights, minlength=len(classes))
    return totals.astype(np.float64)


def read_rows(estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> RowsInMemory:
    """Validate rows, labels and weights with scikit-learn.

    With `reset`, the estimator learns the columns of X (`n_features_in_` and `feature_names_in_`); otherwise, X must
    have the columns that the estimator has already learned.
    """
    X, y = validated(estimator, X, y, accept_sparse="csr", dtype="numeric", reset=reset)
    check_classification_targets(y)
    weights = read_weights(sample_weight, len(y))
    return RowsInMemory(X, y, getattr(estimator, "feature_names_in_", None), weights, len(y))
