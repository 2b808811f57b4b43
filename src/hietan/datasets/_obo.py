"""A streaming reader of ontologies in OBO format.

Only what a feature hierarchy needs is read, by plain string operations: the full GO (30 MB) takes about a
second, where general OBO libraries, which keep every synonym and cross-reference, take 6 to 43.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import intern

from hietan.datasets._errors import DataError
from hietan.datasets._files import TextSource, numbered_lines, source_name
from hietan.datasets._ontology import Ontology, Term

_Values = dict[str, list[tuple[int, str]]]
_TAGS = frozenset(
    [
        *("id", "name", "namespace", "is_a", "alt_id", "is_obsolete"),
        *("relationship", "replaced_by", "consider"),
    ]
)
_TRAILER = re.compile(r"\s+(?:!(?:\s.*)?|\{[^{}]*\}\s*(?:!\s.*)?)$")
_PLAIN = re.compile(r"[^!{\s]+").fullmatch
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


def read_obo(source: TextSource) -> Ontology:
    """Read the `[Term]` stanzas of an OBO file.

    Parameters
    ----------
    source : path or open file
        Plain, `.gz`, or a `.zip` that holds one file.

    Returns
    -------
    Ontology
        Terms with id, name, namespace, is_a, other relationships, alt_id, is_obsolete, replaced_by and
        consider; other tags and stanzas are passed over.

    Raises
    ------
    DataError
        Where the file is damaged or not in this format; it names file and line.
    """
    name = source_name(source)
    header: _Values = {}
    terms: dict[str, Term] = {}
    for line, kind, values in _stanzas(source):
        if kind == "":
            header = values
        elif kind == "[Term]":
            term = _term(values, _first(header, "default-namespace", ""), name, line)
            if term.id in terms:
                raise DataError(f"second [Term] with id {term.id}", name, line)
            terms[term.id] = term
    if not terms:
        raise DataError("no [Term] stanza found; expected an ontology in OBO format", name)
    return Ontology(terms, _first(header, "data-version", ""), name)


def _stanzas(source: TextSource) -> Iterator[tuple[int, str, _Values]]:
    """(line number, heading, values by tag) of the header, whose heading is "", and of each stanza."""
    start, kind = 1, ""
    values: _Values = {}
    for number, line in numbered_lines(source):
        if line[:1] == "[":
            yield start, kind, values
            start, kind, values = number, line.split("!", 1)[0].strip(), {}
            continue
        tag, colon, value = line.partition(":")
        if tag in _TAGS or (not kind and colon):
            values.setdefault(tag, []).append((number, value.strip()))
    yield start, kind, values


def _first(values: _Values, tag: str, default: str) -> str:
    return values[tag][0][1] if tag in values else default


def _term(values: _Values, namespace: str, name: str, line: int) -> Term:
    ids = _identifiers(values, "id", name)
    if len(ids) != 1:
        raise DataError(f"expected one id in this [Term], found {list(ids)}", name, line)
    return Term(
        id=ids[0],
        name=_text(_first(values, "name", ids[0])),
        namespace=intern(_identifier(_first(values, "namespace", namespace))),
        is_a=_identifiers(values, "is_a", name),
        alt_ids=_identifiers(values, "alt_id", name),
        is_obsolete=_identifier(_first(values, "is_obsolete", "false")) == "true",
        relationships=_relationships(values, name),
        replaced_by=_identifiers(values, "replaced_by", name),
        consider=_identifiers(values, "consider", name),
        line=line,
    )


def _identifiers(values: _Values, tag: str, name: str) -> tuple[str, ...]:
    if tag not in values:
        return ()
    found = tuple([_identifier(value) for _, value in values[tag]])
    if "" in found:
        raise DataError(f"the id after '{tag}:' is missing", name, values[tag][found.index("")][0])
    return found


def _relationships(values: _Values, name: str) -> tuple[tuple[str, str], ...]:
    if "relationship" not in values:
        return ()
    return tuple([_relationship(value, name, number) for number, value in values["relationship"]])


def _relationship(value: str, name: str, number: int) -> tuple[str, str]:
    relation, _, target = value.partition(" ")
    relation, target = _identifier(relation), _identifier(target.lstrip())
    if not relation or not target:
        message = f"expected 'relationship: <relation> <term>', found {value!r:.60}"
        raise DataError(message, name, number)
    return intern(relation), target


def _identifier(value: str) -> str:
    """An identifier, which has no blanks inside, without trailing modifiers `{...}` and comment `! ...`."""
    word = value.partition(" ")[0]
    return word if _PLAIN(word) else re.split(r"[!{\s]", word, maxsplit=1)[0]


def _text(value: str) -> str:
    """Free text without trailing modifiers and comment, escapes undone."""
    if "!" in value or "}" in value:
        value = _TRAILER.sub("", value)
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value) if "\\" in value else value
