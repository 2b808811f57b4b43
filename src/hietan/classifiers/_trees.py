"""Classifiers that score rows by a tree over the features: one tree for all rows, or one for each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._base import PackedBayes
from hietan.classifiers._solvers.network_regression import as_matrix
from hietan.classifiers.checks import random_source, require_two_classes
from hietan.explain import RemovedByRow, RemovedFeature, ScoreParts, Trace, trace_tree
from hietan.explain.labels import readable_names, row_labels
from hietan.explain.relatives import Relatives
from hietan.explain.score_parts import NOTHING_REMOVED, DenseStates
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, EdgeRanking, Tree, mean_tree_contribution, unpack
from hietan.structure.tree import ABSENT


class TreeClassifier(PackedBayes):
    """Stores the parameters, draws the order of the roots and takes the scores of trees apart."""

    _stored = PackedBayes._stored | {"root_order_"}
    root_order_: NDArray[np.int64]
    _directed: bool  # whether the hierarchy gives edges their directions
    _removes_redundant: bool  # whether features that are redundant in a row are left out of its tree

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.weight_unit = weight_unit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X."""

    def trace(self, X: Any, *, term_names: Any = None, limit: int | None = None) -> Trace:
        """How the tree of one row was learned: which edges were taken or refused, and why (Figures 2a and 3a).

        It takes longer than a prediction, up to seconds for a thousand features, unless it is limited.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (1, n_features), or one row of it
            The row.
        term_names : mapping, sequence or None, default None
            Readable names of the features: by feature, or in the order of the columns.
        limit : int or None, default None
            Record this many edges from the top of the ranking, and of the others only those that were taken. None
            means that all edges are recorded until the tree is complete.

        Returns
        -------
        Trace
            The edges in the order in which they were considered, and the tree, which is that of `trees`.
        """
        X = _as_table(X)
        rows = self._read(X)
        if rows.n_rows != 1:
            raise ValueError(f"trace takes one row, got {rows.n_rows}; pass a single one, such as X[:1]")
        ranking = self._ranking
        values = unpack(rows.words(np.arange(1)), 1)[0].tolist()
        learned = None if limit is None else self.trees(X)[0].parent
        return trace_tree(
            ranking.walk(limit, learned),
            self.hierarchy_,
            self._root_order.tolist(),
            directed=self._directed,
            values=values if self._removes_redundant else None,
            lone_feature=lambda: ranking.lone_feature,
            method=type(self).__name__,
            row=row_labels(X, 1)[0],
            names=readable_names(term_names, self.hierarchy_.features),
        )

    @property
    @abstractmethod
    def _ranking(self) -> EdgeRanking:
        """The ranking of the edges."""

    def _draw(self, n_features: int) -> dict[str, Any]:
        return {"root_order_": random_source(self.random_state).permutation(n_features)}

    @property
    def _root_order(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self.root_order_, dtype=np.int64)

    def _tree_parts(
        self,
        parents: NDArray[np.int32],
        words: NDArray[np.uint64],
        log_prior: NDArray[np.float64],
        removed: RemovedByRow = NOTHING_REMOVED,
    ) -> ScoreParts:
        """The parts that add up to the scores by the trees `parents`, one for each row."""
        n_rows = len(parents)
        base = np.tile(log_prior, (n_rows, 1))
        factors = _kernel.tree_factors(
            parents, words, n_rows, **self._count_arguments(), **self._smoothing_arguments()
        )
        return ScoreParts(
            values=unpack(words, n_rows),
            parents=parents,
            factors=factors,
            base=base,
            removed=removed,
            has_tree=True,
        )


class EagerTreeClassifier(TreeClassifier):
    """Learns one tree from the training data."""

    _removes_redundant = False

    @property
    def _ranking(self) -> EdgeRanking:
        # Not kept: a tree needs it once.
        return EdgeRanking(self.counts_, self.hierarchy_, n_jobs=self.n_jobs)

    def _learn(self) -> Tree:
        parent = self._ranking.tree(self._root_order, directed=self._directed)
        return Tree(parent, self.hierarchy_.features)

    @property
    def tree_(self) -> Tree:
        """The tree that scores every row. After `partial_fit` it is learned on first use."""
        check_is_fitted(self)
        tree: Tree = self._learned
        return tree

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature contributes to the log-odds of the two classes: its mean absolute contribution.

        This is the mean of ``|contribution|`` in `explain` over all training rows, each with its weight; it is computed
        from the counts alone. There are none for more than two classes.
        """
        check_is_fitted(self)
        require_two_classes(self.classes_)
        return mean_tree_contribution(self.tree_.parent, self.counts_, **self._smoothing_arguments())

    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X: the same object, `tree_`, for all rows."""
        return [self.tree_] * self._read(X).n_rows

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.tree_joint_log(
            self.tree_.parent,
            words,
            n_rows,
            log_prior=log_prior,
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )

    def _score_parts(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        values = unpack(words, n_rows)
        states = self._states(values)[..., None].astype(np.intp)
        factors = np.take_along_axis(self._factors_by_state(), states, axis=0)
        return ScoreParts(
            values=values,
            parents=np.tile(self.tree_.parent, (n_rows, 1)),
            factors=factors,
            base=np.tile(log_prior, (n_rows, 1)),
            has_tree=True,
        )

    def _take_apart_by_state(self, X: Any) -> DenseStates:
        ones, parent = as_matrix(self._read(X).sparse()), self.tree_.parent
        children = np.flatnonzero(parent >= 0)
        edges: Any = np.ones(children.size), (parent[children], children)
        # The states of `_states`; where a feature and its parent are 0, there is no entry.
        states = 2 * ones + ones @ sp.csr_array(edges, shape=(parent.size, parent.size))
        return DenseStates(states, self._factors_by_state())

    def _states(self, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Twice the value of each feature, plus that of its parent, which is 0 where there is none."""
        parent = self.tree_.parent
        states: NDArray[np.uint8] = 2 * values + np.where(parent >= 0, values[:, parent], 0).astype(np.uint8)
        return states

    def _factors_by_state(self) -> NDArray[np.float64]:
        """What each feature adds in each state, shape (4, n_features, n_classes).

        Four rows have them all: in each, the features at even depths of the tree have one value, the others another.
        """
        tree = self.tree_
        odd = _is_at_odd_depth(tree.parent)
        rows = np.stack([np.where(odd, b, a) for a in (0, 1) for b in (0, 1)]).astype(np.uint8)
        words = BinaryRows.from_matrix(rows, None).words(np.arange(4))
        arguments = {**self._count_arguments(), **self._smoothing_arguments()}
        found = _kernel.tree_factors(np.tile(tree.parent, (4, 1)), words, 4, **arguments)
        factors = np.empty_like(found)
        np.put_along_axis(factors, self._states(rows)[..., None].astype(np.intp), found, axis=0)
        alone = tree.parent < 0  # no parent's value: its state is 0 or 2
        factors[1, alone], factors[3, alone] = factors[0, alone], factors[2, alone]
        return factors


class LazyTreeClassifier(TreeClassifier):
    """Learns a tree for each row to predict, from the counts alone."""

    _removes_redundant = True

    def _learn(self) -> EdgeRanking:
        ranking = EdgeRanking(self.counts_, self.hierarchy_, n_jobs=self.n_jobs)
        ranking.prepare()
        return ranking

    @property
    def _ranking(self) -> EdgeRanking:
        ranking: EdgeRanking = self._learned
        return ranking

    def trees(self, X: Any) -> list[Tree]:
        """The tree learned for each row of X."""
        rows = self._read(X)
        names = self.hierarchy_.features
        search = self._search_arguments()

        def learn(start: int, stop: int) -> list[Tree]:
            words = rows.words(np.arange(start, stop))
            return [Tree(p, names) for p in _kernel.lazy_trees(words=words, n_rows=stop - start, **search)]

        return [tree for chunk in map_chunks(learn, rows.n_rows, self.n_jobs) for tree in chunk]

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.lazy_joint_log(
            words=words,
            n_rows=n_rows,
            log_prior=log_prior,
            **self._search_arguments(),
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )

    def _score_parts(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        parents = _kernel.lazy_trees(words=words, n_rows=n_rows, **self._search_arguments())
        values, relatives, ranking = unpack(words, n_rows), Relatives(self.hierarchy_), self._ranking

        def find(row: int) -> tuple[RemovedFeature, ...]:
            tree = parents[row]
            return relatives.first_to_enter(tree != ABSENT, values[row], ranking.order_of_entry(tree))

        return self._tree_parts(parents, words, log_prior, RemovedByRow(n_rows, find))

    def _search_arguments(self) -> dict[str, Any]:
        """What the kernel needs to learn a tree."""
        ranking = self._ranking
        return {
            "ranking": ranking.kernel,
            "root_order": self._root_order,
            "lone_feature": ranking.lone_feature,
            "directed": self._directed,
        }


def _is_at_odd_depth(parent: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether an odd number of edges leads from each feature of a tree to the root, which is its own ancestor here."""
    ancestor, odd = np.where(parent >= 0, parent, np.arange(parent.size)), parent >= 0
    for _ in range(parent.size.bit_length()):  # twice as far each time
        odd, ancestor = odd ^ odd[ancestor], ancestor[ancestor]
    return odd


def _as_table(X: Any) -> Any:
    """A single row as a table of one row; a table stays what it is."""
    if getattr(X, "ndim", None) != 1:
        return X
    return X.to_frame().T if hasattr(X, "to_frame") else X.reshape(1, -1)
