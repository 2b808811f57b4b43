"""Lists of names in files: one per line, or a column of a table."""

from __future__ import annotations

import csv
import os

from hietan._io import restore_text
from hietan._runtime.spelling import suggest
from hietan.exceptions import DataError

OWN_COLUMN = "instance"
"""The column of names in the tables that `hietan predict` writes."""


def read_names(path: str | os.PathLike[str], column: str | None = None) -> tuple[str, ...]:
    """The names in a text file, each once.

    Parameters
    ----------
    path : path
        A file with a name per line, or a table separated by commas or tabs. Lines that begin with # are left out.
    column : str, optional
        The column of the table that holds the names, by its heading. Unless given, it is `instance`, which tables of
        ``hietan predict`` have, or else the first.

    Raises
    ------
    DataError
        If the file is not text, has no such column, or holds no name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "known.csv")
    ...     _ = path.write_text("id,symbol\\n1,daf-2\\n2,daf-16\\n")
    ...     read_names(path, "symbol")
    ('daf-2', 'daf-16')
    """
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = [line for line in file if line.strip() and not line.startswith("#")]
        delimiter = "\t" if lines and "\t" in lines[0] else ","
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"this is not a text file with a name per line, or a table: {error}", name) from None
    header = rows[0] if rows else []
    if column is not None and column not in header:
        raise DataError(f"there is no column {column!r}{suggest(column, header)}", name)
    wanted = column or (OWN_COLUMN if OWN_COLUMN in header else None)
    at = header.index(wanted) if wanted else 0
    listed = rows if wanted is None else rows[1:]
    names = dict.fromkeys(restore_text(row[at]) for row in listed if len(row) > at and row[at])
    if not names:
        raise DataError("there are no names in it; expected a name per line, or a table", name)
    return tuple(names)
