"""A selection, and the three models of the features that it keeps, as the kernel computes them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hietan import _kernel
from hietan.classifiers._shared_relations import SharedRelations
from hietan.hierarchy import Hierarchy
from hietan.structure import EdgeRanking, PairCounts, relevance_levels, unpack
from hietan.structure.tree import ABSENT, ROOT

SELECTIONS = _kernel.SELECTIONS
MODELS = ("naive-bayes", "tan", "nearest")


class SharedSelector:
    """A selection, prepared once for the kernel (`kernel`) and shared by all chunks of rows.

    The kernel's own object cannot be pickled; a copy in another process makes it again.
    """

    def __init__(
        self, counts: PairCounts, hierarchy: Hierarchy, selection: str, n_features: int, unit: float
    ) -> None:
        self._made_from = counts, hierarchy, selection, n_features, unit
        # HIP compares nothing.
        is_hip = selection == "hip"
        n = counts.n_features
        self.levels = np.zeros(n, dtype=np.int32) if is_hip else relevance_levels(counts, unit)
        relations = SharedRelations(hierarchy)
        self.kernel = _kernel.Selector(relations.kernel, selection, self.levels, n_features)

    def kept(self, words: NDArray[np.uint64], n_rows: int) -> NDArray[np.uint8]:
        """Which features each of some packed rows keeps, a byte per cell."""
        return unpack(self.kernel.select(words), n_rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedSelector, self._made_from


class LazyModel(Protocol):
    """What scores the features that a selection keeps."""

    selector: SharedSelector

    def joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64], tables: dict[str, Any]
    ) -> NDArray[np.float64]:
        """ln P(c, x) of packed rows; `tables` are the kernel's counts and smoothing."""


class SelectedNaiveBayes:
    """Naive Bayes; see `LazyModel`."""

    has_tree = False

    def __init__(self, selector: SharedSelector) -> None:
        self.selector = selector

    def joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64], tables: dict[str, Any]
    ) -> NDArray[np.float64]:
        """ln P(c, x) of packed rows."""
        return _kernel.selected_joint_log(self.selector.kernel, words, n_rows, log_prior=log_prior, **tables)

    def parents(self, words: NDArray[np.uint64], n_rows: int) -> NDArray[np.int32]:
        """Each feature that is kept is a tree of its own."""
        return np.where(self.selector.kept(words, n_rows), ROOT, ABSENT).astype(np.int32)


class SelectedTree:
    """The maximum spanning tree of the kept features, a tree per row; see `LazyModel`."""

    has_tree = True

    def __init__(
        self,
        selector: SharedSelector,
        counts: PairCounts,
        hierarchy: Hierarchy,
        root_order: NDArray[np.int64],
    ) -> None:
        self.selector = selector
        self.root_order = root_order
        # The selection knows the relations; the tree, like TAN's, does not.
        self.ranking = EdgeRanking(counts, Hierarchy.unrelated(hierarchy.features))
        self.ranking.prepare()

    def joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64], tables: dict[str, Any]
    ) -> NDArray[np.float64]:
        """ln P(c, x) of packed rows."""
        return _kernel.selected_tree_joint_log(
            self.selector.kernel,
            self.ranking.kernel,
            words,
            n_rows,
            self.root_order,
            log_prior=log_prior,
            **tables,
        )

    def parents(self, words: NDArray[np.uint64], n_rows: int) -> NDArray[np.int32]:
        """The tree of each row."""
        return _kernel.selected_trees(
            self.selector.kernel, self.ranking.kernel, words, n_rows, self.root_order
        )


class Nearest(NamedTuple):
    """The training rows nearest to some rows, nearest first.

    Attributes
    ----------
    rows : array of shape (n_rows, n_neighbors)
        The numbers of the training rows.
    common, either : arrays of shape (n_rows, n_neighbors)
        How many of the kept features are 1 in both rows, and in either; their ratio is the similarity.
    votes : array of shape (n_rows, n_neighbors)
        How many votes each training row has: its weight in rows, or what the nearer ones leave of the votes.
    """

    rows: NDArray[np.int64]
    common: NDArray[np.int64]
    either: NDArray[np.int64]
    votes: NDArray[np.float64]


class NearestRows:
    """The votes of the nearest training rows; see `LazyModel`.

    The kernel's own object cannot be pickled; a copy in another process makes it again.
    """

    def __init__(
        self,
        selector: SharedSelector,
        training_words: NDArray[np.uint64],
        training_codes: NDArray[np.int64],
        training_weights: NDArray[np.int32],
        n_neighbors: int,
        unit: float,
    ) -> None:
        self.selector = selector
        self._made_from = selector, training_words, training_codes, training_weights, n_neighbors, unit
        # Multiples of a power of two: sums and differences of them are exact.
        self.codes, self.weights = training_codes, training_weights * unit
        self.n_votes = min(float(n_neighbors), float(self.weights.sum()))
        # Even the lightest rows have all votes if there are this many of them.
        enough = np.searchsorted(np.cumsum(np.sort(self.weights)), self.n_votes) + 1
        self.n_nearest = min(int(enough), len(self.codes))
        self.kernel = _kernel.Neighbours(training_words, len(training_codes))

    def nearest(self, words: NDArray[np.uint64], n_rows: int) -> Nearest:
        """The nearest training rows of packed rows: so many that they have all of the votes."""
        rows, common, either = self.kernel.nearest(self.selector.kernel, words, n_rows, self.n_nearest)
        weights = self.weights[rows]
        left = self.n_votes - (np.cumsum(weights, axis=1) - weights)
        return Nearest(rows, common, either, np.clip(left, 0, weights))

    def joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64], tables: dict[str, Any]
    ) -> NDArray[np.float64]:
        """The logarithms of the shares of the votes; of the prior, for a row that keeps no feature."""
        n_classes = len(log_prior)
        votes = np.zeros((n_rows, n_classes))
        found = self.nearest(words, n_rows)
        np.add.at(votes, (np.arange(n_rows)[:, None], self.codes[found.rows]), found.votes)
        with np.errstate(divide="ignore"):
            joint: NDArray[np.float64] = np.log(votes / self.n_votes)
        joint[~self.selector.kept(words, n_rows).any(axis=1)] = log_prior
        return joint

    def __reduce__(self) -> tuple[Any, ...]:
        return NearestRows, self._made_from
