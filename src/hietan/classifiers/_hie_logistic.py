"""HieLogistic: logistic regression that corrects the predictions of a Bayesian network along the hierarchy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hietan._runtime.parallel import map_chunks, one_thread
from hietan.classifiers._base import FittedState, check_class_weight, check_linear, in_rows, require
from hietan.classifiers._checks import (
    ACCEPTED,
    CHOSEN,
    SMOOTHINGS,
    align_hierarchy,
    check_parameters,
    check_prior,
    class_weights,
    in_memory,
    is_finite,
    is_weight,
    is_whole,
    refuse_dataset,
    require_classes_to_tell_apart,
    require_two_classes,
    require_weight,
    validated,
    warn_of_columns,
    warn_of_contradiction,
    warn_of_lost_values,
    warn_without_hierarchy,
)
from hietan.classifiers._fitting import read_rows
from hietan.classifiers._partitions import also_lazily
from hietan.classifiers._solvers.choose_ridge import choose_ridge, choose_temperature
from hietan.classifiers._solvers.hieban_offsets import NetworkRows, offsets_of
from hietan.classifiers._solvers.leave_one_out import Network
from hietan.classifiers._solvers.ridge import RidgeFit, RidgeProblem, solve_ridge
from hietan.explain._explaining import ExplainsRows
from hietan.explain._score_parts import ScoreParts, StateParts, StateWords
from hietan.hierarchy import Hierarchy
from hietan.structure._importance import mean_open_contribution
from hietan.structure._openings import OpenCounts, Openings, OpenScores, count_openings
from hietan.structure._rows import BinaryRows, unpack
from hietan.structure._tree import ABSENT, ROOT

# The solver gets far below this; a fit above it has not converged.
LARGEST_GAP = 1e-8


class HieLogistic(ExplainsRows, FittedState, ClassifierMixin, BaseEstimator):
    """Ridge logistic regression with the log-odds of `HieBAN` as a fixed offset.

    HieBAN gives the log-odds of each row; a ridge regression then corrects them. Minimises::

        sum over rows of m ln(1 + exp(-y (g / sigma + w.x + b))) + (ridge s / 2) |w|^2 + 5 b^2

    where y is 1 or -1, m is the class weight and s is the mean number of ones in a row. The offset g of a training row
    is the log-odds of a HieBAN with equal class priors, fitted to all other rows (exactly, without refitting), and
    sigma is the standard deviation of these offsets. The score of a new row is g / sigma + w.x + b, with g from all
    training rows; its logistic function is the probability. A feature's contribution in `explain` is its term in
    g / sigma, plus its weight if it is 1.

    With more than two classes, the offsets are the logarithms of P(x | c) / sigma, where sigma^2 is the mean variance
    of the log-odds over all pairs of classes. The loss is multinomial, and the penalty is ``ridge s |W|^2 + 10
    |b|^2``. Two classes are a special case of this.

    The fit needs all training rows together, so there is no `partial_fit`, and `fit` does not accept Dask collections.

    Parameters
    ----------
    alpha : float or None, default 1.0
        Smoothing strength of every probability of the network, above 0. None chooses it by the exact leave-one-out
        log loss of HieBAN. With whole row weights above 1, a row's copies are among the other rows, which makes the
        choice too optimistic. Scale the weights so that their mean is 1. The same applies to the cross-validations of
        `ridge` and `calibrate`.
    smoothing : {"laplace", "pooled", "odds"}, default "odds"
        The smoothing of the network's probabilities, as for :class:`HieBAN`.
    ridge : float or None, default 1.0
        Penalty weight, above 0. None chooses it from 13 values between 0.01 and 100: the value with the smallest log
        loss in a 5-fold cross-validation of network and regression, or the largest of several that tie. A class with
        fewer rows reduces the number of folds. Values that are too small for the row weights, and would raise an
        error if given, are left out.
    class_weight : {"balanced"}, dict or None, default "balanced"
        Multiplier for the sample weights of each class. "balanced" gives each class the same total weight: the
        probabilities then assume equally frequent classes. None means 1, for probabilities that follow class
        frequencies.
    class_prior : array of shape (n_classes,) or None, default None
        Class probabilities, in sorted order. Their log-odds are added to the scores in place of the log-odds of the
        classes' total weights in the fit, which are 0 with "balanced" and ln(n_1 / n_0) with ``class_weight=None``.
        None does not change the scores.
    calibrate : bool, default False
        Whether to divide all scores by a temperature, the positive number with the smallest log loss in the same kind
        of cross-validation. This makes probabilities more or less extreme. It does not make them follow class
        frequencies, and never changes the predicted class, unless there is a `class_prior`.
    hierarchy, binarize, n_jobs
        As for :class:`TAN`.

    Attributes
    ----------
    counts_ : OpenCounts
        The counts of the network.
    correction_coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights w of the features. Two classes have one row, whose positive class is `classes_[1]`. They are not
        called `coef_`, because the scores also include the network's log-odds: no linear model of X gives them.
    correction_intercept_ : array of shape (1,) or (n_classes,)
        The constant terms b.
    class_weight_ : array of shape (n_classes,)
        The factor of each class's losses, from `class_weight`.
    scale_ : float
        The divisor sigma of the network's log-odds.
    temperature_ : float
        The final divisor of the scores; 1 unless `calibrate` is set.
    alpha_ : float
        The alpha of the fit: the parameter or, if it is None, the chosen value.
    smoothing_ : str
        The smoothing of the fit.
    ridge_ : float
        The penalty weight, given or chosen.
    n_iter_ : int
        The number of Newton steps.
    gap_ : float
        An upper bound on the distance of the objective from its minimum, as a fraction of the objective.
    classes_, class_count_, weight_unit_, hierarchy_, feature_importances_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import HieLogistic, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> rows = [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl", "cat"])
    >>> clf = HieLogistic(hierarchy=hierarchy).fit(X, ["yes", "yes", "no", "no", "no", "yes"])
    >>> print(clf.predict(X[:3]))
    ['yes' 'yes' 'no']
    """

    without_hierarchy = "a logistic regression with naive Bayes as its offset"

    _stored = frozenset({"classes_", "hierarchy_", "n_features_in_", "counts_", "class_count_", "alpha_"})
    _stored |= {
        "smoothing_",
        "class_weight_",
        "scale_",
        "temperature_",
        "ridge_",
        "correction_coef_",
        "correction_intercept_",
        "n_iter_",
        "gap_",
        "weight_unit_",
    }
    weight_unit_: float
    _structure: Openings  # of `hierarchy_`

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float | None = 1.0,
        smoothing: str = "odds",
        ridge: float | None = 1.0,
        class_weight: Mapping[Any, float] | str | None = "balanced",
        class_prior: ArrayLike | None = None,
        calibrate: bool = False,
        binarize: float | None = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.ridge = ridge
        self.class_weight = class_weight
        self.class_prior = class_prior
        self.calibrate = calibrate
        self.binarize = binarize
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier to rows X, of shape (n_samples, n_features), and their classes y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. A sparse matrix is never made dense; the columns of a data frame are matched to the
            hierarchy by name.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default None
            How often each row counts; 0 leaves it out. Whole numbers stand for copies, which bias the parameters that
            are chosen (see `alpha`). Other weights count in the network (rounded to multiples of `weight_unit_`) and
            multiply the loss of a row. The offset of a row never counts that row. sigma and s are computed from
            unweighted rows. None means once.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_dataset(self, X, y)
        self._check_parameters()
        # A failed fit leaves no model rather than a mixture.
        for name in (*self._stored, *self._stored_sometimes):
            self.__dict__.pop(name, None)
        read = read_rows(self, *map(_in_memory, (X, y, sample_weight)))
        require_weight(read.labels)
        read = read.with_copies()
        unit = read.unit
        classes, codes = np.unique(read.y, return_inverse=True)
        require_classes_to_tell_apart(self, classes)
        check_prior(self.class_prior, len(classes))
        self._check_rarest(classes, codes)
        hierarchy = align_hierarchy(self.hierarchy, read.names, read.n_features)
        warn_of_columns(self.hierarchy, read.names, stacklevel=2)
        warn_without_hierarchy(self, stacklevel=2)
        warn_of_lost_values(read.X, self.binarize, read.names, stacklevel=2)
        table = BinaryRows.from_matrix(read.X, self.binarize, read.units).sparse()
        counts, violation = count_openings(table, codes, len(classes), hierarchy)
        warn_of_contradiction(read.as_given(violation), stacklevel=2)
        openings = Openings(hierarchy)
        alpha = self.alpha
        if alpha is None:
            alpha = Network(openings, counts, self.smoothing, unit).choose_alpha(table, codes)
        smoothed = float(alpha), self.smoothing
        rows = NetworkRows(table, codes, classes, openings, *smoothed, self.class_weight, unit)
        with one_thread():
            regression = rows.regression(counts)
            ridge, fit, temperature = self._regress(rows, regression.problem)
        self._warn_of_gap(fit)
        # No errors are raised after this point.
        self.classes_: NDArray[Any] = classes
        self.hierarchy_: Hierarchy = hierarchy
        self.counts_: OpenCounts = counts
        self.class_count_: NDArray[np.int64] = counts.class_count
        self.weight_unit_ = unit
        per_class = class_weights(self.class_weight, classes, counts.class_count.astype(np.float64) * unit)
        self.class_weight_: NDArray[np.float64] = np.ones(len(classes)) if per_class is None else per_class
        self.alpha_: float = rows.alpha
        self.smoothing_: str = rows.smoothing
        self.scale_: float = regression.scale
        self.ridge_: float = ridge
        self.temperature_: float = temperature
        self.n_iter_: int = fit.n_iter
        self.gap_: float = fit.gap
        self.correction_coef_: NDArray[np.float64] = fit.coef
        self.correction_intercept_: NDArray[np.float64] = fit.intercept
        self._structure = openings
        return self

    def _regress(self, rows: NetworkRows, problem: RidgeProblem) -> tuple[float, RidgeFit, float]:
        """Return the ridge, its fit and the temperature."""
        ridge = choose_ridge(rows, problem, self.n_jobs) if self.ridge is None else float(self.ridge)
        fit = solve_ridge(problem, ridge)
        if not self.calibrate:
            return ridge, fit, 1.0
        return ridge, fit, choose_temperature(rows, problem.loss, ridge, self.n_jobs)

    def _check_rarest(self, classes: NDArray[Any], codes: NDArray[np.intp]) -> None:
        """Raise an error for a class with a single row if cross-validation chooses a parameter."""
        count = np.bincount(codes)
        if count.min() < 2 and (self.ridge is None or self.calibrate):
            rare = classes.tolist()[count.argmin()]
            raise ValueError(
                f"class {rare!r} has only 1 row, but ridge=None and calibrate=True use cross-validation, which "
                "needs two rows per class; add rows of that class, or set ridge and omit calibrate"
            )

    def _warn_of_gap(self, fit: RidgeFit) -> None:
        if not fit.gap <= LARGEST_GAP:
            warnings.warn(
                f"the fit did not converge in {fit.n_iter} steps, so its objective may exceed the minimum by a "
                f"fraction of {fit.gap:.1e}; increase ridge, which is {self.ridge!r}",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's mean absolute contribution to the log-odds of the two classes.

        This is the mean of ``|contribution|`` in `explain` over all training rows that agree with the hierarchy, each
        with its weight. A 1 whose parents are not all 1 is ignored. It is not defined for more than two classes.
        """
        check_is_fitted(self)
        require_two_classes(self.classes_)
        known = {"scale": self.scale_, "added": self.correction_coef_[0]}
        return mean_open_contribution(self._network(), self.counts_, **known) / self.temperature_

    # ------------------------------------------------------------------------------------------ predicting

    @also_lazily
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of `classes_[1]`, shape (n_samples,). With more than two classes, return each class's
        score.

        The rows are divided among `n_jobs` threads.
        """
        network, rows = self._network(), self._read(X)
        chunks = map_chunks(
            lambda start, stop: self._scores(network, rows.between(start, stop)), rows.n_rows, self.n_jobs
        )
        scores = np.concatenate(chunks)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _scores(self, network: OpenScores, rows: BinaryRows) -> NDArray[np.float64]:
        linear = rows.to_csr() @ self.correction_coef_.T + self.correction_intercept_
        joint = network.log_likelihood(rows)
        scores: NDArray[np.float64] = (offsets_of(joint / self.scale_) + linear) / self.temperature_
        return scores + offsets_of(self._log_prior()[None])

    def _log_prior(self) -> NDArray[np.float64]:
        """Return the contribution of `class_prior` to each class's score.

        The contributions have mean 0 over the classes.
        """
        n_classes = len(self.classes_)
        if self.class_prior is None:
            return np.zeros(n_classes)
        added = np.log(check_prior(self.class_prior, n_classes)) - np.log(
            np.maximum(self.class_count_ * self.class_weight_, 1e-300)
        )
        centred: NDArray[np.float64] = added - added.mean()
        return centred

    @also_lazily
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(c | x) for each row and class, in the order of `classes_`."""
        return self._labels_and_logs(X)[1]

    @also_lazily
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x) for each row and class, in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        probability: NDArray[np.float64] = softmax(scores, axis=1)
        return probability

    @also_lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row. If classes tie, the first in `classes_` wins."""
        return self._labels_and_logs(X)[0]

    def _labels_and_logs(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the results of `predict` and `predict_log_proba` from a single pass over the rows."""
        scores = np.asarray(self.decision_function(X))
        if scores.ndim == 1:
            logs = np.column_stack([log_expit(-scores), log_expit(scores)])
            return self.classes_[(scores > 0).astype(np.intp)], logs
        return self.classes_[scores.argmax(axis=1)], log_softmax(scores, axis=1)

    def _score_parts(self, rows: BinaryRows) -> ScoreParts:
        network, values = self._network(), unpack(rows.words(np.arange(rows.n_rows)), rows.n_rows)
        coef, intercept = self._coefficients()
        is_open, terms = network.openings.open_in(values), network.factors(values) / self.scale_
        counts_somewhere = (terms != 0).any(axis=2) | (values == 1)

        def score() -> NDArray[np.float64]:
            scores = self._scores(network, rows)
            return scores if scores.shape[1] > 1 else np.column_stack([-scores / 2, scores / 2])

        return ScoreParts(
            values=values,
            parents=np.where(counts_somewhere, ROOT, ABSENT).astype(np.int32),
            factors=(terms + values[:, :, None] * coef.T) / self.temperature_,
            base=np.tile(intercept / self.temperature_ + self._log_prior(), (rows.n_rows, 1)),
            base_name="intercept" if self.class_prior is None else "intercept and class prior",
            score=score,
            has_probabilities=False,
            behind=lambda row: in_rows(self.counts_.behind(values[row], is_open[row]), self.weight_unit_),
            counts_parents=True,
            weights=coef / self.temperature_,
        )

    @property
    def _counts_note(self) -> str:
        divisor = f"{self.scale_ * self.temperature_:.3g}"
        return f"Contributions from the counts are HieBAN's, divided by {divisor} to match the regression's scale."

    def _state_parts(self) -> StateParts:
        network, (coef, _) = self._network(), self._coefficients()
        off, on = network.off / self.scale_, network.on / self.scale_
        # An open zero counts if it has a score; a one always does, open or not.
        scores_zeros = np.uint64(np.iinfo(np.uint64).max) * (off != 0).any(axis=1).astype(np.uint64)

        def words(rows: BinaryRows) -> StateWords:
            ones = rows.words(np.arange(rows.n_rows))
            is_open = network.openings.open_words(ones)
            return ones | (is_open & scores_zeros), ones, is_open

        closed = np.zeros_like(off)
        return StateParts(words, np.stack([closed, off, closed + coef.T, on + coef.T]) / self.temperature_)

    def _coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return all classes' weights and intercepts.

        Two classes get minus and plus half of the second class's values.
        """
        coef, intercept = self.correction_coef_, self.correction_intercept_
        if len(self.classes_) > 2:
            return coef, intercept
        return np.vstack([-coef / 2, coef / 2]), np.concatenate([-intercept / 2, intercept / 2])

    def _read(self, X: Any) -> BinaryRows:
        """Return the rows to predict, validated."""
        check_is_fitted(self)
        self._check_parameters()  # binarize may have changed
        in_memory(X, f"{type(self).__name__}.explain", "predictions can be lazy, but not explanations")
        X = validated(self, X, dtype="numeric", reset=False)
        return BinaryRows.from_matrix(X, self.binarize).sparse()

    def _network(self) -> OpenScores:
        """Return the network's tables."""
        check_is_fitted(self)
        openings = self.__dict__.get("_structure")
        if openings is None or openings.hierarchy is not self.hierarchy_:
            openings = self._structure = Openings(self.hierarchy_)
        return openings.scores(self.counts_, self.smoothing_, self.alpha_, self.weight_unit_)

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        check_parameters(self, {**ACCEPTED, **CHOSEN})

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        require(isinstance(fitted["counts_"], OpenCounts), "counts_ are not counts of open features")
        for name in ("alpha_", "ridge_", "scale_", "temperature_"):
            require(is_weight(fitted[name]), f"{name} is not a number above 0: {fitted[name]!r:.80}")
        smoothing = fitted["smoothing_"]
        require(smoothing in SMOOTHINGS, f"smoothing_ is not a kind of smoothing: {smoothing!r:.80}")
        check_class_weight(fitted)
        check_linear(fitted, "correction_coef_", "correction_intercept_")
        check_prior(self.class_prior, len(fitted["classes_"]))
        steps, gap = fitted["n_iter_"], fitted["gap_"]
        require(is_whole(steps, 0, 2**31 - 1), f"n_iter_ is not a number of steps: {steps!r:.80}")
        require(is_finite(gap) and gap >= 0, f"gap_ is not a number of at least 0: {gap!r:.80}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _in_memory(rows: Any) -> Any:
    return in_memory(rows, "HieLogistic", "every step of its fit needs all rows")
