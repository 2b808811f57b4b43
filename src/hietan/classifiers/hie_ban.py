"""HieBAN: the hierarchy itself is the Bayesian network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from hietan.classifiers._base import ALPHA_GRID, BaseBayes, log_shares
from hietan.classifiers._fitting import Columns, Counted, RowsInMemory, TrainingRows, read_rows
from hietan.classifiers._solvers.held_out import best_temperature
from hietan.classifiers.checks import in_memory, is_weight
from hietan.explain import ScoreParts
from hietan.hierarchy import Hierarchy
from hietan.structure import (
    BinaryRows,
    OpenCounts,
    Openings,
    OpenScores,
    count_openings,
    leave_one_out_log_likelihood,
    unpack,
)
from hietan.structure.tree import ABSENT, ROOT

HOTTEST = 1e4
"""The largest temperature, and the inverse of the smallest."""


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
        the exact leave-one-out log loss of the training rows, which must then be in memory.
    smoothing : {"laplace", "pooled"}, default "pooled"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all classes together,
        so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    calibrate : bool, default False
        Whether ln P(x | c) is divided by a temperature, the positive number with the smallest exact leave-one-out log
        loss of the training rows, which must then be in memory. Features that say the same thing are counted several
        times, so plain probabilities are far too near 0 and 1. The ranking of rows by one model stays the same, but
        the frequencies of the classes get more weight, so that predictions of a rare class become rarer.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class.
    counts_ : OpenCounts
        The counts, which are all that is kept of the training data.
    alpha_ : float
        The alpha of the fit: the parameter or, if that is None, the value that was chosen.
    temperature_ : float
        The number by which ln P(x | c) is divided; 1 unless `calibrate` is set.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
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
    _stored = BaseBayes._stored | {"alpha_", "temperature_"}

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float | None = 1.0,
        smoothing: str = "pooled",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        calibrate: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
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

    @staticmethod
    def _count(rows: BinaryRows, codes: NDArray[np.int64], columns: Columns) -> Counted:
        return Counted(*count_openings(rows, codes, len(columns.classes), columns.hierarchy))

    def _tune(self, rows: TrainingRows) -> None:
        self.temperature_ = 1.0
        if self.alpha is not None:
            self.alpha_ = float(self.alpha)
            if not self.calibrate:
                return
        assert isinstance(rows, RowsInMemory)  # by `_check_source`
        table = BinaryRows.from_matrix(rows.X, self.binarize).sparse()
        codes = np.searchsorted(self.classes_, rows.y)
        known = (self._learned, self.counts_, table, codes, self.smoothing)
        log_prior = None if self.class_prior is None else self._log_prior()
        if self.alpha is None:
            self.alpha_ = choose_alpha(*known, log_prior=log_prior)
        if self.calibrate:
            self.temperature_ = _choose_temperature(*known, self.alpha_, log_prior)

    def _learn(self) -> Openings:
        return Openings(self.hierarchy_)

    def _check_counts(self, counts: Any, hierarchy: Hierarchy) -> None:
        if not isinstance(counts, OpenCounts):
            raise ValueError(f"{type(self).__name__} needs OpenCounts, got {type(counts).__name__}")

    def __hietan_restore__(self, fitted: Mapping[str, Any]) -> None:
        if not isinstance(fitted["alpha_"], float) or not is_weight(fitted["alpha_"]):
            raise ValueError(f"alpha_ is not a number above 0: {fitted['alpha_']!r:.80}")
        temperature = fitted["temperature_"]
        if not isinstance(temperature, float) or not 0.99 / HOTTEST <= temperature <= 1.01 * HOTTEST:
            raise ValueError(
                f"temperature_ is not a number from 1/{HOTTEST:g} to {HOTTEST:g}: {temperature!r:.80}"
            )
        super().__hietan_restore__(fitted)

    # ------------------------------------------------------------------------------------------ predicting

    def leave_one_out_joint_log_proba(self, X: Any, y: Any) -> NDArray[np.float64]:
        """ln P(c, x) of training rows, each by the model of all other training rows; exact, without fitting again.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that the model was fitted to: all of them or some, but none more often than in the training data.
        y : array of shape (n_samples,)
            Their classes in the training data.

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
        read = read_rows(self, X, y, reset=False)
        unknown = np.setdiff1d(read.y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y holds the labels {unknown.tolist()}, which are not among the classes {self.classes_.tolist()}"
            )
        rows = BinaryRows.from_matrix(read.X, self.binarize)
        codes = np.searchsorted(self.classes_, read.y)
        known = (self._learned, self.counts_, rows, codes, self.smoothing, self._alpha_in_use())
        return _leave_one_out(
            *known, None if self.class_prior is None else self._log_prior(), self.temperature_
        )

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
        return OpenScores(self._learned, self.counts_, self.smoothing, self._alpha_in_use())

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
            joint=log_prior + scores.log_likelihood(rows, chosen) / self.temperature_,
            values=values,
            parents=np.where(is_open, parents, ABSENT).astype(np.int32),
            factors=scores.factors(values) / self.temperature_,
            base=np.tile(log_prior, (stop - start, 1)),
        )


def choose_alpha(
    openings: Openings,
    counts: OpenCounts,
    rows: BinaryRows,
    codes: NDArray[np.int64],
    smoothing: str,
    *,
    log_prior: NDArray[np.float64] | None = None,
) -> float:
    """The alpha with the smallest leave-one-out log loss of all training rows; the smallest of several.

    Parameters
    ----------
    openings : Openings
        Where features are open.
    counts : OpenCounts
        The counts of the training rows.
    rows : BinaryRows
        The training rows.
    codes : array of shape (n_rows,)
        The class of each row, as a position among the classes.
    smoothing : {"laplace", "pooled"}
        The prior guess.
    log_prior : array of shape (n_classes,) or None
        The logarithms of the classes' probabilities; None means that they are estimated from the other rows.
    """
    rows = rows.sparse()

    def loss(alpha: float) -> float:
        joint = _leave_one_out(openings, counts, rows, codes, smoothing, alpha, log_prior)
        return -float(log_softmax(joint, axis=1)[np.arange(len(codes)), codes].mean())

    return ALPHA_GRID[int(np.argmin([loss(alpha) for alpha in ALPHA_GRID]))]


def _choose_temperature(
    openings: Openings,
    counts: OpenCounts,
    rows: BinaryRows,
    codes: NDArray[np.int64],
    smoothing: str,
    alpha: float,
    log_prior: NDArray[np.float64] | None,
) -> float:
    """The temperature with the smallest leave-one-out log loss of all training rows."""
    scores = leave_one_out_log_likelihood(openings, counts, rows, codes, smoothing, alpha)
    log_priors = _log_priors_without(counts, codes, alpha) if log_prior is None else log_prior

    def loss(temperature: float) -> float:
        log_proba = log_softmax(log_priors + scores / temperature, axis=1)
        return -float(log_proba[np.arange(len(codes)), codes].mean())

    return best_temperature(loss, HOTTEST)


def _leave_one_out(
    openings: Openings,
    counts: OpenCounts,
    rows: BinaryRows,
    codes: NDArray[np.int64],
    smoothing: str,
    alpha: float,
    log_prior: NDArray[np.float64] | None,
    temperature: float = 1.0,
) -> NDArray[np.float64]:
    scores = leave_one_out_log_likelihood(openings, counts, rows, codes, smoothing, alpha) / temperature
    return scores + (_log_priors_without(counts, codes, alpha) if log_prior is None else log_prior)


def _log_priors_without(counts: OpenCounts, codes: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
    """For each row, the logarithms of the classes' shares of the other rows."""
    others = counts.class_count - np.eye(counts.n_classes, dtype=np.int64)  # row k: without a row of class k
    return log_shares(others, alpha)[codes]
