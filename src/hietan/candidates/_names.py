"""Names of rows: ids, symbols and synonyms, in any case where that is unambiguous; and lists of names in files."""

from __future__ import annotations

import csv
import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hietan._io.tables import restore_text
from hietan._runtime.spelling import suggest
from hietan.datasets import Dataset
from hietan.datasets._readers.files import numbered_lines
from hietan.exceptions import DataError

KINDS = ("id", "symbol", "synonym")
"""The kinds of names by which rows are compared, the most decisive first."""

_NOBODY: frozenset[int] = frozenset()


@dataclass(frozen=True)
class RowNames:
    """All names of some rows.

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
        """The names of the rows of a dataset."""
        return cls(data.instance_names, data.symbols, data.synonyms)

    def by_kind(self, kind: str) -> Iterator[tuple[int, str]]:
        """The names of one kind, each with the position of its row; empty names are left out."""
        if kind == "synonym":
            yield from ((i, name) for i, names in enumerate(self.synonyms) for name in names if name)
        else:
            listed = self.ids if kind == "id" else self.symbols
            yield from ((i, name) for i, name in enumerate(listed) if name)

    def examples(self, kinds: Sequence[str] = KINDS) -> str:
        """A few names of each kind, in words.

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
    """Two rows that share a name: the position of the known row, the name, and the weaker of its two kinds."""

    row: int
    name: str
    kind: str


class NameIndex:
    """The rows of a `RowNames` by name.

    Parameters
    ----------
    names : RowNames
        The names.
    kinds : sequence of str
        The kinds of names to look at.
    """

    def __init__(self, names: RowNames, kinds: Sequence[str] = KINDS) -> None:
        self.kinds = tuple(kind for kind in KINDS if kind in kinds)
        # name -> {row: how weak the kind is by which the row has the name}
        self.exact: dict[str, dict[int, int]] = {}
        for weakness, kind in enumerate(self.kinds):
            for i, name in names.by_kind(kind):
                self.exact.setdefault(name, {}).setdefault(i, weakness)

    @cached_property
    def folded(self) -> Mapping[str, tuple[str, frozenset[int]]]:
        """A spelling and the rows of each name in lower case.

        There are none where spellings that differ in case belong to different rows: `dl` and `Dl` are two genes of the
        fly.
        """
        found: dict[str, tuple[str, frozenset[int]]] = {}
        for spelling, rows in self.exact.items():
            key, of_spelling = spelling.casefold(), frozenset(rows)
            known = found.setdefault(key, (spelling, of_spelling))
            if known[1] != of_spelling:
                found[key] = (spelling, _NOBODY)
        return found

    def rows(self, name: str) -> list[int]:
        """The rows called `name`; where the exact name is unknown, those called so in another case.

        A name that is the id of a row means this row, even if it is a symbol of others; and so on.
        """
        if name in self.exact:
            found = self.exact[name]
            return [i for i, weakness in found.items() if weakness == min(found.values())]
        return sorted(self.folded.get(name.casefold(), ("", _NOBODY))[1])


def match_rows(new: RowNames, known: RowNames, kinds: Sequence[str] = KINDS) -> tuple[NameMatch | None, ...]:
    """Which of the known rows each new row is, by any of its names; None for a row that shares no name with them.

    Parameters
    ----------
    new, known : RowNames
        The names of the rows.
    kinds : sequence of {"id", "symbol", "synonym"}
        The kinds of names to compare; each kind is compared with every other, because data sets disagree about which
        name is the id.

    Raises
    ------
    ValueError
        If a kind is not known.

    Examples
    --------
    >>> new = RowNames(("P1", "P2", "P3"), ("daf-2", "DAF-16", "unc-51"))
    >>> known = RowNames(("daf-2", "daf-16"))
    >>> [match and match.row for match in match_rows(new, known)]
    [0, 1, None]
    """
    check_kinds(kinds)
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
    """The known rows called so in another case, if the case distinguishes rows on neither side."""
    key = name.casefold()
    if key not in index.folded or not own.folded[key][1]:
        return {}
    spelling, rows = index.folded[key]
    return {row: index.exact[spelling][row] for row in rows}


def check_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds of names that are not known; raises ValueError."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if isinstance(kinds, str) or unknown or not kinds:
        raise ValueError(f"match is {kinds!r}; expected one or more of {', '.join(KINDS)}")


def find_rows(data: Dataset, names: Sequence[str]) -> list[int]:
    """The positions of rows, by id, or by a symbol or synonym that no other row has, in any case.

    Parameters
    ----------
    data : Dataset
        The dataset.
    names : sequence of str
        The names to look for.

    Raises
    ------
    DataError
        If the dataset has no such row, or several; the message suggests what may be meant.
    """
    index = NameIndex(RowNames.of(data))
    found = []
    for name in names:
        rows = index.rows(name) if name else []
        if len(rows) > 1:
            ids = ", ".join(repr(data.instance_names[i]) for i in rows[:5])
            raise DataError(
                f"{name!r} is a name of {len(rows)} {data.row_noun}s of {data.name or 'the dataset'}; "
                f"use the id of one of them: {ids}{' ...' if len(rows) > 5 else ''}"
            )
        if not rows:
            raise DataError(
                f"{data.name or 'the dataset'} has no {data.row_noun} {name!r}{_suggestion(name, index, data)}"
            )
        found += rows
    return found


def _suggestion(name: str, index: NameIndex, data: Dataset) -> str:
    """The end of a message about an unknown row: a name that resembles it, or what the rows are called."""
    if name:
        near = difflib.get_close_matches(name.casefold(), index.folded, n=1, cutoff=0.75)
        if near:
            return f"; did you mean {index.folded[near[0]][0]!r}?"
    return f"; it has {RowNames.of(data).examples()}" if data.instance_names else "; it has no rows"


OWN_COLUMN = "instance"
"""The column of names in the tables that `hietan predict` writes."""


def read_names(path: str | os.PathLike[str], column: str | None = None) -> tuple[str, ...]:
    """The names in a text file, each once.

    Parameters
    ----------
    path : path
        A file with a name per line, or a table separated by commas or tabs: plain, `.gz`, or a `.zip` that holds one
        file, in UTF-8 or UTF-16. Lines that begin with # are left out.
    column : str, optional
        The column of the table that holds the names, by its heading. Unless given, it is `instance`, which tables of
        ``hietan predict`` have, or else the first.

    Raises
    ------
    DataError
        If the file is not text, has no such column, or holds no name.

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
        raise DataError(f"this is not a text file with a name per line, or a table: {error}", name) from None
    header = rows[0] if rows else []
    if column is not None and column not in header:
        raise DataError(f"there is no column {column!r}{suggest(column, header)}", name)
    wanted = column or (OWN_COLUMN if OWN_COLUMN in header else None)
    at = header.index(wanted) if wanted else 0
    listed = rows if wanted is None else rows[1:]
    names = dict.fromkeys(restore_text(row[at]) for row in listed if len(row) > at and row[at])
    if not names:
        raise DataError("there are no names in it; expected a name per line, or a table", name)
    return tuple(names)
