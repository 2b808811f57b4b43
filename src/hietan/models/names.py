"""Find rows by id, symbol or synonym, and read files that list names."""

from __future__ import annotations

import csv
import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Self

from hietan._io.tables import restore_text
from hietan._runtime.spelling import suggest
from hietan.datasets import Dataset
from hietan.datasets._readers.files import numbered_lines
from hietan.exceptions import DataError

KINDS = ("id", "symbol", "synonym")
"""The kinds of names by which rows are compared, strongest first."""
NO_KIND = "none"
"""The name for comparing no names at all."""

_NOBODY: frozenset[int] = frozenset()


@dataclass(frozen=True)
class RowNames:
    """The ids, symbols and synonyms of some rows.

    Attributes
    ----------
    ids : tuple of str
        The name of each row in its dataset.
    symbols : tuple of str
        The symbol of each row, "" for a row without one; empty if no row has one.
    synonyms : tuple of tuple of str
        The other names of each row; empty if no row has any.
    """

    ids: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, data: Dataset) -> RowNames:
        """Return the names of a dataset's rows."""
        return cls(data.instance_names, data.symbols, data.synonyms)

    def by_kind(self, kind: str) -> Iterator[tuple[int, str]]:
        """Yield each name of one kind with its row's position. Empty names are skipped."""
        if kind == "synonym":
            yield from ((i, name) for i, names in enumerate(self.synonyms) for name in names if name)
        else:
            listed = self.ids if kind == "id" else self.symbols
            yield from ((i, name) for i, name in enumerate(listed) if name)

    def examples(self, kinds: Sequence[str] = KINDS) -> str:
        """Return a few names of each kind as text.

        >>> RowNames(("P12", "P13"), ("daf-2", ""), ((), ("b1",))).examples()
        "ids such as 'P12', 'P13', symbols such as 'daf-2' and synonyms such as 'b1'"
        """
        parts = []
        for kind in kinds:
            names = list(dict.fromkeys(name for _, name in self.by_kind(kind)))[:2]
            if names:
                parts.append(f"{kind}s such as {', '.join(map(repr, names))}")
        return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "no names"


@dataclass(frozen=True)
class NameMatch:
    """A match between a new row and a known row that share a name, with the name and the weaker of its two kinds.

    `row` is None if only hashes of the known names are left.
    """

    row: int | None
    name: str
    kind: str


class NameIndex:
    """An index of the rows in a `RowNames` by name.

    Parameters
    ----------
    names : RowNames
        The names.
    kinds : sequence of str
        The kinds of names to search.
    """

    def __init__(self, names: RowNames, kinds: Sequence[str] = KINDS) -> None:
        self.kinds = tuple(kind for kind in KINDS if kind in kinds)
        # name -> {row: how weak the kind of name is for this row}
        self.exact: dict[str, dict[int, int]] = {}
        for weakness, kind in enumerate(self.kinds):
            for i, name in names.by_kind(kind):
                self.exact.setdefault(name, {}).setdefault(i, weakness)

    @cached_property
    def folded(self) -> Mapping[str, tuple[str, frozenset[int]]]:
        """A mapping from each name in lower case to the name's spelling and rows.

        A name is left out if spellings that differ in case belong to different rows. For example, `dl` and `Dl` are
        two fly genes.
        """
        found: dict[str, tuple[str, frozenset[int]]] = {}
        for spelling, rows in self.exact.items():
            key, of_spelling = spelling.casefold(), frozenset(rows)
            known = found.setdefault(key, (spelling, of_spelling))
            if known[1] != of_spelling:
                found[key] = (spelling, _NOBODY)
        return found

    def rows(self, name: str) -> list[int]:
        """Return the rows called `name`. If the exact name is unknown, ignore case.

        An id takes precedence over a symbol, and a symbol over a synonym.
        """
        if name in self.exact:
            found = self.exact[name]
            return [i for i, weakness in found.items() if weakness == min(found.values())]
        return sorted(self.folded.get(name.casefold(), ("", _NOBODY))[1])


@dataclass(frozen=True)
class HashedNames:
    """Sorted hashes of row names, which recognise rows without containing their names or their order.

    Attributes
    ----------
    salt : str
        Text that is hashed with each name, so that two datasets with the same name have different hashes.
    ids, symbols, synonyms : tuple of str
        The hashes of the names of each kind, as spelled, and ignoring case if case distinguishes no rows.
    """

    salt: str
    ids: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: RowNames) -> Self:
        """Return the hashes of these names."""
        index = NameIndex(names)
        salt = blake2b("\0".join(sorted(index.exact)).encode(), digest_size=16).hexdigest()
        hashes: list[set[str]] = [set() for _ in KINDS]
        for name, rows in index.exact.items():
            hashes[min(rows.values())].add(_name_hash(salt, name))
        for folded, (spelling, of_spelling) in index.folded.items():
            if of_spelling:
                weakness = min(index.exact[spelling].values())
                hashes[weakness].add(_name_hash(salt, folded, ignoring_case=True))
        return cls(salt, *(tuple(sorted(of_kind)) for of_kind in hashes))

    def examples(self, kinds: Sequence[str] = KINDS) -> str:
        """Return text that stands for example names."""
        return "hashes of names"

    def match(self, new: RowNames, kinds: Sequence[str]) -> tuple[NameMatch | None, ...]:
        """Return, for each new row, a match without a row if one of its names is known; see `match_rows`."""
        own = NameIndex(new, kinds)
        known = [frozenset(getattr(self, f"{kind}s")) for kind in own.kinds]
        best: dict[int, tuple[int, str]] = {}
        for name, rows in own.exact.items():
            hashes = [_name_hash(self.salt, name)]
            if own.folded[name.casefold()][1]:
                hashes.append(_name_hash(self.salt, name.casefold(), ignoring_case=True))
            weaknesses = [k for each in hashes for k, of_kind in enumerate(known) if each in of_kind]
            if weaknesses:
                for i, weakness in rows.items():
                    match = (max(weakness, weaknesses[0]), name)
                    best[i] = min(best.get(i, match), match)
        return tuple(
            NameMatch(None, best[i][1], own.kinds[best[i][0]]) if i in best else None
            for i in range(len(new.ids))
        )


def _name_hash(salt: str, name: str, *, ignoring_case: bool = False) -> str:
    kind = b"folded" if ignoring_case else b"exact"
    return blake2b(name.encode(), digest_size=16, salt=bytes.fromhex(salt)[:16], person=kind).hexdigest()


def match_rows(
    new: RowNames, known: RowNames | HashedNames, kinds: Sequence[str] = KINDS
) -> tuple[NameMatch | None, ...]:
    """Return, for each new row, the known row with the same name, or None if no known row has the name.

    Parameters
    ----------
    new : RowNames
        The names of the new rows.
    known : RowNames or HashedNames
        The names of the known rows.
    kinds : sequence of {"id", "symbol", "synonym"}, or ("none",)
        The kinds of names to compare. Each kind is compared with every other kind, because datasets disagree about
        which name is the id.

    Raises
    ------
    ValueError
        If a kind is unknown.

    Examples
    --------
    >>> new = RowNames(("P1", "P2", "P3"), ("daf-2", "DAF-16", "unc-51"))
    >>> known = RowNames(("daf-2", "daf-16"))
    >>> [match and match.row for match in match_rows(new, known)]
    [0, 1, None]
    >>> [match and match.name for match in match_rows(new, HashedNames.of(known))]
    ['daf-2', 'DAF-16', None]
    """
    kinds = check_kinds(kinds)
    if isinstance(known, HashedNames):
        return known.match(new, kinds)
    index, own = NameIndex(known, kinds), NameIndex(new, kinds)
    best: dict[int, tuple[int, int, str]] = {}
    for name, rows in own.exact.items():
        found = index.exact.get(name)
        if found is None:
            found = _in_another_case(name, own, index)
        for i, weakness in rows.items() if found else ():
            at = min(found, key=lambda row: (found[row], row))
            match = (max(weakness, found[at]), at, name)
            best[i] = min(best.get(i, match), match)
    return tuple(
        NameMatch(best[i][1], best[i][2], index.kinds[best[i][0]]) if i in best else None
        for i in range(len(new.ids))
    )


def _in_another_case(name: str, own: NameIndex, index: NameIndex) -> dict[int, int]:
    """Return the known rows with this name in another case, if case does not distinguish any known or new rows."""
    key = name.casefold()
    if key not in index.folded or not own.folded[key][1]:
        return {}
    spelling, rows = index.folded[key]
    return {row: index.exact[spelling][row] for row in rows}


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of names to compare: none of them for "none". Raise ValueError for unknown kinds."""
    if not isinstance(kinds, str) and list(kinds) == [NO_KIND]:
        return ()
    unknown = [kind for kind in kinds if kind not in KINDS]
    if isinstance(kinds, str) or unknown or not kinds:
        raise ValueError(f"match is {kinds!r}; expected one or more of {', '.join(KINDS)}, or only {NO_KIND}")
    return tuple(kinds)


def find_rows(data: Dataset, names: Sequence[str]) -> list[int]:
    """Return the positions of rows, found by id or by a unique symbol or synonym, in any case.

    Parameters
    ----------
    data : Dataset
        The dataset.
    names : sequence of str
        The names to look for.

    Raises
    ------
    DataError
        If the dataset has no such row, or several; the message suggests similar names.
    """
    index = NameIndex(RowNames.of(data))
    found = []
    for name in names:
        rows = index.rows(name) if name else []
        if len(rows) > 1:
            ids = ", ".join(repr(data.instance_names[i]) for i in rows[:5])
            raise DataError(
                f"{len(rows)} {data.row_noun}s in {data.name or 'the dataset'} have the name {name!r}; use one "
                f"of these ids: {ids}{' ...' if len(rows) > 5 else ''}"
            )
        if not rows:
            raise DataError(
                f"{data.name or 'the dataset'} has no {data.row_noun} {name!r}{_suggestion(name, index, data)}"
            )
        found += rows
    return found


def _suggestion(name: str, index: NameIndex, data: Dataset) -> str:
    """Return the end of a message about an unknown row: a similar name, or example row names."""
    if name:
        near = difflib.get_close_matches(name.casefold(), index.folded, n=1, cutoff=0.75)
        if near:
            return f"; did you mean {index.folded[near[0]][0]!r}?"
    return f"; it contains {RowNames.of(data).examples()}" if data.instance_names else "; it contains no rows"


OWN_COLUMN = "instance"
"""The column of names in the tables that `hietan predict` writes."""


def read_names(path: str | os.PathLike[str], column: str | None = None) -> tuple[str, ...]:
    """Return the names in a text file, without repetitions.

    Parameters
    ----------
    path : path
        A file with one name per line, or a table separated by commas or tabs: plain, `.gz`, or a `.zip` with one file,
        in UTF-8 or UTF-16. Lines that begin with # are ignored.
    column : str, optional
        The column of names, by its header [default: `instance`, as in the tables of ``hietan predict``, or the first].

    Raises
    ------
    DataError
        If the file is not text, has no such column, or contains no name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "known.csv")
    ...     _ = path.write_text("id,symbol\\n1,daf-2\\n2,daf-16\\n")
    ...     read_names(path, "symbol")
    ('daf-2', 'daf-16')
    """
    name = os.fspath(path)
    try:
        lines = [line for _, line in numbered_lines(path) if line.strip() and not line.startswith("#")]
        delimiter = "\t" if lines and "\t" in lines[0] else ","
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise DataError(
            f"the file cannot be read as a table ({error}); expected one name per line, or a table", name
        ) from None
    header = rows[0] if rows else []
    if column is not None and column not in header:
        raise DataError(f"there is no column {column!r}{suggest(column, header)}", name)
    wanted = column or (OWN_COLUMN if OWN_COLUMN in header else None)
    at = header.index(wanted) if wanted else 0
    listed = rows if wanted is None else rows[1:]
    names = dict.fromkeys(restore_text(row[at]) for row in listed if len(row) > at and row[at])
    if not names:
        raise DataError("the file contains no names; expected one name per line, or a table", name)
    return tuple(names)
