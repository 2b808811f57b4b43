"""The base classes of all classifiers, which store their state, and of the Bayesian classifiers."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._checks import (
    ACCEPTED,
    Accepted,
    align_hierarchy,
    check_parameters,
    check_prior,
    class_weights,
    is_partitioned,
    refuse_dataset,
    require_classes_to_tell_apart,
    require_weight,
    validated,
    warn_of_columns,
    warn_of_contradiction,
    warn_of_lost_values,
    warn_without_hierarchy,
)
from hietan.classifiers._fitting import Counting, RowsInMemory, read_rows
from hietan.classifiers._partitions import RowsInBlocks, also_lazily, read_blocks
from hietan.classifiers._solvers.leave_one_out import log_shares
from hietan.explain._explaining import ExplainsRows
from hietan.hierarchy import Hierarchy
from hietan.structure._counts import PairCounts, RowsBehind, count_pairs
from hietan.structure._importance import root_log_prob
from hietan.structure._openings import OpenCounts, check_open_counts
from hietan.structure._rows import BinaryRows, Violation, first_violation


class FittedState:
    """A mixin that restores a classifier's state safely, even from an untrusted file.

    The state consists of the parameters and the fitted attributes, whose names end with an underscore. Derived objects,
    such as trees, are not part of it. `__setstate__` checks everything that predictions rely on, so that a forged file
    raises an exception with any library.
    """

    _stored: ClassVar[frozenset[str]]  # the fitted attributes that every model of the class has
    _stored_sometimes: ClassVar[frozenset[str]] = frozenset({"feature_names_in_"})
    without_hierarchy: ClassVar[str] = ""
    """Name of the equivalent classifier without a hierarchy; "" if the classifier does not use one."""

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_structure"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        cls: Any = type(self)
        # A file must not replace anything that the class defines, such as its checks.
        shadowed = sorted(name for name in set(state) - set(cls._get_param_names()) if hasattr(cls, name))
        require(not shadowed, f"not part of the state of {cls.__name__}: {shadowed[:1]}")
        self.__dict__.update(state)
        self.__dict__.pop("_structure", None)
        if self.__sklearn_is_fitted__():
            self._check_parameters()
            self._check_fitted(self._fitted_attributes())

    def __sklearn_is_fitted__(self) -> bool:
        return vars(self).keys() >= self._stored

    def _fitted_attributes(self) -> dict[str, Any]:
        known = self._stored | self._stored_sometimes
        return {name: value for name, value in sorted(vars(self).items()) if name in known}

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        """Raise ValueError for fitted attributes that this class's `fit` could not have set."""
        self._check_names(fitted)
        d, classes, hierarchy = fitted["n_features_in_"], fitted["classes_"], fitted["hierarchy_"]
        require(isinstance(hierarchy, Hierarchy), "hierarchy_ is not a hierarchy")
        require(type(d) is int and d == len(hierarchy) > 0, "the hierarchy and n_features_in_ disagree")
        require(isinstance(classes, np.ndarray) and classes.ndim == 1, "the classes are not an array")
        right = len(classes) > 1 and np.array_equal(np.unique(classes), classes)
        require(right, "the classes are not a sorted array of two or more labels")
        if "feature_names_in_" in fitted:
            _check_column_names(fitted["feature_names_in_"], hierarchy)
        if "root_order_" in fitted:
            order = fitted["root_order_"]
            right = isinstance(order, np.ndarray) and order.dtype.kind in "iu"  # int32 on Windows
            require(
                right and np.array_equal(np.sort(order), np.arange(d)), "root_order_ is not a permutation"
            )
        if "counts_" in fitted:
            _check_counts(fitted["counts_"], len(classes), hierarchy)
            _check_same(fitted["class_count_"], fitted["counts_"].class_count)
            unit = fitted["weight_unit_"]
            right = isinstance(unit, float) and 2.0**-200 <= unit <= 2.0**200 and math.frexp(unit)[0] == 0.5
            require(right, f"weight_unit_ is not a power of two that `fit` chooses: {unit!r:.80}")

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        given = set(names)
        unknown = sorted(given - cls._stored - cls._stored_sometimes)
        require(not unknown, f"not a fitted attribute of {cls.__name__}: {unknown[:1]}")
        missing = sorted(cls._stored - given)
        require(not missing, f"a fitted attribute of {cls.__name__} is missing: {missing[:1]}")


class BaseBayes(ExplainsRows, FittedState, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """The base class of classifiers that need only per-class counts of binary features.

    A subclass stores its parameters (at least `hierarchy`, `alpha`, `smoothing`, `binarize`, `class_prior`,
    `class_weight` and `n_jobs`) and implements these steps, which run in this order:

    1. `_check_parameters` raises an error for wrong parameters, at the beginning of every call. It looks them up in the
       table `_accepted`.
    2. `fit` and the first `partial_fit` read the columns and classes, then `_draw` makes the random choices.
    3. `_count` counts the rows and checks them against the hierarchy. The counts are stored.
    4. `_learn` learns everything that does not depend on the row to predict from the counts. It runs at the end of
       `fit`; after `partial_fit` it runs when its result, `_learned`, is first used.
    5. `_joint_log` scores rows, chunk by chunk, and `_score_parts` returns the terms of the same scores for `explain`
       (`_state_parts` returns them faster if they can be looked up).

    If step 1 raises an error, the model is not changed. If step 2 or 3 raises an error, `fit` leaves no model, and
    `partial_fit` leaves the existing model unchanged.
    """

    hierarchy: Hierarchy | None
    alpha: float | None
    smoothing: str
    binarize: float | None
    class_prior: ArrayLike | None
    class_weight: Mapping[Any, float] | str | None
    n_jobs: int | None
    alpha_: float  # only in classifiers that can choose it
    weight_unit_: float
    class_weight_: NDArray[np.float64]
    counts_: Any  # as `_count` returns them
    _accepted: ClassVar[Accepted] = ACCEPTED
    _stored = frozenset({"classes_", "hierarchy_", "n_features_in_", "counts_", "class_count_"})
    _stored |= {"class_weight_", "weight_unit_"}
    _structure: Any  # the result of `_learn`; None before

    def _draw(self, n_features: int) -> dict[str, Any]:
        """Return the fitted attributes that are drawn at random once per model."""
        return {}

    @staticmethod
    @abstractmethod
    def _count(
        rows: BinaryRows, codes: NDArray[np.int64], n_classes: int, hierarchy: Hierarchy, n_jobs: int | None
    ) -> tuple[Any, Violation | None]:
        """Count the rows in each class, and find the first row that contradicts the hierarchy.

        Counts from two parts of the data can be added. The method is static because it is sent to a cluster without
        the model.
        """

    @abstractmethod
    def _learn(self) -> Any:
        """Return everything that every row needs and that follows from `counts_` and `hierarchy_`."""

    @abstractmethod
    def _joint_log(self, rows: BinaryRows) -> NDArray[np.float64]:
        """Return ln P(c, x) for each row, shape (n_rows, n_classes). Threads call this method."""

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier to rows X, of shape (n_samples, n_features), and their classes y.

        X is an array, a SciPy sparse matrix (never made dense) or a data frame, whose columns are matched to the
        hierarchy by name. It may also be a Dask array or data frame, or a list of delayed blocks of rows, with y
        divided in the same way. Each block is then counted where it is stored, and the model equals a fit to all rows
        in memory.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            The training rows.
        y : array or Dask collection of shape (n_samples,)
            Their classes.
        sample_weight : array or Dask collection of shape (n_samples,) or None, default None
            How often each row counts; 0 leaves it out. Weights that are not whole numbers are rounded to multiples of
            `weight_unit_`; with a Dask collection, they must be whole. None means once.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> RowsInMemory | RowsInBlocks:
        """Fit, and return the weighted rows."""
        refuse_dataset(self, X, y)
        self._check_parameters()
        # The old model is dropped first: a failed fit leaves none rather than a mixture, and its memory is free again.
        for name in ("counts_", "_structure"):
            self.__dict__.pop(name, None)
        in_blocks = is_partitioned(X)
        read = read_blocks(self, X, y, sample_weight) if in_blocks else read_rows(self, X, y, sample_weight)
        require_weight(read.labels)
        added = self._add_rows(read, read.labels, 1.0 if in_blocks else None)
        if not in_blocks:
            warn_of_lost_values(read.X, self.binarize, read.names, stacklevel=3)
        _ = self._learned
        return added

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None
    ) -> Self:
        """Add training rows. However you split the rows, the final model is identical to a single `fit` to all rows.

        Data larger than memory can be read in parts: ``for X, y in chunks: clf.partial_fit(X, y, classes=...)``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to add.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,) or None, default None
            All labels that this or later calls may contain. The first call needs it; later calls may omit it.
        sample_weight : array of shape (n_samples,) or None, default None
            How often each row counts, a whole number (others would be rounded by their total, which is unknown); 0
            leaves a row out. None means once.

        Returns
        -------
        self
            The classifier, fitted to all rows so far.
        """
        self._partial_fit(X, y, classes, sample_weight)
        return self

    def _partial_fit(self, X: Any, y: Any, classes: ArrayLike | None, sample_weight: Any) -> None:
        self._check_parameters()
        if is_partitioned(X):
            raise TypeError("partial_fit needs rows in memory; pass a whole Dask collection to fit")
        first = not hasattr(self, "counts_")
        if first and classes is None:
            raise ValueError(
                "the first call to partial_fit needs classes; pass all class labels that this and later calls "
                "may contain"
            )
        rows = read_rows(self, X, y, sample_weight, reset=first)
        known = unique_labels(classes) if classes is not None else self.classes_
        self._check_known_classes(rows.y, known)
        self._add_rows(rows, known, 1.0 if first else self.weight_unit_)

    def _add_rows(
        self,
        rows: RowsInMemory | RowsInBlocks,
        classes: NDArray[Any],
        unit: float | None,
    ) -> RowsInMemory | RowsInBlocks:
        """Count rows, add them to any existing counts, and return the weighted rows.

        `unit` is the unit of the row weights; None chooses the unit.
        """
        first = not hasattr(self, "counts_")
        self._check_classes(classes)
        hierarchy = align_hierarchy(self.hierarchy, rows.names, rows.n_features)
        per_class = class_weights(self.class_weight, classes, rows.class_totals(classes))
        rows = rows.weighed(classes, per_class, unit)
        if first:  # warn once, not for every part of the data
            warn_of_columns(self.hierarchy, rows.names, stacklevel=4)
            warn_without_hierarchy(self, stacklevel=4)
        drawn = self._draw(rows.n_features) if first else {}
        counts, violation = rows.counted(
            Counting(self._count, classes, hierarchy, self.binarize), self.n_jobs
        )
        warn_of_contradiction(violation, stacklevel=4)
        # No errors are raised after this point.
        self.classes_: NDArray[Any] = classes
        self.hierarchy_: Hierarchy = hierarchy
        self.n_features_in_: int = rows.n_features
        self.__dict__.pop("feature_names_in_", None)
        if rows.names is not None:
            self.feature_names_in_: NDArray[Any] = rows.names
        for name, value in drawn.items():
            setattr(self, name, value)
        self.weight_unit_ = rows.unit
        self.class_weight_ = np.ones(len(classes)) if per_class is None else per_class
        self.counts_ = counts if first else self.counts_ + counts
        self.class_count_: NDArray[Any] = self.counts_.class_count
        self._structure = None
        return rows

    @property
    def _learned(self) -> Any:
        """The result of `_learn`, computed on first use."""
        structure = self.__dict__.get("_structure")
        # Two threads may both learn it; the results are equal, so either may stay.
        if structure is None:
            structure = self._structure = self._learn()
        return structure

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        self._check_classes(fitted["classes_"])
        check_class_weight(fitted)

    # ------------------------------------------------------------------------------------------ predicting

    @also_lazily
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(c, x) for each row and class, in the order of `classes_`, without normalisation.

        The rows are divided among `n_jobs` threads.
        """
        rows = self._read(X)
        _ = self._learned  # once, before there are threads
        chunks = map_chunks(
            lambda start, stop: self._joint_log(rows.between(start, stop)),
            rows.n_rows,
            self.n_jobs,
            chunks_per_job=self._chunks_per_job,
        )
        return np.concatenate(chunks)

    @also_lazily
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(c | x) for each row and class, in the order of `classes_`."""
        joint = self.predict_joint_log_proba(X)
        normalised: NDArray[np.float64] = joint - logsumexp(joint, axis=1, keepdims=True)
        return normalised

    @also_lazily
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x) for each row and class, in the order of `classes_`."""
        probability: NDArray[np.float64] = softmax(self.predict_joint_log_proba(X), axis=1)
        return probability

    @also_lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row. If classes tie, the first in `classes_` wins."""
        joint = self.predict_joint_log_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(joint, axis=1)]
        return labels

    def _read(self, X: Any) -> BinaryRows:
        """Return the rows to predict, validated."""
        check_is_fitted(self)
        if is_partitioned(X):
            raise TypeError("expected rows in memory, got a Dask collection; pass X.compute()")
        self._check_parameters()  # alpha, smoothing, class_prior and binarize may have changed
        X = validated(self, X, dtype="numeric", reset=False)
        return BinaryRows.from_matrix(X, self.binarize)

    def _log_prior(self) -> NDArray[np.float64]:
        if self.class_prior is not None:
            return np.log(check_prior(self.class_prior, len(self.classes_)))
        return log_shares(self.class_count_, self._smoothing.pseudo_count)

    @property
    def _alpha(self) -> float:
        """The `alpha` parameter, or the chosen value."""
        return self.alpha_ if self.alpha is None else float(self.alpha)

    @property
    def _smoothing(self) -> _kernel.Smoothing:
        return _kernel.Smoothing(self.smoothing, self._alpha, self.weight_unit_)

    @property
    def _counts_note(self) -> str:
        weighted = "Contributions are computed from these counts, multiplied by the class weights."
        return weighted if (self.class_weight_ != 1).any() else ""

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        check_parameters(self, self._accepted)

    def _check_classes(self, classes: NDArray[Any]) -> None:
        require_classes_to_tell_apart(self, classes)
        check_prior(self.class_prior, len(classes))

    def _check_known_classes(self, y: NDArray[Any], classes: NDArray[Any]) -> None:
        """Raise an error if a data part does not match its classes, or if they do not match earlier classes."""
        so_far = self.classes_ if hasattr(self, "counts_") else classes
        if not np.array_equal(classes, so_far):
            raise ValueError(
                f"classes is {classes.tolist()}, but the first call had {so_far.tolist()}; pass the same "
                "classes again, or omit classes"
            )
        unknown = np.setdiff1d(y, classes)
        if unknown.size:
            raise ValueError(
                f"y contains the labels {unknown.tolist()}, which are not among the classes {classes.tolist()}; "
                "remove these rows, or fit again with all classes"
            )
        if isinstance(self.class_weight, str):
            raise ValueError(
                'class_weight="balanced" needs all training rows together, but partial_fit gets only parts; pass '
                "a dict that maps each class to its weight"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PairBayes(BaseBayes):
    """The base class of classifiers that need per-class counts of ones and of pairs of ones."""

    counts_: PairCounts

    @staticmethod
    def _count(
        rows: BinaryRows, codes: NDArray[np.int64], n_classes: int, hierarchy: Hierarchy, n_jobs: int | None
    ) -> tuple[PairCounts, Violation | None]:
        counts = count_pairs(rows, codes, n_classes, n_jobs=n_jobs)
        return counts, first_violation(rows, hierarchy, n_jobs=n_jobs)

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        counts = fitted["counts_"]
        require(isinstance(counts, PairCounts), "counts_ are not pair counts")
        missing = counts.is_dense and counts.n_features > 1 and not counts.pairs.size
        require(not missing or self._count is not PairBayes._count, "the pair counts are missing")

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """ln P(x_v = 1 | c) for each class and feature, ignoring all other features."""
        check_is_fitted(self)
        return root_log_prob(self.counts_, self._smoothing)

    @property
    def _tables(self) -> dict[str, Any]:
        """The parameters from which the kernel computes probabilities."""
        return {"counts": self.counts_.kernel, "smoothing": self._smoothing}

    def _behind(self, values: NDArray[np.uint8], parents: NDArray[np.int32]) -> RowsBehind:
        """Return the training rows behind each factor of a row, given the row's tree; see `ScoreParts`."""
        return in_rows(self.counts_.behind(values, parents), self.weight_unit_, self.class_weight_)

    def _words(self, rows: BinaryRows) -> dict[str, Any]:
        """Return rows in the kernel's format."""
        return {"words": rows.words(np.arange(rows.n_rows)), "n_rows": rows.n_rows}


def in_rows(counts: RowsBehind, unit: float, class_weight: ArrayLike = 1.0) -> RowsBehind:
    """Convert counts from weight units to numbers of rows. The last axis is the class."""
    units = np.asarray(class_weight) / unit  # that a row with the weight 1 counted
    if unit != 1:  # then weights were rounded to units
        units = np.where(units < 1, units, np.rint(units))
    have, among = (part / units for part in counts)
    if all((np.abs(part - np.rint(part)) < 1e-6).all() for part in (have, among)):
        return np.rint(have).astype(np.int64), np.rint(among).astype(np.int64)
    return have, among


# ------------------------------------------------------------------------------------------ restored state


def check_numbers(value: Any, shape: tuple[int, ...], name: str) -> None:
    """Raise ValueError unless the value is an array of finite numbers with this shape."""
    right = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape
    require(
        right and bool(np.isfinite(value).all()), f"{name} does not contain finite numbers of shape {shape}"
    )


def check_class_weight(fitted: Mapping[str, Any]) -> None:
    """Raise ValueError unless `class_weight_` contains a number above 0 for each class."""
    check_numbers(fitted["class_weight_"], fitted["classes_"].shape, "class_weight_")
    require(bool((fitted["class_weight_"] > 0).all()), "class_weight_ contains a number that is not above 0")


def check_linear(fitted: Mapping[str, Any], coef: str, intercept: str) -> None:
    """Raise ValueError unless weights and constants have one row (for two classes) or one row per class."""
    n_rows = 1 if len(fitted["classes_"]) == 2 else len(fitted["classes_"])
    check_numbers(fitted[coef], (n_rows, fitted["n_features_in_"]), coef)
    check_numbers(fitted[intercept], (n_rows,), intercept)


def _check_column_names(names: Any, hierarchy: Hierarchy) -> None:
    right = isinstance(names, np.ndarray) and names.dtype.kind in "OU" and names.shape == (len(hierarchy),)
    require(right, "feature_names_in_ and n_features_in_ disagree")
    listed = tuple(names.tolist())
    # `fit` replaces names that a hierarchy cannot have by x0, x1, ...
    usable = len(set(listed)) == len(listed) and all(listed)
    require(not usable or listed == hierarchy.features, "feature_names_in_ and the hierarchy disagree")


def _check_same(class_count: Any, counted: Any) -> None:
    right = isinstance(class_count, np.ndarray) and class_count.dtype == np.int64
    require(right and np.array_equal(class_count, counted), "class_count_ and counts_ disagree")


def _check_counts(counts: Any, n_classes: int, hierarchy: Hierarchy) -> None:
    if isinstance(counts, OpenCounts):
        check_open_counts(counts, n_classes, hierarchy)
        return
    require(isinstance(counts, PairCounts), "counts_ are not counts")
    checked = counts.kernel  # raises ValueError for impossible counts
    require(counts.ones.shape == (n_classes, len(hierarchy)), "the counts have the wrong shape")
    if not counts.is_dense or counts.pairs.size:
        checked.check_pairs()


def require(condition: bool, message: str) -> None:
    """Raise ValueError unless the condition is true."""
    if not condition:
        raise ValueError(message)
