"""What an explanation holds, in plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hietan.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature adds to the log-odds.

    Attributes
    ----------
    feature : str
        The feature.
    name : str
        Its readable name; the feature again if it has none.
    value : float
        Its value in the row.
    contribution : float
        What it adds to the log-odds.
    parent : str or None
        The feature it depends on in the tree, if any; the first of them if there are several (HieBAN, where all of
        them are 1).
    parent_value : float or None
        The value of the parent in the row.
    probabilities : tuple of float or None
        The conditional probabilities that were used, P(value | parent's value, class), one for each class. None if
        the method has no such number (an average of estimators, a linear model).
    """

    feature: str
    name: str
    value: float
    contribution: float
    parent: str | None = None
    parent_value: float | None = None
    probabilities: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """A feature that was left out for a row.

    Attributes
    ----------
    feature : str
        The feature.
    name : str
        Its readable name; the feature again if it has none.
    value : int
        Its value in the row.
    by : str
        The feature that made it redundant.
    reason : str
        Why, in words.
    """

    feature: str
    name: str
    value: int
    by: str
    reason: str

    def __str__(self) -> str:
        return f"{self.feature} removed: {self.reason}"


@dataclass(frozen=True)
class ExplanationRecord:
    """The values of an `Explanation`, which documents them; printing and drawing one needs only these."""

    method: str
    row: str
    classes: tuple[Any, ...]
    probabilities: tuple[float, ...]
    target: Any
    log_odds: float
    base: float
    contributions: tuple[Contribution, ...]
    other: tuple[tuple[str, float], ...] = ()
    removed: tuple[Removal, ...] = ()
    hierarchy: Hierarchy = field(default_factory=lambda: Hierarchy.unrelated([]), repr=False)
    has_tree: bool = False
    base_name: str = "class prior"

    @property
    def predicted(self) -> Any:
        """The most probable class; ties go to the first."""
        return self.classes[max(range(len(self.classes)), key=lambda c: (self.probabilities[c], -c))]

    @property
    def probability(self) -> float:
        """The probability of `target`."""
        return self.probabilities[self.classes.index(self.target)]

    @property
    def base_label(self) -> str:
        """What the base value is called where it is shown."""
        return f"base value ({self.base_name})"

    @cached_property
    def strongest(self) -> tuple[Contribution, ...]:
        """The contributions from the largest to the smallest in size; ties in the order of the columns."""
        return tuple(sorted(self.contributions, key=lambda part: -abs(part.contribution)))

    def total(self) -> float:
        """The sum of base, contributions and other terms: the log-odds, up to rounding."""
        return (
            self.base + sum(part.contribution for part in self.contributions) + sum(v for _, v in self.other)
        )
