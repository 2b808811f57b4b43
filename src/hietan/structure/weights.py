"""Weights of rows as whole numbers of a unit, so that weighted counts are integers too.

Ties, sums over parts of the data and equality to the last bit rest on integer counts. A weight that is a whole number
counts its row that many times. Other weights are rounded to multiples of a power of two, the unit; whatever is compared
with the counts, such as the weight of a prior guess, is divided by the unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_UNITS = int(np.iinfo(np.int32).max)
"""The largest total that the counts can hold."""
ROUNDED_BELOW = 2**30
"""Weights that are not whole numbers are rounded so that their total stays below this many units."""
SMALLEST_UNIT, LARGEST_UNIT = 2.0**-200, 2.0**200
"""The units that are accepted: what is divided by them stays finite."""


def is_unit(value: object) -> bool:
    """Whether a value can be the unit of weights: a power of two, as a float, that is neither tiny nor huge."""
    return isinstance(value, float) and SMALLEST_UNIT <= value <= LARGEST_UNIT and math.frexp(value)[0] == 0.5


def are_whole(weights: NDArray[np.float64]) -> bool:
    """Whether all weights are whole numbers."""
    return bool((weights == np.rint(weights)).all())


def choose_unit(weights: NDArray[np.float64]) -> float:
    """The unit for all weights of a fit: 1 for whole numbers, otherwise the smallest with a total below 2^30 units.

    Whole numbers whose total is more than the counts can hold are treated like other weights.
    """
    with np.errstate(over="ignore"):  # refused just below
        total = float(weights.sum())
    if total <= MOST_UNITS and are_whole(weights):
        return 1.0
    exponent = math.frexp(total)[1] - 30 if math.isfinite(total) else 1024
    if not math.frexp(SMALLEST_UNIT)[1] < exponent < math.frexp(LARGEST_UNIT)[1]:
        raise ValueError(
            f"sample_weight and class_weight give the rows weights that add up to {total}; the total must be from "
            f"1e-50 to 1e60: rescale the weights"
        )
    unit = math.ldexp(1.0, exponent)
    return unit if np.rint(weights / unit).sum() < ROUNDED_BELOW else 2 * unit


@dataclass(frozen=True, eq=False)
class Weighing:
    """How the weights of rows become whole numbers.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The labels, sorted.
    per_class : array of shape (n_classes,) or None
        What the weights of the rows of each class are multiplied with.
    unit : float
        The unit, a power of two.
    rounds : bool
        Whether weights are rounded to multiples of the unit. If not, others are refused.
    given : bool
        Whether the user chose the unit. Then it is refused if it would round a weight above 0 to 0.
    """

    classes: NDArray[np.generic]
    per_class: NDArray[np.float64] | None
    unit: float
    rounds: bool
    given: bool = False

    def units(self, y: NDArray[np.generic], weights: NDArray[np.float64] | None) -> NDArray[np.int32] | None:
        """How many units each row weighs, given its label and weight; None if every row counts once."""
        if weights is None and self.per_class is None and self.unit == 1:
            return None
        products = weigh(y, weights, self.classes, self.per_class)
        units = np.rint(products / self.unit)
        if not self.rounds and not np.array_equal(units * self.unit, products):
            raise ValueError(
                f"sample_weight and class_weight give a row the weight {products[units * self.unit != products][0]}: "
                f"where the rows are not given at once and in memory, weights must be whole numbers, because their "
                f"total is not known; or set weight_unit, a power of two such as 2**-10, to whose multiples they are "
                f"rounded"
            )
        lost = products[(units == 0) & (products > 0)] if self.given else products[:0]
        if lost.size:
            smallest = float(products[products > 0].min())
            raise ValueError(
                f"weight_unit={self.unit} is too large: the smallest weight above 0 is {smallest}, which would "
                f"be rounded to 0; give a smaller unit, such as {math.ldexp(0.5, math.frexp(smallest)[1])}"
            )
        if units.sum() > MOST_UNITS:
            raise ValueError(
                f"the rows weigh {units.sum():,.0f} in units of {self.unit}, more than the counts can hold "
                f"({MOST_UNITS:,}); use smaller weights or a larger weight_unit"
            )
        return units.astype(np.int32)

    def refuse_lost_classes(
        self, y: NDArray[np.generic], weights: NDArray[np.float64] | None, units: NDArray[np.int32]
    ) -> None:
        """Refuse weights that are all rounded to 0 units in some class."""
        products = weigh(y, weights, self.classes, self.per_class)
        lost = np.setdiff1d(y[products > 0], y[units > 0])
        if lost.size:
            raise ValueError(
                f"the weights of the rows of class {lost.tolist()[0]!r}, up to {products[y == lost[0]].max()}, are too "
                f"small beside the total of {products.sum()}: in units of {self.unit} they are all rounded to 0; give "
                f"weights that differ less"
            )


def weigh(
    y: NDArray[np.generic],
    weights: NDArray[np.float64] | None,
    classes: NDArray[np.generic],
    per_class: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """The weights of rows with labels y, multiplied with those of their classes; 1 where neither is given."""
    products = np.ones(len(y)) if weights is None else weights
    if per_class is None:
        return products
    codes = np.searchsorted(classes, y)  # a row of weight 0 may have a label that is not among the classes
    weighted: NDArray[np.float64] = products * per_class[np.minimum(codes, len(classes) - 1)]
    return weighted
