"""Rows of terms in any form, as a closed table of ones: lists of terms, pairs (item, term), or a frame of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan._runtime.spelling import clip
from hietan.hierarchy._hierarchy import Hierarchy


class TermRows(NamedTuple):
    """A closed table, with a column for each feature of a hierarchy.

    Attributes
    ----------
    ones : csr_array of bool
        The table.
    items : list of str or None
        The items of pairs, which are the rows; None if the input has a row for each.
    unknown : dict of str to int
        How often each term occurred that the hierarchy does not know.
    n_unknown : int
        The number of rows that have terms, but none that the hierarchy knows.
    """

    ones: sp.csr_array[np.bool_]
    items: list[str] | None
    unknown: dict[str, int]
    n_unknown: int = 0


def rows_from_lists(lists: Iterable[Any], hierarchy: Hierarchy) -> TermRows:
    """The rows of a list of terms each."""
    unknown: dict[str, int] = {}
    rows = [_known(terms, i, hierarchy, unknown) for i, terms in enumerate(lists)]
    return TermRows(_closed(rows, hierarchy), None, unknown, rows.count(None))


def rows_from_pairs(pairs: Iterable[Any], hierarchy: Hierarchy) -> TermRows:
    """A row per item, in order of appearance, from pairs (item, term) or a frame of these two columns."""
    if hasattr(pairs, "columns"):
        frame: Any = pairs
        first, second = frame.columns
        pairs = zip(frame[first].to_list(), frame[second].to_list(), strict=True)
    terms_of: dict[str, list[Any]] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise ValueError(f"expected pairs (item, term), got {clip(pair)}")
        terms_of.setdefault(str(pair[0]), []).append(pair[1])
    unknown: dict[str, int] = {}
    rows = [_known(terms, item, hierarchy, unknown) for item, terms in terms_of.items()]
    return TermRows(_closed(rows, hierarchy), list(terms_of), unknown, rows.count(None))


def rows_from_columns(frame: Any, hierarchy: Hierarchy) -> TermRows:
    """The rows of a frame with a column per term, such as the leaves only; ancestors are added.

    Columns that the hierarchy does not know count as unknown, once each, and are left out.
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
            f"none of the columns is in the hierarchy: the columns are {clip(list(frame.columns)[:5])}; "
            f"the features of the hierarchy are {known}, ..."
        )
    row = np.concatenate(entries)
    column = np.repeat(at, [len(each) for each in entries])
    shape = (len(frame), len(hierarchy))
    table: Any = sp.csr_array((np.ones(len(row), dtype=np.bool_), (row, column)), shape=shape)
    return TermRows(sp.csr_array(hierarchy.close(table)), None, unknown)


def column_ones(column: Any, name: object) -> NDArray[np.bool_]:
    """Where a column of a frame says yes: it holds truth values, 0 and 1, or counts, of which those above 0 do."""
    values = np.asarray(column.to_numpy())
    if (
        values.dtype.kind not in "bui"
    ):  # numbers or truth values, perhaps with missing ones, categories, or text
        for row, value in enumerate(values.tolist()):
            if value is None or value != value:
                raise ValueError(
                    f"column {name!r} has no value in row {row}; fill it in, for example with fillna(0)"
                )
            if not isinstance(value, bool | int | float | np.number | np.bool_):
                raise ValueError(
                    f"column {name!r} holds {clip(value)}; expected 0 and 1, truth values, or counts. If {clip(value)} "
                    f"means yes: frame[{name!r}] == {clip(value)}"
                )
        values = values.astype(np.float64)
    if values.size and values.min() < 0:
        raise ValueError(f"column {name!r} holds {values.min()}; expected 0 and 1, truth values, or counts")
    if values.size and values.min() >= 1 and values.max() > 1:
        raise ValueError(
            f"column {name!r} holds values from {values.min()} to {values.max()} and no 0, so every row would have the "
            f"term; expected 0 and 1, truth values, or counts. If {values.max()} means yes: frame[{name!r}] == "
            f"{values.max()}"
        )
    return np.asarray(values > 0)


def _known(terms: Any, row: object, hierarchy: Hierarchy, unknown: dict[str, int]) -> list[int] | None:
    """The known terms of a row; None if it has unknown ones only."""
    if isinstance(terms, str | bytes | Mapping) or not isinstance(terms, Iterable):
        hint = "; split it, or put it into a list" if isinstance(terms, str) else ""
        raise TypeError(f"expected a list of terms in row {row!r}, got {clip(terms)}{hint}")
    found, is_empty = set[int](), True
    for term in terms:
        is_empty = False
        if term in hierarchy:
            found.add(hierarchy.index(term))
        else:
            unknown[str(term)] = unknown.get(str(term), 0) + 1
    return sorted(found) if found or is_empty else None


def _closed(rows: Sequence[Sequence[int] | None], hierarchy: Hierarchy) -> sp.csr_array[np.bool_]:
    indptr = np.cumsum([0, *(len(row or ()) for row in rows)])
    indices = np.fromiter((j for row in rows for j in row or ()), dtype=np.int64, count=int(indptr[-1]))
    parts: Any = (np.ones(len(indices), dtype=np.bool_), indices, indptr)
    table: sp.csr_array[np.bool_] = sp.csr_array(parts, shape=(len(rows), len(hierarchy)))
    return sp.csr_array(hierarchy.close(table))
