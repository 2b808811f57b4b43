"""Genes as annotation files know them: their terms, all their names, and which labelled id is which gene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from hietan.datasets.building.tally import Tally
from hietan.datasets.readers.annotations import Annotation

MATCHES = ("id", "symbol", "synonym")
_Index = dict[str, dict[str, None]]


@dataclass
class Genes:
    """The usable terms of each object of an annotation file, and the objects that a name stands for."""

    terms: dict[str, set[str]] = field(default_factory=dict)
    lines: Counter[str] = field(default_factory=Counter)
    symbols: dict[str, str] = field(default_factory=dict)
    by_symbol: _Index = field(default_factory=dict)
    by_synonym: _Index = field(default_factory=dict)

    def meet(self, annotation: Annotation) -> None:
        """Take note of the names, once per object."""
        if annotation.object_id in self.terms:
            return
        self.terms[annotation.object_id] = set()
        if annotation.symbol:
            self.symbols[annotation.object_id] = annotation.symbol
            self.by_symbol.setdefault(annotation.symbol, {})[annotation.object_id] = None
        for synonym in annotation.synonyms:
            self.by_synonym.setdefault(synonym, {})[annotation.object_id] = None

    def objects(self, name: str, match: Sequence[str]) -> tuple[str, ...]:
        """The objects called `name`: the first kind of name that is known decides.

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
        """Whether `name` is nothing but a synonym, and that of several objects."""
        others = [kind for kind in match if kind != "synonym"]
        return len(self.objects(name, match)) > 1 and not self.objects(name, others)

    def named_by(self, kind: str) -> dict[str, tuple[str, ...]]:
        """All genes under this kind of name, with their objects."""
        if kind == "id":
            return {name: (name,) for name in self.terms}
        index = self.by_symbol if kind == "symbol" else self.by_synonym
        return {name: tuple(objects) for name, objects in index.items()}


def collect(
    annotations: Iterable[Annotation],
    term_of: Callable[[str, Tally], str | None],
    tally: Tally,
    taxon: str | None,
    evidence: Collection[str] | None,
) -> Genes:
    """Read all annotations, and keep those that the options let through; `term_of` does so for terms."""
    genes = Genes()
    for annotation in annotations:
        tally.read += 1
        if taxon is not None and annotation.taxon.partition("|")[0] != taxon:
            tally.drop("other taxon")
            continue
        genes.meet(annotation)
        if annotation.negated:
            tally.drop("NOT: says the opposite")
        elif evidence is not None and annotation.evidence not in evidence:
            tally.drop("other evidence")
        elif (term := term_of(annotation.term, tally)) is not None:
            genes.lines[annotation.object_id] += 1
            genes.terms[annotation.object_id].add(term)
    return genes
