"""Averaged one-dependence estimators, plain and with a hierarchy of the features."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hietan import _kernel
from hietan.classifiers._base import PackedBayes
from hietan.classifiers._shared_relations import SharedRelations
from hietan.explain import ScoreParts
from hietan.hierarchy import Hierarchy
from hietan.structure import unpack
from hietan.structure.tree import ROOT


class _AveragedEstimators(PackedBayes):
    """Stores the parameters and scores rows by the mean of one estimator for each feature."""

    _ancestors: str  # what an estimator does with the ancestors of its feature, for the kernel
    _chunks_per_job = 1  # every chunk fills the tables again

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        min_frequency: int = 1,
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.min_frequency = min_frequency
        self.binarize = binarize
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _learn(self) -> SharedRelations:
        return SharedRelations(self.hierarchy_)

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.aode_joint_log(
            self._learned.kernel,
            self._ancestors,
            int(self.min_frequency),
            words,
            n_rows,
            naive_log_prior=log_prior,
            log_prior=self._estimator_log_prior(log_prior),
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )

    def _score_parts(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        prior = self._estimator_log_prior(log_prior)
        factors, averaging, averaged = _kernel.aode_factors(
            self._learned.kernel,
            self._ancestors,
            int(self.min_frequency),
            words,
            n_rows,
            log_prior=prior,
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )
        return ScoreParts(
            joint=self._joint_log(words, n_rows, log_prior),
            values=unpack(words, n_rows),
            parents=np.full((n_rows, self.n_features_in_), ROOT, dtype=np.int32),
            factors=factors,
            base=np.where(averaged[:, None], prior, log_prior),
            averaging=averaging,
        )

    def _estimator_log_prior(self, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """The ln P(c) with which P(c) P(x_i | c) = (count + alpha) / (n + 2 C alpha), unless the prior was given."""
        if self.class_prior is not None:
            return log_prior
        n_c, two = self.class_count_, 2 * float(self.alpha)
        prior: NDArray[np.float64] = np.log((n_c + two) / (n_c.sum() + len(n_c) * two))
        return prior

    def _check_parameters(self) -> None:
        super()._check_parameters()
        m: Any = self.min_frequency
        if not isinstance(m, numbers.Integral) or isinstance(m, bool) or not 0 <= int(m) < 2**62:
            raise ValueError(f"min_frequency must be an integer of 0 or more (and below 2^62), got {m!r}")


class AODE(_AveragedEstimators):
    """Averaged one-dependence estimators (Webb, Boughton & Wang 2005).

    Each feature i has an estimator, P(c, x_i) times the product over the other features of P(x_j | c, x_i); the joint
    probability is the mean of the estimators. The hierarchy has no influence.

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
    min_frequency : int, default 1
        A feature has an estimator of its own for a row if its value in that row occurs at least this often in the
        training rows.
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
    >>> import numpy as np
    >>> from hietan import AODE
    >>> X = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 0]])
    >>> clf = AODE().fit(X, ["a", "a", "b", "b", "a"])
    >>> print(clf.predict([[0, 0, 1]]))
    ['b']
    """

    _ancestors = "depend"

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        min_frequency: int = 1,
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            min_frequency=min_frequency,
            binarize=binarize,
            class_prior=class_prior,
            n_jobs=n_jobs,
        )


class HieAODE(_AveragedEstimators):
    """Hierarchical dependency constrained AODE (Wan & Freitas 2020).

    Like :class:`AODE`, but in the estimator of a feature its ancestors depend only on the class.

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
    min_frequency : int, default 1
        A feature has an estimator of its own for a row if its value in that row occurs at least this often in the
        training rows.
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
    >>> from hietan import HieAODE, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0]})
    >>> HieAODE(hierarchy=hierarchy).fit(X, [1, 1, 0, 0]).predict_proba(X).round(2)
    array([[0.21, 0.79],
           [0.21, 0.79],
           [0.65, 0.35],
           [0.79, 0.21]])
    """

    without_hierarchy = "a plain AODE"

    _ancestors = "naive"

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        min_frequency: int = 1,
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            min_frequency=min_frequency,
            binarize=binarize,
            class_prior=class_prior,
            n_jobs=n_jobs,
        )


class HieAODELite(_AveragedEstimators):
    """Hie-AODE without the ancestors (Wan & Freitas 2020).

    Like :class:`HieAODE`, but the estimator of a feature leaves its ancestors out. Features are not removed from single
    rows. (By the definition of the method, the estimators of deep terms have fewer factors and so weigh more.)

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
    min_frequency : int, default 1
        A feature has an estimator of its own for a row if its value in that row occurs at least this often in the
        training rows.
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
    >>> from hietan import HieAODELite, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0]})
    >>> HieAODELite(hierarchy=hierarchy).fit(X, [1, 1, 0, 0]).predict(X)
    array([1, 1, 0, 0])
    """

    without_hierarchy = "a plain AODE"

    _ancestors = "absent"

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        min_frequency: int = 1,
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            min_frequency=min_frequency,
            binarize=binarize,
            class_prior=class_prior,
            n_jobs=n_jobs,
        )
