"""The rows of a dataset: labelled ids matched with annotated genes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.sparse import csr_array

from hietan.datasets.build_log import (
    CONFLICTING_IDS,
    NO_ANNOTATION,
    NO_ROW,
    REPEATED_IDS,
    SHARED_SYNONYM,
    Tally,
)
from hietan.datasets.building.genes import Genes
from hietan.datasets.readers.labels import Labels, resolve_conflict
from hietan.exceptions import DataError


@dataclass(frozen=True)
class GeneRows:
    """The rows of a dataset: the name of each, the objects of the annotations that it joins, and its label.

    All labels are "" if the rows are not labelled.
    """

    names: list[str]
    objects: list[tuple[str, ...]]
    labels: list[str]

    def annotated_with(self, genes: Genes, column_of: Mapping[str, int], n_columns: int) -> csr_array:
        """A matrix with a 1 for each term that an object of the row is annotated with directly."""
        return genes.annotated(self.objects, column_of, n_columns)

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
        if genes.have_no_other_names and self.objects == list(zip(self.names)):
            return ()
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
    tally.drop("none of its annotations is used", len(named) - len(kept))
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
