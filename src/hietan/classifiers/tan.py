"""Tree augmented naive Bayes and its hierarchical relatives: one tree for all rows, or one for each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._base import BaseBayes
from hietan.explain import Parts
from hietan.hierarchy import Hierarchy
from hietan.structure import EdgeRanking, PairCounts, Tree, unpack
from hietan.structure.tree import ABSENT


class _TreeClassifier(BaseBayes):
    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X."""

    def _begin(self) -> None:
        self.root_order_ = check_random_state(self.random_state).permutation(self.n_features_in_)

    def _tree_parts(
        self,
        parents: NDArray[np.int32],
        words: NDArray[np.uint64],
        log_prior: NDArray[np.float64],
        removals: Callable[[int], Iterable[tuple[int, int, str]]] = lambda row: (),
    ) -> Parts:
        n_rows = len(parents)
        counts, smoothing = self._count_arguments(), self._smoothing_arguments()
        return Parts(
            joint=self._joint_log(words, n_rows, log_prior),
            values=unpack(words, n_rows),
            parents=parents,
            factors=_kernel.tree_factors(parents, words, n_rows, **counts, **smoothing),
            base=np.tile(log_prior, (n_rows, 1)),
            removals=removals,
            has_tree=True,
        )

    @property
    def _root_order(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self.root_order_, dtype=np.int64)


class _EagerTreeClassifier(_TreeClassifier):
    """Learns one tree from the training data."""

    _directed: bool

    def _set_counts(self, counts: PairCounts) -> None:
        super()._set_counts(counts)
        self._tree: Tree | None = None

    def _learn(self) -> None:
        ranking = EdgeRanking(self.counts_, self.hierarchy_)  # not kept: a tree needs it once
        self._tree = Tree(ranking.tree(self._root_order, directed=self._directed), self.hierarchy_.features)

    def _prepare(self) -> None:
        if self._tree is None:
            self._learn()

    @property
    def tree_(self) -> Tree:
        """The tree that scores every row. After `partial_fit` it is learned when it is first asked for."""
        check_is_fitted(self)
        self._prepare()
        assert self._tree is not None
        return self._tree

    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X: for all of them the same object, `tree_`."""
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

    def _parts(self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]) -> Parts:
        return self._tree_parts(np.tile(self.tree_.parent, (n_rows, 1)), words, log_prior)


class _LazyTreeClassifier(_TreeClassifier):
    """Learns a tree for each row it is asked about, from the counts alone."""

    _directed: bool

    def _set_counts(self, counts: PairCounts) -> None:
        super()._set_counts(counts)
        self._ranking = EdgeRanking(counts, self.hierarchy_)

    def _learn(self) -> None:
        self._ranking.prepare()

    def trees(self, X: Any) -> list[Tree]:
        """The tree learned for each row of X."""
        rows = self._read(X)
        names = self.hierarchy_.features
        search = self._search()

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
            **self._search(),
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )

    def _parts(self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]) -> Parts:
        parents = _kernel.lazy_trees(words=words, n_rows=n_rows, **self._search())
        values = unpack(words, n_rows)
        return self._tree_parts(
            parents, words, log_prior, lambda row: self._removals(parents[row], values[row])
        )

    def _removals(
        self, parent: NDArray[np.int32], value: NDArray[np.uint8]
    ) -> Iterator[tuple[int, int, str]]:
        """Each feature that is not in the tree, the first of its relatives of the same value to enter it, and why."""
        entered = self._order_of_entry(parent)
        above, below = self.hierarchy_.ancestor_matrix, self.hierarchy_.descendant_matrix
        for u in np.flatnonzero(parent == ABSENT).tolist():
            ancestors = above.indices[above.indptr[u] : above.indptr[u + 1]]
            related = np.concatenate([ancestors, below.indices[below.indptr[u] : below.indptr[u + 1]]])
            kept = related[(parent[related] != ABSENT) & (value[related] == value[u])]
            by = int(kept[np.argmin(entered[kept])])
            kin = "ancestor" if by in ancestors else "descendant"
            yield u, by, f"same value as its {kin} {self.hierarchy_.features[by]}"

    def _order_of_entry(self, parent: NDArray[np.int32]) -> NDArray[np.int64]:
        """When each feature of a tree got its first edge: edges enter in the order of the ranking."""
        children = np.flatnonzero(parent >= 0)
        ends = np.sort(np.stack([parent[children].astype(np.int64), children]), axis=0)
        keys = _kernel.pair_keys(ends[0].copy(), ends[1].copy(), **self._count_arguments())
        entered = np.full(parent.size, children.size, dtype=np.int64)
        for rank, edge in reversed(list(enumerate(np.lexsort((ends[1], ends[0], -keys)).tolist()))):
            entered[ends[:, edge]] = rank
        return entered

    def _prepare(self) -> None:
        self._search()

    def _search(self) -> dict[str, Any]:
        """What the kernel needs to learn a tree."""
        return {
            "ranking": self._ranking.kernel,
            "root_order": self._root_order,
            "lone_feature": self._ranking.lone_feature,
            "directed": self._directed,
        }


class TAN(_EagerTreeClassifier):
    """Tree augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997).

    The maximum spanning tree of the features by conditional mutual information given the class, its edges pointing
    away from a random root. The hierarchy plays no part in it: TAN is what the others are compared with.

    Examples
    --------
    >>> import numpy as np
    >>> from hietan import TAN
    >>> X = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 0]])
    >>> clf = TAN(random_state=0).fit(X, ["a", "a", "b", "b", "a"])
    >>> print(clf.predict([[0, 0, 1]]))
    ['b']
    >>> len(clf.tree_.edges)
    2
    """

    _directed = False


class HieTAN(_EagerTreeClassifier):
    """Hierarchical dependency constrained TAN (Wan & Freitas, arXiv 2202.04105, Algorithms 1 and 2).

    One tree, grown from the most informative edge down. An edge between an ancestor and its descendant points from
    the one to the other; the direction of any other edge follows from who has a parent already, as each feature may
    have one only; what is left open points away from a random root.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, HieTAN
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> rows = [[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl"])
    >>> clf = HieTAN(hierarchy=hierarchy, random_state=0).fit(X, [1, 0, 1, 0, 1, 0, 1, 0])
    >>> clf.tree_.edges
    (('animal', 'bird'), ('bird', 'owl'))
    """

    _directed = True


class HieTANLite(_LazyTreeClassifier):
    """Hie-TAN without hierarchical redundancy (Wan & Freitas, arXiv 2202.04105, Algorithms 3 to 5).

    Lazy: a tree for each row to classify. It grows as in :class:`HieTAN`, but two related features with the same
    value in that row are redundant to each other: no edge joins them, and whichever enters the tree removes the
    other.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, HieTANLite
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> rows = [[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl"])
    >>> clf = HieTANLite(hierarchy=hierarchy, random_state=0).fit(X, [1, 0, 1, 0, 1, 0, 1, 0])
    >>> clf.trees(X)[3].edges  # "no owl" went: it is redundant to "no bird"
    (('animal', 'bird'),)
    """

    _directed = True


class HRETAN(_LazyTreeClassifier):
    """Hierarchical redundancy eliminated TAN (Wan & Freitas 2016).

    Lazy, with the redundancy rules of :class:`HieTANLite`; the hierarchy gives no direction, edges point away from a
    random root.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import HRETAN, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> rows = [[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl"])
    >>> clf = HRETAN(hierarchy=hierarchy, random_state=0).fit(X, [1, 0, 1, 0, 1, 0, 1, 0])
    >>> sorted(clf.trees(X)[3].features)
    ['animal', 'bird']
    """

    _directed = False
