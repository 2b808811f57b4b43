"""A streaming reader of ontologies in OBO format.

Only what a feature hierarchy needs is read, by plain string operations: the full GO (30 MB) takes about a
second, where general OBO libraries, which keep every synonym and cross-reference, take 6 to 43.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hietan.datasets._files import TextSource, open_text, source_name
from hietan.hierarchy import Hierarchy

_Pairs = list[tuple[str, str]]
_TAGS = frozenset({"id", "name", "namespace", "is_a", "alt_id", "is_obsolete"})
_TRAILER = re.compile(r"\s+(?:!(?:\s.*)?|\{[^{}]*\}\s*(?:!\s.*)?)$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


@dataclass(frozen=True, slots=True)
class Term:
    """One `[Term]` stanza; `is_a` lists the ids of its direct parents."""

    id: str
    name: str
    namespace: str = ""
    is_a: tuple[str, ...] = ()
    alt_ids: tuple[str, ...] = ()
    is_obsolete: bool = False


@dataclass(frozen=True)
class Ontology:
    """The terms of an ontology by id, in file order, and the `data-version` of its header ("" without one).

    Examples
    --------
    >>> import io
    >>> go = read_obo(io.StringIO('''data-version: demo
    ...
    ... [Term]
    ... id: GO:1
    ... name: ageing
    ...
    ... [Term]
    ... id: GO:2
    ... name: cell ageing
    ... is_a: GO:1 ! ageing
    ... '''))
    >>> go
    Ontology(version='demo', 2 terms)
    >>> go.terms["GO:2"].is_a
    ('GO:1',)
    """

    terms: Mapping[str, Term]
    version: str = ""

    def __repr__(self) -> str:
        return f"Ontology(version={self.version!r}, {len(self.terms)} terms)"

    def edges(self) -> Iterator[tuple[str, str]]:
        """The is_a relations as (parent, child)."""
        return ((parent, term.id) for term in self.terms.values() for parent in term.is_a)

    @cached_property
    def alternatives(self) -> dict[str, str]:
        """The current id of each alternative id."""
        return {alt: term.id for term in self.terms.values() for alt in term.alt_ids}

    def resolve(self, term_id: str) -> str | None:
        """The id of the term here: `term_id` itself, that of the term it was merged into, or None."""
        return term_id if term_id in self.terms else self.alternatives.get(term_id)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The is_a hierarchy over all terms (and over parents named but not defined)."""
        edges = list(self.edges())
        nodes = dict.fromkeys([*self.terms, *(parent for parent, _ in edges)])
        return Hierarchy.from_edges(edges, features=list(nodes))


def read_obo(source: TextSource) -> Ontology:
    """Read the `[Term]` stanzas of an OBO file.

    Parameters
    ----------
    source : path or open text file
        Plain, `.gz`, or a `.zip` that holds one file.

    Returns
    -------
    Ontology
        Terms with id, name, namespace, is_a, alt_id and is_obsolete; other tags and stanzas are passed over.
    """
    header: dict[str, str] = {}
    terms: dict[str, Term] = {}
    with open_text(source) as file:
        for line_number, kind, pairs in _stanzas(file):
            if kind == "":
                header = dict(pairs)
            elif kind == "[Term]":
                where = f"{source_name(source)}, line {line_number}"
                term = _term(pairs, header.get("default-namespace", ""), where)
                if term.id in terms:
                    raise ValueError(f"{where}: second [Term] with id {term.id}")
                terms[term.id] = term
    if not terms:
        raise ValueError(f"{source_name(source)}: no [Term] stanza found; expected an ontology in OBO format")
    return Ontology(terms, header.get("data-version", ""))


def _stanzas(lines: Iterator[str]) -> Iterator[tuple[int, str, _Pairs]]:
    """(line number, heading, tag-value pairs) of the header, whose heading is "", and of each stanza."""
    start, kind = 1, ""
    pairs: _Pairs = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("["):
            yield start, kind, pairs
            start, kind, pairs = number, line.split("!", 1)[0].strip(), []
        else:
            tag, _, value = line.partition(":")
            if tag in _TAGS or not kind:
                pairs.append((tag, value.strip()))
    yield start, kind, pairs


def _term(pairs: _Pairs, namespace: str, where: str) -> Term:
    values: dict[str, list[str]] = {}
    for tag, value in pairs:
        values.setdefault(tag, []).append(value)
    if len(values.get("id", [])) != 1:
        raise ValueError(f"{where}: expected one id in this [Term], found {values.get('id', [])}")
    term_id = _identifier(values["id"][0])
    return Term(
        id=term_id,
        name=_text(values.get("name", [term_id])[0]),
        namespace=_identifier(values.get("namespace", [namespace])[0]),
        is_a=tuple(map(_identifier, values.get("is_a", []))),
        alt_ids=tuple(map(_identifier, values.get("alt_id", []))),
        is_obsolete=_identifier(values.get("is_obsolete", ["false"])[0]) == "true",
    )


def _identifier(value: str) -> str:
    """An identifier without the trailing modifiers `{...}` and comment `! ...`; it has no blanks inside."""
    return value.split("!", 1)[0].split("{", 1)[0].strip()


def _text(value: str) -> str:
    """Free text without trailing modifiers and comment, escapes undone."""
    if "!" in value or "}" in value:
        value = _TRAILER.sub("", value)
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value) if "\\" in value else value
