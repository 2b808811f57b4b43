"""An ontology in memory: its terms, what became of retired ids, and the hierarchies of its relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy


class Term(NamedTuple):
    """One term; `is_a` lists the ids of its direct parents, `relationships` (relation, id) of the others.

    An obsolete term may name the term that takes its place (`replaced_by`) or terms to consider by hand.
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
        """The terms that this one stands below under any of the relations."""
        for relation in relations:
            if relation == "is_a":
                yield from self.is_a
            else:
                yield from (target for name, target in self.relationships if name == relation)


@dataclass(frozen=True)
class Ontology:
    """The terms of an ontology by id, in file order, and the `data-version` of its header ("" without one).

    `source` and `lines` say where the terms stand, for messages.

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

    def __repr__(self) -> str:
        return f"Ontology(version={self.version!r}, {len(self.terms)} terms)"

    def edges(self, relations: Iterable[str] = ("is_a",)) -> Iterator[tuple[str, str]]:
        """The relations as (parent, child)."""
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
        """The id of the term here: `term_id` itself, that of the term it was merged into, or None."""
        return term_id if term_id in self.terms else self.alternatives.get(term_id)

    def successor(self, term_id: str) -> str | None:
        """The living term that an obsolete one was replaced by, step by step; None where that is not one term."""
        seen = set[str]()
        current = self.resolve(term_id)
        while current is not None and current not in seen:
            term = self.terms[current]
            if not term.is_obsolete:
                return current
            seen.add(current)
            current = self.resolve(term.replaced_by[0]) if len(term.replaced_by) == 1 else None
        return None

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The is_a hierarchy over all terms (and over parents named but not defined)."""
        return self.hierarchy_of(("is_a",))

    def hierarchy_of(self, relations: Iterable[str]) -> Hierarchy:
        """The hierarchy in which a term stands below those that any of `relations` leads to."""
        relations = (relations,) if isinstance(relations, str) else tuple(relations)
        unknown = [name for name in relations if name not in self.relations]
        if unknown:
            raise ValueError(
                f"the ontology has no relation {unknown[0]!r}; it has {', '.join(self.relations)}"
            )
        edges = list(self.edges(relations))
        nodes = dict.fromkeys([*self.terms, *(parent for parent, _ in edges)])
        try:
            return Hierarchy.from_edges(edges, features=list(nodes))
        except ValueError as error:
            raise self._cyclic(str(error), relations) from None

    def _cyclic(self, message: str, relations: tuple[str, ...]) -> DataError:
        line = next((line for term, line in self.lines.items() if term in message), None)
        hint = "" if relations == ("is_a",) else f"; relations are {', '.join(relations)}: leave one out"
        return DataError(f"{message}{hint}", self.source, line)
