"""Range checks for numeric arguments."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any


def check_integer(name: str, value: Any, least: int, most: int) -> None:
    """Raise an error unless the value is a whole number from the lower to the upper limit.

    >>> check_integer("n_bins", 0, 1, 10)
    Traceback (most recent call last):
    ...
    ValueError: n_bins is 0; expected a whole number from 1 to 10
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise ValueError(f"{name} is {value!r:.40}; expected a whole number from {least} to {most}")


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Raise an error unless the value is a number from the lower to the upper limit. NaN is never accepted.

    >>> check_number("alpha", 2, 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: alpha is 2; expected a number from 0 to 1
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= value <= most:  # type: ignore[operator]
        raise ValueError(f"{name} is {value!r:.40}; expected a number from {least:g} to {most:g}")
