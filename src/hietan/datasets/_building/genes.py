"""Genes as annotation files describe them: their terms, all their names, and which labelled id is which gene."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.datasets._build_log import (
    CONFLICTING_IDS,
    NO_ANNOTATION,
    NO_ROW,
    REPEATED_IDS,
    SHARED_SYNONYM,
    Tally,
)
from hietan.datasets._building.term_lookup import TermMeanings
from hietan.datasets._readers.annotation_formats import Annotation, PairBlock
from hietan.datasets._readers.annotations import AnnotationReader
from hietan.datasets._readers.labels import Labels, resolve_conflict
from hietan.exceptions import DataError

MATCHES = ("id", "symbol", "synonym")
"""The kinds of names by which a labelled id can be matched to a gene."""

_Index = dict[str, dict[str, None]]
_FEW_PAIRS = 1 << 22  # up to so many, repetitions do no harm


class AnnotatedPairs:
    """Which object has which term: 8 bytes for each pair, whatever its names, so that tens of millions fit in memory.

    A pair is a number: that of the object, in the order of appearance, times 2^32 plus that of the term. Repetitions
    are dropped whenever as many pairs have come as there were different ones.
    """

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self._pairs = array("q")
        self._settled = 0  # so many pairs at the beginning are sorted, and all different
        self._limit = _FEW_PAIRS

    def number_of(self, term: str) -> int:
        """The number of a term, in the order of appearance."""
        return self.terms.setdefault(term, len(self.terms))

    def add(self, number: int, term: str) -> None:
        """Note that the object of this number has a term."""
        self._pairs.append(number << 32 | self.number_of(term))
        self._drop_repetitions_if_many()

    def add_many(self, numbers: NDArray[np.int64], terms: NDArray[np.int64]) -> None:
        """Note that objects have terms, both given by their numbers."""
        self._pairs.frombytes((numbers << 32 | terms).tobytes())
        self._drop_repetitions_if_many()

    def _drop_repetitions_if_many(self) -> None:
        if len(self._pairs) >= self._limit:
            self._limit = max(_FEW_PAIRS, 2 * len(self._settle()))

    def _settle(self) -> NDArray[np.int64]:
        """All different pairs, sorted; valid until one is added.

        They are sorted where they are: `numpy.unique` would need several times their memory.
        """
        if self._settled < len(self._pairs):
            pairs = np.frombuffer(self._pairs, dtype=np.int64)
            pairs.sort()
            is_new = np.ones(len(pairs), dtype=np.bool_)
            np.not_equal(pairs[1:], pairs[:-1], out=is_new[1:])
            different = pairs[is_new]
            pairs[: len(different)] = different
            self._settled = len(different)
            del pairs, different  # an array cannot shrink while it is looked into
            del self._pairs[self._settled :]
        return np.frombuffer(self._pairs, dtype=np.int64)

    def counts(self, n_objects: int) -> NDArray[np.int64]:
        """The number of different terms of each object."""
        return np.bincount(self._settle() >> 32, minlength=n_objects)

    def matrix(self, n_objects: int, column_of: Mapping[str, int], n_columns: int) -> csr_array:
        """A row per object with a 1 in the column of each of its terms."""
        pairs = self._settle()
        column = np.array([column_of[term] for term in self.terms], dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum(self.counts(n_objects))])
        ones = np.ones(len(pairs), dtype=np.uint8)
        indices = column[pairs & 0xFFFFFFFF] if len(pairs) else np.empty(0, dtype=np.int32)
        return csr_array((ones, indices, indptr.astype(np.int32)), shape=(n_objects, n_columns))


@dataclass
class Genes:
    """What the annotations say about each object (a gene or one of its products).

    Attributes
    ----------
    numbers : dict of str to int
        The objects in order of appearance, with their numbers.
    pairs : AnnotatedPairs
        The usable terms of each object.
    lines : array of int
        The number of usable annotations of each object.
    symbols : dict of str to str
        The symbol of each object that has one.
    by_symbol, by_synonym : dict of str to dict
        The objects that share a symbol or a synonym, in order of appearance.
    left_out : set of str
        The terms of annotations that were left out on request.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    pairs: AnnotatedPairs = field(default_factory=AnnotatedPairs)
    lines: array[int] = field(default_factory=lambda: array("q"))
    symbols: dict[str, str] = field(default_factory=dict)
    by_symbol: _Index = field(default_factory=dict)
    by_synonym: _Index = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def number_of(self, annotation: Annotation) -> int:
        """The number of the object; when it appears for the first time, its names are recorded."""
        name = annotation.object_id
        number = self.numbers.get(name)
        if number is not None:
            return number
        number = self.numbers[name] = len(self.numbers)
        self.lines.append(0)
        if annotation.symbol:
            self.symbols[name] = annotation.symbol
            self.by_symbol.setdefault(annotation.symbol, {})[name] = None
        for synonym in annotation.synonyms:
            self.by_synonym.setdefault(synonym, {})[name] = None
        return number

    def add_block(self, block: PairBlock, meanings: TermMeanings, tally: Tally) -> None:
        """Record many annotations at once that say nothing but which object has which term."""
        known = self.numbers
        numbers = np.array([known.setdefault(name, len(known)) for name in block.ids], dtype=np.int64)
        self.lines.extend([0] * (len(known) - len(self.lines)))
        terms = meanings.numbers(block.terms, self.pairs.number_of, tally)
        self.left_out |= meanings.left_out
        is_used = terms >= 0
        numbers, terms = numbers[is_used], terms[is_used]
        np.add.at(np.frombuffer(self.lines, dtype=np.int64), numbers, 1)
        self.pairs.add_many(numbers, terms)

    def has_terms(self, objects: Iterable[str]) -> bool:
        """Whether any of these objects has a usable annotation."""
        return any(self.lines[self.numbers[name]] for name in objects)

    def n_different(self, objects: Iterable[str]) -> int:
        """The number of different pairs of one of these objects and a term."""
        numbers = np.array([self.numbers[name] for name in objects], dtype=np.int64)
        return int(self.pairs.counts(len(self.numbers))[numbers].sum())

    def annotated(
        self, rows: Sequence[Sequence[str]], column_of: Mapping[str, int], n_columns: int
    ) -> csr_array:
        """A matrix with a 1 for each term that an object of a row is annotated with directly."""
        table: Any = self.pairs.matrix(len(self.numbers), column_of, n_columns)
        sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        numbers = np.fromiter(
            (self.numbers[name] for objects in rows for name in objects),
            dtype=np.int32,
            count=int(sizes.sum()),
        )
        ones = np.ones(len(numbers), dtype=np.uint8)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        table = csr_array((ones, numbers, indptr), shape=(len(rows), len(self.numbers))) @ table
        table.data[:] = 1
        table.sort_indices()
        chosen: csr_array = table
        return chosen

    def objects(self, name: str, match: Sequence[str]) -> tuple[str, ...]:
        """The objects called `name`; the first of the kinds of names in `match` that knows it decides.

        An id stands for one object. A symbol may stand for several (proteins of one gene), which are taken
        together; so may a synonym, but then it is not clear which gene is meant.
        """
        for kind in match:
            if kind == "id" and name in self.numbers:
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
            return {name: (name,) for name in self.numbers}
        index = self.by_symbol if kind == "symbol" else self.by_synonym
        return {name: tuple(objects) for name, objects in index.items()}


def genes_from_annotations(
    annotations: Iterable[Annotation],
    meanings: TermMeanings,
    tally: Tally,
    taxon: str | None,
    evidence: Collection[str] | None,
) -> Genes:
    """Read all annotations, and gather those with the right taxon and evidence whose term has a meaning.

    The names of a gene are recorded even if none of its annotations counts: then a labelled id that names it is known
    to lack annotations, not to be unknown.
    """
    genes = Genes()
    if (
        isinstance(annotations, AnnotationReader)
        and annotations.holds_only_pairs
        and taxon is evidence is None
    ):
        for block in annotations.blocks():
            tally.read += len(block.ids)
            genes.add_block(block, meanings, tally)
        return genes
    for annotation in annotations:
        tally.read += 1
        if taxon is not None and annotation.taxon.partition("|")[0] != taxon:
            tally.drop("other taxon")
            continue
        number = genes.number_of(annotation)
        if annotation.negated:
            tally.drop("NOT: says the opposite")
        elif evidence is not None and annotation.evidence not in evidence:
            tally.drop("other evidence")
        elif (term := meanings(annotation.term, tally)) is not None:
            genes.lines[number] += 1
            genes.pairs.add(number, term)
    genes.left_out |= meanings.left_out
    return genes


# ---------------------------------------------------------------------------------------- rows


@dataclass(frozen=True)
class GeneRows:
    """The rows of a dataset: the name of each, the objects of the annotations that it joins, and its label.

    All labels are "" if the rows are not labelled.
    """

    names: list[str]
    objects: list[tuple[str, ...]]
    labels: list[str]

    def symbols(self, genes: Genes) -> tuple[str, ...]:
        """The symbol of each row's first object that has one; none at all if they only repeat the names."""
        if not genes.symbols:
            return ()
        found = [
            next((genes.symbols[each] for each in objects if each in genes.symbols), "")
            for objects in self.objects
        ]
        informative = any(symbol not in ("", name) for symbol, name in zip(found, self.names, strict=True))
        return tuple(found) if informative else ()

    def synonyms(self, genes: Genes) -> tuple[tuple[str, ...], ...]:
        """All other names of each row: the ids, symbols and synonyms of its objects; none at all if no row has any."""
        listed, shown = genes.synonyms(), self.symbols(genes) or ("",) * len(self.names)
        found = []
        for objects, name, symbol in zip(self.objects, self.names, shown, strict=True):
            names = [
                n for each in objects for n in (each, genes.symbols.get(each, ""), *listed.get(each, ()))
            ]
            found.append(tuple(n for n in dict.fromkeys(names) if n not in ("", name, symbol)))
        return tuple(found) if any(found) else ()

    def take(self, at: Sequence[int]) -> GeneRows:
        """The rows at these positions."""
        return GeneRows(
            [self.names[i] for i in at], [self.objects[i] for i in at], [self.labels[i] for i in at]
        )


def all_rows(genes: Genes, kind: str, tally: Tally) -> GeneRows:
    """A row for every gene that has a usable annotation, named by this kind of name."""
    named = genes.named_by(kind)
    tally.read = len(named)
    kept = {name: objects for name, objects in named.items() if genes.has_terms(objects)}
    tally.drop(NO_ANNOTATION, len(named) - len(kept))
    return GeneRows(list(kept), list(kept.values()), [""] * len(kept))


def labelled_rows(
    labels: Labels, genes: Genes, match: Sequence[str], on_conflict: str, tally: Tally
) -> GeneRows:
    """A row per labelled id that is an annotated gene.

    Several ids may mean the same gene (a symbol and a synonym, say): these become one row, named by the first of them,
    or none if their labels conflict.
    """
    tally.read = len(labels)
    ids_of: dict[tuple[str, ...], list[str]] = {}
    for name in labels.by_id:
        objects = genes.objects(name, match)
        if not objects:
            tally.drop(NO_ROW)
        elif genes.is_ambiguous(name, match):
            tally.drop(SHARED_SYNONYM)
        elif not genes.has_terms(objects):
            tally.drop(NO_ANNOTATION)
        else:
            ids_of.setdefault(objects, []).append(name)
    chosen = []
    for objects, names in ids_of.items():
        label = _one_label(labels, names, on_conflict)
        if label is None:
            tally.drop(CONFLICTING_IDS, len(names))
        else:
            tally.drop(REPEATED_IDS, len(names) - 1)
            chosen.append((names[0], objects, label))
    return GeneRows(
        [name for name, _, _ in chosen], [o for _, o, _ in chosen], [label for _, _, label in chosen]
    )


def _one_label(labels: Labels, names: Sequence[str], on_conflict: str) -> str | None:
    given = [labels.by_id[name] for name in names]
    if len(set(given)) > 1 and on_conflict == "raise":
        what = ", ".join(f"{name} ({label})" for name, label in zip(names, given, strict=True))
        raise DataError(f"ids of the same row have different labels: {what}", labels.name)
    return resolve_conflict(given, on_conflict)
