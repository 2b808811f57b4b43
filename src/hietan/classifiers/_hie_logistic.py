"""HieLogistic: logistic regression on top of what the hierarchy's own network says."""

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

# The solver goes far below; a fit that stays above is not what it says it is.
LARGEST_GAP = 1e-8


class HieLogistic(ExplainsRows, FittedState, ClassifierMixin, BaseEstimator):
    """Ridge logistic regression with the log-odds of `HieBAN` as a fixed offset.

    The network of the hierarchy says how probable a row is in each class; the regression corrects it. Minimises::

        sum over rows of m ln(1 + exp(-y (g / sigma + w.x + b))) + (ridge s / 2) |w|^2 + 5 b^2

    where y is 1 or -1, m is the weight of the class and s is the mean number of ones in a row. The offset g of a
    training row is the log-odds of a HieBAN with equal class priors that was fitted to all other rows (exactly, without
    fitting it again), and sigma is the standard deviation of these offsets. The score of a new row is
    g / sigma + w.x + b, with g from all training rows; its logistic function is the probability. What a feature
    contributes in `explain` is its term in g / sigma, plus its weight if it is 1.

    With more than two classes, the offsets are the logarithms of P(x | c) / sigma, where sigma^2 is the mean, over all
    pairs of classes, of the variance of their log-odds; the loss is multinomial, and the penalty is
    ``ridge s |W|^2 + 10 |b|^2``. Two classes are a special case of this.

    The fit needs all training rows at once, so there is no `partial_fit`, and `fit` does not take Dask collections.

    Parameters
    ----------
    alpha : float or None, default 1.0
        Strength of the smoothing of every probability of the network; it must be above 0. None means that it is chosen
        by the exact leave-one-out log loss of HieBAN. With whole weights of rows above 1, the copies of a row are among
        the others, which makes the choice too optimistic: scale the weights so that their mean is 1. The same is true
        of the cross-validations of `ridge` and `calibrate`.
    smoothing : {"laplace", "pooled", "odds"}, default "odds"
        How the probabilities of the network are smoothed, as for :class:`HieBAN`.
    ridge : float or None, default 1.0
        Weight of the penalty, above 0. None means that it is chosen from 13 values between 0.01 and 100. The one with
        the smallest log loss in a 5-fold cross-validation of network and regression is taken, or the largest of several
        with the same log loss. A class with fewer rows reduces the number of folds. Values that are too small for the
        weights of the rows, and would be refused if they were given, are left out.
    class_weight : {"balanced"}, dict or None, default "balanced"
        Weights of the rows of each class. "balanced" gives each class the same total weight: the probabilities are then
        those of equally frequent classes. None means 1, for probabilities that follow the classes' frequencies.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. Their log-odds are added to the scores in place of the log-odds
        of the classes' total weights in the fit, which are 0 with "balanced" and ln(n_1 / n_0) with
        ``class_weight=None``. None means that the scores stay as they are.
    calibrate : bool, default False
        Whether all scores are divided by a temperature, the positive number with the smallest log loss in the same
        kind of cross-validation. This makes probabilities more or less extreme. It does not make them follow the
        classes' frequencies, and never changes the predicted class, unless there is a `class_prior`.
    hierarchy, binarize, n_jobs
        As for :class:`TAN`.

    Attributes
    ----------
    counts_ : OpenCounts
        The counts of the network.
    correction_coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights w of the features. Two classes have one row, whose positive class is `classes_[1]`. They are not
        called `coef_`, because the scores also have the log-odds of the network: no linear model of X gives them.
    correction_intercept_ : array of shape (1,) or (n_classes,)
        The constant terms b.
    class_weight_ : array of shape (n_classes,)
        What the losses of the rows of each class were multiplied with, as `class_weight` says.
    scale_ : float
        The number sigma by which the log-odds of the network are divided.
    temperature_ : float
        The number by which scores are divided in the end; 1 unless `calibrate` is set.
    alpha_ : float
        The alpha of the fit: the parameter or, if that is None, the value that was chosen.
    smoothing_ : str
        The smoothing of the fit.
    ridge_ : float
        The weight of the penalty, given or chosen.
    n_iter_ : int
        The number of steps of Newton's method.
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
        """Fit to rows X, shape (n_samples, n_features), and classes y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. A sparse matrix is never made dense; the columns of a data frame are matched to the
            hierarchy by name.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default None
            How often each row counts; 0 leaves it out. Whole numbers are numbers of copies, which distort what is
            chosen (see the parameter `alpha`). Other weights count in the network (rounded to multiples of
            `weight_unit_`) and multiply the loss of a row, which is left out of its own offset altogether; sigma and s
            are those of the rows without weights. None means once.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_dataset(self, X, y)
        self._check_parameters()
        # A refused fit leaves no model rather than half of two.
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
        # Nothing is refused from here on.
        self.classes_, self.hierarchy_ = classes, hierarchy
        self.counts_, self.class_count_ = counts, counts.class_count
        self.weight_unit_ = unit
        totals = counts.class_count.astype(np.float64) * unit
        per_class = class_weights(self.class_weight, classes, totals)
        self.class_weight_ = np.ones(len(classes)) if per_class is None else per_class
        self.alpha_, self.smoothing_, self.scale_ = rows.alpha, rows.smoothing, regression.scale
        self.ridge_, self.temperature_ = ridge, temperature
        self.n_iter_, self.gap_ = fit.n_iter, fit.gap
        self.correction_coef_, self.correction_intercept_ = fit.coef, fit.intercept
        return self

    def _regress(self, rows: NetworkRows, problem: RidgeProblem) -> tuple[float, RidgeFit, float]:
        """The ridge, the fit with it, and the temperature."""
        ridge = choose_ridge(rows, problem, self.n_jobs) if self.ridge is None else float(self.ridge)
        fit = solve_ridge(problem, ridge)
        if not self.calibrate:
            return ridge, fit, 1.0
        return ridge, fit, choose_temperature(rows, problem.loss, ridge, self.n_jobs)

    def _check_rarest(self, classes: NDArray[Any], codes: NDArray[np.intp]) -> None:
        """Refuse a class with a single row, if something is chosen by cross-validation."""
        count = np.bincount(codes)
        if count.min() < 2 and (self.ridge is None or self.calibrate):
            rare = classes.tolist()[count.argmin()]
            raise ValueError(
                f"ridge=None and calibrate=True use a cross-validation, which needs two rows of each class, but class "
                f"{rare!r} has 1 sample; give ridge a value and leave calibrate out, or add rows of that class"
            )

    def _warn_of_gap(self, fit: RidgeFit) -> None:
        if not fit.gap <= LARGEST_GAP:
            warnings.warn(
                f"the fit stopped after {fit.n_iter} steps with an objective that may be {fit.gap:.1e} above its "
                f"minimum, as a fraction of it; raise ridge, which is {self.ridge!r}",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature contributes to the log-odds of the two classes: its mean absolute contribution.

        This is the mean of ``|contribution|`` in `explain` over all training rows that agree with the hierarchy, each
        with its weight; a 1 whose parents are not all 1 is not counted. There are none for more than two classes.
        """
        check_is_fitted(self)
        require_two_classes(self.classes_)
        known = {"scale": self.scale_, "added": self.correction_coef_[0]}
        return mean_open_contribution(self._network(), self.counts_, **known) / self.temperature_

    # ------------------------------------------------------------------------------------------ predicting

    @also_lazily
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-odds of `classes_[1]`, shape (n_samples,); with more classes, the score of each, before the softmax.

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
        """Return what `class_prior` adds to the score of each class; the mean over the classes is 0."""
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
        """ln P(c | x) for each row and class, in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        logs: NDArray[np.float64] = log_softmax(scores, axis=1)
        return logs

    @also_lazily
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(c | x) for each row and class, in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        probability: NDArray[np.float64] = softmax(scores, axis=1)
        return probability

    @also_lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties go to the class that comes first in `classes_`."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

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
        return f"What follows from the counts is divided by {self.scale_ * self.temperature_:.3g}."

    def _state_parts(self) -> StateParts:
        network, (coef, _) = self._network(), self._coefficients()
        off, on = network.off / self.scale_, network.on / self.scale_
        # An open zero counts if it scores anything; a one always does, open or not.
        scores_zeros = np.where((off != 0).any(axis=1), np.iinfo(np.uint64).max, 0).astype(np.uint64)

        def words(rows: BinaryRows) -> StateWords:
            ones = rows.words(np.arange(rows.n_rows))
            is_open = network.openings.open_words(ones)
            return ones | (is_open & scores_zeros), ones, is_open

        closed = np.zeros_like(off)
        return StateParts(words, np.stack([closed, off, closed + coef.T, on + coef.T]) / self.temperature_)

    def _coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercepts of all classes; two have half of those of the second, and minus half."""
        coef, intercept = self.correction_coef_, self.correction_intercept_
        if len(self.classes_) > 2:
            return coef, intercept
        return np.vstack([-coef / 2, coef / 2]), np.concatenate([-intercept / 2, intercept / 2])

    def _read(self, X: Any) -> BinaryRows:
        """The rows to predict, validated."""
        check_is_fitted(self)
        self._check_parameters()  # binarize may have been set since
        in_memory(X, f"{type(self).__name__}.explain", "predictions can be lazy, but not explanations")
        X = validated(self, X, dtype="numeric", reset=False)
        return BinaryRows.from_matrix(X, self.binarize).sparse()

    def _network(self) -> OpenScores:
        """The tables of the network."""
        check_is_fitted(self)
        network = Network(Openings(self.hierarchy_), self.counts_, self.smoothing_, self.weight_unit_)
        return network.scores(self.alpha_)

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
