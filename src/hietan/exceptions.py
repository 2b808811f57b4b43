"""hietan's errors and warnings, which are distinct from other libraries' errors and from bugs.

``except HietanError`` catches all errors; each of them is also a `ValueError`.
"""

from __future__ import annotations


class HietanError(Exception):
    """The base class of all errors that hietan raises on purpose, other than plain argument errors."""


class DataError(HietanError, ValueError):
    """An error for a file with invalid content.

    Parameters
    ----------
    message : str
        The problem, and what was expected.
    source : str
        The file name; the message begins with it.
    line : int, optional
        The line number.

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
    """An error for an unknown name, or for settings with which a method cannot be made."""


class ModelFileError(HietanError, ValueError):
    """An error for a file that is not a hietan model, or that is damaged or forged."""


class StudyError(HietanError, ValueError):
    """An error for a study that cannot be run or read with these settings. Nothing was written."""


class DataWarning(UserWarning):
    """A warning about data that were skipped, repaired or lost. The message gives their number."""


class FailedMethodWarning(RuntimeWarning):
    """A warning that a study's method failed, on how many datasets, and with which error."""


class HierarchyWarning(UserWarning):
    """A warning that the data do not match the hierarchy, for example because edges seem to be reversed."""
