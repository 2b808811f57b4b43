"""Ontologies in any format: it is recognised by the first lines. OBO-Graph JSON and OWL are read by pronto."""

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
from hietan.datasets._readers.tables import PEEK
from hietan.exceptions import DataError, DataWarning


def read_with_pronto(source: TextSource) -> Ontology:
    """Read whatever `pronto` reads: OBO-Graph JSON, OWL (RDF/XML) and, slowly, OBO.

    Imports are not followed, since a file may name any address or any other file as one; a warning names them.
    """
    pronto = import_optional("pronto", extra="ontologies", purpose="reading OBO-Graph JSON and OWL")
    name = source_name(source)
    content = _read_whole(source, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about details of the format that do not matter here
        try:
            loaded = pronto.Ontology(io.BytesIO(content), import_depth=0)
            terms = {term.id: _term(term) for term in loaded.terms()}
        except BaseException as error:  # its parser is compiled, and may panic outside of Exception
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise DataError(f"pronto cannot read it: {error}", name) from error
    if imports := sorted(map(str, loaded.metadata.imports)):
        message = (
            f"{name}: {len(imports)} imports are not followed (first: {imports[0]:.200}); use an edition of the "
            "ontology that has them merged in"
        )
        warnings.warn(message, DataWarning, stacklevel=3)
    if not terms:
        raise DataError("no term found; expected an ontology in OBO, OBO-Graph JSON or OWL", name)
    return Ontology(terms, loaded.metadata.data_version or "", name)


def _read_whole(source: TextSource, name: str) -> bytes:
    """The content of the file, of which JSON is known to be JSON.

    pronto reads JSON as YAML, which takes quadratic time for what is deeply nested, and knows references.
    """
    with open_binary_or_text(source) as file:
        try:
            content = file.read()
        except BROKEN as error:
            raise DataError(f"the file is damaged or cut short: {error}", name) from error
    data: bytes = content.encode() if isinstance(content, str) else content
    if data.lstrip().startswith(b"{"):
        try:
            json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DataError(f"not an ontology in OBO-Graph JSON: {error}", name) from error
    return data


def _term(term: Any) -> Term:
    # pronto holds sets; sorting makes the result the same in every run.
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


ONTOLOGY_FORMATS = ("obo-graph", "owl", "edges", "obo")
"""The names of all formats of ontologies."""


def read_ontology(
    source: TextSource,
    *,
    format: str | None = None,
    columns: Sequence[str | int] | None = None,
    order: str | None = None,
    header: bool | None = None,
) -> Ontology:
    """Read an ontology in OBO format, from a table of edges or, through pronto, in OBO-Graph JSON or OWL (RDF/XML).

    The latter two need the extra `ontologies`, which installs `pronto`. For OBO our own reader is used, which takes a
    twentieth of the time and a tenth of the memory.

    Parameters
    ----------
    source : path or open file
        The ontology: plain, `.gz`, or a `.zip` that holds one file.
    format : {"obo", "edges", "obo-graph", "owl"}, optional
        The format. If not given, it is recognised by the first lines; an open file that cannot be rewound is assumed to
        be OBO. It is needed for the path of a pipe.
    columns, order, header : optional
        How a table of edges is read; see `read_edges`.

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
            f"format is {format!r}; expected one of {', '.join(ONTOLOGY_FORMATS)}, or None to recognise it"
        )
    chosen = format or _recognised_format(source)
    if chosen == "edges":
        return read_edges(source, columns=columns, order=order, header=header)
    stated = [name for name, value in (("columns", columns), ("order", order)) if value is not None]
    if stated:
        raise ValueError(
            f"the {stated[0]} of edges were stated, but {source_name(source)} is not a table of edges ({chosen})"
        )
    return read_obo(source) if chosen == "obo" else read_with_pronto(source)


def _recognised_format(source: TextSource) -> str:
    if is_path(source) and Path(source).is_fifo():  # looking at its first lines would lose them
        raise DataError(
            f"the format of a pipe cannot be recognised; state it (format, --format): {', '.join(ONTOLOGY_FORMATS)}",
            source_name(source),
        )
    start = first_lines(source, PEEK)
    if is_path(source) and not start:
        raise DataError(
            "the file is empty; expected an ontology, or a table with a row per edge", source_name(source)
        )
    return _recognise(start)


def _recognise(lines: Sequence[str]) -> str:
    """The format of a file with these first lines; OBO if there is no sign of another, since its reader reports errors.

    A table has several fields in the first line that is not a comment, which is neither `tag: value` nor `[Term]`.
    """
    mark = lines[0].lstrip()[:1] if lines else ""
    if mark in ("{", "<"):
        return "obo-graph" if mark == "{" else "owl"
    first = next((line for line in lines if not line.startswith(("#", "!"))), "")
    is_table = re.search(r"[\t,;]", first) and not re.match(r"[\w-]{1,80}: |\[", first)
    return "edges" if is_table else "obo"
