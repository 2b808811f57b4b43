"""Every error and warning of the package, distinguished from those of other libraries and from bugs.

``except HietanError`` catches all errors; each of them is also a `ValueError`.
"""

from __future__ import annotations


class HietanError(Exception):
    """The base class of all errors that hietan raises on purpose, other than plain argument errors."""


class DataError(HietanError, ValueError):
    """A file does not hold what it should.

    Parameters
    ----------
    message : str
        What is wrong, and what was expected.
    source : str
        The name of the file; the message begins with it.
    line : int, optional
        The number of the line.

    Examples
    --------
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
    """The catalogue does not know a name, or cannot make a method with the given settings."""


class ModelFileError(HietanError, ValueError):
    """A file is not a model of this package, or is damaged or forged."""


class StudyError(HietanError, ValueError):
    """A study cannot be run or read with these settings; nothing was written."""


class DataWarning(UserWarning):
    """Something in the data was skipped, repaired or lost; the message counts it."""


class HierarchyWarning(UserWarning):
    """The data do not fit the hierarchy: a feature is 1 where an ancestor is 0, say; or it seems to be upside down."""
