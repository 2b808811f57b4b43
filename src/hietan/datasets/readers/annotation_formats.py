"""The formats of annotations: how each is recognised, and what a line of it says.

To support a further format with a line per annotation, add an entry to `LINE_FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hietan.datasets.readers.annotation import Annotation

PAIRS, TERM_LISTS = "pairs", "term-lists"
"""The formats that are plain tables: a row per pair (id, term), or a row per id with all its terms."""

_ASPECTS = {"Process": "P", "Function": "F", "Component": "C"}
_TERM_LIST = re.compile(r"[^;|]*[;|]|[^\s,:]+:[^\s,:]+,\s*[^\s,:]+:[^\s,:]+").match
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
    """A format with a line per annotation, its fields separated by tabs.

    Attributes
    ----------
    columns : int
        The number of fields that every line has at least.
    ids : (int, int)
        The fields that must not be empty: those of the object and of the term.
    comments : tuple of str
        How lines begin that hold no annotation.
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
    # Objects are called DB:id here, where GAF and GPAD 1 have the two in fields of their own.
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


def _hpoa(f: Sequence[str], line: int) -> Annotation:
    return Annotation(f[0], f[3], f[1], f[2], f[5], f[10], "", "", line)


LINE_FORMATS: dict[str, LineFormat] = {
    "gaf": LineFormat(15, (1, 4), ("!",), _gaf, has_taxon=True),  # 2.0 to 2.2 have two more, GAF 1.0 does not
    "gene2go": LineFormat(8, (1, 2), ("#", "!"), _gene2go, has_taxon=True),
    "gpad-1": LineFormat(10, (1, 3), ("!",), _gpad_1),
    "gpad-2": LineFormat(10, (0, 3), ("!",), _gpad_2),
    "hpoa": LineFormat(11, (0, 3), ("#", "database_id\t", "DatabaseID\t"), _hpoa),
}
ANNOTATION_FORMATS = (*LINE_FORMATS, PAIRS, TERM_LISTS)
"""The names of all formats of annotations."""


def recognise(header: Mapping[str, str], lines: Sequence[str]) -> str:
    """The format of a file.

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
    return _recognise_by_lines(lines)


def _recognise_by_lines(lines: Sequence[str]) -> str:
    data = next((line for line in lines if not line.startswith("#")), lines[0])
    fields = data.split("\t")
    if lines[0].startswith("#tax_id") or (
        len(fields) >= LINE_FORMATS["gene2go"].columns and fields[0].isdecimal() and fields[1].isdecimal()
    ):
        return "gene2go"
    heads = [line.lstrip("#").lower() for line in lines]
    if any(line.startswith(("database_id\tdisease_name\t", "databaseid\tdiseasename\t")) for line in heads):
        return "hpoa"
    if len(fields) >= LINE_FORMATS["gaf"].columns and re.match(r"[\w.-]+:\S+$", fields[4][:80]):
        return "gaf"
    return TERM_LISTS if any(_has_term_list(line) for line in lines) else PAIRS


def _has_term_list(line: str) -> bool:
    """Whether a line of two fields has several terms in the second."""
    if "\t" in line:
        fields = line.split("\t")
    else:
        name, _, rest = line.partition(",")
        quoted = rest[:1] == '"' and rest[-1:] == '"'
        fields = [name, rest.strip('"')] if quoted or "," not in rest else []
    return len(fields) == 2 and _TERM_LIST(fields[1]) is not None
