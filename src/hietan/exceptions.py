"""Every error and warning of the package, so that a caller can tell them from other libraries' and from bugs.

``except HietanError`` catches them all. Errors about values are `ValueError` as well.
"""

from __future__ import annotations


class HietanError(Exception):
    """The base class of all errors that hietan raises on purpose, other than plain argument errors."""


class DataError(HietanError, ValueError):
    """A file does not hold what it should; the message names the file and, where there is one, the line.

    >>> raise DataError("expected 15 columns, found 3", "wb.gaf", 12)
    Traceback (most recent call last):
    ...
    hietan.exceptions.DataError: wb.gaf, line 12: expected 15 columns, found 3
    """

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        where = ", ".join(filter(None, [source, "" if line is None else f"line {line}"]))
        super().__init__(f"{where}: {message}" if where else message)
        self.source = source
        self.line = line


class CatalogueError(HietanError, ValueError):
    """A name that the catalogue does not know, or a method that cannot be made as asked."""


class ModelFileError(HietanError, ValueError):
    """A file that is not a model of this package, or a damaged or forged one."""


class StudyError(HietanError, ValueError):
    """A study that cannot be run or read as asked: one line says why, and nothing was written."""


class DataWarning(UserWarning):
    """Something in the data was skipped, repaired or lost; the message counts it."""


class HierarchyWarning(UserWarning):
    """The data do not fit the hierarchy: a feature is 1 where an ancestor is 0, or columns seem to be misspelt."""
