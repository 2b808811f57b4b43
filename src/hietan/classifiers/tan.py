"""Tree augmented naive Bayes and its hierarchical relatives: one tree for all rows, or one for each."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hietan import _kernel
from hietan.classifiers._base import BaseBayes
from hietan.hierarchy import Hierarchy
from hietan.parallel import map_chunks
from hietan.structure import EdgeRanking, PairCounts, Tree

_PARAMETERS = """

    Parameters
    ----------
    hierarchy : Hierarchy or None
        The DAG of the features. Named columns of X are matched by name; columns that it does not know are related
        to nothing. Without names the columns must be `hierarchy.features`. None: no relations.
    alpha : float, default 1.0
        Weight of the prior guess in every probability, above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess: one half ("laplace", as in the paper), or the same conditional over all classes together
        ("pooled"), so that what is rare or certain speaks for no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None: X must hold 0 and 1 alone.
    class_prior : array of shape (n_classes,) or None
        Probabilities of the classes, in sorted order; None: estimated from y.
    random_state : int, RandomState or None
        Draws `root_order_`, which decides wherever a root may be chosen.
    n_jobs : int or None
        Threads for the prediction, as in joblib. Results do not depend on it.

    Attributes
    ----------
    classes_, class_count_ : arrays of shape (n_classes,)
        The labels, sorted, and their numbers of training rows.
    counts_ : PairCounts
        The statistics, all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    root_order_ : array of shape (n_features,)
        A permutation of the features; of the candidates for a root the first in it is taken.
    n_features_in_, feature_names_in_
        Number and, if X had string names, names of the columns.
"""


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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        idea, _, rest = (cls.__doc__ or "").partition("\n\n    Examples")
        cls.__doc__ = idea.rstrip() + _PARAMETERS + ("\n    Examples" + rest if rest else "")

    @abstractmethod
    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X."""

    def _begin(self) -> None:
        self.root_order_ = check_random_state(self.random_state).permutation(self.n_features_in_)

    def _set_counts(self, counts: PairCounts) -> None:
        super()._set_counts(counts)
        self._ranking = EdgeRanking(counts, self.hierarchy_)

    @property
    def _root_order(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self.root_order_, dtype=np.int64)

    def _tables(self, log_prior: NDArray[np.float64]) -> dict[str, Any]:
        """What the kernel needs to turn counts into probabilities."""
        return {
            "class_count": self.counts_.class_count,
            "ones": self.counts_.ones,
            "pairs": self.counts_.pairs,
            "log_prior": log_prior,
            "alpha": float(self.alpha),
            "pooled": self.smoothing == "pooled",
        }


class _EagerTreeClassifier(_TreeClassifier):
    """Learns one tree from the training data."""

    @abstractmethod
    def _learn_parents(self) -> NDArray[np.int32]:
        """The parent of each feature."""

    def _set_counts(self, counts: PairCounts) -> None:
        super()._set_counts(counts)
        self._tree: Tree | None = None

    def _learn(self) -> None:
        self._tree = Tree(self._learn_parents(), self.hierarchy_.features)

    @property
    def tree_(self) -> Tree:
        """The tree that scores every row. After `partial_fit` it is learned when it is first asked for."""
        check_is_fitted(self)
        if self._tree is None:
            self._learn()
        assert self._tree is not None
        return self._tree

    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X: for all of them the same object, `tree_`."""
        return [self.tree_] * self._read(X).n_rows

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.tree_joint_log(self.tree_.parent, words, n_rows, **self._tables(log_prior))


class _LazyTreeClassifier(_TreeClassifier):
    """Learns a tree for each row it is asked about, from the counts alone."""

    _directed: bool

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
        return _kernel.lazy_joint_log(words=words, n_rows=n_rows, **self._search(), **self._tables(log_prior))

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

    def _learn_parents(self) -> NDArray[np.int32]:
        return _kernel.spanning_tree(self._ranking.keys, self.n_features_in_, int(self.root_order_[0]))


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

    def _learn_parents(self) -> NDArray[np.int32]:
        ranking = self._ranking
        return _kernel.hierarchical_tree(ranking.keys, ranking.relations, self._root_order)


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
