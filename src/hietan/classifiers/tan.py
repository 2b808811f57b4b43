"""Tree augmented naive Bayes and its hierarchical relatives."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from hietan.classifiers._trees import EagerTreeClassifier, LazyTreeClassifier
from hietan.hierarchy import Hierarchy


class TAN(EagerTreeClassifier):
    """Tree augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997).

    Learns the maximum spanning tree of the features by conditional mutual information given the class; its edges point
    away from a random root. The hierarchy has no influence: TAN is the baseline for the other methods.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float, default 1.0
        Weight of the prior guess in every probability; it must be above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all
        classes together, so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    random_state : int, RandomState instance or None, default None
        Source of the random choices of the fit. An int makes them the same in every fit.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    root_order_ : array of shape (n_features,)
        A permutation of the features, drawn with `random_state`. Wherever several features could be the root, the
        first of them in this order is taken.
    tree_ : Tree
        The tree that scores every row.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

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
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            binarize=binarize,
            class_prior=class_prior,
            random_state=random_state,
            n_jobs=n_jobs,
        )


class HieTAN(EagerTreeClassifier):
    """Hierarchical dependency constrained TAN (Wan & Freitas, arXiv 2202.04105, Algorithms 1 and 2).

    Learns one tree, grown from the most informative edge down. An edge between an ancestor and its descendant points
    from the ancestor to the descendant. As each feature may have only one parent, the direction of any other edge
    follows from which of its features has a parent already; edges that are still open point away from a random root.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float, default 1.0
        Weight of the prior guess in every probability; it must be above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all
        classes together, so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    random_state : int, RandomState instance or None, default None
        Source of the random choices of the fit. An int makes them the same in every fit.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    root_order_ : array of shape (n_features,)
        A permutation of the features, drawn with `random_state`. Wherever several features could be the root, the
        first of them in this order is taken.
    tree_ : Tree
        The tree that scores every row.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

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

    without_hierarchy = "a plain TAN"

    _directed = True

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
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            binarize=binarize,
            class_prior=class_prior,
            random_state=random_state,
            n_jobs=n_jobs,
        )


class HieTANLite(LazyTreeClassifier):
    """Hie-TAN without hierarchical redundancy (Wan & Freitas, arXiv 2202.04105, Algorithms 3 to 5).

    Lazy: it learns a tree for each row to classify. The tree grows as in :class:`HieTAN`, but two related features with
    the same value in that row are redundant to each other: no edge joins them, and the one that enters the tree first
    removes the other.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float, default 1.0
        Weight of the prior guess in every probability; it must be above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all
        classes together, so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    random_state : int, RandomState instance or None, default None
        Source of the random choices of the fit. An int makes them the same in every fit.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    root_order_ : array of shape (n_features,)
        A permutation of the features, drawn with `random_state`. Wherever several features could be the root, the
        first of them in this order is taken.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, HieTANLite
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> rows = [[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl"])
    >>> clf = HieTANLite(hierarchy=hierarchy, random_state=0).fit(X, [1, 0, 1, 0, 1, 0, 1, 0])
    >>> clf.trees(X)[3].edges  # "no owl" was removed: it is redundant to "no bird"
    (('animal', 'bird'),)
    """

    without_hierarchy = "a plain TAN"

    _directed = True

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
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            binarize=binarize,
            class_prior=class_prior,
            random_state=random_state,
            n_jobs=n_jobs,
        )


class HRETAN(LazyTreeClassifier):
    """Hierarchical redundancy eliminated TAN (Wan & Freitas 2016).

    Lazy, with the redundancy rules of :class:`HieTANLite`. The hierarchy does not direct the edges: they point away
    from a random root.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float, default 1.0
        Weight of the prior guess in every probability; it must be above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all
        classes together, so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    random_state : int, RandomState instance or None, default None
        Source of the random choices of the fit. An int makes them the same in every fit.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    root_order_ : array of shape (n_features,)
        A permutation of the features, drawn with `random_state`. Wherever several features could be the root, the
        first of them in this order is taken.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

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

    without_hierarchy = "a plain TAN"

    _directed = False

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
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            binarize=binarize,
            class_prior=class_prior,
            random_state=random_state,
            n_jobs=n_jobs,
        )
