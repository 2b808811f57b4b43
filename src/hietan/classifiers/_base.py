"""What all Bayesian classifiers of the package share: parameters, counting, and the prediction API over one hook."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from hietan import _kernel
from hietan._runtime.dask_blocks import is_partitioned
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._parameters import (
    align_hierarchy,
    check_hierarchy,
    check_n_jobs,
    is_number,
    warn_of_misspelt,
)
from hietan.classifiers._partitions import count_partitions, predict_partitions, read_partitions
from hietan.exceptions import HierarchyWarning
from hietan.explain import Explanation, Parts, explain_rows
from hietan.explain.labels import readable_names, row_labels
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, PairCounts, Violation, count_pairs, first_violation

SMOOTHINGS = _kernel.SMOOTHINGS

_PARAMETERS = {
    "hierarchy": """hierarchy : Hierarchy or None
        The DAG of the features. Named columns of X are matched by name; columns that it does not know are related
        to nothing. Without names the columns must be `hierarchy.features`. None: no relations.""",
    "alpha": """alpha : float, default 1.0
        Weight of the prior guess in every probability, above 0.""",
    "smoothing": """smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess: one half ("laplace", as in the paper), or the same conditional over all classes together
        ("pooled"), so that what is rare or certain speaks for no class.""",
    "min_frequency": """min_frequency : int, default 1
        A feature has an estimator of its own for a row where its value occurs at least so often in training.""",
    "binarize": """binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None: X must hold 0 and 1 alone.""",
    "class_prior": """class_prior : array of shape (n_classes,) or None
        Probabilities of the classes, in sorted order; None: estimated from y.""",
    "random_state": """random_state : int, RandomState or None
        Draws `root_order_`, which decides wherever a root may be chosen.""",
    "n_jobs": """n_jobs : int or None
        Threads for the prediction, as in joblib. Results do not depend on it.""",
}
_ATTRIBUTES = {
    "classes_": """classes_, class_count_ : arrays of shape (n_classes,)
        The labels, sorted, and their numbers of training rows.""",
    "counts_": """counts_ : PairCounts
        The statistics, all that is kept of the training data.""",
    "hierarchy_": """hierarchy_ : Hierarchy
        The hierarchy over the columns of X.""",
    "root_order_": """root_order_ : array of shape (n_features,)
        A permutation of the features; of the candidates for a root the first in it is taken.""",
    "n_features_in_": """n_features_in_, feature_names_in_
        Number and, if X had string names, names of the columns.""",
}


def _also_lazily(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Give a method that answers for rows a lazy answer for the rows of a Dask collection."""

    @wraps(method)
    def either_way(self: Any, X: Any) -> Any:
        if not is_partitioned(X):
            return method(self, X)
        check_is_fitted(self)
        return predict_partitions(self, method.__name__, X)

    return either_way


def _own_constructor(cls: type) -> None:
    """Copy an inherited constructor under the class's own name: complaints about arguments name that."""
    inherited = cls.__init__  # type: ignore[misc]
    if "__init__" in vars(cls) or not isinstance(inherited, FunctionType):
        return
    code, space, defaults = inherited.__code__, inherited.__globals__, inherited.__defaults__
    own = FunctionType(code, space, "__init__", defaults, inherited.__closure__)
    for name in ("__kwdefaults__", "__annotations__", "__doc__"):
        setattr(own, name, getattr(inherited, name))
    own.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = own  # type: ignore[misc]


class BaseBayes(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier that argues from per-class counts of binary features.

    A subclass stores its parameters (all of `hierarchy`, `alpha`, `smoothing`, `binarize`, `class_prior` and
    `n_jobs`) and owes one hook, `_joint_log`: the joint log-probability of each class and a chunk of rows.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a classifier a constructor that is called after it, and write its parameters into its docstring."""
        super().__init_subclass__(**kwargs)
        if cls.__name__.startswith("_"):
            return
        _own_constructor(cls)
        names = cls._get_param_names()
        attributes = [a for a in _ATTRIBUTES if a != "root_order_" or "random_state" in names]
        sections = {
            "Parameters": [text for name, text in _PARAMETERS.items() if name in names],
            "Attributes": [_ATTRIBUTES[name] for name in attributes],
        }
        idea, _, examples = (cls.__doc__ or "").partition("    Examples\n")
        parts = [idea.rstrip()]
        parts += ["\n    ".join([title, "-" * len(title), *texts]) for title, texts in sections.items()]
        cls.__doc__ = "\n\n    ".join([*parts, "Examples\n" + examples])

    hierarchy: Hierarchy | None
    alpha: float
    smoothing: str
    binarize: float | None
    class_prior: ArrayLike | None
    n_jobs: int | None
    _chunks_per_job = 4

    @abstractmethod
    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """ln P(c, x) of `n_rows` packed rows, shape (n_rows, n_classes)."""

    @abstractmethod
    def _parts(self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]) -> Parts:
        """What `_joint_log` of these rows is the sum of."""

    def _count(self, rows: BinaryRows, codes: NDArray[np.int64]) -> PairCounts:
        """The statistics of some rows."""
        return count_pairs(rows, codes, len(self.classes_))

    def _begin(self) -> None:
        """Called once the number of features is known, before the first counts."""

    def _learn(self) -> None:
        """Called by `fit` with the counts in place: what does not depend on the row to predict."""

    def _prepare(self) -> None:
        """Called before the rows are divided among threads: what they share is learned once."""

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X, shape (n_samples, n_features), and classes y.

        X is an array, a SciPy sparse matrix (never made dense) or a data frame, whose columns are matched to the
        hierarchy by name. Or it is a Dask array or data frame, or a list of delayed blocks of rows, with y divided
        alike: then each block is counted where it lies, and the model is that of one fit to all rows in memory.
        """
        self._check_parameters()
        # If what follows is refused, the model is none rather than half of two.
        for name in ("counts_", "_ranking", "_tree"):  # and their memory is free while the new ones are made
            self.__dict__.pop(name, None)
        if is_partitioned(X):
            classes, blocks, labels = read_partitions(self, X, y)
            self._set_classes(classes)
            self._align_hierarchy()
            self._begin()
            counts, violation = count_partitions(self, blocks, labels)
            self._warn_if_not_closed(violation)
            self._set_counts(counts)
            self._learn()
            return self
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype="numeric")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        self._set_classes(classes)
        self._align_hierarchy()
        self._begin()
        rows = BinaryRows.from_matrix(X, self.binarize)
        self._warn_if_not_closed(first_violation(rows, self.hierarchy_))
        self._set_counts(self._count(rows, codes))
        self._learn()
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Take in further rows. The model is that of one `fit` to all rows, however they are divided.

        The first call needs `classes`, all labels that may ever come. So data larger than memory are read in
        parts: ``for X, y in chunks: clf.partial_fit(X, y, classes=...)``.
        """
        self._check_parameters()
        if is_partitioned(X):
            raise TypeError("partial_fit takes rows in memory; fit takes a whole Dask collection")
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
        self._warn_if_not_closed(first_violation(rows, self.hierarchy_))
        counts = self._count(rows, np.searchsorted(self.classes_, y))
        self._set_counts(counts if first else self.counts_ + counts)
        return self

    def _counter(self) -> Self:
        """A copy that knows the columns and the classes, and nothing else: what a worker needs to count rows."""
        copy: Self = clone(self).set_params(hierarchy=None)
        for name in ("classes_", "n_features_in_", "feature_names_in_", "hierarchy_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    def _count_rows(self, X: Any, y: NDArray[Any]) -> tuple[PairCounts, Violation | None]:
        """The statistics of some rows, which change nothing here; y must hold known classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype="numeric", reset=False)
        rows = BinaryRows.from_matrix(X, self.binarize)
        counts = self._count(rows, np.searchsorted(self.classes_, y))
        return counts, first_violation(rows, self.hierarchy_)

    def _set_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but there is only one class: {classes.tolist()}"
            )
        self._check_prior(len(classes))
        self.classes_ = classes

    def _set_counts(self, counts: PairCounts) -> None:
        self.counts_ = counts
        self.class_count_ = counts.class_count

    def _align_hierarchy(self) -> None:
        names = getattr(self, "feature_names_in_", None)
        self.hierarchy_ = align_hierarchy(self.hierarchy, names, self.n_features_in_)
        if not hasattr(self, "counts_"):  # said once, not with every part of the data
            warn_of_misspelt(self.hierarchy, names, stacklevel=3)

    def _warn_if_not_closed(self, found: Violation | None) -> None:
        if found is not None:
            row, parent, child = found
            warnings.warn(
                f"X contradicts the hierarchy: in row {row}, {child!r} is 1 but its parent {parent!r} is 0. Are the "
                f"edges (parent, child), and unnamed columns in the order of hierarchy.features? "
                f"hierarchy.violations(X) shows more, hierarchy.close(X) propagates the ones. If it is meant so: "
                f"warnings.simplefilter('ignore', hietan.HierarchyWarning)",
                HierarchyWarning,
                stacklevel=3,
            )

    # ------------------------------------------------------------------------------------------ predicting

    @_also_lazily
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c, x) for each row and class, in the order of `classes_`; not normalised."""
        rows = self._read(X)
        log_prior = self._log_prior()
        self._prepare()

        def joint_log(start: int, stop: int) -> NDArray[np.float64]:
            return self._joint_log(rows.words(np.arange(start, stop)), stop - start, log_prior)

        chunks = map_chunks(joint_log, rows.n_rows, self.n_jobs, chunks_per_job=self._chunks_per_job)
        return np.concatenate(chunks)

    @_also_lazily
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c | x) for each row and class, in the order of `classes_`."""
        joint = self.predict_joint_log_proba(X)
        normalised: NDArray[np.float64] = joint - logsumexp(joint, axis=1, keepdims=True)
        return normalised

    @_also_lazily
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(c | x) for each row and class, in the order of `classes_`."""
        probability: NDArray[np.float64] = softmax(self.predict_joint_log_proba(X), axis=1)
        return probability

    @_also_lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties go to the class that comes first in `classes_`."""
        joint = self.predict_joint_log_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(joint, axis=1)]
        return labels

    # ------------------------------------------------------------------------------------------ explaining

    def explain(self, X: Any, *, target: Any = None, term_names: Any = None) -> list[Explanation]:
        """Why each row of X is classified as it is: contributions of the features to the log-odds of a class.

        Parameters
        ----------
        X : rows, as for `predict`
            The labels of a data frame's rows appear in the explanations.
        target : label or None
            The class whose log-odds against all others are explained; None: the second of two classes, the predicted
            one of several.
        term_names : mapping, sequence or None
            Readable names of the features: by feature, or in the order of the columns.
        """
        rows = self._read(X)
        log_prior = self._log_prior()
        labels, names = row_labels(X, rows.n_rows), readable_names(term_names, self.hierarchy_.features)
        explanations: list[Explanation] = []
        for start in range(0, rows.n_rows, 64):  # a batch of the kernel; factors take memory
            stop = min(start + 64, rows.n_rows)
            explanations += explain_rows(
                self._parts(rows.words(np.arange(start, stop)), stop - start, log_prior),
                method=type(self).__name__,
                rows=labels[start:stop],
                classes=self.classes_.tolist(),
                target=target,
                hierarchy=self.hierarchy_,
                names=names,
            )
        return explanations

    def _read(self, X: Any) -> BinaryRows:
        check_is_fitted(self)
        if is_partitioned(X):
            raise TypeError("rows in memory are expected here, got a Dask collection; pass X.compute()")
        self._check_parameters()  # alpha, smoothing, class_prior and binarize may have been set since
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return BinaryRows.from_matrix(X, self.binarize)

    def _log_prior(self) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        if self.class_prior is not None:
            return np.log(self._check_prior(n_classes))
        n_c = self.class_count_
        prior: NDArray[np.float64] = np.log((n_c + self.alpha) / (n_c.sum() + n_classes * self.alpha))
        return prior

    def _smoothing_arguments(self) -> dict[str, Any]:
        """What the kernel needs besides the counts to turn them into probabilities."""
        return {"smoothing": _kernel.Smoothing(self.smoothing, float(self.alpha))}

    def _count_arguments(self) -> dict[str, Any]:
        return {"counts": self.counts_.kernel}

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        if not is_number(self.alpha) or not 0 < self.alpha < 1e300:
            raise ValueError(f"alpha must be a number above 0 (and below 1e300), got {self.alpha!r}")
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "counts_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
