"""Optional libraries, imported only when they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional library, with an error that explains how to install a missing library.

    Parameters
    ----------
    module : str
        The module's name.
    extra : str
        The hietan extra that installs the module.
    purpose : str
        The purpose of the library; the error begins with it.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If the library is not installed; the message names the extra that installs it.

    Examples
    --------
    >>> import_optional("no_such_library", extra="frames", purpose="drawing trees")
    Traceback (most recent call last):
    ...
    ImportError: drawing trees needs no_such_library, which is not installed: pip install "hietan[frames]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # it is installed, but one of its requirements is not
        message = f'{purpose} needs {module}, which is not installed: pip install "hietan[{extra}]"'
        raise ImportError(message) from None
