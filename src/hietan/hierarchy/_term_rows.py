"""Rows of terms as a closed table of ones, made from lists of terms, (item, term) pairs, or a frame's columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan._runtime.spelling import clip

if TYPE_CHECKING:
    from hietan.hierarchy._hierarchy import Hierarchy

_LISTS = (list, tuple, set, frozenset, np.ndarray)
_HOLDERS = ("object", "list", "large_list", "array")  # types of columns that may hold lists


class TermRows(NamedTuple):
    """A closed table with a column for each feature in a hierarchy.

    Attributes
    ----------
    ones : csr_array of bool
        The table.
    items : list of str or None
        The items of pairs, which are the rows; None if the input has a row for each.
    unknown : dict of str to int
        How often each term that is not in the hierarchy occurred.
    n_unknown : int
        The number of rows that have terms, but none that is in the hierarchy.
    """

    ones: sp.csr_array[np.bool_]
    items: list[str] | None
    unknown: dict[str, int]
    n_unknown: int = 0


class ClosedColumns(dict[str, NDArray[np.int32] | None]):
    """The columns that each term sets to 1. The function `find` is called once for each term.

    `find` returns None for an unknown term, which is not stored: rows may contain any number of them.
    """

    def __init__(self, find: Callable[[str], NDArray[np.int32] | None], n_columns: int) -> None:
        super().__init__()
        self.find, self.n_columns = find, n_columns

    def __missing__(self, term: str) -> NDArray[np.int32] | None:
        found = self.find(term)
        if found is not None:
            self[term] = found
        return found


def rows_from_lists(lists: Iterable[Any], closed: ClosedColumns) -> TermRows:
    """Return the rows for lists of terms, one list per row."""
    return _closed_rows(enumerate(lists), closed)


def is_missing(value: Any) -> bool:
    """Return whether a value means a missing value in Python, NumPy or pandas: None, NaN, NaT or NA.

    >>> is_missing(None), is_missing(np.nan), is_missing("nan"), is_missing(0)
    (True, True, False, False)
    """
    if isinstance(value, str | float):  # quickly: only NaN differs from itself
        return bool(value != value)
    return str(value).lower() in ("none", "nan", "nat", "<na>")


def listed(cell: Any) -> list[Any]:
    """Return the terms in a cell: the items of a list, none for a missing value, or a single term.

    >>> listed(["tea", "milk", None]), listed("tea"), listed(None)
    (['tea', 'milk'], ['tea'], [])
    """
    if not isinstance(cell, _LISTS):
        return [] if is_missing(cell) else [cell]
    for term in cell:
        if isinstance(term, _LISTS):
            raise TypeError(f"expected a list of terms, got a list of lists: {clip(list(cell))}; flatten it")
    return [term for term in cell if not is_missing(term)]


def has_lists(column: Any) -> bool:
    """Return whether a column's first value that is not missing is a list."""
    values = column.to_list() if str(getattr(column, "dtype", "object")).lower().startswith(_HOLDERS) else ()
    return isinstance(next((v for v in values if isinstance(v, _LISTS) or listed(v)), None), _LISTS)


def rows_from_pairs(pairs: Iterable[Any], closed: ClosedColumns) -> TermRows:
    """Return a row per item, in order of appearance, from (item, term) pairs or a frame with these two columns.

    A list of terms instead of a term counts as a pair for each listed term.
    """
    if hasattr(pairs, "columns"):
        frame: Any = pairs
        first, second = sorted(frame.columns, key=lambda label: has_lists(frame[label]))
        pairs = zip(frame[first].to_list(), frame[second].to_list(), strict=True)
    terms_of: dict[str, list[Any]] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise ValueError(f"expected pairs (item, term), got {clip(pair)}")
        terms_of.setdefault(str(pair[0]), []).extend(listed(pair[1]))
    return _closed_rows(terms_of.items(), closed)._replace(items=list(terms_of))


def _closed_rows(rows: Iterable[tuple[object, Any]], closed: ClosedColumns) -> TermRows:
    """Return the rows with these names and terms."""
    parts: list[NDArray[np.int32]] = []
    ends, unknown, n_unknown, total = [0], dict[str, int](), 0, 0
    for name, terms in rows:
        if type(terms) is not list and (
            isinstance(terms, str | bytes | Mapping) or not isinstance(terms, Iterable)
        ):
            hint = "; split it, or put it into a list" if isinstance(terms, str) else ""
            raise TypeError(f"expected a list of terms in row {name!r}, got {clip(terms)}{hint}")
        n_parts, is_empty = len(parts), True
        for term in terms:
            is_empty = False
            try:
                found = closed[term]
            except TypeError:
                raise TypeError(f"expected terms as text in row {name!r}, got {clip(term)}") from None
            if found is not None:
                parts.append(found)
                total += len(found)
            elif is_missing(term):
                raise ValueError(f"row {name!r} contains a missing term ({term}); remove it")
            else:
                unknown[str(term)] = unknown.get(str(term), 0) + 1
        n_unknown += n_parts == len(parts) and not is_empty
        ends.append(total)
    indices = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
    ones: Any = (np.ones(len(indices), dtype=np.bool_), indices, np.array(ends))
    table: sp.csr_array[np.bool_] = sp.csr_array(ones, shape=(len(ends) - 1, closed.n_columns))
    table.sum_duplicates()  # and sorts
    return TermRows(table, None, unknown, n_unknown)


def rows_from_columns(frame: Any, hierarchy: Hierarchy) -> TermRows:
    """Return the rows of a frame with a column per term. Leaf columns are enough, because ancestors are added.

    Columns that are not in the hierarchy count as unknown, once each, and are left out.
    """
    unknown: dict[str, int] = {}
    entries: list[NDArray[np.intp]] = []
    at: list[int] = []
    for label in frame.columns:
        if label not in hierarchy:
            unknown[str(label)] = unknown.get(str(label), 0) + 1
            continue
        at.append(hierarchy.index(label))
        entries.append(np.flatnonzero(column_ones(frame[label], label)))
    if not at:
        known = ", ".join(map(repr, hierarchy.features[:3]))
        raise ValueError(
            f"none of the columns is in the hierarchy; rename the columns ({clip(list(frame.columns)[:5])}) to "
            f"match the hierarchy's features ({known}, ...)"
        )
    row = np.concatenate(entries)
    column = np.repeat(at, [len(each) for each in entries])
    shape = (len(frame), len(hierarchy))
    table: Any = sp.csr_array((np.ones(len(row), dtype=np.bool_), (row, column)), shape=shape)
    return TermRows(sp.csr_array(hierarchy.close(table)), None, unknown)


def column_ones(column: Any, name: object) -> NDArray[np.bool_]:
    """Return the rows in which a column is present: true, 1 or a count above 0."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind not in "bui":
        # Numbers or truth values, perhaps with missing ones, categories, or text.
        for row, value in enumerate(values.tolist()):
            if is_missing(value):
                raise ValueError(
                    f"column {name!r} has no value in row {row}; fill it in, for example with fillna(0)"
                )
            if not isinstance(value, bool | int | float | np.number | np.bool_):
                raise ValueError(
                    f"column {name!r} contains {clip(value)}; expected 0 and 1, truth values, or counts. If "
                    f"{clip(value)} means yes, use frame[{name!r}] == {clip(value)}"
                )
        values = values.astype(np.float64)
    if values.size and values.min() < 0:
        raise ValueError(
            f"column {name!r} contains {values.min()}; expected 0 and 1, truth values, or counts"
        )
    if values.size and values.min() >= 1 and values.max() > 1:
        raise ValueError(
            f"column {name!r} contains values from {values.min()} to {values.max()} and no 0, so every row would "
            f"have the term; expected 0 and 1, truth values, or counts. If {values.max()} means yes, use "
            f"frame[{name!r}] == {values.max()}"
        )
    return np.asarray(values > 0)
