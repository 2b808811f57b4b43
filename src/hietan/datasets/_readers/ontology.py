"""An ontology in memory: its terms, namespaces and retired ids, and the hierarchies that its relations define."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._taxonomies import path_parts

GO_NAMESPACES = {"BP": "biological_process", "MF": "molecular_function", "CC": "cellular_component"}
"""The namespaces of the Gene Ontology by their abbreviations."""
_IS_A = frozenset(("is_a", "isa", "subclass_of", "subclassof"))
RELATIONS = frozenset(
    [
        *("is_a", "part_of", "has_part", "regulates", "positively_regulates", "negatively_regulates"),
        *("occurs_in", "happens_during", "ends_during", "develops_from", "derives_from", "located_in"),
    ]
)
"""The relations that identify an unnamed column of a table as its relation column."""


def relation_name(text: str) -> str:
    """Return a relation's standard name for any of the spellings that tables use.

    >>> relation_name("isa"), relation_name("Part of"), relation_name("RO:0002211")
    ('is_a', 'part_of', 'RO:0002211')
    """
    name = "_".join(text.split())
    plain = name.lower().replace("-", "_")
    return "is_a" if plain in _IS_A else plain if plain in RELATIONS else name


class Term(NamedTuple):
    """A term in an ontology.

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
        The terms that replace an obsolete term, and terms that a curator might use instead.
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
        """Yield the ids of the term's direct parents under any of the relations.

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
    """An ontology's terms.

    Parameters
    ----------
    terms : mapping of str to Term
        The terms by id, in file order.
    version : str
        The `data-version` of the file; "" without one.
    source : str
        The file name, for messages.
    lines : mapping of str to int
        The line at which each term begins, for messages.
    remarks : tuple of str
        What was detected in the file rather than given, such as the column order of a table.
    is_plain : bool
        Whether the terms come from a plain list of edges, which may have any number of roots.
    has_relations : bool
        Whether the source names the relation of each edge; if not, all edges count as is_a.
    separator : str
        The text between the names of a path, if terms are named by their paths.

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
    separator: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"Ontology(version={self.version!r}, {len(self.terms)} terms)"

    def edges(self, relations: Iterable[str] = ("is_a",)) -> Iterator[tuple[str, str]]:
        """Return the (parent, child) pairs that are connected by at least one of the relations.

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
        return ("is_a", *sorted({name for term in self.terms.values() for name, _ in term.relationships}))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that occur, in order of appearance."""
        return tuple(dict.fromkeys(term.namespace for term in self.terms.values()))

    @cached_property
    def alternatives(self) -> dict[str, str]:
        """The current id of each alternative id."""
        return {alt: term.id for term in self.terms.values() for alt in term.alt_ids}

    def resolve(self, term_id: str) -> str | None:
        """Return the term's id in this ontology: `term_id`, the term into which it was merged, or None if unknown.

        A path may contain other spaces than the term, and may end with ranks that have no name.
        """
        if term_id in self.terms:
            return term_id
        if self.separator and self.separator.strip() in term_id and term_id not in self.alternatives:
            try:
                term_id = self.separator.join(path_parts(term_id, self.separator.strip() or self.separator))
            except ValueError:
                return None
        return term_id if term_id in self.terms else self.alternatives.get(term_id)

    def successor(self, term_id: str) -> str | None:
        """Return the current term that replaced an obsolete term, directly or through several replacements.

        Return None if a step leads to no term, to several terms, or back to an earlier term.
        """
        walked = set[str]()
        current = self.resolve(term_id)
        while current is not None and current not in walked and self.terms[current].is_obsolete:
            walked.add(current)
            replaced_by = self.terms[current].replaced_by
            current = self.resolve(replaced_by[0]) if len(replaced_by) == 1 else None
        return None if current in walked else current

    def undefined_parents(self, relations: Iterable[str] = ("is_a",)) -> list[tuple[str, str]]:
        """Return the (parent, child) pairs whose parent the ontology does not define.

        The ancestors of such a parent are unknown, so annotations with the child are not inherited along this path.

        Parameters
        ----------
        relations : iterable of str
            "is_a" or names of other relations.
        """
        return [edge for edge in self.edges(relations) if edge[0] not in self.terms]

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The is_a hierarchy over all terms, including parents that are named but not defined."""
        return self.hierarchy_of(("is_a",))

    def known_relations(self, relations: str | Iterable[str]) -> tuple[str, ...]:
        """Return these relations in the ontology's spelling. Raise ValueError if the ontology lacks a relation."""
        given = (relations,) if isinstance(relations, str) else tuple(relations)
        found = tuple(name if name in self.relations else relation_name(name) for name in given)
        unknown = [name for name in found if name not in self.relations]
        if unknown:
            no_column = (
                "its edges have no relations; call their column relation in the file, or name it with edge_columns "
                "(for `hietan build`: --edge-columns PARENT,CHILD,RELATION)"
            )
            has = f"its relations are {', '.join(self.relations)}" if self.has_relations else no_column
            raise ValueError(f"the ontology has no relation {unknown[0]!r}; {has}")
        return found

    def hierarchy_of(self, relations: Iterable[str]) -> Hierarchy:
        """Return the hierarchy with an edge for each pair of terms that at least one of these relations connects.

        Parameters
        ----------
        relations : iterable of str
            "is_a" or names of other relations that the ontology has.

        Raises
        ------
        ValueError
            If the ontology lacks one of the relations.
        DataError
            If the relations form a cycle.
        """
        relations = self.known_relations(relations)
        edges = list(self.edges(relations))
        nodes = dict.fromkeys([*self.terms, *(parent for parent, _ in edges)])
        try:
            return Hierarchy.from_edges(edges, features=list(nodes))
        except ValueError as error:
            shown = {*str(error).partition(": ")[2].split(" -> "), str(error).partition(" is its")[0]}
            line = next((line for term, line in self.lines.items() if {term, repr(term)} & shown), None)
            hint = (
                ""
                if relations == ("is_a",)
                else f"; the relations are {', '.join(relations)}, so omit one of them"
            )
            raise DataError(f"{error}{hint}", self.source, line) from None


def namespace_codes(namespaces: str | Iterable[str]) -> tuple[str, ...]:
    """Return the GO abbreviations in a text or sequence, in the order "BP", "MF", "CC".

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
    """Return the requested namespaces of `ontology`, given by full name or GO abbreviation.

    None means all namespaces.
    """
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
        return "the ontology has no namespaces; an edge table can list them in a column called namespace"
    listed = ", ".join(map(repr, ontology.namespaces))
    return f"the ontology's namespaces are {listed}, and GO's abbreviations BP, MF and CC are also accepted"
