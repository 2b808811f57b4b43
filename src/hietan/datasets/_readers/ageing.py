"""The file format of Wan & Freitas's ageing-gene datasets.

Comma-separated and transposed: the first row is `is_a` and the Entrez gene ids, then one row of 0 and 1 per
GO term, the last row is `class`. Every line ends in a comma.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.datasets._dataset import Dataset
from hietan.datasets._duplicates import count_duplicates, first_repeated
from hietan.datasets._readers.files import TextSource, numbered_lines, source_name
from hietan.datasets._readers.ontology import Ontology, Term
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy import Hierarchy

GO_ROOTS = ("GO:0008150", "GO:0003674", "GO:0005575")
TARGET_NAMES = ("anti-longevity", "pro-longevity")


def read_ageing_genes(source: TextSource, ontology: Ontology, *, name: str = "") -> Dataset:
    """Read a file from the ageing-gene collection.

    The three roots of GO, which every gene has, are dropped; the other terms stay in file order. The hierarchy is the
    ontology's is_a, restricted to them; relations that run through other terms are kept. A term that `ontology` knows
    by another id gets that id; an unknown term is kept, without relations. `provenance` lists both.

    Parameters
    ----------
    source : path or open text file
        The file: plain, `.gz`, or a `.zip` with one file.
    ontology : Ontology
        The ontology of the terms, as returned by `read_obo`.
    name : str
        The dataset's name.

    Returns
    -------
    Dataset
        Class 1 is pro-longevity, 0 anti-longevity.
    """
    genes, all_terms, rows, classes = _read_table(source)
    keep = [i for i, term in enumerate(all_terms) if term not in GO_ROOTS]
    if not keep:
        raise DataError(
            "the table has no terms except the roots of GO; expected one row for each term",
            source_name(source),
        )
    terms = [all_terms[i] for i in keep]
    X = csr_array(np.ascontiguousarray(rows[keep].T))
    features = [ontology.resolve(term) or term for term in terms]
    if repeated := first_repeated(features):
        raise DataError(
            f"two rows resolve to the same term {repeated!r}; remove one of them", source_name(source)
        )
    known = [ontology.terms.get(feature, Term(feature, feature)) for feature in features]
    return Dataset(
        X=X,
        y=classes,
        hierarchy=_hierarchy(features, ontology),
        feature_names=tuple(features),
        term_names=tuple(term.name for term in known),
        instance_names=genes,
        target_names=TARGET_NAMES,
        provenance={
            "ontology_version": ontology.version,
            "relations": ["is_a"],
            "dropped_roots": [term for term in all_terms if term in GO_ROOTS],
            "renamed_terms": {old: new for old, new in zip(terms, features, strict=True) if old != new},
            "unknown_terms": [feature for feature in features if feature not in ontology.terms],
            "obsolete_terms": [term.id for term in known if term.is_obsolete],
            **count_duplicates(X, classes),
        },
        name=name,
        row_noun="gene",
        positive=TARGET_NAMES[1],
    )


def _read_table(
    source: TextSource,
) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.uint8], NDArray[np.intp]]:
    """Return the genes, the terms, the values (a row per term) and the genes' classes."""
    file_name = source_name(source)
    rows = _rows(source)
    _, line, genes = next(rows, ("", None, []))
    if not genes:
        raise DataError(
            "the table has no gene ids; expected a first row 'is_a,<gene id>,<gene id>,...'", file_name, line
        )
    if repeated := first_repeated(genes):
        raise DataError(
            f"gene id {repeated!r} occurs twice; each id must be unique, so remove one of the two columns",
            file_name,
            line,
        )
    body = {}
    for label, line, fields in rows:
        if "class" in body:
            message = f"row {label!r} comes after the row 'class', which must be the last row"
            raise DataError(message, file_name, line)
        if label in body:
            raise DataError(f"the table has a second row for {label}; remove one of the two", file_name, line)
        body[label] = _binary(fields, len(genes), file_name, line)
    if "class" not in body:
        raise DataError("the row 'class' is missing; expected it as the last row", file_name)
    classes = body.pop("class").astype(np.intp)
    values = np.array(list(body.values()), dtype=np.uint8).reshape(len(body), len(genes))
    return tuple(genes), tuple(body), values, classes


def _rows(source: TextSource) -> Iterator[tuple[str, int, list[str]]]:
    """Yield (label, line number, fields) for each line that is not blank, beginning with the header."""
    file_name, header = source_name(source), True
    for number, line in numbered_lines(source):
        label, *fields = line.strip().removesuffix(",").split(",")
        if not label and not fields:
            continue
        if header and label != "is_a":
            message = f"expected a first row 'is_a,<gene id>,...', found {line!r:.60}"
            raise DataError(message, file_name, number)
        if not label:
            raise DataError("the row has no term; fill it in, or remove the row", file_name, number)
        header = False
        yield label, number, fields


def _binary(fields: list[str], n_genes: int, file_name: str, line: int | None) -> NDArray[np.uint8]:
    if len(fields) != n_genes:
        raise DataError(f"expected {n_genes} values, one per gene, found {len(fields)}", file_name, line)
    if not set(fields) <= {"0", "1"}:
        wrong = next(i for i, value in enumerate(fields) if value not in ("0", "1"))
        raise DataError(f"value {wrong + 1} is {fields[wrong]!r}; expected 0 or 1", file_name, line)
    return np.frombuffer("".join(fields).encode("ascii"), dtype=np.uint8) - ord("0")


def _hierarchy(features: list[str], ontology: Ontology) -> Hierarchy:
    whole = ontology.hierarchy
    if undefined := ontology.undefined_parents():
        parent, child = undefined[0]
        warnings.warn(
            f"{ontology.source}: {len(undefined)} is_a relations have undefined parents (first: {parent}, a "
            f"parent of {child}); check whether the ontology is complete",
            DataWarning,
            stacklevel=3,
        )
    unknown = [feature for feature in features if feature not in ontology.terms]
    if unknown:
        nodes = dict.fromkeys([*whole.features, *unknown])
        whole = Hierarchy.from_edges(list(ontology.edges()), features=list(nodes))
    return whole.restrict(features)
