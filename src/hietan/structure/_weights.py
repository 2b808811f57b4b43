"""Row weights as whole numbers of a unit, so that weighted counts are also integers.

Ties, sums over parts of the data and equality to the last bit rest on integer counts. A weight that is a whole number
counts its row that many times. Other weights are rounded to multiples of a power of two, the unit. Numbers that are
compared with the counts, such as the weight of a prior guess, are divided by the unit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST_UNITS = int(np.iinfo(np.int32).max)
"""The largest total of all counts."""
ROUNDED_BELOW = 2**30
"""Weights that are not whole numbers are rounded so that their total stays below this many units."""
SMALLEST_UNIT, LARGEST_UNIT = 2.0**-200, 2.0**200
"""The smallest and the largest accepted unit. Dividing by an accepted unit gives finite numbers."""


def are_whole(weights: NDArray[np.float64]) -> bool:
    """Return whether all weights are whole numbers."""
    return bool((weights == np.rint(weights)).all())


def choose_unit(weights: NDArray[np.float64]) -> float:
    """Return the unit for all weights in a fit: 1 for whole numbers, otherwise a power of two with a total below 2^30.

    Whole numbers with a total above the counts' limit are treated like other weights.
    """
    with np.errstate(over="ignore"):  # raises an error just below
        total = float(weights.sum())
    if total <= MOST_UNITS and are_whole(weights):
        return 1.0
    exponent = math.frexp(total)[1] - 30 if math.isfinite(total) else 1024
    if not math.frexp(SMALLEST_UNIT)[1] < exponent < math.frexp(LARGEST_UNIT)[1]:
        raise ValueError(
            f"sample_weight and class_weight give the rows weights that add up to {total}; the total must be from "
            "1e-50 to 1e60, so rescale the weights"
        )
    unit = math.ldexp(1.0, exponent)
    return unit if np.rint(weights / unit).sum() < ROUNDED_BELOW else 2 * unit


def in_units(weights: NDArray[np.float64], unit: float) -> NDArray[np.int32]:
    """Return the weight of each row, rounded to a whole number of units."""
    units = np.rint(weights / unit)
    if units.sum() > MOST_UNITS:
        raise ValueError(
            f"the row weights add up to {units.sum():,.0f} units of {unit}, which is more than the limit "
            f"({MOST_UNITS:,}); use smaller weights"
        )
    return units.astype(np.int32)


def require_whole(weights: NDArray[np.float64]) -> None:
    """Raise an error for weights that are not whole numbers, if the total of all weights is unknown."""
    if not are_whole(weights):
        raise ValueError(
            f"sample_weight and class_weight give a row the weight {weights[weights != np.rint(weights)][0]}, but "
            "partial_fit and Dask collections accept only whole numbers. Other weights would be rounded by their "
            "total, which is not known. Pass whole numbers, or fit all rows in memory"
        )


def require_classes(y: NDArray[np.generic], weights: NDArray[np.float64], units: NDArray[np.int32]) -> None:
    """Raise an error if all of a class's weights were rounded to 0 units."""
    lost = np.setdiff1d(y[weights > 0], y[units > 0])
    if lost.size:
        raise ValueError(
            f"the row weights of class {lost.tolist()[0]!r}, up to {weights[y == lost[0]].max()}, are too small "
            f"for the total of {weights.sum()}, so they are all rounded to 0; use weights that differ less from "
            "one another"
        )


def weigh(
    y: NDArray[np.generic],
    weights: NDArray[np.float64] | None,
    classes: NDArray[np.generic],
    per_class: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the weights [default: 1] of rows with labels y, multiplied by their class weights."""
    products = np.ones(len(y)) if weights is None else weights
    if per_class is None:
        return products
    codes = np.searchsorted(classes, y)  # a row of weight 0 may have a label that is not among the classes
    return products * per_class[np.minimum(codes, len(classes) - 1)]
