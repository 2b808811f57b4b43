"""Averaged one-dependence estimators, with and without a feature hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hietan import _kernel
from hietan.classifiers._base import PairBayes
from hietan.classifiers._checks import ACCEPTED, Accepted, is_whole
from hietan.explain._score_parts import ScoreParts
from hietan.hierarchy import Hierarchy
from hietan.structure._rows import BinaryRows, kernel_relations, unpack
from hietan.structure._tree import ROOT


class _AveragedEstimators(PairBayes):
    """The parameters and scores of AODE: the mean of one estimator per feature."""

    _ancestors: str  # how an estimator treats the ancestors of its feature, for the kernel
    _fills_tables = True
    _accepted: ClassVar[Accepted] = {
        **ACCEPTED,
        "min_frequency": (lambda m: is_whole(m, 0, 2**62 - 1), "an integer of 0 or more (and below 2^62)"),
    }

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
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha: float | None = alpha
        self.smoothing = smoothing
        self.min_frequency = min_frequency
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _learn(self) -> _kernel.Relations:
        return kernel_relations(self.hierarchy_)

    def _joint_log(self, rows: BinaryRows) -> NDArray[np.float64]:
        log_prior = self._log_prior()
        return _kernel.aode_joint_log(
            self._learned,
            self._ancestors,
            self._min_units,
            **self._words(rows),
            naive_log_prior=log_prior,
            log_prior=self._estimator_log_prior(log_prior),
            **self._tables,
        )

    def _score_parts(self, rows: BinaryRows) -> ScoreParts:
        log_prior = self._log_prior()
        prior = self._estimator_log_prior(log_prior)
        words = self._words(rows)
        factors, averaging, averaged = _kernel.aode_factors(
            self._learned, self._ancestors, self._min_units, **words, log_prior=prior, **self._tables
        )
        values, alone = unpack(**words), np.full(rows.n_features, ROOT, dtype=np.int32)
        return ScoreParts(
            values=values,
            parents=np.broadcast_to(alone, (rows.n_rows, rows.n_features)),
            factors=factors.transpose(0, 2, 1),
            base=np.where(averaged[:, None], prior, log_prior),
            score=lambda: self._joint_log(rows),
            averaging=averaging,
            behind=lambda row: self._behind(values[row], alone),
        )

    @property
    def _counts_note(self) -> str:
        own = "The contributions are averages over estimators, which also count pairs of features."
        return f"{own} {super()._counts_note}".strip()

    def _estimator_log_prior(self, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ln P(c) so that P(c) P(x_i | c) = (count + k) / (n + 2 C k) with pseudo-count k, or the set prior."""
        if self.class_prior is not None:
            return log_prior
        n_c, two = self.class_count_, 2 * self._smoothing.pseudo_count
        prior: NDArray[np.float64] = np.log((n_c + two) / (n_c.sum() + len(n_c) * two))
        return prior

    @property
    def _min_units(self) -> int:
        """The smallest count of a value for which its feature has an estimator: more than `min_frequency` - 1 rows.

        For whole weights, that is `min_frequency` rows. With others, 1 still means that the value occurs at all.
        """
        below = (int(self.min_frequency) - 1) / self.weight_unit_
        return int(min(below, 2.0**61)) + 1 if below >= 0 else 0


class AODE(_AveragedEstimators):
    """Averaged one-dependence estimators (Webb, Boughton & Wang 2005), with Laplace smoothing by default.

    Each feature i has an estimator, P(c, x_i) times the product over the other features of P(x_j | c, x_i). The joint
    probability is the mean of the estimators. AODE does not use the hierarchy.

    Parameters
    ----------
    min_frequency : int, default 1
        A feature has an estimator for a row if its value in that row occurs at least this often in the training rows.
        If their weights are not whole numbers, it must weigh more than this minus 1.
    smoothing : {"laplace", "pooled", "odds"}, default "laplace"
        As for :class:`TAN`, but with another default, because on the packaged datasets AODE ranks rows less well with
        the others.
    hierarchy, alpha, binarize, class_prior, class_weight, n_jobs
        As for :class:`TAN`.

    Attributes
    ----------
    classes_, class_count_, class_weight_, weight_unit_, counts_, hierarchy_, feature_log_prob_
        As for :class:`TAN`.
    n_features_in_, feature_names_in_
        As for :class:`TAN`.

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
    """Hierarchical dependency constrained AODE (Wan & Freitas 2020), with Laplace smoothing by default.

    Like :class:`AODE`, but in the estimator of a feature its ancestors depend only on the class.

    The parameters and attributes are the same as for :class:`AODE`.

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


class HieAODELite(_AveragedEstimators):
    """Hie-AODE without the ancestors (Wan & Freitas 2020), with Laplace smoothing by default.

    Like :class:`HieAODE`, but the estimator of a feature leaves its ancestors out. Features are not removed from single
    rows. (By definition, the estimators of deep terms have fewer factors and so weigh more.)

    The parameters and attributes are the same as for :class:`AODE`.

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
