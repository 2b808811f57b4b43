"""Genes as annotation files describe them: their terms, all their names, and which labelled id is which gene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from hietan.datasets.account import LEFT_OUT, OBSOLETE_TERM, UNKNOWN_TERM, Tally
from hietan.datasets.readers.annotation import Annotation
from hietan.datasets.readers.ontology import Ontology

MATCHES = ("id", "symbol", "synonym")
"""The kinds of names by which a labelled id can be matched to a gene."""

_Index = dict[str, dict[str, None]]


@dataclass
class Genes:
    """What the annotations say about each object (a gene or one of its products).

    Attributes
    ----------
    terms : dict of str to set of str
        The usable terms of each object.
    lines : Counter
        The number of usable annotations of each object.
    symbols : dict of str to str
        The symbol of each object that has one.
    by_symbol, by_synonym : dict of str to dict
        The objects that share a symbol or a synonym, in order of appearance.
    left_out : set of str
        The terms of annotations that were left out on request.
    """

    terms: dict[str, set[str]] = field(default_factory=dict)
    lines: Counter[str] = field(default_factory=Counter)
    symbols: dict[str, str] = field(default_factory=dict)
    by_symbol: _Index = field(default_factory=dict)
    by_synonym: _Index = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def note_names(self, annotation: Annotation) -> None:
        """Record the names of the object when it appears for the first time."""
        if annotation.object_id in self.terms:
            return
        self.terms[annotation.object_id] = set()
        if annotation.symbol:
            self.symbols[annotation.object_id] = annotation.symbol
            self.by_symbol.setdefault(annotation.symbol, {})[annotation.object_id] = None
        for synonym in annotation.synonyms:
            self.by_synonym.setdefault(synonym, {})[annotation.object_id] = None

    def objects(self, name: str, match: Sequence[str]) -> tuple[str, ...]:
        """The objects called `name`; the first of the kinds of names in `match` that knows it decides.

        An id stands for one object. A symbol may stand for several (proteins of one gene), which are taken
        together; so may a synonym, but then it is not clear which gene is meant.
        """
        for kind in match:
            if kind == "id" and name in self.terms:
                return (name,)
            index = {"symbol": self.by_symbol, "synonym": self.by_synonym}.get(kind, {})
            if name in index:
                return tuple(index[name])
        return ()

    def is_ambiguous(self, name: str, match: Sequence[str]) -> bool:
        """Whether `name` is known only as a synonym, and of several objects."""
        others = [kind for kind in match if kind != "synonym"]
        return len(self.objects(name, match)) > 1 and not self.objects(name, others)

    def synonyms(self) -> dict[str, list[str]]:
        """The synonyms of each object that has any."""
        found: dict[str, list[str]] = {}
        for synonym, objects in self.by_synonym.items():
            for each in objects:
                found.setdefault(each, []).append(synonym)
        return found

    def named_by(self, kind: str) -> dict[str, tuple[str, ...]]:
        """All genes by this kind of name, with their objects."""
        if kind == "id":
            return {name: (name,) for name in self.terms}
        index = self.by_symbol if kind == "symbol" else self.by_synonym
        return {name: tuple(objects) for name, objects in index.items()}


class LivingTerms:
    """Finds the current term of the chosen namespaces that an annotation refers to."""

    def __init__(self, ontology: Ontology, namespaces: Iterable[str], follow_replaced: bool) -> None:
        self.ontology, self.follow_replaced = ontology, follow_replaced
        self.namespaces = frozenset(namespaces)

    def __call__(self, term_id: str, tally: Tally) -> str | None:
        """The id of that term; None if there is none, in which case the tally says why."""
        current = self.ontology.resolve(term_id)
        if current is None:
            tally.drop(UNKNOWN_TERM)
            return None
        change = "mapped from an alternative id" if current != term_id else ""
        if self.ontology.terms[current].is_obsolete:
            current = self.ontology.successor(current) if self.follow_replaced else None
            change = "mapped to a replacement"
            if current is None:
                tally.drop(OBSOLETE_TERM)
                return None
        if self.ontology.terms[current].namespace not in self.namespaces:
            tally.drop("other namespace")
            return None
        if change:
            tally.change(change)
        return current


def genes_from_annotations(
    annotations: Iterable[Annotation],
    living_term: Callable[[str, Tally], str | None],
    tally: Tally,
    taxon: str | None,
    evidence: Collection[str] | None,
    left_out: Collection[str] = (),
) -> Genes:
    """Read all annotations, and gather those with the right taxon and evidence whose term is current and not left out.

    The names of a gene are recorded even if none of its annotations counts: then a labelled id that names it is known
    to lack annotations, not to be unknown.
    """
    genes = Genes()
    for annotation in annotations:
        tally.read += 1
        if taxon is not None and annotation.taxon.partition("|")[0] != taxon:
            tally.drop("other taxon")
            continue
        genes.note_names(annotation)
        if annotation.negated:
            tally.drop("NOT: says the opposite")
        elif evidence is not None and annotation.evidence not in evidence:
            tally.drop("other evidence")
        elif (term := living_term(annotation.term, tally)) is None:
            continue
        elif term in left_out:
            tally.drop(LEFT_OUT)
            genes.left_out.add(term)
        else:
            genes.lines[annotation.object_id] += 1
            genes.terms[annotation.object_id].add(term)
    return genes
