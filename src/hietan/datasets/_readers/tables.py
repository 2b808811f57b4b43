"""Plain tables: CSV or TSV, with or without a heading, their columns by name or position."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.files import TextSource, numbered_lines, source_name
from hietan.exceptions import DataError, DataWarning

PEEK = 100
"""How many rows are looked at to find out what a table holds."""

MISSING_VALUES = ("", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "<NA>")
"""Texts that stand for a missing label or value. In a column of ids or terms they are names: `nan` is a gene."""
_MISSING_OBJECTS = ("none", "nan", "nat", "<na>")  # of Python, NumPy and pandas, as text in lower case

# Rows that are read at once; with many more, Python's garbage collector would look at each again.
_BLOCK = 1 << 10
_SHOWN = 20  # columns that a message names
_Numbered = tuple[int, str]
_Record = tuple[int, list[str]]


class Table:
    """The rows of a CSV or TSV file, which is read only as far as needed, and where its columns are.

    A table with tabs in its first row is read without quoting, any other as CSV, separated by commas or semicolons.
    Lines at the beginning that start with "#" are comments; the last of them is the heading if it has as many fields as
    the row after it.

    Parameters
    ----------
    lines : iterator of (number, line)
        The lines of the file.
    name : str
        The name of the file, for messages.
    comment : str
        Lines anywhere that start with this are comments, too, unless it is "".

    Attributes
    ----------
    start : list of list of str
        The fields of the first rows, at most `PEEK`, the heading included.
    heading : list of str or None
        The names of the columns. It is None until `take_heading` is called.
    has_marked_heading : bool
        Whether the first row is certainly a heading, because it starts with "#".
    """

    def __init__(self, lines: Iterator[_Numbered], name: str, comment: str = "") -> None:
        self.name = name
        self.heading: list[str] | None = None
        self._comment = comment
        buffer, self.has_marked_heading = _without_comments(self._filled(lines))
        if not buffer:
            raise DataError("the file is empty; expected a table with a row of column names", name)
        self._line = buffer[0][0]
        delimiter = _delimiter([line for _, line in buffer])
        quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        self._dialect = {"delimiter": delimiter, "quoting": quoting, "strict": True}
        self._records = self._read(chain(buffer, self._filled(lines)))
        self._peeked = list(islice(self._records, PEEK))
        self.start = [[field.strip() for field in fields] for _, fields in self._peeked]

    @classmethod
    def open(cls, source: TextSource) -> Table:
        """The table that a file holds.

        Parameters
        ----------
        source : path or open file
            The table: plain, `.gz`, a `.zip` that holds one file, or a path into an archive.
        """
        return cls(numbered_lines(source), source_name(source))

    def _filled(self, lines: Iterable[_Numbered]) -> Iterator[_Numbered]:
        """Lines that are neither blank nor comments."""
        comment = self._comment or None
        for pair in lines:
            if pair[1].strip() and not (comment and pair[1].startswith(comment)):
                yield pair

    def _read(self, lines: Iterable[_Numbered]) -> Iterator[_Record]:
        try:
            for record in csv.reader(self._follow(lines), **self._dialect):
                yield self._line, record
        except csv.Error as error:
            raise DataError(f"not valid CSV: {error}", self.name, self._line) from error

    def _follow(self, lines: Iterable[_Numbered]) -> Iterator[str]:
        for self._line, line in lines:
            yield line

    @property
    def width(self) -> int:
        """The number of columns, which is that of the first row."""
        return len(self.start[0] if self.heading is None else self.heading)

    def take_heading(self) -> None:
        """Use the first row as the names of the columns."""
        del self._peeked[0]
        self.heading = self.start.pop(0)

    def shown_columns(self) -> str:
        """The names of the columns, or what the first row has in them, for messages; at most a few of them."""
        return _shown(self.heading or self.start[0])

    def unused(self, used: Iterable[int]) -> tuple[str, ...]:
        """A remark that names the columns other than those in use, with examples of their values; () without any."""
        known, left = frozenset(used), list[str]()
        for j in (j for j in range(self.width) if j not in known):
            values = dict.fromkeys(row[j][:20] for row in self.start if j < len(row) and row[j])
            name = self.heading[j] if self.heading else f"column {j + 1}"
            left.append(f"{name} ({', '.join(list(values)[:3])}{' ...' if len(values) > 3 else ''})")
        return (f"{self.name}: not used: {_shown(left)}",) if left else ()

    def column(self, wanted: str | int) -> int:
        """The index of a column.

        Parameters
        ----------
        wanted : str or int
            The name of the column or, if there is no such name, its position counted from 1.
        """
        heading, name = self.heading or [], str(wanted)
        if name not in heading and name.removeprefix("#") in heading:
            name = name.removeprefix("#")
        if name not in heading and is_position(wanted):
            if 1 <= int(wanted) <= self.width:
                return int(wanted) - 1
            raise DataError(f"no column {wanted}; the table has {self.width} columns", self.name)
        if heading.count(name) != 1:
            found = "more than one" if name in heading else "no"
            raise DataError(f"{found} column {name!r}; the columns are {self.shown_columns()}", self.name)
        return heading.index(name)

    def rows(self, last: int, tally: Tally) -> Iterator[_Record]:
        """Yield (line number, fields) of the rows with a field in the column `last`; the tally counts all rows."""
        return chain.from_iterable(self.row_blocks(last, tally))

    def row_blocks(self, last: int, tally: Tally) -> Iterator[list[_Record]]:
        """Yield the same rows, many at once; use this or `rows`, not both."""
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
        self._warn(short, f"have fewer fields than the {last + 1} that are needed and were skipped")
        self._warn(long, f"have more fields than the {width} column names; columns count from the left")

    def _warn(self, count_and_first: Sequence[int], what: str) -> None:
        count, first = count_and_first
        if count:
            message = f"{self.name}: {count} rows (first: line {first}) {what}"
            warnings.warn(message, DataWarning, stacklevel=4)


def cell_text(value: Any) -> str:
    """The text of a value; "" for an object that Python, NumPy or pandas has for missing values.

    >>> cell_text(None), cell_text(float("nan")), cell_text("None"), cell_text(1)
    ('', '', 'None', '1')
    """
    text = str(value)
    return "" if not isinstance(value, str) and text.lower() in _MISSING_OBJECTS else text


def is_position(wanted: str | int) -> bool:
    """Whether a column is requested by its position rather than by its name."""
    return isinstance(wanted, int) or (wanted.isascii() and wanted.isdecimal() and len(wanted) < 6)


def _shown(columns: Sequence[str]) -> str:
    listed = ", ".join(name[:80] for name in columns[:_SHOWN])
    return f"{listed} and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else listed


def _without_comments(lines: Iterator[_Numbered]) -> tuple[list[_Numbered], bool]:
    """The first lines without leading comments, and whether the first of them is a heading that starts with "#"."""
    comment, buffer = None, list[_Numbered]()
    for number, line in lines:
        if line.startswith("#") and not buffer:
            comment = (number, line[1:])
            continue
        buffer.append((number, line))
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
    """A tab if there is one; otherwise a comma or semicolon, of which the one that all rows have equally often.

    A list of terms within a field may be separated by semicolons, so that the first row alone does not tell.
    """
    first = lines[0]
    if "\t" in first:
        return "\t"
    steady = [mark for mark in ",;" if mark in first and len({line.count(mark) for line in lines}) == 1]
    return steady[0] if len(steady) == 1 else max(";,", key=first.count)
