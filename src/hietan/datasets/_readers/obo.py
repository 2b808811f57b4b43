"""A streaming reader for ontologies in OBO format.

Only the parts that a feature hierarchy needs are read, with plain string operations: the full GO (30 MB) takes about a
second. General OBO libraries, which keep every synonym and cross-reference, take 6 to 43.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import intern

from hietan.datasets._readers.files import TextSource, numbered_lines, source_name
from hietan.datasets._readers.ontology import Ontology, Term
from hietan.exceptions import DataError

_Lines = list[tuple[int, str, str]]  # number, tag and value of each
_IDS = frozenset({"id", "is_a", "alt_id", "replaced_by", "consider"})
_TAGS = _IDS | {"name", "namespace", "is_obsolete", "relationship"}
_INITIALS = frozenset("[" + "".join(tag[0] for tag in _TAGS))
# Without the lookbehind, a long run of blanks would be tried from each blank: a quadratic number of steps.
_TRAILER = re.compile(r"(?<!\s)\s+(?:!(?:\s.*)?|\{[^{}]*\}\s*(?:!\s.*)?)$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


def read_obo(source: TextSource) -> Ontology:
    """Read the `[Term]` stanzas of an OBO file.

    Parameters
    ----------
    source : path or open file
        The ontology: plain, `.gz`, or a `.zip` with one file.

    Returns
    -------
    Ontology
        Terms with id, name, namespace, is_a, other relationships, alt_id, is_obsolete, replaced_by and
        consider; other tags and stanzas are skipped.

    Raises
    ------
    DataError
        If the file is damaged or not in OBO format; the message names the file and the line.

    Warns
    -----
    DataWarning
        If the last line has no line break, as in a truncated file.
    """
    name = source_name(source)
    header: dict[str, str] = {}
    terms: dict[str, Term] = {}
    starts: dict[str, int] = {}
    for start, kind, lines in _stanzas(source):
        if kind == "":
            header = {tag: value for _, tag, value in reversed(lines)}
        elif kind == "[Term]":
            term = _term(lines, header.get("default-namespace", ""), name, start)
            if term.id in terms:
                raise DataError(
                    f"an earlier [Term] has the same id, {term.id}; remove one of the two", name, start
                )
            terms[term.id], starts[term.id] = term, start
    if not terms:
        raise DataError(
            "the file has no [Term] stanza; expected an ontology in OBO format, or a table of edges, paths or codes. "
            "If it contains paths, set separator (--separator) to the text between two names",
            name,
        )
    return Ontology(terms, header.get("data-version", ""), name, starts)


def _stanzas(source: TextSource) -> Iterator[tuple[int, str, _Lines]]:
    """Yield (line number, heading, lines) for the header, whose heading is "", and for each stanza."""
    start, kind = 1, ""
    lines: _Lines = []
    for number, line in numbered_lines(source, whole=True):
        if kind and line[:1] not in _INITIALS:
            continue  # most lines are not needed, and this is the fastest way to skip them
        if line[:1] == "[":
            yield start, kind, lines
            start, kind, lines = number, line.split("!", 1)[0].strip(), []
            continue
        tag, colon, value = line.partition(":")
        if tag in _TAGS or (not kind and colon):
            lines.append((number, tag, value.strip()))
    yield start, kind, lines


def _term(lines: _Lines, namespace: str, name: str, start: int) -> Term:
    ids: dict[str, list[str]] = {"id": [], "is_a": []}
    related: list[tuple[str, str]] = []
    label, obsolete = "", False
    for number, tag, value in lines:
        if tag in _IDS:
            found = _identifier(value)
            if not found:
                raise DataError(
                    f"the id after '{tag}:' is missing; fill it in, or remove the line", name, number
                )
            ids.setdefault(tag, []).append(found)
        elif tag == "name":
            label = label or _text(value)
        elif tag == "namespace":
            namespace = _identifier(value)
        elif tag == "relationship":
            relation, _, target = value.partition(" ")
            relation, target = _identifier(relation), _identifier(target.lstrip())
            if not relation or not target:
                message = f"expected 'relationship: <relation> <term>', found {value!r:.60}"
                raise DataError(message, name, number)
            related.append((intern(relation), target))
        elif tag == "is_obsolete":
            obsolete = _identifier(value) == "true"
    if len(ids["id"]) != 1:
        raise DataError(f"expected one id in this [Term], found {ids['id']}", name, start)
    return Term(
        ids["id"][0],
        label or ids["id"][0],
        intern(namespace),
        tuple(ids["is_a"]),
        tuple(ids.get("alt_id", ())),
        obsolete,
        tuple(related),
        tuple(ids.get("replaced_by", ())),
        tuple(ids.get("consider", ())),
    )


def _identifier(value: str) -> str:
    """Return an identifier, which contains no spaces, without trailing modifiers `{...}` and comment `! ...`."""
    word = value.partition(" ")[0]
    return word if "!" not in word and "{" not in word else re.split(r"[!{\s]", word, maxsplit=1)[0]


def _text(value: str) -> str:
    """Return free text without trailing modifiers and comments, and with escapes resolved."""
    if "!" in value or "}" in value:
        value = _TRAILER.sub("", value)
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value) if "\\" in value else value
