"""ProximalGraph: logistic regression whose weights are sparse along the hierarchy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from hietan.classifiers._base import FittedState, check_linear, in_rows, require
from hietan.classifiers._checks import (
    ACCEPTED,
    align_hierarchy,
    check_parameters,
    class_weights,
    in_memory,
    is_number,
    is_one_of,
    is_positive,
    is_weight,
    is_whole,
    refuse_dataset,
    require_classes_to_tell_apart,
    require_weight,
    validated,
    warn_of_columns,
    warn_without_hierarchy,
)
from hietan.classifiers._fitting import read_rows
from hietan.classifiers._solvers.graph_path import GraphFit, LogisticProblem, kernel_rows
from hietan.classifiers._solvers.lambda_path import (
    LAMBDA_CRITERIA,
    N_LAMBDAS,
    SMALLEST,
    Choice,
    HeldOutRows,
    LambdaPath,
    LambdaSearch,
    log_probabilities,
)
from hietan.explain import Explanations
from hietan.explain._assemble import explain_linear, linear_contributions, target_index
from hietan.explain._dataset_rows import also_of_datasets, also_of_whole_datasets, readable_names, row_labels
from hietan.explain._score_parts import LinearParts
from hietan.hierarchy import Hierarchy
from hietan.structure._counts import PairCounts, count_ones
from hietan.structure._penalty import graph_penalty
from hietan.structure._rows import BinaryRows

N_FOLDS = 5


def is_lambda_fraction(value: object) -> bool:
    """Return whether a value is valid for `lam_relative`, which must be a number from 1e-10 to 1."""
    return is_number(value) and 1e-10 <= value <= 1  # type: ignore[operator]


_ACCEPTED = {
    **ACCEPTED,
    "lam": (
        lambda value: value is None or is_positive(value),
        "a number above 0, or None to choose it by cross-validation",
    ),
    "lam_relative": (
        lambda value: value is None or is_lambda_fraction(value),
        "a number from 1e-10 to 1, or None",
    ),
    "criterion": (is_one_of(LAMBDA_CRITERIA), f"one of {', '.join(LAMBDA_CRITERIA)}"),
    "max_iter": (lambda value: is_whole(value, 1, 2**62 - 1), "an integer above 0 (and below 2^62)"),
    "tol": (is_positive, "a number above 0"),
}


class ProximalGraph(FittedState, ClassifierMixin, BaseEstimator):
    """Logistic regression with hierarchical groups (Mairal, Jenatton, Obozinski & Bach 2010).

    Minimises the mean logistic loss plus lam times the sum, over all features v, of the largest ``|weight|`` among v
    and its descendants. Such a group is zero as a whole, so the features used are closed upwards: if a feature is
    used, so are all of its ancestors. Without relations this is the lasso. The proximal operator is exact, by network
    flow along the edges of the hierarchy.

    X may contain any numbers up to 1e60 in size, if the largest is at least 1e-60. Several classes are fitted one
    against the rest, with one lam for all. The inner folds that choose lam are shuffled with `random_state` and fitted
    in `n_jobs` threads.

    Parameters
    ----------
    lam : float or None, default None
        Penalty weight, above 0. None uses `lam_relative` or, without it, chooses from 30 values, log-spaced from the
        smallest value with all weights zero down to 1/1000 of it. The best value by `criterion` in an inner
        cross-validation is chosen, or the largest of several that tie. The inner cross-validation has 5 stratified
        folds, or fewer if a class has fewer rows.
    lam_relative : float or None, default None
        Penalty weight as a fraction of the smallest value with all weights zero, which depends on the training rows;
        from 1e-10 to 1. It cannot be combined with `lam`.
    criterion : {"log_loss", "auc", "gmean"}, default "log_loss"
        The criterion that chooses `lam`, computed over the held-out rows of all inner folds together. "log_loss"
        chooses the smallest log loss. "auc" chooses the largest area under the ROC curve, which is the mean of each
        class against the rest if there are several. "gmean" chooses the largest geometric mean of sensitivity and
        specificity at the best threshold for these rows, and needs two classes. The log loss is by far the fastest,
        because values below a clear rise are not tried (see `LambdaPath`).
    class_weight : {"balanced"}, dict or None, default None
        Multiplier for the sample weights of each class. "balanced" gives each class the same total weight, in every
        problem of one class against the rest. Weights are scaled to a sum of 1 over the rows, so that `lam` keeps its
        meaning. The log loss that chooses `lam` also uses them; the other criteria do not depend on them.
    max_iter : int, default 10000
        The largest number of steps for each value of lam.
    tol : float, default 1e-4
        The fit stops at this duality gap, an upper bound on the distance of the objective from its minimum, as a
        fraction of the constant model's loss. A ConvergenceWarning is issued if it is not reached.
    hierarchy, n_jobs, random_state
        As for :class:`TAN`.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights. Two classes have one row, whose positive class is `classes_[1]`.
    intercept_ : array of shape (1,) or (n_classes,)
        The constant terms.
    lam_ : float
        The penalty weight: given, computed from `lam_relative`, or chosen.
    path_ : LambdaPath
        The tried values with their inner log losses and numbers of features. Set only if `lam` was chosen.
    selected_features_ : tuple of str
        The names of the features with a nonzero weight for some class, in column order ("x0", "x1", ... for columns
        without names or hierarchy).
    n_iter_ : array of shape (1,) or (n_classes,)
        The number of steps taken at `lam_`.
    gap_ : array of shape (1,) or (n_classes,)
        The relative duality gap reached at `lam_`.
    counts_ : PairCounts
        The number of training rows of each class in which each feature is 1; explanations show them.
    classes_, class_count_, weight_unit_, hierarchy_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, ProximalGraph
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> rows = [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl", "cat"])
    >>> clf = ProximalGraph(hierarchy=hierarchy, lam=0.1).fit(X, ["yes", "yes", "no", "no", "no", "yes"])
    >>> clf.selected_features_
    ('animal', 'bird', 'owl')
    >>> print(clf.predict(X[:3]))
    ['yes' 'yes' 'no']
    """

    without_hierarchy = "a logistic regression without a graph"

    _stored = frozenset(
        {"classes_", "hierarchy_", "n_features_in_", "coef_", "intercept_", "lam_", "n_iter_", "gap_"}
    )
    _stored |= {"counts_", "class_count_", "weight_unit_"}
    _stored_sometimes = frozenset({"feature_names_in_", "path_"})

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        lam: float | None = None,
        lam_relative: float | None = None,
        criterion: str = "log_loss",
        class_weight: Mapping[Any, float] | str | None = None,
        max_iter: int = 10_000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.lam = lam
        self.lam_relative = lam_relative
        self.criterion = criterion
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

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
            The row weights, multiplied by the class weights; 0 leaves a row out. Whole numbers are equivalent to
            copies of the rows. None means 1.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_dataset(self, X, y)
        self._check_parameters()
        # A failed fit leaves no model rather than a mixture.
        for name in self._stored | self._stored_sometimes:
            self.__dict__.pop(name, None)
        rows = read_rows(self, *map(_in_memory, (X, y, sample_weight)), dtype=np.float64)
        require_weight(rows.labels)
        rows = rows.with_copies()
        _check_sizes(rows.X)
        classes, codes = np.unique(rows.y, return_inverse=True)
        require_classes_to_tell_apart(self, classes)
        self.classes_: NDArray[Any] = classes
        self.hierarchy_: Hierarchy = align_hierarchy(self.hierarchy, rows.names, rows.n_features)
        warn_of_columns(self.hierarchy, rows.names, stacklevel=2)
        warn_without_hierarchy(self, stacklevel=2)
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        fits, gaps = self._fit_problems(rows.X, codes, weights)
        self._warn(gaps)
        table = BinaryRows.from_matrix(rows.X == 1, None, rows.units)
        self.counts_: PairCounts = count_ones(table, codes, len(classes))
        self.weight_unit_: float = rows.unit
        self.class_count_: NDArray[np.int64] = self.counts_.class_count
        self.intercept_: NDArray[np.float64] = np.array([fit.intercept for fit in fits])
        self.n_iter_: NDArray[np.int64] = np.array([fit.n_iter for fit in fits])
        self.gap_: NDArray[np.float64] = np.array([fit.relative_gap for fit in fits])
        # The last, because with the weights the model is fitted.
        self.coef_: NDArray[np.float64] = np.stack([fit.coef for fit in fits])
        return self

    @property
    def selected_features_(self) -> tuple[str, ...]:
        """The names of the features with a nonzero weight for at least one class, in the feature order of X."""
        check_is_fitted(self)
        used = np.flatnonzero((self.coef_ != 0).any(axis=0))
        return tuple(self.hierarchy_.features[j] for j in used)

    # ------------------------------------------------------------------------------------------ fitting

    def _fit_problems(
        self, X: Any, codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> tuple[list[GraphFit], list[float]]:
        """Set `lam_` and, if lambda was chosen, `path_`. Return each problem's fit and the gaps of all fits."""
        problems = self._problems(X, codes, weights)
        if self.lam is not None:
            self.lam_: float = float(self.lam)
        elif self.lam_relative is not None:
            self.lam_ = float(self.lam_relative) * _smallest_empty(X, problems)
        else:
            choice = self._choose_lam(X, codes, weights, problems)
            self.path_: LambdaPath = choice.path
            self.lam_ = float(choice.path.lam[choice.path.best])
            return choice.fits, choice.gaps
        fits = [self._solve(problem, self.lam_) for problem in problems]
        return fits, [fit.relative_gap for fit in fits]

    def _problems(
        self, X: Any, codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> list[LogisticProblem]:
        """Return one problem for two classes, with the second class as positive, or one problem per class
        against the rest.
        """
        X = sp.csr_array(X)
        penalty, rows = graph_penalty(self.hierarchy_), kernel_rows(X)
        n_classes = len(self.classes_)
        problems = []
        for c in [1] if n_classes == 2 else range(n_classes):
            positive = codes == c
            if self.class_weight == "balanced":
                share = weights[positive].sum() / weights.sum()
                products = weights * np.where(positive, 0.5 / share, 0.5 / (1 - share))
            else:
                products = self._row_weights(codes, weights)
            problems.append(LogisticProblem(X, rows, positive, products, penalty))
        return problems

    def _row_weights(self, codes: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the row weights multiplied by the class weights."""
        totals = np.bincount(codes, weights, minlength=len(self.classes_)).astype(np.float64)
        per_class = class_weights(self.class_weight, self.classes_, totals)
        return weights if per_class is None else weights * per_class[codes]

    def _solve(self, problem: LogisticProblem, lam: float) -> GraphFit:
        return problem.solve(lam, int(self.max_iter), float(self.tol))

    def _choose_lam(
        self,
        X: Any,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        problems: list[LogisticProblem],
    ) -> Choice:
        if self.criterion == "gmean" and len(self.classes_) > 2:
            raise ValueError(
                "criterion='gmean' uses the best threshold and needs two classes, but y has "
                f"{len(self.classes_)}; choose 'log_loss' or 'auc'"
            )
        lams = _smallest_empty(X, problems) * np.logspace(0, np.log10(SMALLEST), N_LAMBDAS)
        folds = [
            HeldOutRows(X[test], test, self._problems(X[training], codes[training], weights[training]))
            for training, test in self._folds(codes).split(codes, codes)
        ]
        search = LambdaSearch(problems, folds, codes, self._row_weights(codes, weights), self._solve)
        return search.choose(lams, self.criterion, self.n_jobs)

    def _folds(self, codes: NDArray[np.intp]) -> StratifiedKFold:
        count = np.bincount(codes)
        if count.min() < 2:
            rare = self.classes_.tolist()[count.argmin()]
            raise ValueError(
                f"class {rare!r} has only 1 row, but lam=None chooses lam by cross-validation, which needs two "
                "rows per class; add rows of that class, or set lam"
            )
        n_folds = min(N_FOLDS, int(count.min()))
        seed = self.random_state
        if isinstance(seed, np.random.Generator):  # which scikit-learn's splitters do not accept
            seed = int(seed.integers(2**32))
        return StratifiedKFold(n_folds, shuffle=True, random_state=seed)

    def _warn(self, gaps: Sequence[float]) -> None:
        missed = sum(not gap <= self.tol for gap in gaps)  # also counts a gap of NaN
        if missed:
            warnings.warn(
                f"{missed} of {len(gaps)} fits stopped at max_iter={self.max_iter} with a relative duality gap of up "
                f"to {max(gaps):.1e}, above tol={self.tol}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    # ------------------------------------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of `classes_[1]`, shape (n_samples,). With more than two classes, return each class's
        log-odds against the other classes.
        """
        check_is_fitted(self)
        X = validated(self, _in_memory(X), dtype=np.float64, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # refused just below
            scores: NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
            raise ValueError(
                f"the log-odds of row {row} are not finite, because X contains absolute values up to "
                f"{abs(X).max()}; rescale X"
            )
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(c | x) for each row and class, in the order of `classes_`."""
        return log_probabilities(self.decision_function(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x) for each row and class. With more than two classes, the sigmoids are divided by their sum."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row. If classes tie, the first in `classes_` wins."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    @also_of_datasets
    def explain(
        self, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        """Explain each row's score as the intercept plus each feature's weight times its value.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset of shape (n_samples, n_features)
            The rows to explain. The labels of a data frame's rows appear in the explanations.
        rows : str, sequence of str or None, default None
            The names of the rows to explain if X is a Dataset; None means all rows.
        target : label or None, default None
            The class whose log-odds are explained. None means the second of two classes, or the predicted class if
            there are more. The log-odds of one of several classes are its `decision_function` plus what rescaling the
            probabilities to a sum of 1 adds, which belongs to no feature.
        term_names : mapping, sequence or None, default None
            Readable feature names: by feature, or in column order.

        Returns
        -------
        list of Explanation
            One for each row.
        """
        scores = self.decision_function(X)
        read: Any = sp.csr_array(validated(self, X, dtype=np.float64, reset=False))
        weights, constants = self.coef_, self.intercept_
        if scores.ndim == 1:  # the first of two classes has minus the score of the second
            scores, weights = np.column_stack([-scores, scores]), np.vstack([-weights, weights])
            constants = np.concatenate([-constants, constants])
        counted = in_rows((self.counts_.ones, self.class_count_), self.weight_unit_)
        return explain_linear(
            LinearParts(read, weights, constants, scores, self.predict_log_proba(X), *counted),
            method=type(self).__name__,
            rows=row_labels(X, read.shape[0]),
            classes=self.classes_.tolist(),
            target=target,
            hierarchy=self.hierarchy_,
            names=readable_names(term_names, self.hierarchy_.features),
        )

    @also_of_whole_datasets
    def contributions(self, X: Any, *, target: Any = None, return_base: bool = False) -> Any:
        """Return each feature's contribution to a class's score in each row of X, like `explain` but for many rows.

        `X` (all rows of a dataset) and `target` are as in `explain`. Features without a contribution have no entry.
        With `return_base`, the rest of each row's log-odds is also returned: the intercept and, for several classes,
        what rescaling the probabilities to a sum of 1 adds.
        """
        check_is_fitted(self)
        read = validated(self, X, dtype=np.float64, reset=False)
        chosen = np.searchsorted(self.classes_, self.predict(X))
        if target is not None or len(self.classes_) == 2:
            chosen[:] = target_index(target, self.classes_.tolist(), np.zeros(2))
        weights = np.vstack([-self.coef_, self.coef_])[-len(self.classes_) :]
        found = linear_contributions(read, weights, chosen)
        if not return_base:
            return found
        if len(self.classes_) == 2:
            return found, np.concatenate([-self.intercept_, self.intercept_])[chosen]
        log_proba = self.predict_log_proba(X)
        rows = np.arange(len(chosen))
        own, rest = log_proba[rows, chosen], log_proba.copy()
        rest[rows, chosen] = -np.inf
        return found, own - logsumexp(rest, axis=1) - found.sum(axis=1)

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        check_parameters(self, _ACCEPTED)
        if self.lam is not None and self.lam_relative is not None:
            given = f"lam={self.lam!r} and lam_relative={self.lam_relative!r}"
            raise ValueError(
                f"lam and lam_relative are mutually exclusive (got {given}); set one of them to None"
            )

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        check_linear(fitted, "coef_", "intercept_")
        require(is_weight(fitted["lam_"]), f"lam_ is not a number above 0: {fitted['lam_']!r:.80}")
        require(isinstance(fitted["counts_"], PairCounts), "counts_ are not counts of ones")
        for name, kinds in (("n_iter_", "iu"), ("gap_", "f")):
            value = fitted[name]
            right = isinstance(value, np.ndarray) and value.shape == fitted["intercept_"].shape
            require(right and value.dtype.kind in kinds, f"{name} does not contain a number for each problem")
        if "path_" in fitted:
            require(_is_path(fitted["path_"], fitted["lam_"]), "path_ is not the path that led to lam_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _in_memory(rows: Any) -> Any:
    return in_memory(rows, "ProximalGraph", "every step of its fit needs all rows")


def _is_path(path: Any, lam: float) -> bool:
    """Return whether a value is a valid path: a loss, feature count and score per lambda, with `lam` the best."""
    if not isinstance(path, LambdaPath) or path.criterion not in LAMBDA_CRITERIA:
        return False
    columns = (path.lam, path.log_loss, path.n_features, path.lam if path.score is None else path.score)
    if not all(isinstance(column, np.ndarray) and column.dtype.kind in "fiu" for column in columns):
        return False
    return {column.shape for column in columns} == {(path.lam.size,)} and bool(lam == path.lam[path.best])


def _check_sizes(X: Any) -> None:
    """Raise an error for numbers that would make a fit overflow or underflow."""
    largest = float(abs(X).max())
    if largest > 1e60 or 0 < largest < 1e-60:
        raise ValueError(
            f"the largest absolute value in X is {largest}; it must be 0, or from 1e-60 to 1e60, so rescale X"
        )


def _smallest_empty(X: Any, problems: Sequence[LogisticProblem]) -> float:
    """Return the smallest lambda with all weights zero, or 1 if every lambda gives zero weights, as for
    constant columns.
    """
    smallest = max(problem.lam_max() for problem in problems)
    return smallest if smallest > 1e-14 * abs(X).max() else 1.0
