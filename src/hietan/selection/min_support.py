"""Columns chosen within the training rows: a classifier fitted to those alone that have enough ones there."""

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
from hietan.explain import Explanation
from hietan.explain.labels import readable_names
from hietan.hierarchy import Hierarchy
from hietan.structure import Tree

_F = TypeVar("_F", bound=Callable[..., Any])


def _if_offered(method: _F) -> _F:
    """A method that is there only if the wrapped classifier has one of the same name."""
    name = method.__name__
    offered: _F = available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), name))(
        method
    )
    return offered


class MinSupport(ClassifierMixin, BaseEstimator):
    """A classifier on those columns alone that have at least `min_support` ones in the training rows and vary there.

    Datasets are often thinned so before they are divided: that sees the columns of the test rows, if never their
    classes. Here the choice is made anew in each `fit`, from the rows that `fit` is given. A hierarchy given to the
    classifier, however deep in it, is restricted to the columns kept, so relations through dropped ones stay. Trees and
    explanations speak of all columns, of which the dropped ones are in no tree.

    Parameters
    ----------
    estimator : scikit-learn classifier
        It is cloned.
    min_support : int, default 1
        So many rows at least have a number above 0 in a column. 1: constant columns alone are dropped.

    Attributes
    ----------
    estimator_ : the fitted classifier
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    classes_, n_features_in_, feature_names_in_

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
    support_: NDArray[np.bool_]

    def __init__(self, estimator: Any, min_support: int = 1) -> None:
        self.estimator = estimator
        self.min_support = min_support

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the columns from X, and fit a clone of the classifier to them."""
        if not isinstance(self.min_support, numbers.Integral) or self.min_support < 1:
            raise ValueError(f"min_support must be a whole number above 0, got {self.min_support!r}")
        X, y = _in_memory(X), _in_memory(y)
        # If what follows is refused, the model is none rather than half of two.
        for fitted in ("estimator_", "classes_", "support_", "_hierarchy"):
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
            # None becomes the names of all columns, for trees; deeper in, other steps may have changed the columns.
            if (name == own and value is None) or (
                name.rpartition("__")[2] == "hierarchy" and isinstance(value, Hierarchy)
            ):
                whole[name] = align_hierarchy(value, names, len(kept))
                warn_of_misspelt(value, names, stacklevel=2)
        columns = np.flatnonzero(kept)
        model.set_params(**{name: h.restrict([h.features[j] for j in columns]) for name, h in whole.items()})
        model.fit(self._columns(X, rows, columns), y)
        self._hierarchy: Hierarchy = whole.get(own, align_hierarchy(None, names, len(kept)))
        self.estimator_, self.support_, self.classes_ = model, kept, model.classes_
        return self

    @_if_offered
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return np.asarray(self._ask("predict", X))

    @_if_offered
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(c | x) for each row and class, in the order of `classes_`."""
        return np.asarray(self._ask("predict_proba", X))

    @_if_offered
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c | x) for each row and class, in the order of `classes_`."""
        return np.asarray(self._ask("predict_log_proba", X))

    @_if_offered
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(c, x) for each row and class, in the order of `classes_`; not normalised."""
        return np.asarray(self._ask("predict_joint_log_proba", X))

    @_if_offered
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The classifier's own scores of the rows."""
        return np.asarray(self._ask("decision_function", X))

    @_if_offered
    def trees(self, X: Any) -> list[Tree]:
        """The tree that scores each row of X, over all columns; those that were dropped are not in it."""
        found: list[Tree] = self._ask("trees", X)
        widened = {id(tree): tree.over(self._hierarchy.features) for tree in found}  # often one tree for all
        return [widened[id(tree)] for tree in found]

    @_if_offered
    def explain(self, X: Any, *, target: Any = None, term_names: Any = None) -> list[Explanation]:
        """Why each row of X is classified as it is; the dropped columns have no part in it."""
        check_is_fitted(self)
        names = readable_names(term_names, self._hierarchy.features)
        found = self._ask("explain", X, target=target, term_names=names)
        return [replace(explanation, hierarchy=self._hierarchy) for explanation in found]

    def _ask(self, method: str, X: Any, **options: Any) -> Any:
        """What the fitted classifier says of the rows, of which it sees the columns kept."""
        check_is_fitted(self)
        rows = validate_data(self, _in_memory(X), accept_sparse="csr", dtype="numeric", reset=False)
        columns = np.flatnonzero(self.support_)
        return getattr(self.estimator_, method)(self._columns(X, rows, columns), **options)

    def _columns(self, X: Any, rows: Any, columns: NDArray[np.intp]) -> Any:
        """Some columns: of a pandas frame with their names, which the classifier matches and shows."""
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
    return in_memory(rows, "MinSupport", "the columns are chosen from all rows at once")


def _count_ones(X: Any) -> NDArray[np.int64]:
    return np.asarray((X > 0).sum(axis=0), dtype=np.int64).ravel()


def _varies(X: Any) -> NDArray[np.bool_]:
    low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
    return np.asarray(low != high, dtype=np.bool_)
