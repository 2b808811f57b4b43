"""Helpers for error messages about unknown and misspelt names."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

_SHORTEST = 5  # letters of a word in which a typo is looked for
_MOST = 10  # words in which typos are looked for: each is compared with all known words


def suggest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return text that ends an error message about an unknown name: the closest name, or a list of all names.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        The names that are accepted.
    otherwise : str
        The text to use instead of all known names, if there are many.

    Examples
    --------
    >>> suggest("hie-tan-light", ["tan", "hie-tan-lite"])
    "; did you mean 'hie-tan-lite'?"
    >>> suggest("forest", ["tan", "hie-tan"])
    '; expected one of tan, hie-tan'
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1) or difflib.get_close_matches(name, names, n=1)
    return (
        f"; did you mean {near[0]!r}?" if near else f"; {otherwise or 'expected one of ' + ', '.join(names)}"
    )


def lookalikes(names: Sequence[str], others: Iterable[str]) -> dict[str, str]:
    """Map each name to the most similar name in `others`. Names without a similar name are left out.

    A name resembles another if they differ only in case, blanks and punctuation, or if `difflib` finds them similar.
    Identifiers with digits are not words: GO:0008150 and GO:0008151 resemble each other without being misspelt.

    Examples
    --------
    >>> lookalikes(["GO_0008150", "age", "anmial"], ["GO:0008150", "GO:0008151", "animal"])
    {'GO_0008150': 'GO:0008150', 'anmial': 'animal'}
    """
    meant: dict[str, str] = {}
    for other in others:
        meant.setdefault(bare_name(other), other)
    words, tried, found = list(filter(_is_word, meant)), 0, {}
    for name in names:
        bare = bare_name(name)
        if bare and bare in meant:
            found[name] = meant[bare]
        elif _is_word(bare) and tried < _MOST:
            tried += 1
            for near in difflib.get_close_matches(bare, words, n=1, cutoff=0.8):
                found[name] = meant[near]
    return found


def bare_name(name: str) -> str:
    """Return the letters and digits of a name, in lower case.

    >>> bare_name("K56.3")
    'k563'
    """
    return "".join(filter(str.isalnum, name)).casefold()


def by_bare_name(names: Iterable[str]) -> dict[str, str]:
    """Return the name for each `bare_name` that belongs to a single name.

    >>> by_bare_name(["K56.3", "A1.0", "A.10"])
    {'k563': 'K56.3'}
    """
    listed = list(names)
    bare = list(map(bare_name, listed))
    counts = Counter(bare)
    return {short: name for short, name in zip(bare, listed, strict=True) if counts[short] == 1}


def _is_word(bare: str) -> bool:
    return len(bare) >= _SHORTEST and bare.isalpha()


def refuse_unknown(names: Iterable[str], known: Collection[str], where: str) -> None:
    """Raise ValueError for unknown names. The message begins with `where`."""
    unknown = list(dict.fromkeys(name for name in names if name not in known))
    if unknown:
        listed = first_few(list(known)) or "there are none"
        raise ValueError(f"{where} {first_few(unknown)}; expected only features of the hierarchy ({listed})")


def first_few(names: Sequence[str], at_most: int = 3) -> str:
    """Return the first few names and the number of remaining names as text.

    >>> first_few(["a", "b", "c", "d"], at_most=2)
    "'a', 'b' and 2 more"
    """
    more = len(names) - at_most
    return ", ".join(map(repr, names[:at_most])) + (f" and {more:,} more" if more > 0 else "")


def clip(value: object, width: int = 60) -> str:
    """Return a value's representation, cut to a given width."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
