"""The temperature of scores: the number by which they are divided for the smallest loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

HOTTEST = 20.0
"""The largest temperature, and the inverse of the smallest, unless others are given."""


def best_temperature(loss: Callable[[float], float], hottest: float = HOTTEST) -> float:
    """The temperature with the smallest loss, from 1 / `hottest` to `hottest`.

    The loss must be convex in the inverse of the temperature, as every log loss is.
    """
    limit = np.log(hottest)
    found = minimize_scalar(
        lambda log_temperature: loss(float(np.exp(log_temperature))),
        bounds=(-limit, limit),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))
