"""Annotations in plain tables: which column holds the ids, and which the terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hietan.datasets.build_log import Tally
from hietan.datasets.readers.annotation import PairBlock
from hietan.datasets.readers.annotation_formats import LINE_FORMATS
from hietan.datasets.readers.tables import Table, find_names, is_position
from hietan.exceptions import DataError

_ID = re.compile(
    "(item|row|gene|object|sample|patient|instance|disease|database|product|entity|subject)(_id)?|id|sku"
)
_TERM = re.compile(
    "(term|code|go|hpo|feature|annotation|concept|icd|icd10|tag|node)s?(_ids?)?|categor(y|ies)|go_terms"
)
_MORE = {
    "symbol": re.compile("symbol|name|(item|gene|disease)_(name|symbol)"),
    "qualifier": re.compile("qualifier"),
    "evidence": re.compile("evidence(_code)?"),
}
_BLOCK = (
    1 << 10
)  # rows that are read at once; with many more, Python's garbage collector would look at each again
_SEPARATOR = re.compile(r"[;|,]")

_IsTerm = Callable[[str], bool] | None


@dataclass(frozen=True)
class PairLayout:
    """Where a table has ids, terms and further fields of annotations.

    Attributes
    ----------
    table : Table
        The table, whose heading has been read.
    id_at, term_at : int
        The columns of ids and terms.
    more : dict of str to int
        The columns of further fields of `Annotation`.
    lists : bool
        Whether a field holds several terms, separated by ";", "|" or ",".
    remarks : tuple of str
        What was found out rather than stated.
    """

    table: Table
    id_at: int
    term_at: int
    more: dict[str, int]
    lists: bool
    remarks: tuple[str, ...]

    def rows(self, tally: Tally) -> Iterator[tuple[int, list[str]]]:
        """(line number, fields) of the rows that have an id and a term."""
        return self.table.rows(max(self.id_at, self.term_at), tally)

    def row_blocks(self, tally: Tally) -> Iterator[list[tuple[int, list[str]]]]:
        """The same rows, many at once."""
        return self.table.row_blocks(max(self.id_at, self.term_at), tally, _BLOCK)

    def read(self, row: Sequence[str]) -> tuple[str, list[str]]:
        """The id and the terms of a row; "" and none if they are missing."""
        return row[self.id_at].strip(), _terms(row[self.term_at], self.lists)

    def read_block(self, rows: Sequence[Sequence[str]]) -> PairBlock | None:
        """The ids and the terms of many rows at once; None unless each of them has an id and a single term."""
        if self.lists:
            return None
        ids = [row[self.id_at].strip() for row in rows]
        terms = [row[self.term_at].strip() for row in rows]
        return None if "" in ids or "" in terms else PairBlock(ids, terms)

    def extra(self, row: Sequence[str]) -> dict[str, Any]:
        """The further fields of a row."""
        return {field: row[at].strip() for field, at in self.more.items() if at < len(row)}


def find_pairs(
    table: Table, columns: Sequence[str | int] | None, header: bool | None, is_term: _IsTerm, *, lists: bool
) -> PairLayout:
    """Read the heading of a table, if there is one, and find the columns of ids and terms.

    Parameters
    ----------
    table : Table
        The table, from its beginning.
    columns : (str or int, str or int), optional
        The columns of ids and terms, by name or by position.
    header : bool, optional
        Whether the first row holds the names of the columns; found out if not given.
    is_term : callable or None
        Whether a text is a term of the ontology, if this is known.
    lists : bool
        Whether a field holds several terms.
    """
    remarks = list[str]()
    if header is None:
        header, remark = _has_heading(table, columns, is_term, lists)
        remarks += [remark] if remark else []
    if header:
        table.take_heading()
    id_at, term_at, remark = _find_columns(table, columns, is_term, lists)
    remarks += [remark] if remark else []
    more = {
        field: found[0]
        for field, names in _MORE.items()
        if (found := [j for j in find_names(table.heading or [], names) if j not in (id_at, term_at)])
    }
    return PairLayout(table, id_at, term_at, more, lists, tuple(remarks))


def _terms(cell: str, lists: bool) -> list[str]:
    return [term for part in (_SEPARATOR.split(cell) if lists else [cell]) if (term := part.strip())]


def _has_heading(
    table: Table, columns: Sequence[str | int] | None, is_term: _IsTerm, lists: bool
) -> tuple[bool, str]:
    """Whether the first row is a heading, and what to remark about it.

    It is one if a column is requested by name, or if one of its names is a word such as "item" or "term". Where the
    ontology is known, it is also one if it has no term but a later row has.
    """
    by_name = columns is not None and any(not is_position(column) for column in columns)
    if by_name or table.has_marked_heading:
        return True, ""
    first, *others = table.start
    has_names = bool(find_names(first, _ID) or find_names(first, _TERM))
    if is_term is None:
        return has_names, ""
    if any(is_term(term) for cell in first for term in _terms(cell, lists)):
        return False, ""
    if has_names or not any(is_term(term) for row in others for cell in row for term in _terms(cell, lists)):
        return has_names, ""
    return True, f"the first row ({', '.join(first[:5])}) was read as names of columns"


def _find_columns(
    table: Table, columns: Sequence[str | int] | None, is_term: _IsTerm, lists: bool
) -> tuple[int, int, str]:
    """The columns of ids and terms: as stated, by their names, by what is a term, or the first and the second."""
    if columns is not None:
        if isinstance(columns, str) or len(columns) != 2:
            raise ValueError(f"pair_columns is {columns!r}; expected two columns, such as ('item', 'term')")
        return table.column(columns[0]), table.column(columns[1]), ""
    terms = find_names(table.heading or [], _TERM)
    ids = [j for j in find_names(table.heading or [], _ID) if j not in terms]
    if len(terms) == 1 and ids:
        return ids[0], terms[0], ""
    if table.width != 2:
        raise DataError(
            "say which columns hold the ids and the terms (pair_columns, --pair-columns); the columns are "
            f"{table.shown_columns()}. The formats with a line per annotation are {', '.join(LINE_FORMATS)}",
            table.name,
        )
    if len(terms) == 1 or len(ids) == 1:
        term_at = terms[0] if len(terms) == 1 else 1 - ids[0]
        return 1 - term_at, term_at, ""
    if is_term is not None:
        rows = [row for row in table.start if len(row) == 2]
        known = [sum(any(map(is_term, _terms(row[j], lists))) for row in rows) for j in (0, 1)]
        if known[0] > known[1]:
            return 1, 0, "the terms were found in the first column, and the ids in the second"
    return 0, 1, ""
