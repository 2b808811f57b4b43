"""Blocks of rows, made where they are needed; a module of its own, so that workers can import it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from hietan.datasets import make_hierarchical_classification

ROWS, FEATURES, ONES, SAMPLE = 250_000, 2_000, 30, 20_000


@cache
def base() -> Any:
    """The rows that all blocks are drawn from."""
    return make_hierarchical_classification(SAMPLE, FEATURES, density=ONES / FEATURES, random_state=0)


def make(number: int) -> tuple[Any, Any]:
    """A block of rows as CSR, and its labels."""
    chosen = np.random.default_rng(number).integers(SAMPLE, size=ROWS)
    return base().X[chosen], np.asarray(base().y)[chosen]
