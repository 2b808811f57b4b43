"""What all Bayesian classifiers of the package share: parameters, counting, and the prediction API over one hook."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from hietan.classifiers._parameters import align_hierarchy, check_hierarchy, check_n_jobs, is_number
from hietan.hierarchy import Hierarchy
from hietan.parallel import map_chunks
from hietan.structure import BinaryRows, PairCounts, count_pairs

SMOOTHINGS = ("laplace", "pooled")


class BaseBayes(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier that argues from per-class counts of binary features.

    A subclass stores its parameters (all of `hierarchy`, `alpha`, `smoothing`, `binarize`, `class_prior` and
    `n_jobs`) and owes one hook, `_joint_log`: the joint log-probability of each class and a chunk of rows.
    """

    hierarchy: Hierarchy | None
    alpha: float
    smoothing: str
    binarize: float | None
    class_prior: ArrayLike | None
    n_jobs: int | None

    @abstractmethod
    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """ln P(c, x) of `n_rows` packed rows, shape (n_rows, n_classes)."""

    def _begin(self) -> None:
        """Called once the number of features is known, before the first counts."""

    def _learn(self) -> None:
        """Called by `fit` with the counts in place: what does not depend on the row to predict."""

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X, shape (n_samples, n_features), and classes y.

        X is an array, a SciPy sparse matrix (never made dense) or a data frame, whose columns are matched to the
        hierarchy by name.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype="numeric")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        self._set_classes(classes)
        self._align_hierarchy()
        self._begin()
        self._set_counts(count_pairs(BinaryRows.from_matrix(X, self.binarize), codes, len(classes)))
        self._learn()
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Take in further rows. The model is that of one `fit` to all rows, however they are divided.

        The first call needs `classes`, all labels that may ever come.
        """
        self._check_parameters()
        first = not hasattr(self, "counts_")
        if first and classes is None:
            raise ValueError(
                "the first call of partial_fit needs classes: all labels that this or later calls may bring"
            )
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype="numeric", reset=first)
        check_classification_targets(y)
        known = unique_labels(classes) if classes is not None else self.classes_
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes {known.tolist()} are not those of the first call, {self.classes_.tolist()}"
            )
        unknown = np.setdiff1d(y, known)
        if unknown.size:
            raise ValueError(f"y holds {unknown.tolist()}, not among the classes {known.tolist()}")
        rows = BinaryRows.from_matrix(X, self.binarize)
        if first:
            self._set_classes(known)
        self._align_hierarchy()
        if first:
            self._begin()
        counts = count_pairs(rows, np.searchsorted(self.classes_, y), len(self.classes_))
        self._set_counts(counts if first else self.counts_ + counts)
        return self

    def _set_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but y holds only one class: {classes.tolist()}"
            )
        self._check_prior(len(classes))
        self.classes_ = classes

    def _set_counts(self, counts: PairCounts) -> None:
        self.counts_ = counts
        self.class_count_ = counts.class_count

    def _align_hierarchy(self) -> None:
        names = getattr(self, "feature_names_in_", None)
        self.hierarchy_ = align_hierarchy(self.hierarchy, names, self.n_features_in_)

    # ------------------------------------------------------------------------------------------ predicting

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c, x) for each row and class, in the order of `classes_`; not normalised."""
        rows = self._read(X)
        log_prior = self._log_prior()

        def joint_log(start: int, stop: int) -> NDArray[np.float64]:
            return self._joint_log(rows.words(np.arange(start, stop)), stop - start, log_prior)

        return np.concatenate(map_chunks(joint_log, rows.n_rows, self.n_jobs))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c | x) for each row and class, in the order of `classes_`."""
        joint = self.predict_joint_log_proba(X)
        normalised: NDArray[np.float64] = joint - logsumexp(joint, axis=1, keepdims=True)
        return normalised

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(c | x) for each row and class, in the order of `classes_`."""
        probability: NDArray[np.float64] = softmax(self.predict_joint_log_proba(X), axis=1)
        return probability

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties go to the class that comes first in `classes_`."""
        joint = self.predict_joint_log_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(joint, axis=1)]
        return labels

    def _read(self, X: Any) -> BinaryRows:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return BinaryRows.from_matrix(X, self.binarize)

    def _log_prior(self) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        if self.class_prior is not None:
            return np.log(self._check_prior(n_classes))
        n_c = self.class_count_
        prior: NDArray[np.float64] = np.log((n_c + self.alpha) / (n_c.sum() + n_classes * self.alpha))
        return prior

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        if not is_number(self.alpha) or not 0 < self.alpha < np.inf:
            raise ValueError(f"alpha must be a number above 0, got {self.alpha!r}")
        if self.smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing must be one of {SMOOTHINGS}, got {self.smoothing!r}")
        if self.binarize is not None and (not is_number(self.binarize) or not np.isfinite(self.binarize)):
            raise ValueError(
                f"binarize must be a number, the threshold above which a feature is 1, or None for an X of 0 and 1 "
                f"alone; got {self.binarize!r}"
            )
        check_n_jobs(self.n_jobs)
        check_hierarchy(self.hierarchy)

    def _check_prior(self, n_classes: int) -> NDArray[np.float64]:
        if self.class_prior is None:
            return np.full(n_classes, 1 / n_classes)
        prior = np.asarray(self.class_prior)
        if (
            prior.dtype.kind not in "iuf"
            or prior.shape != (n_classes,)
            or not (prior > 0).all()
            or not np.isclose(prior.sum(), 1)
        ):
            raise ValueError(
                f"class_prior must hold a probability above 0 for each of the {n_classes} classes, summing to 1; "
                f"got {self.class_prior!r}"
            )
        return prior.astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
