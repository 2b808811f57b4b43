"""Genes in annotation files: their terms, all of their names, and the gene that each labelled id refers to."""

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
_FEW_PAIRS = 1 << 22  # up to this number, repetitions do no harm


class AnnotatedPairs:
    """Pairs of an object and a term. Each pair uses 8 bytes, so tens of millions of pairs fit in memory.

    A pair is a number: the object's number, in order of appearance, times 2^32 plus the term's number. Repetitions are
    dropped whenever the number of pairs has doubled.
    """

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self._pairs = array("q")
        self._settled = 0  # the number of pairs at the beginning that are sorted and distinct
        self._limit = _FEW_PAIRS

    def number_of(self, term: str) -> int:
        """Return a term's number, in order of appearance."""
        return self.terms.setdefault(term, len(self.terms))

    def add(self, number: int, term: str) -> None:
        """Record a term for the object with this number."""
        self._pairs.append(number << 32 | self.number_of(term))
        self._drop_repetitions_if_many()

    def add_many(self, numbers: NDArray[np.int64], terms: NDArray[np.int64]) -> None:
        """Record terms for objects, both given by number."""
        self._pairs.frombytes((numbers << 32 | terms).tobytes())
        self._drop_repetitions_if_many()

    def _drop_repetitions_if_many(self) -> None:
        if len(self._pairs) >= self._limit:
            self._limit = max(_FEW_PAIRS, 2 * len(self._settle()))

    def _settle(self) -> NDArray[np.int64]:
        """Return all distinct pairs, sorted. The result is valid until another pair is added.

        They are sorted in place: `numpy.unique` would need several times their memory.
        """
        if self._settled < len(self._pairs):
            pairs = np.frombuffer(self._pairs, dtype=np.int64)
            pairs.sort()
            is_new = np.ones(len(pairs), dtype=np.bool_)
            np.not_equal(pairs[1:], pairs[:-1], out=is_new[1:])
            different = pairs[is_new]
            pairs[: len(different)] = different
            self._settled = len(different)
            del pairs, different  # an array cannot shrink while a view of it exists
            del self._pairs[self._settled :]
        return np.frombuffer(self._pairs, dtype=np.int64)

    def counts(self, n_objects: int) -> NDArray[np.int64]:
        """Return each object's number of distinct terms."""
        return np.bincount(self._settle() >> 32, minlength=n_objects)

    def matrix(self, n_objects: int, column_of: Mapping[str, int], n_columns: int) -> csr_array:
        """Return a matrix with a row per object and a 1 in the column of each of its terms."""
        pairs = self._settle()
        column = np.array([column_of[term] for term in self.terms], dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum(self.counts(n_objects))])
        ones = np.ones(len(pairs), dtype=np.uint8)
        indices = column[pairs & 0xFFFFFFFF] if len(pairs) else np.empty(0, dtype=np.int32)
        return csr_array((ones, indices, indptr.astype(np.int32)), shape=(n_objects, n_columns))


@dataclass
class Genes:
    """Each object's annotations. An object is a gene or a gene product.

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
    denied : list of (str, str)
        The objects and terms of annotations with the qualifier NOT.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    pairs: AnnotatedPairs = field(default_factory=AnnotatedPairs)
    lines: array[int] = field(default_factory=lambda: array("q"))
    symbols: dict[str, str] = field(default_factory=dict)
    by_symbol: _Index = field(default_factory=dict)
    by_synonym: _Index = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    denied: list[tuple[str, str]] = field(default_factory=list)

    def number_of(self, annotation: Annotation) -> int:
        """Return the object's number, and record its names when it first appears."""
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
        """Record many plain (object, term) pairs together."""
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
        """Return whether any of these objects has a usable annotation."""
        return any(self.lines[self.numbers[name]] for name in objects)

    def n_different(self, objects: Iterable[str]) -> int:
        """Return the number of different terms that these objects have, summed over the objects."""
        numbers = np.array([self.numbers[name] for name in objects], dtype=np.int64)
        return int(self.pairs.counts(len(self.numbers))[numbers].sum())

    def annotated(
        self, rows: Sequence[Sequence[str]], column_of: Mapping[str, int], n_columns: int
    ) -> csr_array:
        """Return a matrix with a 1 for each term that directly annotates one of a row's objects."""
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
        """Return the objects called `name`. Kinds of names are tried in the order of `match`.

        An id stands for one object. A symbol may stand for several (proteins of one gene), which are combined. A
        synonym may also stand for several, but then it is unclear which gene is meant.
        """
        for kind in match:
            if kind == "id" and name in self.numbers:
                return (name,)
            index = {"symbol": self.by_symbol, "synonym": self.by_synonym}.get(kind, {})
            if name in index:
                return tuple(index[name])
        return ()

    def is_ambiguous(self, name: str, match: Sequence[str]) -> bool:
        """Return whether `name` is known only as a synonym, and for several objects."""
        others = [kind for kind in match if kind != "synonym"]
        return len(self.objects(name, match)) > 1 and not self.objects(name, others)

    def synonyms(self) -> dict[str, list[str]]:
        """Return the synonyms of each object that has synonyms."""
        found: dict[str, list[str]] = {}
        for synonym, objects in self.by_synonym.items():
            for each in objects:
                found.setdefault(each, []).append(synonym)
        return found

    def named_by(self, kind: str) -> dict[str, tuple[str, ...]]:
        """Return a mapping from each gene's names of this kind to the gene's objects."""
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
    """Read all annotations, and collect those with a usable term and the right taxon and evidence.

    A gene's names are recorded even if none of its annotations counts. A labelled id for this gene is then reported
    as lacking annotations, not as unknown.
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
            tally.drop("NOT: states the opposite")
            genes.denied.append((annotation.object_id, annotation.term))
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
    """A dataset's rows: each row's name, its label, and the annotated objects that it combines.

    All labels are "" if the rows are not labelled.
    """

    names: list[str]
    objects: list[tuple[str, ...]]
    labels: list[str]

    def symbols(self, genes: Genes) -> tuple[str, ...]:
        """Return each row's first symbol. The result is empty if all symbols equal the row names."""
        if not genes.symbols:
            return ()
        found = [
            next((genes.symbols[each] for each in objects if each in genes.symbols), "")
            for objects in self.objects
        ]
        informative = any(symbol not in ("", name) for symbol, name in zip(found, self.names, strict=True))
        return tuple(found) if informative else ()

    def synonyms(self, genes: Genes) -> tuple[tuple[str, ...], ...]:
        """Return each row's other names (ids, symbols and synonyms). The result is empty if no row has other names."""
        listed, shown = genes.synonyms(), self.symbols(genes) or ("",) * len(self.names)
        found = []
        for objects, name, symbol in zip(self.objects, self.names, shown, strict=True):
            names = [
                n for each in objects for n in (each, genes.symbols.get(each, ""), *listed.get(each, ()))
            ]
            found.append(tuple(n for n in dict.fromkeys(names) if n not in ("", name, symbol)))
        return tuple(found) if any(found) else ()

    def take(self, at: Sequence[int]) -> GeneRows:
        """Return the rows at these positions."""
        return GeneRows(
            [self.names[i] for i in at], [self.objects[i] for i in at], [self.labels[i] for i in at]
        )


def all_rows(genes: Genes, kind: str, tally: Tally) -> GeneRows:
    """Return a row for every gene with a usable annotation. Each row is named by its id or symbol, as requested."""
    named = genes.named_by(kind)
    tally.read = len(named)
    kept = {name: objects for name, objects in named.items() if genes.has_terms(objects)}
    tally.drop(NO_ANNOTATION, len(named) - len(kept))
    return GeneRows(list(kept), list(kept.values()), [""] * len(kept))


def labelled_rows(
    labels: Labels,
    genes: Genes,
    match: Sequence[str],
    on_conflict: str,
    tally: Tally,
    others: str,
    unlabelled: Tally,
) -> GeneRows:
    """Return a row per labelled id that is an annotated gene.

    Other annotated genes get rows only if they get the class `others`. They come last, and `unlabelled` counts them.

    Several ids may mean the same gene (a symbol and a synonym, say). They become one row, named by the first id, or
    no row if their labels conflict.
    """
    tally.read = len(labels)
    ids_of: dict[tuple[str, ...], list[str]] = {}
    for name in labels.by_id:
        objects, is_shared = genes.objects(name, match), genes.is_ambiguous(name, match)
        if genes.has_terms(objects) and not is_shared:
            ids_of.setdefault(objects, []).append(name)
        else:
            tally.drop(SHARED_SYNONYM if is_shared else NO_ANNOTATION if objects else NO_ROW)
            tally.examples.append(name)
    chosen = []
    for objects, names in ids_of.items():
        label = _one_label(labels, names, on_conflict)
        if label is None:
            tally.drop(CONFLICTING_IDS, len(names))
        else:
            tally.drop(REPEATED_IDS, len(names) - 1)
            chosen.append((names[0], objects, label))
    if others:
        mentioned = (*labels.by_id, *labels.conflicting, *labels.unused)
        known = {each for name in mentioned for each in genes.objects(name, match)}
        rest = {name: found for name, found in genes.named_by(match[0]).items() if known.isdisjoint(found)}
        chosen += [(name, found, others) for name, found in rest.items() if genes.has_terms(found)]
        unlabelled.read = len(chosen) - tally.used
    return GeneRows(
        [name for name, _, _ in chosen], [o for _, o, _ in chosen], [label for _, _, label in chosen]
    )


def _one_label(labels: Labels, names: Sequence[str], on_conflict: str) -> str | None:
    given = [labels.by_id[name] for name in names]
    if len(set(given)) > 1 and on_conflict == "raise":
        what = ", ".join(f"{name} ({label})" for name, label in zip(names, given, strict=True))
        raise DataError(
            f"ids of the same row have different labels ({what}); correct the labels, or set on_conflict "
            "(--on-conflict)",
            labels.name,
        )
    return resolve_conflict(given, on_conflict)
