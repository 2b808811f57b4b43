"""HieBAN: the hierarchy itself is the Bayesian network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hietan.classifiers._base import BaseBayes
from hietan.classifiers._fitted_state import check_numbers, require
from hietan.classifiers._fitting import Columns, Counted, RowsInMemory, TrainingRows, read_rows
from hietan.classifiers._solvers.leave_one_out import Network
from hietan.classifiers.checks import in_memory, is_weight, require_two_classes
from hietan.explain import ScoreParts
from hietan.explain.score_parts import PackedStates
from hietan.hierarchy import Hierarchy
from hietan.structure import (
    BinaryRows,
    OpenCounts,
    Openings,
    OpenScores,
    Weighing,
    count_openings,
    mean_open_contribution,
    unpack,
)
from hietan.structure.tree import ABSENT, ROOT


class HieBAN(BaseBayes):
    """Bayesian network augmented naive Bayes whose network is the hierarchy itself.

    The parents of a feature are its parents in the hierarchy. In rows that are closed upwards, a feature can be 1 only
    where all its parents are 1: there it is *open*, and only there it is scored. So a feature with several parents
    needs one probability per class, P(x_v = 1 | all parents are 1, c), rather than one for each combination of their
    values. No structure is learned and no pairs are counted: time is in proportion to the ones of the data, and memory
    to the number of features. A 1 without all its parents, in a row that is not closed, counts nowhere.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float or None, default 1.0
        Weight of the prior guess in every probability; it must be above 0. None means that it is chosen from a grid by
        the exact leave-one-out log loss of the training rows, which must then be in memory. With whole weights of rows
        or classes above 1, the copies of a row are among the others, which makes the choice too optimistic: scale
        the weights so that their mean is 1.
    smoothing : {"laplace", "pooled"}, default "pooled"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all classes together,
        so that a value that is rare or certain favours no class.
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
    calibrate : bool, default False
        Whether ln P(x | c) is divided by a temperature, the positive number with the smallest exact leave-one-out log
        loss of the training rows, which must then be in memory. Features that say the same thing are counted several
        times, so plain probabilities are far too near 0 and 1. The ranking of rows by one model stays the same, but
        the frequencies of the classes get more weight, so that predictions of a rare class become rarer. With whole
        weights above 1, the choice is too optimistic, like that of `alpha`.
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
    class_weight_ : array of shape (n_classes,)
        What the weights of the rows of each class were multiplied with, as `class_weight` says.
    counts_ : OpenCounts
        The counts, which are all that is kept of the training data.
    alpha_ : float
        The alpha of the fit: the parameter or, if that is None, the value that was chosen.
    temperature_ : float
        The number by which ln P(x | c) is divided; 1 unless `calibrate` is set.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    feature_log_prob_ : array of shape (n_classes, n_features)
        ln P(x_v = 1 | all parents are 1, c) of each feature.
    feature_importances_ : array of shape (n_features,)
        The mean absolute contribution of each feature to the log-odds over the training rows; two classes only.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

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

    alpha: float | None  # type: ignore[assignment]
    counts_: OpenCounts
    class_weight_: NDArray[np.float64]
    _stored = BaseBayes._stored | {"alpha_", "temperature_", "class_weight_"}

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float | None = 1.0,
        smoothing: str = "pooled",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        calibrate: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.weight_unit = weight_unit
        self.calibrate = calibrate
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------------------------------ fitting

    def _check_source(self, *, at_once: bool) -> None:
        if self.alpha is None and not at_once:
            raise ValueError(
                "alpha=None chooses alpha by the scores of all training rows, so fit must get them at once and in "
                "memory; pass a number as alpha to fit to parts of the data or to a Dask collection"
            )
        if self.calibrate and not at_once:
            raise ValueError(
                "calibrate=True needs the scores of all training rows, so fit must get them at once and in memory; "
                "leave calibrate out to fit to parts of the data or to a Dask collection"
            )

    def _keep_class_weights(self, per_class: NDArray[np.float64] | None) -> None:
        self.class_weight_ = np.ones(len(self.classes_)) if per_class is None else per_class

    @staticmethod
    def _count(rows: BinaryRows, codes: NDArray[np.int64], columns: Columns, n_jobs: int | None) -> Counted:
        return Counted(*count_openings(rows, codes, len(columns.classes), columns.hierarchy, n_jobs=n_jobs))

    def _tune(self, rows: TrainingRows) -> None:
        self.temperature_ = 1.0
        if self.alpha is not None:
            self.alpha_ = float(self.alpha)
            if not self.calibrate:
                return
        assert isinstance(rows, RowsInMemory)  # by `_check_source`
        table = BinaryRows.from_matrix(rows.X, self.binarize, rows.units).sparse()
        codes = np.searchsorted(self.classes_, rows.y)
        network = Network(self._learned, self.counts_, self.smoothing, self.weight_unit_)
        log_prior = None if self.class_prior is None else self._log_prior()
        if self.alpha is None:
            self.alpha_ = network.choose_alpha(table, codes, log_prior)
        if self.calibrate:
            self.temperature_ = network.choose_temperature(table, codes, self.alpha_, log_prior)

    def _learn(self) -> Openings:
        return Openings(self.hierarchy_)

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        require(isinstance(fitted["counts_"], OpenCounts), "counts_ are not counts of open features")
        for name in ("alpha_", "temperature_"):
            require(is_weight(fitted[name]), f"{name} is not a number above 0: {fitted[name]!r:.80}")
        check_numbers(fitted["class_weight_"], fitted["classes_"].shape, "class_weight_")
        require(bool((fitted["class_weight_"] >= 0).all()), "class_weight_ holds a negative number")

    # ------------------------------------------------------------------------------------------ predicting

    def leave_one_out_joint_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """ln P(c, x) of training rows, each by the model of all other training rows; exact, without fitting again.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that the model was fitted to: all of them or some, but none more often than in the training data.
        y : array of shape (n_samples,)
            Their classes in the training data.
        sample_weight : array of shape (n_samples,) or None, default None
            The weight with which each row is left out: that of the fit (times that of its class, if `class_weight` is
            given) leaves it out altogether. None means that of a row that `fit` got without one: 1 (one of the copies
            that a whole weight stands for), times the weight of its class (`class_weight_`).

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
        in_memory(X, "leave_one_out_joint_log_proba", "the rows are compared with the counts of the model")
        read = read_rows(self, X, y, sample_weight, reset=False)
        unknown = np.setdiff1d(read.y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y holds the labels {unknown.tolist()}, which are not among the classes {self.classes_.tolist()}"
            )
        weighted = read.weights is None and (self.class_weight_ != 1).any()
        per_class = self.class_weight_ if weighted else None
        units = Weighing(self.classes_, per_class, self.weight_unit_, rounds=True).units(read.y, read.weights)
        rows = BinaryRows.from_matrix(read.X, self.binarize, units)
        codes = np.searchsorted(self.classes_, read.y)
        network = Network(self._learned, self.counts_, self.smoothing, self.weight_unit_)
        log_prior = None if self.class_prior is None else self._log_prior()
        return network.joint_log(rows, codes, self._alpha_in_use(), log_prior, self.temperature_)

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """ln P(x_v = 1 | all parents are 1, c) of each class and feature."""
        check_is_fitted(self)
        return np.ascontiguousarray(self._scores().on.T)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature contributes to the log-odds of the two classes: its mean absolute contribution.

        This is the mean of ``|contribution|`` in `explain` over all training rows, each with its weight; a feature that
        is not open contributes 0. It is computed from the counts alone. There are none for more than two classes.
        """
        check_is_fitted(self)
        require_two_classes(self.classes_)
        return mean_open_contribution(self._scores(), self.counts_) / self.temperature_

    def _alpha_in_use(self) -> float:
        return self.alpha_ if self.alpha is None else float(self.alpha)

    def _check_alpha(self) -> None:
        if self.alpha is not None and not is_weight(self.alpha):
            raise ValueError(
                f"alpha must be a number above 0 (from 1e-300 to below 1e300), or None to choose it by the training "
                f"rows; got {self.alpha!r}"
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.calibrate, bool | np.bool_):
            raise ValueError(f"calibrate must be True or False, got {self.calibrate!r}")

    def _scores(self) -> OpenScores:
        known = self._learned, self.counts_, self.smoothing, self._alpha_in_use()
        return OpenScores(*known, unit=self.weight_unit_)

    def _scorer(
        self, rows: BinaryRows, log_prior: NDArray[np.float64]
    ) -> Callable[[int, int], NDArray[np.float64]]:
        scores, table = self._scores(), rows.sparse()

        def joint_log(start: int, stop: int) -> NDArray[np.float64]:
            return log_prior + scores.log_likelihood(table, np.arange(start, stop)) / self.temperature_

        return joint_log

    def _parts_of(
        self, rows: BinaryRows, start: int, stop: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        chosen = np.arange(start, stop)
        values = unpack(rows.words(chosen), stop - start)
        scores, openings = self._scores(), self._learned
        is_open, first = openings.open_in(values), openings.first_parents
        # One parent stands for all, which are 1 as well; in a row that is not closed, it may not be open itself.
        parents = np.where(is_open[:, first] & (first >= 0), first, ROOT)
        return ScoreParts(
            values=values,
            parents=np.where(is_open, parents, ABSENT).astype(np.int32),
            factors=scores.factors(values) / self.temperature_,
            base=np.tile(log_prior, (stop - start, 1)),
            score=lambda: log_prior + scores.log_likelihood(rows, chosen) / self.temperature_,
        )

    def _take_apart_by_state(self, X: Any) -> PackedStates:
        rows, scores, openings = self._read(X), self._scores(), self._learned

        def words(start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
            ones = rows.words(np.arange(start, stop))
            is_open = openings.open_words(ones)
            return is_open, ones, is_open

        off, on = scores.off / self.temperature_, scores.on / self.temperature_
        return PackedStates(words, rows.n_rows, np.stack([off, off, on, on]))
