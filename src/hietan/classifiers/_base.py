"""What the Bayesian classifiers share: their parameters, the steps of a fit, and predictions through one hook."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from hietan import _kernel
from hietan._runtime.dask_blocks import is_partitioned
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._fitted_state import FittedState, require
from hietan.classifiers._fitting import (
    Columns,
    Counted,
    RowCounter,
    RowCounts,
    RowsInMemory,
    TrainingRows,
    check_known_classes,
    choose_weighing,
    read_rows,
)
from hietan.classifiers._partitions import also_lazily, read_blocks
from hietan.classifiers._solvers.leave_one_out import log_shares
from hietan.classifiers.checks import (
    align_hierarchy,
    check_binarize,
    check_class_weight,
    check_hierarchy,
    check_n_jobs,
    check_prior,
    check_weight_unit,
    is_weight,
    refuse_dataset,
    require_weight,
    validated,
    warn_of_columns,
    warn_of_contradiction,
    warn_of_lost_values,
    warn_without_hierarchy,
)
from hietan.explain import ExplainsRows, ScoreParts
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, PairCounts, count_pairs, first_violation, root_log_prob

SMOOTHINGS = _kernel.SMOOTHINGS


class BaseBayes(ExplainsRows, FittedState, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier that needs nothing but per-class counts of binary features.

    A subclass stores its parameters (at least `hierarchy`, `alpha`, `smoothing`, `binarize`, `class_prior` and
    `n_jobs`) and implements the steps that are its own. They are run in this order:

    1. `_check_parameters` refuses wrong parameters, at the beginning of every call.
    2. `fit` and the first `partial_fit` read the columns and classes, then `_draw` makes the random choices.
    3. `_count` counts the rows and checks them against the hierarchy. The counts are stored; `_tune` may choose
       parameters by the rows and the counts.
    4. `_learn` learns from the counts what does not depend on the row to predict. It runs at the end of `fit`; after
       `partial_fit` it waits for the first use of its result, `_learned`.
    5. `_scorer` prepares the scoring of rows, which are then scored in chunks, and `_parts_of` takes the same scores
       apart for `explain`.

    The abstract ones must be implemented; `PackedBayes` does most of it. If step 1 refuses a call, the model stays as
    it was. If step 2 or 3 refuses one, `fit` leaves no model, and `partial_fit` leaves the existing one unchanged.
    """

    hierarchy: Hierarchy | None
    alpha: float
    smoothing: str
    binarize: float | None
    class_prior: ArrayLike | None
    class_weight: Mapping[Any, float] | str | None = None
    weight_unit: float | None = None
    n_jobs: int | None
    weight_unit_: float
    counts_: Any  # RowCounts of the kind that `_count` returns
    _stored = frozenset(
        {"classes_", "hierarchy_", "n_features_in_", "counts_", "class_count_", "weight_unit_"}
    )
    # Since release 0.1, whose studies are recognised: see hietan.evaluation.study.fingerprint.
    __added_parameters__: ClassVar[frozenset[str]] = frozenset({"class_weight", "weight_unit"})
    _structure: Any  # what `_learn` returned; None before

    def _draw(self, n_features: int) -> dict[str, Any]:
        """The fitted attributes that are drawn at random, once per model."""
        return {}

    def _check_source(self, *, at_once: bool) -> None:
        """Refuse training rows that do not come at once and in memory, if the parameters need all of them."""

    def _tune(self, rows: TrainingRows) -> None:
        """Choose what is chosen by the training rows, once they are counted."""

    def _keep_class_weights(self, per_class: NDArray[np.float64] | None) -> None:
        """Store what the weights of the rows of each class were multiplied with (None: 1), if it is needed later."""

    @staticmethod
    @abstractmethod
    def _count(rows: BinaryRows, codes: NDArray[np.int64], columns: Columns, n_jobs: int | None) -> Counted:
        """Count the rows, given the class of each. Static, because it is sent to a cluster without the model."""

    @abstractmethod
    def _learn(self) -> Any:
        """What follows from `counts_` and `hierarchy_` and is needed for every row."""

    @abstractmethod
    def _scorer(
        self, rows: BinaryRows, log_prior: NDArray[np.float64]
    ) -> Callable[[int, int], NDArray[np.float64]]:
        """A function of start and stop that gives ln P(c, x) of these rows; threads call it."""

    @abstractmethod
    def _parts_of(
        self, rows: BinaryRows, start: int, stop: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        """The parts that add up to ln P(c, x) of the rows from start to stop."""

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X, shape (n_samples, n_features), and classes y.

        X is an array, a SciPy sparse matrix (never made dense) or a data frame, whose columns are matched to the
        hierarchy by name. It may also be a Dask array or data frame, or a list of delayed blocks of rows, with y
        divided in the same way: each block is then counted where it is, and the model is the same as that of one fit to
        all rows in memory.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            The training rows.
        y : array or Dask collection of shape (n_samples,)
            Their classes.
        sample_weight : array or Dask collection of shape (n_samples,) or None, default None
            How often each row counts; 0 leaves it out. Weights that are not whole numbers are rounded to multiples of
            `weight_unit_`; with a Dask collection, they need the parameter `weight_unit`. None means once.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_dataset(self, X, y)
        self._check_parameters()
        self._check_source(at_once=not is_partitioned(X))
        # The old model is dropped first: a refused fit leaves none rather than a mixture, and its memory is free again.
        for name in ("counts_", "_structure"):
            self.__dict__.pop(name, None)
        rows: TrainingRows = (
            read_blocks(self, X, y, sample_weight)
            if is_partitioned(X)
            else read_rows(self, X, y, sample_weight, reset=True)
        )
        require_weight(rows.labels)
        self._take_in(rows, rows.labels, at_once=isinstance(rows, RowsInMemory))
        if isinstance(rows, RowsInMemory):
            warn_of_lost_values(rows.X, self.binarize, rows.names, stacklevel=2)
        _ = self._learned
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None
    ) -> Self:
        """Add further training rows. The model is the same as that of one `fit` to all rows, however they are divided.

        Data larger than memory can be read in parts: ``for X, y in chunks: clf.partial_fit(X, y, classes=...)``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to add.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,) or None, default None
            All labels that this or later calls may contain. The first call needs it; later ones may leave it out.
        sample_weight : array of shape (n_samples,) or None, default None
            How often each row counts; 0 leaves it out. Weights that are not whole numbers need the parameter
            `weight_unit`, because the total of all parts is not known. None means once.

        Returns
        -------
        self
            The classifier, fitted to all rows so far.
        """
        self._check_parameters()
        self._check_source(at_once=False)
        if is_partitioned(X):
            raise TypeError("partial_fit takes rows in memory; fit takes a whole Dask collection")
        first = not hasattr(self, "counts_")
        if first and classes is None:
            raise ValueError(
                "the first call of partial_fit needs classes: all labels that this or later calls may contain"
            )
        rows = read_rows(self, X, y, sample_weight, reset=first)
        known = unique_labels(classes) if classes is not None else self.classes_
        check_known_classes(rows.y, known, None if first else self.classes_, self.class_weight)
        self._take_in(rows, known, at_once=False)
        return self

    def _take_in(self, rows: TrainingRows, classes: NDArray[Any], *, at_once: bool) -> None:
        """Count rows and add them to any counts that are already there. Called only by `fit` and `partial_fit`."""
        first = not hasattr(self, "counts_")
        self._check_classes(classes)
        hierarchy = align_hierarchy(self.hierarchy, rows.names, rows.n_features)
        columns = Columns(rows.n_features, rows.names, classes, hierarchy)
        weighing = choose_weighing(
            rows,
            classes,
            class_weight=self.class_weight,
            weight_unit=self.weight_unit,
            unit_so_far=None if first else self.weight_unit_,
            at_once=at_once,
        )
        rows = rows.weighed(weighing)
        if first:  # warn once, not for every part of the data
            warn_of_columns(self.hierarchy, rows.names, stacklevel=3)
            warn_without_hierarchy(self, stacklevel=3)
        drawn = self._draw(rows.n_features) if first else {}
        counted = rows.counted(RowCounter(columns, self.binarize, self._count, self.n_jobs))
        warn_of_contradiction(counted.violation, stacklevel=3)
        counts = counted.counts if first else self.counts_ + counted.counts
        # Nothing is refused from here on.
        self._set_columns(columns)
        for name, value in drawn.items():
            setattr(self, name, value)
        self.weight_unit_ = weighing.unit
        self._keep_class_weights(weighing.per_class)
        self._set_counts(counts)
        self._tune(rows)

    def _set_columns(self, columns: Columns) -> None:
        self.classes_ = columns.classes
        self.hierarchy_ = columns.hierarchy
        self.n_features_in_ = columns.n_features
        self.__dict__.pop("feature_names_in_", None)
        if columns.names is not None:
            self.feature_names_in_ = columns.names

    def _set_counts(self, counts: RowCounts) -> None:
        self.counts_ = counts
        self.class_count_ = counts.class_count
        self._structure = None

    @property
    def _learned(self) -> Any:
        """The result of `_learn`, computed on first use."""
        structure = self.__dict__.get("_structure")
        if (
            structure is None
        ):  # threads that ask at the same time learn the same: it does not matter whose stays
            structure = self._structure = self._learn()
        return structure

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        self._check_classes(fitted["classes_"])

    # ------------------------------------------------------------------------------------------ predicting

    @also_lazily
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c, x) for each row and class, in the order of `classes_`; not normalised.

        The rows are divided among `n_jobs` threads.
        """
        rows = self._read(X)
        _ = self._learned  # once, before there are threads
        joint_log = self._scorer(rows, self._log_prior())
        chunks = map_chunks(joint_log, rows.n_rows, self.n_jobs, chunks_per_job=self._chunks_per_job)
        return np.concatenate(chunks)

    @also_lazily
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c | x) for each row and class, in the order of `classes_`."""
        joint = self.predict_joint_log_proba(X)
        normalised: NDArray[np.float64] = joint - logsumexp(joint, axis=1, keepdims=True)
        return normalised

    @also_lazily
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(c | x) for each row and class, in the order of `classes_`."""
        probability: NDArray[np.float64] = softmax(self.predict_joint_log_proba(X), axis=1)
        return probability

    @also_lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties go to the class that comes first in `classes_`."""
        joint = self.predict_joint_log_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(joint, axis=1)]
        return labels

    def _take_apart(self, X: Any) -> tuple[Callable[[int, int], ScoreParts], int]:
        rows, log_prior = self._read(X), self._log_prior()
        return lambda start, stop: self._parts_of(rows, start, stop, log_prior), rows.n_rows

    def _read(self, X: Any) -> BinaryRows:
        """The rows to predict, validated."""
        check_is_fitted(self)
        if is_partitioned(X):
            raise TypeError("expected rows in memory, got a Dask collection; pass X.compute()")
        self._check_parameters()  # alpha, smoothing, class_prior and binarize may have been set since
        X = validated(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return BinaryRows.from_matrix(X, self.binarize)

    def _log_prior(self) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        if self.class_prior is not None:
            return np.log(check_prior(self.class_prior, n_classes))
        return log_shares(self.class_count_, self._alpha_in_use() / self.weight_unit_)

    def _alpha_in_use(self) -> float:
        return float(self.alpha)

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        self._check_alpha()
        if self.smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing must be one of {SMOOTHINGS}, got {self.smoothing!r}")
        check_binarize(self.binarize)
        check_class_weight(self.class_weight)
        check_weight_unit(self.weight_unit)
        check_n_jobs(self.n_jobs)
        check_hierarchy(self.hierarchy)

    def _check_alpha(self) -> None:
        if not is_weight(self.alpha):
            raise ValueError(
                f"alpha must be a number above 0 (from 1e-300 to below 1e300), got {self.alpha!r}"
            )

    def _check_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but there is only one class: {classes.tolist()}"
            )
        check_prior(self.class_prior, len(classes))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "counts_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PackedBayes(BaseBayes):
    """A classifier that counts ones and pairs of ones, and scores rows that are packed into words, 64 to a word.

    A subclass implements `_learn`, `_joint_log` and `_score_parts`.
    """

    counts_: PairCounts
    _needs_pairs = True  # whether `_count` counts pairs

    @staticmethod
    def _count(rows: BinaryRows, codes: NDArray[np.int64], columns: Columns, n_jobs: int | None) -> Counted:
        counts = count_pairs(rows, codes, len(columns.classes), n_jobs=n_jobs)
        return Counted(counts, first_violation(rows, columns.hierarchy, n_jobs=n_jobs))

    @abstractmethod
    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """ln P(c, x) of `n_rows` packed rows, shape (n_rows, n_classes)."""

    @abstractmethod
    def _score_parts(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        """The parts that add up to the `_joint_log` of these rows."""

    def _scorer(
        self, rows: BinaryRows, log_prior: NDArray[np.float64]
    ) -> Callable[[int, int], NDArray[np.float64]]:
        def joint_log(start: int, stop: int) -> NDArray[np.float64]:
            return self._joint_log(rows.words(np.arange(start, stop)), stop - start, log_prior)

        return joint_log

    def _parts_of(
        self, rows: BinaryRows, start: int, stop: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        return self._score_parts(rows.words(np.arange(start, stop)), stop - start, log_prior)

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        counts = fitted["counts_"]
        require(isinstance(counts, PairCounts), "counts_ are not counts of pairs")
        missing = counts.is_dense and counts.n_features > 1 and not counts.pairs.size
        require(not (self._needs_pairs and missing), "the counts of pairs are missing")

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """ln P(x_v = 1 | c) of each class and feature by itself, without any other feature."""
        check_is_fitted(self)
        return root_log_prob(self.counts_, **self._smoothing_arguments())

    def _smoothing_arguments(self) -> dict[str, Any]:
        """What the kernel needs besides the counts to turn them into probabilities."""
        return {"smoothing": _kernel.Smoothing(self.smoothing, float(self.alpha), self.weight_unit_)}

    def _count_arguments(self) -> dict[str, Any]:
        """The counts, for the kernel."""
        return {"counts": self.counts_.kernel}
