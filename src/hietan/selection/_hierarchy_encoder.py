"""Encode rows of terms as the closed table that the classifiers need."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hietan._runtime.optional import import_optional
from hietan._runtime.spelling import first_few
from hietan.classifiers._checks import check_hierarchy
from hietan.exceptions import HierarchyWarning
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._term_rows import (
    TermRows,
    has_lists,
    listed,
    rows_from_columns,
    rows_from_lists,
    rows_from_pairs,
)

_INPUTS = ("auto", "lists", "pairs", "columns")
_UNKNOWN = ("error", "warn", "ignore")


class HierarchyEncoder(TransformerMixin, BaseEstimator):
    """A transformer from rows of terms to a table of 0 and 1, in which a term implies all of its ancestors.

    In a pipeline, call ``set_output(transform="pandas")``: the columns then have names, and the classifier matches them
    to its hierarchy.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy over the terms.
    min_support : int, default 1
        A term becomes a column if at least this many training rows have it. With 0, all terms of the hierarchy are
        columns, in its order, so that a classifier needs no names; do not do this with a large ontology.
    handle_unknown : {"error", "warn", "ignore"}, default "error"
        How to treat terms that are not in the hierarchy, in training and in new rows: raise an error, or leave them
        out with or without a warning. `unknown_` counts them either way.
    input : {"auto", "lists", "pairs", "columns"}, default "auto"
        The kind of X: a list of terms per row; pairs (item, term), whose items become rows in order of appearance; or
        a frame with a column per term, for example only for the leaves, that contains truth values, 0 and 1, or
        counts. "auto" reads a frame with a single column of lists as lists. It reads a frame of two columns as pairs
        if neither column is a term; one of them may contain lists of terms. Any other frame is read as columns, and
        everything else as lists.
    sparse_output : bool, default True
        Whether the table is a sparse array rather than a dense one. With ``set_output(transform="pandas")`` it is a
        dense frame either way.

    Attributes
    ----------
    support_ : bool array
        Which terms of the hierarchy are columns.
    hierarchy_ : Hierarchy
        The hierarchy over the columns.
    unknown_ : dict of str to int
        How often each unknown term occurred in the rows that were read last; for a frame of columns, 1 for each.
    n_unknown_rows_ : int
        The number of these rows that have only unknown terms, so that all of their columns are 0.

    Examples
    --------
    >>> from hietan import Hierarchy, HierarchyEncoder
    >>> goods = Hierarchy.from_edges([("drinks", "tea"), ("drinks", "coffee"), ("food", "bread")])
    >>> encoder = HierarchyEncoder(goods).fit([["tea"], ["coffee", "bread"]])
    >>> encoder.get_feature_names_out().tolist()
    ['drinks', 'tea', 'coffee', 'food', 'bread']
    >>> encoder.transform([["tea"], []]).toarray().tolist()
    [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    """

    support_: NDArray[np.bool_]
    hierarchy_: Hierarchy
    unknown_: dict[str, int]
    n_unknown_rows_: int

    def __init__(
        self,
        hierarchy: Hierarchy,
        *,
        min_support: int = 1,
        handle_unknown: str = "error",
        input: str = "auto",
        sparse_output: bool = True,
    ) -> None:
        self.hierarchy = hierarchy
        self.min_support = min_support
        self.handle_unknown = handle_unknown
        self.input = input
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the features: all terms, including ancestors, that are present in enough rows.

        Parameters
        ----------
        X : lists of terms, pairs (item, term) or data frame
            The training rows; see `input`.
        y : ignored
            Present for compatibility with pipelines.

        Returns
        -------
        self
            The fitted encoder.
        """
        self._choose_columns(self._read(X))
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit to the rows and transform them, reading the rows only once."""
        rows = self._read(X)
        self._choose_columns(rows)
        return self._table(rows, X)

    def transform(self, X: Any) -> Any:
        """Return the table for these rows.

        Parameters
        ----------
        X : lists of terms, pairs (item, term) or data frame
            The rows; see `input`.

        Returns
        -------
        csr_array or array of uint8, or data frame
            A row for each row (or item) of X, a column for each of `get_feature_names_out()`.
        """
        check_is_fitted(self)
        return self._table(self._read(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, which are terms. `input_features` is ignored."""
        check_is_fitted(self)
        return np.array(self.hierarchy_.features, dtype=object)

    def _choose_columns(self, rows: TermRows) -> None:
        kept = np.asarray(rows.ones.sum(axis=0)).ravel() >= self.min_support
        if not kept.any():
            raise ValueError(
                f"none of the hierarchy's {len(kept)} terms is present in at least {self.min_support} of the "
                f"{rows.ones.shape[0]} rows; use a smaller min_support"
            )
        self.support_ = kept
        self.hierarchy_ = self.hierarchy.restrict([self.hierarchy.features[j] for j in np.flatnonzero(kept)])

    def _read(self, X: Any) -> TermRows:
        self._check_parameters()
        kind = self.input
        if kind == "auto":
            labels = list(getattr(X, "columns", ()))
            is_pairs = len(labels) == 2 and not any(label in self.hierarchy for label in labels)
            kind = "lists" if not hasattr(X, "columns") else "pairs" if is_pairs else "columns"
            if len(labels) == 1 and has_lists(X[labels[0]]):
                kind = "lists"
        read: Any = {"lists": rows_from_lists, "pairs": rows_from_pairs, "columns": rows_from_columns}[kind]
        if kind == "columns" and not hasattr(X, "columns"):
            raise TypeError(
                f"input='columns' needs a data frame whose columns are terms, got {type(X).__name__}"
            )
        if isinstance(X, str | bytes) or not hasattr(X, "__iter__"):
            raise TypeError(f"expected rows that each contain a list of terms, got {X!r:.80}")
        of_lists = kind == "lists" and hasattr(X, "columns")  # a frame of one column
        rows: TermRows = read(
            map(listed, X[X.columns[0]].to_list()) if of_lists else X,
            self.hierarchy if kind == "columns" else self.hierarchy._closed,
        )
        self._meet_unknown(rows.unknown, kind)
        self.unknown_, self.n_unknown_rows_ = rows.unknown, rows.n_unknown
        return rows

    def _check_parameters(self) -> None:
        check_hierarchy(self.hierarchy)
        if self.hierarchy is None:
            raise TypeError("HierarchyEncoder needs a hierarchy; build one with Hierarchy.from_edges")
        if not isinstance(self.min_support, numbers.Integral) or self.min_support < 0:
            raise ValueError(f"min_support must be an integer of at least 0, got {self.min_support!r}")
        for name, allowed in (("handle_unknown", _UNKNOWN), ("input", _INPUTS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")

    def _meet_unknown(self, unknown: dict[str, int], kind: str) -> None:
        if not unknown or self.handle_unknown == "ignore":
            return
        what = "column" if kind == "columns" else "term"
        counted = f"1 {what} is" if len(unknown) == 1 else f"{len(unknown)} {what}s are"
        message = (
            f"{counted} not in the hierarchy: {first_few(list(unknown))}; the hierarchy contains "
            f"{first_few(self.hierarchy.features)}"
        )
        if self.handle_unknown == "warn":
            warnings.warn(f"{message}. They are left out", HierarchyWarning, stacklevel=4)
            return
        pairs = ". If X contains pairs (item, term), use input='pairs'" if kind == "lists" else ""
        raise ValueError(f"{message}. Use handle_unknown='ignore' or 'warn' to leave them out{pairs}")

    def _table(self, rows: TermRows, X: Any) -> Any:
        ones: Any = rows.ones
        kept = self.support_[ones.indices]
        indices = (np.cumsum(self.support_, dtype=np.int32) - 1)[ones.indices[kept]]
        indptr = np.concatenate([[0], np.cumsum(kept)])[ones.indptr]
        content: Any = (np.ones(len(indices), dtype=np.uint8), indices, indptr)
        table: Any = sp.csr_array(content, shape=(ones.shape[0], len(self.hierarchy_)))
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform")
        if wanted == "pandas":
            pd = import_optional("pandas", extra="frames", purpose="set_output(transform='pandas')")
            index = rows.items if rows.items is not None else X.index if hasattr(X, "iloc") else None
            return pd.DataFrame(table.toarray(), index=index, columns=self.get_feature_names_out())
        return table if self.sparse_output and wanted in (None, "default") else table.toarray()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags
