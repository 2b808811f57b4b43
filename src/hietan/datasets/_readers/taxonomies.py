"""Taxonomies in which each row has a path, as in product categories, or a code, as in ICD-10 and MeSH."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from hietan._runtime.spelling import first_few
from hietan.datasets._build_log import Tally
from hietan.datasets._readers.files import TextSource, first_lines, source_name
from hietan.datasets._readers.ontology import Ontology, Term
from hietan.datasets._readers.tables import PEEK, Table
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy._edge_columns import find_names
from hietan.hierarchy._taxonomies import code_parents, path_parents, path_parts

_RANKED = re.compile(r"(?:^|[\t,\"])(?:d|k|sk|D_0)__[^;|\t,]{0,200}([;|])").search
_CODE = re.compile(r"(?:[A-Z]|[A-Z]?\d[0-9A-Z]{0,11}(?:[./-][0-9A-Z]{1,12}){0,20})(?:\.-)?").fullmatch
# Google's ids and Shopify's.
_NUMBERED = re.compile(r"(\d{1,18}|\w{1,20}://\S{1,200})\s{1,60}[-:] (.*)").fullmatch
_KEY = re.compile(
    r"(\w{1,60}_)?(path|taxon|taxonomy|lineage|codes?|tree_numbers?|categor(y|ies)|icd\w{0,4}|atc|naics|phecode)"
)
_LABEL = re.compile(r"(\w{1,60}_)?(id|name|title|description|descriptor|heading|phenotype|label)")


def find_separator(lines: Iterable[str]) -> str | None:
    """Return the separator between the names in a path, if most lines contain a path.

    ">" without blanks is a separator only in lines that are not rows of a table, because "c.76A>T" is a variant.
    """
    plain = [line for line in lines if not line.startswith("#")]
    found = [match[1] for line in plain if (match := _RANKED(line))]
    found += [
        " > " if " > " in line else ">"
        for line in plain
        if " > " in line or (">" in line and not re.search(r"[\t,;]|[=-]>|^>|>$|>>", line))
    ]
    return Counter(found).most_common(1)[0][0] if plain and 2 * len(found) >= len(plain) else None


def find_codes(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column of codes, in which some codes begin with other codes. If no column clearly contains codes,
    return None.

    An edge table has no such column: one of its columns has values of the other, or values that repeat. One cell of 20
    may be wrong, so that the reader of codes can name its line.
    """
    width = min(map(len, rows))
    n_different = [len({row[k] for row in rows}) for k in range(width)]
    for j in range(width):
        cells = [row[j] for row in rows if row[j]]
        codes = [cell for cell in dict.fromkeys(cells) if _CODE(cell)]
        others = {cell for row in rows for k, cell in enumerate(row) if k != j}
        numbers = sorted(map(int, codes)) if all(map(str.isdecimal, codes)) else []
        try:
            if (
                len(cells) - len(codes) <= max(1, len(cells) // 20)
                and others.isdisjoint(codes)
                and (width == 1 or max(n_different[:j] + n_different[j + 1 :]) > len(rows) / 2)
                and not (numbers and numbers[-1] - numbers[0] < len(cells))  # 1, 2, 3, ...
                and 3 * sum(map(bool, code_parents(codes).values())) >= len(codes)
            ):
                return j
        except ValueError:  # the reader of codes names the line
            return j
    return None


def read_taxonomy(
    source: TextSource,
    *,
    separator: str | None = None,
    codes: bool = False,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
) -> Ontology:
    """Read paths or codes. An optional second column contains each path's id or each code's name.

    Nodes are named by their paths or codes. Ids and names are also understood. An id or name that stands for several
    nodes is a node below all of them. If a path has several ids, all ids are nodes below their paths. An id or name
    that equals a path or code always means that path or code. The last name of a path is understood if no other path
    ends with it.

    Parameters
    ----------
    source : path or open file
        One path or code per line, or a table with a path or code column.
    separator : str, optional
        The text between two names in a path [default: detected].
    codes : bool
        Whether the file contains codes. They are divided at a separator or, without one, nested by their first
        characters.
    columns : two of str or int, optional
        The path or code column and the id or name column, by name or by position, counted from 1.
    header : bool, optional
        Whether the first row is a header [default: detected].
    """
    start = [line for line in first_lines(source, PEEK) if not line.startswith("#")]
    separator = separator if codes else separator or find_separator(start)
    if not codes and separator is None:
        raise DataError(
            "no paths were recognised; set separator (--separator) to the text between two names in a path",
            source_name(source),
        )
    table = Table.open(source, _delimiter(start, separator) if separator and not codes else None)
    words = find_names(table.start[0], _KEY) or find_names(table.start[0], _LABEL)
    if header or (header is None and (table.has_marked_heading or words)):
        table.take_heading()
    key_at, label_at = _find_columns(table, columns, None if codes else separator)
    lines, labels = dict[str, int](), dict[str, dict[str, None]]()  # of each path or code
    what = "code" if codes else "path"
    for line, row in table.rows(key_at, Tally("rows")):
        key, label = row[key_at].strip(), row[label_at].strip() if key_at != label_at < len(row) else ""
        if table.width == 1 and (found := _NUMBERED(key)):
            label, key = found.groups()
        if not key:
            raise DataError(f"the row has no {what}; fill it in, or remove the row", table.name, line)
        try:
            node = separator.join(path_parts(key, separator)) if separator else key
        except ValueError as error:
            raise DataError(str(error), table.name, line) from None
        known = labels.setdefault(node, {})
        if codes and known and label not in known:
            other = f"{next(iter(known))[:80]!r} in line {lines[node]}"
            raise DataError(
                f"the code {key[:80]} means {label[:80]!r} in this line, but {other}; correct one of them",
                table.name,
                line,
            )
        lines.setdefault(node, line)
        known |= {label: None} if label else {}
    if codes and any(code.count(".") > 1 for code in lines):
        separator = separator or "."
    try:
        parents = path_parents(lines, separator) if separator else code_parents(lines)
    except ValueError as error:
        at = next((line for code, line in lines.items() if repr(code)[:80] in str(error)), None)
        raise DataError(str(error), table.name, at) from None
    if not separator:
        _warn_of_orphans(parents, lines, table.name)
    how = f"divided at {separator!r}" if separator else "nested by their first characters (--separator)"
    remarks = (f"{table.name}: {what}s {how}", *table.unused([key_at, label_at]))
    terms = _terms(parents, labels, None if codes else separator)
    about: dict[str, Any] = {"is_plain": True, "has_relations": False, "separator": separator or ""}
    return Ontology(terms, "", table.name, lines, remarks, **about)


def _delimiter(lines: Sequence[str], separator: str) -> str:
    """Return the column separator in a table of paths: a tab, a mark that is equally frequent in all rows, or nothing.

    Paths in quotes are read as CSV even if they are the only column.
    """
    if any("\t" in line for line in lines):
        return "\t"
    widths = {
        mark: {len(row) for row in csv.reader(lines, delimiter=mark)}
        for mark in ",;"
        if mark != separator.strip()
    }
    steady = [mark for mark, found in widths.items() if len(found) == 1 and max(found) > 1]
    is_quoted = widths.get(",") == {1} and any(line.startswith('"') for line in lines)
    return steady[0] if steady else "," if is_quoted else ""


def _find_columns(
    table: Table, columns: Sequence[str | int] | None, separator: str | None
) -> tuple[int, int]:
    """Return the path or code column, and the id or name column. They are identical if there is only one column."""
    if columns is not None:
        return table.column(columns[0]), table.column(columns[1])
    rows = [row for row in table.start if len(row) == table.width]
    named = find_names(table.heading or [], _KEY)
    if separator is not None:
        key_at = max(range(table.width), key=lambda j: sum(separator in row[j] for row in rows))
    else:
        key_at = named[0] if named else (rows and find_codes(rows)) or 0
    others = [j for j in range(table.width) if j != key_at]
    named = [j for j in find_names(table.heading or [], _LABEL) if j in others]
    return key_at, (named or others or [key_at])[0]


def _warn_of_orphans(parents: dict[str, str], lines: dict[str, int], name: str) -> None:
    """Warn about codes without a parent, if shorter or equally long codes have a parent."""
    shortest = min((len(code) for code, above in parents.items() if above), default=0)
    lost = [c for c, above in parents.items() if not above and "-" not in c and len(c) >= shortest > 0]
    if lost:
        line = min(number for code, number in lines.items() if code.startswith(lost[0]))
        warnings.warn(
            f"{name}, line {line}: {lost[0][:80]} has no parent code in the table, unlike other codes of its "
            f"length; {len(lost):,} such codes become roots ({first_few(lost)})",
            DataWarning,
            stacklevel=4,
        )


def _terms(
    parents: dict[str, str], labels: dict[str, dict[str, None]], separator: str | None
) -> dict[str, Term]:
    """Return the terms, with ids and names as alternative ids. A label shared by several nodes is a term below them.

    A label that is itself a node means this node only.
    """
    nodes_of = dict[str, list[str]]()
    for node, known in labels.items():
        for label in (each for each in known if each not in parents):
            nodes_of.setdefault(label, []).append(node)
    has_groups = separator is not None and any(len(known) > 1 for known in labels.values())
    below = {label: nodes for label, nodes in nodes_of.items() if has_groups or len(nodes) > 1}
    ends = {node: node.rpartition(separator)[2] for node in parents} if separator else {}
    n_ends, terms = Counter(ends.values()), dict[str, Term]()
    for node, above in parents.items():
        label, end = next(iter(labels.get(node, ())), ""), ends.get(node, "")
        also = [label] * (label not in below) + [end] * (n_ends[end] == 1 and end not in nodes_of)
        alt_ids = tuple(each for each in also if each and each not in parents)
        terms[node] = Term(node, end or label or node, is_a=(above,) if above else (), alt_ids=alt_ids)
    return terms | {label: Term(label, label, is_a=tuple(nodes)) for label, nodes in below.items()}
