"""Choose the terms that become a dataset's features."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

from hietan.datasets._build_log import UNKNOWN_FEATURE, Tally
from hietan.datasets._readers.ontology import Ontology
from hietan.hierarchy import Hierarchy

_PART = 1 << 22


@dataclass(frozen=True)
class Columns:
    """A table with the name and the ontology term of each column.

    Name and term differ only if a trained model knows a term by an id that has been merged since. `missing` lists the
    columns without a term in the ontology.
    """

    X: csr_array
    names: tuple[str, ...]
    terms: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def beside(self, further: csr_array, names: tuple[str, ...], order: Sequence[str] | None) -> Columns:
        """Add columns that are not terms, either at the end or in the given order."""
        together: Any = hstack([csc_array(self.X), csc_array(further)], format="csc")
        listed, terms = (*self.names, *names), (*self.terms, *names)
        position = {name: j for j, name in enumerate(listed)}
        at = [position[name] for name in (order or listed)]
        return Columns(
            _sorted(together[:, at]),
            tuple(listed[j] for j in at),
            tuple(terms[j] for j in at),
            self.missing,
        )

    def without(self, hierarchy: Hierarchy, tally: Tally, *, roots: bool | None, constant: bool) -> Columns:
        """Leave out constant columns and roots that have children, if the options say so.

        If `roots` is None, the roots that are 1 in all rows are left out.
        """
        tops = set() if roots is False else set(hierarchy.roots) - set(hierarchy.leaves)
        in_all_rows = _ones(self.X) == self.X.shape[0]
        is_root = np.array([term in tops for term in self.terms], dtype=bool)
        is_root &= in_all_rows | (roots is not None)
        is_constant = in_all_rows & ~is_root if constant else np.zeros_like(is_root)
        tally.drop("root", int(is_root.sum()))
        tally.drop("the same in all rows", int(is_constant.sum()))
        at = np.flatnonzero(~is_root & ~is_constant)
        names, terms = (tuple(listed[j] for j in at) for listed in (self.names, self.terms))
        return Columns(_sorted(self.X[:, at]), names, terms)

    def hierarchy(self, whole: Hierarchy) -> Hierarchy:
        """Return the columns' hierarchy, derived from their terms. If a term has two columns, the second has no
        relatives.
        """
        name_of: dict[str, str] = {}
        for term, name in zip(self.terms, self.names, strict=True):
            if term in whole:
                name_of.setdefault(term, name)
        edges = whole.restrict(name_of).edges
        return Hierarchy.from_edges([(name_of[p], name_of[c]) for p, c in edges], features=self.names)


def choose_columns(
    X: csr_array, ontology: Ontology, namespaces: Collection[str], min_support: int, tally: Tally
) -> Columns:
    """Return the current terms in these namespaces that are present in enough rows."""
    ones = _ones(X)
    terms = list(ontology.terms.values())  # undefined parents come after these
    fitting = [not term.is_obsolete and term.namespace in namespaces for term in terms]
    annotated = np.array(fitting, dtype=bool) & (ones[: len(terms)] > 0)
    kept = np.flatnonzero(annotated & (ones[: len(terms)] >= min_support))
    tally.read = int(annotated.sum())
    tally.drop(f"fewer than {min_support} rows", tally.read - len(kept))
    names = tuple(terms[j].id for j in kept)
    return Columns(_sorted(X[:, kept]), names, names)


def given_columns(
    X: csr_array, ontology: Ontology, hierarchy: Hierarchy, features: tuple[str, ...], tally: Tally
) -> Columns:
    """Return exactly these features, in this order. Features that the ontology lacks become columns of 0."""
    terms = tuple(ontology.resolve(feature) or feature for feature in features)
    known = np.array([term in ontology.terms for term in terms], dtype=bool)
    position = {term: j for j, term in enumerate(hierarchy.features)}
    table: Any = csc_array(X)
    table.resize(X.shape[0], X.shape[1] + 1)  # one more column, empty, for all unknown features
    chosen = table[:, [position[term] if ok else X.shape[1] for term, ok in zip(terms, known, strict=True)]]
    tally.read = len(features)
    tally.drop(UNKNOWN_FEATURE, int((~known).sum()))
    tally.change("known under another id", sum(a != b for a, b in zip(features, terms, strict=True)))
    tally.change("no row has it", int((known & (_ones(csr_array(chosen)) == 0)).sum()))
    missing = tuple(feature for feature, ok in zip(features, known, strict=True) if not ok)
    return Columns(_sorted(chosen), features, terms, missing)


def _ones(X: csr_array) -> NDArray[np.int64]:
    """Return the number of ones in each column.

    Blocks save memory, because SciPy would first convert X to 8-byte ones.
    """
    ones = np.zeros(X.shape[1], dtype=np.int64)
    for start in range(0, X.nnz, _PART):
        part = slice(start, start + _PART)
        ones += np.bincount(X.indices[part][X.data[part] != 0], minlength=X.shape[1])
    return ones


def _sorted(X: Any) -> csr_array:
    table: csr_array = csr_array(X)
    table.sort_indices()
    return table
