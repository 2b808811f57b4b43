"""Annotation formats: how to detect each format and parse its lines, and the columns of a plain table.

To support another format with a line per annotation, add an entry to `LINE_FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.binary_tables import Listed
from hietan.datasets._readers.tables import Table, is_position
from hietan.exceptions import DataError
from hietan.hierarchy._edge_columns import find_names


class Annotation(NamedTuple):
    """One annotation: an object (such as a gene, disease or product) has a term. Other fields of the file are included.

    Attributes
    ----------
    object_id, term : str
        The ids of the object and the term.
    symbol : str
        The symbol or readable name of the object; "" if the file has none, as in gene2go.
    qualifier : str
        The qualifiers in one string; see `qualifiers`.
    evidence, aspect : str
        The evidence code; "P", "F" or "C" for the namespace of a GO term.
    taxon : str
        The organism, such as "taxon:6239".
    synonym_field : str
        The synonyms in one string; see `synonyms`.
    line : int or None
        The line number in the file.

    Examples
    --------
    >>> Annotation("P12345", "GO:0008340", "daf-2", qualifier="NOT|involved_in").negated
    True
    """

    object_id: str
    term: str
    symbol: str = ""
    qualifier: str = ""
    evidence: str = ""
    aspect: str = ""
    taxon: str = ""
    synonym_field: str = ""
    line: int | None = None

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """The individual qualifiers, which are separated by `|` in GAF and by a space in gene2go."""
        return tuple(re.split(r"[| ]", self.qualifier)) if self.qualifier else ()

    @property
    def negated(self) -> bool:
        """Whether the annotation states that the object does *not* have the term."""
        return "NOT" in self.qualifier and "NOT" in self.qualifiers

    @property
    def synonyms(self) -> tuple[str, ...]:
        """The object's other names."""
        return tuple(filter(None, self.synonym_field.split("|")))


class PairBlock(NamedTuple):
    """Many plain (object, term) pairs, as parallel lists of ids and terms."""

    ids: Sequence[str]
    terms: Sequence[str]


# ---------------------------------------------------------------------------------------- a line per annotation

PAIRS, TERM_LISTS, PHENOPACKETS = "pairs", "term-lists", "phenopackets"
"""The formats that are not line formats: tables of (id, term) pairs, tables with all terms of an id in a row, and
JSON.
"""

_ASPECTS = {"Process": "P", "Function": "F", "Component": "C"}
# The evidence codes of GO for the classes of the Evidence and Conclusion Ontology that GPAD files use instead.
_EVIDENCE = dict(
    pair.split("=")
    for pair in [
        "0000269=EXP",
        "0000314=IDA",
        "0000353=IPI",
        "0000315=IMP",
        "0000316=IGI",
        "0000270=IEP",
        "0006056=HTP",
        "0007005=HDA",
        "0007001=HMP",
        "0007003=HGI",
        "0007007=HEP",
        "0000318=IBA",
        "0000319=IBD",
        "0000320=IKR",
        "0000321=IRD",
        "0000250=ISS",
        "0000266=ISO",
        "0000247=ISA",
        "0000255=ISM",
        "0000317=IGC",
        "0000245=RCA",
        "0000304=TAS",
        "0000303=NAS",
        "0000305=IC",
        "0000307=ND",
        "0000501=IEA",
        "0000256=IEA",
        "0007322=IEA",
        "0000265=IEA",
        "0000364=IBA",
    ]
)


class LineFormat(NamedTuple):
    """A format with one annotation per line and tab-separated fields.

    Attributes
    ----------
    columns : int
        The minimum number of fields in a line.
    ids : (int, int)
        The fields for the object and the term, which must not be empty.
    comments : tuple of str
        The beginnings of comment lines.
    parse : callable
        Returns the annotation of the fields of a line with this number.
    has_taxon : bool
        Whether a line names the organism.
    """

    columns: int
    ids: tuple[int, int]
    comments: tuple[str, ...]
    parse: Callable[[Sequence[str], int], Annotation]
    has_taxon: bool = False


def _gaf(f: Sequence[str], line: int) -> Annotation:
    return Annotation(f[1], f[4], f[2], f[3], f[6], f[8], f[12], f[10], line)


def _gene2go(f: Sequence[str], line: int) -> Annotation:
    qualifier = "" if f[4] == "-" else f[4]
    return Annotation(f[1], f[2], "", qualifier, f[3], _ASPECTS.get(f[7], f[7]), f"taxon:{f[0]}", "", line)


def _gpad_1(f: Sequence[str], line: int) -> Annotation:
    return Annotation(f[1], f[3], qualifier=f[2], evidence=_gpad_evidence(f), line=line)


def _gpad_2(f: Sequence[str], line: int) -> Annotation:
    # Objects are called DB:id here; GAF and GPAD 1 have the two in separate fields.
    database, colon, name = f[0].partition(":")
    qualifier = "|".join(filter(None, (f[1], f[2])))
    return Annotation(
        name if colon else database, f[3], qualifier=qualifier, evidence=_gpad_evidence(f), line=line
    )


def _gpad_evidence(fields: Sequence[str]) -> str:
    for entry in fields[11].split("|") if len(fields) > 11 else ():
        key, _, value = entry.partition("=")
        if key in ("go_evidence", "go-evidence"):
            return value
    return _EVIDENCE.get(fields[5].removeprefix("ECO:"), fields[5])


# A frequency that means that the phenotype was looked for and is absent: 0/7, 0%, or HPO's term Excluded.
_ABSENT = re.compile(r"0(\.0{0,6})? ?(%|/ ?\d{1,9})|HP:0040285").fullmatch


def _hpoa(f: Sequence[str], line: int) -> Annotation:
    qualifier = "NOT" if _ABSENT(f[7].strip()) else f[2]
    return Annotation(f[0], f[3], f[1], qualifier, f[5], f[10], "", "", line)


LINE_FORMATS: dict[str, LineFormat] = {
    "gaf": LineFormat(15, (1, 4), ("!",), _gaf, has_taxon=True),  # 2.0 to 2.2 have two more, GAF 1.0 does not
    "gene2go": LineFormat(8, (1, 2), ("#", "!"), _gene2go, has_taxon=True),
    "gpad-1": LineFormat(10, (1, 3), ("!",), _gpad_1),
    "gpad-2": LineFormat(10, (0, 3), ("!",), _gpad_2),
    "hpoa": LineFormat(11, (0, 3), ("#", "database_id\t", "DatabaseID\t"), _hpoa),
}
ANNOTATION_FORMATS = (*LINE_FORMATS, PAIRS, TERM_LISTS, PHENOPACKETS)
"""The names of all formats of annotations."""


def recognise(header: Mapping[str, str], lines: Sequence[str]) -> str:
    """Return the format of an annotation file.

    Parameters
    ----------
    header : mapping of str to str
        The entries ``!key: value`` before the first line.
    lines : sequence of str
        The first lines that are neither blank nor begin with "!".
    """
    if "gaf-version" in header or not lines:
        return "gaf"
    if "gpa-version" in header or "gpad-version" in header:
        return (
            "gpad-2"
            if header.get("gpa-version", header.get("gpad-version", "")).startswith("2")
            else "gpad-1"
        )
    if lines[0].lstrip().startswith("{"):
        return PHENOPACKETS
    data = next((line for line in lines if not line.startswith("#")), lines[0])
    fields = data.split("\t")
    if lines[0].startswith("#tax_id") or (
        len(fields) >= LINE_FORMATS["gene2go"].columns and fields[0].isdecimal() and fields[1].isdecimal()
    ):
        return "gene2go"
    heads = [line.lstrip("#").lower() for line in lines]
    if any(line.startswith(("database_id\tdisease_name\t", "databaseid\tdiseasename\t")) for line in heads):
        return "hpoa"
    if len(fields) >= LINE_FORMATS["gaf"].columns and is_curie(fields[4]):
        return "gaf"
    return TERM_LISTS if any(_has_term_list(line) for line in lines) else PAIRS


def _has_term_list(line: str) -> bool:
    """Return whether a line of two fields lists several terms in the second field."""
    if "\t" in line:
        fields = line.split("\t")
    else:
        name, _, rest = line.partition(",")
        quoted = rest[:1] == '"' and rest[-1:] == '"'
        fields = [name, rest.strip('"')] if quoted or "," not in rest else []
    return len(fields) == 2 and _is_term_list(fields[1])


def _is_term_list(text: str) -> bool:
    """Return whether a text lists several terms, separated by semicolons, bars, or commas before prefixes."""
    if ";" in text or "|" in text:
        return True
    terms = text.split(",", 2)
    return len(terms) > 1 and is_curie(terms[0]) and is_curie(terms[1].strip())


def is_curie(text: str) -> bool:
    """Return whether a text is an identifier with a prefix, such as GO:0008340.

    >>> is_curie("GO:0008340"), is_curie("GO:"), is_curie("two words: one")
    (True, False, False)
    """
    prefix, _, rest = text.partition(":")
    plain = prefix.replace(".", "").replace("-", "").replace("_", "")
    return plain.isalnum() and rest != "" and not any(map(str.isspace, text))


# ---------------------------------------------------------------------------------------- plain tables

ID_NAMES = re.compile(
    "(item|row|gene|object|sample|patient|person|instance|disease|database|product|entity|subject)(_id)?|id|sku"
)
_TERM = re.compile(
    "(term|code|go|hpo|feature|annotation|concept|icd|icd10|tag|node)s?(_ids?)?|categor(y|ies)|go_terms"
    "|(condition|drug|procedure|measurement|observation|device)_concept_id"  # of OMOP
)
_MORE = {
    "symbol": re.compile("symbol|name|(item|gene|disease)_(name|symbol)"),
    "qualifier": re.compile("qualifier"),
    "evidence": re.compile("evidence(_code)?"),
}
_ASPECT = re.compile("aspect|namespace|reference|date|taxon")
_SEPARATOR = re.compile(r"[;|,]")

_IsTerm = Callable[[str], bool] | None


@dataclass(frozen=True)
class PairLayout:
    """The columns that contain ids, terms and other annotation fields in a table.

    Attributes
    ----------
    table : Table
        The table, after its header.
    id_at, term_at : int
        The id and term columns.
    more : dict of str to int
        The columns of other fields of `Annotation`.
    lists : bool
        Whether a field contains several terms, separated by ";", "|" or ",".
    remarks : tuple of str
        What was detected rather than given.
    is_term : callable or None
        Tests whether a text is a term of the ontology; if so, it is not split.
    """

    table: Table
    id_at: int
    term_at: int
    more: dict[str, int]
    lists: bool
    remarks: tuple[str, ...]
    is_term: _IsTerm = None

    def row_blocks(self, tally: Tally) -> Iterator[list[tuple[int, list[str]]]]:
        """Yield large blocks of the rows that have an id and a term."""
        return self.table.row_blocks(max(self.id_at, self.term_at), tally)

    def read(self, row: Sequence[str]) -> tuple[str, list[str]]:
        """Return a row's id and terms, with "" or no terms if they are missing."""
        return row[self.id_at].strip(), _terms(row[self.term_at], self.lists, self.is_term)

    def read_block(self, rows: Sequence[Sequence[str]]) -> PairBlock | None:
        """Return the ids and terms of many rows together, or None unless each row has an id and a single term."""
        if self.lists or Listed in {type(row[self.term_at]) for row in rows}:
            return None
        ids = [row[self.id_at].strip() for row in rows]
        terms = [row[self.term_at].strip() for row in rows]
        return None if "" in ids or "" in terms else PairBlock(ids, terms)

    def extra(self, row: Sequence[str]) -> dict[str, Any]:
        """Return a row's fields other than the id and the terms."""
        return {field: row[at].strip() for field, at in self.more.items() if at < len(row)}


def find_pairs(
    table: Table, columns: Sequence[str | int] | None, header: bool | None, is_term: _IsTerm, *, lists: bool
) -> PairLayout:
    """Read a table's header, if it has one, and find the id and term columns.

    Parameters
    ----------
    table : Table
        The table, from its beginning.
    columns : (str or int, str or int), optional
        The id and term columns, by name or by position.
    header : bool, optional
        Whether the first row is a header [default: detected].
    is_term : callable or None
        Whether a text is a term of the ontology, if this is known.
    lists : bool
        Whether a field contains several terms.
    """
    remarks = list[str]()
    if header is None:
        header, remark = _has_heading(table, columns, is_term, lists)
        remarks += [remark] if remark else []
    if header:
        table.take_heading()
    id_at, term_at, remark = _find_columns(table, columns, is_term, lists)
    remarks += [remark] if remark else []
    more = {
        field: found[0]
        for field, names in _MORE.items()
        if (found := [j for j in find_names(table.heading or [], names) if j not in (id_at, term_at)])
    }
    return PairLayout(table, id_at, term_at, more, lists, tuple(remarks), is_term)


def _terms(cell: str, lists: bool, is_term: _IsTerm = None) -> list[str]:
    if isinstance(cell, Listed):
        return cell.parts
    is_one = not lists or (is_term is not None and is_term(cell.strip()))  # a term may contain a separator
    return [term for part in ([cell] if is_one else _SEPARATOR.split(cell)) if (term := part.strip())]


def _has_heading(
    table: Table, columns: Sequence[str | int] | None, is_term: _IsTerm, lists: bool
) -> tuple[bool, str]:
    """Return whether the first row is a header, and a remark about this decision.

    It is a header if a column is requested by name, or if one of its names is a word such as "item" or "term". With a
    known ontology, it is also a header if it has no term but a later row has one.
    """
    by_name = columns is not None and any(not is_position(column) for column in columns)
    if by_name or table.has_marked_heading:
        return True, ""
    first, *others = table.start
    has_names = bool(find_names(first, ID_NAMES) or find_names(first, _TERM))
    if is_term is None:
        return has_names, ""
    if any(is_term(term) for cell in first for term in _terms(cell, lists, is_term)):
        return False, ""
    if has_names or not any(
        is_term(term) for row in others for cell in row for term in _terms(cell, lists, is_term)
    ):
        return has_names, ""
    return True, f"the first row ({', '.join(first[:5])}) is a header"


def _find_columns(
    table: Table, columns: Sequence[str | int] | None, is_term: _IsTerm, lists: bool
) -> tuple[int, int, str]:
    """Return the id and term columns: as given, by name, by content, or the first and second."""
    if columns is not None:
        return table.column(columns[0]), table.column(columns[1]), ""
    terms = find_names(table.heading or [], _TERM)
    ids = [j for j in find_names(table.heading or [], ID_NAMES) if j not in terms]
    if len(terms) == 1 and ids:
        return ids[0], terms[0], ""
    if len(terms) == 1 and table.heading:
        named = {j for words in (_TERM, _ASPECT, *_MORE.values()) for j in find_names(table.heading, words)}
        left = [j for j in range(table.width) if j not in named]
        if len(left) == 1:
            return left[0], terms[0], f"the column {table.heading[left[0]][:80]} contains the ids"
    if table.width != 2:
        raise DataError(
            "the columns of ids and terms are unclear; name them `id` and `term` in the file, or set "
            f"pair_columns (--pair-columns). The columns are {table.shown_columns()}. The formats with one "
            f"annotation per line are {', '.join(LINE_FORMATS)}",
            table.name,
        )
    if len(terms) == 1 or len(ids) == 1:
        term_at = terms[0] if len(terms) == 1 else 1 - ids[0]
        return 1 - term_at, term_at, ""
    if is_term is not None:
        rows = [row for row in table.start if len(row) == 2]
        known = [sum(any(map(is_term, _terms(row[j], lists, is_term))) for row in rows) for j in (0, 1)]
        if known[0] > known[1]:
            return 1, 0, "the terms are in the first column, and the ids in the second"
    return 0, 1, ""
