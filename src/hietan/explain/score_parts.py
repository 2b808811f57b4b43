"""The parts that add up to a score: plain arrays and records that a classifier hands over to be explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan import _kernel
from hietan._runtime.parallel import map_chunks

_PACKED_BATCH = 512  # rows: their packed states should stay in the cache


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


class TabledParts(Protocol):
    """The parts of scores in which what a feature adds depends on which of four states it is in.

    Attributes
    ----------
    factors : array of shape (4, n_features, n_classes)
        What each feature adds to the joint log-probabilities in each state, as in `ScoreParts`.
    """

    @property
    def factors(self) -> NDArray[np.float64]:
        """What each feature adds in each state."""

    def look_up(self, table: NDArray[np.float64], n_jobs: int | None) -> sp.csr_array[np.float64]:
        """The numbers of a table of states and features, for the features that take part in each row."""


@dataclass(frozen=True, eq=False)
class DenseStates:
    """Rows in which every feature takes part, most of them in the state 0; see `TabledParts`.

    Attributes
    ----------
    states : CSR array of shape (n_rows, n_features)
        The states of features, numbers from 0; features without an entry are in the state 0.
    factors : array of shape (4, n_features, n_classes)
        What each feature adds in each state.
    """

    states: Any
    factors: NDArray[np.float64]

    def look_up(self, table: NDArray[np.float64], n_jobs: int | None) -> sp.csr_array[np.float64]:
        """The numbers of the table for all features of all rows."""
        states, (n_rows, d) = self.states, self.states.shape
        whole = np.empty((n_rows, d))
        whole[:] = table[0]
        data = whole.ravel()
        # A flat index is faster than a pair of them.
        places = np.repeat(np.arange(n_rows) * d, np.diff(states.indptr)) + states.indices
        data[places] = table.ravel()[states.data.astype(np.intp) * d + states.indices]
        return with_all_entries(whole)


@dataclass(frozen=True, eq=False)
class PackedStates:
    """Rows whose states are packed, 64 rows to a word; see `TabledParts`.

    Attributes
    ----------
    words : callable
        Called as ``words(start, stop)``, three arrays of packed rows, as in `BinaryRows.words`: whether a feature takes
        part in a row, and the high and the low bit of its state. Threads call it.
    n_rows : int
        The number of rows.
    factors : array of shape (4, n_features, n_classes)
        What each feature adds in each state.
    """

    words: Callable[[int, int], tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]]
    n_rows: int
    factors: NDArray[np.float64]

    def look_up(self, table: NDArray[np.float64], n_jobs: int | None) -> sp.csr_array[np.float64]:
        """The numbers of the table for the features that take part in each row."""
        table = np.ascontiguousarray(table)

        def entries(start: int, stop: int) -> list[RowEntries]:
            batches = (
                (first, min(first + _PACKED_BATCH, stop)) for first in range(start, stop, _PACKED_BATCH)
            )
            return [_kernel.list_terms(*self.words(*batch), batch[1] - batch[0], table) for batch in batches]

        chunks = map_chunks(entries, self.n_rows, n_jobs)
        return join_entries([batch for chunk in chunks for batch in chunk], self.n_rows, table.shape[1])


def with_all_entries(whole: NDArray[np.float64]) -> sp.csr_array[np.float64]:
    """The matrix with an entry for every element of an array, also for those that are 0; it shares its memory."""
    n_rows, d = whole.shape
    index = np.int64 if whole.size > np.iinfo(np.int32).max else np.int32
    columns = np.empty((n_rows, d), dtype=index)
    columns[:] = np.arange(d)
    indptr = np.arange(n_rows + 1, dtype=index) * index(d)
    found: sp.csr_array[np.float64] = sp.csr_array(
        (whole.ravel(), columns.ravel(), indptr), shape=whole.shape
    )
    return found


RowEntries = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
"""Some rows of a sparse matrix: the number of entries of each, then the columns and the values of all of them."""


def join_entries(found: Sequence[RowEntries], n_rows: int, n_features: int) -> sp.csr_array[np.float64]:
    """The matrix whose rows were found in parts, in the order of the rows."""
    n_entries = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in found)])
    indptr = np.concatenate([[0], np.cumsum(n_entries)])
    wide = np.int64 if indptr[-1] > np.iinfo(np.int32).max else np.int32
    columns = np.concatenate([np.empty(0, dtype=np.int32), *(part[1] for part in found)])
    data = np.concatenate([np.empty(0), *(part[2] for part in found)])
    arrays: Any = data, columns.astype(wide, copy=False), indptr.astype(wide)
    joined: sp.csr_array[np.float64] = sp.csr_array(arrays, shape=(n_rows, n_features))
    return joined


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
