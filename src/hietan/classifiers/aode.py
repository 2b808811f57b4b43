"""Averaged one-dependence estimators, plain and with a hierarchy of the features."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
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
    _most_factors = 1 << 26  # and so does every batch of rows: some take up to 1 GB in each thread

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        min_frequency: int = 1,
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.min_frequency = min_frequency
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.weight_unit = weight_unit
        self.n_jobs = n_jobs

    def _learn(self) -> SharedRelations:
        return SharedRelations(self.hierarchy_)

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.aode_joint_log(
            self._learned.kernel,
            self._ancestors,
            self._min_units,
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
            self._min_units,
            words,
            n_rows,
            log_prior=prior,
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )
        return ScoreParts(
            values=unpack(words, n_rows),
            parents=np.broadcast_to(np.int32(ROOT), (n_rows, self.n_features_in_)),
            factors=factors.transpose(0, 2, 1),
            base=np.where(averaged[:, None], prior, log_prior),
            score=lambda: self._joint_log(words, n_rows, log_prior),
            averaging=averaging,
        )

    def _fill_contributions(
        self, X: Any, target: int
    ) -> tuple[Callable[[int, int, NDArray[np.float64]], None], int]:
        rows, prior = self._read(X), self._estimator_log_prior(self._log_prior())

        def fill(start: int, stop: int, out: NDArray[np.float64]) -> None:
            _kernel.aode_contributions(
                self._learned.kernel,
                self._ancestors,
                self._min_units,
                rows.words(np.arange(start, stop)),
                stop - start,
                target,
                log_prior=prior,
                out=out,
                **self._count_arguments(),
                **self._smoothing_arguments(),
            )

        return fill, rows.n_rows

    def _estimator_log_prior(self, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """The ln P(c) with which P(c) P(x_i | c) = (count + alpha) / (n + 2 C alpha), unless the prior was given."""
        if self.class_prior is not None:
            return log_prior
        n_c, two = self.class_count_, 2 * float(self.alpha) / self.weight_unit_
        prior: NDArray[np.float64] = np.log((n_c + two) / (n_c.sum() + len(n_c) * two))
        return prior

    @property
    def _min_units(self) -> int:
        """The smallest count of a value whose feature has an estimator: it weighs more than `min_frequency` - 1 rows.

        For whole weights, that is `min_frequency` rows. With others, 1 still means that the value occurs at all.
        """
        below = (int(self.min_frequency) - 1) / self.weight_unit_
        return int(min(below, 2.0**61)) + 1 if below >= 0 else 0

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
        training rows. Where their weights are not whole numbers, it must weigh more than this minus 1.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    class_weight : {"balanced"}, dict or None, default None
        What the weights of the rows of each class are multiplied with. "balanced" gives each class the same total
        weight: n / (n_classes n_c), n_c being the weight of the rows of a class and n that of all. None means 1.
    weight_unit : float or None, default None
        A power of two such as 2**-10, to whose multiples the weights of rows are rounded, so that weighted counts are
        integers. None means 1 for weights that are whole numbers; for others, `fit` chooses it so that the total lies
        below 2^30 units. `partial_fit` and Dask collections need it for weights that are not whole numbers.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class; if they have weights, the sum of these in units of `weight_unit_`.
    weight_unit_ : float
        The unit of the counts, in rows: 1, unless rows have weights that are not whole numbers.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    feature_log_prob_ : array of shape (n_classes, n_features)
        ln P(x_v = 1 | c) of each feature by itself, as in naive Bayes; dependencies on other features are left out.
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
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            min_frequency=min_frequency,
            binarize=binarize,
            class_prior=class_prior,
            class_weight=class_weight,
            weight_unit=weight_unit,
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
        training rows. Where their weights are not whole numbers, it must weigh more than this minus 1.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    class_weight : {"balanced"}, dict or None, default None
        What the weights of the rows of each class are multiplied with. "balanced" gives each class the same total
        weight: n / (n_classes n_c), n_c being the weight of the rows of a class and n that of all. None means 1.
    weight_unit : float or None, default None
        A power of two such as 2**-10, to whose multiples the weights of rows are rounded, so that weighted counts are
        integers. None means 1 for weights that are whole numbers; for others, `fit` chooses it so that the total lies
        below 2^30 units. `partial_fit` and Dask collections need it for weights that are not whole numbers.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class; if they have weights, the sum of these in units of `weight_unit_`.
    weight_unit_ : float
        The unit of the counts, in rows: 1, unless rows have weights that are not whole numbers.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    feature_log_prob_ : array of shape (n_classes, n_features)
        ln P(x_v = 1 | c) of each feature by itself, as in naive Bayes; dependencies on other features are left out.
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
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            min_frequency=min_frequency,
            binarize=binarize,
            class_prior=class_prior,
            class_weight=class_weight,
            weight_unit=weight_unit,
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
        training rows. Where their weights are not whole numbers, it must weigh more than this minus 1.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    class_weight : {"balanced"}, dict or None, default None
        What the weights of the rows of each class are multiplied with. "balanced" gives each class the same total
        weight: n / (n_classes n_c), n_c being the weight of the rows of a class and n that of all. None means 1.
    weight_unit : float or None, default None
        A power of two such as 2**-10, to whose multiples the weights of rows are rounded, so that weighted counts are
        integers. None means 1 for weights that are whole numbers; for others, `fit` chooses it so that the total lies
        below 2^30 units. `partial_fit` and Dask collections need it for weights that are not whole numbers.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class; if they have weights, the sum of these in units of `weight_unit_`.
    weight_unit_ : float
        The unit of the counts, in rows: 1, unless rows have weights that are not whole numbers.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    feature_log_prob_ : array of shape (n_classes, n_features)
        ln P(x_v = 1 | c) of each feature by itself, as in naive Bayes; dependencies on other features are left out.
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
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            hierarchy=hierarchy,
            alpha=alpha,
            smoothing=smoothing,
            min_frequency=min_frequency,
            binarize=binarize,
            class_prior=class_prior,
            class_weight=class_weight,
            weight_unit=weight_unit,
            n_jobs=n_jobs,
        )
