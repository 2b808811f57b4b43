"""Misspelt names: which known name was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

# Typos are looked for among at most _NAMES names, spelt with at most _LETTERS different letters, because each name is
# compared with every word that one wrong key makes of it. They are looked for only in words of at least _SHORTEST
# letters: identifiers with digits resemble each other without being misspelt, such as GO:0008150 and GO:0008151.
_NAMES, _LETTERS, _SHORTEST = 100, 64, 5


def suggest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The end of an error message about an unknown name: the name that was probably meant, or else all known names.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        The names that are accepted.
    otherwise : str
        What to say instead of all known names, where they are many.

    Examples
    --------
    >>> suggest("hie-tan-light", ["tan", "hie-tan-lite"])
    "; did you mean 'hie-tan-lite'?"
    >>> suggest("forest", ["tan", "hie-tan"])
    '; expected one of tan, hie-tan'
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1) or difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; {otherwise or 'expected one of ' + ', '.join(names)}"


def lookalikes(names: Sequence[str], others: Iterable[str]) -> dict[str, str]:
    """Which of `others` each name seems to mean; names that resemble none of them are left out.

    A name resembles another if they differ only in case, blanks and punctuation, or if they are words of which one has
    a letter too many, missing, wrong or swapped with the next.

    Parameters
    ----------
    names : sequence of str
        The names to look up.
    others : iterable of str
        The names that may be meant.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> lookalikes(["GO_0008150", "age", "anmial"], ["GO:0008150", "GO:0008151", "animal"])
    {'GO_0008150': 'GO:0008150', 'anmial': 'animal'}
    """
    meant: dict[str, str] = {}
    for other in others:
        meant.setdefault(_bare(other), other)
    found = {name: meant[bare] for name in names if (bare := _bare(name)) and bare in meant}
    rest = [name for name in names if name not in found and _is_word(_bare(name))][:_NAMES]
    words = {bare: other for bare, other in meant.items() if _is_word(bare)} if rest else {}
    letters = sorted(set().union(*words)) if words else []
    if len(letters) <= _LETTERS:
        for name in rest:
            for typo in _typos(_bare(name), letters):
                if typo in words:
                    found[name] = words[typo]
                    break
    return {name: found[name] for name in names if name in found}


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _is_word(bare: str) -> bool:
    return len(bare) >= _SHORTEST and bare.isalpha()


def _typos(word: str, letters: Sequence[str]) -> Iterator[str]:
    """Every word that one wrong key makes of a word: a letter dropped, swapped with the next, added or replaced."""
    for i in range(len(word) + 1):
        before, after = word[:i], word[i:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in letters:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
