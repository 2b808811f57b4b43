"""Optional libraries, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a library that not every installation has.

    Parameters
    ----------
    module : str
        The name of the module.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What it is needed for; the error begins with it.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If the library is not installed; the message says which extra installs it.

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
            raise  # it is installed, but something that it needs is not: that message says more
        message = f'{purpose} needs {module}, which is not installed: pip install "hietan[{extra}]"'
        raise ImportError(message) from None
