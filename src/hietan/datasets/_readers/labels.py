"""Label tables, with one comma- or tab-separated row per statement about a gene."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hietan._runtime.spelling import first_few
from hietan.datasets._build_log import CONFLICTING_LABELS, NO_ID, NO_LABEL, Tally
from hietan.datasets._readers.annotation_formats import ID_NAMES
from hietan.datasets._readers.files import TextSource
from hietan.datasets._readers.tables import MISSING_VALUES, Table, cell_text, is_position
from hietan.exceptions import DataError
from hietan.hierarchy._edge_columns import find_names

CONFLICT_POLICIES = ("drop", "first", "majority", "raise")
_LABEL = re.compile("label|class|target|outcome|cohort_definition_id")
_OTHER = ""  # stands for any label outside the mapping
LISTED = "listed"
"""The label of all ids in a table that has no other column."""


@dataclass(frozen=True)
class Labels:
    """Each id's label.

    Attributes
    ----------
    by_id : mapping of str to str
        The label of each id, in file order.
    classes : tuple of str
        The class names, in the order of their numbers.
    conflicting : tuple of str
        The ids left out because their rows have different labels.
    unused : tuple of str
        The ids left out because their label is not in the mapping.
    tally : Tally
        Counts the rows of the table. Rows beyond the first of an id are `changed`, not dropped.
    name, column : str
        The name of the file and of its label column; "" if there is none.
    remarks : tuple of str
        What was detected in the table rather than given.
    """

    by_id: Mapping[str, str]
    classes: tuple[str, ...]
    conflicting: tuple[str, ...] = ()
    tally: Tally = field(default_factory=lambda: Tally("label rows"), compare=False)
    name: str = ""
    column: str = ""
    remarks: tuple[str, ...] = field(default=(), compare=False)
    unused: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.by_id)

    def __repr__(self) -> str:
        counts = Counter(self.by_id.values())
        classes = ", ".join(f"{label} {counts[label]}" for label in self.classes)
        return f"<Labels {self.name}: {len(self)} ids; {classes}>"


def read_labels(
    source: TextSource,
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    mapping: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    on_conflict: str = "drop",
    header: bool | None = None,
    missing_labels: Iterable[str] | None = None,
) -> Labels:
    """Read a label table.

    A table with tabs in its first row is read without quoting, any other as CSV, separated by commas or semicolons.
    Rows without id or label, or with too few fields, are skipped and counted. In a file with one id per line, all ids
    have the label "listed".

    Parameters
    ----------
    source : path or open file
        The table: plain, `.gz`, a `.zip` with one file, or a path into an archive: "genage.zip/worm.tsv".
    id_column, label_column : str or int, optional
        The id and label columns, by name or by position, counted from 1. They are needed unless the table has just
        these two columns, in this order, or recognisable column names such as "person_id" and "label".
    mapping : dict, optional
        Maps labels in the table to class names. Other labels are left out. An id with one label in the mapping and
        one outside it counts as a conflict. Classes are numbered in the order of the mapping; without a mapping, in
        alphabetical order.
    where : dict, optional
        Maps columns to values: only rows with these values count.
    on_conflict : {"drop", "first", "majority", "raise"}
        How to treat an id whose rows have different labels: leave it out, use the first label, use the
        most frequent one (and leave the id out at a tie), or fail.
    header : bool, optional
        Whether the first row contains the column names [default: yes, unless its label occurs in another row or in
        the mapping].
    missing_labels : iterable of str, optional
        The texts that mean `no label`, unless the mapping contains them [default: NA, NaN, null and the like]. An
        empty field always means `no label`. Ids are never read as missing.

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
    table = Table.open(source)
    remarks = _find_heading(table, id_column, label_column, mapping, where, header)
    id_at, label_at = _columns(table, id_column, label_column)
    tests = [(table.column(column), value) for column, value in (where or {}).items()]
    tally, missing = Tally("label rows"), _missing_texts(missing_labels, mapping)
    given: dict[str, list[tuple[str, int]]] = {}  # (label, line) of each row of an id
    for number, row in table.rows(max([id_at, label_at, *(at for at, _ in tests)]), tally):
        name, label = row[id_at].strip(), LISTED if table.width == 1 else row[label_at].strip()
        if any(row[at].strip() != value for at, value in tests):
            tally.drop("not requested")
        elif not name or label in missing:
            tally.drop(NO_LABEL if name else NO_ID)
        elif mapping is None or label in mapping:
            given.setdefault(name, []).append((label if mapping is None else str(mapping[label]), number))
        else:
            given.setdefault(name, []).append((_OTHER, number))
    remarks += table.unused([id_at, label_at, *(at for at, _ in tests)])
    labels = _one_label_each(given, on_conflict, mapping, tally, table.name)
    return replace(labels, column=table.heading[label_at] if table.heading else "", remarks=remarks)


def labels_from_pairs(
    pairs: Iterable[tuple[Any, Any]],
    mapping: Mapping[str, str] | None = None,
    on_conflict: str = "drop",
    missing_labels: Iterable[str] | None = None,
) -> Labels:
    """Return labels from (id, label) pairs. Pairs without a label are left out and counted.

    Parameters
    ----------
    pairs : iterable of (id, label)
        Ids and labels, which need not be strings: their texts are used.
    mapping, on_conflict, missing_labels : optional
        As in `read_labels`. None and NaN are always missing.
    """
    tally, given = Tally("label rows"), dict[str, list[tuple[str, int]]]()
    missing = _missing_texts(missing_labels, mapping)
    for number, (name, label) in enumerate(pairs, 1):
        tally.read += 1
        text = cell_text(label)
        if text.strip() in missing:
            tally.drop(NO_LABEL)
        else:
            known = text if mapping is None else str(mapping.get(text, _OTHER))
            given.setdefault(str(name), []).append((known, number))
    return _one_label_each(given, on_conflict, mapping, tally, "")


def _missing_texts(missing_labels: Iterable[str] | None, mapping: Mapping[str, str] | None) -> set[str]:
    return {"", *(MISSING_VALUES if missing_labels is None else missing_labels)} - (mapping or {}).keys()


def resolve_conflict(labels: Sequence[str], on_conflict: str) -> str | None:
    """Return the label to use for an id with several labels, or None to leave the id out.

    Callers handle the policy "raise", because they know what to name in the error.
    """
    if len(set(labels)) == 1 or on_conflict == "first":
        return labels[0]
    if on_conflict == "majority":
        (best, most), (_, second) = Counter(labels).most_common(2)
        return best if most > second else None
    return None


def check_policy(on_conflict: str) -> None:
    """Raise ValueError for a value that is not in `CONFLICT_POLICIES`."""
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
    conflicting, unused = [], []
    for name, statements in given.items():
        labels = [label for label, _ in statements]
        disagree = len(set(labels)) > 1
        if disagree and on_conflict == "raise":
            other = next(line for label, line in statements if label != labels[0])
            raise DataError(
                f"an earlier row has a different label for {name!r}; remove one of them, or set on_conflict "
                "(--on-conflict)",
                source,
                other,
            )
        label = resolve_conflict(labels, on_conflict)
        if label:
            by_id[name] = label
            tally.change("further row of an id", len(labels) - 1)
        elif disagree:
            conflicting.append(name)
            tally.drop(CONFLICTING_LABELS, len(labels))
        else:
            unused.append(name)
            tally.drop("label not in the mapping", len(labels))
    if not by_id:
        rows = f"no label is left of {tally.read:,} rows: {tally.why}" if tally.why else "there are no rows"
        others = f"; the mapping contains {first_few(list(mapping))}" if mapping else ""
        raise DataError(f"{rows}{others}. Check the id and label columns", source)
    classes = dict.fromkeys(map(str, mapping.values())) if mapping else sorted(set(by_id.values()))
    return Labels(by_id, tuple(classes), tuple(conflicting), tally, source, unused=tuple(unused))


def _find_heading(
    table: Table,
    id_column: str | int | None,
    label_column: str | int | None,
    mapping: Mapping[str, str] | None,
    where: Mapping[str, str] | None,
    header: bool | None,
) -> tuple[str, ...]:
    """Read the header if there is one. Add a remark if the header was detected rather than given."""
    stated = [column for column in (id_column, label_column, *(where or {})) if column is not None]
    remarks: tuple[str, ...] = ()
    if header is None:
        by_name = any(not is_position(column) for column in stated)
        named = find_names(table.start[0], ID_NAMES) if table.width == 1 else []
        header = by_name or table.has_marked_heading or bool(named)
        if not header and table.width > 1:
            # The first row is data if its label occurs again, as labels do, or is in the mapping.
            at = 1 if label_column is None else table.column(label_column)
            first, *others = (row[at] if at < len(row) else "" for row in table.start)
            header = not first or (first not in others and first not in (mapping or ()))
        if not header:
            remarks = (f"{table.name}: the first row is data, not a header",)
    if header:
        table.take_heading()
    return remarks


def _refuse_hidden_columns(table: Table) -> None:
    """Raise DataError if a one-column table seems to have more columns, below a title or with another separator."""
    lines = [";".join(row) for row in table.start]
    for mark in "\t,;| ":
        parts = [line.split(mark) for line in lines[1:] or lines]
        repeats = len({part[-1] for part in parts}) <= len(parts) / 2 and len(
            {part[0] for part in parts}
        ) == len(parts)
        if len(parts[0]) > 1 and len(set(map(len, parts))) == 1 and (mark != " " or repeats):
            raise DataError(
                f"the lines after the first seem to separate their fields with {mark!r}; remove any title line, "
                "and separate fields with tabs or commas",
                table.name,
                1,
            )


def _columns(table: Table, id_column: str | int | None, label_column: str | int | None) -> tuple[int, int]:
    """Return the positions of the id and label columns."""
    if table.width == 1 and label_column is None:
        _refuse_hidden_columns(table)
        return 0, 0
    ids, labels = (find_names(table.heading or [], words) for words in (ID_NAMES, _LABEL))
    if table.width != 2 and id_column is label_column is None and len(ids) == len(labels) == 1:
        return ids[0], labels[0]
    if table.width != 2 and (id_column is None or label_column is None):
        missing = {"ids": ("id_column", id_column), "labels": ("label_column", label_column)}
        asked = " and ".join(
            f"the {what} ({option}, --{option.replace('_', '-')})"
            for what, (option, given) in missing.items()
            if given is None
        )
        raise DataError(
            f"the columns to read are unclear; name the column of {asked}. The columns are "
            f"{table.shown_columns()}",
            table.name,
        )
    id_at = 0 if id_column is None else table.column(id_column)
    return id_at, 1 if label_column is None else table.column(label_column)
