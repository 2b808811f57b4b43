"""What goes wrong with data, as types that a caller can tell from a mistake of their own."""

from __future__ import annotations


class DataError(ValueError):
    """A file does not hold what it should; the message names the file and, where there is one, the line.

    >>> raise DataError("expected 15 columns, found 3", "wb.gaf", 12)
    Traceback (most recent call last):
    ...
    hietan.datasets._errors.DataError: wb.gaf, line 12: expected 15 columns, found 3
    """

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        where = ", ".join(filter(None, [source, "" if line is None else f"line {line}"]))
        super().__init__(f"{where}: {message}" if where else message)
        self.source = source
        self.line = line


class DataWarning(UserWarning):
    """Something was skipped, mended or lost on the way; the message counts it."""
