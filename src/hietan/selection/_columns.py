"""Classifiers fitted only to columns chosen by their number of ones or by a selector."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from hietan.classifiers._checks import (
    align_hierarchy,
    in_memory,
    read_weights,
    refuse_dataset,
    require_weight,
    validated,
    warn_of_columns,
)
from hietan.explain import Explanations
from hietan.explain._dataset_rows import also_of_datasets, also_of_whole_datasets, readable_names
from hietan.hierarchy import Hierarchy
from hietan.structure import Tree

_F = TypeVar("_F", bound=Callable[..., Any])


def _if_offered(method: _F) -> _F:
    """Offer a method only if the wrapped classifier has a method of the same name."""
    name = method.__name__
    offered: _F = available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), name))(
        method
    )
    return offered


def take_columns(X: Any, rows: Any, columns: NDArray[np.intp]) -> Any:
    """Return the columns at these positions. The columns of a data frame keep their names.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The table.
    rows : array or CSR matrix
        The same table, validated; its columns are used unless X is a data frame with column names.
    columns : int array
        The positions of the columns.
    """
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return rows[:, columns]
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns.tolist()]


class ClassifierOnColumns(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier fitted only to chosen features. Subclasses choose the features in `_choose`.

    A hierarchy given to the classifier, at any depth, is restricted to the chosen columns, so that columns need no
    names to match it. Relations through dropped columns remain. Trees and explanations refer to all columns; dropped
    columns are in no tree.
    """

    estimator: Any
    estimator_: Any
    hierarchy_: Hierarchy
    support_: NDArray[np.bool_]

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters."""

    @abstractmethod
    def _choose(self, X: Any, rows: Any, y: Any, weights: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        """Return which columns to keep, based on the training rows and their weights, which are all above 0.

        X is the table as given, and `rows` is the same table after validation.
        """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the features, and fit a clone of the classifier to the chosen features.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default None
            How often each row counts, for the choice of the columns and for the classifier, which must accept weights;
            0 leaves a row out. None means once.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_dataset(self.estimator, X, y)
        self._check_parameters()
        X, y = self._in_memory(X), self._in_memory(y)
        # A failed fit leaves no model rather than a mixture of two.
        for fitted in ("estimator_", "classes_", "support_", "hierarchy_"):
            self.__dict__.pop(fitted, None)
        rows = validated(self, X, dtype="numeric", ensure_min_samples=2)
        weights = read_weights(self._in_memory(sample_weight), rows.shape[0])
        if weights is None or weights.all():
            kept = self._choose(X, rows, y, weights)
        else:
            weigh = np.flatnonzero(weights)
            require_weight(weigh)
            if len(weigh) < 2:
                raise ValueError(
                    f"at least 2 rows must have a sample_weight above 0, but only {len(weigh)} has; increase "
                    "other weights"
                )
            table = (
                X.iloc[weigh] if hasattr(X, "iloc") else X[weigh] if hasattr(X, "columns") else rows[weigh]
            )
            kept = self._choose(table, rows[weigh], np.asarray(y)[weigh], weights[weigh])
        names = getattr(self, "feature_names_in_", None)
        model = clone(self.estimator)
        own, inner = "hierarchy", model
        while isinstance(inner, ClassifierOnColumns):
            own, inner = f"estimator__{own}", inner.estimator
        whole: dict[str, Hierarchy] = {}
        for name, value in model.get_params(deep=True).items():
            # None becomes a hierarchy without relations, for the names of all columns in trees. Not deeper inside,
            # where other steps may have changed the columns.
            if (name == own and value is None) or (
                name.rpartition("__")[2] == "hierarchy" and isinstance(value, Hierarchy)
            ):
                whole[name] = align_hierarchy(value, names, len(kept))
                warn_of_columns(value, names, stacklevel=2)
        columns = np.flatnonzero(kept)
        model.set_params(**{name: h.restrict([h.features[j] for j in columns]) for name, h in whole.items()})
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        model.fit(take_columns(X, rows, columns), y, **weighted)
        self.hierarchy_ = whole.get(own, align_hierarchy(None, names, len(kept)))
        self.estimator_, self.support_ = model, kept
        self.classes_: NDArray[Any] = model.classes_
        return self

    @_if_offered
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        return np.asarray(self._call("predict", X))

    @_if_offered
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x) for each row and class, in the order of `classes_`."""
        return np.asarray(self._call("predict_proba", X))

    @_if_offered
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(c | x) for each row and class, in the order of `classes_`."""
        return np.asarray(self._call("predict_log_proba", X))

    @_if_offered
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(c, x) for each row and class, in the order of `classes_`, without normalisation."""
        return np.asarray(self._call("predict_joint_log_proba", X))

    @_if_offered
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the wrapped classifier's scores for the rows."""
        return np.asarray(self._call("decision_function", X))

    @_if_offered
    def trees(self, X: Any) -> list[Tree]:
        """Return the tree that scores each row of X. Dropped features are not in the tree."""
        found: list[Tree] = self._call("trees", X)
        widened = {id(tree): tree.over(self.hierarchy_.features) for tree in found}  # often one tree for all
        return [widened[id(tree)] for tree in found]

    @_if_offered
    @also_of_datasets
    def explain(
        self, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        """Explain each row's prediction. Dropped features do not contribute.

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
            Readable feature names: by feature, or in the order of all columns.

        Returns
        -------
        list of Explanation
            One for each row.
        """
        check_is_fitted(self)
        names = readable_names(term_names, self.hierarchy_.features)
        found = self._call("explain", X, target=target, term_names=names)
        whole, columns = self.hierarchy_, np.flatnonzero(self.support_)
        labels = tuple(names.get(feature, feature) for feature in whole.features)
        every = sp.csr_array(validated(self, self._in_memory(X), dtype="numeric", reset=False)).toarray()
        explanations = Explanations()
        for one, values in zip(found, every, strict=True):
            parts = one.contributions  # a row of whole numbers is a binary one
            row = (values > 0 if parts.row.dtype.kind == "u" else values).astype(parts.row.dtype)
            row[columns] = parts.row
            spread = parts.spread(columns, whole.features, labels, row)
            explanations.append(replace(one, hierarchy=whole, contributions=spread))
        return explanations

    @_if_offered
    @also_of_whole_datasets
    def contributions(self, X: Any, *, target: Any = None, return_base: bool = False) -> Any:
        """Return each feature's contribution to a class's log-odds in each row of X. Dropped features are left out.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset of shape (n_samples, n_features)
            The rows, with all columns.
        target : label or None, default None
            The class, as for `explain`.
        return_base : bool, default False
            Whether to return the base values as well.

        Returns
        -------
        contributions : scipy.sparse.csr_array of shape (n_samples, n_features)
            The numbers of `explain`.
        base : array of shape (n_samples,), if `return_base`
            The rest of each row's log-odds.
        """
        if return_base:
            found, base = self._call("contributions", X, target=target, return_base=True)
            return self._spread(found), base
        return self._spread(self._call("contributions", X, target=target))

    def _spread(self, contributions: Any) -> sp.csr_array[np.float64]:
        """Return the same numbers, placed at their columns among all columns."""
        found: Any = sp.csr_array(contributions)
        columns = np.flatnonzero(self.support_).astype(found.indices.dtype)
        arrays = found.data, columns[found.indices], found.indptr
        return sp.csr_array(arrays, shape=(found.shape[0], len(self.support_)))

    def _call(self, method: str, X: Any, **options: Any) -> Any:
        """Call a method of the fitted classifier with the rows' kept columns."""
        check_is_fitted(self)
        rows = validated(self, self._in_memory(X), dtype="numeric", reset=False)
        columns = np.flatnonzero(self.support_)
        return getattr(self.estimator_, method)(take_columns(X, rows, columns), **options)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _in_memory(self, rows: Any) -> Any:
        return in_memory(rows, type(self).__name__, "all rows are needed to choose the columns")


class SelectedColumns(ClassifierOnColumns):
    """A classifier that uses only the features that a selector chooses from the training rows.

    In a Pipeline, the columns of arrays and sparse matrices lose their names, so that a classifier after a selector
    cannot match its hierarchy with them. Here it can: a hierarchy given to the classifier, at any depth, is
    restricted to the chosen columns; relations through dropped columns remain. Trees and explanations refer to all
    columns; dropped columns are in no tree. The selector also gets the row weights, if its `fit` accepts them.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier. It is cloned, not changed.
    selector : scikit-learn selector
        Chooses the columns: :class:`GTD`, :class:`SHSEL`, :class:`TSEL`, or any other with `get_support`. It is
        cloned, not changed.

    Attributes
    ----------
    estimator_ : classifier
        The clone that was fitted to the kept columns.
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    classes_, hierarchy_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

    Examples
    --------
    >>> import numpy as np
    >>> from hietan import GTD, HieTAN, Hierarchy
    >>> from hietan.selection import SelectedColumns
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> X = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 0]])
    >>> clf = SelectedColumns(HieTAN(hierarchy=hierarchy), GTD(hierarchy=hierarchy)).fit(X, [1, 1, 0, 0, 0, 1])
    >>> clf.trees(X[:1])[0].features
    ('bird', 'cat')
    """

    def __init__(self, estimator: Any, selector: Any) -> None:
        self.estimator = estimator
        self.selector = selector

    def _check_parameters(self) -> None:
        if not hasattr(self.selector, "get_support"):
            raise TypeError(
                f"selector must be a scikit-learn selector, such as hietan.GTD(); got {self.selector!r:.80}"
            )

    def _choose(self, X: Any, rows: Any, y: Any, weights: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        takes_weights = weights is not None and has_fit_parameter(self.selector, "sample_weight")
        selector = clone(self.selector).fit(X, y, **({"sample_weight": weights} if takes_weights else {}))
        kept = np.asarray(selector.get_support(), dtype=np.bool_)
        if not kept.any():
            raise ValueError(
                f"{type(self.selector).__name__} chose none of the {len(kept)} features; use a less strict "
                "selector"
            )
        return kept


class MinSupport(ClassifierOnColumns):
    """A classifier that uses only features that vary in the training rows and are present in at least `min_support`
    rows.

    Datasets are often filtered in this way before they are split, which looks at the features of the test rows,
    though never at their classes. Here the choice is made in each `fit`, from the rows that `fit` is given. A
    hierarchy given to the classifier, at any depth, is restricted to the kept columns; relations through dropped
    columns remain. Trees and explanations refer to all columns; dropped columns are in no tree.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier. It is cloned, not changed.
    min_support : int, default 1
        A column is kept if at least this many training rows have a number above 0 in it; rows with weights count as
        often as their weight. With 1, and without weights, only constant columns are dropped.

    Attributes
    ----------
    estimator_ : classifier
        The clone that was fitted to the kept columns.
    support_ : bool array of shape (n_features,)
        Which columns were kept.
    classes_, hierarchy_, n_features_in_, feature_names_in_
        As for :class:`TAN`.

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

    def __init__(self, estimator: Any, min_support: int = 1) -> None:
        self.estimator = estimator
        self.min_support = min_support

    def _check_parameters(self) -> None:
        if not isinstance(self.min_support, Integral) or self.min_support < 1:
            raise ValueError(f"min_support must be an integer above 0, got {self.min_support!r}")

    def _choose(self, X: Any, rows: Any, y: Any, weights: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        ones = rows > 0
        counted = np.asarray(
            ones.sum(axis=0) if weights is None else weights @ ones, dtype=np.float64
        ).ravel()
        low, high = min_max_axis(rows, axis=0) if sp.issparse(rows) else (rows.min(axis=0), rows.max(axis=0))
        kept: NDArray[np.bool_] = (counted >= self.min_support) & np.asarray(low != high, dtype=np.bool_)
        if not kept.any():
            raise ValueError(
                f"none of the {len(kept)} features varies and is present in at least {self.min_support} of the "
                f"{rows.shape[0]} training rows; use a smaller min_support"
            )
        return kept
