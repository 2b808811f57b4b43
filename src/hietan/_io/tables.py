"""CSV tables in which spreadsheets do not read any text as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Spreadsheets take a cell that begins with one of = + - @ (also in full width), a tab or a line break for a formula,
# quoted or not. Such a *text* gets an apostrophe in front of it, which spreadsheets show as text. So does a text that
# would look as if it were marked already, so that `restore_text` gives back every text exactly. Numbers are never
# marked: what is text is decided by the type of a cell, not by what is in it.
MARK = "'"
DANGEROUS = "=+-@＝＋－＠\t\r\n"
"""The characters at the start of a text that can make a spreadsheet read the text as a formula."""
_SUSPECT = (MARK, *DANGEROUS)  # no other text needs a mark
_ENDING = ";\r\n"
_LINE_BREAKS = {ord(c): repr(c)[1:-1] for c in map(chr, [*range(32), 127, 0x85, 0x2028, 0x2029])}


def neutralise_text(text: str) -> str:
    """Return the text, with an apostrophe in front if a spreadsheet would read the text as a formula.

    >>> neutralise_text("=1+1"), neutralise_text("daf-2"), neutralise_text("'='")
    ("'=1+1", 'daf-2', "''='")
    """
    return MARK + text if (text and text[0] in DANGEROUS) or _is_marked(text) else text


def restore_text(text: str) -> str:
    """Return a cell's original text by undoing `neutralise_text`.

    >>> restore_text("'=1+1"), restore_text("daf-2"), restore_text("''='"), restore_text("'tis")
    ('=1+1', 'daf-2', "'='", "'tis")
    """
    return text[1:] if _is_marked(text) else text


def _is_marked(text: str) -> bool:
    return text.startswith(MARK) and text[1:2] in (MARK, *DANGEROUS)


def csv_text(header: Sequence[str] | None, rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV with full-precision floats, empty cells for None and NaN, and text that is safe in
    spreadsheets.

    Parameters
    ----------
    header : sequence of str or None
        The column names to write, or None to write no header.
    rows : iterable of iterables
        Each row's cells. Only str values count as text, so pass numbers as numbers.
    """
    text = io.StringIO()
    # The csv module quotes cells that hold a character of the line ending: a carriage return, and a semicolon, at which
    # some spreadsheets divide.
    writer = csv.writer(_Lines(text), lineterminator=_ENDING)
    if header is not None:
        writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def comment_line(text: str) -> str:
    """Return a comment line that begins with #, for the top of a table.

    Any text becomes a single harmless line.

    >>> comment_line("classes a\\nb and c,=d")
    "# classes a\\\\nb and c,'=d\\n"
    """
    line = text.translate(_LINE_BREAKS).replace('"', MARK)  # a quote might make cells of several lines
    return f"# {','.join(map(neutralise_text, line.split(',')))}\n"


def read_csv(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a table written by `csv_text`, each as a dict from column name to text."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = [restore_text(name) for name in next(rows, [])]
        for row in filter(None, rows):
            # Without cells beyond the columns, and without those that are missing.
            cells = zip(header, row, strict=False)
            yield {name: restore_text(cell) if cell[:1] == MARK else cell for name, cell in cells}


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return neutralise_text(value) if value[:1] in _SUSPECT else value
    return None if value != value else value  # NaN


class _Lines:
    """A target for the csv module that changes each line ending to one character."""

    def __init__(self, file: io.StringIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        """Write a line that the csv module made, ending in a plain line break."""
        return self._file.write(line.removesuffix(_ENDING) + "\n")
