"""HIP: naive Bayes on the most specific features of each row."""

from __future__ import annotations

from numpy.typing import ArrayLike

from hietan.classifiers.lazy.selection import LazySelection
from hietan.hierarchy import Hierarchy


class HIPNB(LazySelection):
    """Naive Bayes with HIP's lazy selection of features (Wan, Freitas & de Magalhaes 2015).

    In the row to classify, a feature at 1 removes all its ancestors and a feature at 0 removes all its descendants,
    because it implies their values. All features are judged at once, so features that are themselves removed still
    remove others. Naive Bayes scores the rest: the most specific ones and the most general zeros. (Only a row that is
    not closed upwards can lose all its features; the class prior then decides.) It is the short name of
    ``LazySelection(selection="hip", model="naive-bayes")``.

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
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import HIPNB, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0]})
    >>> clf = HIPNB(hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    >>> clf.selected(X)
    [('owl',), ('bird', 'owl'), ('animal', 'bird'), ('animal',)]
    """

    __hietan_path__ = "hietan.classifiers.hip.HIPNB"  # by which studies know it, see `method_fingerprint`
    # What are parameters of LazySelection are fixed here.
    selection, model, n_features, n_neighbors, random_state = "hip", "naive-bayes", 1, 1, None
    _stored_sometimes = frozenset({"feature_names_in_"})

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.n_jobs = n_jobs
