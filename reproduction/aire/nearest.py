"""The nearest training rows, over the features that a selection keeps: a model of the comparison, not of hietan."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from hietan import GTD, SHSEL, TSEL, Hierarchy, LazySelection
from hietan.catalogue._methods import MethodEntry
from hietan.selection import SelectedColumns


class NearestRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The votes of the training rows with the largest Jaccard similarity over the features that each row keeps.

    The similarity is 0 where neither row has a one, and ties go to the earlier row. A row that keeps no feature gets
    the frequencies of the classes.

    Parameters
    ----------
    selection : {"hip", "mr", "hip-mr"} or None, default None
        Which features a row keeps, as in `LazySelection`; None means all.
    n_neighbors : int, default 3
        The number of training rows that vote.
    hierarchy : Hierarchy or None, default None
        The hierarchy over the columns.
    """

    def __init__(
        self, *, selection: str | None = None, n_neighbors: int = 3, hierarchy: Hierarchy | None = None
    ) -> None:
        self.selection = selection
        self.n_neighbors = n_neighbors
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows."""
        self.rows_ = _dense(X)
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        if self.selection is not None:
            self.selector_ = LazySelection(selection=self.selection, hierarchy=self.hierarchy).fit(X, y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the shares of the votes."""
        rows = _dense(X)
        kept = np.ones(rows.shape, dtype=bool) if self.selection is None else self._kept(X)
        n_classes, shares = len(self.classes_), []
        for row, keeps in zip(rows, kept, strict=True):
            both = (self.rows_ & (row & keeps)).sum(axis=1)
            either = ((self.rows_ | row) & keeps).sum(axis=1)
            similarity = both / np.maximum(either, 1)
            nearest = np.argsort(-similarity, kind="stable")[: self.n_neighbors]
            voters = self.codes_[nearest] if keeps.any() else self.codes_
            shares.append(np.bincount(voters, minlength=n_classes) / len(voters))
        return np.array(shares)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the most votes; ties go to the class that comes first."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def _kept(self, X: Any) -> NDArray[np.bool_]:
        place = {name: j for j, name in enumerate(self.selector_.hierarchy_.features)}
        kept = np.zeros(X.shape, dtype=bool)
        for i, names in enumerate(self.selector_.selected(X)):
            kept[i, [place[name] for name in names]] = True
        return kept


def _dense(X: Any) -> NDArray[np.bool_]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X) > 0


def _on_selected(selector: Any) -> SelectedColumns:
    return SelectedColumns(NearestRows(), selector())


def _entry(name: str, title: str, make: Any) -> MethodEntry:
    return MethodEntry(name, title, "votes of similar rows", "", make, ("aire",))


NEAREST = (
    _entry("nearest", "nearest rows", NearestRows),
    *(
        _entry(
            f"{title.lower()}-nearest",
            f"{title} + nearest rows",
            partial(NearestRows, selection=title.lower()),
        )
        for title in ("HIP", "MR", "HIP-MR")
    ),
    *(
        _entry(
            f"{kind.__name__.lower()}-nearest", f"{kind.__name__} + nearest rows", partial(_on_selected, kind)
        )
        for kind in (GTD, SHSEL, TSEL)
    ),
)
"""The methods of the comparison that hietan itself does not offer."""
