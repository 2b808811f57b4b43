"""Eager selection along the hierarchy, as transformers that choose columns once, from the training rows."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from hietan.classifiers._checks import (
    ACCEPTED,
    align_hierarchy,
    check_parameters,
    in_memory,
    is_finite,
    require_classes_to_tell_apart,
    require_weight,
    validated,
    warn_of_columns,
    warn_of_contradiction,
)
from hietan.classifiers._fitting import read_rows
from hietan.hierarchy import Hierarchy
from hietan.selection._columns import take_columns
from hietan.structure._counts import PairCounts, count_ones
from hietan.structure._relevance import comparison_keys, gain_ratio, information_gain, lift
from hietan.structure._rows import BinaryRows, first_violation


class EagerSelection(SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    """A transformer that counts the training rows, scores each feature and selects features along the hierarchy.

    A subclass implements `_score` and `_select`. The columns of a data frame keep their names for every output
    setting, so that the next pipeline step matches its hierarchy by name. Arrays and sparse matrices have none;
    `set_output(transform="pandas")` gives dense ones the names of the hierarchy, and `SelectedColumns` needs no
    names.
    """

    hierarchy_: Hierarchy
    scores_: NDArray[np.float64]
    support_: NDArray[np.bool_]

    def __init__(self, *, hierarchy: Hierarchy | None = None, binarize: float | None = 0.0) -> None:
        self.hierarchy = hierarchy
        self.binarize = binarize

    @abstractmethod
    def _score(self, counts: PairCounts) -> NDArray[np.float64]:
        """Return the feature scores that the selection compares."""

    @abstractmethod
    def _select(self, scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.bool_]:
        """Return which features to keep."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the features from the training rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. A sparse matrix is never made dense; the columns of a data frame are matched to the
            hierarchy by name.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default None
            How often each row counts; 0 leaves it out. Weights that are not whole numbers are rounded to multiples of a
            billionth of their total or less. None means once.

        Returns
        -------
        self
            The fitted selector.
        """
        self._check_parameters()
        # A failed fit leaves no selection rather than a mixture.
        for name in ("support_", "scores_", "hierarchy_"):
            self.__dict__.pop(name, None)
        rows = read_rows(self, *map(self._in_memory, (X, y, sample_weight)))
        require_weight(rows.labels)
        rows = rows.weighed(rows.labels)
        classes, codes = np.unique(rows.y, return_inverse=True)
        require_classes_to_tell_apart(self, classes)
        hierarchy = align_hierarchy(self.hierarchy, rows.names, rows.n_features)
        warn_of_columns(self.hierarchy, rows.names, stacklevel=2)
        # All scores are ratios of counts, so that the unit of the weights does not matter.
        table = BinaryRows.from_matrix(rows.X, self.binarize, rows.units)
        warn_of_contradiction(rows.as_given(first_violation(table, hierarchy)), stacklevel=2)
        scores = self._score(count_ones(table, codes.astype(np.int64), len(classes)))
        self.hierarchy_, self.scores_ = hierarchy, scores
        self.support_ = self._select(scores, hierarchy)
        return self

    def transform(self, X: Any) -> Any:
        """Return the chosen features of X, with unchanged values.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_samples, n_selected)
            A data frame for a data frame, a sparse matrix for a sparse matrix.
        """
        check_is_fitted(self)
        rows = validated(self, self._in_memory(X), dtype=None, reset=False)
        return take_columns(X, rows, np.flatnonzero(self.support_))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the chosen features, from X or, if X has no names, from the hierarchy.

        Parameters
        ----------
        input_features : array of str or None, default None
            All column names; if X had names, they must be the same.

        Returns
        -------
        array of str
            The names of the chosen columns.
        """
        check_is_fitted(self)
        if input_features is None and not hasattr(self, "feature_names_in_"):
            return np.array(self.hierarchy_.features, dtype=object)[self.support_]
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)
        return names

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _check_parameters(self) -> None:
        check_parameters(self, {**ACCEPTED, "threshold": (is_finite, "a number, such as 0.99")})

    def _in_memory(self, rows: Any) -> Any:
        return in_memory(rows, type(self).__name__, "all rows are needed to choose the columns")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class GTD(EagerSelection):
    """Greedy top-down selection (Lu et al. 2013), which keeps the best unrelated features of each branch.

    A branch is a child of a root with all of its descendants. In each branch, the feature with the largest gain ratio
    is kept, and its ancestors and descendants within the branch are dropped. This is repeated until no feature is
    left. Roots that have children are never kept; a feature without relations is a separate branch.

    Parameters
    ----------
    hierarchy, binarize
        As for :class:`TAN`.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    scores_ : array of shape (n_features,)
        The gain ratio of each column, in nats; 0 for a constant one.
    hierarchy_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import GTD, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 1], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0], "cat": [0, 0, 1, 0]})
    >>> GTD(hierarchy=hierarchy).fit_transform(X, [1, 1, 0, 0]).columns.tolist()
    ['bird', 'cat']
    """

    def _score(self, counts: PairCounts) -> NDArray[np.float64]:
        return gain_ratio(counts)

    def _select(self, scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.bool_]:
        d = len(hierarchy)
        children, below, above = hierarchy.adjacency, hierarchy.descendant_matrix, hierarchy.ancestor_matrix
        is_root = np.diff(above.indptr) == 0
        chosen: NDArray[np.bool_] = is_root & (np.diff(children.indptr) == 0)
        place = np.empty(d, dtype=np.int64)  # of each feature among all, the best first
        place[np.lexsort((np.arange(d), -comparison_keys(scores)))] = np.arange(d)
        left = np.zeros(d, dtype=np.bool_)
        for top in np.unique(children[np.flatnonzero(is_root)].indices).tolist():
            branch = np.append(_row(below, top), top)
            left[branch] = True
            for v in branch[np.argsort(place[branch])].tolist():
                if left[v]:
                    chosen[v] = True
                    left[_row(above, v)] = left[_row(below, v)] = left[v] = False
        return chosen


class SHSEL(EagerSelection):
    """Selection by similarity and by paths (Ristoski & Paulheim 2014).

    First, a child whose information gain is so close to a parent's that their similarity, 1 minus the distance,
    reaches the threshold is dropped. Then, in the hierarchy of the remaining features, a feature is kept if its gain
    is at least the mean gain of some path from a leaf to a root through it.

    Parameters
    ----------
    threshold : float, default 0.99
        The similarity to a parent at which a child is dropped. Above 1, no child is dropped.
    hierarchy, binarize
        As for :class:`TAN`.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    scores_ : array of shape (n_features,)
        The information gain of each column, in nats.
    hierarchy_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import SHSEL, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 1], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0], "cat": [0, 0, 1, 0]})
    >>> SHSEL(hierarchy=hierarchy).fit(X, [1, 1, 0, 0]).get_feature_names_out().tolist()
    ['bird', 'cat']
    """

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        threshold: float = 0.99,
        binarize: float | None = 0.0,
    ) -> None:
        self.hierarchy = hierarchy
        self.threshold = threshold
        self.binarize = binarize

    def _score(self, counts: PairCounts) -> NDArray[np.float64]:
        return information_gain(counts)

    def _select(self, scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.bool_]:
        d, adjacency = len(hierarchy), hierarchy.adjacency
        parent = np.repeat(np.arange(d), np.diff(adjacency.indptr))
        child = adjacency.indices
        left = np.ones(d, dtype=np.bool_)
        left[child[1 - np.abs(scores[child] - scores[parent]) >= float(self.threshold)]] = False
        inside = left[parent] & left[child]
        keys = comparison_keys(scores)
        order = np.argsort(hierarchy.depths, kind="stable")
        over = _lowest_excess(keys, parent[inside], child[inside], order)
        # The feature itself is in both halves of a path; its excess over itself is 0.
        return left & (over + _lowest_excess(keys, child[inside], parent[inside], order[::-1]) <= 0)


class TSEL(EagerSelection):
    """Tree-based selection (Jeong & Myaeng 2013), which keeps the first peak of the lift on each path from a root.

    The lift of a feature is the lift of the class that gains most in rows with it: the largest of P(c | x = 1) /
    P(c). Each path is followed from its root as long as the lift rises, and the last feature is chosen. Chosen
    features with another chosen feature below them are dropped.

    Parameters
    ----------
    hierarchy, binarize
        As for :class:`TAN`.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    scores_ : array of shape (n_features,)
        The lift of each column; 0 for one that is never 1.
    hierarchy_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import TSEL, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 1], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0], "cat": [0, 0, 1, 0]})
    >>> TSEL(hierarchy=hierarchy).fit(X, [1, 1, 0, 0]).get_feature_names_out().tolist()
    ['bird', 'cat']
    """

    def _score(self, counts: PairCounts) -> NDArray[np.float64]:
        return lift(counts)

    def _select(self, scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.bool_]:
        d, adjacency, below = len(hierarchy), hierarchy.adjacency, hierarchy.descendant_matrix
        parent = np.repeat(np.arange(d), np.diff(adjacency.indptr))
        rises = scores[adjacency.indices] > scores[parent]
        climbed = np.diff(hierarchy.ancestor_matrix.indptr) == 0  # reached by steps that all rise
        ends = np.diff(adjacency.indptr) == 0
        ends[parent[~rises]] = True
        for v in np.argsort(hierarchy.depths, kind="stable").tolist():
            if climbed[v]:
                steps = slice(adjacency.indptr[v], adjacency.indptr[v + 1])
                climbed[adjacency.indices[steps][rises[steps]]] = True
        peaks = climbed & ends
        is_above = np.asarray(below @ peaks.astype(np.int64)) > 0
        return np.asarray(peaks & ~is_above, dtype=np.bool_)


def _lowest_excess(
    keys: NDArray[np.int64], source: NDArray[Any], target: NDArray[Any], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each feature v, the least value of (sum of the keys on a path to v) - (its length) x (the key of v).

    Paths begin at vertices without incoming edges, and run along the edges from `source` to `target`. A path through
    v is not above v on average if the excesses of its two halves add up to at most 0. So the smallest excess of each
    half decides. Of the paths of one length, the one with the smallest sum is enough: for each feature, an array over
    the lengths.

    Parameters
    ----------
    keys : array of shape (n_features,)
        The gains as integers.
    source, target : arrays
        The ends of the edges.
    order : array of shape (n_features,)
        The features, sources before targets.
    """
    d = len(keys)
    by_target = np.argsort(target, kind="stable")
    start = np.searchsorted(target[by_target], np.arange(d + 1))
    source = source[by_target]
    shortest: list[int] = [1] * d
    sums: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * d  # of the lengths from `shortest` on
    excess = np.empty(d, dtype=np.int64)
    unreached = np.iinfo(np.int64).max
    for v in order.tolist():
        before = source[start[v] : start[v + 1]].tolist()
        if before:
            first = min(shortest[u] for u in before) + 1
            last = max(shortest[u] + len(sums[u]) for u in before)
            own = np.full(last - first + 1, unreached)
            for u in before:
                here = slice(shortest[u] + 1 - first, shortest[u] + 1 - first + len(sums[u]))
                own[here] = np.minimum(own[here], sums[u])
            reached = own != unreached
            own[reached] += keys[v]
        else:
            first, own, reached = 1, keys[[v]].copy(), np.array([True])
        lengths = np.arange(first, first + len(own))
        excess[v] = (own - lengths * keys[v])[reached].min()
        shortest[v], sums[v] = first, own
    return excess


def _row(matrix: Any, v: int) -> NDArray[np.int32]:
    columns: NDArray[np.int32] = matrix.indices[matrix.indptr[v] : matrix.indptr[v + 1]]
    return columns
