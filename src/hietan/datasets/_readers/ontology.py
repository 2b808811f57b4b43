"""An ontology in memory: its terms, namespaces, what became of retired ids, and the hierarchies of its relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy

GO_NAMESPACES = {"BP": "biological_process", "MF": "molecular_function", "CC": "cellular_component"}
"""The namespaces of the Gene Ontology by their abbreviations."""
_IS_A = frozenset(("is_a", "isa", "subclass_of", "subclassof"))
RELATIONS = frozenset(
    [
        *("is_a", "part_of", "has_part", "regulates", "positively_regulates", "negatively_regulates"),
        *("occurs_in", "happens_during", "ends_during", "develops_from", "derives_from", "located_in"),
    ]
)
"""Relations by which a column without a name is recognised."""


def relation_name(text: str) -> str:
    """The usual name of a relation, which tables and people spell in several ways.

    >>> relation_name("isa"), relation_name("Part of"), relation_name("RO:0002211")
    ('is_a', 'part_of', 'RO:0002211')
    """
    name = "_".join(text.split())
    plain = name.lower().replace("-", "_")
    return "is_a" if plain in _IS_A else plain if plain in RELATIONS else name


class Term(NamedTuple):
    """One term of an ontology.

    Attributes
    ----------
    id, name : str
        The identifier, and the readable name.
    namespace : str
        The part of the ontology that the term belongs to; "" if there are no parts.
    is_a : tuple of str
        The ids of the direct parents.
    alt_ids : tuple of str
        The ids of terms that were merged into this one.
    is_obsolete : bool
        Whether the term is retired.
    relationships : tuple of (relation, id)
        The direct relations other than is_a.
    replaced_by, consider : tuple of str
        The terms that take the place of an obsolete term, and terms that a curator might use instead.
    """

    id: str
    name: str
    namespace: str = ""
    is_a: tuple[str, ...] = ()
    alt_ids: tuple[str, ...] = ()
    is_obsolete: bool = False
    relationships: tuple[tuple[str, str], ...] = ()
    replaced_by: tuple[str, ...] = ()
    consider: tuple[str, ...] = ()

    def parents(self, relations: Iterable[str] = ("is_a",)) -> Iterator[str]:
        """The ids of the terms that any of the relations leads to directly.

        Parameters
        ----------
        relations : iterable of str
            "is_a" or names of other relations.
        """
        for relation in relations:
            if relation == "is_a":
                yield from self.is_a
            else:
                yield from (target for name, target in self.relationships if name == relation)


@dataclass(frozen=True)
class Ontology:
    """The terms of an ontology.

    Parameters
    ----------
    terms : mapping of str to Term
        The terms by id, in file order.
    version : str
        The `data-version` of the file; "" without one.
    source : str
        The name of the file, for messages.
    lines : mapping of str to int
        The line at which each term begins, for messages.
    remarks : tuple of str
        What was found out about the file rather than stated, such as the order of the columns in a table.
    is_plain : bool
        Whether the terms come from a plain list of edges, which may have as many roots as it likes.
    has_relations : bool
        Whether the source names the relation of each edge; if not, all edges count as is_a.

    Examples
    --------
    >>> import io
    >>> from hietan.datasets import read_obo
    >>> go = read_obo(io.StringIO('''data-version: demo
    ...
    ... [Term]
    ... id: GO:1
    ... name: ageing
    ...
    ... [Term]
    ... id: GO:2
    ... name: cell ageing
    ... alt_id: GO:9
    ... is_a: GO:1 ! ageing
    ... '''))
    >>> go
    Ontology(version='demo', 2 terms)
    >>> go.terms["GO:2"].is_a, go.resolve("GO:9")
    (('GO:1',), 'GO:2')
    """

    terms: Mapping[str, Term]
    version: str = ""
    source: str = field(default="", compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    is_plain: bool = field(default=False, compare=False)
    has_relations: bool = field(default=True, compare=False)

    def __repr__(self) -> str:
        return f"Ontology(version={self.version!r}, {len(self.terms)} terms)"

    def edges(self, relations: Iterable[str] = ("is_a",)) -> Iterator[tuple[str, str]]:
        """The pairs (parent, child) of any of the relations.

        Parameters
        ----------
        relations : iterable of str
            "is_a" or names of other relations.
        """
        relations = tuple(relations)
        return ((parent, term.id) for term in self.terms.values() for parent in term.parents(relations))

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The names of all relations that occur, `is_a` first."""
        others = {name for term in self.terms.values() for name, _ in term.relationships}
        return ("is_a", *sorted(others))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that occur, in order of appearance."""
        return tuple(dict.fromkeys(term.namespace for term in self.terms.values()))

    @cached_property
    def alternatives(self) -> dict[str, str]:
        """The current id of each alternative id."""
        return {alt: term.id for term in self.terms.values() for alt in term.alt_ids}

    def resolve(self, term_id: str) -> str | None:
        """The id of the term in this ontology: `term_id` itself, the term it was merged into, or None if unknown."""
        return term_id if term_id in self.terms else self.alternatives.get(term_id)

    def successor(self, term_id: str) -> str | None:
        """The current term that replaced an obsolete one, followed step by step.

        None if a step leads to no term, to several, or in a circle.
        """
        walked = set[str]()
        current = self.resolve(term_id)
        while current is not None and current not in walked and self.terms[current].is_obsolete:
            walked.add(current)
            replaced_by = self.terms[current].replaced_by
            current = self.resolve(replaced_by[0]) if len(replaced_by) == 1 else None
        return None if current in walked else current

    def undefined_parents(self, relations: Iterable[str] = ("is_a",)) -> list[tuple[str, str]]:
        """The pairs (parent, child) of which the ontology does not define the parent.

        What is above such a parent is not known, so annotations with the child do not spread along this path.

        Parameters
        ----------
        relations : iterable of str
            "is_a" or names of other relations.
        """
        return [edge for edge in self.edges(relations) if edge[0] not in self.terms]

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The is_a hierarchy over all terms (and over parents named but not defined)."""
        return self.hierarchy_of(("is_a",))

    def known_relations(self, relations: str | Iterable[str]) -> tuple[str, ...]:
        """These relations as the ontology spells them; raises ValueError if it does not have one of them."""
        given = (relations,) if isinstance(relations, str) else tuple(relations)
        found = tuple(name if name in self.relations else relation_name(name) for name in given)
        unknown = [name for name in found if name not in self.relations]
        if unknown:
            no_column = (
                "its edges have no relations; name their column (--edge-columns PARENT,CHILD,RELATION)"
            )
            has = f"it has {', '.join(self.relations)}" if self.has_relations else no_column
            raise ValueError(f"the ontology has no relation {unknown[0]!r}; {has}")
        return found

    def hierarchy_of(self, relations: Iterable[str]) -> Hierarchy:
        """The hierarchy in which any of these relations makes a term the child of another.

        Parameters
        ----------
        relations : iterable of str
            "is_a" or names of other relations that the ontology has.

        Raises
        ------
        ValueError
            If the ontology does not have one of the relations.
        DataError
            If the relations form a cycle.
        """
        relations = self.known_relations(relations)
        edges = list(self.edges(relations))
        nodes = dict.fromkeys([*self.terms, *(parent for parent, _ in edges)])
        try:
            return Hierarchy.from_edges(edges, features=list(nodes))
        except ValueError as error:
            line = next((line for term, line in self.lines.items() if term in str(error)), None)
            hint = "" if relations == ("is_a",) else f"; relations are {', '.join(relations)}: leave one out"
            raise DataError(f"{error}{hint}", self.source, line) from None


def namespace_codes(namespaces: str | Iterable[str]) -> tuple[str, ...]:
    """Any of "BP", "MF" and "CC", in this order, from "CCBP", "CC,BP" or ("CC", "BP").

    >>> namespace_codes("ccbp"), namespace_codes("MF, BP")
    (('BP', 'CC'), ('BP', 'MF'))
    """
    joined = namespaces if isinstance(namespaces, str) else "".join(map(str, namespaces))
    joined = joined.replace(",", "").replace(" ", "")
    pairs = [joined[i : i + 2].upper() for i in range(0, len(joined), 2)]
    if not pairs or len(set(pairs)) < len(pairs) or not set(pairs) <= set(GO_NAMESPACES):
        raise ValueError(
            f"namespaces is {namespaces!r}; expected BP, MF and CC, each at most once, such as 'BP,CC'"
        )
    return tuple(code for code in GO_NAMESPACES if code in pairs)


def choose_namespaces(namespaces: str | Iterable[str] | None, ontology: Ontology) -> tuple[str, ...]:
    """The namespaces of `ontology` that are meant: by full name, or by GO's abbreviations; None means all."""
    if namespaces is None:
        return ontology.namespaces
    listed = [namespaces] if isinstance(namespaces, str) else list(namespaces)
    if len(listed) == 1 and listed[0] not in ontology.namespaces:
        listed = [part.strip() for part in listed[0].split(",")]
    named = tuple(listed)
    if named and all(name in ontology.namespaces for name in named):
        return named
    try:
        chosen = tuple(GO_NAMESPACES[code] for code in namespace_codes(named))
    except ValueError:
        chosen = ()
    if not chosen or not set(chosen) <= set(ontology.namespaces):
        raise ValueError(f"namespaces is {namespaces!r}; {_namespaces_of(ontology)}")
    return chosen


def _namespaces_of(ontology: Ontology) -> str:
    if ontology.namespaces == ("",):
        return "the ontology has none; a table of edges can have them in a column called namespace"
    listed = ", ".join(map(repr, ontology.namespaces))
    return f"the ontology has {listed}, and GO's abbreviations BP, MF and CC are accepted for them"
