"""The parts that add up to a score: plain arrays and records that a classifier hands over to be explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class RemovalKind(Enum):
    """Why a feature was left out; the value is the reason in words, with the name of the feature that removed it."""

    SAME_AS_ANCESTOR = "same value as its ancestor {by}"
    SAME_AS_DESCENDANT = "same value as its descendant {by}"
    IMPLIED_BY_ANCESTOR = "implied by its ancestor {by}, which is 0"
    IMPLIED_BY_DESCENDANT = "implied by its descendant {by}, which is 1"
    OUTRANKED_BY_ANCESTOR = "not more relevant than its ancestor {by}"
    OUTRANKED_BY_DESCENDANT = "not more relevant than its descendant {by}"
    BEYOND_THE_LAST = "not among the most relevant features, the last of which is {by}"

    def reason(self, by: str) -> str:
        """The reason in words.

        >>> RemovalKind.SAME_AS_ANCESTOR.reason("bird")
        'same value as its ancestor bird'
        """
        return self.value.format(by=by)


class RemovedFeature(NamedTuple):
    """A column that was left out of a row, the column that made it redundant, and why."""

    feature: int
    by: int
    kind: RemovalKind


@dataclass(frozen=True, eq=False)
class RemovedByRow:
    """What was left out of each of some rows, found when it is asked for: it takes longer than the score itself."""

    n_rows: int
    find: Callable[[int], tuple[RemovedFeature, ...]]

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, row: int) -> tuple[RemovedFeature, ...]:
        if not -self.n_rows <= row < self.n_rows:
            raise IndexError(f"row {row} of {self.n_rows}")
        return self.find(row)

    def __iter__(self) -> Iterator[tuple[RemovedFeature, ...]]:
        return map(self.find, range(self.n_rows))


NOTHING_REMOVED = RemovedByRow(0, lambda row: ())


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """The parts that add up to the joint log-probabilities of some rows.

    Attributes
    ----------
    values : array of shape (n_rows, n_features)
        The binary features.
    parents : array of shape (n_rows, n_features)
        The tree of each row: the column of a feature's parent, `ROOT` for a feature without a parent, `ABSENT` for
        one that is left out. If features have several parents, one that is not left out stands for all.
    factors : array of shape (n_rows, n_features, n_classes)
        What each feature adds to the joint log-probability: ln P(value | value of the parent, class), unless
        estimators are averaged.
    base : array of shape (n_rows, n_classes)
        The logarithms of the class priors, or the intercepts.
    score : callable or None
        Returns `joint`. None means that it is `base` plus the factors in the order of the columns.
    averaging : array of shape (n_rows, n_classes) or None
        The term that an average of estimators adds. The factors are then not the logarithms of probabilities.
    removed : RemovedByRow
        For each row, what was left out of it. Empty if a method leaves nothing out.
    has_tree : bool
        Whether a feature may depend on another one.
    has_probabilities : bool
        Whether the factors are the logarithms of probabilities, unless estimators are averaged.
    """

    values: NDArray[np.uint8]
    parents: NDArray[np.int32]
    factors: NDArray[np.float64]
    base: NDArray[np.float64]
    score: Callable[[], NDArray[np.float64]] | None = None
    averaging: NDArray[np.float64] | None = None
    removed: RemovedByRow = NOTHING_REMOVED
    has_tree: bool = False
    has_probabilities: bool = True

    @cached_property
    def joint(self) -> NDArray[np.float64]:
        """The joint log-probabilities of the model, shape (n_rows, n_classes); computed when they are needed."""
        return sum_factors(self.base, self.factors) if self.score is None else self.score()


def sum_factors(base: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The joint log-probabilities: `base` plus the factors of the features, one after the other.

    The kernel adds them in the order of the columns. So does `accumulate`, which gives the same bits; `sum` may add in
    pairs, which rounds differently. The factor of a feature that is left out is 0, which changes nothing.
    """
    steps = np.concatenate([base[:, None, :], factors], axis=1)
    joint: NDArray[np.float64] = np.add.accumulate(steps, axis=1)[:, -1]
    return joint


@dataclass(frozen=True, eq=False)
class TabledParts:
    """The parts of scores in which what a feature adds depends on which of a few states it is in.

    Attributes
    ----------
    states : CSR array of shape (n_rows, n_features)
        The states of features, numbers from 0.
    factors : array of shape (n_states, n_features, n_classes)
        What each feature adds to the joint log-probabilities in each state, as in `ScoreParts`.
    all_take_part : bool
        Whether features without an entry take part in the score of a row, too: those are in the state 0.
    """

    states: Any
    factors: NDArray[np.float64]
    all_take_part: bool = False


@dataclass(frozen=True, eq=False)
class LinearParts:
    """The parts that add up to the scores of some rows in a linear model.

    Attributes
    ----------
    rows : CSR array of shape (n_rows, n_features)
        The values of the features.
    weights : array of shape (n_classes, n_features)
        The weights of each class; for two classes, those of the first are minus those of the second.
    intercepts : array of shape (n_classes,)
        The constant term of each class.
    scores : array of shape (n_rows, n_classes)
        The decision function of each class.
    probabilities : array of shape (n_rows, n_classes)
        The predicted probabilities.
    """

    rows: Any
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
