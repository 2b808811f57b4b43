"""Tables of labels: one row per statement about a gene, comma- or tab-separated."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from hietan.datasets.account import Tally
from hietan.datasets.readers.files import TextSource, numbered_lines, source_name
from hietan.exceptions import DataError, DataWarning

CONFLICT_POLICIES = ("drop", "first", "majority", "raise")
_OTHER = ""  # stands for any label outside the mapping


@dataclass(frozen=True)
class Labels:
    """The label of each id.

    Attributes
    ----------
    by_id : mapping of str to str
        The label of each id, in file order.
    classes : tuple of str
        The names of the classes, in the order of their numbers.
    conflicting : tuple of str
        The ids that were left out because their rows have different labels.
    tally : Tally
        Counts the rows of the table. Rows beyond the first of an id are `changed`, not dropped.
    name : str
        The name of the file, for messages.
    """

    by_id: Mapping[str, str]
    classes: tuple[str, ...]
    conflicting: tuple[str, ...] = ()
    tally: Tally = field(default_factory=lambda: Tally("label rows"), compare=False)
    name: str = ""

    def __len__(self) -> int:
        return len(self.by_id)

    def __repr__(self) -> str:
        counts = Counter(self.by_id.values())
        classes = ", ".join(f"{label} {counts[label]}" for label in self.classes)
        return f"<Labels {self.name}: {len(self)} ids; {classes}>"


def read_labels(
    source: TextSource,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    mapping: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    on_conflict: str = "drop",
) -> Labels:
    """Read a table of labels.

    The first row holds the names of the columns. A table with tabs in its first row is read without quoting, any
    other as CSV, separated by commas or semicolons. Rows without id or label, or with too few fields, are skipped
    and counted.

    Parameters
    ----------
    source : path or open file
        The table: plain, `.gz`, a `.zip` that holds one file, or a path into an archive: "genage.zip/worm.tsv".
    id_column, label_column : str, optional
        The columns of ids and labels. They are needed unless the table has just these two columns, in this order.
    mapping : dict, optional
        Maps labels of the table to names of classes. Other labels are left out, but an id that has labels of
        both kinds is in conflict. Classes are numbered in the order of the mapping; without a mapping, in
        alphabetical order.
    where : dict, optional
        Maps columns to values: only rows with these values count.
    on_conflict : {"drop", "first", "majority", "raise"}
        What to do with an id whose rows have different labels: leave it out, take the first label, take the
        most frequent one (and leave the id out at a tie), or fail.

    Returns
    -------
    Labels

    Examples
    --------
    >>> import io
    >>> table = "gene,effect\\ndaf-2,anti\\ndaf-16,pro\\nage-1,anti\\nage-1,pro\\n"
    >>> labels = read_labels(io.StringIO(table), mapping={"anti": "shortens", "pro": "prolongs"})
    >>> dict(labels.by_id), labels.conflicting
    ({'daf-2': 'shortens', 'daf-16': 'prolongs'}, ('age-1',))
    """
    check_policy(on_conflict)
    table = _Table(source)
    id_at, label_at = table.columns(id_column, label_column)
    tests = [(table.column(column), value) for column, value in (where or {}).items()]
    tally = Tally("label rows")
    given: dict[str, list[tuple[str, int]]] = {}  # (label, line) of each row of an id
    for number, row in table.rows(max([id_at, label_at, *(at for at, _ in tests)]), tally):
        name, label = row[id_at].strip(), row[label_at].strip()
        if any(row[at].strip() != value for at, value in tests):
            tally.drop("not asked for")
        elif not name or not label:
            tally.drop("no label" if name else "no id")
        elif mapping is None or label in mapping:
            given.setdefault(name, []).append((label if mapping is None else str(mapping[label]), number))
        else:
            given.setdefault(name, []).append((_OTHER, number))
    return _one_label_each(given, on_conflict, mapping, tally, table.name)


def labels_from_mapping(labels: Mapping[str, Any]) -> Labels:
    """Labels from a dict {id: label}; the classes are numbered in alphabetical order."""
    by_id = {str(name): str(label) for name, label in labels.items()}
    return Labels(by_id, tuple(sorted(set(by_id.values()))), tally=Tally("label rows", read=len(by_id)))


def resolve_conflict(labels: Sequence[str], on_conflict: str) -> str | None:
    """The label to use for an id that was given all of these, or None to leave the id out.

    The policy "raise" is left to callers, who know what to name in the error.
    """
    if len(set(labels)) == 1 or on_conflict == "first":
        return labels[0]
    if on_conflict == "majority":
        (best, most), (_, second) = Counter(labels).most_common(2)
        return best if most > second else None
    return None


def check_policy(on_conflict: str) -> None:
    """Refuse anything that is not one of the `CONFLICT_POLICIES`."""
    if on_conflict not in CONFLICT_POLICIES:
        raise ValueError(f"on_conflict is {on_conflict!r}; expected one of {', '.join(CONFLICT_POLICIES)}")


def _one_label_each(
    given: Mapping[str, list[tuple[str, int]]],
    on_conflict: str,
    mapping: Mapping[str, str] | None,
    tally: Tally,
    source: str,
) -> Labels:
    by_id: dict[str, str] = {}
    conflicting = []
    for name, statements in given.items():
        labels = [label for label, _ in statements]
        disagree = len(set(labels)) > 1
        if disagree and on_conflict == "raise":
            other = next(line for label, line in statements if label != labels[0])
            raise DataError(f"second, different label for {name!r}", source, other)
        label = resolve_conflict(labels, on_conflict)
        if label:
            by_id[name] = label
            tally.change("further row of an id", len(labels) - 1)
        elif disagree:
            conflicting.append(name)
            tally.drop("conflicting labels", len(labels))
        else:
            tally.drop("label not in the mapping", len(labels))
    if not by_id:
        raise DataError(f"no label left of {tally.read} rows: {dict(tally.dropped)}", source)
    classes = dict.fromkeys(map(str, mapping.values())) if mapping else sorted(set(by_id.values()))
    return Labels(by_id, tuple(classes), tuple(conflicting), tally, source)


class _Table:
    """The rows of a CSV or TSV file, and where its columns are."""

    def __init__(self, source: TextSource) -> None:
        self.name = source_name(source)
        lines = (pair for pair in numbered_lines(source) if pair[1].strip())
        first = next(lines, None)
        if first is None:
            raise DataError("the file is empty; expected a table with a row of column names", self.name)
        self._line = first[0]
        self._rows = self._records(first, lines)
        _, heading = next(self._rows)
        self._heading = [column.strip() for column in heading]

    def _records(
        self, first: tuple[int, str], lines: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, list[str]]]:
        delimiter = max("\t;,", key=first[1].count) if "\t" not in first[1] else "\t"
        quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        reader = csv.reader(
            self._follow(chain([first], lines)), delimiter=delimiter, quoting=quoting, strict=True
        )
        while True:
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise DataError(f"not valid CSV: {error}", self.name, self._line) from error
            yield self._line, record

    def _follow(self, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
        for self._line, line in lines:
            yield line

    def column(self, name: str) -> int:
        """The position of the column of this name."""
        if self._heading.count(name) != 1:
            found = "more than one" if name in self._heading else "no"
            raise DataError(f"{found} column {name!r}; the columns are {', '.join(self._heading)}", self.name)
        return self._heading.index(name)

    def columns(self, id_column: str | None, label_column: str | None) -> tuple[int, int]:
        """The positions of the columns of ids and labels."""
        if len(self._heading) != 2 and (id_column is None or label_column is None):
            raise DataError(
                "say which columns hold ids and labels (id_column, label_column); "
                f"the columns are {', '.join(self._heading)}",
                self.name,
            )
        id_at = 0 if id_column is None else self.column(id_column)
        return id_at, 1 if label_column is None else self.column(label_column)

    def rows(self, last: int, tally: Tally) -> Iterator[tuple[int, list[str]]]:
        """(line number, fields) of the rows that have a field in the column `last`."""
        width, short, long = len(self._heading), list[int](), list[int]()
        for number, row in self._rows:
            tally.read += 1
            if len(row) > width:
                long.append(number)
            if len(row) > last:
                yield number, row
            else:
                short.append(number)
                tally.drop("too few fields")
        self._warn(short, f"have fewer fields than the {last + 1} that are needed and were skipped")
        self._warn(long, f"have more fields than the {width} column names; columns count from the left")

    def _warn(self, lines: Sequence[int], what: str) -> None:
        if lines:
            message = f"{self.name}: {len(lines)} rows (first: line {lines[0]}) {what}"
            warnings.warn(message, DataWarning, stacklevel=4)
