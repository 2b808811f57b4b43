"""Plain CSV or TSV tables, with or without a header, with columns by name or position."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.binary_tables import binary_rows
from hietan.datasets._readers.files import TextSource, binary_kind, numbered_lines, source_name
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy._term_rows import is_missing

PEEK = 100
"""How many rows are examined to detect the content of a table."""

MISSING_VALUES = ("", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "<NA>")
"""Texts that stand for a missing label or value. In a column of ids or terms, these texts are ordinary names, because
a gene is called `nan`.
"""

# Number of rows to read at a time; with many more, Python's garbage collector would visit each again.
_BLOCK = 1 << 10
_SHOWN = 20  # columns that a message names
_Numbered = tuple[int, str]
_Record = tuple[int, list[str]]


class Table:
    """A table with columns and rows. The table is read only as far as needed.

    A table with tabs in its first row is read without quoting, any other as CSV, separated by commas or semicolons.
    Lines at the beginning that start with "#" are comments; the last of them is the header if it has as many fields as
    the row after it. Further down, lines that start with "# " are comments, and "#7" is an id.

    Parameters
    ----------
    records : iterator of (line, fields)
        The rows of the file.
    name : str
        The file name, for messages.
    has_marked_heading : bool
        Whether the first row is certainly a header, because it starts with "#".

    Attributes
    ----------
    start : list of list of str
        The fields of the first rows, at most `PEEK`, including the header.
    heading : list of str or None
        The column names; None until `take_heading` is called, except in Parquet and Arrow files.
    """

    def __init__(self, records: Iterator[_Record], name: str, *, has_marked_heading: bool = False) -> None:
        self.name, self.has_marked_heading = name, has_marked_heading
        self.heading: list[str] | None = None
        self.first_short: int | None = None  # the line of the first row that was skipped for its few fields
        self._records = records
        self._peeked = list(islice(records, PEEK))
        if not self._peeked:
            raise DataError("the file is empty; expected a table with a row of column names", name)
        self.start = [[field.strip() for field in fields] for _, fields in self._peeked]

    @classmethod
    def open(cls, source: TextSource, delimiter: str | None = None) -> Table:
        """Return the table in a file.

        Parameters
        ----------
        source : path or open file
            The table: plain, `.gz`, a `.zip` with one file, a path into an archive, Parquet, Arrow or Excel.
        delimiter : str, optional
            As in `of_lines`.
        """
        name, kind = source_name(source), binary_kind(source)
        if not kind:
            return cls.of_lines(numbered_lines(source), name, delimiter=delimiter)
        table = cls(binary_rows(source, kind), name)
        if "Excel" not in kind:
            table.take_heading()
            if not table.start:
                raise DataError(
                    f"the {kind} has no rows below its columns ({table.shown_columns()}); add at least one row",
                    name,
                )
        return table

    @classmethod
    def of_lines(
        cls, lines: Iterable[_Numbered], name: str, comment: str = "", delimiter: str | None = None
    ) -> Table:
        """Return the table that these lines contain.

        Parameters
        ----------
        lines : iterable of (number, line)
            The lines of the file.
        name : str
            The file name, for messages.
        comment : str
            Lines anywhere that start with this are also comments, unless it is "".
        delimiter : str, optional
            The text between two fields [default: detected]. "" reads each line as a single field.
        """
        marks = (comment,) if comment else ()
        filled = (pair for pair in lines if pair[1].strip() and not pair[1].startswith(marks))
        buffer, is_marked = _without_comments(filled)
        if delimiter is None:
            delimiter = _delimiter([line for _, line in buffer] or [""])
        rest = (pair for pair in filled if not pair[1].startswith("# "))
        return cls(_records(chain(buffer, rest), delimiter, name), name, has_marked_heading=is_marked)

    @property
    def width(self) -> int:
        """The number of columns in the first row."""
        return len(self.start[0] if self.heading is None else self.heading)

    def take_heading(self) -> None:
        """Use the first row as column names, unless they are already known."""
        if self.heading is None:
            del self._peeked[0]
            self.heading = self.start.pop(0)

    def shown_columns(self) -> str:
        """Return a few column names, or values from the first row, for messages."""
        return _shown(self.heading or self.start[0])

    def unused(self, used: Iterable[int]) -> tuple[str, ...]:
        """Return a remark that names the unused columns, with example values, or () if all columns are used."""
        known, left = frozenset(used), list[str]()
        for j in (j for j in range(self.width) if j not in known):
            values = dict.fromkeys(row[j][:20] for row in self.start if j < len(row) and row[j])
            name = self.heading[j] if self.heading else f"column {j + 1}"
            left.append(f"{name} ({', '.join(list(values)[:3])}{' ...' if len(values) > 3 else ''})")
        return (f"{self.name}: not used: {_shown(left)}",) if left else ()

    def column(self, wanted: str | int) -> int:
        """Return a column's index.

        Parameters
        ----------
        wanted : str or int
            The column name or, if there is no such name, its position counted from 1.
        """
        heading, name = self.heading or [], str(wanted)
        if name not in heading and name.removeprefix("#") in heading:
            name = name.removeprefix("#")
        if name not in heading and is_position(wanted):
            if 1 <= int(wanted) <= self.width:
                return int(wanted) - 1
            raise DataError(f"there is no column {wanted}; the table has {self.width} columns", self.name)
        if heading.count(name) != 1:
            found = "more than one" if name in heading else "no"
            raise DataError(
                f"the table has {found} column {name!r}; its columns are {self.shown_columns()}", self.name
            )
        return heading.index(name)

    def rows(self, last: int, tally: Tally) -> Iterator[_Record]:
        """Yield (line number, fields) for each row that reaches the column `last`. The tally counts all rows."""
        return chain.from_iterable(self.row_blocks(last, tally))

    def row_blocks(self, last: int, tally: Tally) -> Iterator[list[_Record]]:
        """Yield the rows in large blocks. Use either this method or `rows`, but not both."""
        width, short, long = self.width, [0, 0], [0, 0]
        records, self._peeked = chain(self._peeked, self._records), []
        while block := list(islice(records, _BLOCK)):
            tally.read += len(block)
            for number, row in block:
                if len(row) == width:
                    continue
                if len(row) > width:
                    long = [long[0] + 1, long[1] or number]
                elif len(row) <= last:
                    short = [short[0] + 1, short[1] or number]
                    tally.drop("too few fields")
            yield [record for record in block if len(record[1]) > last]
        self.first_short = short[1] or None
        self._warn(short, f"have fewer fields than the {last + 1} that are needed and were skipped")
        self._warn(long, f"have more fields than the {width} column names; columns count from the left")

    def _warn(self, count_and_first: Sequence[int], what: str) -> None:
        count, first = count_and_first
        if count:
            warnings.warn(
                f"{self.name}: {count} rows (first: line {first}) {what}", DataWarning, stacklevel=4
            )


def _records(lines: Iterable[_Numbered], delimiter: str, name: str) -> Iterator[_Record]:
    """Yield each line's fields with the line number."""
    if not delimiter:
        yield from ((number, [line]) for number, line in lines)
        return
    number = 0

    def followed() -> Iterator[str]:
        nonlocal number
        for number, line in lines:  # noqa: B007
            yield line

    quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    try:
        for record in csv.reader(followed(), delimiter=delimiter, quoting=quoting, strict=True):
            yield number, record
    except csv.Error as error:
        raise DataError(
            f"this line is not valid CSV ({error}); check its quotation marks", name, number
        ) from error


def cell_text(value: Any) -> str:
    """Return a value's text, or "" for a missing value.

    >>> cell_text(None), cell_text(float("nan")), cell_text("None"), cell_text(1)
    ('', '', 'None', '1')
    """
    return "" if is_missing(value) else str(value)


def is_position(wanted: str | int) -> bool:
    """Return whether a column is requested by position instead of by name."""
    return isinstance(wanted, int) or (wanted.isascii() and wanted.isdecimal() and len(wanted) < 6)


def _shown(columns: Sequence[str]) -> str:
    listed = ", ".join(name[:80] for name in columns[:_SHOWN])
    return f"{listed} and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else listed


def _without_comments(lines: Iterator[_Numbered]) -> tuple[list[_Numbered], bool]:
    """Return the first lines without leading comments, and whether the first line is a header that starts with "#"."""
    comment, buffer = None, list[_Numbered]()
    for number, line in lines:
        if line.startswith("#") and not buffer:
            comment = (number, line[1:])
            continue
        buffer += [] if line.startswith("# ") else [(number, line)]
        if len(buffer) == PEEK:
            break
    if comment is None:
        return buffer, False
    fields = _n_fields(comment[1], [line for _, line in buffer])
    if fields < 2 or (buffer and fields != _n_fields(buffer[0][1], [line for _, line in buffer])):
        return buffer, False
    return [comment, *buffer], True


def _n_fields(line: str, lines: Sequence[str]) -> int:
    return 1 + line.count(_delimiter(lines or [line]))


def _delimiter(lines: Sequence[str]) -> str:
    """Return a tab if there is one, otherwise the comma or semicolon that occurs equally often in all rows.

    A list of terms within a field may be separated by semicolons, so the first row alone is not enough.
    """
    first = lines[0]
    if "\t" in first:
        return "\t"
    steady = [mark for mark in ",;" if mark in first and len({line.count(mark) for line in lines}) == 1]
    return steady[0] if len(steady) == 1 else max(";,", key=first.count)
