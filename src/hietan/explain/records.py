"""What an explanation holds, in plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Sequence[Contribution]):
    """The contributions of the features of one row: a sequence of `Contribution` that compares like a tuple.

    A row may have thousands of them, of which most readers look at a few.

    Attributes
    ----------
    features : tuple of str
        The names of all columns.
    names : tuple of str
        Their readable names.
    row : array of shape (n_features,)
        Their values in the row.
    columns : array of shape (n,)
        The columns that take part.
    parents : array of shape (n,)
        The column that each of them depends on; below 0 if there is none.
    amounts : array of shape (n,)
        What each of them adds to the log-odds.
    probabilities : array of shape (n, n_classes) or None
        The conditional probabilities that were used, if the method has such numbers.
    """

    features: tuple[str, ...]
    names: tuple[str, ...]
    row: NDArray[np.uint8]
    columns: NDArray[np.intp]
    parents: NDArray[np.int32]
    amounts: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, k: int) -> Contribution: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Contribution, ...]: ...
    def __getitem__(self, k: int | slice) -> Contribution | tuple[Contribution, ...]:
        return tuple(self.at(k)) if isinstance(k, slice) else self.at([range(len(self))[k]])[0]

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self.at(slice(None)))

    def at(self, places: slice | list[int]) -> list[Contribution]:
        """The contributions at some places, made together, which takes far less time than one by one."""
        features, names = self.features, self.names
        columns, parents = self.columns[places], self.parents[places]
        used: list[Any] = [None] * len(columns)
        if self.probabilities is not None:
            used = list(map(tuple, self.probabilities[places].tolist()))
        found = (columns, self.row[columns], self.amounts[places], parents, self.row[parents])
        return [
            Contribution(features[v], names[v], value, amount, features[p], above, each)
            if p >= 0
            else Contribution(features[v], names[v], value, amount, None, None, each)
            for v, value, amount, p, above, each in zip(*(part.tolist() for part in found), used, strict=True)
        ]

    def by_size(self) -> Self:
        """The same contributions from the largest to the smallest in size; ties in their order."""
        order = np.argsort(-np.abs(self.amounts), kind="stable")
        return type(self)(
            self.features,
            self.names,
            self.row,
            self.columns[order],
            self.parents[order],
            self.amounts[order],
            None if self.probabilities is None else self.probabilities[order],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | Contributions):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


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
    contributions: Sequence[Contribution]
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
    def strongest(self) -> Sequence[Contribution]:
        """The contributions from the largest to the smallest in size; ties in the order of the columns."""
        if isinstance(self.contributions, Contributions):
            return self.contributions.by_size()
        return tuple(sorted(self.contributions, key=lambda part: -abs(part.contribution)))

    @property
    def contributing(self) -> list[str]:
        """The features that contribute, in the order of `contributions`."""
        if isinstance(self.contributions, Contributions):
            return [self.contributions.features[v] for v in self.contributions.columns.tolist()]
        return [part.feature for part in self.contributions]

    @property
    def amounts(self) -> list[float]:
        """What each feature adds to the log-odds, in the order of `contributions`."""
        if isinstance(self.contributions, Contributions):
            amounts: list[float] = self.contributions.amounts.tolist()
            return amounts
        return [part.contribution for part in self.contributions]

    def contributions_at(self, places: list[int]) -> list[Contribution]:
        """The contributions at some places."""
        if isinstance(self.contributions, Contributions):
            return self.contributions.at(places)
        return [self.contributions[k] for k in places]

    def total(self) -> float:
        """The sum of base, contributions and other terms: the log-odds, up to rounding."""
        return self.base + sum(self.amounts) + sum(v for _, v in self.other)
