"""Choosing columns within the training rows: a classifier is fitted only to those that have enough ones there."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import min_max_axis

from hietan.selection.columns import ClassifierOnColumns


class MinSupport(ClassifierOnColumns):
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

    def __init__(self, estimator: Any, min_support: int = 1) -> None:
        self.estimator = estimator
        self.min_support = min_support

    def _check_parameters(self) -> None:
        if not isinstance(self.min_support, numbers.Integral) or self.min_support < 1:
            raise ValueError(f"min_support must be an integer above 0, got {self.min_support!r}")

    def _choose(self, X: Any, rows: Any, y: Any) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = (_count_ones(rows) >= self.min_support) & _varies(rows)
        if not kept.any():
            raise ValueError(
                f"none of the {len(kept)} columns of X has {self.min_support} ones in the {rows.shape[0]} training "
                f"rows and varies there; use a smaller min_support"
            )
        return kept


def _count_ones(X: Any) -> NDArray[np.int64]:
    return np.asarray((X > 0).sum(axis=0), dtype=np.int64).ravel()


def _varies(X: Any) -> NDArray[np.bool_]:
    low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
    return np.asarray(low != high, dtype=np.bool_)
