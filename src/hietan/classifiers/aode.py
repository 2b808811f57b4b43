"""Averaged one-dependence estimators, plain and with a hierarchy of the features."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hietan import _kernel
from hietan.classifiers._base import BaseBayes
from hietan.explain import Parts
from hietan.hierarchy import Hierarchy
from hietan.structure import kernel_relations, unpack
from hietan.structure.tree import ROOT


class _AveragedEstimators(BaseBayes):
    _ancestors: str  # what an estimator does with the ancestors of its feature, for the kernel
    _chunks_per_job = 1  # every chunk fills the tables anew

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

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.aode_joint_log(
            kernel_relations(self.hierarchy_),
            self._ancestors,
            int(self.min_frequency),
            words,
            n_rows,
            naive_log_prior=log_prior,
            log_prior=self._estimator_log_prior(log_prior),
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )

    def _parts(self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]) -> Parts:
        prior = self._estimator_log_prior(log_prior)
        factors, averaging, averaged = _kernel.aode_factors(
            kernel_relations(self.hierarchy_),
            self._ancestors,
            int(self.min_frequency),
            words,
            n_rows,
            log_prior=prior,
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )
        return Parts(
            joint=self._joint_log(words, n_rows, log_prior),
            values=unpack(words, n_rows),
            parents=np.full((n_rows, self.n_features_in_), ROOT, dtype=np.int32),
            factors=factors,
            base=np.where(averaged[:, None], prior, log_prior),
            averaging=averaging,
        )

    def _estimator_log_prior(self, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """ln P(c) that makes P(c) P(x_i | c) = (count + alpha) / (n + 2 C alpha), unless the prior was given."""
        if self.class_prior is not None:
            return log_prior
        n_c, two = self.class_count_, 2 * self.alpha
        prior: NDArray[np.float64] = np.log((n_c + two) / (n_c.sum() + len(n_c) * two))
        return prior

    def _check_parameters(self) -> None:
        super()._check_parameters()
        m: Any = self.min_frequency
        if not isinstance(m, numbers.Integral) or isinstance(m, bool) or m < 0:
            raise ValueError(f"min_frequency must be an integer of 0 or more, got {m!r}")


class AODE(_AveragedEstimators):
    """Averaged one-dependence estimators (Webb, Boughton & Wang 2005).

    For each feature i an estimator P(c, x_i) times the product over the other features of P(x_j | c, x_i); the joint
    probability is their mean. The hierarchy plays no part in it.

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


class HieAODE(_AveragedEstimators):
    """Hierarchical dependency constrained AODE (Wan & Freitas 2020).

    As :class:`AODE`, but in the estimator of a feature its ancestors depend on the class alone.

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

    _ancestors = "naive"


class HieAODELite(_AveragedEstimators):
    """Hie-AODE without the ancestors (Wan & Freitas 2020).

    As :class:`HieAODE`, but the estimator of a feature leaves its ancestors out. There is no redundancy step for
    single rows. (Estimators of deep terms have fewer factors and so weigh more: that is the method's definition.)

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import HieAODELite, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0]})
    >>> HieAODELite(hierarchy=hierarchy).fit(X, [1, 1, 0, 0]).predict(X)
    array([1, 1, 0, 0])
    """

    _ancestors = "absent"
