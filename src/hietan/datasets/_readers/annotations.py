"""Streaming annotation readers for GAF, GPAD, gene2go, HPO's phenotype.hpoa, phenopackets, and plain tables."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.annotation_formats import (
    ANNOTATION_FORMATS,
    LINE_FORMATS,
    PAIRS,
    PHENOPACKETS,
    TERM_LISTS,
    Annotation,
    LineFormat,
    PairBlock,
    PairLayout,
    find_pairs,
    recognise,
)
from hietan.datasets._readers.binary_tables import Listed
from hietan.datasets._readers.files import TextSource, binary_kind, is_path, numbered_lines, source_name
from hietan.datasets._readers.phenopackets import read_folder, read_packets
from hietan.datasets._readers.tables import PEEK, Table
from hietan.exceptions import DataError, DataWarning

_VERSIONS = {
    "gaf-version": ("1.0", "2.0", "2.1", "2.2"),
    "gpa-version": ("1.0", "1.1", "1.2", "2.0"),
    "gpad-version": ("1.0", "1.1", "1.2", "2.0"),
}
_HEADER = re.compile(r"!\s*([\w-]+):\s+(\S.*)").match
_Numbered = Iterator[tuple[int, str]]
_Parsed = TypeVar("_Parsed", Annotation, PairBlock)


class AnnotationReader:
    """An iterator over a file's annotations. The file is read only as far as needed.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` with one file.
    format : str
        One of "gaf", "gene2go", "gpad-1", "gpad-2", "hpoa", "pairs", "term-lists" and "phenopackets"; "" detects it
        from the first lines. See `read_annotations`.
    columns : (str or int, str or int), optional
        The id and term columns of a plain table, by name or by position, counted from 1.
    header : bool, optional
        Whether the first row of a plain table is a header [default: detected].
    is_term : callable, optional
        Tests whether a text is a term of the ontology, which distinguishes ids from terms if column names do not.
    keep_empty : bool
        Whether a line of a plain table with an id but no term is an annotation with the term "".

    Attributes
    ----------
    name, format : str
        The file name, and its format.
    header : dict
        The entries ``!key: value`` among the comment lines at the beginning, such as `gaf-version`.
    remarks : tuple of str
        What was detected in the file rather than given.
    n_read : int
        The number of annotations read so far, including malformed lines.
    malformed : int
        The number of lines skipped because of missing columns. At the end of the file, a warning counts them.
    first_malformed : int or None
        The number of the first of these lines.
    """

    def __init__(
        self,
        source: TextSource,
        format: str = "",
        *,
        columns: Sequence[str | int] | None = None,
        header: bool | None = None,
        is_term: Callable[[str], bool] | None = None,
        keep_empty: bool = False,
    ) -> None:
        if format and format not in ANNOTATION_FORMATS:
            raise ValueError(f"format is {format!r}; expected one of {', '.join(ANNOTATION_FORMATS)}")
        self.name: str = source_name(source)
        self.header: dict[str, str] = {}
        self.remarks: tuple[str, ...] = ()
        self._keep_empty = keep_empty
        self.n_read: int = 0
        self.malformed: int = 0
        self.first_malformed: int | None = None
        self._n_short = 0
        self._layout: PairLayout | None = None
        is_folder, table = is_path(source) and Path(source).is_dir(), None
        if format in ("", PAIRS, TERM_LISTS) and binary_kind(source):
            table = Table.open(source)
            has_lists = any(isinstance(cell, Listed) for row in table.start for cell in row)
            format = format or (TERM_LISTS if has_lists else PAIRS)
        self.format: str = format or (PHENOPACKETS if is_folder else "")
        lines: _Numbered = numbered_lines(source)
        start = [] if is_folder or table else self._start(lines)
        if not (start or self.header or is_folder or table):
            raise DataError(
                "the file is empty; expected annotations, for example an id and a term in each row", self.name
            )
        self.format = self.format or recognise(self.header, [line for _, line in start])
        lines = chain(start, lines)
        kind = LINE_FORMATS.get(self.format)
        if self.format == PHENOPACKETS:
            packets = read_folder(Path(self.name)) if is_folder else read_packets([(lines, self.name)])
            parsed = self._counted(packets)
        elif kind is not None:
            parsed = self._lines(lines, kind)
        else:
            table = table or Table.of_lines(lines, self.name, comment="!")
            layout = find_pairs(table, columns, header, is_term, lists=self.format == TERM_LISTS)
            used = (layout.id_at, layout.term_at, *layout.more.values())
            self.remarks = (*(f"{self.name}: {remark}" for remark in layout.remarks), *table.unused(used))
            self._layout = layout
            parsed = self._rows(layout)
        self._annotations = self._guarded(parsed, kind)

    def __iter__(self) -> Iterator[Annotation]:
        return self._annotations

    def __next__(self) -> Annotation:
        return next(self._annotations)

    def __repr__(self) -> str:
        return f"AnnotationReader({self.name!r}, format={self.format!r}, n_read={self.n_read})"

    @property
    def has_taxon(self) -> bool:
        """Whether the annotations state their organism."""
        return self.format in LINE_FORMATS and LINE_FORMATS[self.format].has_taxon

    @property
    def holds_only_pairs(self) -> bool:
        """Whether the file is a plain table of ids and terms that has not been read yet."""
        return self._layout is not None and not self._layout.more and not self.n_read

    def blocks(self) -> Iterator[PairBlock]:
        """Return all annotations from a file of pairs, in large blocks.

        Use either this method or iteration, not both.

        The annotations are the same as from iteration, in a fraction of the time.
        """
        assert self._layout is not None
        return self._guarded(self._blocks(self._layout), None)

    def _start(self, lines: _Numbered) -> list[tuple[int, str]]:
        """Read comments up to the first other line, then inspect that line and, if needed, a few more.

        Lines that begin with "#" may be headers.
        """
        for number, line in lines:
            if line.startswith("!"):
                self._comment(line, number)
            elif line.strip():
                decided = self.format or "gaf-version" in self.header
                return [(number, line), *islice(lines, 0 if decided else PEEK)]
        return []

    def _comment(self, line: str, number: int) -> None:
        found = _HEADER(line)
        if not found:
            return
        key, value = found[1].lower(), found[2].rstrip()
        self.header.setdefault(key, value)
        if key in _VERSIONS and value not in _VERSIONS[key]:
            expected = ", ".join(_VERSIONS[key])
            raise DataError(f"{key} is {value!r}; expected one of {expected}", self.name, number)
        stated = recognise({key: value}, ["some line"]) if key in _VERSIONS else self.format
        if key == "gpi-version" or (self.format in LINE_FORMATS and stated != self.format):
            kind = "GPI" if key == "gpi-version" else stated.partition("-")[0].upper()
            expected = self.format.upper() or "annotations, such as GAF"
            raise DataError(f"this is a {kind} file ({key} {value}); expected {expected}", self.name, number)

    def _lines(self, lines: _Numbered, kind: LineFormat) -> Iterator[Annotation]:
        object_at, term_at = kind.ids
        for number, line in lines:
            if line.startswith(kind.comments):
                continue
            fields = line.split("\t")
            if len(fields) < kind.columns or not fields[object_at] or not fields[term_at]:
                self._skip(number, line)
                continue
            self.n_read += 1
            yield kind.parse(fields, number)

    def _counted(self, annotations: Iterable[Annotation]) -> Iterator[Annotation]:
        for annotation in annotations:
            self.n_read += 1
            yield annotation

    def _rows(self, layout: PairLayout) -> Iterator[Annotation]:
        tally = Tally("rows")
        yield from self._annotations_in(chain.from_iterable(layout.row_blocks(tally)), layout)
        self._count_short(layout, tally)

    def _blocks(self, layout: PairLayout) -> Iterator[PairBlock]:
        tally = Tally("rows")
        for block in layout.row_blocks(tally):
            pairs = layout.read_block([row for _, row in block])
            if pairs is None:
                found = list(self._annotations_in(block, layout))
                pairs = PairBlock([each.object_id for each in found], [each.term for each in found])
            else:
                self.n_read += len(block)
            yield pairs
        self._count_short(layout, tally)

    def _annotations_in(
        self, rows: Iterable[tuple[int, list[str]]], layout: PairLayout
    ) -> Iterator[Annotation]:
        for number, row in rows:
            name, terms = layout.read(row)
            terms = terms or [""] * self._keep_empty
            if not name or not terms:
                self._skip(number, "\t".join(row))
                continue
            extra = layout.extra(row)
            for term in terms:
                self.n_read += 1
                yield Annotation(name, term, line=number, **extra)

    def _count_short(self, layout: PairLayout, tally: Tally) -> None:
        self._n_short = tally.dropped["too few fields"]
        self.n_read += self._n_short
        self.malformed += self._n_short
        if first := layout.table.first_short:
            self.first_malformed = min(first, self.first_malformed or first)

    def _skip(self, number: int, line: str) -> None:
        if not line.strip():
            return
        self.n_read += 1
        self.malformed += 1
        if self.first_malformed is None:
            self.first_malformed = number

    def _guarded(self, parsed: Iterator[_Parsed], kind: LineFormat | None) -> Iterator[_Parsed]:
        """Yield the same annotations or blocks.

        At the end, warn about skipped lines, or raise an error if all were skipped.
        """
        yield from parsed
        expected = (
            f"expected {kind.columns} columns separated by tabs, with an object id and a term"
            if kind
            else "expected an id and a term in each row"
            if self.format != PHENOPACKETS
            else "expected phenopackets with phenotypicFeatures"
        )
        if self.n_read == self.malformed:
            what = (
                f"none of {self.n_read} lines is an annotation"
                if self.n_read
                else "the file contains no annotations"
            )
            raise DataError(f"{what}; {expected}", self.name, self.first_malformed)
        if self.malformed > self._n_short:  # the reader of the table has warned about short rows
            warnings.warn(
                f"{self.name}: skipped {self.malformed} of {self.n_read} lines "
                f"(first: line {self.first_malformed}); {expected}",
                DataWarning,
                stacklevel=2,
            )


def read_gaf(source: TextSource) -> AnnotationReader:
    """Read annotations in GAF 1.0 to 2.2, one at a time.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` with one file.

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
    """Read annotations from NCBI's gene2go, one at a time. Genes are named by Entrez id.

    The file contains all organisms: pass ``taxon=`` to `build_dataset`, or filter by `Annotation.taxon`.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` with one file.

    Returns
    -------
    AnnotationReader
        An iterator over `Annotation`. Lines with missing columns are skipped and counted.
    """
    return AnnotationReader(source, "gene2go")


def read_annotations(
    source: TextSource,
    *,
    format: str = "",
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
) -> AnnotationReader:
    """Read annotations one at a time, in any of the formats below. The first lines determine the format.

    - "gaf": GAF 1.0 to 2.2.
    - "gpad-1", "gpad-2": GPAD 1.x and 2.0. They have no symbols and no organism; ECO classes become evidence codes.
    - "gene2go": NCBI's table of all organisms.
    - "hpoa": HPO's phenotype.hpoa, a line per disease and phenotype.
    - "pairs": a CSV or TSV file with a row per pair (id, term). Columns called "symbol" or "name", "evidence" and
      "qualifier" are also read.
    - "term-lists": the same with all terms of an id in one field, separated by ";", "|" or ",".
    - "phenopackets": a phenopacket in JSON, a cohort of them, or a folder of such files. A packet is named by its id;
      the id of its subject is a synonym. Excluded phenotypes become annotations with the qualifier NOT.

    Plain tables may also be Parquet, Arrow or Excel files (extra `tables`), in which a cell may contain a list of
    terms.

    Parameters
    ----------
    source : path or open file
        The annotations: plain, `.gz`, or a `.zip` with one file; a folder of phenopackets.
    format : str
        One of these names; "" detects the format.
    columns : (str or int, str or int), optional
        The id and term columns of a plain table, by name or by position, counted from 1. They are needed unless the
        table has just two columns, or recognisable column names such as "item" and "term".
    header : bool, optional
        Whether the first row of a plain table is a header [default: yes, if one of its names is a word such as "item"
        or "term"].

    Returns
    -------
    AnnotationReader
        An iterator over `Annotation`. Lines with missing columns are skipped and counted.

    Examples
    --------
    >>> import io
    >>> for annotation in read_annotations(io.StringIO("p1\\ttea;milk\\np2\\ttea\\n")):
    ...     print(annotation.object_id, annotation.term)
    p1 tea
    p1 milk
    p2 tea
    """
    return AnnotationReader(source, format, columns=columns, header=header)
