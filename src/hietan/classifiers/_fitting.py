"""From rows to counts, the step that all fits share, for rows in memory, in parts or in Dask's blocks.

The rows are read first (`read_rows` here, `read_blocks` for Dask): this gives the number and names of the columns, and
the labels that occur. Then they are weighed (`weighed`) and counted (`counted`), wherever they are. Nothing here
changes the model: the model itself stores the counts, or nothing if a step raises an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from hietan.classifiers._checks import read_weights, refuse_target_among_columns, validated
from hietan.hierarchy import Hierarchy
from hietan.structure._rows import BinaryRows, Violation
from hietan.structure._weights import choose_unit, in_units, require_classes, require_whole, weigh

MOST_COPIES = 4096
"""Whole weights with up to this total, or twice the number of rows, become copies of rows where a fit needs these."""


# Counts rows, given their classes as positions, and returns the first place that contradicts the hierarchy. The other
# arguments are the number of classes, the hierarchy and the number of threads.
CountFunction = Callable[
    [BinaryRows, NDArray[np.int64], int, Hierarchy, int | None], tuple[Any, Violation | None]
]


@dataclass(frozen=True, eq=False)
class Counting:
    """How rows are counted; small and picklable, because it is sent to the workers of a cluster.

    Attributes
    ----------
    count : callable
        The function that counts: a static method of the classifier.
    classes : array
        The labels, sorted.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    threshold : float or None
        A feature is 1 above it; see the parameter `binarize` of the classifiers.
    """

    count: CountFunction
    classes: NDArray[Any]
    hierarchy: Hierarchy
    threshold: float | None


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Validated rows and labels in memory; `RowsInBlocks` offers the same for Dask's blocks.

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
    unit : float
        The unit of these numbers, in rows.
    numbers : array of shape (n_rows,) or None
        The numbers of the rows among those that were given, if some weigh nothing and were dropped.
    """

    X: Any
    y: NDArray[Any]
    names: Any
    weights: NDArray[np.float64] | None
    units: NDArray[np.int32] | None = None
    unit: float = 1.0
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

    def weighed(
        self,
        classes: NDArray[Any],
        per_class: NDArray[np.float64] | None = None,
        unit: float | None = None,
    ) -> RowsInMemory:
        """Return the same rows with their weights as whole numbers, without those that weigh nothing.

        Parameters
        ----------
        classes : array
            The labels, sorted.
        per_class : array of shape (n_classes,) or None
            What the weights of the rows of each class are multiplied with.
        unit : float or None
            The unit of the rows that were counted before; whole weights are then required. None chooses it.
        """
        if self.weights is None and per_class is None and unit in (None, 1):
            return self
        products = weigh(self.y, self.weights, classes, per_class)
        if unit is None:
            unit = choose_unit(products)
        else:
            require_whole(products)
        units = in_units(products, unit)
        if units.all():
            return replace(self, units=units, unit=unit)
        require_classes(self.y, products, units)
        kept = np.flatnonzero(units)
        weights = None if self.weights is None else self.weights[kept]
        return replace(
            self, X=self.X[kept], y=self.y[kept], weights=weights, units=units[kept], unit=unit, numbers=kept
        )

    def counted(self, how: Counting, n_jobs: int | None) -> tuple[Any, Violation | None]:
        """Return the counts, each row as often as it was weighed, and the first contradiction with the hierarchy."""
        table = BinaryRows.from_matrix(self.X, how.threshold, self.units)
        codes = np.searchsorted(how.classes, self.y)
        counts, violation = how.count(table, codes, len(how.classes), how.hierarchy, n_jobs)
        return counts, self.as_given(violation)

    def as_given(self, violation: Violation | None) -> Violation | None:
        """Return a contradiction with the number that its row had when it was given."""
        if violation is None or self.numbers is None:
            return violation
        row, parent, child = violation
        return int(self.numbers[row]), parent, child

    def with_copies(self) -> RowsInMemory:
        """Return the rows weighed, for a fit that sums floating-point numbers over rows.

        Whole weights stand for copies of a row. As long as these are few, they are made, so that the fit to them has
        the same bits.
        """
        if self.weights is None:
            return self
        weighed = self.weighed(self.labels)
        units = weighed.units
        assert units is not None
        if weighed.unit != 1 or units.sum(dtype=np.int64) > max(MOST_COPIES, 2 * len(units)):
            return weighed
        places = np.repeat(np.arange(len(units)), units)
        numbers = places if weighed.numbers is None else weighed.numbers[places]
        X, y = weighed.X[places], weighed.y[places]
        return replace(weighed, X=X, y=y, weights=None, units=None, numbers=numbers)


def class_totals(
    y: NDArray[Any], weights: NDArray[np.float64] | None, classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the number of rows with each label or, if they have weights, the sum of these.

    Labels are among the classes; rows of weight 0 may have other labels.
    """
    if weights is not None:
        y, weights = y[weights > 0], weights[weights > 0]
    totals = np.bincount(np.searchsorted(classes, y), weights, minlength=len(classes))
    return totals.astype(np.float64)


def read_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool = True, dtype: Any = "numeric"
) -> RowsInMemory:
    """Validate rows, labels and weights with scikit-learn.

    With `reset`, the estimator learns the columns of X (`n_features_in_` and `feature_names_in_`); otherwise, X must
    have the columns that the estimator has already learned.
    """
    refuse_target_among_columns(X, y)
    X, y = validated(estimator, X, y, dtype=dtype, reset=reset)
    check_classification_targets(y)
    weights = read_weights(sample_weight, len(y))
    return RowsInMemory(X, y, getattr(estimator, "feature_names_in_", None), weights)
