"""Names that nothing is called by, and the nearest that something is; the names of numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str]) -> str:
    """The nearest names, as the end of a sentence.

    >>> suggest("hie-tan-light", ["tan", "hie-tan-lite"])
    "; did you mean 'hie-tan-lite'?"
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1) or difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(names)}"


def exact(number: float) -> str:
    """A number in as few digits as say it exactly.

    >>> exact(1.0), exact(0.05), exact(0.12345678)
    ('1', '0.05', '0.12345678')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))
