"""Ontologies in any format, detected from the first lines. pronto reads OBO-Graph JSON and OWL."""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hietan._runtime.optional import import_optional
from hietan.datasets._readers.edges import read_edges
from hietan.datasets._readers.files import (
    BROKEN,
    TextSource,
    first_lines,
    is_path,
    open_binary_or_text,
    source_name,
)
from hietan.datasets._readers.obo import read_obo
from hietan.datasets._readers.ontology import Ontology, Term
from hietan.datasets._readers.tables import PEEK, Table
from hietan.datasets._readers.taxonomies import find_codes, find_separator, read_taxonomy
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy._edge_columns import CHILD, PARENT, find_names


def read_with_pronto(source: TextSource) -> Ontology:
    """Read any format that `pronto` supports: OBO-Graph JSON, OWL (RDF/XML) and, slowly, OBO.

    Imports are not followed, because a file may import any address or any other file; a warning names them.
    """
    pronto = import_optional("pronto", extra="ontologies", purpose="reading OBO-Graph JSON and OWL")
    name = source_name(source)
    content = _read_whole(source, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unimportant details of the format
        try:
            loaded = pronto.Ontology(io.BytesIO(content), import_depth=0)
            terms = {term.id: _term(term) for term in loaded.terms()}
        except BaseException as error:  # its compiled parser may panic outside of Exception
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise DataError(
                f"pronto cannot read the file ({error}); check that it is a valid ontology", name
            ) from error
    if imports := sorted(map(str, loaded.metadata.imports)):
        warnings.warn(
            f"{name}: {len(imports)} imports are not followed (first: {imports[0]:.200}); use an edition of the "
            "ontology that includes them",
            DataWarning,
            stacklevel=3,
        )
    if not terms:
        raise DataError(
            "the file contains no terms; expected an ontology in OBO, OBO-Graph JSON or OWL", name
        )
    return Ontology(terms, loaded.metadata.data_version or "", name)


def _read_whole(source: TextSource, name: str) -> bytes:
    """Return the file's content. JSON content is checked first.

    pronto reads JSON as YAML, which needs quadratic time for deep nesting and resolves references.
    """
    with open_binary_or_text(source) as file:
        try:
            content = file.read()
        except BROKEN as error:
            raise DataError(f"the file is damaged or truncated ({error}); download it again", name) from error
    data: bytes = content.encode() if isinstance(content, str) else content
    if data.lstrip().startswith(b"{"):
        try:
            json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"the file is not valid JSON ({error}); expected an ontology in OBO-Graph JSON", name
            ) from error
    return data


def _term(term: Any) -> Term:
    # pronto uses sets; sorting makes the result the same in every run.
    parents = (parent.id for parent in term.superclasses(distance=1, with_self=False))
    related = ((kind.id, target.id) for kind, targets in term.relationships.items() for target in targets)
    return Term(
        id=term.id,
        name=term.name or term.id,
        namespace=term.namespace or "",
        is_a=tuple(sorted(parents)),
        alt_ids=tuple(sorted(term.alternate_ids)),
        is_obsolete=bool(term.obsolete),
        relationships=tuple(sorted(related)),
        replaced_by=tuple(sorted(other.id for other in term.replaced_by)),
        consider=tuple(sorted(other.id for other in term.consider)),
    )


ONTOLOGY_FORMATS = ("obo-graph", "owl", "edges", "paths", "codes", "obo")
"""The names of all formats of ontologies."""


def read_ontology(
    source: TextSource,
    *,
    format: str | None = None,
    columns: Sequence[str | int] | None = None,
    order: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
    prefix_codes: bool = False,
) -> Ontology:
    """Read an ontology from OBO, OBO-Graph JSON or OWL (RDF/XML), or from a table of edges, paths or codes.

    A path is "Animals > Pets > Dogs" or a lineage, "k__Bacteria;p__Firmicutes". A code begins with the code of its
    parent, as in ICD-10, ATC, NAICS and phecodes ("E11.9" is below "E11"), or is a tree number of MeSH. Terms are named
    by paths or codes; path ids and code names in another column are also recognised.

    OBO-Graph JSON and OWL need the extra `ontologies`, which installs `pronto`. OBO files are read by hietan's reader,
    which needs a twentieth of the time and a tenth of the memory.

    Parameters
    ----------
    source : path or open file
        The ontology: plain, `.gz`, or a `.zip` with one file.
    format : {"obo", "edges", "paths", "codes", "obo-graph", "owl"}, optional
        The format [default: detected from the first lines; OBO for an open file that cannot be rewound]. It is needed
        for the path of a pipe.
    columns, order, header : optional
        How to read an edge table; see `read_edges`. For paths or codes, `columns` gives the path or code column, and
        the id or name column.
    separator : str, optional
        The text between two names in a path, or between two parts of a code that is not nested by its first
        characters.
    prefix_codes : bool
        Whether the file contains codes that begin with their parent's code.

    Returns
    -------
    Ontology

    Examples
    --------
    >>> import io
    >>> read_ontology(io.StringIO("[Term]\\nid: GO:1\\n"), format="obo")
    Ontology(version='', 1 terms)
    >>> read_ontology(io.StringIO("parent,child\\ndrinks,tea\\n")).hierarchy.edges
    (('drinks', 'tea'),)
    """
    if format is not None and format not in ONTOLOGY_FORMATS:
        raise ValueError(
            f"format is {format!r}; expected one of {', '.join(ONTOLOGY_FORMATS)}, or None to detect it"
        )
    stated_format = "codes" if prefix_codes else "paths" if separator is not None else None
    chosen = format or stated_format or _recognised_format(source)
    is_stated = (format or stated_format) is not None
    if chosen in ("paths", "codes") and not is_stated and not columns is order is None:
        chosen = "edges"
    if chosen in ("paths", "codes"):
        return read_taxonomy(
            source, separator=separator, codes=chosen == "codes", columns=columns, header=header
        )
    if chosen == "edges":
        return read_edges(source, columns=columns, order=order, header=header)
    stated = [name for name, value in (("columns", columns), ("order", order)) if value is not None]
    if stated:
        raise ValueError(
            f"an option for edge {stated[0]} was given, but {source_name(source)} is not an edge table "
            f"({chosen}); omit the option"
        )
    return read_obo(source) if chosen == "obo" else read_with_pronto(source)


def _recognised_format(source: TextSource) -> str:
    if is_path(source) and Path(source).is_fifo():  # looking at its first lines would lose them
        raise DataError(
            "the format of a pipe cannot be detected; save it as a file, or set format (for `hietan build`: --format) "
            f"to one of {', '.join(ONTOLOGY_FORMATS)}",
            source_name(source),
        )
    start = first_lines(source, PEEK)
    if is_path(source) and not start:
        raise DataError(
            "the file is empty; expected an ontology, or a table with one row per edge", source_name(source)
        )
    return _recognise(start)


def _recognise(lines: Sequence[str]) -> str:
    """Return the format of a file with these first lines. The default is OBO, because its reader reports errors.

    A table has several fields in the first line that is neither a comment nor `tag: value` nor `[Term]`.
    """
    mark = lines[0].lstrip()[:1] if lines else ""
    if mark in ("{", "<"):
        return "obo-graph" if mark == "{" else "owl"
    plain = [line for line in lines if not line.startswith(("#", "!"))]
    if not plain or re.match(r"[\w-]{1,80}: |\[", plain[0]):
        return "obo"
    is_paths = find_separator(plain) is not None
    try:
        rows = Table.of_lines(enumerate(plain, 1), "").start
    except DataError:
        return "paths" if is_paths else "edges"  # its reader reports what is wrong, and where
    has_edges = find_names(rows[0], PARENT) and find_names(rows[0], CHILD)
    if is_paths and not has_edges:
        return "paths"
    has_edges = has_edges or find_names(rows[0], PARENT) or find_names(rows[0], CHILD)
    if not has_edges and len(rows) > 2 and find_codes(rows[1:]) is not None:
        return "codes"
    return "edges" if re.search(r"[\t,;]", plain[0]) else "obo"
