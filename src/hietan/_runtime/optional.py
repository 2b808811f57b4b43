"""Optional libraries, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra of this package brings it.

    >>> import_optional("no_such_library", extra="frames", purpose="drawing trees")
    Traceback (most recent call last):
    ...
    ImportError: drawing trees needs no_such_library, which is not installed: pip install "hietan[frames]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # it is there, but something it needs is not: that message is the better one
        message = f'{purpose} needs {module}, which is not installed: pip install "hietan[{extra}]"'
        raise ImportError(message) from None
