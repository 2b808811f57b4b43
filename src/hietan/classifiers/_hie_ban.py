"""HieBAN, whose Bayesian network is the hierarchy itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hietan.classifiers._base import BaseBayes, in_rows, require
from hietan.classifiers._checks import (
    ACCEPTED,
    CHOSEN,
    Accepted,
    in_memory,
    is_partitioned,
    is_weight,
    require_two_classes,
)
from hietan.classifiers._fitting import RowsInMemory, read_rows
from hietan.classifiers._solvers.leave_one_out import Network
from hietan.explain._score_parts import ScoreParts, StateParts, StateWords
from hietan.hierarchy import Hierarchy
from hietan.structure._importance import mean_open_contribution
from hietan.structure._openings import OpenCounts, Openings, OpenScores, count_openings
from hietan.structure._rows import BinaryRows, Violation, unpack
from hietan.structure._tree import ABSENT, ROOT
from hietan.structure._weights import in_units, weigh


class HieBAN(BaseBayes):
    """Bayesian network augmented naive Bayes with the hierarchy as its network.

    The parents of a feature are its parents in the hierarchy. In rows that are closed upwards, a feature can be 1
    only if all of its parents are 1. It is then *open*, and only open features are scored. So a feature with several
    parents needs one probability per class, P(x_v = 1 | all parents are 1, c), rather than one for each combination
    of their values. No structure is learned and no pairs are counted. So time is proportional to the number of ones
    in the data, and memory to the number of features. In a row that is not closed, a 1 without all of its parents is
    ignored.

    Parameters
    ----------
    alpha : float or None, default 1.0
        Smoothing strength of every probability, above 0. None chooses it from a grid by the exact leave-one-out log
        loss of the training rows, which must then be in memory. With whole row or class weights above 1, a row's
        copies are among the other rows, which makes the choice too optimistic. Scale the weights so that their mean
        is 1.
    smoothing : {"laplace", "pooled", "odds"}, default "odds"
        "laplace" adds alpha rows to each value. "pooled" adds 2 alpha rows with the conditional probability of all
        classes together, so that a rare or certain value favours no class. "odds" keeps the log-odds of each class near
        the log-odds of all classes together, by a normal prior of precision alpha. A feature then counts according to
        its support, and a single row decides little.
    calibrate : bool, default False
        Whether to divide ln P(x | c) by a temperature, the positive number with the smallest exact leave-one-out log
        loss of the training rows, which must then be in memory. Correlated features are counted as independent
        evidence, so plain probabilities are far too close to 0 and 1. The ranking of rows by one model does not change,
        but class frequencies get more weight, so that a rare class is predicted less often. With whole weights above 1,
        the choice is too optimistic, as for `alpha`.
    hierarchy, binarize, class_prior, class_weight, n_jobs
        As for :class:`TAN`.

    Attributes
    ----------
    counts_ : OpenCounts
        The counts, the only information stored from the training data.
    alpha_ : float
        The alpha of the fit: the parameter or, if it is None, the chosen value.
    temperature_ : float
        The divisor of ln P(x | c); 1 unless `calibrate` is set.
    feature_log_prob_ : array of shape (n_classes, n_features)
        ln P(x_v = 1 | all parents are 1, c) of each feature.
    classes_, class_count_, class_weight_, weight_unit_, hierarchy_, feature_importances_
        As for :class:`TAN`.
    n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import HieBAN, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0]})
    >>> clf = HieBAN(hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    >>> print(clf.predict(X))
    [1 1 0 0]
    >>> [c.feature for c in clf.explain(X)[2].contributions]  # without a bird, "owl" says nothing
    ['animal', 'bird']
    """

    without_hierarchy = "naive Bayes"

    counts_: OpenCounts
    _accepted: ClassVar[Accepted] = {**ACCEPTED, **CHOSEN}
    _stored = BaseBayes._stored | {"alpha_", "temperature_"}

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float | None = 1.0,
        smoothing: str = "odds",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        calibrate: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier to rows X, of shape (n_samples, n_features), and their classes y; see :meth:`TAN.fit`.

        If `alpha` or a temperature is chosen, all rows must be in memory.
        """
        if is_partitioned(X):
            self._require_no_choice()
        rows = self._fit(X, y, sample_weight)
        self._set_choices()
        if self.alpha is None or self.calibrate:
            assert isinstance(rows, RowsInMemory)
            try:
                self._choose(rows)
            except BaseException:  # an interrupted choice leaves no model
                self.__dict__.pop("counts_", None)
                raise
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None
    ) -> Self:
        """Add training rows; see :meth:`TAN.partial_fit`. Requires a numeric `alpha` and `calibrate=False`."""
        self._require_no_choice()
        self._partial_fit(X, y, classes, sample_weight)
        self._set_choices()
        return self

    def _require_no_choice(self) -> None:
        """Raise an error if a parameter is chosen from the training rows, but not all of them are in memory."""
        self._check_parameters()
        if self.alpha is None:
            raise ValueError(
                "alpha=None chooses alpha from the scores of all training rows, so fit needs all rows in memory. "
                "To fit parts of the data or a Dask collection, pass a number as alpha"
            )
        if self.calibrate:
            raise ValueError(
                "calibrate=True needs the scores of all training rows, so fit needs all rows in memory. To fit "
                "parts of the data or a Dask collection, omit calibrate"
            )

    def _set_choices(self) -> None:
        self.alpha_: float = float(1.0 if self.alpha is None else self.alpha)
        self.temperature_: float = 1.0

    def _choose(self, rows: RowsInMemory) -> None:
        """Choose alpha and the temperature from the training rows."""
        table = BinaryRows.from_matrix(rows.X, self.binarize, rows.units).sparse()
        codes = np.searchsorted(self.classes_, rows.y)
        log_prior = None if self.class_prior is None else self._log_prior()
        if self.alpha is None:
            self.alpha_ = self._network().choose_alpha(table, codes, log_prior)
        if self.calibrate:
            self.temperature_ = self._network().choose_temperature(table, codes, self.alpha_, log_prior)

    @staticmethod
    def _count(
        rows: BinaryRows, codes: NDArray[np.int64], n_classes: int, hierarchy: Hierarchy, n_jobs: int | None
    ) -> tuple[OpenCounts, Violation | None]:
        return count_openings(rows, codes, n_classes, hierarchy, n_jobs=n_jobs)

    def _learn(self) -> Openings:
        return Openings(self.hierarchy_)

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        require(isinstance(fitted["counts_"], OpenCounts), "counts_ are not counts of open features")
        for name in ("alpha_", "temperature_"):
            require(is_weight(fitted[name]), f"{name} is not a number above 0: {fitted[name]!r:.80}")

    # ------------------------------------------------------------------------------------------ predicting

    def leave_one_out_joint_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Return ln P(c, x) for each training row, from a model of all other rows.

        The result is exact and needs no refitting.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that the model was fitted to: all of them or some, but none more often than in the training data.
        y : array of shape (n_samples,)
            Their classes in the training data.
        sample_weight : array of shape (n_samples,) or None, default None
            The weight with which each row is left out: its weight in the fit (times its class weight, if `class_weight`
            is set) leaves it out completely. None means the default weight of a row: 1 (one of the copies that a whole
            weight stands for) times its class weight (`class_weight_`).

        Returns
        -------
        array of shape (n_samples, n_classes)
            The scores in the order of `classes_`; not normalised.

        Raises
        ------
        ValueError
            If the counts of the model show that these rows cannot all be training rows.
        """
        check_is_fitted(self)
        self._check_parameters()
        in_memory(X, "leave_one_out_joint_log_proba", "the rows are compared with the model's counts")
        read = read_rows(self, X, y, sample_weight, reset=False)
        unknown = np.setdiff1d(read.y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y contains the labels {unknown.tolist()}, which are not among the classes "
                f"{self.classes_.tolist()}; remove these rows"
            )
        weighted = read.weights is None and (self.class_weight_ != 1).any()
        units = None
        if weighted or read.weights is not None or self.weight_unit_ != 1:
            per_class = self.class_weight_ if weighted else None
            units = in_units(weigh(read.y, read.weights, self.classes_, per_class), self.weight_unit_)
        rows = BinaryRows.from_matrix(read.X, self.binarize, units)
        codes = np.searchsorted(self.classes_, read.y)
        log_prior = None if self.class_prior is None else self._log_prior()
        return self._network().joint_log(rows, codes, self._alpha, log_prior, self.temperature_)

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """ln P(x_v = 1 | all parents are 1, c) for each class and feature."""
        check_is_fitted(self)
        return np.ascontiguousarray(self._scores().on.T)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's mean absolute contribution to the log-odds of the two classes.

        This is the mean of ``|contribution|`` in `explain` over all training rows, each with its weight; a feature that
        is not open contributes 0. It is computed from the counts alone. It is not defined for more than two classes.
        """
        check_is_fitted(self)
        require_two_classes(self.classes_)
        return mean_open_contribution(self._scores(), self.counts_) / self.temperature_

    def _network(self) -> Network:
        return Network(self._learned, self.counts_, self.smoothing, self.weight_unit_)

    def _scores(self) -> OpenScores:
        return self._network().scores(self._alpha)

    def _joint_log(self, rows: BinaryRows) -> NDArray[np.float64]:
        return self._log_prior() + self._scores().log_likelihood(rows) / self.temperature_

    def _score_parts(self, rows: BinaryRows) -> ScoreParts:
        values = unpack(rows.words(np.arange(rows.n_rows)), rows.n_rows)
        is_open, first = self._learned.open_in(values), self._learned.first_parents
        # One parent stands for all, because all are 1; in a row that is not closed, it may not be open itself.
        parents = np.where(is_open[:, first] & (first >= 0), first, ROOT)
        return ScoreParts(
            values=values,
            parents=np.where(is_open, parents, ABSENT).astype(np.int32),
            factors=self._scores().factors(values) / self.temperature_,
            base=np.tile(self._log_prior(), (rows.n_rows, 1)),
            score=lambda: self._joint_log(rows),
            behind=lambda row: in_rows(
                self.counts_.behind(values[row], is_open[row]), self.weight_unit_, self.class_weight_
            ),
            counts_parents=True,
        )

    def _state_parts(self) -> StateParts:
        scores, openings = self._scores(), self._learned

        def words(rows: BinaryRows) -> StateWords:
            ones = rows.words(np.arange(rows.n_rows))
            is_open = openings.open_words(ones)  # a 1 without all its parents is ignored
            return is_open, ones, is_open

        factors = np.stack([scores.off, scores.off, scores.on, scores.on]) / self.temperature_
        return StateParts(words, factors)
