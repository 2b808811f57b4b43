"""Choosing columns within the training rows: a classifier is fitted only to those that have enough ones there."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from hietan.classifiers.checks import align_hierarchy, in_memory, warn_of_misspelt
from hietan.explain import Explanations
from hietan.explain.labels import explain_dataset, is_dataset, readable_names, refuse_row_names
from hietan.hierarchy import Hierarchy
from hietan.structure import Tree

_F = TypeVar("_F", bound=Callable[..., Any])


def _if_offered(method: _F) -> _F:
    """Offer a method only if the wrapped classifier has one of the same name."""
    name = method.__name__
    offered: _F = available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), name))(
        method
    )
    return offered


class MinSupport(ClassifierMixin, BaseEstimator):
    """A classifier on the columns that have at least `min_support` ones in the training rows and vary there.

    Datasets are often filtered in this way before they are split, which looks at the features of the test rows, though
    never at their classes. Here the choice is made in each `fit`, from the rows that `fit` is given. A hierarchy given
    to the classifier, however deep inside it, is restricted to the kept columns; relations through dropped columns
    remain. Trees and explanations refer to all columns; the dropped ones are in no tree.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier. It is cloned, and not changed.
    min_support : int, default 1
        A column is kept if at least this many training rows have a number above 0 in it. With 1, only constant columns
        are dropped.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimator_ : classifier
        The clone that was fitted to the kept columns.
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from hietan import HieTAN, Hierarchy
    >>> from hietan.selection import MinSupport
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> X = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 0, 0], [1, 1, 0]])
    >>> clf = MinSupport(HieTAN(hierarchy=hierarchy), min_support=3).fit(X, [1, 0, 1, 0, 1, 0])
    >>> clf.support_
    array([ True,  True, False])
    >>> clf.trees(X[:1])[0].edges
    (('animal', 'bird'),)
    """

    estimator_: Any
    hierarchy_: Hierarchy
    support_: NDArray[np.bool_]

    def __init__(self, estimator: Any, min_support: int = 1) -> None:
        self.estimator = estimator
        self.min_support = min_support

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the columns from X, and fit a clone of the classifier to them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        self
            The fitted classifier.
        """
        if not isinstance(self.min_support, numbers.Integral) or self.min_support < 1:
            raise ValueError(f"min_support must be an integer above 0, got {self.min_support!r}")
        X, y = _in_memory(X), _in_memory(y)
        # A fit that is refused leaves no model rather than a mixture of two.
        for fitted in ("estimator_", "classes_", "support_", "hierarchy_"):
            self.__dict__.pop(fitted, None)
        rows = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_min_samples=2)
        kept = (_count_ones(rows) >= self.min_support) & _varies(rows)
        if not kept.any():
            raise ValueError(
                f"none of the {len(kept)} columns of X has {self.min_support} ones in the {rows.shape[0]} training "
                f"rows and varies there; use a smaller min_support"
            )
        names = getattr(self, "feature_names_in_", None)
        model = clone(self.estimator)
        own, inner = "hierarchy", model
        while isinstance(inner, MinSupport):
            own, inner = f"estimator__{own}", inner.estimator
        whole: dict[str, Hierarchy] = {}
        for name, value in model.get_params(deep=True).items():
            # None becomes a hierarchy without relations, for the names of all columns in trees. Not deeper inside,
            # where other steps may have changed the columns.
            if (name == own and value is None) or (
                name.rpartition("__")[2] == "hierarchy" and isinstance(value, Hierarchy)
            ):
                whole[name] = align_hierarchy(value, names, len(kept))
                warn_of_misspelt(value, names, stacklevel=2)
        columns = np.flatnonzero(kept)
        model.set_params(**{name: h.restrict([h.features[j] for j in columns]) for name, h in whole.items()})
        model.fit(self._columns(X, rows, columns), y)
        self.hierarchy_ = whole.get(own, align_hierarchy(None, names, len(kept)))
        self.estimator_, self.support_, self.classes_ = model, kept, model.classes_
        return self

    @_if_offered
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return np.asarray(self._call("predict", X))

    @_if_offered
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(c | x) for each row and class, in the order of `classes_`."""
        return np.asarray(self._call("predict_proba", X))

    @_if_offered
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c | x) for each row and class, in the order of `classes_`."""
        return np.asarray(self._call("predict_log_proba", X))

    @_if_offered
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c, x) for each row and class, in the order of `classes_`; not normalised."""
        return np.asarray(self._call("predict_joint_log_proba", X))

    @_if_offered
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The classifier's own scores of the rows."""
        return np.asarray(self._call("decision_function", X))

    @_if_offered
    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X, over all columns; those that were dropped are not in it."""
        found: list[Tree] = self._call("trees", X)
        widened = {id(tree): tree.over(self.hierarchy_.features) for tree in found}  # often one tree for all
        return [widened[id(tree)] for tree in found]

    @_if_offered
    def explain(
        self, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        """Why each row of X is classified as it is; the dropped columns contribute nothing.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset of shape (n_samples, n_features)
            The rows to explain, with all columns.
        rows : str, sequence of str or None, default None
            The names of the rows to explain if X is a Dataset; None means all rows.
        target : label or None, default None
            The class whose log-odds are explained. None means the second of two classes, or the predicted class if
            there are more.
        term_names : mapping, sequence or None, default None
            Readable names of the features: by feature, or in the order of all columns.

        Returns
        -------
        list of Explanation
            One for each row.
        """
        if is_dataset(X):
            return explain_dataset(self.explain, X, rows, target, term_names)
        refuse_row_names(rows)
        check_is_fitted(self)
        names = readable_names(term_names, self.hierarchy_.features)
        found = self._call("explain", X, target=target, term_names=names)
        return Explanations(replace(explanation, hierarchy=self.hierarchy_) for explanation in found)

    @_if_offered
    def contributions(self, X: Any, *, target: Any = None) -> NDArray[np.float64]:
        """What each feature adds to the log-odds of a class in each row of X; the dropped columns add 0.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows, with all columns.
        target : label or None, default None
            The class, as for `explain`.

        Returns
        -------
        array of shape (n_samples, n_features)
            The numbers of `explain`.
        """
        found = np.asarray(self._call("contributions", X, target=target))
        whole = np.zeros((len(found), len(self.support_)))
        whole[:, np.flatnonzero(self.support_)] = found
        return whole

    def _call(self, method: str, X: Any, **options: Any) -> Any:
        """Call a method of the fitted classifier with the kept columns of the rows."""
        check_is_fitted(self)
        rows = validate_data(self, _in_memory(X), accept_sparse="csr", dtype="numeric", reset=False)
        columns = np.flatnonzero(self.support_)
        return getattr(self.estimator_, method)(self._columns(X, rows, columns), **options)

    def _columns(self, X: Any, rows: Any, columns: NDArray[np.intp]) -> Any:
        """Some of the columns; those of a pandas frame keep their names, which the classifier matches and shows."""
        if hasattr(X, "iloc") and hasattr(self, "feature_names_in_"):
            return X.iloc[:, columns]
        return rows[:, columns]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _in_memory(rows: Any) -> Any:
    return in_memory(rows, "MinSupport", "all rows are needed to choose the columns")


def _count_ones(X: Any) -> NDArray[np.int64]:
    return np.asarray((X > 0).sum(axis=0), dtype=np.int64).ravel()


def _varies(X: Any) -> NDArray[np.bool_]:
    low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
    return np.asarray(low != high, dtype=np.bool_)
