"""A selector of columns and a classifier that is fitted to what it chooses, as one classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hietan.selection.columns import ClassifierOnColumns


class SelectedColumns(ClassifierOnColumns):
    """A classifier on the columns that a selector chooses in the training rows.

    In a Pipeline, the columns of arrays and sparse matrices lose their names, so that a classifier after a selector
    cannot match its hierarchy with them. Here it can: a hierarchy given to the classifier, however deep inside it, is
    restricted to the chosen columns; relations through dropped columns remain. Trees and explanations refer to all
    columns; the dropped ones are in no tree.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier. It is cloned, and not changed.
    selector : scikit-learn selector
        Chooses the columns: :class:`GTD`, :class:`SHSEL`, :class:`TSEL`, or any other with `get_support`. It is cloned,
        and not changed.

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

    def _choose(self, X: Any, rows: Any, y: Any) -> NDArray[np.bool_]:
        kept = np.asarray(clone(self.selector).fit(X, y).get_support(), dtype=np.bool_)
        if not kept.any():
            raise ValueError(f"{type(self.selector).__name__} chose none of the {len(kept)} columns of X")
        return kept
