"""Count rows for fitting, whether the rows are in memory, in parts or in Dask blocks.

The rows are read first (`read_rows` here, `read_blocks` for Dask), which gives the number and names of the columns and
the labels that occur. Then they are weighted (`weighed`) and counted (`counted`) where they are. Nothing here changes
the model: the model itself stores the counts, or nothing if a step raises an error.
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
"""The total weight up to which a fit may replace whole-number weights by copies of rows."""


# Counts rows, given their classes as positions, and returns the first place that contradicts the hierarchy. The other
# arguments are the number of classes, the hierarchy and the number of threads.
CountFunction = Callable[
    [BinaryRows, NDArray[np.int64], int, Hierarchy, int | None], tuple[Any, Violation | None]
]


@dataclass(frozen=True, eq=False)
class Counting:
    """Settings for counting rows. The object is small and can be pickled, so it can be sent to cluster workers.

    Attributes
    ----------
    count : callable
        The function that counts: a static method of the classifier.
    classes : array
        The labels, sorted.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    threshold : float or None
        Values above the threshold mean 1; see the classifiers' parameter `binarize`.
    """

    count: CountFunction
    classes: NDArray[Any]
    hierarchy: Hierarchy
    threshold: float | None


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Validated rows and labels in memory. `RowsInBlocks` is the equivalent for Dask blocks.

    Attributes
    ----------
    X, y : arrays
        The rows and their labels.
    names : array of str or None
        The column names, if they have any.
    weights : array of shape (n_rows,) or None
        The row weights, as given.
    units : array of shape (n_rows,) or None
        How often each row counts, after weighting; None means once.
    unit : float
        The unit of these numbers, in rows.
    numbers : array of shape (n_rows,) or None
        The original positions of the rows, if rows of weight 0 were dropped.
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
        """The number of features."""
        return int(self.X.shape[1])

    @property
    def labels(self) -> NDArray[Any]:
        """The sorted labels of all rows with a weight above 0."""
        return np.unique(self.y if self.weights is None else self.y[self.weights > 0])

    def class_totals(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        """Return each label's number of rows, or its total weight if rows are weighted."""
        return class_totals(self.y, self.weights, classes)

    def weighed(
        self,
        classes: NDArray[Any],
        per_class: NDArray[np.float64] | None = None,
        unit: float | None = None,
    ) -> RowsInMemory:
        """Return the same rows with whole-number weights, without rows of weight 0.

        Parameters
        ----------
        classes : array
            The labels, sorted.
        per_class : array of shape (n_classes,) or None
            Multiplier for the sample weights of each class.
        unit : float or None
            The unit of the rows counted before, which requires whole weights; None chooses the unit.
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
        """Return the weighted counts, and the first row that contradicts the hierarchy."""
        table = BinaryRows.from_matrix(self.X, how.threshold, self.units)
        codes = np.searchsorted(how.classes, self.y)
        counts, violation = how.count(table, codes, len(how.classes), how.hierarchy, n_jobs)
        return counts, self.as_given(violation)

    def as_given(self, violation: Violation | None) -> Violation | None:
        """Return the contradiction, in which the row's position is now its position in the original rows."""
        if violation is None or self.numbers is None:
            return violation
        row, parent, child = violation
        return int(self.numbers[row]), parent, child

    def with_copies(self) -> RowsInMemory:
        """Return the weighted rows. If whole-number weights give few copies, the rows are copied instead of weighted.

        Fits that sum floating-point numbers over rows need the copies, so that the fit is identical to a fit to copies.
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
    """Return each label's number of rows, or its total weight if rows are weighted.

    All labels must be in `classes`, except for rows of weight 0.
    """
    if weights is not None:
        y, weights = y[weights > 0], weights[weights > 0]
    return np.bincount(np.searchsorted(classes, y), weights, minlength=len(classes)).astype(np.float64)


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
