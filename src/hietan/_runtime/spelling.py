"""Names that look like others, written another way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

# Slips of the pen are looked for in so many names at most, spelt in an alphabet of at most so many letters, and only in
# words: identifiers with digits lie next to each other, as GO:0008150 does to GO:0008151.
_NAMES, _LETTERS, _SHORTEST = 100, 64, 5


def lookalikes(names: Sequence[str], others: Iterable[str]) -> dict[str, str]:
    """For each name that seems to mean one of `others`: which one.

    Alike are names that differ only in case, blanks and punctuation, and words with one letter too many, missing,
    wrong or swapped with the next.

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
            for slip in _slips(_bare(name), letters):
                if slip in words:
                    found[name] = words[slip]
                    break
    return {name: found[name] for name in names if name in found}


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _is_word(bare: str) -> bool:
    return len(bare) >= _SHORTEST and bare.isalpha()


def _slips(word: str, letters: Sequence[str]) -> Iterator[str]:
    """All that one wrong stroke makes of a word."""
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
