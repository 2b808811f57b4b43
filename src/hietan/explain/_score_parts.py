"""The parts that add up to a score, as plain arrays and records from which explanations are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hietan.hierarchy import Hierarchy
from hietan.structure._rows import BinaryRows


class RemovalKind(Enum):
    """The reason for leaving a feature out, as text with the name of the feature that removed it."""

    SAME_AS_ANCESTOR = "same value as its ancestor {by}"
    SAME_AS_DESCENDANT = "same value as its descendant {by}"
    IMPLIED_BY_ANCESTOR = "implied by its ancestor {by}, which is 0"
    IMPLIED_BY_DESCENDANT = "implied by its descendant {by}, which is 1"
    OUTRANKED_BY_ANCESTOR = "not more relevant than its ancestor {by}"
    OUTRANKED_BY_DESCENDANT = "not more relevant than its descendant {by}"
    BEYOND_THE_LAST = "not among the most relevant features, the last of which is {by}"

    def reason(self, by: str) -> str:
        """Return the reason as text.

        >>> RemovalKind.SAME_AS_ANCESTOR.reason("bird")
        'same value as its ancestor bird'
        """
        return self.value.format(by=by)


class RemovedFeature(NamedTuple):
    """A column that was left out for a row, the column that made it redundant, and the reason."""

    feature: int
    by: int
    kind: RemovalKind


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """The parts that add up to the joint log-probabilities of some rows.

    Attributes
    ----------
    values : array of shape (n_rows, n_features)
        The binary features.
    parents : array of shape (n_rows, n_features)
        The tree of each row: the column of a feature's parent, `ROOT` for a feature without a parent, `ABSENT` for one
        that is left out. If features have several parents, one that is not left out stands for all.
    factors : array of shape (n_rows, n_features, n_classes)
        The contribution of each feature to the joint log-probability: ln P(value | value of the parent, class), unless
        estimators are averaged.
    base : array of shape (n_rows, n_classes)
        The logarithms of the class priors, or the intercepts.
    score : callable or None
        Returns `joint`. None means that it is `base` plus the factors in column order.
    averaging : array of shape (n_rows, n_classes) or None
        The term that an average of estimators adds. The factors are then not the logarithms of probabilities.
    removed : callable
        Called as ``removed(row)``; returns the features that were left out of a row when they are needed.
    has_tree : bool
        Whether a feature may depend on another one.
    has_probabilities : bool
        Whether the factors are the logarithms of probabilities, unless estimators are averaged.
    base_name : str
        The kind of `base`.
    behind : callable or None
        Called as ``behind(row)``; returns the training rows behind the factors of a row: rows of each class with the
        feature's value, and all rows among which they were counted, shape (n_features, n_classes).
    counts_parents : bool
        Whether rows with all parents in the hierarchy were counted, rather than rows with the parent in a tree.
    weights : array of shape (n_classes, n_features) or None
        The regression's addition to the factor of a feature that is 1; part of `factors`.
    """

    values: NDArray[np.uint8]
    parents: NDArray[np.int32]
    factors: NDArray[np.float64]
    base: NDArray[np.float64]
    score: Callable[[], NDArray[np.float64]] | None = None
    averaging: NDArray[np.float64] | None = None
    removed: Callable[[int], tuple[RemovedFeature, ...]] = lambda row: ()
    has_tree: bool = False
    has_probabilities: bool = True
    base_name: str = "class prior"
    behind: Callable[[int], tuple[NDArray[Any], NDArray[Any]]] | None = None
    counts_parents: bool = False
    weights: NDArray[np.float64] | None = None

    @cached_property
    def joint(self) -> NDArray[np.float64]:
        """The model's joint log-probabilities, shape (n_rows, n_classes), computed when needed."""
        return sum_factors(self.base, self.factors) if self.score is None else self.score()


def sum_factors(base: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the joint log-probabilities: `base` plus each feature's factor, added in column order.

    The kernel adds them in column order. So does `accumulate`, which gives an identical result; `sum` may add in pairs,
    which rounds differently. The factor of a feature that is left out is 0, which changes nothing.
    """
    return np.add.accumulate(np.concatenate([base[:, None, :], factors], axis=1), axis=1)[:, -1]


StateWords = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]
"""Packed rows, as in `BinaryRows.words`: whether each feature is used, and the high and low bit of its state."""


@dataclass(frozen=True, eq=False)
class StateParts:
    """Score parts in which each contribution depends only on the feature's state, which is one of four.

    Attributes
    ----------
    words : callable
        Called with some rows; returns the states of their features. Threads call it.
    factors : array of shape (4, n_features, n_classes)
        The contribution of each feature to the joint log-probabilities in each state, as in `ScoreParts`.
    """

    words: Callable[[BinaryRows], StateWords]
    factors: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearParts:
    """The parts that add up to the scores of some rows in a linear model.

    Attributes
    ----------
    rows : CSR array of shape (n_rows, n_features)
        The feature values.
    weights : array of shape (n_classes, n_features)
        The weights of each class; for two classes, the weights of the first are the negated weights of the second.
    intercepts : array of shape (n_classes,)
        The constant term of each class.
    scores : array of shape (n_rows, n_classes)
        The decision function of each class.
    log_proba : array of shape (n_rows, n_classes)
        The logarithms of the predicted probabilities.
    ones : array of shape (n_classes, n_features)
        The training rows of each class in which each feature is 1.
    class_count : array of shape (n_classes,)
        The training rows of each class.
    """

    rows: Any
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    scores: NDArray[np.float64]
    log_proba: NDArray[np.float64]
    ones: NDArray[Any]
    class_count: NDArray[Any]


class Relatives:
    """The ancestors and descendants of all features, in consecutive lists that are computed on first use.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy over the features.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy

    @cached_property
    def _lists(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The features of the lists, their relatives, and which relatives are ancestors.

        Ancestors come first in each list.
        """
        above, below = self._hierarchy.ancestor_matrix, self._hierarchy.descendant_matrix
        n_above, n_below = np.diff(above.indptr), np.diff(below.indptr)
        features = np.arange(len(self._hierarchy))
        owner = np.concatenate([np.repeat(features, n_above), np.repeat(features, n_below)])
        related = np.concatenate([above.indices, below.indices]).astype(np.int64)
        is_above = np.arange(owner.size) < above.indices.size
        order = np.argsort(owner, kind="stable")
        return owner[order], related[order], is_above[order]

    def first_to_enter(
        self, is_in_tree: NDArray[np.bool_], values: NDArray[np.uint8], entered: NDArray[np.int64]
    ) -> tuple[RemovedFeature, ...]:
        """Return each feature outside a tree, with the first relative of the same value that entered the tree.

        Parameters
        ----------
        is_in_tree : bool array of shape (n_features,)
            Which features are in the tree. Each of the others has a relative in the tree with its value.
        values : array of shape (n_features,)
            The row.
        entered : array of shape (n_features,)
            When each feature of the tree entered it. Of two that entered together, an ancestor comes before a
            descendant, and then the one that is first in column order.
        """
        owner, related, is_above = self._lists
        competes = ~is_in_tree[owner] & is_in_tree[related] & (values[owner] == values[related])
        places = np.flatnonzero(competes)
        # By feature, then by entry; the place in the lists decides between those that entered together.
        places = places[np.lexsort((places, entered[related[places]], owner[places]))]
        features, starts = np.unique(owner[places], return_index=True)
        first = places[starts]
        kinds = (RemovalKind.SAME_AS_DESCENDANT, RemovalKind.SAME_AS_ANCESTOR)
        found = zip(features.tolist(), related[first].tolist(), is_above[first].tolist(), strict=True)
        return tuple(RemovedFeature(u, by, kinds[above]) for u, by, above in found)
