"""Which format is an ontology in? A table of formats, each with the mark of its first line and its reader.

To support a further format, add a line to the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hietan.datasets.readers.edges import read_edges
from hietan.datasets.readers.files import TextSource, first_lines, source_name
from hietan.datasets.readers.obo import read_obo
from hietan.datasets.readers.ontology import Ontology
from hietan.datasets.readers.pronto import read_with_pronto
from hietan.datasets.readers.tables import PEEK


class OntologyFormat(NamedTuple):
    """A format: its name, whether the first lines that are not blank are in it, and the function that reads it."""

    name: str
    is_likely: Callable[[Sequence[str]], bool]
    read: Callable[[TextSource], Ontology]


def _starts_with(mark: str) -> Callable[[Sequence[str]], bool]:
    return lambda lines: bool(lines) and lines[0].lstrip().startswith(mark)


def _is_table(lines: Sequence[str]) -> bool:
    """Whether the first line that is not a comment has several fields, and is neither `tag: value` nor `[Term]`."""
    first = next((line for line in lines if not line.startswith(("#", "!"))), "")
    return re.search(r"[\t,;]", first) is not None and re.match(r"[\w-]+: |\[", first) is None


# The first format that is likely is used; OBO comes last and reports what is wrong.
FORMATS = (
    OntologyFormat("obo-graph", _starts_with("{"), read_with_pronto),
    OntologyFormat("owl", _starts_with("<"), read_with_pronto),
    OntologyFormat("edges", _is_table, read_edges),
    OntologyFormat("obo", lambda lines: True, read_obo),
)
ONTOLOGY_FORMATS = tuple(each.name for each in FORMATS)
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
        be OBO.
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
    chosen = _choose(source, format)
    if chosen.name == "edges":
        return read_edges(source, columns=columns, order=order, header=header)
    stated = [name for name, value in (("columns", columns), ("order", order)) if value is not None]
    if stated:
        raise ValueError(
            f"the {stated[0]} of edges were stated, but {source_name(source)} is not a table of edges ({chosen.name})"
        )
    return chosen.read(source)


def _choose(source: TextSource, format: str | None) -> OntologyFormat:
    if format is None:
        start = first_lines(source, PEEK)
        return next(each for each in FORMATS if each.is_likely(start))
    for each in FORMATS:
        if each.name == format:
            return each
    raise ValueError(
        f"format is {format!r}; expected one of {', '.join(ONTOLOGY_FORMATS)}, or None to recognise it"
    )
