"""The ageing-gene datasets of Wan & Freitas: their file format.

Comma-separated and transposed: the first row is `is_a` and the Entrez gene ids, then one row of 0 and 1 per
GO term, the last row is `class`. Every line ends in a comma.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.datasets._dataset import Dataset
from hietan.datasets._files import TextSource, open_text, source_name
from hietan.datasets._obo import Ontology, Term
from hietan.hierarchy import Hierarchy

GO_ROOTS = ("GO:0008150", "GO:0003674", "GO:0005575")
TARGET_NAMES = ("anti-longevity", "pro-longevity")


def read_ageing_genes(source: TextSource, ontology: Ontology, *, name: str = "") -> Dataset:
    """Read one file of the ageing-gene collection.

    The three roots of GO, which say nothing, are dropped; the other terms stay in file order. The hierarchy
    is the ontology's is_a, restricted to them: relations that run through other terms are kept. A term that
    `ontology` knows under another id takes that id; one it does not know at all stays, related to nothing.
    `provenance` lists both.

    Parameters
    ----------
    source : path or open text file
    ontology : Ontology
        As `read_obo` returns it.
    name : str
        What to call the dataset.

    Returns
    -------
    Dataset
        Class 1 is pro-longevity, 0 anti-longevity.
    """
    table = _read_table(source)
    keep = [i for i, term in enumerate(table.terms) if term not in GO_ROOTS]
    if not keep:
        raise ValueError(f"{source_name(source)}: no term besides the roots of GO")
    terms = [table.terms[i] for i in keep]
    values = np.ascontiguousarray(table.values[keep].T)
    features = _current_ids(terms, ontology, source_name(source))
    known = [ontology.terms.get(feature, Term(feature, feature)) for feature in features]
    return Dataset(
        X=csr_array(values),
        y=table.classes,
        hierarchy=_hierarchy(features, ontology),
        feature_names=tuple(features),
        term_names=tuple(term.name for term in known),
        instance_names=table.genes,
        target_names=TARGET_NAMES,
        provenance={
            "ontology_version": ontology.version,
            "relations": ["is_a"],
            "dropped_roots": [term for term in table.terms if term in GO_ROOTS],
            "renamed_terms": {old: new for old, new in zip(terms, features, strict=True) if old != new},
            "unknown_terms": [feature for feature in features if feature not in ontology.terms],
            "obsolete_terms": [term.id for term in known if term.is_obsolete],
            **_coincidences(values, table.classes),
        },
        name=name,
    )


@dataclass(frozen=True)
class _Table:
    """A file as it stands: one row of `values` per term."""

    genes: tuple[str, ...]
    terms: tuple[str, ...]
    values: NDArray[np.uint8]
    classes: NDArray[np.intp]


def _read_table(source: TextSource) -> _Table:
    file_name = source_name(source)
    with open_text(source) as file:
        rows = _rows(file, file_name)
        _, where, genes = next(rows, ("", file_name, []))
        if not genes:
            raise ValueError(f"{where}: no gene ids; expected a first row 'is_a,<gene id>,<gene id>,...'")
        _check_unique(genes, "gene id", where)
        body = {}
        for label, where, fields in rows:
            if "class" in body:
                raise ValueError(
                    f"{where}: row {label!r} comes after the row 'class', which must be the last"
                )
            if label in body:
                raise ValueError(f"{where}: second row for {label}")
            body[label] = _binary(fields, len(genes), where)
    if "class" not in body:
        raise ValueError(f"{file_name}: no row 'class'; expected it to be the last row")
    classes = body.pop("class").astype(np.intp)
    values = np.array(list(body.values()), dtype=np.uint8).reshape(len(body), len(genes))
    return _Table(tuple(genes), tuple(body), values, classes)


def _rows(lines: Iterator[str], file_name: str) -> Iterator[tuple[str, str, list[str]]]:
    """(label, where it stands, fields) of each line that is not blank, the header first."""
    header = True
    for number, line in enumerate(lines, start=1):
        label, *fields = line.strip().removesuffix(",").split(",")
        where = f"{file_name}, line {number}"
        if not label and not fields:
            continue
        if header and label != "is_a":
            raise ValueError(f"{where}: expected a first row 'is_a,<gene id>,...', found {line!r:.60}")
        if not label:
            raise ValueError(f"{where}: the name of the term is missing")
        header = False
        yield label, where, fields


def _binary(fields: list[str], n_genes: int, where: str) -> NDArray[np.uint8]:
    if len(fields) != n_genes:
        raise ValueError(f"{where}: expected {n_genes} values, one per gene, found {len(fields)}")
    if not set(fields) <= {"0", "1"}:
        wrong = next(i for i, value in enumerate(fields) if value not in ("0", "1"))
        raise ValueError(f"{where}: expected 0 or 1, found {fields[wrong]!r} as value {wrong + 1}")
    return np.frombuffer("".join(fields).encode("ascii"), dtype=np.uint8) - ord("0")


def _check_unique(names: Sequence[str], what: str, where: str) -> None:
    if len(set(names)) < len(names):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{where}: {what} {repeated!r} stands there twice")


def _current_ids(terms: Sequence[str], ontology: Ontology, file_name: str) -> list[str]:
    features = [ontology.resolve(term) or term for term in terms]
    _check_unique(features, "under one id or another, term", file_name)
    return features


def _hierarchy(features: list[str], ontology: Ontology) -> Hierarchy:
    whole = ontology.hierarchy
    unknown = [feature for feature in features if feature not in ontology.terms]
    if unknown:
        nodes = dict.fromkeys([*whole.features, *unknown])
        whole = Hierarchy.from_edges(list(ontology.edges()), features=list(nodes))
    return whole.restrict(features)


def _coincidences(values: NDArray[np.uint8], classes: NDArray[np.intp]) -> dict[str, Any]:
    """How many rows equal an earlier one, how many different rows come with both classes, and equal columns."""
    rows = [row.tobytes() for row in values]
    labelled = set(zip(rows, classes.tolist(), strict=True))
    columns = {column.tobytes() for column in np.ascontiguousarray(values.T)}
    return {
        "repeated_rows": len(rows) - len(set(rows)),
        "contradictory_rows": len(labelled) - len(set(rows)),
        "repeated_columns": values.shape[1] - len(columns),
    }
