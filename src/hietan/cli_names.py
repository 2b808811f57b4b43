"""Names that nothing is called by, and the nearest that something is."""

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
