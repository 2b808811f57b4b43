"""Streaming readers of annotations: GAF and NCBI's gene2go."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from hietan.datasets.readers.files import TextSource, numbered_lines, source_name
from hietan.exceptions import DataError, DataWarning

_GAF_COLUMNS = 15  # GAF 1.0; 2.0 to 2.2 add two, of which the last may be missing
_GENE2GO_COLUMNS = 8
_GAF_VERSIONS = ("1.0", "2.0", "2.1", "2.2")
_ASPECTS = {"Process": "P", "Function": "F", "Component": "C"}
_HEADER = re.compile(r"!\s*([\w-]+):\s+(\S.*)").match
_Numbered = Iterator[tuple[int, str]]


class Annotation(NamedTuple):
    """One statement that a gene (or gene product) has a term; the fields are those of the file.

    Attributes
    ----------
    object_id, term : str
        The ids of the gene and of the term.
    symbol : str
        The symbol of the gene; "" where the file has none, as in gene2go.
    qualifier : str
        The qualifiers in one string; see `qualifiers`.
    evidence, aspect : str
        The evidence code; "P", "F" or "C" for the namespace of the term.
    taxon : str
        The organism, such as "taxon:6239".
    synonym_field : str
        The synonyms in one string; see `synonyms`.
    line : int or None
        The number of the line in the file.

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
        """The single qualifiers, which are separated by `|` in GAF and by a blank in gene2go."""
        return tuple(re.split(r"[| ]", self.qualifier)) if self.qualifier else ()

    @property
    def negated(self) -> bool:
        """Whether the statement is that the gene does *not* have the term."""
        return "NOT" in self.qualifier and "NOT" in self.qualifiers

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Other names of the gene."""
        return tuple(filter(None, self.synonym_field.split("|")))


class AnnotationReader:
    """An iterator over the annotations of a file, which is read only as far as needed.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` that holds one file.
    format : {"gaf", "gene2go", ""}
        The format; "" recognises it by the first line.

    Attributes
    ----------
    name, format : str
        The name of the file; "gaf" or "gene2go".
    header : dict
        The entries ``!key: value`` among the comment lines of a GAF file, such as `gaf-version` and `date-generated`.
    n_read : int
        The number of lines read so far that should hold an annotation, whether they do or not.
    malformed : int
        How many of them were skipped because columns are missing. At the end of the file, a warning counts them.
    first_malformed : int or None
        The number of the first of these lines.
    """

    def __init__(self, source: TextSource, format: str = "") -> None:
        self.name = source_name(source)
        self.header: dict[str, str] = {}
        self.n_read = self.malformed = 0
        self.first_malformed: int | None = None
        lines = numbered_lines(source)
        start = self._skip_comments(lines)
        self.format = format or _guess_format(start)
        parse = self._gene2go if self.format == "gene2go" else self._gaf
        self._annotations = self._guarded(parse(chain([] if start is None else [start], lines)))

    def __iter__(self) -> Iterator[Annotation]:
        return self._annotations

    def __next__(self) -> Annotation:
        return next(self._annotations)

    def __repr__(self) -> str:
        return f"AnnotationReader({self.name!r}, format={self.format!r}, n_read={self.n_read})"

    def _skip_comments(self, lines: _Numbered) -> tuple[int, str] | None:
        """Read up to the first line that is not a comment, and return it; the heading of gene2go is not a comment."""
        for number, line in lines:
            if line.startswith("!"):
                self._comment(line, number)
            elif line.strip():
                return number, line
        return None

    def _comment(self, line: str, number: int) -> None:
        found = _HEADER(line)
        if not found:
            return
        key, value = found[1].lower(), found[2].rstrip()
        self.header.setdefault(key, value)
        if key == "gaf-version" and value not in _GAF_VERSIONS:
            raise DataError(
                f"gaf-version is {value!r}; expected one of {', '.join(_GAF_VERSIONS)}", self.name, number
            )
        if key in ("gpa-version", "gpi-version"):
            raise DataError(
                f"this is a {key[:3].upper()} file ({key} {value}); expected GAF", self.name, number
            )

    def _gaf(self, lines: _Numbered) -> Iterator[Annotation]:
        for number, line in lines:
            if line.startswith("!"):
                continue
            fields = line.split("\t")
            if len(fields) < _GAF_COLUMNS or not fields[1] or not fields[4]:
                self._skip(number, line)
                continue
            self.n_read += 1
            yield Annotation(
                fields[1],
                fields[4],
                fields[2],
                fields[3],
                fields[6],
                fields[8],
                fields[12],
                fields[10],
                number,
            )

    def _gene2go(self, lines: _Numbered) -> Iterator[Annotation]:
        for number, line in lines:
            if line.startswith(("#", "!")):
                continue
            fields = line.split("\t")
            if len(fields) < _GENE2GO_COLUMNS or not fields[1] or not fields[2]:
                self._skip(number, line)
                continue
            self.n_read += 1
            qualifier = "" if fields[4] == "-" else fields[4]
            aspect = _ASPECTS.get(fields[7], fields[7])
            yield Annotation(
                fields[1],
                fields[2],
                "",
                qualifier,
                fields[3],
                aspect,
                f"taxon:{fields[0]}",
                "",
                number,
            )

    def _skip(self, number: int, line: str) -> None:
        if not line.strip():
            return
        self.n_read += 1
        self.malformed += 1
        if self.first_malformed is None:
            self.first_malformed = number

    def _guarded(self, annotations: Iterator[Annotation]) -> Iterator[Annotation]:
        """The same annotations; then a warning about skipped lines, or an error if all of them were."""
        yield from annotations
        columns = _GENE2GO_COLUMNS if self.format == "gene2go" else _GAF_COLUMNS
        expected = f"expected {columns} columns separated by tabs, with an object id and a term"
        if self.n_read == self.malformed:
            what = (
                f"none of {self.n_read} lines is an annotation"
                if self.n_read
                else "the file holds no annotations"
            )
            raise DataError(f"{what}; {expected}", self.name, self.first_malformed)
        if self.malformed:
            message = (
                f"{self.name}: skipped {self.malformed} of {self.n_read} lines "
                f"(first: line {self.first_malformed}); {expected}"
            )
            warnings.warn(message, DataWarning, stacklevel=2)


def read_gaf(source: TextSource) -> AnnotationReader:
    """Read annotations in GAF 1.0 to 2.2, one at a time.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` that holds one file.

    Returns
    -------
    AnnotationReader
        An iterator over `Annotation`. Lines with missing columns are skipped and counted.

    Examples
    --------
    >>> import io
    >>> fields = "UniProtKB Q1 daf-2 NOT GO:1 PMID:1 IMP - P - daf|age protein taxon:6239 2019 WB".split()
    >>> for annotation in read_gaf(io.StringIO("!gaf-version: 2.1\\n" + "\\t".join(fields))):
    ...     print(annotation.symbol, annotation.synonyms, annotation.negated)
    daf-2 ('daf', 'age') True
    """
    return AnnotationReader(source, "gaf")


def read_gene2go(source: TextSource) -> AnnotationReader:
    """Read annotations from NCBI's gene2go, one at a time; genes are named by their Entrez id.

    The file holds all organisms: pass ``taxon=`` to `build_dataset`, or filter by `Annotation.taxon`.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` that holds one file.

    Returns
    -------
    AnnotationReader
        An iterator over `Annotation`. Lines with missing columns are skipped and counted.
    """
    return AnnotationReader(source, "gene2go")


def read_annotations(source: TextSource) -> AnnotationReader:
    """Read annotations in GAF or gene2go format, recognised by the first line.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` that holds one file.

    Returns
    -------
    AnnotationReader
        An iterator over `Annotation`. Lines with missing columns are skipped and counted.
    """
    return AnnotationReader(source)


def _guess_format(first: tuple[int, str] | None) -> str:
    if first is None:
        return "gaf"
    fields = first[1].split("\t")
    numbered = len(fields) >= 2 and fields[0].isdecimal() and fields[1].isdecimal()
    return "gene2go" if first[1].startswith("#tax_id") or numbered else "gaf"
